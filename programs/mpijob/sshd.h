/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether anybody ever logged in to the workers of a job: if not, mpirun did not know of them.
 */
#ifndef MPIJOB_PROGRAM_SSHD_H
#define MPIJOB_PROGRAM_SSHD_H

#include <mpijob/mpijob.h>

struct sshd_row;

struct sshd {
	mpijob_client *client;
	const char *namespace_;
	struct sshd_row *rows;
	size_t count;
	int let_in;  /* somebody was, somewhere: all is said */
	int unknown; /* of a worker it cannot be told */
};

/* A worker runs; container is its first. 0 or a code. */
int sshd_look(struct sshd *sshd, const char *pod, const char *container);

/* Outside of callbacks, once in each turn: read no more than is needed. */
void sshd_rest(struct sshd *sshd);

/* Whether nobody came to any of so many workers, as far as all their logs tell. */
int sshd_was_idle(const struct sshd *sshd, int workers);

void sshd_free(struct sshd *sshd);

#endif

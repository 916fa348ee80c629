/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anyone ever logged in to the workers of a job: if not, mpirun did not use them. */
#ifndef MPIJOB__RUN_SSHD_H
#define MPIJOB__RUN_SSHD_H

#include <stddef.h>
#include <stdint.h>

struct mpijob_run;
struct mpijob__run_login;

struct mpijob__run_sshd {
	struct mpijob__run_login *workers;
	size_t count;
	int used;    /* someone logged in to a worker: nothing more is read */
	int unknown; /* a log cannot be read */
};

/* The first container of a worker runs; called once for each pod. */
void mpijob__run_sshd_read(struct mpijob_run *run, const char *pod, const char *container);
/* Outside of callbacks: stop reading what is not needed any more. */
void mpijob__run_sshd_stop(struct mpijob_run *run);
/* Whether nobody logged in to any of so many workers. */
int mpijob__run_sshd_was_idle(const struct mpijob_run *run, int32_t workers);
void mpijob__run_sshd_free(struct mpijob_run *run);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch that is kept up: each change of the chosen objects arrives as a document.
 */
#ifndef MPIJOB_PROGRAM_FOLLOW_H
#define MPIJOB_PROGRAM_FOLLOW_H

#include <mpijob/mpijob.h>

struct follow {
	mpijob_client *client;
	const char *api_version;
	const char *kind;
	const char *namespace_;
	const char *selector_name; /* "fieldSelector" or "labelSelector" */
	const char *selector;
	/* Called with each object and whether it is gone. */
	void (*changed)(void *user, const mpijob_node *object, int gone);
	void *user;

	/* Its own. */
	mpijob_call *call;
	mpijob_text *line;    /* the part of a line that has arrived */
	char version[32];     /* resourceVersion to go on from; "" at first */
	int64_t again_ms;     /* when to start again after an end; 0: now */
	int code;             /* why it cannot go on; 0 while it can */
};

/* Start, or start again when the watch has ended; call it in each turn of the loop. */
int follow_keep(struct follow *follow, int64_t now_ms);

/* Stop and free what it holds. */
void follow_end(struct follow *follow);

#endif

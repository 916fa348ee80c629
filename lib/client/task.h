/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of requests that end in one callback, and the calls made at once, which wait for that. */
#ifndef MPIJOB__CLIENT_TASK_H
#define MPIJOB__CLIENT_TASK_H

#include "base/arena.h"
#include "client/client.h"

#include <mpijob/tasks.h>

#define MPIJOB__CLIENT_TASK_WAITS 2 /* what a step returns when it has asked for something */

/* Stands first in the struct of each kind of task. */
struct mpijob_task {
	mpijob_client *client;
	struct mpijob_task *prev, *next; /* of the client */
	struct mpijob_task_callbacks callbacks;
	struct mpijob__base_arena words; /* copies of what was given */
	mpijob_diag *diag;               /* of who started it, or NULL */
	int at_once;                     /* somebody waits for it */
	int wants;                       /* job and document are wanted */
	mpijob *job;                     /* to be handed out at the end */
	mpijob_doc *doc;

	/*
	 * Go on with what was asked for: its code, and its document, to be taken.
	 * MPIJOB__CLIENT_TASK_WAITS, or the end: a code. The task may be gone afterwards for none
	 * but its caller.
	 */
	int (*step)(struct mpijob_task *task, int code, mpijob_doc *doc);
	/* Stop all but calls; NULL: there is nothing but a call. */
	void (*give_up)(struct mpijob_task *task, int code);
	/* Free what stands behind this struct, and only that; may be NULL. */
	void (*release)(struct mpijob_task *task);

	/* What is asked for: a call, or a task of its own. */
	mpijob_call *call;
	mpijob_task *child;
	mpijob_diag *heard;  /* where its findings go; may be NULL */
	int reads;           /* its answer is a document */
	int writes;          /* it changes something */
	int cut;             /* it was on its way, changes something, and was given up */
	int doubt;           /* it may have been done, though it failed */
	int unsent, failure; /* it could not be sent, and why */
	int stopped;         /* nothing is sent any more, for this reason */
};

/* Make one of `size` bytes. 0, or as mpijob_client_get_start(). */
int mpijob__client_task_new(size_t size, mpijob_client *client,
    const struct mpijob_task_callbacks *callbacks, mpijob_diag *diag, mpijob_task **out);
/* Keep a copy as long as the task lives; NULL stays NULL. When memory runs out, `*rc` is set. */
const char *mpijob__client_task_copy(mpijob_task *task, const char *text, int *rc);
/* The same for all of a target. 0 or MPIJOB_ERR_*. */
int mpijob__client_task_copy_target(mpijob_task *task, const struct mpijob_target *from,
    struct mpijob_target *to);

/* Ask for something; what cannot be sent is a step like another one. MPIJOB__CLIENT_TASK_WAITS.
 * `body` and `heard` may be NULL. */
int mpijob__client_task_request(mpijob_task *task, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    int reads, mpijob_diag *heard);
int mpijob__client_task_request_node(mpijob_task *task, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_node *node,
    int reads, mpijob_diag *heard);
/* It cannot be asked for: a step all the same. MPIJOB__CLIENT_TASK_WAITS. */
int mpijob__client_task_request_failed(mpijob_task *task, int code);

/* The callbacks of `task->child`: its end is a step of `task`. */
struct mpijob_task_callbacks mpijob__client_task_child_callbacks(mpijob_task *task);

/*
 * The first thing was asked for, or `rc` is why not: `*out` is the task then, or it is freed. 0 or
 * a code. `out` may be NULL.
 */
int mpijob__client_task_started(mpijob_task *task, int rc, mpijob_task **out);
/* It is over: the callback comes, and the task is gone. */
void mpijob__client_task_finish(mpijob_task *task, int code);
/* Say that it was given up, and why. */
void mpijob__client_task_report_failure(mpijob_diag *diag, int code);
/* The step of a task of one request: what came is what is handed out. */
int mpijob__client_task_return_document(mpijob_task *task, int code, mpijob_doc *doc);

/* --- made at once --- */

struct mpijob__client_task_result {
	int over, code;
	int wants;
	mpijob *job;
	mpijob_doc *doc;
};

/* The callbacks with which to start it; `wants`: its job or document. */
struct mpijob_task_callbacks
mpijob__client_task_blocking_callbacks(struct mpijob__client_task_result *awaited, int wants);
/* It was started with `rc`: wait for it. What it returned; `job` and `doc` may be NULL, and are set
 * when all is well.
 */
int mpijob__client_task_wait(mpijob_client *client, mpijob_task *task, int rc,
    struct mpijob__client_task_result *awaited, mpijob **job, mpijob_doc **doc);

#endif

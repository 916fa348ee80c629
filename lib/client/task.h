/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: sequences of requests that end in one callback, or keep their result for a wait. */
#ifndef MPIJOB__CLIENT_TASK_H
#define MPIJOB__CLIENT_TASK_H

#include "base/arena.h"
#include "base/list.h"
#include "client/client.h"

#include <mpijob/tasks.h>

#include <limits.h>

#define MPIJOB__CLIENT_TASK_WAITS  INT_MAX /* what a step returns when it has sent a request */
#define MPIJOB__CLIENT_TASK_WANTED 2       /* of `reads`: only if the caller wants the document */

/* The first member of the struct of each kind of task. */
struct mpijob_task {
	mpijob_client *client;
	struct mpijob__base_list link;          /* of the client */
	struct mpijob_task_callbacks callbacks; /* without `done`: mpijob_task_wait() */
	mpijob_task **handle;                   /* of the caller, set when it is started; or NULL */
	struct mpijob__base_arena strings;      /* copies of arguments */
	mpijob_diag *diag;                      /* of the caller, or NULL */
	int cancellable; /* mpijob_client_cancel() ends it: it is being started without callbacks,
			    or waited for */
	int wants;       /* the caller wants the job or the document */
	int over, code;  /* it has ended, and keeps its result */
	mpijob *job;     /* results for the caller */
	mpijob_doc *doc;

	/*
	 * Continue after an answer: with its code, and its document, which the step owns. Returns
	 * MPIJOB__CLIENT_TASK_WAITS, or the code with which the task ends. Afterwards only the
	 * caller of the step may use the task.
	 */
	int (*step)(struct mpijob_task *task, int code, mpijob_doc *doc);
	/* Stop what is not a request; NULL when there is only a request. */
	void (*cancel_step)(struct mpijob_task *task, int code);
	/* Free what the kind of task has added to this struct; may be NULL. */
	void (*release)(struct mpijob_task *task);

	/* What the task waits for: a request, or another task. */
	mpijob_call *call;
	mpijob_task *child;
	mpijob_diag *findings;   /* receives findings; may be NULL */
	mpijob_text *body;       /* receives the bytes of the answer; may be NULL */
	int reads;               /* the answer is a document; or MPIJOB__CLIENT_TASK_WANTED */
	int writes;              /* the request is a write */
	int cancelled_in_flight; /* a write was cancelled in flight */
	int outcome_unknown;     /* the write may have been done although it failed */
	int unsent, failure;     /* the request could not be sent, and why */
	int stopped;             /* no request is sent any more; the reason */
};

/* Create a task of `size` bytes, with the arguments of its caller. Returns as
 * mpijob_client_get_start(). */
int mpijob__client_task_new(size_t size, mpijob_client *client,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **handle, mpijob_diag *diag,
    mpijob_task **out);
/* Copy a string for the lifetime of the task; NULL stays NULL. Sets `*rc` when memory runs out. */
const char *mpijob__client_task_copy(mpijob_task *task, const char *text, int *rc);
/* Copy all strings of a target. 0 or MPIJOB_ERR_*. */
int mpijob__client_task_copy_target(mpijob_task *task, const struct mpijob_target *from,
    struct mpijob_target *to);

/* Send a request. A failure to send is a step, like an answer. Returns MPIJOB__CLIENT_TASK_WAITS.
 * `body` and `findings` may be NULL. */
int mpijob__client_task_request(mpijob_task *task, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    int reads, mpijob_diag *findings);
int mpijob__client_task_request_node(mpijob_task *task, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_node *node,
    int reads, mpijob_diag *findings);
/* The request cannot be sent: that is a step, too. Returns MPIJOB__CLIENT_TASK_WAITS. */
int mpijob__client_task_request_failed(mpijob_task *task, int code);

/* The callbacks for `task->child`: its end is a step of `task`. */
struct mpijob_task_callbacks mpijob__client_task_child_callbacks(mpijob_task *task);

/* The first request was sent, or `rc` says why not. Sets the caller's handle, or frees the task. 0
 * or a code. */
int mpijob__client_task_started(mpijob_task *task, int rc);
/* End the task: free it and call the callback, or keep the result for mpijob_task_wait(). */
void mpijob__client_task_finish(mpijob_task *task, int code);
/* The step of a task of one request: return its document. */
int mpijob__client_task_return_document(mpijob_task *task, int code, mpijob_doc *doc);

#endif

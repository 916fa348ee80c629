/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tasks.h
 * Tasks: what the functions of client.h, watch.h, jobs.h and run.h start whose names end in
 * `_start`.
 *
 * A task may need several requests, a watch and a timer. It makes progress inside
 * mpijob_client_poll(), concurrently with all other calls. It ends with one callback, for programs
 * with an event loop; or, if it is started without callbacks, it keeps its result until
 * mpijob_task_wait() returns it.
 *
 * A blocking function, such as mpijob_client_get(), is an inline function that starts the task and
 * waits for it. Languages that cannot call inline functions call these two functions:
 *
 * @code
 * static int get(mpijob_client *client, const struct mpijob_target *target, mpijob_doc **out)
 * {
 * 	mpijob_task *task = NULL;
 * 	int code = mpijob_client_get_start(client, target, NULL, &task, NULL);
 *
 * 	return code ? code : mpijob_task_wait(task, NULL, out);
 * }
 * @endcode
 *
 * Strings, options, targets and nodes are copied. The client, `diag`, and the job of
 * mpijob_client_submit_start() are borrowed until the task has ended. A task never ends inside the
 * function that starts it. A function that fails starts no task.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_TASKS_H
#define MPIJOB_TASKS_H

#include <mpijob/base.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A task. With callbacks, the pointer is invalid when `done` is called; without, it is valid until
 * mpijob_task_wait() has returned the result. After mpijob_task_cancel() it is invalid. */
typedef struct mpijob_task mpijob_task;

/**
 * The callback of a task. Without callbacks (NULL), a task is for mpijob_task_wait(). Such a task
 * cannot be started inside a callback of the client (`MPIJOB_ERR_USAGE`), and
 * mpijob_client_cancel() before its start cancels it (`MPIJOB_ERR_CANCELLED`).
 */
struct mpijob_task_callbacks {
	size_t size; /**< `sizeof` this struct. */
	/**
	 * The task has ended. Called exactly once, unless the task is cancelled. `code` is the
	 * result of the blocking function; `job` and `doc` are its outputs, which you free; NULL if
	 * it has no such output, or failed. Not NULL.
	 */
	void (*done)(void *user, int code, mpijob *job, mpijob_doc *doc);
	void *user; /**< Passed to `done`. */
};
#define MPIJOB_TASK_CALLBACKS_INIT { sizeof(struct mpijob_task_callbacks), NULL, NULL }

/**
 * Poll the client until a task has ended, and free the task. Other calls and tasks continue
 * meanwhile. mpijob_client_cancel() cancels the task, and so does a failure of the transport. A
 * task that has ended already returns its result at once.
 *
 * A task that nobody waits for keeps its result; mpijob_task_cancel() or mpijob_client_free() frees
 * it.
 *
 * @param task  a task without callbacks; not NULL. It must not be cancelled meanwhile.
 * @param job   receives the job of the task, which you free; NULL if it has none. May be NULL.
 * @param doc   receives the document of the task, which you free; NULL if it has none. May be NULL.
 * @return the code with which the task has ended; if it is negative, `job` and `doc` are unchanged.
 *         `MPIJOB_ERR_USAGE`: `task` is NULL or has callbacks, or this is a callback of the client;
 *         nothing is freed.
 * @since 0.1
 */
MPIJOB_API int mpijob_task_wait(mpijob_task *task, mpijob **job, mpijob_doc **doc);

/**
 * Cancel a task: `done` is not called, or the result is freed. The server may still execute
 * requests that were sent.
 *
 * @param task  a task that has not ended, or has no callbacks; NULL does nothing. Must not be
 * called from a mpijob_wait_fn.
 * @since 0.1
 */
MPIJOB_API void mpijob_task_cancel(mpijob_task *task);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_TASKS_H */

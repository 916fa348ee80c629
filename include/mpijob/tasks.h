/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tasks.h
 * The asynchronous variants of the calls in client.h and jobs.h, for programs with an event loop.
 *
 * A task may need several requests, a watch and a timer. It makes progress inside
 * mpijob_client_poll(), concurrently with all other calls, and ends with one callback. The blocking
 * calls start a task and poll until it has ended.
 *
 * Strings, options and targets are copied. The client, `diag`, and the job of
 * mpijob_client_submit_start() are borrowed until the task has ended. A task never ends inside the
 * function that starts it. A function that fails starts no task. mpijob_client_cancel() does not
 * affect tasks; mpijob_client_free() cancels them.
 */
#ifndef MPIJOB_TASKS_H
#define MPIJOB_TASKS_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#include <mpijob/jobs.h>
#include <mpijob/watch.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A running task. The pointer is invalid when `done` is called, and after mpijob_task_cancel(). */
typedef struct mpijob_task mpijob_task;

/** The callback of a task. */
struct mpijob_task_callbacks {
	size_t size; /**< `sizeof` this struct. */
	/**
	 * The task has ended. Called exactly once, unless the task is cancelled. `code` is the
	 * result of the blocking call; `job` and `doc` are its outputs, which you free; NULL if it
	 * has no such output, or failed. Not NULL.
	 */
	void (*done)(void *user, int code, mpijob *job, mpijob_doc *doc);
	void *user; /**< Passed to `done`. */
};
#define MPIJOB_TASK_CALLBACKS_INIT { sizeof(struct mpijob_task_callbacks), NULL, NULL }

/**
 * Cancel a task: `done` is not called. The server may still execute requests that were sent.
 *
 * @param task  a task that has not ended; NULL does nothing. Must not be called from a
 * mpijob_wait_fn.
 * @since 0.1
 */
MPIJOB_API void mpijob_task_cancel(mpijob_task *task);

/** @name Any object
 * @{ */

/**
 * Start mpijob_client_get(); `done` gets the document.
 *
 * @param client     not NULL.
 * @param target     not NULL.
 * @param callbacks  not NULL; copied.
 * @param out        receives the task, borrowed, for mpijob_task_cancel(); may be NULL.
 * @param diag       receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (structs); `MPIJOB_ERR_NOMEM`; the error
 * of the transport.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_list(); `done` gets the list.
 * Parameters as mpijob_client_get_start(), and
 *
 * @param page  items per request; 0: 500.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_list_start(mpijob_client *client, const struct mpijob_target *target,
    int32_t page, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag);

/**
 * Start mpijob_client_can(); the `code` of `done` is 1 or 0.
 * Parameters as mpijob_client_get_start(), and
 *
 * @param access  not NULL.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_can_start(mpijob_client *client, const struct mpijob_access *access,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_wait(); `done` gets the object.
 * Parameters as mpijob_client_get_start(), and
 *
 * @param timeout_ms  milliseconds; 0: check once; negative: no limit.
 * @param ready       called with each state of the object; not NULL.
 * @param user        passed to `ready`.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_wait_start(mpijob_client *client, const struct mpijob_target *target,
    int64_t timeout_ms, mpijob_wait_fn ready, void *user,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/** @} */
/** @name MPIJobs
 * @{ */

/**
 * Start mpijob_client_submit(); `done` gets the stored job.
 *
 * @param client     not NULL.
 * @param job        not NULL; *borrowed* until the task has ended; do not change it until then.
 * @param options    NULL for the defaults.
 * @param callbacks  not NULL; copied.
 * @param out        receives the task, borrowed, for mpijob_task_cancel(); may be NULL.
 * @param diag       receives findings; may be NULL.
 * @return as mpijob_client_get_start(); `MPIJOB_ERR_SPEC` as mpijob_client_submit().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_submit_start(mpijob_client *client, const mpijob *job,
    const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_get_job(); `done` gets the job.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param callbacks   not NULL; copied.
 * @param out         receives the task, borrowed, for mpijob_task_cancel(); may be NULL.
 * @param diag        receives findings; may be NULL.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get_job_start(mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag);

/**
 * Start mpijob_client_suspend().
 * Parameters as mpijob_client_get_job_start(), and
 *
 * @param on  1 or 0.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_suspend_start(mpijob_client *client, const char *namespace_,
    const char *name, int on, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag);

/**
 * Start mpijob_client_scale().
 * Parameters as mpijob_client_get_job_start(), and
 *
 * @param workers   0 or more.
 * @param expected  change only if the current number is this; negative: any number.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_scale_start(mpijob_client *client, const char *namespace_,
    const char *name, int32_t workers, int32_t expected,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_delete_job().
 * Parameters as mpijob_client_get_job_start(), and
 *
 * @param uid          the job must have this UID; NULL: any.
 * @param propagation  "Background", "Foreground" or "Orphan"; NULL: "Background".
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_delete_job_start(mpijob_client *client, const char *namespace_,
    const char *name, const char *uid, const char *propagation,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_wait_job(); `done` gets the job.
 * Parameters as mpijob_client_get_job_start(), and
 *
 * @param condition   not NULL.
 * @param timeout_ms  milliseconds; 0: check once; negative: no limit.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_wait_job_start(mpijob_client *client, const char *namespace_,
    const char *name, const char *condition, int64_t timeout_ms,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_events(); `done` gets the list.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param kind        NULL: of any kind.
 * @param name        NULL: of any object.
 * @param uid         NULL: of any object of that name.
 * @param callbacks   not NULL; copied.
 * @param out         receives the task, borrowed, for mpijob_task_cancel(); may be NULL.
 * @param diag        receives findings; may be NULL.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_events_start(mpijob_client *client, const char *namespace_,
    const char *kind, const char *name, const char *uid,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_TASKS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tasks.h
 * What client.h and jobs.h do at once, started instead: for programs that have an event loop of
 * their own.
 *
 * A task may take several requests, a watch and a timer. It goes on while mpijob_client_poll()
 * runs, beside all other calls, and ends in one callback. The calls made at once are just that:
 * they start a task and poll until it is over.
 *
 * Strings, options and targets are copied. What is borrowed until a task is over: the client, the
 * `diag`, and the job of mpijob_client_submit_start(). A task never ends inside the function that
 * starts it; a function that fails has started nothing. mpijob_client_cancel() does not touch
 * tasks, mpijob_client_free() cancels them.
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

/** A task under way; dead when its `done` is called, and after mpijob_task_cancel(). */
typedef struct mpijob_task mpijob_task;

/** Whom to tell. */
struct mpijob_task_callbacks {
	size_t size; /**< `sizeof` this struct. */
	/**
	 * The task is over; called exactly once, unless it is cancelled. `code` is what the same
	 * call made at once returns, `job` and `doc` what it puts out: yours, and NULL where it has
	 * no such thing or fails. Not NULL.
	 */
	void (*done)(void *user, int code, mpijob *job, mpijob_doc *doc);
	void *user; /**< Passed to `done`. */
};
#define MPIJOB_TASK_CALLBACKS_INIT { sizeof(struct mpijob_task_callbacks), NULL, NULL }

/**
 * Give a task up: `done` is not called any more. What was sent may happen all the same.
 *
 * @param task  not over; NULL does nothing. Not from inside of a mpijob_wait_fn.
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
 * @param out        set to the task, borrowed, for cancelling; may be NULL.
 * @param diag       findings, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (structs); `MPIJOB_ERR_NOMEM`; what the
 *         transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Start mpijob_client_list(); `done` gets the list.
 * Parameters as mpijob_client_get_start(), and
 *
 * @param page  items asked for at a time; 0: 500.
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
 * @param timeout_ms  milliseconds; 0: look once; negative: no limit.
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
 * Start mpijob_client_submit(); `done` gets the job as it is stored.
 *
 * @param client     not NULL.
 * @param job        not NULL; *borrowed* until the task is over, and not to be changed so long.
 * @param options    NULL for the defaults.
 * @param callbacks  not NULL; copied.
 * @param out        set to the task, borrowed, for cancelling; may be NULL.
 * @param diag       findings, or NULL.
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
 * @param out         set to the task, borrowed, for cancelling; may be NULL.
 * @param diag        findings, or NULL.
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
 * @param expected  the change is made only while there are so many; negative: any number.
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
 * @param timeout_ms  milliseconds; 0: look once; negative: no limit.
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
 * @param out         set to the task, borrowed, for cancelling; may be NULL.
 * @param diag        findings, or NULL.
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

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file jobs.h
 * MPIJobs on a cluster: submit, get, wait, suspend, resume, scale, delete; with any client, for any
 * operator.
 *
 * As in client.h, there is a blocking function for each call, and one that starts a task (tasks.h),
 * for programs with an event loop and for other languages. They return the same codes as those of
 * client.h; only differences are described here. To list jobs, use mpijob_client_list(), and
 * mpijob_from_node() for its items.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_JOBS_H
#define MPIJOB_JOBS_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#include <mpijob/tasks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of mpijob_client_submit(). */
struct mpijob_submit_options {
	size_t size; /**< `sizeof` this struct. */
	/** Namespace of a job that has none; NULL: "default". A job with another namespace is an
	 * error. */
	const char *namespace_;
	/** 1: server-side apply, which also changes an existing job; 0: create. */
	int32_t apply;
	int32_t force;             /**< With `apply`: 1 takes over fields of other managers. */
	int32_t dry_run;           /**< 1: the server validates, and stores nothing. */
	const char *field_manager; /**< NULL: "mpijob". */
	/** "Strict", "Warn" or "Ignore"; NULL: "Strict", with a warning if the server does not
	 * support field validation. */
	const char *field_validation;
};
#define MPIJOB_SUBMIT_OPTIONS_INIT { sizeof(struct mpijob_submit_options), NULL, 0, 0, 0, NULL, \
	NULL }

/**
 * Start mpijob_client_submit(); `done` gets the stored job.
 *
 * @param client     not NULL.
 * @param job        not NULL; *borrowed* until the task has ended; do not change it until then.
 * @param options    NULL for the defaults.
 * @param callbacks  NULL: for mpijob_task_wait(); copied.
 * @param out        receives the task, borrowed; may be NULL with callbacks.
 * @param diag       findings, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start(); `MPIJOB_ERR_SPEC` as mpijob_client_submit().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_submit_start(mpijob_client *client, const mpijob *job,
    const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag);

/**
 * Submit a job as it is in its document: without defaults, and without status. If the answer to a
 * create is lost, or comes from a gateway (5xx), also before a retry, the job is read: the same job
 * is success, unless it is older than the call.
 *
 * @param client   not NULL.
 * @param job      not NULL. With metadata.generateName instead of a name, `apply` is not possible.
 * @param options  NULL for the defaults.
 * @param out      receives the stored job, which you free; may be NULL.
 * @param diag     receives findings; may be NULL. Fields that the server rejects have line and
 * column of the job's document.
 * @return as client.h; `MPIJOB_ERR_CONFLICT`: the job exists, or with `apply` other managers own
 * some of its fields; `MPIJOB_ERR_SPEC`: it has no name, or another namespace than `options`.
 * @since 0.1
 */
static inline int mpijob_client_submit(mpijob_client *client, const mpijob *job,
    const struct mpijob_submit_options *options, mpijob **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_submit_start(client, job, options, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, out, NULL);
}

/**
 * Start mpijob_client_get_job(); `done` gets the job.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param callbacks   NULL: for mpijob_task_wait(); copied.
 * @param out         receives the task, borrowed; may be NULL with callbacks.
 * @param diag        findings, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get_job_start(mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag);

/**
 * Get a job.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param out         not NULL; receives the job, which you free.
 * @param diag        receives findings; may be NULL.
 * @return as client.h.
 * @since 0.1
 */
static inline int mpijob_client_get_job(mpijob_client *client, const char *namespace_,
    const char *name, mpijob **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = out ? mpijob_client_get_job_start(client, namespace_, name, NULL, &task, diag)
		     : MPIJOB_ERR_USAGE;

	return rc ? rc : mpijob_task_wait(task, out, NULL);
}

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
 * Suspend a job (`on` 1) or resume it (`on` 0): set spec.runPolicy.suspend. If an answer is lost,
 * the job is read, and the change is repeated if it was not made. If the result is still unknown,
 * the error says so.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param on          1 or 0.
 * @param diag        receives findings; may be NULL. One reports that a job that has ended is not
 *                    changed.
 * @return as client.h; `MPIJOB_ERR_REJECTED` also for a job that has ended; `MPIJOB_ERR_CONFLICT`:
 *         other writers keep changing it.
 * @since 0.1
 */
static inline int mpijob_client_suspend(mpijob_client *client, const char *namespace_,
    const char *name, int on, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_suspend_start(client, namespace_, name, on, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}

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
 * Set the number of workers: spec.mpiReplicaSpecs.Worker.replicas. A lost answer is handled as by
 * mpijob_client_suspend().
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param workers     0 or more.
 * @param expected    change only if the current number is this; negative: any number.
 * @param diag        receives findings; may be NULL.
 * @return as client.h; `MPIJOB_ERR_CONFLICT`: the current number is not `expected`;
 *         `MPIJOB_ERR_REJECTED` also for a job that has ended or has no Worker replicas.
 * @since 0.1
 */
static inline int mpijob_client_scale(mpijob_client *client, const char *namespace_,
    const char *name, int32_t workers, int32_t expected, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_scale_start(client, namespace_, name, workers, expected, NULL, &task,
	    diag);

	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}

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
 * Delete a job and the objects that it owns. If the answer is lost, the job is read: it is success
 * if the job is deleted or being deleted; otherwise the error says that the outcome is unknown.
 *
 * @param client       not NULL.
 * @param namespace_   not NULL.
 * @param name         not NULL.
 * @param uid          the job must have this UID; NULL: any.
 * @param propagation  "Background", "Foreground" or "Orphan"; NULL: "Background".
 * @param diag         receives findings; may be NULL.
 * @return as client.h.
 * @since 0.1
 */
static inline int mpijob_client_delete_job(mpijob_client *client, const char *namespace_,
    const char *name, const char *uid, const char *propagation, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_delete_job_start(client, namespace_, name, uid, propagation, NULL,
	    &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}

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
 * Wait until a condition of a job is true.
 *
 * @param client      not NULL. mpijob_client_cancel() ends the wait from another thread.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param condition   a type of condition ("Running", "Succeeded", "Failed", "Suspended",
 *                    "Created"); "Finished": Succeeded or Failed; "Deleted": the job does not
 * exist; not NULL.
 * @param timeout_ms  milliseconds; 0: check once; negative: no limit.
 * @param out         receives the job in that state, which you free (NULL for "Deleted"); may be
 * NULL.
 * @param diag        receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_TIMEOUT`; `MPIJOB_ERR_CANCELLED`; `MPIJOB_ERR_SPEC`: the job has ended
 *         differently, and the condition can no longer become true; `MPIJOB_ERR_NOT_FOUND`: the job
 *         does not exist, or was deleted, except for "Deleted"; as client.h.
 * @since 0.1
 */
static inline int mpijob_client_wait_job(mpijob_client *client, const char *namespace_,
    const char *name, const char *condition, int64_t timeout_ms, mpijob **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_wait_job_start(client, namespace_, name, condition, timeout_ms, NULL,
	    &task, diag);

	return rc ? rc : mpijob_task_wait(task, out, NULL);
}

/**
 * Start mpijob_client_events(); `done` gets the list.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param kind        NULL: of any kind.
 * @param name        NULL: of any object.
 * @param uid         NULL: of any object of that name.
 * @param callbacks   NULL: for mpijob_task_wait(); copied.
 * @param out         receives the task, borrowed; may be NULL with callbacks.
 * @param diag        findings, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_events_start(mpijob_client *client, const char *namespace_,
    const char *kind, const char *name, const char *uid,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * List the Events about an object, oldest first.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param kind        "MPIJob", "Pod"; NULL: of any kind.
 * @param name        NULL: of any object.
 * @param uid         NULL: of any object of that name.
 * @param out         not NULL; receives a list of v1 Events, which you free.
 * @param diag        receives findings; may be NULL.
 * @return as client.h.
 * @since 0.1
 */
static inline int mpijob_client_events(mpijob_client *client, const char *namespace_,
    const char *kind, const char *name, const char *uid, mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc =
	    out ? mpijob_client_events_start(client, namespace_, kind, name, uid, NULL, &task, diag)
		: MPIJOB_ERR_USAGE;

	return rc ? rc : mpijob_task_wait(task, NULL, out);
}

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_JOBS_H */

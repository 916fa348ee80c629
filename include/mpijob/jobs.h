/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file jobs.h
 * MPIJobs on a cluster: submit, look, wait, suspend, resume, scale, delete; with any client, for
 * any operator.
 *
 * These are calls made at once, as those of client.h: they return the same codes, and only what
 * differs is said here. Lists come from mpijob_client_list(), their items become jobs by
 * mpijob_from_node(). tasks.h has all of this started, for who has an event loop.
 */
#ifndef MPIJOB_JOBS_H
#define MPIJOB_JOBS_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a job is sent. */
struct mpijob_submit_options {
	size_t size; /**< `sizeof` this struct. */
	/** For a job without one; NULL: "default". A job that names another is refused. */
	const char *namespace_;
	/** 1: server-side apply, which also changes a job that exists; 0: create. */
	int32_t apply;
	int32_t force;             /**< With `apply`: 1 takes fields over that others own. */
	int32_t dry_run;           /**< 1: the server checks and answers, and stores nothing. */
	const char *field_manager; /**< NULL: "mpijob". */
	/** "Strict", "Warn" or "Ignore"; NULL: "Strict", and where the server has no such thing, a
	 * warning. */
	const char *field_validation;
};
#define MPIJOB_SUBMIT_OPTIONS_INIT { sizeof(struct mpijob_submit_options), NULL, 0, 0, 0, NULL, \
	NULL }

/**
 * Send a job, as its document is: nothing is defaulted, and status is left out. A create whose
 * answer was lost, or given by a gateway (5xx), also before it was sent again, is resolved by
 * looking: the same job is success, unless it is older than the call.
 *
 * @param client   not NULL.
 * @param job      not NULL. With metadata.generateName instead of a name it can only be created.
 * @param options  NULL for the defaults.
 * @param out      what the server stored, yours; may be NULL.
 * @param diag     findings, or NULL; fields that the server refuses have the line and column of the
 *                 job's document.
 * @return as client.h; `MPIJOB_ERR_CONFLICT`: it exists, or with `apply` others own fields of it;
 *         `MPIJOB_ERR_SPEC`: it has no name, or names another namespace than `options`.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_submit(mpijob_client *client, const mpijob *job,
    const struct mpijob_submit_options *options, mpijob **out, mpijob_diag *diag);

/**
 * Get a job.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param out         not NULL; the job, yours.
 * @param diag        findings, or NULL.
 * @return as client.h.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get_job(mpijob_client *client, const char *namespace_,
    const char *name, mpijob **out, mpijob_diag *diag);

/**
 * Suspend a job (`on` 1) or let it go on (`on` 0): sets spec.runPolicy.suspend. When the answer is
 * lost the job is looked at, and the change made if it was not; what then cannot be known either is
 * said to be unknown.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param on          1 or 0.
 * @param diag        findings, or NULL; one tells that a job that has ended is left as it is.
 * @return as client.h; `MPIJOB_ERR_REJECTED` too for a job that has ended; `MPIJOB_ERR_CONFLICT`:
 *         others change it all the time.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_suspend(mpijob_client *client, const char *namespace_,
    const char *name, int on, mpijob_diag *diag);

/**
 * Set the number of workers: spec.mpiReplicaSpecs.Worker.replicas. What is done when the answer is
 * lost is as for mpijob_client_suspend().
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param workers     0 or more.
 * @param expected    the change is made only while there are so many; negative: any number.
 * @param diag        findings, or NULL.
 * @return as client.h; `MPIJOB_ERR_CONFLICT`: there are not `expected` many; `MPIJOB_ERR_REJECTED`
 *         too for a job that has ended or has no Worker replicas to set.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_scale(mpijob_client *client, const char *namespace_, const char *name,
    int32_t workers, int32_t expected, mpijob_diag *diag);

/**
 * Delete a job, and with it all that it owns. When the answer is lost the job is looked at: one
 * that is gone or going is success, and else it is said that the outcome is unknown.
 *
 * @param client       not NULL.
 * @param namespace_   not NULL.
 * @param name         not NULL.
 * @param uid          the job must have this UID; NULL: any.
 * @param propagation  "Background", "Foreground" or "Orphan"; NULL: "Background".
 * @param diag         findings, or NULL.
 * @return as client.h.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_delete_job(mpijob_client *client, const char *namespace_,
    const char *name, const char *uid, const char *propagation, mpijob_diag *diag);

/**
 * Wait until a condition of a job is true.
 *
 * @param client      not NULL. mpijob_client_cancel() ends the waiting from another thread.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param condition   a type of condition ("Running", "Succeeded", "Failed", "Suspended",
 *                    "Created"); "Finished": Succeeded or Failed, whichever comes; "Deleted": it
 *                    does not exist; not NULL.
 * @param timeout_ms  milliseconds; 0: look once; negative: no limit.
 * @param out         the job as it then was, yours (NULL for "Deleted"); may be NULL.
 * @param diag        findings, or NULL.
 * @return 0; `MPIJOB_ERR_TIMEOUT`; `MPIJOB_ERR_CANCELLED`; `MPIJOB_ERR_SPEC`: the job has ended
 *         another way and the condition can not become true any more; `MPIJOB_ERR_NOT_FOUND`: it
 *         does not exist (any more), except for "Deleted"; as client.h.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_wait_job(mpijob_client *client, const char *namespace_,
    const char *name, const char *condition, int64_t timeout_ms, mpijob **out, mpijob_diag *diag);

/**
 * Get the Events about an object, oldest first.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param kind        "MPIJob", "Pod"; NULL: of any kind.
 * @param name        NULL: of any object.
 * @param uid         NULL: of any object of that name.
 * @param out         not NULL; a list of v1 Events, yours.
 * @param diag        findings, or NULL.
 * @return as client.h.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_events(mpijob_client *client, const char *namespace_, const char *kind,
    const char *name, const char *uid, mpijob_doc **out, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_JOBS_H */

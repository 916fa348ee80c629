/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the typed calls for MPIJobs. */
#ifndef MPIJOB__CLIENT_JOBS_H
#define MPIJOB__CLIENT_JOBS_H

#include <mpijob/jobs.h>
#include <mpijob/tasks.h>

#define MPIJOB__CLIENT_JOBS_VERSION "kubeflow.org/v2beta1"
#define MPIJOB__CLIENT_JOBS_KIND    "MPIJob"

/*
 * Copy a server's findings. One that names a field gets its position in the job's document. `job`
 * and both diags may be NULL. 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__client_jobs_place_findings(const mpijob *job, const mpijob_diag *from, mpijob_diag *to);

/* Create a task of `size` bytes for a job, and a target whose strings the task owns. Returns as
 * mpijob__client_task_new(). */
int mpijob__client_jobs_task(size_t size, mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_diag *diag,
    struct mpijob_target *target, mpijob_task **out);

/* The message of a condition that is True, "" without one; NULL when it is not True. `job` may be
 * NULL. */
const char *mpijob__client_jobs_condition(const mpijob_node *job, const char *type);
/* The type of the condition that ended the job, or NULL; `job` may be NULL. */
const char *mpijob__client_jobs_ended(const mpijob_node *job);

/*
 * 1 when a write of the task may have been done although it failed with `code`: its answer was
 * lost, or it was cancelled in flight, or a gateway may have answered, now or before a retry. Else
 * 0.
 */
int mpijob__client_jobs_outcome_unknown(const mpijob_task *task, int code);
/* Report an unknown outcome; `what` completes "the job may have been". 0 or MPIJOB_ERR_NOMEM. */
int mpijob__client_jobs_report_unknown(const char *what, mpijob_diag *diag);

/*
 * 1 when `stored` contains all of `sent`: a server may add to maps, and drop null. Else 0.
 */
int mpijob__client_jobs_holds(const mpijob_node *stored, const mpijob_node *sent);

#endif

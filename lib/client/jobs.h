/* SPDX-License-Identifier: Apache-2.0 */
/* What the typed calls for MPIJobs share. */
#ifndef MPIJOB__CLIENT_JOBS_H
#define MPIJOB__CLIENT_JOBS_H

#include <mpijob/jobs.h>
#include <mpijob/tasks.h>

#define MPIJOB__CLIENT_JOBS_VERSION "kubeflow.org/v2beta1"
#define MPIJOB__CLIENT_JOBS_KIND    "MPIJob"

/*
 * Hand on what a server said of a job: each finding that names a field gets the place where it
 * stands in the job's document. `job` and both diags may be NULL. 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__client_jobs_place_findings(const mpijob *job, const mpijob_diag *from, mpijob_diag *to);

/* jobs.c: make a task of `size` bytes for a job, and its target of the task's own strings. As
 * mpijob__client_task_new(). */
int mpijob__client_jobs_task(size_t size, mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_diag *diag,
    struct mpijob_target *target, mpijob_task **out);

/* A condition of the status is True: its message, "" without one; else NULL. `job` may be NULL. */
const char *mpijob__client_jobs_condition(const mpijob_node *job, const char *type);
/* The type of the condition with which it has ended, else NULL; `job` may be NULL. */
const char *mpijob__client_jobs_ended(const mpijob_node *job);

/*
 * Whether a write of the task that ended with `code` may have been done though it failed: its
 * answer was lost, or given up while it was on its way, or is one that a gateway may have given,
 * now or before it was sent again. 1 or 0.
 */
int mpijob__client_jobs_outcome_unknown(const mpijob_task *task, int code);
/* Say that; `what` goes on after "the job may have been". 0 or MPIJOB_ERR_NOMEM. */
int mpijob__client_jobs_report_unknown(const char *what, mpijob_diag *diag);

/*
 * Whether `stored` holds all that `sent` does: a server may add to maps, and drop what is null. 1
 * or 0.
 */
int mpijob__client_jobs_holds(const mpijob_node *stored, const mpijob_node *sent);

#endif

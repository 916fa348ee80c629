/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the typed calls for MPIJobs. */
#ifndef MPIJOB__CLIENT_JOBS_H
#define MPIJOB__CLIENT_JOBS_H

#include "base/api.h"

#include <mpijob/jobs.h>

#define MPIJOB__CLIENT_JOBS_VERSION MPIJOB__BASE_API_VERSION
#define MPIJOB__CLIENT_JOBS_KIND    MPIJOB__BASE_API_KIND

/* Create a task of `size` bytes for a job, and a target whose strings the task owns. Returns as
 * mpijob__client_task_new(). */
int mpijob__client_jobs_task(size_t size, mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_task **handle,
    mpijob_diag *diag, struct mpijob_target *target, mpijob_task **out);

/* The type of the condition that ended the job, or NULL; `job` may be NULL. */
const char *mpijob__client_jobs_ended(const mpijob_node *job);

#endif

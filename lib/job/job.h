/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private functions on a job for other directories. Everything that they return is borrowed from
 * the job until the job changes.
 */
#ifndef MPIJOB__JOB_JOB_H
#define MPIJOB__JOB_JOB_H

#include <mpijob/job.h>

#define MPIJOB__JOB_LAUNCHER 1
#define MPIJOB__JOB_WORKER   2

/* The root map of the job's document; never NULL. */
const mpijob_node *mpijob__job_node(const mpijob *job);

/* The name of the job's source for findings; NULL when unknown. */
const char *mpijob__job_source(const mpijob *job);

/* The pod template of a role as a map; NULL when absent or not a map. */
const mpijob_node *mpijob__job_template(const mpijob *job, int role);

/* As mpijob_spec_get() and mpijob_status_get(), for a const job. */
int mpijob__job_spec(const mpijob *job, const struct mpijob_spec **out, mpijob_diag *diag);
int mpijob__job_status(const mpijob *job, const struct mpijob_status **out, mpijob_diag *diag);

#endif

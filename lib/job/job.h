/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other rooms may know of a job beyond the public header. Everything here is borrowed from
 * the job and lives until the job changes.
 */
#ifndef MPIJOB__JOB_JOB_H
#define MPIJOB__JOB_JOB_H

#include <mpijob/job.h>

#define MPIJOB__JOB_LAUNCHER 1
#define MPIJOB__JOB_WORKER   2

/* The root map of the job's document; never NULL. */
const mpijob_node *mpijob__job_node(const mpijob *job);

/* What the job was read from, for findings; NULL when that has no name. */
const char *mpijob__job_source(const mpijob *job);

/* The pod template of a role as a map; NULL when the role, its template, or a map there is
 * absent. */
const mpijob_node *mpijob__job_template(const mpijob *job, int role);

/* mpijob_spec_get() and mpijob_status_get() for a job that the caller does not change. */
int mpijob__job_spec(const mpijob *job, const struct mpijob_spec **out, mpijob_diag *diag);
int mpijob__job_status(const mpijob *job, const struct mpijob_status **out, mpijob_diag *diag);

#endif

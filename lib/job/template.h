/* SPDX-License-Identifier: Apache-2.0 */
/* Checks pod templates and pods as an API server does. */
#ifndef MPIJOB__JOB_TEMPLATE_H
#define MPIJOB__JOB_TEMPLATE_H

#include "job/report.h"

/*
 * Check the templates of a job; they may be absent. In reference mode check only types, because
 * mpi-operator v0.8.2 cannot decode a job with wrong types.
 */
void mpijob__job_template_check(struct mpijob__job_report *report, const mpijob_node *root);

/* Check a Pod, or at `path` the template of a Job, as an API server that creates it. */
void mpijob__job_template_check_pod(struct mpijob__job_report *report, const char *path,
    const mpijob_node *pod);
/* Check labels, annotations and types in the metadata of an object of any kind. */
void mpijob__job_template_check_metadata(struct mpijob__job_report *report,
    const mpijob_node *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pod templates: what their servers will say of them. */
#ifndef MPIJOB__JOB_TEMPLATE_H
#define MPIJOB__JOB_TEMPLATE_H

#include "job/report.h"

/*
 * Judge the templates of a job; absent ones are fine. In reference mode only wrong types, with
 * which mpi-operator v0.8.2 cannot read a job.
 */
void mpijob__job_template_check(struct mpijob__job_report *report, const mpijob_node *root);

/* Judge a Pod, or at `path` the template of a Job, as the API server that creates it. */
void mpijob__job_template_check_pod(struct mpijob__job_report *report, const char *path,
    const mpijob_node *pod);
/* Judge the metadata of an object of any kind: labels, annotations, types. */
void mpijob__job_template_check_metadata(struct mpijob__job_report *report,
    const mpijob_node *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_JOB_CONTROLLER_H
#define MPIJOB_LOCAL_JOB_CONTROLLER_H

#include "local/local.h"

/* An object changed. If it is a Job or a pod of one, mark the Job for the next run. */
void mpijob__local_job_controller_changed(struct mpijob_local *local,
    struct mpijob__local_object *object, int change);

/* Sync the Jobs that changed or are due. 0 or MPIJOB_ERR_NOMEM. *next_ms is the time of the next
 * run, or -1. */
int mpijob__local_job_controller_run(struct mpijob_local *local, int64_t clock_ms,
    int64_t *next_ms);

void mpijob__local_job_controller_clear(struct mpijob_local *local);

#endif

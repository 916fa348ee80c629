/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_JOB_CONTROLLER_H
#define MPIJOB_LOCAL_JOB_CONTROLLER_H

#include "local.h"

/* A Job, or a pod of one, changed: remember to look at it. */
void mpijob__local_job_controller_changed(struct mpijob_local *local, struct object *object,
    int change);

/* Bring Jobs on that changed or whose time has come. 0 or MPIJOB_ERR_NOMEM; `next_ms`: when to look
 * again, or -1. */
int mpijob__local_job_controller_run(struct mpijob_local *local, int64_t clock_ms,
    int64_t *next_ms);

void mpijob__local_job_controller_clear(struct mpijob_local *local);

#endif

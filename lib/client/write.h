/* SPDX-License-Identifier: Apache-2.0 */
/* A write as a step of a task. */
#ifndef MPIJOB__CLIENT_WRITE_H
#define MPIJOB__CLIENT_WRITE_H

#include "client/task.h"

/* As mpijob__client_task_request(); `options` NULL: a create. */
int mpijob__client_task_request_write(mpijob_task *task, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_write_options *options, int reads,
    mpijob_diag *findings);

#endif

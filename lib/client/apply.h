/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply as a step of a task. */
#ifndef MPIJOB__CLIENT_APPLY_H
#define MPIJOB__CLIENT_APPLY_H

#include "client/task.h"

/* As mpijob__client_task_request(). */
int mpijob__client_task_request_apply(mpijob_task *task, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_apply_options *options, mpijob_diag *findings);

#endif

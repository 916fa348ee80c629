/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a DELETE. */
#ifndef MPIJOB__CLIENT_DELETE_H
#define MPIJOB__CLIENT_DELETE_H

#include "client/task.h"

/* As mpijob__client_task_request(). */
int mpijob__client_task_request_delete(mpijob_task *task, const struct mpijob_target *target,
    const struct mpijob_delete_options *options, mpijob_diag *findings);

#endif

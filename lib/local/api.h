/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_API_H
#define MPIJOB_LOCAL_API_H

#include "local/local.h"

/* Serve one request. 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__local_api_serve(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_reply *reply);

#endif

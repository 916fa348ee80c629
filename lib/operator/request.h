/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the operator. */
#ifndef MPIJOB__OPERATOR_REQUEST_H
#define MPIJOB__OPERATOR_REQUEST_H

#include <mpijob/client.h>

/*
 * Send a request that the client does not retry: the operator has its own rules. `method` is as in
 * struct mpijob_request; `body` may be NULL. Returns as mpijob_client_start().
 */
int mpijob__operator_request_send(mpijob_client *client, const char *method,
    const struct mpijob_target *target, const mpijob_text *body,
    const struct mpijob_callbacks *callbacks, mpijob_call **out);

#endif

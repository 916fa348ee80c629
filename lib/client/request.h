/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about targets. */
#ifndef MPIJOB__CLIENT_REQUEST_H
#define MPIJOB__CLIENT_REQUEST_H

#include "base/text.h"

#include <mpijob/client.h>

/*
 * Send a request about a target, with MPIJOB__CLIENT_CALL_* flags. `method` and `content_type` are
 * as in struct mpijob_request; `body` may be NULL. Returns as mpijob_client_start(), and
 * MPIJOB_ERR_USAGE for a target that cannot be named.
 */
int mpijob__client_request_send(mpijob_client *client, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    int flags, const struct mpijob_callbacks *callbacks, mpijob_call **out);
/* The same without retries: for a caller that retries by its own rules. */
int mpijob__client_request_send_once(mpijob_client *client, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    const struct mpijob_callbacks *callbacks, mpijob_call **out);
/* Add the findings of an answer that failed. Its code, or MPIJOB_ERR_NOMEM. */
int mpijob__client_request_report(const mpijob_call *call, const struct mpijob_answer *answer,
    mpijob_diag *diag);

#endif

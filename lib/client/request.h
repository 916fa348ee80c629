/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about targets. */
#ifndef MPIJOB__CLIENT_REQUEST_H
#define MPIJOB__CLIENT_REQUEST_H

#include <mpijob/client.h>

/* Add the findings of an answer that failed. Its code, or MPIJOB_ERR_NOMEM. */
int mpijob__client_request_report(const mpijob_call *call, const struct mpijob_answer *answer,
    mpijob_diag *diag);

#endif

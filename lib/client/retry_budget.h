/* SPDX-License-Identifier: Apache-2.0 */
/* How long a request that a server refuses is retried. */
#ifndef MPIJOB__CLIENT_RETRY_BUDGET_H
#define MPIJOB__CLIENT_RETRY_BUDGET_H

#include <stdint.h>

/* Starts as zeros. */
struct mpijob__client_retry_budget {
	int had;          /* a request was granted once */
	int tried;        /* refused since then, without a transient failure in between */
	int64_t since_ms; /* time of the first of these refusals */
};

/* 1 for a failure that recovers by itself, and for 0. */
int mpijob__client_retry_budget_is_transient(int code);
/* A request was granted. */
void mpijob__client_retry_budget_grant(struct mpijob__client_retry_budget *patience);
/* A request failed with this code: 1 when another attempt has no use. */
int mpijob__client_retry_budget_exhausted(struct mpijob__client_retry_budget *patience, int code,
    int64_t now_ms);

#endif

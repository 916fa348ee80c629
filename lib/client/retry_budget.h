/* SPDX-License-Identifier: Apache-2.0 */
/* How long a request that a server refuses is retried. */
#ifndef MPIJOB__CLIENT_RETRY_BUDGET_H
#define MPIJOB__CLIENT_RETRY_BUDGET_H

#include <stdint.h>

enum mpijob__client_retry_budget_state {
	MPIJOB__CLIENT_BUDGET_NEVER_GRANTED, /* a refusal is final */
	MPIJOB__CLIENT_BUDGET_GRANTED,       /* by the last answer that was not transient */
	MPIJOB__CLIENT_BUDGET_REFUSED        /* since `refused_ms`, after it was granted */
};

/* Starts as zeros. */
struct mpijob__client_retry_budget {
	enum mpijob__client_retry_budget_state state;
	int64_t refused_ms;
};

/* 1 for a failure that recovers by itself, and for 0. */
int mpijob__client_retry_budget_is_transient(int code);
/* A request was granted. */
void mpijob__client_retry_budget_grant(struct mpijob__client_retry_budget *budget);
/* A request failed with this code: 1 when another attempt has no use. */
int mpijob__client_retry_budget_exhausted(struct mpijob__client_retry_budget *budget, int code,
    int64_t now_ms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How long what a server refuses is asked for again. */
#ifndef MPIJOB__CLIENT_RETRY_BUDGET_H
#define MPIJOB__CLIENT_RETRY_BUDGET_H

#include <stdint.h>

/* Starts as zeros. */
struct mpijob__client_retry_budget {
	int had;          /* it was granted once */
	int tried;        /* refused since, and nothing else */
	int64_t since_ms; /* ... first at this time */
};

/* 1 for a failure that passes by itself, and for 0. */
int mpijob__client_retry_budget_is_transient(int code);
/* It is granted. */
void mpijob__client_retry_budget_grant(struct mpijob__client_retry_budget *patience);
/* It failed with this code: 1 when there is no use in asking again. */
int mpijob__client_retry_budget_exhausted(struct mpijob__client_retry_budget *patience, int code,
    int64_t now_ms);

#endif

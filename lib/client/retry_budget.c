/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which failures are transient, and when the others become final.
 *
 * A broken connection and an overloaded server recover, however long that takes. A refusal is final
 * when nothing was granted before. After a success, a refusal may be temporary: a server that
 * starts does not know all rights yet, a token may expire while the network is down, or something
 * in between answers for the server. Such a refusal is final when nothing else was received for a
 * minute.
 */
#include "client/retry_budget.h"

#include <mpijob/base.h>

#define BELIEVED_MS 60000

int mpijob__client_retry_budget_is_transient(int code)
{
	return code == 0 || code == MPIJOB_ERR_NOMEM || code == MPIJOB_ERR_IO ||
	       code == MPIJOB_ERR_TIMEOUT || code == MPIJOB_ERR_UNREACHABLE ||
	       code == MPIJOB_ERR_SERVER;
}

void mpijob__client_retry_budget_grant(struct mpijob__client_retry_budget *patience)
{
	patience->had = 1;
	patience->tried = 0;
}

int mpijob__client_retry_budget_exhausted(struct mpijob__client_retry_budget *patience, int code,
    int64_t now_ms)
{
	if (mpijob__client_retry_budget_is_transient(code)) {
		patience->tried = 0;
		return 0;
	}
	if (!patience->had)
		return 1;
	if (!patience->tried)
		patience->since_ms = now_ms;
	patience->tried = 1;
	return now_ms - patience->since_ms >= BELIEVED_MS;
}

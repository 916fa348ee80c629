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

#define REFUSED_MS 60000 /* how long refusals alone are received until they are final */

int mpijob__client_retry_budget_is_transient(int code)
{
	return code == 0 || code == MPIJOB_ERR_NOMEM || code == MPIJOB_ERR_IO ||
	       code == MPIJOB_ERR_TIMEOUT || code == MPIJOB_ERR_UNREACHABLE ||
	       code == MPIJOB_ERR_SERVER;
}

void mpijob__client_retry_budget_grant(struct mpijob__client_retry_budget *budget)
{
	budget->state = MPIJOB__CLIENT_BUDGET_GRANTED;
}

int mpijob__client_retry_budget_exhausted(struct mpijob__client_retry_budget *budget, int code,
    int64_t now_ms)
{
	int transient = mpijob__client_retry_budget_is_transient(code);

	if (budget->state == MPIJOB__CLIENT_BUDGET_NEVER_GRANTED)
		return !transient;
	if (transient) {
		budget->state = MPIJOB__CLIENT_BUDGET_GRANTED;
		return 0;
	}
	if (budget->state == MPIJOB__CLIENT_BUDGET_GRANTED)
		budget->refused_ms = now_ms;
	budget->state = MPIJOB__CLIENT_BUDGET_REFUSED;
	return now_ms - budget->refused_ms >= REFUSED_MS;
}

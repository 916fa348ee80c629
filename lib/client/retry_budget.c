/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which failures pass, and when the others are believed.
 *
 * A connection that breaks and a server that is overloaded come back, however long that takes. A
 * refusal is final when there was never anything else. But who was served before may be refused for
 * a moment: by a server that starts and does not know all rights yet, because the token is renewed
 * just when the network is away, or by something in between that answers in its own words. Such a
 * refusal is believed when it is all that is heard for a minute.
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Lease: that of mpi-operator, with the same name, namespace and times, so that this operator
 * and mpi-operator never lead at the same time. A shadow is not a candidate.
 */
#include "election.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/api.h"
#include "base/random.h"
#include "log.h"

/* "HOSTNAME_UUID", as in mpi-operator; the caller frees it; NULL on failure. */
static char *make_identity(void)
{
	char host[256] = "", uuid[MPIJOB__BASE_RANDOM_UUID_SIZE], *text = NULL;

	if (gethostname(host, sizeof(host) - 1) || mpijob__base_random_uuid(uuid))
		return NULL;
	return asprintf(&text, "%s_%s", host, uuid) < 0 ? NULL : text;
}

static void changed(void *user, int leading, const char *holder)
{
	struct state *state = user;

	if (leading && !state->led)
		log_line(MPIJOB_SEVERITY_INFO, "this operator leads now, as %s", holder);
	else if (!leading && state->led && !state->stopping)
		log_line(MPIJOB_SEVERITY_WARNING, "this operator no longer leads: %s%s",
		    strcmp(holder, state->identity) == 0 ? "the Lease could not be renewed"
							 : "the holder of the Lease is ",
		    strcmp(holder, state->identity) == 0 ? ""
		    : *holder                            ? holder
							 : "unknown");
	else if (!leading && *holder && !state->stopping)
		log_line(MPIJOB_SEVERITY_INFO, "the leader is %s", holder);
	state->led = leading;
}

int election_begin(struct state *state)
{
	struct mpijob_lease_options options = MPIJOB_LEASE_OPTIONS_INIT;

	if (state->settings->shadow || !state->settings->leader_elect)
		return 0;
	state->identity = make_identity();
	int rc =
	    state->identity && mpijob__base_random_fill(&options.seed, sizeof(options.seed)) == 0
		? 0
		: MPIJOB_ERR_NOMEM;
	options.namespace_ = state->settings->lock_namespace;
	options.name = MPIJOB__BASE_API_OPERATOR_NAME;
	options.identity = state->identity;
	options.component = MPIJOB__BASE_API_OPERATOR_NAME;
	options.changed = changed;
	options.log = log_finding;
	options.user = state;
	if (rc == 0)
		rc = mpijob_lease_new(state->client, &options, &state->lease);
	return rc;
}

void election_end(struct state *state)
{
	mpijob_lease_free(state->lease);
	free(state->identity);
	state->lease = NULL;
	state->identity = NULL;
}

int election_part(const struct state *state)
{
	if (state->settings->shadow || (state->settings->leader_elect &&
					   !(state->lease && mpijob_lease_leading(state->lease))))
		return MPIJOB_OPERATOR_WATCHES;
	return state->stopping ? MPIJOB_OPERATOR_ENDS : MPIJOB_OPERATOR_ACTS;
}

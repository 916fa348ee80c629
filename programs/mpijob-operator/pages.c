/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of pages. The text of /healthz equals mpi-operator's, because probes and users read it.
 */
#include "pages.h"

#include <string.h>

#include "process.h"
#include "state.h"

#define LEASE_TOLERANCE_MS 20000 /* longer than the Lease duration, as in mpi-operator */
#define PLAIN              "text/plain; charset=utf-8"

static int put(mpijob_text *out, const char *text)
{
	return mpijob_text_write(out, text, strlen(text));
}

static int write_check(mpijob_text *out, const char *page, const char *name, int healthy,
    int verbose)
{
	const char *const good[] = { "[+]", name, " ok\n", page, " check passed\n", NULL };
	const char *const bad[] = { "[-]", name, " failed: reason withheld\n", page,
		" check failed\n", NULL };
	int rc = 0;

	if (healthy && !verbose)
		return put(out, "ok") ? MPIJOB_ERR_NOMEM : 200;
	for (const char *const *word = healthy ? good : bad; *word && rc == 0; word++)
		rc = put(out, *word);
	return rc ? rc : healthy ? 200 : 500;
}

static int is_lease_healthy(const struct state *state)
{
	return !state->lease || mpijob_lease_healthy(state->lease, LEASE_TOLERANCE_MS);
}

static int write_healthz(void *user, int verbose, mpijob_text *out)
{
	return write_check(out, "healthz", "leaderElection", is_lease_healthy(user), verbose);
}

static int write_leader(void *user, int verbose, mpijob_text *out)
{
	int healthy = is_lease_healthy(user);

	(void)verbose;
	int rc = put(out, healthy ? "ok"
				  : "internal server error: failed election to renew leadership on "
				    "lease mpi-operator\n");
	return rc ? rc : healthy ? 200 : 500;
}

static int write_readyz(void *user, int verbose, mpijob_text *out)
{
	const struct state *state = user;

	return write_check(out, "readyz", state->stopping ? "shutdown" : "lists",
	    !state->stopping && state->operator_ && mpijob_operator_synced(state->operator_),
	    verbose);
}

static int write_metrics(void *user, int verbose, mpijob_text *out)
{
	static const char leader[] = "# HELP mpi_operator_is_leader Is this client the leader of "
				     "this mpi-operator client set?\n"
				     "# TYPE mpi_operator_is_leader gauge\nmpi_operator_is_leader ";
	const struct state *state = user;
	int rc = state->operator_
		     ? mpijob_operator_metrics(state->operator_, mpijob_text_write, out)
		     : 0;

	(void)verbose;
	if (rc == 0)
		rc = put(out, leader);
	if (rc == 0)
		rc = put(out, state->part == MPIJOB_OPERATOR_ACTS ? "1\n" : "0\n");
	if (rc == 0)
		rc = configuration_write_metrics(&state->configuration, out);
	if (rc == 0)
		rc = process_write(out);
	return rc ? rc : 200;
}

static int write_shadow(void *user, int verbose, mpijob_text *out)
{
	const struct state *state = user;

	(void)verbose;
	if (!state->settings->shadow)
		return put(out, "this operator does not run as a shadow; start it with --shadow\n")
			   ? MPIJOB_ERR_NOMEM
			   : 404;
	int rc = state->operator_
		     ? mpijob_operator_shadow_report(state->operator_, mpijob_text_write, out)
		     : 0;
	return rc ? rc : 200;
}

const struct server_page health_pages[] = {
	{ "/healthz", PLAIN, 0, write_healthz },
	{ "/healthz/leaderElection", PLAIN, 0, write_leader },
	{ "/readyz", PLAIN, 0, write_readyz },
	{ NULL, NULL, 0, NULL },
};

const struct server_page monitoring_pages[] = {
	{ "/metrics", "text/plain; version=0.0.4; charset=utf-8", 1, write_metrics },
	{ "/shadow", "application/x-ndjson", 1, write_shadow },
	{ NULL, NULL, 0, NULL },
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of pages. /healthz has the text of mpi-operator's, because probes and users read it.
 */
#include "pages.h"

#include <string.h>

#include "process.h"
#include "state.h"

#define LATE_MS 20000 /* beyond the Lease's time, as in mpi-operator */
#define PLAIN   "text/plain; charset=utf-8"

static int put(mpijob_text *out, const char *text)
{
	return mpijob_text_write(out, text, strlen(text));
}

static int check(mpijob_text *out, const char *page, const char *name, int well, int verbose)
{
	const char *const good[] = { "[+]", name, " ok\n", page, " check passed\n", NULL };
	const char *const bad[] = { "[-]", name, " failed: reason withheld\n", page,
		" check failed\n", NULL };
	int code = 0;

	if (well && !verbose)
		return put(out, "ok") ? MPIJOB_ERR_NOMEM : 200;
	for (const char *const *word = well ? good : bad; *word && code == 0; word++)
		code = put(out, *word);
	return code ? code : well ? 200 : 500;
}

static int leads_well(const struct state *state)
{
	return !state->lease || mpijob_lease_healthy(state->lease, LATE_MS);
}

static int write_healthz(void *user, int verbose, mpijob_text *out)
{
	return check(out, "healthz", "leaderElection", leads_well(user), verbose);
}

static int write_leader(void *user, int verbose, mpijob_text *out)
{
	int well = leads_well(user);

	(void)verbose;
	int code = put(out, well ? "ok"
				 : "internal server error: failed election to renew leadership on "
				   "lease mpi-operator\n");
	return code ? code : well ? 200 : 500;
}

static int write_readyz(void *user, int verbose, mpijob_text *out)
{
	const struct state *state = user;

	return check(out, "readyz", state->stopping ? "shutdown" : "lists",
	    !state->stopping && state->operator_ && mpijob_operator_synced(state->operator_),
	    verbose);
}

static int write_metrics(void *user, int verbose, mpijob_text *out)
{
	static const char leader[] = "# HELP mpi_operator_is_leader Is this client the leader of "
				     "this mpi-operator client set?\n"
				     "# TYPE mpi_operator_is_leader gauge\nmpi_operator_is_leader ";
	const struct state *state = user;
	int code = state->operator_
		       ? mpijob_operator_metrics(state->operator_, mpijob_text_write, out)
		       : 0;

	(void)verbose;
	if (code == 0)
		code = put(out, leader);
	if (code == 0)
		code = put(out, state->part == MPIJOB_OPERATOR_ACTS ? "1\n" : "0\n");
	if (code == 0)
		code = configuration_write_metrics(&state->configuration, out);
	if (code == 0)
		code = process_write(out);
	return code ? code : 200;
}

static int write_shadow(void *user, int verbose, mpijob_text *out)
{
	const struct state *state = user;

	(void)verbose;
	if (!state->settings->shadow)
		return put(out, "this operator is no shadow; start it with --shadow\n")
			   ? MPIJOB_ERR_NOMEM
			   : 404;
	int code = state->operator_
		       ? mpijob_operator_shadow_report(state->operator_, mpijob_text_write, out)
		       : 0;
	return code ? code : 200;
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

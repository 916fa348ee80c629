/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks over one transport, as a table. Fails on whatever differs without a reason in `known`,
 * and on a reason for which there is no difference any more.
 */
#include "suite.h"

#include <stdio.h>
#include <string.h>

#define LOCAL      SUITE_LOCAL ", " SUITE_IN_PYTHON
#define API_SERVER "http, kubernetes"

/* What differs, and why. Transports: by their names. */
static const struct {
	const char *transports, *check, *outcome, *reason;
} known[] = {
	{ LOCAL, "lists in pages", SUITE_UNSUPPORTED, "its lists are in memory and come whole" },
	{ LOCAL, "dry run", SUITE_UNSUPPORTED, "it has no admission that could be tried" },
	{ LOCAL, "strict field validation", SUITE_UNSUPPORTED,
	    "it knows no schemas; mpijob checks before it sends" },
	{ LOCAL, "server-side apply", SUITE_UNSUPPORTED, "it does not keep who owns which field" },
	{ LOCAL, "a job: apply", SUITE_UNSUPPORTED, "it does not keep who owns which field" },
	{ LOCAL, "JSON patch", SUITE_UNSUPPORTED, "merge patches do all that is needed" },
	{ LOCAL, "strategic merge patch", SUITE_UNSUPPORTED, "it knows no schemas" },
	{ LOCAL, "delete a collection", SUITE_UNSUPPORTED, "nobody here does that" },
	{ LOCAL, "a refusal has its place in the file", "accepted",
	    "it knows no schemas; mpijob checks before it sends" },
	{ SUITE_IN_PYTHON, "watch of a version that is forgotten: 410", "everything is remembered",
	    "it remembers more changes" },
	{ API_SERVER, "log of a pod that waits to start", "status 204",
	    "the log of a pod without a node is empty there" },
	{ API_SERVER, "watch of a version that is forgotten: 410", "everything is remembered",
	    "it forgets after minutes" },
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static int used[KNOWN];

/* The reason for a difference; NULL when there is none. */
static const char *reason_for(const char *transport, const char *check, const char *outcome)
{
	for (size_t i = 0; i < KNOWN; i++) {
		if (!strstr(known[i].transports, transport) || strcmp(known[i].check, check) != 0 ||
		    strcmp(known[i].outcome, outcome) != 0)
			continue;
		used[i] = 1;
		return known[i].reason;
	}
	return NULL;
}

int suite_run_checks(const char *name, mpijob_client *client, int quiet)
{
	struct suite_run run = { client, "" };
	int faults = 0;

	for (size_t i = 0; i < suite_check_count; i++) {
		const char *check = suite_checks[i].name, *outcome = suite_checks[i].run(&run);
		const char *reason = outcome ? reason_for(name, check, outcome) : NULL;

		if (!quiet)
			printf("%-16s %-42s %s%s%s\n", name, check, outcome ? outcome : "ok",
			    reason ? ": " : "", reason ? reason : "");
		if (outcome && !reason)
			faults++;
	}
	fflush(stdout);
	return faults;
}

/* A reason that is not needed is a lie. */
int suite_check_reasons(const char *transports)
{
	int faults = 0;

	for (size_t i = 0; i < KNOWN; i++)
		if (!used[i] && strstr(known[i].transports, transports)) {
			printf("not so any more: %s: %s\n", known[i].check, known[i].reason);
			faults++;
		}
	fflush(stdout);
	return faults;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite over every transport: the embedded cluster, a recording of it while it is made, that recording played
 * again, and the adapter for calls that block. Prints a table. Fails on whatever differs without a reason in `known`,
 * and on a reason for which there is no difference any more.
 *
 * Usage: transport_suite [http]: over HTTP alone, to the cluster of the usual kubeconfig.
 */
#include "suite.h"

#include "transports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL "embedded, record, replay, blocking"

/* What differs, and why. Transports: by their first letters in that list. */
static const struct {
	const char *transports, *check, *outcome, *reason;
} known[] = {
	{ LOCAL, "lists in pages", SUITE_UNSUPPORTED, "its lists are in memory and come whole" },
	{ LOCAL, "dry run", SUITE_UNSUPPORTED, "it has no admission that could be tried" },
	{ LOCAL, "strict field validation", SUITE_UNSUPPORTED, "it knows no schemas; mpijob checks before it sends" },
	{ LOCAL, "server-side apply", SUITE_UNSUPPORTED, "it does not keep who owns which field" },
	{ LOCAL, "a job: apply", SUITE_UNSUPPORTED, "it does not keep who owns which field" },
	{ LOCAL, "JSON patch", SUITE_UNSUPPORTED, "merge patches do all that is needed" },
	{ LOCAL, "strategic merge patch", SUITE_UNSUPPORTED, "it knows no schemas" },
	{ LOCAL, "delete a collection", SUITE_UNSUPPORTED, "nobody here does that" },
	{ LOCAL, "a refusal has its place in the file", "accepted", "it knows no schemas; mpijob checks before it sends" },
	{ "http", "log of a pod that waits to start", "status 204", "the log of a pod without a node is empty there" },
	{ "http", "watch of a version that is forgotten: 410", "everything is remembered", "it forgets after minutes" },
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

/* `quiet`: only count. */
static int run_checks(const char *name, mpijob_client *client, int quiet)
{
	struct suite_run run = { client, "" };
	int faults = 0;

	for (size_t i = 0; i < suite_check_count; i++) {
		const char *check = suite_checks[i].name, *outcome = suite_checks[i].run(&run);
		const char *reason = outcome ? reason_for(name, check, outcome) : NULL;

		if (!quiet)
			printf("%-9s %-42s %s%s%s\n", name, check, outcome ? outcome : "ok", reason ? ": " : "",
			       reason ? reason : "");
		if (outcome && !reason)
			faults++;
	}
	fflush(stdout);
	return faults;
}

static int run_transport(const char *name, int (*open)(mpijob_client **out))
{
	mpijob_client *client = NULL;
	int faults, code = open(&client);

	if (code) {
		printf("%-9s cannot be opened: %s\n", name, mpijob_error_text(code));
		return 1;
	}
	faults = run_checks(name, client, 0);
	mpijob_client_free(client);
	return faults;
}

/* A reason that is not needed is a lie. */
static int check_reasons(const char *transports)
{
	int faults = 0;

	for (size_t i = 0; i < KNOWN; i++)
		if (!used[i] && strcmp(known[i].transports, transports) == 0) {
			printf("not so any more: %s: %s\n", known[i].check, known[i].reason);
			faults++;
		}
	return faults;
}

/* A transport that answers nothing must fail at all checks but the one that asks nothing. */
static int check_checks(void)
{
	mpijob_client *client = NULL;
	int faults, code = open_silence(&client);

	if (code)
		return 1;
	faults = run_checks("silence", client, 1);
	mpijob_client_free(client);
	printf("a transport that answers nothing: %d faults\n", faults);
	return faults != (int)suite_check_count - 1;
}

int main(int argc, char **argv)
{
	int faults = check_checks();

	if (argc > 1 && strcmp(argv[1], "http") == 0) {
		faults += run_transport("http", open_http);
		faults += check_reasons("http");
	} else {
		faults += run_transport("embedded", open_embedded);
		faults += run_transport("record", open_recorder);
		faults += run_transport("replay", open_replay);
		faults += run_transport("blocking", open_blocking);
		faults += check_reasons(LOCAL);
	}
	forget_recording();
	printf("%zu checks, %d faults\n", suite_check_count, faults);
	return faults != 0;
}

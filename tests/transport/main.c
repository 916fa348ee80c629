/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite over every transport: the embedded cluster, a recording of it while it is made, that
 * recording played again, and the adapter for calls that block. Those in Python run it themselves,
 * through loaded.c.
 *
 * Usage: transport_suite [http]: over HTTP alone, to the cluster of the usual kubeconfig.
 */
#include "suite.h"

#include "transports.h"

#include <stdio.h>
#include <string.h>

static int run_transport(const char *name, int (*open)(mpijob_client **out))
{
	mpijob_client *client = NULL;
	int faults, code = open(&client);

	if (code) {
		printf("%s cannot be opened: %s\n", name, mpijob_error_text(code));
		return 1;
	}
	faults = suite_run_checks(name, client, 0);
	mpijob_client_free(client);
	return faults;
}

/* A transport that answers nothing must fail at all checks but the one that asks nothing. */
static int check_checks(void)
{
	mpijob_client *client = NULL;
	int faults, code = open_silence(&client);

	if (code)
		return 1;
	faults = suite_run_checks("silence", client, 1);
	mpijob_client_free(client);
	printf("a transport that answers nothing: %d faults\n", faults);
	return faults != (int)suite_check_count - 1;
}

int main(int argc, char **argv)
{
	int faults = check_checks();

	if (argc > 1 && strcmp(argv[1], "http") == 0) {
		faults += run_transport("http", open_http);
		faults += suite_check_reasons("http");
	} else {
		faults += run_transport("embedded", open_embedded);
		faults += run_transport("record", open_recorder);
		faults += run_transport("replay", open_replay);
		faults += run_transport("blocking", open_blocking);
		faults += suite_check_reasons(SUITE_LOCAL);
	}
	forget_recording();
	printf("%zu checks, %d faults\n", suite_check_count, faults);
	return faults != 0;
}

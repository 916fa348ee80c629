/* SPDX-License-Identifier: Apache-2.0 */
/* The suite as a library that is loaded: for transports of other languages, which bring their own client. */
#include "suite.h"

int transport_suite_checks(void)
{
	return (int)suite_check_count;
}

/* How many checks fail over the client's transport; when `transports` is not empty, also reasons that those do not need. */
int transport_suite_run(const char *name, mpijob_client *client, const char *transports)
{
	int faults = suite_run_checks(name, client, 0);

	return *transports ? faults + suite_check_reasons(transports) : faults;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The suite as a library that is loaded: for transports of other languages, which bring their own
 * client. */
#include "suite.h"

int transport_suite_checks(void)
{
	return (int)suite_check_count;
}

int transport_suite_run(const char *name, mpijob_client *client, int quiet)
{
	return suite_run_checks(name, client, quiet);
}

int transport_suite_reasons(const char *transports)
{
	return suite_check_reasons(transports);
}

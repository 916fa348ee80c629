/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon has, shared by its parts.
 */
#ifndef MPIJOB_OPERATOR_STATE_H
#define MPIJOB_OPERATOR_STATE_H

#include <mpijob/client.h>
#include <mpijob/lease.h>
#include <mpijob/operator.h>

#include "configuration.h"
#include "flags.h"
#include "names.h"
#include "server.h"

struct state {
	const struct settings *settings;
	struct configuration configuration;
	mpijob_client *client;
	mpijob_operator *operator_;         /* NULL until the server is known to know MPIJobs */
	mpijob_lease *lease;                /* NULL: acts without, or never */
	char *identity;                     /* that stands for it */
	struct server *health, *monitoring; /* NULL: none */
	struct names *names;                /* NULL: names cannot be asked */
	int part;                           /* as the operator was told: MPIJOB_OPERATOR_* */
	int led;                            /* as the Lease told last */
	int stopping;
};

#endif

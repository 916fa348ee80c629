/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the daemon, shared by its files.
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
	mpijob_operator *operator_;         /* NULL until the server has the kind MPIJob */
	mpijob_lease *lease;                /* NULL: it leads without a Lease, or never */
	char *identity;                     /* of the candidate */
	struct server *health, *monitoring; /* NULL: none */
	struct names *names;                /* NULL: names cannot be resolved */
	int part;                           /* of the operator: MPIJOB_OPERATOR_* */
	int led;                            /* as the Lease reported last */
	int stopping;
};

#endif

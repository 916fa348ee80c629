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
	mpijob_lease *lease;                /* NULL: leader election is off, or this is a shadow */
	char *identity;                     /* of this candidate for the Lease */
	struct server *health, *monitoring; /* NULL: not configured */
	struct names *names;                /* NULL: names cannot be resolved */
	int part;                           /* the role of the operator: MPIJOB_OPERATOR_* */
	int led;                            /* whether this operator led at the last change */
	int stopping;
};

#endif

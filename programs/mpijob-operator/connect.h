/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection of the daemon to its cluster.
 */
#ifndef MPIJOB_OPERATOR_CONNECT_H
#define MPIJOB_OPERATOR_CONNECT_H

#include <mpijob/client.h>

#include "flags.h"

/* Create the client without sending anything. 0, or an MPIJOB_ERR_* after logging the reason. */
int connect_open(const struct settings *settings, mpijob_client **out);

/*
 * Ask the server whether it has the kind MPIJob. `done` gets 1 when it does, or when the request
 * failed (which is logged), 0 when it does not. Returns 0 or a MPIJOB_ERR_*.
 */
int connect_ask_kind(mpijob_client *client, const char *namespace_,
    void (*done)(void *user, int known), void *user);

#endif

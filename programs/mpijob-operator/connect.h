/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster of the daemon.
 */
#ifndef MPIJOB_OPERATOR_CONNECT_H
#define MPIJOB_OPERATOR_CONNECT_H

#include <mpijob/client.h>

#include "flags.h"

/* Create the client; nothing is sent. 0, or a MPIJOB_ERR_* after logging the reason. */
int connect_open(const struct settings *settings, mpijob_client **out);

/*
 * Ask the server whether it supports MPIJobs. `done` gets 1 if it does, or if the answer is
 * unknown (which is logged), and 0 if it does not. Returns 0 or a MPIJOB_ERR_*.
 */
int connect_ask_kind(mpijob_client *client, const char *namespace_,
    void (*done)(void *user, int known), void *user);

#endif

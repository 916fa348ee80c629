/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster that the daemon works in.
 */
#ifndef MPIJOB_OPERATOR_CONNECT_H
#define MPIJOB_OPERATOR_CONNECT_H

#include <mpijob/client.h>

#include "flags.h"

/* Make the client; nothing is sent. 0, or a MPIJOB_ERR_* after having logged why. */
int connect_open(const struct settings *settings, mpijob_client **out);

/*
 * Ask the server whether it knows MPIJobs. `told` gets 1 when it does, or when that could not be
 * found out (which is logged), 0 when it does not. Returns 0 or a MPIJOB_ERR_*.
 */
int connect_ask_kind(mpijob_client *client, const char *namespace_,
    void (*told)(void *user, int known), void *user);

#endif

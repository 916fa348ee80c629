/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon.
 */
#ifndef MPIJOB_OPERATOR_DAEMON_H
#define MPIJOB_OPERATOR_DAEMON_H

#include "flags.h"

/* Run until SIGTERM or SIGINT. Returns the exit code. */
int daemon_run(const struct settings *settings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon at work.
 */
#ifndef MPIJOB_OPERATOR_DAEMON_H
#define MPIJOB_OPERATOR_DAEMON_H

#include "flags.h"

/* Run until a signal ends it. Returns the exit code. */
int daemon_run(const struct settings *settings);

#endif

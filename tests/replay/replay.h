/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_REPLAY_REPLAY_H
#define TESTS_REPLAY_REPLAY_H

#include <mpijob/mpijob.h>

#include <stdint.h>
#include <stdio.h>

int64_t clock_ms(void);

/* Answers requests that come as lines, until there are none; takes the client. The exit code. */
int ask(mpijob_client *client);

/* Runs a job on an embedded cluster and writes what went over its transport, and what it did by
 * itself, to `tape`. */
int run_job(const char *tape, const char *job, char **steps);

#endif

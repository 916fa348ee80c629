/* SPDX-License-Identifier: Apache-2.0 */
/* Durations on command lines: "90s", "5m", "1h30m", "250ms"; a last number without a unit is in
 * seconds. */
#ifndef MPIJOB__BASE_DURATION_H
#define MPIJOB__BASE_DURATION_H

#include <stdint.h>

/*
 * Parse a duration. Returns 0, or MPIJOB_ERR_SYNTAX: not a duration, or longer than 2^53 ms; then
 * `ms` is unchanged.
 */
int mpijob__base_duration_parse(const char *text, int64_t *ms);

#endif

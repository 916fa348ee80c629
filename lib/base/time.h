/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 3339 times as Kubernetes writes and reads them, and seconds since 1970-01-01T00:00:00Z. */
#ifndef MPIJOB__BASE_TIME_H
#define MPIJOB__BASE_TIME_H

#include <stdint.h>

#define MPIJOB__BASE_TIME_SIZE    21 /* "2026-11-21T12:00:00Z" and its NUL */
#define MPIJOB__BASE_TIME_NS_SIZE (MPIJOB__BASE_TIME_SIZE + 10)

/*
 * Read "2026-11-21T12:00:00Z", also with an offset or a fraction, as Go's time.RFC3339 does. Digits
 * after the ninth of a fraction are ignored. `nanoseconds` may be NULL. Returns 1, or 0 if the text
 * is not a time; the numbers are then unchanged.
 */
int mpijob__base_time_parse_ns(const char *text, int64_t *seconds, int32_t *nanoseconds);
int mpijob__base_time_parse(const char *text, int64_t *seconds);

/* Write the time with `Z` and no fraction. Returns 1, or 0 if the year is not 0000 to 9999; `out`
 * is then "". */
int mpijob__base_time_format(int64_t seconds, char out[MPIJOB__BASE_TIME_SIZE]);
/* The same with the first `digits` digits (1 to 9) of `nanoseconds`. */
int mpijob__base_time_format_ns(int64_t seconds, int32_t nanoseconds, int digits,
    char out[MPIJOB__BASE_TIME_NS_SIZE]);

#endif

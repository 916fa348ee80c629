/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 3339 times as Kubernetes writes and reads them, and seconds since 1970-01-01T00:00:00Z. */
#ifndef MPIJOB__BASE_TIME_H
#define MPIJOB__BASE_TIME_H

#include <stdint.h>

#define MPIJOB__BASE_TIME_SIZE 21 /* "2026-11-21T12:00:00Z" and its NUL */

/* 1 and *seconds for "2026-11-21T12:00:00Z", also with an offset or a fraction (cut off downwards);
 * else 0. */
int mpijob__base_time_parse(const char *text, int64_t *seconds);

/* 1 and the text with `Z` and no fraction; 0 when the year is not 0000 to 9999 (out is then ""). */
int mpijob__base_time_format(int64_t seconds, char out[MPIJOB__BASE_TIME_SIZE]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as Kubernetes writes them, and how long ago they were.
 */
#ifndef MPIJOB_PROGRAM_WHEN_H
#define MPIJOB_PROGRAM_WHEN_H

#include <stdint.h>

#define AGE_SIZE 24

/* Read "2026-11-21T12:00:00Z", also with an offset or a fraction, which is cut off; returns 0, or
 * -1 if the text (or NULL) is not such a time. */
int when_parse(const char *text, int64_t *seconds);

/* How long ago that was, as kubectl writes it: 90s, 5m30s, 3h, 12d. "<unknown>" if the text is not
 * a time. */
const char *age_text(const char *since, int64_t now_s, char text[AGE_SIZE]);

/* The same for seconds. */
const char *age_of_seconds(int64_t seconds, char text[AGE_SIZE]);

#endif

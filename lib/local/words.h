/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_WORDS_H
#define MPIJOB_LOCAL_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Print into memory of its own; NULL when there is none. */
char *mpijob__local_words_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A whole decimal number without sign: 1 and its value, else 0. */
int mpijob__local_words_number(const char *text, uint64_t *out);

#endif

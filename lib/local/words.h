/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_WORDS_H
#define MPIJOB_LOCAL_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define WORDS_UID_SIZE    37
#define WORDS_SUFFIX_SIZE 6

/* Print into memory of its own; NULL when there is none. */
char *mpijob__local_words_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A random UUID; -1 when the system gives no randomness. */
int mpijob__local_words_uid(char out[WORDS_UID_SIZE]);

/* Five characters as generateName appends them; -1 as above. */
int mpijob__local_words_suffix(char out[WORDS_SUFFIX_SIZE]);

/* Milliseconds since 1970, and of the clock that never jumps. */
int64_t mpijob__local_words_now(void);
int64_t mpijob__local_words_clock(void);

/* A whole decimal number without sign: 1 and its value, else 0. */
int mpijob__local_words_number(const char *text, uint64_t *out);

#endif

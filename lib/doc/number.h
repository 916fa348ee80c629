/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text: JSON's grammar, whole numbers, and the spelling that Go's encoders give. */
#ifndef MPIJOB__DOC_NUMBER_H
#define MPIJOB__DOC_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__DOC_NUMBER_ROOM 32 /* size of a buffer for any result, including its NUL */

/* The end of the JSON number at `at`; NULL if `at` is not at a number. The following characters are
 * not checked. */
const char *mpijob__doc_number_end(const char *at, const char *end);
/* The end of the digits at `at`. */
const char *mpijob__doc_number_digits(const char *at, const char *end);
/* Parse a JSON number that is whole, also `1.0` and `1e3`. Returns 1 and sets `out` if it fits,
 * else 0. */
int mpijob__doc_number_int(const char *text, size_t len, int64_t *out);
/*
 * Parse decimal digits with an optional sign, point and exponent as the nearest double; `_` is
 * ignored. Returns 1, or 0 when it is larger than every double.
 */
int mpijob__doc_number_double(const char *text, size_t len, double *out);
/* Spell a finite double as Go's encoding/json does (`bits` 64), or as the key of a map (`bits` 32).
 * Returns the length. */
size_t mpijob__doc_number_spell(double value, int bits, char into[MPIJOB__DOC_NUMBER_ROOM]);
/*
 * Spell a JSON number as Kubernetes' tools do when they decode and encode it: whole numbers of up
 * to 64 bits are unchanged, all others are converted to a double. Returns the length, or 0 when it
 * is larger than every double.
 */
size_t mpijob__doc_number_canonical(const char *text, size_t len,
    char into[MPIJOB__DOC_NUMBER_ROOM]);
/* Whether two JSON numbers are equal for Kubernetes. */
int mpijob__doc_number_equal(const char *a, size_t a_len, const char *b, size_t b_len);

#endif

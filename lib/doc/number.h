/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text: JSON's grammar, whole numbers, and the spelling that Go's encoders give. */
#ifndef MPIJOB__DOC_NUMBER_H
#define MPIJOB__DOC_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__DOC_NUMBER_ROOM 32 /* for every spelling made here, its NUL included */

/* The end of the JSON number that begins at `at`; NULL when none does. What follows is not looked
 * at. */
const char *mpijob__doc_number_end(const char *at, const char *end);
/* Read a JSON number that is whole, also `1.0` and `1e3`. 1 and sets `out` when it fits, else 0. */
int mpijob__doc_number_int(const char *text, size_t len, int64_t *out);
/*
 * Read decimal digits with an optional sign, point and exponent, `_` between them left out, as the
 * nearest double. 1, or 0 when it is larger than every double.
 */
int mpijob__doc_number_double(const char *text, size_t len, double *out);
/* Spell a finite double as Go's encoding/json does (`bits` 64), or as the key of a map (`bits` 32).
 * Returns the length. */
size_t mpijob__doc_number_spell(double value, int bits, char into[MPIJOB__DOC_NUMBER_ROOM]);
/*
 * Spell a JSON number as Kubernetes' tools do when they decode and encode it: whole numbers up to
 * 64 bits stay as they are, all others go through a double. Returns the length, or 0 when it is
 * larger than every double.
 */
size_t mpijob__doc_number_canonical(const char *text, size_t len,
    char into[MPIJOB__DOC_NUMBER_ROOM]);
/* Tell whether two JSON numbers are the same to Kubernetes. */
int mpijob__doc_number_equal(const char *a, size_t a_len, const char *b, size_t b_len);

#endif

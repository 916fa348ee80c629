/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": which of some words is closest to one that was mistyped. */
#ifndef MPIJOB__BASE_NEAR_H
#define MPIJOB__BASE_NEAR_H

#include <stddef.h>

/*
 * Count the edits (insert, delete, replace, swap of neighbours) between two words, letter case
 * costing nothing. Words over 64 bytes are `limit + 1` apart unless equal; so is everything over
 * `limit`.
 */
size_t mpijob__base_near_distance(const char *a, const char *b, size_t limit);
/*
 * Pick the word that was probably meant: at most one edit for every three letters, and no second
 * word as close. `words` may hold NULL (left out). Returns one of `words` (never equal to `word`),
 * or NULL.
 */
const char *mpijob__base_near_word(const char *word, const char *const *words, size_t count);

#endif

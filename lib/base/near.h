/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": finds the word that is closest to a mistyped one. */
#ifndef MPIJOB__BASE_NEAR_H
#define MPIJOB__BASE_NEAR_H

#include <stddef.h>

/*
 * Count the edits (insert, delete, replace, swap of neighbours) between two words, ignoring letter
 * case. The result is `limit + 1` for more edits than `limit`, and for different words over 64
 * bytes.
 */
size_t mpijob__base_near_distance(const char *a, const char *b, size_t limit);
/*
 * Find the word that was probably meant: with at most one edit for every three letters, and closer
 * than all others. NULL members of `words` are skipped. Returns one of `words` (never equal to
 * `word`), or NULL.
 */
const char *mpijob__base_near_word(const char *word, const char *const *words, size_t count);

#endif

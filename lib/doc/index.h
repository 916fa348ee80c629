/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entry of a large map by its key. */
#ifndef MPIJOB__DOC_INDEX_H
#define MPIJOB__DOC_INDEX_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct mpijob__doc_entry;
struct mpijob__doc_index;

#define MPIJOB__DOC_INDEX_NONE UINT32_MAX

/* Make an index over `count` entries, which have different keys. NULL when memory ran out. */
struct mpijob__doc_index *mpijob__doc_index_new(struct mpijob__base_arena *arena,
    const struct mpijob__doc_entry *entries, uint32_t count);
/* Make sure that the next mpijob__doc_index_add() cannot fail. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__doc_index_reserve(struct mpijob__base_arena *arena, struct mpijob__doc_index *index);
/* Copy an index for a copy of its entries. NULL when memory ran out. */
struct mpijob__doc_index *mpijob__doc_index_copy(struct mpijob__base_arena *arena,
    const struct mpijob__doc_index *from);
/* Add the entry at `position`; memory must be reserved. Returns `position`, or the position of an
 * entry with the same key if there is one (then nothing is added). */
uint32_t mpijob__doc_index_add(struct mpijob__doc_index *index,
    const struct mpijob__doc_entry *entries, uint32_t position);
/* Find a key's position, or MPIJOB__DOC_INDEX_NONE. */
uint32_t mpijob__doc_index_find(const struct mpijob__doc_index *index,
    const struct mpijob__doc_entry *entries, const char *key, size_t len);
/* Remove the entry at `position`; the positions of later entries decrease by one. Call it before
 * moving the entries. */
void mpijob__doc_index_remove(struct mpijob__doc_index *index,
    const struct mpijob__doc_entry *entries, uint32_t position);

#endif

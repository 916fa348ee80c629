/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entry of a big map by its key. */
#ifndef MPIJOB__INDEX_H
#define MPIJOB__INDEX_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct mpijob__entry;
struct mpijob__index;

#define MPIJOB__INDEX_NONE UINT32_MAX

/* Make an index over `count` entries, which have different keys. NULL when memory ran out. */
struct mpijob__index *mpijob__index_new(struct mpijob__base_arena *arena, const struct mpijob__entry *entries, uint32_t count);
/* Make sure that the next mpijob__index_add() cannot fail. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__index_reserve(struct mpijob__base_arena *arena, struct mpijob__index *index);
/* Copy an index for a copy of its entries. NULL when memory ran out. */
struct mpijob__index *mpijob__index_copy(struct mpijob__base_arena *arena, const struct mpijob__index *from);
/* Add the entry at `position`, with room reserved. `position`; that of another entry with this key: nothing is added. */
uint32_t mpijob__index_add(struct mpijob__index *index, const struct mpijob__entry *entries, uint32_t position);
/* Find a key's position, or MPIJOB__INDEX_NONE. */
uint32_t mpijob__index_find(const struct mpijob__index *index, const struct mpijob__entry *entries, const char *key,
			    size_t len);
/* Forget the entry at `position`; the positions of later entries move down by one. Call before the entries move. */
void mpijob__index_remove(struct mpijob__index *index, const struct mpijob__entry *entries, uint32_t position);

#endif

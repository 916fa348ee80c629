/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of names, with the same crit-bit tree as large maps: time and memory are linear in the bytes
 * of the names, for any names. A small set is searched sequentially.
 */
#include "doc/names.h"

#include "doc/index.h"
#include "doc/node.h"

#include <string.h>

#define FIRST_ROOM 8

static uint32_t find(const struct mpijob__doc_names *names, const char *name, size_t len)
{
	if (names->index)
		return mpijob__doc_index_find(names->index, names->entries, name, len);
	for (uint32_t i = 0; i < names->count; i++)
		if (names->entries[i].key_len == len &&
		    memcmp(names->entries[i].key, name, len) == 0)
			return i;
	return MPIJOB__DOC_INDEX_NONE;
}

/* Reserve memory for one more name. */
static int reserve(struct mpijob__doc_names *names)
{
	uint32_t cap = names->cap ? names->cap * 2 : FIRST_ROOM;
	struct mpijob__doc_entry *entries;

	if (names->count == names->cap) {
		if (cap > MPIJOB__DOC_MOST_ENTRIES)
			return MPIJOB_ERR_NOMEM;
		entries = mpijob__base_arena_grow(&names->arena, names->entries,
		    names->cap * sizeof(*entries), cap * sizeof(*entries));
		if (!entries)
			return MPIJOB_ERR_NOMEM;
		names->entries = entries;
		names->cap = cap;
	}
	if (!names->index && names->count + 1 >= MPIJOB__DOC_INDEX_FROM) {
		names->index = mpijob__doc_index_new(&names->arena, names->entries, names->count);
		if (!names->index)
			return MPIJOB_ERR_NOMEM;
	}
	return names->index ? mpijob__doc_index_reserve(&names->arena, names->index) : 0;
}

int mpijob__doc_names_add(struct mpijob__doc_names *names, const char *name, size_t len,
    uint32_t number, uint32_t *first)
{
	struct mpijob__doc_entry *entry;
	uint32_t at;

	if (len > MPIJOB__DOC_MOST_ENTRIES || reserve(names))
		return MPIJOB_ERR_NOMEM;
	entry = &names->entries[names->count];
	memset(entry, 0, sizeof(*entry));
	entry->key = mpijob__base_arena_copy(&names->arena, name, len);
	entry->key_len = (uint32_t)len;
	entry->merged = number;
	if (!entry->key)
		return MPIJOB_ERR_NOMEM;
	at = names->index ? mpijob__doc_index_add(names->index, names->entries, names->count)
			  : find(names, name, len);
	if (at != MPIJOB__DOC_INDEX_NONE && at != names->count) {
		if (first)
			*first = names->entries[at].merged;
		return 0;
	}
	names->count++;
	return 1;
}

int mpijob__doc_names_find(const struct mpijob__doc_names *names, const char *name, size_t len,
    uint32_t *number)
{
	uint32_t at = find(names, name, len);

	if (at == MPIJOB__DOC_INDEX_NONE)
		return 0;
	if (number)
		*number = names->entries[at].merged;
	return 1;
}

void mpijob__doc_names_release(struct mpijob__doc_names *names)
{
	mpijob__base_arena_free(&names->arena);
	memset(names, 0, sizeof(*names));
}

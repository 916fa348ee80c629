/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON merge patch, RFC 7396, all or nothing.
 *
 * First, the new entries of every map that the patch changes are built without changing the map;
 * then all of them are installed, which cannot fail. So nodes of maps stay valid, and a failure
 * changes nothing.
 */
#include "doc/node.h"

#include "doc/index.h"
#include "doc/stack.h"

#include <string.h>

/* The new entries of one map. */
struct change {
	struct mpijob_node *map;
	const struct mpijob_node *patch;
	struct mpijob__doc_entry *entries;
	uint32_t count;
	uint32_t cap;
	struct mpijob__doc_index *index;
};

struct merging {
	struct mpijob__base_arena *arena;
	struct mpijob__doc_stack changes;
};

static int add_change(struct merging *m, struct mpijob_node *map, const struct mpijob_node *patch)
{
	struct change change = { .map = map, .patch = patch };

	return mpijob__doc_stack_push(&m->changes, &change) ? 0 : MPIJOB_ERR_NOMEM;
}

/* The new value of a key, from its entry in the patch and its old value (may be NULL). NULL when
 * memory ran out. */
static struct mpijob_node *merged_value(struct merging *m, struct mpijob_node *old,
    const struct mpijob_node *patch)
{
	struct mpijob_node *value = old;

	if (patch->kind != MPIJOB_NODE_MAP)
		return mpijob__doc_node_copy(m->arena, patch, 0);
	if (!old || old->kind != MPIJOB_NODE_MAP) {
		value = mpijob__doc_node_new(m->arena, MPIJOB_NODE_MAP);
		if (!value)
			return NULL;
		value->line = patch->line;
		value->column = patch->column;
	}
	return add_change(m, value, patch) ? NULL : value;
}

static int stage_key(struct merging *m, struct change *change, const struct mpijob__doc_entry *from)
{
	uint32_t at = mpijob__doc_map_find(change->map, from->key, from->key_len);
	struct mpijob__doc_entry *entry;

	if (from->value->kind == MPIJOB_NODE_NULL) {
		if (at != MPIJOB__DOC_INDEX_NONE)
			change->entries[at].value = NULL;
		return 0;
	}
	if (at == MPIJOB__DOC_INDEX_NONE) {
		entry = &change->entries[change->count];
		*entry = *from;
		entry->merged = 0;
		entry->key = mpijob__base_arena_copy(m->arena, from->key, from->key_len);
		if (!entry->key)
			return MPIJOB_ERR_NOMEM;
		entry->value = NULL;
		change->count++;
	} else {
		entry = &change->entries[at];
	}
	entry->value = merged_value(m, entry->value, from->value);
	return entry->value ? 0 : MPIJOB_ERR_NOMEM;
}

static void drop_removed(struct change *change)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < change->count; i++)
		if (change->entries[i].value)
			change->entries[kept++] = change->entries[i];
	change->count = kept;
}

/* `index` is that of the change. Pushing other changes may move it, so this function works on a
 * copy. */
static int stage(struct merging *m, size_t index)
{
	struct change change = *(struct change *)mpijob__doc_stack_at(&m->changes, index);
	size_t cap = (size_t)change.map->count + change.patch->count;

	if (cap > MPIJOB__DOC_MOST_ENTRIES)
		return MPIJOB_ERR_NOMEM;
	change.cap = (uint32_t)cap;
	change.entries = mpijob__base_arena_array(m->arena, cap, sizeof(*change.entries));
	if (!change.entries)
		return MPIJOB_ERR_NOMEM;
	if (change.map->count)
		memcpy(change.entries, change.map->in.entries,
		    change.map->count * sizeof(*change.entries));
	change.count = change.map->count;
	for (uint32_t i = 0; i < change.patch->count; i++)
		if (stage_key(m, &change, &change.patch->in.entries[i]))
			return MPIJOB_ERR_NOMEM;
	drop_removed(&change);
	if (change.count >= MPIJOB__DOC_INDEX_FROM) {
		change.index = mpijob__doc_index_new(m->arena, change.entries, change.count);
		if (!change.index)
			return MPIJOB_ERR_NOMEM;
	}
	memcpy(mpijob__doc_stack_at(&m->changes, index), &change, sizeof(change));
	return 0;
}

static void install(const struct change *change)
{
	struct mpijob__doc_container *container = mpijob__doc_container(change->map);

	for (uint32_t i = 0; i < change->map->count; i++)
		mpijob__doc_node_adopt(NULL, change->map->in.entries[i].value);
	for (uint32_t i = 0; i < change->count; i++)
		mpijob__doc_node_adopt(change->map, change->entries[i].value);
	container->node.in.entries = change->entries;
	container->node.count = change->count;
	container->cap = change->cap;
	container->index = change->index;
}

int mpijob_doc_merge(mpijob_doc *doc, const mpijob_node *patch)
{
	struct merging m = { .changes = { .size = sizeof(struct change) } };
	struct mpijob_node *root;
	int rc;

	if (!doc || !patch)
		return MPIJOB_ERR_USAGE;
	m.arena = doc->arena;
	root = merged_value(&m, doc->root, patch);
	rc = root ? 0 : MPIJOB_ERR_NOMEM;
	for (size_t i = 0; rc == 0 && i < m.changes.count; i++)
		rc = stage(&m, i);
	for (size_t i = 0; rc == 0 && i < m.changes.count; i++)
		install(mpijob__doc_stack_at(&m.changes, i));
	if (rc == 0)
		doc->root = root;
	mpijob__doc_stack_free(&m.changes);
	return rc;
}

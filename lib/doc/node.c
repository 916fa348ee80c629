/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads values.
 *
 * These functions change nothing and cannot fail: for NULL and values of another kind they return
 * "absent".
 */
#include "doc/node.h"

#include "base/field_path.h"
#include "doc/index.h"
#include "doc/number.h"

#include <string.h>

const mpijob_node *mpijob_doc_root(const mpijob_doc *doc)
{
	return doc ? doc->root : NULL;
}

const char *mpijob_doc_source(const mpijob_doc *doc)
{
	return doc ? doc->source : NULL;
}

int32_t mpijob_node_kind(const mpijob_node *node)
{
	return node ? node->kind : MPIJOB_NODE_NONE;
}

static int is_container(const mpijob_node *node)
{
	return node && (node->kind == MPIJOB_NODE_LIST || node->kind == MPIJOB_NODE_MAP);
}

static int has_text(const mpijob_node *node)
{
	return node && (node->kind == MPIJOB_NODE_STRING || node->kind == MPIJOB_NODE_NUMBER);
}

size_t mpijob_node_count(const mpijob_node *node)
{
	return is_container(node) ? node->count : 0;
}

const mpijob_node *mpijob_node_at(const mpijob_node *node, size_t index)
{
	return index < mpijob_node_count(node) ? mpijob__doc_node_child(node, (uint32_t)index)
					       : NULL;
}

const char *mpijob_node_key(const mpijob_node *node, size_t index)
{
	if (!node || node->kind != MPIJOB_NODE_MAP || index >= node->count)
		return NULL;
	return node->in.entries[index].key;
}

uint32_t mpijob__doc_map_find(const struct mpijob_node *map, const char *key, size_t len)
{
	const struct mpijob__doc_index *index = mpijob__doc_container_const(map)->index;

	if (index)
		return mpijob__doc_index_find(index, map->in.entries, key, len);
	for (uint32_t i = 0; i < map->count; i++) {
		const struct mpijob__doc_entry *entry = &map->in.entries[i];

		if (entry->key_len == len && memcmp(entry->key, key, len) == 0)
			return i;
	}
	return MPIJOB__DOC_INDEX_NONE;
}

static const mpijob_node *get(const mpijob_node *node, const char *key, size_t len)
{
	uint32_t at;

	if (!node || node->kind != MPIJOB_NODE_MAP)
		return NULL;
	at = mpijob__doc_map_find(node, key, len);
	return at == MPIJOB__DOC_INDEX_NONE ? NULL : node->in.entries[at].value;
}

const mpijob_node *mpijob_node_get(const mpijob_node *node, const char *key)
{
	return key ? get(node, key, strlen(key)) : NULL;
}

const mpijob_node *mpijob_node_find(const mpijob_node *node, const char *path)
{
	struct mpijob__base_field_step step;
	size_t index;
	int rc;

	if (!path)
		return NULL;
	while (node && (rc = mpijob__base_field_path_next(&path, &step)) != 0) {
		if (rc < 0)
			return NULL;
		if (step.bracket && node->kind == MPIJOB_NODE_LIST)
			node = mpijob__base_field_path_number(&step, &index)
				   ? mpijob_node_at(node, index)
				   : NULL;
		else
			node = get(node, step.text, step.len);
	}
	return node;
}

const char *mpijob_node_text(const mpijob_node *node)
{
	return has_text(node) ? node->in.text : NULL;
}

size_t mpijob_node_length(const mpijob_node *node)
{
	return has_text(node) ? node->count : 0;
}

const char *mpijob_node_string(const mpijob_node *node)
{
	return node && node->kind == MPIJOB_NODE_STRING ? node->in.text : NULL;
}

int mpijob_node_int(const mpijob_node *node, int64_t *out)
{
	return out && node && node->kind == MPIJOB_NODE_NUMBER &&
	       mpijob__doc_number_int(node->in.text, node->count, out);
}

int mpijob_node_bool(const mpijob_node *node, int *out)
{
	if (!out || !node || node->kind != MPIJOB_NODE_BOOL)
		return 0;
	*out = node->truth;
	return 1;
}

void mpijob_node_place(const mpijob_node *node, int32_t *line, int32_t *column)
{
	if (line)
		*line = node ? node->line : 0;
	if (column)
		*column = node ? node->column : 0;
}

void mpijob_node_key_place(const mpijob_node *node, size_t index, int32_t *line, int32_t *column)
{
	const struct mpijob__doc_entry *entry =
	    mpijob_node_key(node, index) ? &node->in.entries[index] : NULL;

	if (line)
		*line = entry ? entry->line : 0;
	if (column)
		*column = entry ? entry->column : 0;
}

const mpijob_doc *mpijob_docs_at(const mpijob_docs *docs, size_t index)
{
	return docs && index < docs->count ? docs->items[index] : NULL;
}

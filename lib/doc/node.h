/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of a document; only for lib/doc. */
#ifndef MPIJOB__DOC_NODE_H
#define MPIJOB__DOC_NODE_H

#include "base/arena.h"
#include "base/field_path.h"
#include "core/diag.h"

#include <mpijob/doc.h>

struct mpijob__doc_index;

/* A scalar, or the beginning of a struct mpijob__doc_container (list or map). The kind of a node
 * never changes. */
struct mpijob_node {
	uint8_t kind;
	uint8_t truth; /* value of a boolean */
	int32_t line;
	int32_t column;
	uint32_t count; /* bytes of text, or entries */
	union {
		const char *text; /* string, number: NUL-terminated */
		struct mpijob_node **items;
		struct mpijob__doc_entry *entries;
	} in;
};

struct mpijob__doc_container {
	struct mpijob_node node;
	/* the list or map that contains it; NULL: none yet, or a root */
	struct mpijob_node *parent;
	uint32_t cap;
	struct mpijob__doc_index *index; /* of a map with MPIJOB__DOC_INDEX_FROM keys or more */
};

#define MPIJOB__DOC_INDEX_FROM   16
#define MPIJOB__DOC_MOST_ENTRIES 0x7fffffffu

struct mpijob__doc_entry {
	const char *key; /* NUL-terminated, without NUL inside */
	struct mpijob_node *value;
	uint32_t key_len;
	int32_t line;
	int32_t column;
	/* 1: from a merge key `<<`, so that a later key may replace it; in a set of names: the
	 * number */
	uint32_t merged;
};

struct mpijob_doc {
	struct mpijob__base_arena *arena;
	struct mpijob_node *root;
	const char *source;
	int error;
};

/* A document that owns its memory; the memory of other documents belongs to a mpijob_docs. */
struct mpijob__doc_own_doc {
	struct mpijob_doc doc;
	struct mpijob__base_arena arena;
};

struct mpijob_docs {
	struct mpijob__base_arena arena;
	struct mpijob_doc **items; /* in the arena */
	size_t count;
	size_t cap;
};

/* Make an empty node of any kind. NULL when memory ran out. */
struct mpijob_node *mpijob__doc_node_new(struct mpijob__base_arena *arena, int kind);
/* Make a string or number whose text is in the arena already. */
struct mpijob_node *mpijob__doc_node_new_text(struct mpijob__base_arena *arena, int kind,
    const char *text, size_t len);
/* Copy text; each byte that is not UTF-8 becomes U+FFFD, as in Go's JSON. NULL when memory ran
 * out. */
const char *mpijob__doc_utf8_repaired(struct mpijob__base_arena *arena, const char *text,
    size_t len, size_t *new_len);
/* Find a key; MPIJOB__DOC_INDEX_NONE when absent. */
uint32_t mpijob__doc_map_find(const struct mpijob_node *map, const char *key, size_t len);
/*
 * Find the item of a list that a step in brackets names, by its index or as `[key=value]`.
 * MPIJOB__DOC_INDEX_NONE when absent. If a second item has the value too, `*second` receives its
 * index; it is unchanged otherwise.
 */
uint32_t mpijob__doc_list_find(const struct mpijob_node *list,
    const struct mpijob__base_field_step *step, uint32_t *second);
/*
 * Append an entry whose key is new and in the arena. Returns the entry, valid until the next
 * change, or NULL when memory ran out. If a map with an index has the key already, nothing is
 * appended and that entry is returned.
 */
struct mpijob__doc_entry *mpijob__doc_map_append(struct mpijob__base_arena *arena,
    struct mpijob_node *map, const char *key, size_t len, struct mpijob_node *value);
/* Append to a list. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__doc_list_append(struct mpijob__base_arena *arena, struct mpijob_node *list,
    struct mpijob_node *value);
/*
 * Copy a tree with its lines and columns. `share`: the text of `from` lives at least as long as the
 * arena and is not copied. NULL when memory ran out.
 */
struct mpijob_node *mpijob__doc_node_copy(struct mpijob__base_arena *arena,
    const struct mpijob_node *from, int share);

static inline struct mpijob__doc_container *mpijob__doc_container(struct mpijob_node *node)
{
	return (struct mpijob__doc_container *)node;
}

static inline const struct mpijob__doc_container *mpijob__doc_container_const(
    const struct mpijob_node *node)
{
	return (const struct mpijob__doc_container *)node;
}

/* Set the parent of a list or map; NULL: none. Scalars have no parent, because they cannot contain
 * anything. */
static inline void mpijob__doc_node_adopt(struct mpijob_node *parent, struct mpijob_node *value)
{
	if (value->kind == MPIJOB_NODE_LIST || value->kind == MPIJOB_NODE_MAP)
		mpijob__doc_container(value)->parent = parent;
}

/* The entry of a list or map. */
static inline struct mpijob_node *mpijob__doc_node_child(const struct mpijob_node *node,
    uint32_t index)
{
	return node->kind == MPIJOB_NODE_MAP ? node->in.entries[index].value
					     : node->in.items[index];
}

#endif

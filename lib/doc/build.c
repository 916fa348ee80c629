/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates and changes documents.
 *
 * Every function accepts NULL nodes, which mean that an earlier call failed, and returns NULL then.
 * The document keeps the first failure. A map is changed only after all memory for the change was
 * allocated.
 */
#include "doc/node.h"

#include "base/field_path.h"
#include "base/utf8.h"
#include "doc/index.h"
#include "doc/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mpijob_node *mpijob__doc_node_new(struct mpijob__base_arena *arena, int kind)
{
	int container = kind == MPIJOB_NODE_LIST || kind == MPIJOB_NODE_MAP;
	size_t size = container ? sizeof(struct mpijob__doc_container) : sizeof(struct mpijob_node);
	struct mpijob_node *node = mpijob__base_arena_alloc(arena, size);

	if (!node)
		return NULL;
	memset(node, 0, size);
	node->kind = (uint8_t)kind;
	return node;
}

struct mpijob_node *mpijob__doc_node_new_text(struct mpijob__base_arena *arena, int kind,
    const char *text, size_t len)
{
	struct mpijob_node *node =
	    len <= MPIJOB__DOC_MOST_ENTRIES ? mpijob__doc_node_new(arena, kind) : NULL;

	if (!node)
		return NULL;
	node->in.text = text;
	node->count = (uint32_t)len;
	return node;
}

/* Reserve memory for one more entry of `size` bytes. */
static int container_reserve(struct mpijob__base_arena *arena, struct mpijob_node *node,
    size_t size)
{
	struct mpijob__doc_container *container = mpijob__doc_container(node);
	uint32_t cap = container->cap ? container->cap * 2 : 2;
	void *grown;

	if (node->count < container->cap)
		return 0;
	if (node->count >= MPIJOB__DOC_MOST_ENTRIES / 2)
		return MPIJOB_ERR_NOMEM;
	grown = mpijob__base_arena_grow(arena, node->in.items, container->cap * size, cap * size);
	if (!grown)
		return MPIJOB_ERR_NOMEM;
	node->in.items = grown;
	container->cap = cap;
	return 0;
}

int mpijob__doc_list_append(struct mpijob__base_arena *arena, struct mpijob_node *list,
    struct mpijob_node *value)
{
	if (container_reserve(arena, list, sizeof(*list->in.items)))
		return MPIJOB_ERR_NOMEM;
	list->in.items[list->count++] = value;
	mpijob__doc_node_adopt(list, value);
	return 0;
}

struct mpijob__doc_entry *mpijob__doc_map_append(struct mpijob__base_arena *arena,
    struct mpijob_node *map, const char *key, size_t len, struct mpijob_node *value)
{
	struct mpijob__doc_container *container = mpijob__doc_container(map);
	struct mpijob__doc_entry *entry;

	if (len > MPIJOB__DOC_MOST_ENTRIES || container_reserve(arena, map, sizeof(*entry)))
		return NULL;
	if (!container->index && map->count + 1 >= MPIJOB__DOC_INDEX_FROM) {
		container->index = mpijob__doc_index_new(arena, map->in.entries, map->count);
		if (!container->index)
			return NULL;
	}
	if (container->index && mpijob__doc_index_reserve(arena, container->index))
		return NULL;
	entry = &map->in.entries[map->count];
	memset(entry, 0, sizeof(*entry));
	entry->key = key;
	entry->key_len = (uint32_t)len;
	entry->value = value;
	if (container->index) {
		uint32_t at = mpijob__doc_index_add(container->index, map->in.entries, map->count);

		if (at != map->count)
			return &map->in.entries[at];
	}
	map->count++;
	mpijob__doc_node_adopt(map, value);
	return entry;
}

static struct mpijob__doc_own_doc *doc_alloc(void)
{
	struct mpijob__doc_own_doc *own = calloc(1, sizeof(*own));

	if (own)
		own->doc.arena = &own->arena;
	return own;
}

mpijob_doc *mpijob_doc_new(void)
{
	struct mpijob__doc_own_doc *own = doc_alloc();

	if (!own)
		return NULL;
	own->doc.root = mpijob__doc_node_new(&own->arena, MPIJOB_NODE_MAP);
	if (own->doc.root)
		return &own->doc;
	mpijob_doc_free(&own->doc);
	return NULL;
}

mpijob_doc *mpijob_doc_from_node(const mpijob_node *node, const char *source)
{
	struct mpijob__doc_own_doc *own = node ? doc_alloc() : NULL;

	if (!own)
		return NULL;
	own->doc.root = mpijob__doc_node_copy(&own->arena, node, 0);
	if (source)
		own->doc.source = mpijob__base_arena_copy(&own->arena, source, strlen(source));
	if (own->doc.root && (!source || own->doc.source))
		return &own->doc;
	mpijob_doc_free(&own->doc);
	return NULL;
}

void mpijob_doc_free(mpijob_doc *doc)
{
	if (!doc)
		return;
	mpijob__base_arena_free(doc->arena);
	free(doc); /* the first member of a struct mpijob__doc_own_doc */
}

void mpijob_docs_free(mpijob_docs *docs)
{
	if (!docs)
		return;
	mpijob__base_arena_free(&docs->arena);
	free(docs);
}

int mpijob_doc_error(const mpijob_doc *doc)
{
	return doc ? doc->error : MPIJOB_ERR_NOMEM;
}

static void *fail(mpijob_doc *doc, int code)
{
	if (doc && !doc->error)
		doc->error = code;
	return NULL;
}

static mpijob_node *or_nomem(mpijob_doc *doc, mpijob_node *node)
{
	return node ? node : fail(doc, MPIJOB_ERR_NOMEM);
}

mpijob_node *mpijob_doc_edit(mpijob_doc *doc, const char *path)
{
	return doc ? (mpijob_node *)(uintptr_t)mpijob_node_find(doc->root, path) : NULL;
}

/* Follow one step of a path; create a map where the value is absent or null. */
static mpijob_node *make_step(mpijob_doc *doc, mpijob_node *node,
    const struct mpijob__base_field_step *step)
{
	struct mpijob__doc_entry *entry;
	mpijob_node *map;
	const char *key;
	uint32_t at;
	size_t index;

	if (step->bracket && node->kind == MPIJOB_NODE_LIST) {
		if (!mpijob__base_field_path_number(step, &index) || index >= node->count)
			return fail(doc, MPIJOB_ERR_USAGE);
		return node->in.items[index];
	}
	if (node->kind != MPIJOB_NODE_MAP)
		return fail(doc, MPIJOB_ERR_USAGE);
	at = mpijob__doc_map_find(node, step->text, step->len);
	if (at != MPIJOB__DOC_INDEX_NONE && node->in.entries[at].value->kind != MPIJOB_NODE_NULL)
		return node->in.entries[at].value;
	map = or_nomem(doc, mpijob__doc_node_new(doc->arena, MPIJOB_NODE_MAP));
	if (!map)
		return NULL;
	if (at != MPIJOB__DOC_INDEX_NONE) {
		node->in.entries[at].value = map;
		mpijob__doc_node_adopt(node, map);
		return map;
	}
	key = mpijob__base_arena_copy(doc->arena, step->text, step->len);
	entry = key ? mpijob__doc_map_append(doc->arena, node, key, step->len, map) : NULL;
	return entry ? map : fail(doc, MPIJOB_ERR_NOMEM);
}

static int path_is_good(const char *path)
{
	struct mpijob__base_field_step step;
	int rc;

	if (!path || !mpijob__base_utf8_valid(path, strlen(path), NULL))
		return 0;
	do
		rc = mpijob__base_field_path_next(&path, &step);
	while (rc > 0);
	return rc == 0;
}

mpijob_node *mpijob_doc_make(mpijob_doc *doc, const char *path)
{
	struct mpijob__base_field_step step;
	mpijob_node *node;

	if (!doc)
		return NULL;
	if (!path_is_good(path))
		return fail(doc, MPIJOB_ERR_USAGE);
	if (doc->root->kind == MPIJOB_NODE_NULL) {
		node = or_nomem(doc, mpijob__doc_node_new(doc->arena, MPIJOB_NODE_MAP));
		if (!node)
			return NULL;
		doc->root = node;
	}
	node = doc->root;
	while (node && mpijob__base_field_path_next(&path, &step) > 0)
		node = make_step(doc, node, &step);
	if (node && node->kind != MPIJOB_NODE_MAP)
		return fail(doc, MPIJOB_ERR_USAGE);
	return node;
}

mpijob_node *mpijob_node_new(mpijob_doc *doc, int32_t kind)
{
	if (!doc)
		return NULL;
	if (kind != MPIJOB_NODE_NULL && kind != MPIJOB_NODE_LIST && kind != MPIJOB_NODE_MAP)
		return fail(doc, MPIJOB_ERR_USAGE);
	return or_nomem(doc, mpijob__doc_node_new(doc->arena, kind));
}

static mpijob_node *new_text(mpijob_doc *doc, int kind, const char *text, size_t len)
{
	const char *copy = mpijob__base_arena_copy(doc->arena, text, len);

	return or_nomem(doc, copy ? mpijob__doc_node_new_text(doc->arena, kind, copy, len) : NULL);
}

static int is_number(const char *text, size_t len)
{
	char room[MPIJOB__DOC_NUMBER_ROOM];

	return mpijob__doc_number_end(text, text + len) == text + len &&
	       mpijob__doc_number_canonical(text, len, room);
}

mpijob_node *mpijob_node_new_text(mpijob_doc *doc, int32_t kind, const char *text, size_t len)
{
	if (!doc)
		return NULL;
	if (!text || !(kind == MPIJOB_NODE_STRING     ? mpijob__base_utf8_valid(text, len, NULL)
			 : kind == MPIJOB_NODE_NUMBER ? is_number(text, len)
						      : 0))
		return fail(doc, MPIJOB_ERR_USAGE);
	return new_text(doc, kind, text, len);
}

mpijob_node *mpijob_node_new_bool(mpijob_doc *doc, int value)
{
	mpijob_node *node =
	    doc ? or_nomem(doc, mpijob__doc_node_new(doc->arena, MPIJOB_NODE_BOOL)) : NULL;

	if (node)
		node->truth = value != 0;
	return node;
}

mpijob_node *mpijob_node_copy(mpijob_doc *doc, const mpijob_node *node)
{
	return doc && node ? or_nomem(doc, mpijob__doc_node_copy(doc->arena, node, 0)) : NULL;
}

/*
 * Whether `value` can become an entry of `container`: it is not an entry yet, and does not contain
 * `container`. Only a list or map with entries can contain it, so only then the parents are
 * checked.
 */
static int can_contain(const mpijob_node *container, const mpijob_node *value)
{
	if (value->kind != MPIJOB_NODE_LIST && value->kind != MPIJOB_NODE_MAP)
		return 1;
	if (value == container || mpijob__doc_container_const(value)->parent)
		return 0;
	while (value->count && container && container != value)
		container = mpijob__doc_container_const(container)->parent;
	return container != value;
}

mpijob_node *mpijob_node_put(mpijob_doc *doc, mpijob_node *map, const char *key, mpijob_node *value)
{
	size_t len = key ? strlen(key) : 0;
	const char *copy;
	uint32_t at;

	if (!doc || !map || !value)
		return NULL;
	if (!key || !mpijob__base_utf8_valid(key, len, NULL) || map->kind != MPIJOB_NODE_MAP)
		return fail(doc, MPIJOB_ERR_USAGE);
	at = mpijob__doc_map_find(map, key, len);
	if (at != MPIJOB__DOC_INDEX_NONE && map->in.entries[at].value == value)
		return value;
	if (!can_contain(map, value))
		return fail(doc, MPIJOB_ERR_USAGE);
	if (at != MPIJOB__DOC_INDEX_NONE) {
		mpijob__doc_node_adopt(NULL, map->in.entries[at].value);
		map->in.entries[at].value = value;
		mpijob__doc_node_adopt(map, value);
		return value;
	}
	copy = mpijob__base_arena_copy(doc->arena, key, len);
	if (!copy || !mpijob__doc_map_append(doc->arena, map, copy, len, value))
		return fail(doc, MPIJOB_ERR_NOMEM);
	return value;
}

mpijob_node *mpijob_node_put_string(mpijob_doc *doc, mpijob_node *map, const char *key,
    const char *text)
{
	if (!text || !map)
		return NULL;
	return mpijob_node_put(doc, map, key,
	    mpijob_node_new_text(doc, MPIJOB_NODE_STRING, text, strlen(text)));
}

const char *mpijob__doc_utf8_repaired(struct mpijob__base_arena *arena, const char *text,
    size_t len, size_t *new_len)
{
	const char *end = text + len;
	char *copy = mpijob__base_arena_alloc(arena, len * 3 + 1);
	char *to = copy;

	if (!copy)
		return NULL;
	while (text < end) {
		size_t step = mpijob__base_utf8_read(text, end, NULL);

		if (step) {
			memcpy(to, text, step);
			to += step;
			text += step;
		} else {
			to += mpijob__base_utf8_write(to, 0xfffd);
			text++;
		}
	}
	*to = 0;
	*new_len = (size_t)(to - copy);
	return copy;
}

mpijob_node *mpijob_node_put_lossy(mpijob_doc *doc, mpijob_node *map, const char *key,
    const char *text)
{
	const char *copy;
	size_t len;

	if (!doc || !text || !map)
		return NULL;
	copy = mpijob__doc_utf8_repaired(doc->arena, text, strlen(text), &len);
	return mpijob_node_put(doc, map, key,
	    or_nomem(doc, copy
			      ? mpijob__doc_node_new_text(doc->arena, MPIJOB_NODE_STRING, copy, len)
			      : NULL));
}

mpijob_node *mpijob_node_put_int(mpijob_doc *doc, mpijob_node *map, const char *key, int64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%lld", (long long)value);

	if (!doc || !map)
		return NULL;
	return mpijob_node_put(doc, map, key,
	    new_text(doc, MPIJOB_NODE_NUMBER, digits, (size_t)len));
}

mpijob_node *mpijob_node_put_bool(mpijob_doc *doc, mpijob_node *map, const char *key, int value)
{
	return map ? mpijob_node_put(doc, map, key, mpijob_node_new_bool(doc, value)) : NULL;
}

mpijob_node *mpijob_node_put_map(mpijob_doc *doc, mpijob_node *map, const char *key)
{
	return map ? mpijob_node_put(doc, map, key, mpijob_node_new(doc, MPIJOB_NODE_MAP)) : NULL;
}

mpijob_node *mpijob_node_put_list(mpijob_doc *doc, mpijob_node *map, const char *key)
{
	return map ? mpijob_node_put(doc, map, key, mpijob_node_new(doc, MPIJOB_NODE_LIST)) : NULL;
}

mpijob_node *mpijob_node_put_copy(mpijob_doc *doc, mpijob_node *map, const char *key,
    const mpijob_node *value)
{
	return map ? mpijob_node_put(doc, map, key, mpijob_node_copy(doc, value)) : NULL;
}

mpijob_node *mpijob_node_append(mpijob_doc *doc, mpijob_node *list, mpijob_node *value)
{
	if (!doc || !list || !value)
		return NULL;
	if (list->kind != MPIJOB_NODE_LIST || !can_contain(list, value))
		return fail(doc, MPIJOB_ERR_USAGE);
	return mpijob__doc_list_append(doc->arena, list, value) ? fail(doc, MPIJOB_ERR_NOMEM)
								: value;
}

mpijob_node *mpijob_node_append_string(mpijob_doc *doc, mpijob_node *list, const char *text)
{
	if (!text || !list)
		return NULL;
	return mpijob_node_append(doc, list,
	    mpijob_node_new_text(doc, MPIJOB_NODE_STRING, text, strlen(text)));
}

mpijob_node *mpijob_node_append_map(mpijob_doc *doc, mpijob_node *list)
{
	return list ? mpijob_node_append(doc, list, mpijob_node_new(doc, MPIJOB_NODE_MAP)) : NULL;
}

mpijob_node *mpijob_node_edit(mpijob_node *node, const char *key)
{
	return (mpijob_node *)(uintptr_t)mpijob_node_get(node, key);
}

mpijob_node *mpijob_node_edit_at(mpijob_node *node, size_t index)
{
	return (mpijob_node *)(uintptr_t)mpijob_node_at(node, index);
}

static void remove_entry(mpijob_node *node, uint32_t at)
{
	struct mpijob__doc_container *container = mpijob__doc_container(node);
	uint32_t after = node->count - at - 1;

	mpijob__doc_node_adopt(NULL, mpijob__doc_node_child(node, at));
	if (container->index)
		mpijob__doc_index_remove(container->index, node->in.entries, at);
	if (node->kind == MPIJOB_NODE_MAP)
		memmove(node->in.entries + at, node->in.entries + at + 1,
		    after * sizeof(*node->in.entries));
	else
		memmove(node->in.items + at, node->in.items + at + 1,
		    after * sizeof(*node->in.items));
	node->count--;
}

int mpijob_node_remove(mpijob_node *map, const char *key)
{
	uint32_t at;

	if (!map || !key || map->kind != MPIJOB_NODE_MAP)
		return 0;
	at = mpijob__doc_map_find(map, key, strlen(key));
	if (at == MPIJOB__DOC_INDEX_NONE)
		return 0;
	remove_entry(map, at);
	return 1;
}

int mpijob_node_remove_at(mpijob_node *node, size_t index)
{
	if (index >= mpijob_node_count(node))
		return 0;
	remove_entry(node, (uint32_t)index);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds values and keys from YAML events.
 *
 * scalar.c resolves a scalar as kubectl does; this file adds it to the tree as a key, a value, or
 * the value of the merge key `<<`.
 */
#include "base/base64.h"
#include "doc/yaml_reader.h"

#include "base/utf8.h"
#include "doc/index.h"

#include <string.h>
#include <strings.h>

#define MERGE_TAG  "tag:yaml.org,2002:merge"
#define BINARY_TAG "tag:yaml.org,2002:binary"

struct mpijob__doc_frame *mpijob__doc_yaml_top(const struct mpijob__doc_yaml *y)
{
	return mpijob__doc_stack_top(&y->r->frames);
}

int mpijob__doc_yaml_wants_key(const struct mpijob__doc_yaml *y)
{
	const struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);

	return top && top->node->kind == MPIJOB_NODE_MAP && !top->wants_value;
}

int mpijob__doc_yaml_stop(struct mpijob__doc_yaml *y, const char *id, const char *message)
{
	int rc = mpijob__doc_read_error(y->r, id, y->line, y->column, "%s", message);

	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

int mpijob__doc_yaml_attach(struct mpijob__doc_yaml *y, struct mpijob_node *node)
{
	struct mpijob__doc_reader *r = y->r;
	struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);
	struct mpijob__doc_entry *entry;
	uint32_t at;

	if (!top) {
		y->root = node;
		return 0;
	}
	if (top->node->kind == MPIJOB_NODE_LIST)
		return mpijob__doc_list_append(r->arena, top->node, node);
	top->wants_value = 0;
	at = mpijob__doc_map_find(top->node, top->key, top->key_len);
	if (at != MPIJOB__DOC_INDEX_NONE) {
		entry = &top->node->in.entries[at];
		entry->value = node;
		entry->merged = 0;
		mpijob__doc_node_adopt(top->node, node);
	} else {
		entry = mpijob__doc_map_append(r->arena, top->node, top->key, top->key_len, node);
	}
	if (!entry)
		return MPIJOB_ERR_NOMEM;
	if (r->options.no_places)
		return 0;
	entry->line = top->key_line;
	entry->column = top->key_column;
	return 0;
}

/* The value begins at the current event. */
static void set_place(const struct mpijob__doc_yaml *y, struct mpijob_node *node)
{
	if (y->r->options.no_places)
		return;
	node->line = y->line;
	node->column = y->column;
}

static int set_key(struct mpijob__doc_yaml *y, const char *key, size_t len, int merging)
{
	struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);

	top->key = key;
	top->key_len = (uint32_t)len;
	top->key_line = y->line;
	top->key_column = y->column;
	top->wants_value = 1;
	top->merging = merging != 0;
	return 0;
}

int mpijob__doc_yaml_key(struct mpijob__doc_yaml *y, const char *key, size_t len)
{
	struct mpijob_node *map = mpijob__doc_yaml_top(y)->node;
	uint32_t first;
	int rc = 0;

	if (memchr(key, 0, len)) {
		rc = mpijob__doc_read_error(y->r, "nul-in-key", y->line, y->column,
		    "a key cannot contain a NUL character");
		len = strlen(key);
	}
	(void)set_key(y, key, len, 0);
	first = mpijob__doc_map_find(map, key, len);
	if (rc == 0 && first != MPIJOB__DOC_INDEX_NONE && !map->in.entries[first].merged)
		rc = mpijob__doc_read_duplicate(y->r, &map->in.entries[first], key, y->line,
		    y->column);
	return rc;
}

/* `on:` and `n:` become "true" and "false", as in kubectl, which is usually a mistake. */
static int boolean_key(struct mpijob__doc_yaml *y, int truth)
{
	const char *key = truth ? "true" : "false";
	int rc = mpijob__doc_yaml_key(y, key, strlen(key));

	if (rc || y->event.type != YAML_SCALAR_EVENT ||
	    strcasecmp((const char *)y->event.data.scalar.value, key) == 0)
		return rc;
	return mpijob__doc_read_warning(y->r, "boolean-key", y->line, y->column,
	    "the key '%s' is read as %s, as kubectl does; put it in quotes",
	    (const char *)y->event.data.scalar.value, key);
}

int mpijob__doc_yaml_scalar_key(struct mpijob__doc_yaml *y, const struct mpijob__doc_scalar *scalar,
    const char *text, size_t len)
{
	char room[MPIJOB__DOC_NUMBER_ROOM];
	const char *key;

	switch (scalar->kind) {
	case MPIJOB_NODE_NULL:
		return mpijob__doc_yaml_stop(y, "null-key",
		    "a key cannot be null; put it in quotes");
	case MPIJOB_NODE_BOOL: return boolean_key(y, scalar->truth);
	case MPIJOB_NODE_STRING: return mpijob__doc_yaml_key(y, text, len);
	default: break;
	}
	if (scalar->is_unsigned)
		return mpijob__doc_yaml_stop(y, "key-range",
		    "a number this large cannot be a key; put it in quotes");
	len = mpijob__doc_scalar_key(scalar, room);
	key = mpijob__base_arena_copy(y->r->arena, room, len);
	return key ? mpijob__doc_yaml_key(y, key, len) : MPIJOB_ERR_NOMEM;
}

static int decode_binary(struct mpijob__doc_yaml *y, const char **text, size_t *len)
{
	char *bytes = mpijob__base_arena_bytes(y->r->arena, *len + 4);
	size_t count;

	if (!bytes)
		return MPIJOB_ERR_NOMEM;
	count = mpijob__base_base64_decode(*text, *len, bytes);
	if (count == SIZE_MAX)
		return mpijob__doc_yaml_stop(y, "bad-base64",
		    "the value of !!binary is not base64");
	bytes[count] = 0;
	*text = bytes;
	*len = count;
	if (mpijob__base_utf8_valid(bytes, count, NULL))
		return 0;
	*text = mpijob__doc_utf8_repaired(y->r->arena, bytes, count, len);
	return *text ? 0 : MPIJOB_ERR_NOMEM;
}

/* Resolve the scalar of the event. For a string, sets `*text` (in the arena) and `*len`. */
static int resolve(struct mpijob__doc_yaml *y, struct mpijob__doc_scalar *scalar, const char **text,
    size_t *len)
{
	const char *value = (const char *)y->event.data.scalar.value;
	const char *tag = (const char *)y->event.data.scalar.tag;
	size_t value_len = y->event.data.scalar.length;
	int rc = 0;

	memset(scalar, 0, sizeof(*scalar));
	scalar->kind = MPIJOB_NODE_STRING;
	*text = NULL;
	*len = 0;
	if (!tag && y->event.data.scalar.plain_implicit) {
		mpijob__doc_scalar_resolve(value, value_len, scalar);
	} else if (tag && !mpijob__doc_scalar_resolve_tag(tag, value, value_len, scalar)) {
		rc = mpijob__doc_read_error(y->r, "tag-mismatch", y->line, y->column,
		    "'%.*s' cannot be read as %s; remove the tag, or change the value",
		    mpijob__doc_read_shown(value), value,
		    strrchr(tag, ':') ? strrchr(tag, ':') + 1 : tag);
		memset(scalar, 0, sizeof(*scalar));
		scalar->kind = MPIJOB_NODE_STRING;
	}
	if (rc || scalar->kind != MPIJOB_NODE_STRING)
		return rc;
	*text = mpijob__base_arena_copy(y->r->arena, value, value_len);
	*len = value_len;
	if (!*text)
		return MPIJOB_ERR_NOMEM;
	return tag && strcmp(tag, BINARY_TAG) == 0 ? decode_binary(y, text, len) : 0;
}

static struct mpijob_node *scalar_node(struct mpijob__doc_yaml *y,
    const struct mpijob__doc_scalar *scalar, const char *text, size_t len)
{
	struct mpijob__base_arena *arena = y->r->arena;
	struct mpijob_node *node;

	if (scalar->kind == MPIJOB_NODE_NUMBER) {
		len = scalar->number_len;
		text = mpijob__base_arena_copy(arena, scalar->number, len);
		if (!text)
			return NULL;
	}
	node = text ? mpijob__doc_node_new_text(arena, scalar->kind, text, len)
		    : mpijob__doc_node_new(arena, scalar->kind);
	if (!node)
		return NULL;
	node->truth = scalar->kind == MPIJOB_NODE_BOOL && scalar->truth;
	set_place(y, node);
	return node;
}

static int is_merge_key(const yaml_event_t *event)
{
	if (event->data.scalar.length != 2 || memcmp(event->data.scalar.value, "<<", 2) != 0)
		return 0;
	return event->data.scalar.plain_implicit ||
	       (event->data.scalar.tag &&
		   strcmp((const char *)event->data.scalar.tag, MERGE_TAG) == 0);
}

static int report_merge(struct mpijob__doc_yaml *y)
{
	return mpijob__doc_yaml_stop(y, "bad-merge",
	    "the value of '<<' is a map or a list of maps; put '<<' in quotes if a key of that "
	    "name is meant");
}

static int wants_merge(const struct mpijob__doc_yaml *y)
{
	const struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);

	return top &&
	       ((top->wants_value && top->merging) || top->role == MPIJOB__DOC_ROLE_MERGE_LIST);
}

static int scalar_value(struct mpijob__doc_yaml *y, struct mpijob_node *node,
    const struct mpijob__doc_scalar *scalar)
{
	const yaml_event_t *event = &y->event;
	int rc = 0;

	if (scalar->is_special)
		rc = mpijob__doc_read_error(y->r, "number-range", y->line, y->column,
		    "Kubernetes supports neither infinite numbers nor .nan; write a number, or put "
		    "the "
		    "text in quotes");
	y->empty = !y->r->frames.count && event->data.scalar.length == 0 &&
		   event->data.scalar.plain_implicit && !event->data.scalar.tag &&
		   !event->data.scalar.anchor;
	return rc ? rc : mpijob__doc_yaml_attach(y, node);
}

int mpijob__doc_yaml_scalar(struct mpijob__doc_yaml *y)
{
	const char *anchor = (const char *)y->event.data.scalar.anchor;
	struct mpijob__doc_scalar scalar;
	struct mpijob_node *node = NULL;
	const char *text;
	size_t len;
	int key = mpijob__doc_yaml_wants_key(y);
	int rc;

	if (key && is_merge_key(&y->event))
		return set_key(y, "<<", 2, 1);
	if (wants_merge(y))
		return report_merge(y);
	rc = resolve(y, &scalar, &text, &len);
	if (rc)
		return rc;
	if (!key || anchor) {
		node = scalar_node(y, &scalar, text, len);
		if (!node)
			return MPIJOB_ERR_NOMEM;
		rc = mpijob__doc_read_count(y->r, 1, y->line, y->column);
	}
	if (rc == 0 && anchor)
		rc = mpijob__doc_yaml_anchor(y, anchor, node, &scalar, NULL);
	if (rc)
		return rc;
	y->decoded++;
	y->bytes += y->event.data.scalar.length;
	return key ? mpijob__doc_yaml_scalar_key(y, &scalar, text, len)
		   : scalar_value(y, node, &scalar);
}

static int role_of(const struct mpijob__doc_yaml *y, int kind)
{
	if (!wants_merge(y))
		return MPIJOB__DOC_ROLE_VALUE;
	return kind == MPIJOB_NODE_MAP ? MPIJOB__DOC_ROLE_MERGE_MAP : MPIJOB__DOC_ROLE_MERGE_LIST;
}

int mpijob__doc_yaml_open(struct mpijob__doc_yaml *y, int kind, const char *anchor)
{
	struct mpijob__doc_frame frame = { 0 };
	struct mpijob__doc_frame *top = mpijob__doc_yaml_top(y);
	int rc;

	if (y->r->frames.count >= (size_t)y->r->options.max_depth)
		return mpijob__doc_read_too_deep(y->r, y->line, y->column);
	if (mpijob__doc_yaml_wants_key(y))
		return mpijob__doc_yaml_stop(y, "bad-key",
		    "a key is a single value, not a list or map");
	frame.role = (uint8_t)role_of(y, kind);
	if (top && top->role == MPIJOB__DOC_ROLE_MERGE_LIST && kind != MPIJOB_NODE_MAP)
		return report_merge(y);
	rc = mpijob__doc_read_count(y->r, 1, y->line, y->column);
	if (rc)
		return rc;
	frame.node = mpijob__doc_node_new(y->r->arena, kind);
	if (!frame.node)
		return MPIJOB_ERR_NOMEM;
	set_place(y, frame.node);
	if (frame.role == MPIJOB__DOC_ROLE_VALUE || top->role == MPIJOB__DOC_ROLE_MERGE_LIST)
		rc = mpijob__doc_yaml_attach(y, frame.node);
	if (rc == 0 && anchor)
		rc = mpijob__doc_yaml_anchor(y, anchor, frame.node, NULL, &frame.anchor);
	if (rc)
		return rc;
	y->decoded += frame.role != MPIJOB__DOC_ROLE_MERGE_LIST;
	return mpijob__doc_stack_push(&y->r->frames, &frame) ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob__doc_yaml_close(struct mpijob__doc_yaml *y)
{
	struct mpijob__doc_frame closed = *mpijob__doc_yaml_top(y);
	struct mpijob__doc_frame *top;
	int rc = 0;

	mpijob__doc_stack_pop(&y->r->frames);
	if (closed.anchor)
		mpijob__doc_yaml_anchor_close(y, closed.anchor);
	top = mpijob__doc_yaml_top(y);
	if (closed.role == MPIJOB__DOC_ROLE_VALUE || top->role == MPIJOB__DOC_ROLE_MERGE_LIST)
		return 0;
	if (closed.role == MPIJOB__DOC_ROLE_MERGE_MAP)
		return mpijob__doc_yaml_merge(y, closed.node);
	for (uint32_t i = closed.node->count; rc == 0 && i > 0; i--)
		rc = mpijob__doc_yaml_merge(y, closed.node->in.items[i - 1]);
	top->wants_value = 0;
	return rc;
}

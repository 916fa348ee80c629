/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a tree from JSON tokens.
 *
 * Checks what the pull reader does not check: duplicate keys, NUL bytes in keys, numbers that are
 * too large for a double.
 */
#include "doc/read.h"

#include "doc/index.h"
#include "doc/json_reader.h"
#include "doc/number.h"

#include <string.h>

static int report(struct mpijob__doc_reader *r, const struct mpijob__doc_json *json)
{
	int32_t column = mpijob__doc_json_column(json);
	int rc;

	if (strcmp(json->error_id, "limit-depth") == 0)
		return mpijob__doc_read_too_deep(r, json->line, column);
	r->not_json = !r->failed && strcmp(json->error_id, "syntax") == 0;
	rc = mpijob__doc_read_error(r, json->error_id, json->line, column, "%s", json->error);
	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

/* Decode the string of the token into the arena. */
static char *decode(struct mpijob__doc_reader *r, const struct mpijob__doc_json *json, size_t *len)
{
	char *into = mpijob__base_arena_bytes(r->arena, json->len + 1);

	if (into)
		*len = mpijob__doc_json_decode(json, into);
	return into;
}

static int read_key(struct mpijob__doc_reader *r, const struct mpijob__doc_json *json)
{
	struct mpijob__doc_frame *top = mpijob__doc_stack_top(&r->frames);
	int32_t column = mpijob__doc_json_column(json);
	size_t len = 0;
	char *key = decode(r, json, &len);
	uint32_t first;
	int rc = 0;

	if (!key)
		return MPIJOB_ERR_NOMEM;
	top->key = NULL;
	if (strlen(key) != len) {
		rc = mpijob__doc_read_error(r, "nul-in-key", json->line, column,
		    "a key cannot contain a NUL character");
		len = strlen(key);
	}
	top->key = key;
	top->key_len = (uint32_t)len;
	top->key_line = json->line;
	top->key_column = column;
	if (mpijob__doc_container(top->node)->index)
		/* attach() finds a duplicate key without another search */
		return rc;
	first = mpijob__doc_map_find(top->node, key, len);
	if (rc == 0 && first != MPIJOB__DOC_INDEX_NONE)
		rc = mpijob__doc_read_duplicate(r, &top->node->in.entries[first], key, json->line,
		    column);
	return rc;
}

static struct mpijob_node *read_number(struct mpijob__doc_reader *r,
    const struct mpijob__doc_json *json, int *rc)
{
	const char *text;
	double value;

	if (json->len > 300 || memchr(json->text, 'e', json->len) ||
	    memchr(json->text, 'E', json->len)) {
		if (!mpijob__doc_number_double(json->text, json->len, &value))
			*rc = mpijob__doc_read_error(r, "number-range", json->line,
			    mpijob__doc_json_column(json),
			    "this number is too large; the largest is about 1.8e308");
	}
	text = mpijob__base_arena_copy(r->arena, json->text, json->len);
	return text ? mpijob__doc_node_new_text(r->arena, MPIJOB_NODE_NUMBER, text, json->len)
		    : NULL;
}

/* Make the node of the current token. NULL and *rc unchanged when memory ran out. */
static struct mpijob_node *read_value(struct mpijob__doc_reader *r,
    const struct mpijob__doc_json *json, int *rc)
{
	struct mpijob_node *node = NULL;
	size_t len = 0;
	char *text;

	switch (json->token) {
	case MPIJOB__DOC_JSON_MAP: return mpijob__doc_node_new(r->arena, MPIJOB_NODE_MAP);
	case MPIJOB__DOC_JSON_LIST: return mpijob__doc_node_new(r->arena, MPIJOB_NODE_LIST);
	case MPIJOB__DOC_JSON_NULL: return mpijob__doc_node_new(r->arena, MPIJOB_NODE_NULL);
	case MPIJOB__DOC_JSON_NUMBER: return read_number(r, json, rc);
	case MPIJOB__DOC_JSON_STRING:
		text = decode(r, json, &len);
		return text ? mpijob__doc_node_new_text(r->arena, MPIJOB_NODE_STRING, text, len)
			    : NULL;
	default:
		node = mpijob__doc_node_new(r->arena, MPIJOB_NODE_BOOL);
		if (node)
			node->truth = json->token == MPIJOB__DOC_JSON_TRUE;
		return node;
	}
}

/* Add a node to the innermost list or map, or as the root of a document. */
static int attach(struct mpijob__doc_reader *r, struct mpijob_node *node)
{
	struct mpijob__doc_frame *top = mpijob__doc_stack_top(&r->frames);
	struct mpijob__doc_entry *entry;

	if (!top)
		return mpijob__doc_read_add(r, node);
	if (top->node->kind == MPIJOB_NODE_LIST)
		return mpijob__doc_list_append(r->arena, top->node, node);
	if (r->failed && !mpijob__doc_container(top->node)->index &&
	    mpijob__doc_map_find(top->node, top->key, top->key_len) != MPIJOB__DOC_INDEX_NONE)
		return 0;
	entry = mpijob__doc_map_append(r->arena, top->node, top->key, top->key_len, node);
	if (!entry)
		return MPIJOB_ERR_NOMEM;
	if (entry->value != node)
		return mpijob__doc_read_duplicate(r, entry, top->key, top->key_line,
		    top->key_column);
	if (!r->options.no_places) {
		entry->line = top->key_line;
		entry->column = top->key_column;
	}
	return 0;
}

static int take_value(struct mpijob__doc_reader *r, const struct mpijob__doc_json *json)
{
	struct mpijob__doc_frame frame = { 0 };
	int32_t column = mpijob__doc_json_column(json);
	int rc = mpijob__doc_read_count(r, 1, json->line, column);

	if (rc)
		return rc;
	frame.node = read_value(r, json, &rc);
	if (rc)
		return rc;
	if (!frame.node)
		return MPIJOB_ERR_NOMEM;
	if (!r->options.no_places) {
		frame.node->line = json->line;
		frame.node->column = column;
	}
	rc = attach(r, frame.node);
	if (rc || (json->token != MPIJOB__DOC_JSON_MAP && json->token != MPIJOB__DOC_JSON_LIST))
		return rc;
	return mpijob__doc_stack_push(&r->frames, &frame) ? 0 : MPIJOB_ERR_NOMEM;
}

static int record(const struct mpijob__doc_reader *r, const struct mpijob__doc_json *json)
{
	struct mpijob__doc_event event = { .style = MPIJOB__DOC_STYLE_PLAIN,
		.start = (uint32_t)(mpijob__doc_json_from(json) - r->text),
		.end = (uint32_t)(mpijob__doc_json_until(json) - r->text),
		.line = json->line,
		.column = mpijob__doc_json_column(json) };

	switch (json->token) {
	case MPIJOB__DOC_JSON_MAP: event.type = MPIJOB__DOC_EVENT_MAP; break;
	case MPIJOB__DOC_JSON_LIST: event.type = MPIJOB__DOC_EVENT_LIST; break;
	case MPIJOB__DOC_JSON_MAP_END:
	case MPIJOB__DOC_JSON_LIST_END: event.type = MPIJOB__DOC_EVENT_CLOSE; break;
	case MPIJOB__DOC_JSON_KEY: event.end = event.start + (uint32_t)json->len + 2; break;
	case MPIJOB__DOC_JSON_ERROR:
	case MPIJOB__DOC_JSON_END: return 0;
	default: break;
	}
	if (mpijob__doc_event_opens(&event))
		event.style = MPIJOB__DOC_STYLE_FLOW;
	r->layout->json = 1;
	return mpijob__doc_layout_add(r->layout, &event);
}

static int read_tokens(struct mpijob__doc_reader *r, struct mpijob__doc_json *json)
{
	int rc = 0;

	while (rc == 0) {
		int token = mpijob__doc_json_next(json);

		if (r->layout)
			rc = record(r, json);
		if (rc)
			return rc;
		switch (token) {
		case MPIJOB__DOC_JSON_ERROR: return report(r, json);
		case MPIJOB__DOC_JSON_END: return 0;
		case MPIJOB__DOC_JSON_KEY: rc = read_key(r, json); break;
		case MPIJOB__DOC_JSON_MAP_END:
		case MPIJOB__DOC_JSON_LIST_END: mpijob__doc_stack_pop(&r->frames); break;
		default: rc = take_value(r, json); break;
		}
	}
	return rc;
}

int mpijob__doc_read_json(struct mpijob__doc_reader *r)
{
	size_t mark = r->len >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	struct mpijob__doc_json json;

	mpijob__doc_json_init(&json, r->text + mark, r->len - mark, r->options.max_depth);
	return read_tokens(r, &json);
}

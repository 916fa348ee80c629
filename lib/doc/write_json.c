/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON in three layouts.
 *
 * Strings are escaped so that the result is valid YAML too, and safe to print: in addition to
 * JSON's rules, characters that YAML does not allow (such as the byte order mark) and those of
 * base/escape.c.
 */
#include "base/hex.h"
#include "doc/write.h"

#include "base/escape.h"
#include "base/utf8.h"

#include <string.h>

/* in bytes; YAML requires the ':' within 1024 characters, including escapes */
#define LONGEST_KEY 128

static int must_escape(uint32_t code)
{
	return mpijob__base_escape_needed(code) || code == '"' || code == '\\' || code == 0xfeff ||
	       code == 0xfffe || code == 0xffff;
}

static void put_escape(struct mpijob__doc_out *out, uint32_t code)
{
	static const char plain[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	char escape[6] = { '\\', 'u' };

	for (const char *p = plain; *p; p += 2) {
		if ((uint32_t)*p != code)
			continue;
		escape[1] = p[1];
		mpijob__doc_out_put(out, escape, 2);
		return;
	}
	mpijob__base_hex_write(code, 4, escape + 2);
	mpijob__doc_out_put(out, escape, sizeof(escape));
}

/* The number of leading bytes that need no escape. */
static size_t count_plain(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

/* Each byte that is not UTF-8 is written as U+FFFD, as Go does. */
void mpijob__doc_write_quoted(struct mpijob__doc_out *out, const char *text, size_t len)
{
	const char *end = text + len;
	const char *from = text;

	mpijob__doc_out_put(out, "\"", 1);
	while (text < end) {
		uint32_t code = 0;
		size_t step;

		text += count_plain(text, end);
		if (text == end)
			break;
		step = (unsigned char)*text < 0x80 ? 1 : mpijob__base_utf8_read(text, end, &code);
		if (step == 1)
			code = (unsigned char)*text;
		if (step && !must_escape(code)) {
			text += step;
			continue;
		}
		mpijob__doc_out_put(out, from, (size_t)(text - from));
		put_escape(out, step ? code : 0xfffd);
		text += step ? step : 1;
		from = text;
	}
	mpijob__doc_out_put(out, from, (size_t)(text - from));
	mpijob__doc_out_put(out, "\"", 1);
}

static void put_line(struct mpijob__doc_out *out, size_t depth)
{
	mpijob__doc_out_put(out, "\n", 1);
	mpijob__doc_out_spaces(out, depth * 2);
}

static void put_key(struct mpijob__doc_out *out, const struct mpijob__doc_entry *entry, int layout)
{
	if (layout == MPIJOB__DOC_JSON_FLOW && entry->key_len > LONGEST_KEY)
		mpijob__doc_out_put(out, "? ", 2);
	mpijob__doc_write_quoted(out, entry->key, entry->key_len);
	mpijob__doc_out_put(out, ": ", layout == MPIJOB__DOC_JSON_COMPACT ? 1 : 2);
}

/* Write a scalar or an empty list or map; 0 when it is neither. */
static int put_simple(struct mpijob__doc_out *out, const struct mpijob_node *node)
{
	switch (node->kind) {
	case MPIJOB_NODE_NULL: mpijob__doc_out_puts(out, "null"); return 1;
	case MPIJOB_NODE_BOOL: mpijob__doc_out_puts(out, node->truth ? "true" : "false"); return 1;
	case MPIJOB_NODE_NUMBER: mpijob__doc_out_put(out, node->in.text, node->count); return 1;
	case MPIJOB_NODE_STRING:
		mpijob__doc_write_quoted(out, node->in.text, node->count);
		return 1;
	default: break;
	}
	if (node->count)
		return 0;
	mpijob__doc_out_puts(out, node->kind == MPIJOB_NODE_MAP ? "{}" : "[]");
	return 1;
}

static void put_end(struct mpijob__doc_out *out, const struct mpijob_node *node, int layout,
    size_t depth)
{
	if (layout == MPIJOB__DOC_JSON_INDENTED)
		put_line(out, depth);
	mpijob__doc_out_put(out, node->kind == MPIJOB_NODE_MAP ? "}" : "]", 1);
}

static int open_node(struct mpijob__doc_out *out, struct mpijob__doc_stack *stack,
    const struct mpijob_node *node)
{
	struct mpijob__doc_writing frame = { .node = node };

	mpijob__doc_out_put(out, node->kind == MPIJOB_NODE_MAP ? "{" : "[", 1);
	return mpijob__doc_stack_push(stack, &frame) ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob__doc_write_json(struct mpijob__doc_out *out, const struct mpijob_node *node, int layout)
{
	struct mpijob__doc_stack stack = { .size = sizeof(struct mpijob__doc_writing) };
	struct mpijob__doc_writing *top;
	int rc = put_simple(out, node) ? 0 : open_node(out, &stack, node);

	while (rc == 0 && out->rc == 0 && (top = mpijob__doc_stack_top(&stack)) != NULL) {
		if (top->next == top->node->count) {
			put_end(out, top->node, layout, stack.count - 1);
			mpijob__doc_stack_pop(&stack);
			continue;
		}
		if (top->next)
			mpijob__doc_out_put(out, ", ", layout == MPIJOB__DOC_JSON_FLOW ? 2 : 1);
		if (layout == MPIJOB__DOC_JSON_INDENTED)
			put_line(out, stack.count);
		if (top->node->kind == MPIJOB_NODE_MAP)
			put_key(out, &top->node->in.entries[top->next], layout);
		node = mpijob__doc_node_child(top->node, top->next++);
		if (!put_simple(out, node))
			rc = open_node(out, &stack, node);
	}
	mpijob__doc_stack_free(&stack);
	return rc;
}

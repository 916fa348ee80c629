/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes YAML as kubectl does: block style, lists not indented below their key, quotes only where
 * needed.
 *
 * There is no second list of rules for quotes: a string is written plain only if the function of
 * the reader (scalar.c) resolves it to a string.
 */
#include "doc/write.h"

#include "base/escape.h"
#include "base/utf8.h"
#include "doc/scalar.h"

#include <string.h>

#define LONGEST_KEY 128 /* longer ones are written as `? key`, as go-yaml does */
/* deeper lists and maps are written on one line, because their indentation would exceed the content
 */
#define DEEPEST_BLOCK 100

enum style { PLAIN, SINGLE, DOUBLE, LITERAL };

struct traits {
	int lines;     /* contains line ends */
	int special;   /* contains characters that only double quotes can express */
	int indicator; /* contains ": " or " #", or begins or ends like other syntax */
};

static int is_space(char c)
{
	return c == ' ' || c == '\n';
}

static int is_special(uint32_t code)
{
	return (mpijob__base_escape_needed(code) && code != '\n') || code == 0xfeff ||
	       code == 0xfffe || code == 0xffff;
}

static int begins_specially(const char *text, size_t len)
{
	if (strchr("-?:", *text))
		return len == 1 || is_space(text[1]) || (len >= 3 && memcmp(text, "---", 3) == 0);
	if (len >= 3 && memcmp(text, "...", 3) == 0)
		return 1;
	return strchr(",[]{}#&*!|>'\"%@`= \n", *text) != NULL ||
	       (len == 2 && memcmp(text, "<<", 2) == 0);
}

static void inspect(const char *text, size_t len, struct traits *traits)
{
	const char *end = text + len;
	const char *at = text;

	memset(traits, 0, sizeof(*traits));
	if (len == 0)
		return;
	traits->special = *text == 0;
	traits->indicator = *text && begins_specially(text, len);
	traits->indicator |= end[-1] == ' ' || end[-1] == ':';
	while (at < end && !traits->special) {
		uint32_t code = 0;
		size_t step = mpijob__base_utf8_read(at, end, &code);

		traits->special = step == 0 || is_special(code);
		traits->lines |= code == '\n';
		if (code == ':' && at + 1 < end && is_space(at[1]))
			traits->indicator = 1;
		if (code == '#' && at > text && is_space(at[-1]))
			traits->indicator = 1;
		at += step;
	}
}

/* Whether a literal block can express a text: its first line defines the indentation, so it must
 * not begin with a space; and it must not be all white space. */
static int fits_literal(const char *text, size_t len)
{
	const char *last = text + len;

	if (is_space(*text) || *text == '\t')
		return 0;
	while (last > text && last[-1] == '\n')
		last--;
	return last > text && last[-1] != ' ';
}

static enum style choose(const char *text, size_t len)
{
	struct mpijob__doc_scalar scalar;
	struct traits traits;

	mpijob__doc_scalar_resolve(text, len, &scalar);
	if (scalar.kind != MPIJOB_NODE_STRING || scalar.is_time)
		return DOUBLE;
	inspect(text, len, &traits);
	if (traits.special)
		return DOUBLE;
	if (traits.lines)
		return fits_literal(text, len) ? LITERAL : DOUBLE;
	/* Other YAML 1.1 readers parse such text as a base 60 number. */
	if (((*text >= '0' && *text <= '9') || *text == '+' || *text == '-') &&
	    memchr(text, ':', len) && strspn(text, "+-0123456789:._") == len)
		return DOUBLE;
	return traits.indicator ? SINGLE : PLAIN;
}

static void put_single(struct mpijob__doc_out *out, const char *text, size_t len)
{
	mpijob__doc_out_put(out, "'", 1);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'')
			mpijob__doc_out_put(out, "'", 1);
		mpijob__doc_out_put(out, text + i, 1);
	}
	mpijob__doc_out_put(out, "'", 1);
}

static void put_literal(struct mpijob__doc_out *out, const char *text, size_t len, size_t indent)
{
	const char *end = text + len;

	mpijob__doc_out_puts(out, end[-1] != '\n' ? "|-" : len > 1 && end[-2] == '\n' ? "|+" : "|");
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t line = (size_t)((stop ? stop : end) - text);

		mpijob__doc_out_put(out, "\n", 1);
		if (line)
			mpijob__doc_out_spaces(out, indent);
		mpijob__doc_out_put(out, text, line);
		text += line + (stop != NULL);
	}
}

static void put_string(struct mpijob__doc_out *out, const char *text, size_t len, size_t indent,
    int key)
{
	enum style style = choose(text, len);

	if (style == LITERAL && key)
		style = DOUBLE;
	switch (style) {
	case PLAIN: mpijob__doc_out_put(out, text, len); break;
	case SINGLE: put_single(out, text, len); break;
	case DOUBLE: mpijob__doc_write_quoted(out, text, len); break;
	case LITERAL: put_literal(out, text, len, indent); break;
	}
}

/* A plain -0 would be parsed as an integer, and lose its sign. */
static void put_number(struct mpijob__doc_out *out, const struct mpijob_node *node)
{
	mpijob__doc_out_put(out, node->in.text, node->count);
	if (node->count == 2 && memcmp(node->in.text, "-0", 2) == 0)
		mpijob__doc_out_put(out, ".0", 2);
}

/* Write a scalar or an empty list or map; 0 when it is neither. `indent` is for the lines of a
 * literal block. */
static int put_simple(struct mpijob__doc_out *out, const struct mpijob_node *node, size_t indent)
{
	switch (node->kind) {
	case MPIJOB_NODE_STRING: put_string(out, node->in.text, node->count, indent, 0); return 1;
	case MPIJOB_NODE_NUMBER: put_number(out, node); return 1;
	case MPIJOB_NODE_BOOL: mpijob__doc_out_puts(out, node->truth ? "true" : "false"); return 1;
	case MPIJOB_NODE_NULL: mpijob__doc_out_puts(out, "null"); return 1;
	default: break;
	}
	if (node->count)
		return 0;
	mpijob__doc_out_puts(out, node->kind == MPIJOB_NODE_MAP ? "{}" : "[]");
	return 1;
}

static void put_entry_key(struct mpijob__doc_out *out, const struct mpijob__doc_entry *entry,
    size_t indent)
{
	if (entry->key_len <= LONGEST_KEY) {
		put_string(out, entry->key, entry->key_len, 0, 1);
		mpijob__doc_out_put(out, ":", 1);
		return;
	}
	mpijob__doc_out_put(out, "? ", 2);
	put_string(out, entry->key, entry->key_len, 0, 1);
	mpijob__doc_out_put(out, "\n", 1);
	mpijob__doc_out_spaces(out, indent);
	mpijob__doc_out_put(out, ":", 1);
}

struct yaml_out {
	struct mpijob__doc_out *out;
	const struct mpijob__doc_yaml_style *style;
	struct mpijob__doc_stack stack;
	int in_line; /* the next entry continues this line, after "- " */
};

static int open_node(struct yaml_out *y, const struct mpijob_node *node, size_t indent)
{
	struct mpijob__doc_writing frame = { .node = node, .indent = (uint32_t)indent };

	return mpijob__doc_stack_push(&y->stack, &frame) ? 0 : MPIJOB_ERR_NOMEM;
}

/* Write a value after "key:" or "- ", which is indented by `indent`. */
static int put_value(struct yaml_out *y, const struct mpijob_node *node, int in_list, size_t indent)
{
	struct mpijob__doc_out *out = y->out;
	int rc = 0;

	if (mpijob_node_count(node) && y->stack.count < DEEPEST_BLOCK) {
		if (in_list)
			indent += 2;
		else
			indent += node->kind == MPIJOB_NODE_MAP ? y->style->map : y->style->list;
		y->in_line = in_list;
		if (!in_list)
			mpijob__doc_out_put(out, "\n", 1);
		return open_node(y, node, indent);
	}
	if (!in_list)
		mpijob__doc_out_put(out, " ", 1);
	if (!put_simple(out, node, indent + y->style->map))
		rc = mpijob__doc_write_json(out, node, MPIJOB__DOC_JSON_FLOW);
	mpijob__doc_out_put(out, "\n", 1);
	return rc;
}

static int put_entry(struct yaml_out *y)
{
	struct mpijob__doc_writing *top = mpijob__doc_stack_top(&y->stack);
	struct mpijob__doc_writing from = *top;

	if (!y->in_line)
		mpijob__doc_out_spaces(y->out, from.indent);
	y->in_line = 0;
	if (from.node->kind == MPIJOB_NODE_MAP)
		put_entry_key(y->out, &from.node->in.entries[from.next], from.indent);
	else
		mpijob__doc_out_put(y->out, "- ", 2);
	top->next++;
	return put_value(y, mpijob__doc_node_child(from.node, from.next),
	    from.node->kind == MPIJOB_NODE_LIST, from.indent);
}

/* Write the lists and maps that are open. */
static int put_rest(struct yaml_out *y, int rc)
{
	const struct mpijob__doc_writing *top;

	while (rc == 0 && y->out->rc == 0 && (top = mpijob__doc_stack_top(&y->stack)) != NULL) {
		if (top->next == top->node->count)
			mpijob__doc_stack_pop(&y->stack);
		else
			rc = put_entry(y);
	}
	mpijob__doc_stack_free(&y->stack);
	return rc;
}

int mpijob__doc_write_yaml(struct mpijob__doc_out *out, const struct mpijob_node *node)
{
	static const struct mpijob__doc_yaml_style style = { 2, 0, 0 };
	struct yaml_out y = { .out = out,
		.style = &style,
		.stack = { .size = sizeof(struct mpijob__doc_writing) } };

	if (!put_simple(out, node, 2))
		return put_rest(&y, open_node(&y, node, 0));
	mpijob__doc_out_put(out, "\n", 1);
	return 0;
}

/* ---- pieces of a text that is edited ---- */

int mpijob__doc_write_yaml_value(struct mpijob__doc_out *out, const struct mpijob_node *node,
    int in_list, size_t indent, const struct mpijob__doc_yaml_style *style)
{
	struct yaml_out y = { .out = out,
		.style = style,
		.stack = { .size = sizeof(struct mpijob__doc_writing) } };

	if (!style->literal || node->kind != MPIJOB_NODE_STRING || !node->count ||
	    !fits_literal(node->in.text, node->count))
		return put_rest(&y, put_value(&y, node, in_list, indent));
	mpijob__doc_out_puts(out, in_list ? "" : " ");
	put_literal(out, node->in.text, node->count, style->literal);
	mpijob__doc_out_put(out, "\n", 1);
	return 0;
}

static void put_inline(struct mpijob__doc_out *out, const char *text, size_t len, int old, int flow)
{
	enum style style = choose(text, len);
	struct traits traits;

	inspect(text, len, &traits);
	if (traits.special || traits.lines || old == MPIJOB__DOC_STYLE_DOUBLE)
		style = DOUBLE;
	else if (old == MPIJOB__DOC_STYLE_SINGLE)
		style = SINGLE;
	else if (flow && style == PLAIN && strcspn(text, ",[]{}?") < len)
		style = SINGLE;
	if (style == DOUBLE)
		mpijob__doc_write_quoted(out, text, len);
	else if (style == SINGLE)
		put_single(out, text, len);
	else
		mpijob__doc_out_put(out, text, len);
}

int mpijob__doc_write_yaml_inline(struct mpijob__doc_out *out, const struct mpijob_node *node,
    int old, int flow)
{
	if (node->kind == MPIJOB_NODE_STRING)
		put_inline(out, node->in.text, node->count, old, flow);
	else if (!put_simple(out, node, 0))
		return mpijob__doc_write_json(out, node, MPIJOB__DOC_JSON_FLOW);
	return 0;
}

void mpijob__doc_write_yaml_key(struct mpijob__doc_out *out, const char *key, size_t len, int flow)
{
	put_inline(out, key, len, MPIJOB__DOC_STYLE_PLAIN, flow);
	mpijob__doc_out_put(out, ":", 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits the text of documents: finds the one place that changes, and its new bytes.
 *
 * The rules below need not be complete: every new text is parsed and compared with the tree that
 * the edit should give, and is dropped if they differ.
 */
#include "base/struct.h"
#include "base/text.h"
#include "doc/edit.h"
#include "doc/read.h"
#include "doc/write.h"

#include <string.h>

#define NOWHERE UINT32_MAX

/* An entry of a list or map in the text. Events are given by their indices. */
struct spot {
	uint32_t open;    /* the list or map; NOWHERE: the entry is a root */
	uint32_t key;     /* of a list: the value */
	uint32_t value;   /* NOWHERE: the text has no such entry, it comes from `<<` */
	uint32_t before;  /* the value of the entry before it, or NOWHERE */
	uint32_t entries; /* of the list or map */
	int in_map;
	int anchored; /* it is inside an anchored value, or is one */
};

/* Bytes that replace others. */
struct splice {
	size_t from;
	size_t to;
	struct mpijob_text text;
};

/* What every step of an edit needs. */
struct editing {
	const char *text;
	size_t len;
	const struct mpijob__doc_layout *layout;
	const struct mpijob_node *wanted; /* the root after the edit */
	const char *eol;
	struct mpijob__doc_yaml_style style;
	int compact; /* JSON: without spaces after colons */
};

static const struct mpijob__doc_event *event_at(const struct editing *e, uint32_t at)
{
	return mpijob__doc_layout_at(e->layout, at);
}

/* ---- places in the text ---- */

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int is_white(char c)
{
	return is_blank(c) || c == '\n' || c == '\r';
}

static size_t line_start(const struct editing *e, size_t at)
{
	while (at && e->text[at - 1] != '\n')
		at--;
	return at;
}

/* The end of a line, before its line end. */
static size_t line_end(const struct editing *e, size_t at)
{
	const char *end = memchr(e->text + at, '\n', e->len - at);
	size_t stop = end ? (size_t)(end - e->text) : e->len;

	return end && stop > at && e->text[stop - 1] == '\r' ? stop - 1 : stop;
}

static size_t next_line(const struct editing *e, size_t at)
{
	const char *end = memchr(e->text + at, '\n', e->len - at);

	return end ? (size_t)(end - e->text) + 1 : e->len;
}

static int all_white(const struct editing *e, size_t from, size_t to)
{
	while (from < to && is_white(e->text[from]))
		from++;
	return from >= to;
}

static size_t back_over_blanks(const struct editing *e, size_t at)
{
	while (at && is_blank(e->text[at - 1]))
		at--;
	return at;
}

static int is_block(const struct mpijob__doc_event *event)
{
	return mpijob__doc_event_opens(event) && event->style == MPIJOB__DOC_STYLE_BLOCK;
}

/* A {} or []. */
static int is_empty(const struct mpijob__doc_event *event)
{
	return mpijob__doc_event_opens(event) && event[1].type == MPIJOB__DOC_EVENT_CLOSE;
}

static int is_block_scalar(const struct mpijob__doc_event *event)
{
	return event->type == MPIJOB__DOC_EVENT_SCALAR && event->style >= MPIJOB__DOC_STYLE_LITERAL;
}

/* The first event inside a list or map with an anchor or tag; those before it are not known. */
static size_t body_start(const struct editing *e, uint32_t at)
{
	const struct mpijob__doc_event *event = event_at(e, at);

	return is_block(event) && (event->anchored || event->tagged) ? event_at(e, at + 1)->start
								     : event->start;
}

/* The end of the bytes of a value, without a comment after it, and without blank lines at the end
 * of a block. */
static size_t content_end(const struct editing *e, uint32_t at)
{
	const struct mpijob__doc_event *event = event_at(e, at);
	size_t end;

	if (mpijob__doc_event_opens(event))
		event = event_at(e, event->match);
	while (event->type == MPIJOB__DOC_EVENT_CLOSE && event->style == MPIJOB__DOC_STYLE_BLOCK)
		event--;
	end = event->end;
	while (is_block_scalar(event) && end > event->start && is_white(e->text[end - 1]))
		end--;
	return end;
}

/* The first comment in a part of a line, with the blanks before it; `to` without one. */
static size_t comment_start(const struct editing *e, size_t from, size_t to)
{
	for (size_t at = from; at < to; at++)
		if (e->text[at] == '#' && (at == 0 || is_white(e->text[at - 1])))
			return at == from ? at : back_over_blanks(e, at);
	return to;
}

/* The dash of an item of a block list, after the item before it; SIZE_MAX: not found. */
static size_t dash_of(const struct editing *e, uint32_t open, uint32_t before)
{
	size_t at = before == NOWHERE ? event_at(e, open)->start : content_end(e, before);

	while (at < e->len) {
		if (is_white(e->text[at]))
			at++;
		else if (e->text[at] == '#')
			at = line_end(e, at);
		else if (before == NOWHERE && (e->text[at] == '&' || e->text[at] == '!'))
			while (at < e->len && !is_white(e->text[at]))
				at++;
		else
			return e->text[at] == '-' ? at : SIZE_MAX;
	}
	return SIZE_MAX;
}

/* The first byte of an entry of a block: its key, or its dash; SIZE_MAX: not found. */
static size_t entry_start(const struct editing *e, uint32_t open, uint32_t key, uint32_t before)
{
	return event_at(e, open)->type == MPIJOB__DOC_EVENT_MAP ? event_at(e, key)->start
								: dash_of(e, open, before);
}

/* After the colon of a key, or the dash of an item; SIZE_MAX: not found. */
static size_t after_mark(const struct editing *e, const struct spot *spot)
{
	size_t at =
	    spot->in_map ? event_at(e, spot->key)->end : dash_of(e, spot->open, spot->before);

	if (at == SIZE_MAX)
		return at;
	while (spot->in_map && at < e->len && is_blank(e->text[at]))
		at++;
	return at < e->len && (!spot->in_map || e->text[at] == ':') ? at + 1 : SIZE_MAX;
}

/* The indentation of the entries of a block list or map. */
static size_t indent_of(const struct editing *e, uint32_t open)
{
	size_t at = entry_start(e, open, open + 1, NOWHERE);

	return at == SIZE_MAX ? 0 : at - line_start(e, at);
}

/* ---- find the entry ---- */

static uint32_t next_value(const struct editing *e, uint32_t at)
{
	return mpijob__doc_layout_next(e->layout, at);
}

/* Find entry `index` of the list or map `node` at the event `spot->open`. */
static void find_entry(const struct editing *e, const struct mpijob_node *node, uint32_t index,
    struct spot *spot)
{
	const struct mpijob__doc_event *event;
	uint32_t at = spot->open + 1, close = event_at(e, spot->open)->match;
	uint32_t last = NOWHERE;
	int32_t line = 0, column = 0;

	spot->value = spot->before = NOWHERE;
	spot->in_map = node->kind == MPIJOB_NODE_MAP;
	mpijob_node_key_place(node, index, &line, &column);
	for (spot->entries = 0; at < close; spot->entries++) {
		event = event_at(e, at);
		if (spot->in_map ? event->line == line && event->column == column
				 : spot->entries == index) {
			spot->key = at;
			spot->value = spot->in_map ? next_value(e, at) : at;
			spot->before = last;
		}
		last = spot->in_map ? next_value(e, at) : at;
		at = next_value(e, last);
	}
}

/* Follow `count` steps from the root. Returns 0 if one of them leads into an alias or a merged
 * value. */
static int follow(const struct editing *e, uint32_t root, const struct mpijob_node *node,
    const struct mpijob__doc_stack *steps, size_t count, struct spot *spot)
{
	memset(spot, 0, sizeof(*spot));
	spot->open = NOWHERE;
	spot->value = spot->key = root;
	for (size_t i = 0; i < count; i++) {
		const uint32_t *index = mpijob__doc_stack_at(steps, i);

		if (spot->value == NOWHERE || !mpijob__doc_event_opens(event_at(e, spot->value)))
			return 0;
		spot->open = spot->value;
		find_entry(e, node, *index, spot);
		if (spot->value != NOWHERE)
			spot->anchored |= event_at(e, spot->value)->anchored;
		node = mpijob_node_at(node, *index);
	}
	return 1;
}

static const struct mpijob_node *wanted_at(const struct editing *e,
    const struct mpijob__doc_stack *steps, size_t count)
{
	const struct mpijob_node *node = e->wanted;

	for (size_t i = 0; i < count; i++)
		node = mpijob_node_at(node, *(uint32_t *)mpijob__doc_stack_at(steps, i));
	return node;
}

/* ---- how the text is laid out ---- */

/* Learn from the values of a map. Returns 1 when everything is known. */
static int learn_map(struct editing *e, uint32_t map, int *maps, int *lists)
{
	const struct mpijob__doc_event *key, *value;

	for (uint32_t at = map + 1; at < event_at(e, map)->match;) {
		key = event_at(e, at);
		at = next_value(e, at);
		value = event_at(e, at);
		at = next_value(e, at);
		if (!is_block(value) || value->anchored || value->tagged ||
		    value->column < key->column)
			continue;
		if (value->type == MPIJOB__DOC_EVENT_LIST && !(*lists)++)
			e->style.list = (uint32_t)(value->column - key->column);
		if (value->type == MPIJOB__DOC_EVENT_MAP && !(*maps)++)
			e->style.map = (uint32_t)(value->column - key->column);
	}
	return *maps && *lists;
}

static void learn(struct editing *e)
{
	const char *end = memchr(e->text, '\n', e->len);
	const struct mpijob__doc_event *event;
	int maps = 0, lists = 0, known = 0;

	e->eol = end && end > e->text && end[-1] == '\r' ? "\r\n" : "\n";
	e->style.map = 2;
	for (uint32_t at = 0; at < e->layout->events.count && !known; at++) {
		event = event_at(e, at);
		if (event->type != MPIJOB__DOC_EVENT_MAP || event->match == at + 1)
			continue;
		if (is_block(event)) {
			known = learn_map(e, at, &maps, &lists);
			continue;
		}
		at++;
		known = 1;
		e->compact = e->layout->json && !is_white(e->text[event_at(e, at)->end + 1]);
	}
}

/* ---- new bytes ---- */

static void out_init(struct mpijob__doc_out *out, struct mpijob_text *text)
{
	out->write = mpijob_text_write;
	out->user = text;
	out->rc = 0;
	out->len = 0;
}

static int put_spaces(struct mpijob_text *text, size_t count)
{
	return mpijob__base_text_printf(text, "%*s", (int)count, "");
}

/* Append lines that end in \n: the line ends become those of the text, and all lines but the first
 * are indented. Without the last line end. */
static int put_lines(const struct editing *e, struct mpijob_text *to, struct mpijob_text *from,
    const char *indent, size_t indent_len)
{
	const char *at = from->data ? from->data : "", *end = at + from->len;
	int rc = 0;

	if (from->len && end[-1] == '\n')
		end--;
	while (rc == 0 && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		rc = mpijob__base_text_append(to, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
		if (rc == 0 && stop)
			rc = mpijob__base_text_puts(to, e->eol);
		if (rc == 0 && stop && at < end && *at != '\n')
			rc = mpijob__base_text_append(to, indent, indent_len);
	}
	mpijob__base_text_release(from);
	return rc;
}

/* Append what follows "key:" or "-" in a block. */
static int put_block_value(const struct editing *e, struct mpijob_text *to,
    const struct mpijob_node *node, int in_map, size_t indent,
    const struct mpijob__doc_yaml_style *style)
{
	struct mpijob_text lines = { 0 };
	struct mpijob__doc_out out;
	int rc;

	out_init(&out, &lines);
	if (!in_map)
		mpijob__doc_out_put(&out, " ", 1);
	rc = mpijob__doc_write_yaml_value(&out, node, !in_map, indent, style);
	if (rc == 0 || out.rc)
		rc = mpijob__doc_out_finish(&out);
	if (rc == 0)
		return put_lines(e, to, &lines, "", 0);
	mpijob__base_text_release(&lines);
	return rc;
}

/* Append a value on one line; in an indented JSON text on several. `indent` is that of its line. */
static int put_inline(const struct editing *e, struct mpijob_text *to,
    const struct mpijob_node *node, int old, int flow, const char *indent, size_t indent_len)
{
	struct mpijob_text lines = { 0 };
	struct mpijob__doc_out out;
	int rc;

	out_init(&out, &lines);
	if (e->layout->json)
		rc = mpijob__doc_write_json(&out, node,
		    e->compact   ? MPIJOB__DOC_JSON_COMPACT
		    : indent_len ? MPIJOB__DOC_JSON_INDENTED
				 : MPIJOB__DOC_JSON_FLOW);
	else
		rc = mpijob__doc_write_yaml_inline(&out, node, old, flow);
	if (rc == 0 || out.rc)
		rc = mpijob__doc_out_finish(&out);
	if (rc == 0)
		return put_lines(e, to, &lines, indent, indent_len);
	mpijob__base_text_release(&lines);
	return rc;
}

/* Append "key: " for a flow map, or "key:" for a block. */
static int put_key(const struct editing *e, struct mpijob_text *to, const char *key, int flow)
{
	struct mpijob__doc_out out;

	out_init(&out, to);
	if (e->layout->json) {
		mpijob__doc_write_quoted(&out, key, strlen(key));
		mpijob__doc_out_puts(&out, e->compact ? ":" : ": ");
	} else {
		mpijob__doc_write_yaml_key(&out, key, strlen(key), flow);
		mpijob__doc_out_puts(&out, flow ? " " : "");
	}
	return mpijob__doc_out_finish(&out);
}

/* ---- replace ---- */

/* Skip the anchor of a scalar, which the new value keeps. */
static size_t after_anchor(const struct editing *e, const struct mpijob__doc_event *event)
{
	size_t at = event->start;

	if (!event->anchored || e->text[at] != '&')
		return at;
	while (at < event->end && !is_white(e->text[at]))
		at++;
	while (at < event->end && is_blank(e->text[at]))
		at++;
	return at;
}

static int replace_inline(const struct editing *e, const struct spot *spot,
    const struct mpijob_node *node, struct splice *splice)
{
	const struct mpijob__doc_event *event = event_at(e, spot->value);
	int flow = spot->open != NOWHERE && !is_block(event_at(e, spot->open));
	size_t start = line_start(e, event->start), indent = start;
	int rc = 0;

	splice->from = after_anchor(e, event);
	splice->to = content_end(e, spot->value);
	while (is_blank(e->text[indent]))
		indent++;
	if (splice->from && !is_white(e->text[splice->from - 1]) && !flow)
		rc = mpijob__base_text_puts(&splice->text, " ");
	return rc ? rc
		  : put_inline(e, &splice->text, node, event->style, flow, e->text + start,
			indent - start);
}

/* Replace everything after "key:" or "-", except a comment on that line. */
static int replace_block(const struct editing *e, const struct spot *spot,
    const struct mpijob_node *node, struct splice *splice)
{
	const struct mpijob__doc_event *event = event_at(e, spot->value);
	size_t mark = after_mark(e, spot), end = content_end(e, spot->value), from = end, to;
	struct mpijob__doc_yaml_style style = e->style;
	struct mpijob_text value = { 0 };
	const char *first;
	size_t head;
	int rc;

	if (mark == SIZE_MAX || spot->open == NOWHERE)
		return MPIJOB_ERR_UNSUPPORTED;
	splice->from = mark;
	splice->to = line_end(e, end);
	if (is_block_scalar(event) ||
	    (is_block(event) && body_start(e, spot->value) > line_end(e, mark)))
		from = mark;
	to = from == mark ? line_end(e, mark) : splice->to;
	from = comment_start(e, from, to);
	if (event->style == MPIJOB__DOC_STYLE_LITERAL) {
		head = next_line(e, event->start);
		while (head < end && is_white(e->text[head]))
			head++;
		style.literal = (uint32_t)(head - line_start(e, head));
	}
	rc = put_block_value(e, &value, node, spot->in_map, indent_of(e, spot->open), &style);
	if (rc == 0) {
		first = strpbrk(value.data, "\r\n");
		head = first ? (size_t)(first - value.data) : value.len;
		rc = mpijob__base_text_append(&splice->text, value.data, head);
		if (rc == 0)
			rc = mpijob__base_text_append(&splice->text, e->text + from, to - from);
		if (rc == 0)
			rc = mpijob__base_text_append(&splice->text, value.data + head,
			    value.len - head);
	}
	mpijob__base_text_release(&value);
	return rc;
}

static int replace(const struct editing *e, const struct spot *spot, const struct mpijob_node *node,
    struct splice *splice)
{
	const struct mpijob__doc_event *event = event_at(e, spot->value);
	int flow = spot->open == NOWHERE || !is_block(event_at(e, spot->open));
	int nested = mpijob_node_count(node) > 0;
	int lines = node->kind == MPIJOB_NODE_STRING && memchr(node->in.text, '\n', node->count) &&
		    event->style != MPIJOB__DOC_STYLE_DOUBLE;

	if (flow || (!is_block(event) && !is_block_scalar(event) && !lines &&
			(!nested || (event->style == MPIJOB__DOC_STYLE_FLOW && !is_empty(event)))))
		return replace_inline(e, spot, node, splice);
	return replace_block(e, spot, node, splice);
}

/* ---- add ---- */

static int add_to_flow(const struct editing *e, uint32_t open, const struct spot *last,
    const char *key, const struct mpijob_node *node, struct splice *splice)
{
	const struct mpijob__doc_event *event = event_at(e, open);
	size_t entry = last->entries ? event_at(e, last->key)->start : 0;
	size_t start = line_start(e, entry), indent = start;
	int rc = 0;

	splice->from = last->entries ? content_end(e, last->value) : event->end;
	splice->to = splice->from;
	while (is_blank(e->text[indent]))
		indent++;
	if (!last->entries || start <= event->start)
		indent = start;
	if (last->entries)
		rc = mpijob__base_text_puts(&splice->text,
		    e->compact || indent > start ? "," : ", ");
	if (rc == 0 && indent > start) {
		rc = mpijob__base_text_puts(&splice->text, e->eol);
		if (rc == 0)
			rc = mpijob__base_text_append(&splice->text, e->text + start,
			    indent - start);
	}
	if (rc == 0 && key)
		rc = put_key(e, &splice->text, key, 1);
	return rc ? rc
		  : put_inline(e, &splice->text, node, MPIJOB__DOC_STYLE_PLAIN, 1, e->text + start,
			indent - start);
}

/* Whether the last value of a block keeps the blank lines after it, as `|+` does. */
static int keeps_lines(const struct editing *e, uint32_t open)
{
	const struct mpijob__doc_event *last = event_at(e, event_at(e, open)->match);
	size_t end;

	while (last->type == MPIJOB__DOC_EVENT_CLOSE && last->style == MPIJOB__DOC_STYLE_BLOCK)
		last--;
	end = line_end(e, last->start);
	return is_block_scalar(last) && memchr(e->text + last->start, '+', end - last->start) &&
	       last->end > end;
}

static int add_to_block(const struct editing *e, uint32_t open, int in_map, const char *key,
    const struct mpijob_node *node, struct splice *splice)
{
	size_t indent = indent_of(e, open);
	const struct mpijob__doc_event *last = event_at(e, event_at(e, open)->match - 1);
	int whole = keeps_lines(e, open);
	int rc;

	while (last->type == MPIJOB__DOC_EVENT_CLOSE && last->style == MPIJOB__DOC_STYLE_BLOCK)
		last--;
	splice->from = whole ? last->end : line_end(e, content_end(e, open));
	splice->to = splice->from;
	rc = mpijob__base_text_puts(&splice->text, whole ? "" : e->eol);
	if (rc == 0)
		rc = put_spaces(&splice->text, indent);
	if (rc == 0)
		rc = key ? put_key(e, &splice->text, key, 0)
			 : mpijob__base_text_puts(&splice->text, "-");
	if (rc == 0)
		rc = put_block_value(e, &splice->text, node, in_map, indent, &e->style);
	if (rc == 0 && whole)
		rc = mpijob__base_text_puts(&splice->text, e->eol);
	return rc;
}

/* Add an entry, with its key in a map, to the list or map at an event. */
static int add(const struct editing *e, uint32_t open, const struct mpijob_node *old,
    const char *key, const struct mpijob_node *node, struct splice *splice)
{
	struct spot last = { .open = open };

	if (!mpijob__doc_event_opens(event_at(e, open)))
		return MPIJOB_ERR_UNSUPPORTED;
	if (is_block(event_at(e, open)))
		return add_to_block(e, open, key != NULL, key, node, splice);
	if (old->count)
		find_entry(e, old, old->count - 1, &last);
	return last.entries && last.value == NOWHERE
		   ? MPIJOB_ERR_UNSUPPORTED
		   : add_to_flow(e, open, &last, key, node, splice);
}

/* ---- remove ---- */

static void remove_from_flow(const struct editing *e, const struct spot *spot,
    struct splice *splice)
{
	uint32_t next = next_value(e, spot->value);

	splice->from = event_at(e, spot->key)->start;
	splice->to = content_end(e, spot->value);
	if (next < event_at(e, spot->open)->match)
		splice->to = event_at(e, next)->start;
	else if (spot->before != NOWHERE)
		splice->from = content_end(e, spot->before);
}

static int remove_from_block(const struct editing *e, const struct spot *spot,
    struct splice *splice)
{
	size_t from = entry_start(e, spot->open, spot->key, spot->before), start;
	size_t end = line_end(e, content_end(e, spot->value)), next_start;
	uint32_t next = next_value(e, spot->value);

	if (from == SIZE_MAX)
		return MPIJOB_ERR_UNSUPPORTED;
	start = line_start(e, from);
	if (all_white(e, start, from)) {
		splice->from = start;
		splice->to = next_line(e, end);
		if (end == e->len && start)
			splice->from = line_end(e, line_start(e, start - 1));
		return 0;
	}
	/* The entry is on the line of a dash, and the next one takes its place. */
	if (next >= event_at(e, spot->open)->match)
		return MPIJOB_ERR_UNSUPPORTED;
	next_start = entry_start(e, spot->open, next, spot->value);
	splice->from = from;
	splice->to = next_start;
	if (next_start == SIZE_MAX || !all_white(e, end, next_start)) {
		splice->from = back_over_blanks(e, from);
		splice->to = end;
	}
	return 0;
}

/* ---- one edit ---- */

static int place_removed(const struct editing *e, uint32_t root, const struct mpijob_node *old,
    const struct mpijob__doc_edit *edit, struct spot *spot, struct splice *splice)
{
	if (spot->value == NOWHERE)
		return MPIJOB_ERR_UNSUPPORTED;
	if (!is_block(event_at(e, spot->open))) {
		remove_from_flow(e, spot, splice);
		return 0;
	}
	if (spot->entries > 1)
		return remove_from_block(e, spot, splice);
	/* A block without entries does not exist: it becomes {} or []. */
	if (!follow(e, root, old, &edit->steps, edit->steps.count - 1, spot))
		return MPIJOB_ERR_UNSUPPORTED;
	return replace(e, spot, wanted_at(e, &edit->steps, edit->steps.count - 1), splice);
}

static int place(const struct editing *e, uint32_t root, const struct mpijob_node *old,
    const struct mpijob__doc_edit *edit, struct spot *spot, struct splice *splice)
{
	size_t count = edit->steps.count;
	int is_new = edit->change == MPIJOB__DOC_CHANGE_ADDED;
	uint32_t last = *(uint32_t *)mpijob__doc_stack_top(&edit->steps);
	const struct mpijob_node *parent = wanted_at(e, &edit->steps, count - 1);

	if (!follow(e, root, old, &edit->steps, is_new ? count - 1 : count, spot))
		return MPIJOB_ERR_UNSUPPORTED;
	if (edit->change == MPIJOB__DOC_CHANGE_REMOVED)
		return place_removed(e, root, old, edit, spot, splice);
	if (is_new && spot->value == NOWHERE)
		return MPIJOB_ERR_UNSUPPORTED;
	/* In a block, a {} or [] becomes a block. */
	if (is_new && spot->open != NOWHERE && is_block(event_at(e, spot->open)) &&
	    is_empty(event_at(e, spot->value)))
		return replace(e, spot, parent, splice);
	if (!is_new && spot->value != NOWHERE)
		return replace(e, spot, mpijob_node_at(parent, last), splice);
	for (size_t i = 0; i + 1 < count; i++)
		old = mpijob_node_at(old, *(uint32_t *)mpijob__doc_stack_at(&edit->steps, i));
	return add(e, is_new ? spot->value : spot->open, old, mpijob_node_key(parent, last),
	    mpijob_node_at(parent, last), splice);
}

static int refuse(const struct mpijob__doc_edit *edit, const struct editing *e,
    const struct spot *spot, int shared)
{
	const struct mpijob__doc_event *event = event_at(e, spot->value != NOWHERE  ? spot->value
							    : spot->open != NOWHERE ? spot->open
										    : 0);
	struct mpijob__core_place place = { edit->source, event->line, event->column };
	int rc;

	if (shared)
		rc = mpijob__core_diag_addf(edit->diag, MPIJOB_SEVERITY_ERROR, "shared-value", NULL,
		    edit->path, &place,
		    "the value belongs to an anchor or alias, so this would change other places "
		    "too; write it out, or edit the text by hand");
	else
		rc = mpijob__core_diag_addf(edit->diag, MPIJOB_SEVERITY_ERROR, "fixed-layout", NULL,
		    edit->path, &place,
		    "this part of the text cannot be changed without changing other values; edit "
		    "it by hand");
	return rc ? rc : MPIJOB_ERR_UNSUPPORTED;
}

/* ---- the editor ---- */

int mpijob__doc_editor_open(struct mpijob__doc_editor *editor, const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob_diag *diag)
{
	struct mpijob__core_place place = { 0 };
	int rc;

	memset(editor, 0, sizeof(*editor));
	mpijob__doc_layout_init(&editor->layout);
	rc = mpijob__base_struct_check(&editor->options, sizeof(editor->options), options);
	if (rc)
		return rc;
	editor->options.no_places = 0;
	rc = mpijob__doc_read(text, len, &editor->options, &editor->layout, &editor->docs, diag);
	if (rc)
		return rc;
	if (!editor->layout.converted)
		return mpijob__base_text_append(&editor->text, text, len);
	place.source = editor->options.source;
	rc = mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "fixed-layout", NULL, NULL, &place,
	    "the text is UTF-16; save it as UTF-8");
	return rc ? rc : MPIJOB_ERR_UNSUPPORTED;
}

void mpijob__doc_editor_close(struct mpijob__doc_editor *editor)
{
	mpijob__base_text_release(&editor->text);
	mpijob_docs_free(editor->docs);
	mpijob__doc_layout_free(&editor->layout);
}

/* Whether the documents are as they should be: one as `wanted`, the others as before. */
static int is_right(const mpijob_docs *docs, const mpijob_docs *before, size_t index,
    const mpijob_doc *wanted)
{
	int right = docs->count == before->count;

	for (size_t i = 0; right && i < docs->count; i++)
		right = mpijob_node_equal(docs->items[i]->root,
		    i == index ? wanted->root : before->items[i]->root);
	return right;
}

static int splice_text(const struct mpijob_text *old, const struct splice *splice,
    struct mpijob_text *text)
{
	int rc = mpijob__base_text_append(text, old->data, splice->from);

	if (rc == 0)
		rc = mpijob__base_text_append(text, splice->text.data, splice->text.len);
	if (rc == 0)
		rc = mpijob__base_text_append(text, old->data + splice->to, old->len - splice->to);
	return rc;
}

/* Change the text, if the result is right. */
static int commit(struct mpijob__doc_editor *editor, const struct splice *splice, size_t index,
    const mpijob_doc *wanted)
{
	struct mpijob__doc_editor changed;
	struct mpijob_text text = { 0 };
	int rc = splice_text(&editor->text, splice, &text);

	if (rc == 0)
		rc = mpijob__doc_editor_open(&changed, text.data, text.len, &editor->options, NULL);
	else
		memset(&changed, 0, sizeof(changed));
	if (rc == MPIJOB_ERR_SYNTAX ||
	    (rc == 0 && !is_right(changed.docs, editor->docs, index, wanted)))
		rc = MPIJOB_ERR_UNSUPPORTED;
	mpijob__base_text_release(&text);
	if (rc == 0) {
		struct mpijob__doc_editor old = *editor;

		*editor = changed;
		changed = old;
	}
	mpijob__doc_editor_close(&changed);
	return rc;
}

static int edit_text(struct mpijob__doc_editor *editor, const struct mpijob__doc_edit *edit,
    size_t index, const mpijob_doc *wanted)
{
	struct editing e = { editor->text.data, editor->text.len, &editor->layout, wanted->root,
		NULL, { 0 }, 0 };
	uint32_t root = *(uint32_t *)mpijob__doc_stack_at(&editor->layout.roots, index);
	struct splice splice = { 0 };
	struct spot spot;
	int rc, shared;

	learn(&e);
	rc = place(&e, root, editor->docs->items[index]->root, edit, &spot, &splice);
	shared = spot.anchored || spot.value == NOWHERE ||
		 event_at(&e, spot.value)->type == MPIJOB__DOC_EVENT_ALIAS;
	if (rc == 0)
		rc = commit(editor, &splice, index, wanted);
	mpijob__base_text_release(&splice.text);
	/* After a commit the events are new; a refusal leaves the old ones. */
	return rc == MPIJOB_ERR_UNSUPPORTED ? refuse(edit, &e, &spot, shared) : rc;
}

int mpijob__doc_editor_apply(struct mpijob__doc_editor *editor, struct mpijob__doc_edit *edit,
    size_t index)
{
	mpijob_doc *wanted =
	    mpijob_doc_from_node(mpijob_doc_root(editor->docs->items[index]), NULL);
	mpijob_node *start = mpijob_doc_edit(wanted, "");
	int rc;

	if (!wanted)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < edit->steps.count; i++)
		start = mpijob__doc_node_child(start,
		    *(uint32_t *)mpijob__doc_stack_at(&edit->steps, i));
	rc = mpijob__doc_edit(edit, wanted, start);
	if (rc == 0 && edit->change != MPIJOB__DOC_CHANGE_NONE)
		rc = edit_text(editor, edit, index, wanted);
	mpijob_doc_free(wanted);
	return rc;
}

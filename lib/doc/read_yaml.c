/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads YAML with libyaml's events.
 *
 * libyaml's document API is not used: it leaks when memory runs out, and its time is quadratic in
 * the number of anchors. This file calls libyaml, limits its cost, and converts its errors.
 */
#include "doc/yaml_reader.h"

#include "base/utf8.h"
#include "doc/yaml_error.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIRECTIVES 1000 /* libyaml compares all pairs of %TAG lines */
/* it checks every open [ and { for every token; this limit is about half a second */
#define MOST_FLOW_WORK 50000000

/* An unterminated quoted text is reported at its beginning. */
static size_t error_index(const yaml_parser_t *parser)
{
	if (parser->context && strcmp(parser->context, "while scanning a quoted scalar") == 0 &&
	    strncmp(parser->problem, "found unexpected", 16) == 0)
		return parser->context_mark.index;
	return parser->problem_mark.index;
}

static int parser_error(struct mpijob__doc_yaml *y)
{
	const yaml_parser_t *parser = &y->parser;
	struct mpijob__doc_reader *r = y->r;
	int32_t line, column;
	const char *text, *id;
	int rc;

	if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
		return MPIJOB_ERR_NOMEM;
	if (parser->error == YAML_READER_ERROR)
		mpijob__doc_yaml_place_byte(y->place.text, y->place.len, parser->problem_offset,
		    &line, &column);
	else
		mpijob__doc_yaml_place_find(&y->place, error_index(parser), &line, &column);
	text = mpijob__doc_yaml_error_text(parser->problem, &id);
	rc = mpijob__doc_read_error(r, id, line, column, "%s", text);
	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

static int document_end(struct mpijob__doc_yaml *y)
{
	if (!y->root || y->empty)
		return 0;
	return mpijob__doc_read_add(y->r, y->root);
}

static int style_of(const yaml_event_t *event)
{
	static const uint8_t styles[] = { MPIJOB__DOC_STYLE_PLAIN, MPIJOB__DOC_STYLE_PLAIN,
		MPIJOB__DOC_STYLE_SINGLE, MPIJOB__DOC_STYLE_DOUBLE, MPIJOB__DOC_STYLE_LITERAL,
		MPIJOB__DOC_STYLE_FOLDED };

	switch (event->type) {
	case YAML_SCALAR_EVENT: return styles[event->data.scalar.style];
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
			   ? MPIJOB__DOC_STYLE_FLOW
			   : MPIJOB__DOC_STYLE_BLOCK;
	default:
		return event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
			   ? MPIJOB__DOC_STYLE_FLOW
			   : MPIJOB__DOC_STYLE_BLOCK;
	}
}

static int record(struct mpijob__doc_yaml *y)
{
	/* a byte order mark */
	size_t before = y->r->layout->converted ? 0 : (size_t)(y->place.text - y->r->text);
	const yaml_event_t *event = &y->event;
	struct mpijob__doc_event added = { .start = (uint32_t)(before + y->place.byte),
		.line = y->line,
		.column = y->column };
	int32_t line, column;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		added.anchored = event->data.scalar.anchor != NULL;
		added.tagged = event->data.scalar.tag != NULL;
		break;
	case YAML_ALIAS_EVENT: added.type = MPIJOB__DOC_EVENT_ALIAS; break;
	case YAML_SEQUENCE_START_EVENT:
		added.type = MPIJOB__DOC_EVENT_LIST;
		added.anchored = event->data.sequence_start.anchor != NULL;
		added.tagged = event->data.sequence_start.tag != NULL;
		break;
	case YAML_MAPPING_START_EVENT:
		added.type = MPIJOB__DOC_EVENT_MAP;
		added.anchored = event->data.mapping_start.anchor != NULL;
		added.tagged = event->data.mapping_start.tag != NULL;
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: added.type = MPIJOB__DOC_EVENT_CLOSE; break;
	default: return 0;
	}
	if (added.type != MPIJOB__DOC_EVENT_CLOSE && added.type != MPIJOB__DOC_EVENT_ALIAS)
		added.style = (uint8_t)style_of(event);
	mpijob__doc_yaml_place_find(&y->place, event->end_mark.index, &line, &column);
	added.end = (uint32_t)(before + y->place.byte);
	return mpijob__doc_layout_add(y->r->layout, &added);
}

static int take_event(struct mpijob__doc_yaml *y)
{
	const yaml_event_t *event = &y->event;

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		y->root = NULL;
		y->empty = 0;
		return mpijob__doc_yaml_anchors_reset(y);
	case YAML_DOCUMENT_END_EVENT: return document_end(y);
	case YAML_SCALAR_EVENT: return mpijob__doc_yaml_scalar(y);
	case YAML_ALIAS_EVENT: return mpijob__doc_yaml_alias(y);
	case YAML_SEQUENCE_START_EVENT:
		return mpijob__doc_yaml_open(y, MPIJOB_NODE_LIST,
		    (const char *)event->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return mpijob__doc_yaml_open(y, MPIJOB_NODE_MAP,
		    (const char *)event->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: return mpijob__doc_yaml_close(y);
	default: return 0;
	}
}

/* Limit the work for nested [] and {}. */
static int count_flow(struct mpijob__doc_yaml *y)
{
	const yaml_event_t *event = &y->event;

	if ((event->type == YAML_SEQUENCE_START_EVENT &&
		event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE) ||
	    (event->type == YAML_MAPPING_START_EVENT &&
		event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE))
		y->flow++;
	else if (y->flow &&
		 (event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT))
		y->flow--;
	y->work += y->flow;
	if (y->work <= MOST_FLOW_WORK)
		return 0;
	return mpijob__doc_yaml_stop(y, "limit-depth",
	    "too many values inside deeply nested [] and {}; write them in lines of their own, or "
	    "as JSON");
}

static int read_events(struct mpijob__doc_yaml *y)
{
	int done = 0;
	int rc = 0;

	while (rc == 0 && !done) {
		if (!yaml_parser_parse(&y->parser, &y->event))
			return parser_error(y);
		mpijob__doc_yaml_place_find(&y->place, y->event.start_mark.index, &y->line,
		    &y->column);
		done = y->event.type == YAML_STREAM_END_EVENT || y->event.type == YAML_NO_EVENT;
		rc = count_flow(y);
		if (rc == 0 && y->r->layout)
			rc = record(y);
		if (rc == 0)
			rc = take_event(y);
		yaml_event_delete(&y->event);
	}
	return rc;
}

static int check_directives(struct mpijob__doc_yaml *y, const char *text, size_t len)
{
	const char *at = text;
	size_t count = 0;
	int rc;

	while ((at = memchr(at, '%', len - (size_t)(at - text))) != NULL) {
		if (at == text || at[-1] == '\n' || at[-1] == '\r')
			count++;
		at++;
	}
	if (count <= MOST_DIRECTIVES)
		return 0;
	rc = mpijob__doc_read_error(y->r, "limit-directives", 0, 0,
	    "more than %d lines begin with '%%'; put such text in quotes", MOST_DIRECTIVES);
	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

static int read_utf8(struct mpijob__doc_reader *r, const char *text, size_t len)
{
	struct mpijob__doc_yaml y = { .r = r,
		.anchors = { .size = sizeof(struct mpijob__doc_anchor) } };
	int rc;

	rc = check_directives(&y, text, len);
	if (rc)
		return rc;
	if (!yaml_parser_initialize(&y.parser))
		return MPIJOB_ERR_NOMEM;
	mpijob__doc_yaml_place_init(&y.place, text, len);
	yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&y.parser, (const unsigned char *)text, len);
	rc = read_events(&y);
	yaml_parser_delete(&y.parser);
	mpijob__doc_stack_free(&y.anchors);
	mpijob__base_arena_free(&y.scratch);
	return rc;
}

static uint32_t unit_at(const unsigned char *at, int big)
{
	return big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

/* Convert UTF-16 without its byte order mark to UTF-8. Returns the length, or SIZE_MAX when it is
 * not UTF-16. */
static size_t from_utf16(const unsigned char *at, size_t len, int big, char *into)
{
	char *to = into;

	if (len % 2)
		return SIZE_MAX;
	for (size_t i = 0; i < len; i += 2) {
		uint32_t code = unit_at(at + i, big);

		if (code >= 0xd800 && code < 0xdc00 && i + 2 < len) {
			uint32_t low = unit_at(at + i + 2, big);

			if (low < 0xdc00 || low > 0xdfff)
				return SIZE_MAX;
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
			i += 2;
		} else if (code >= 0xd800 && code <= 0xdfff) {
			return SIZE_MAX;
		}
		to += mpijob__base_utf8_write(to, code);
	}
	return (size_t)(to - into);
}

static int read_utf16(struct mpijob__doc_reader *r, int big)
{
	char *text = malloc((r->len - 2) / 2 * 3 + 4);
	size_t len;
	int rc;

	if (!text)
		return MPIJOB_ERR_NOMEM;
	if (r->layout)
		r->layout->converted = 1;
	len = from_utf16((const unsigned char *)r->text + 2, r->len - 2, big, text);
	if (len == SIZE_MAX) {
		rc = mpijob__doc_read_error(r, "encoding", 0, 0,
		    "the text begins like UTF-16 but is not UTF-16; save it as UTF-8");
		rc = rc ? rc : MPIJOB_ERR_SYNTAX;
	} else {
		rc = read_utf8(r, text, len);
	}
	free(text);
	return rc;
}

int mpijob__doc_read_yaml(struct mpijob__doc_reader *r)
{
	if (r->len >= 2 && memcmp(r->text, "\xff\xfe", 2) == 0)
		return read_utf16(r, 0);
	if (r->len >= 2 && memcmp(r->text, "\xfe\xff", 2) == 0)
		return read_utf16(r, 1);
	if (r->len >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0)
		return read_utf8(r, r->text + 3, r->len - 3);
	return read_utf8(r, r->text, r->len);
}

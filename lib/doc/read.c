/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses documents: checks options and limits, selects the JSON or YAML reader, and reports
 * findings of both.
 */
#include "doc/read.h"

#include "base/field_path.h"
#include "base/struct.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEPTH    500
#define DEFAULT_BYTES    ((size_t)3 << 20)
#define DEFAULT_VALUES   1000000
#define DEFAULT_ALIASES  10000
#define DEFAULT_EXPANDED ((size_t)8 << 20)
#define DEFAULT_FINDINGS 100
#define LONGEST_SHOWN    80
/* the longest label key; a path shows only the beginning of longer keys */
#define LONGEST_KEY  320
#define LONGEST_PATH 512               /* longer paths are cut */
#define MOST_BYTES   ((size_t)1 << 30) /* offsets, lines and columns are 32 bits wide */

static int add(struct mpijob__doc_reader *r, int32_t severity, const char *id, const char *reason,
    int32_t line, int32_t column, const char *format, va_list args) MPIJOB__BASE_PRINTF(7, 0);
static int add_error(struct mpijob__doc_reader *r, const char *id, const char *reason, int32_t line,
    int32_t column, const char *format, va_list args) MPIJOB__BASE_PRINTF(6, 0);
static int add_duplicate(struct mpijob__doc_reader *r, int32_t line, int32_t column,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

static size_t shown(const char *text, size_t longest)
{
	size_t len = strlen(text);

	if (len <= longest)
		return len;
	for (len = longest; len && (text[len] & 0xc0) == 0x80;)
		len--;
	return len;
}

int mpijob__doc_read_shown(const char *text)
{
	return (int)shown(text, LONGEST_SHOWN);
}

static int path_step(const struct mpijob__doc_frame *frame, uint32_t index,
    struct mpijob_text *path)
{
	if (frame->node->kind == MPIJOB_NODE_LIST)
		return mpijob__base_field_path_index(path, index);
	if (!frame->key)
		return 0;
	if (frame->key_len > LONGEST_KEY)
		return mpijob__base_text_printf(path, "[%.*s...]",
		    (int)shown(frame->key, LONGEST_SHOWN), frame->key);
	return mpijob__base_field_path_key(path, frame->key);
}

/* The path that the open frames are reading, such as spec.containers[0].name. An open list or map
 * is an entry of its parent already. */
static int current_path(const struct mpijob__doc_reader *r, struct mpijob_text *path)
{
	for (size_t i = 0; i < r->frames.count; i++) {
		const struct mpijob__doc_frame *frame = mpijob__doc_stack_at(&r->frames, i);
		int inner = i + 1 == r->frames.count;
		int rc = 0;

		if (frame->role != MPIJOB__DOC_ROLE_MERGE_LIST)
			rc = path_step(frame, frame->node->count - !inner, path);
		if (rc == 0 && !inner && path->len > LONGEST_PATH)
			return mpijob__base_text_puts(path, "...");
		if (rc)
			return rc;
	}
	return 0;
}

static int add(struct mpijob__doc_reader *r, int32_t severity, const char *id, const char *reason,
    int32_t line, int32_t column, const char *format, va_list args)
{
	struct mpijob__core_place place = { r->source, line, column };
	struct mpijob_text path = { 0 };
	int rc = 0;

	if (r->diag) {
		rc = current_path(r, &path);
		if (rc == 0)
			rc = mpijob__core_diag_vaddf(r->diag, severity, id, reason,
			    path.len ? path.data : NULL, &place, format, args);
	}
	mpijob__base_text_release(&path);
	return rc;
}

static int add_error(struct mpijob__doc_reader *r, const char *id, const char *reason, int32_t line,
    int32_t column, const char *format, va_list args)
{
	int rc = add(r, MPIJOB_SEVERITY_ERROR, id, reason, line, column, format, args);

	r->failed = 1;
	if (rc)
		return rc;
	return ++r->findings >= r->options.max_findings ? MPIJOB_ERR_SYNTAX : 0;
}

int mpijob__doc_read_error(struct mpijob__doc_reader *r, const char *id, int32_t line,
    int32_t column, const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = add_error(r, id, NULL, line, column, format, args);
	va_end(args);
	return rc;
}

int mpijob__doc_read_warning(struct mpijob__doc_reader *r, const char *id, int32_t line,
    int32_t column, const char *format, ...)
{
	va_list args;
	int rc = 0;

	va_start(args, format);
	if (++r->findings <= r->options.max_findings)
		rc = add(r, MPIJOB_SEVERITY_WARNING, id, NULL, line, column, format, args);
	va_end(args);
	return rc;
}

static int add_duplicate(struct mpijob__doc_reader *r, int32_t line, int32_t column,
    const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = add_error(r, "duplicate-key", "Duplicate", line, column, format, args);
	va_end(args);
	return rc;
}

int mpijob__doc_read_duplicate(struct mpijob__doc_reader *r, const struct mpijob__doc_entry *first,
    const char *key, int32_t line, int32_t column)
{
	return add_duplicate(r, line, column,
	    "the key '%.*s' is already given in line %ld; keep one of the two",
	    mpijob__doc_read_shown(key), key, (long)first->line);
}

int mpijob__doc_read_count(struct mpijob__doc_reader *r, size_t values, int32_t line,
    int32_t column)
{
	int rc;

	if (values <= r->options.max_values && r->values <= r->options.max_values - values) {
		r->values += values;
		return 0;
	}
	rc = mpijob__doc_read_error(r, "limit-values", line, column,
	    "more than %zu values; split the text, or raise max_values", r->options.max_values);
	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

int mpijob__doc_read_too_deep(struct mpijob__doc_reader *r, int32_t line, int32_t column)
{
	int rc = mpijob__doc_read_error(r, "limit-depth", line, column,
	    "lists and maps are nested more than %ld deep; raise max_depth (at most %d) if this is "
	    "meant",
	    (long)r->options.max_depth, MPIJOB__DOC_DEEPEST);

	return rc ? rc : MPIJOB_ERR_SYNTAX;
}

int mpijob__doc_read_add(struct mpijob__doc_reader *r, struct mpijob_node *root)
{
	mpijob_docs *docs = r->docs;
	mpijob_doc *doc;

	if (docs->count == docs->cap) {
		size_t cap = docs->cap ? docs->cap * 2 : 4;
		mpijob_doc **items = mpijob__base_arena_grow(r->arena, docs->items,
		    docs->cap * sizeof(*items), cap * sizeof(*items));

		if (!items)
			return MPIJOB_ERR_NOMEM;
		docs->items = items;
		docs->cap = cap;
	}
	doc = mpijob__base_arena_alloc(r->arena, sizeof(*doc));
	if (!doc)
		return MPIJOB_ERR_NOMEM;
	memset(doc, 0, sizeof(*doc));
	doc->arena = r->arena;
	doc->source = r->source;
	doc->root = root;
	docs->items[docs->count++] = doc;
	return 0;
}

static void default_size(size_t *option, size_t value)
{
	if (*option == 0)
		*option = value;
}

static int read_options(struct mpijob_parse_options *options,
    const struct mpijob_parse_options *given)
{
	int rc = mpijob__base_struct_check(options, sizeof(*options), given);

	if (rc)
		return rc;
	if (options->format < MPIJOB_FORMAT_AUTO || options->format > MPIJOB_FORMAT_JSON_COMPACT)
		return MPIJOB_ERR_USAGE;
	if (options->max_depth < 0 || !mpijob__base_struct_is_flag(options->no_places))
		return MPIJOB_ERR_USAGE;
	if (options->max_depth == 0)
		options->max_depth = DEFAULT_DEPTH;
	if (options->max_depth > MPIJOB__DOC_DEEPEST)
		options->max_depth = MPIJOB__DOC_DEEPEST;
	default_size(&options->max_bytes, DEFAULT_BYTES);
	if (options->max_bytes > MOST_BYTES)
		options->max_bytes = MOST_BYTES;
	default_size(&options->max_values, DEFAULT_VALUES);
	default_size(&options->max_aliases, DEFAULT_ALIASES);
	default_size(&options->max_expanded, DEFAULT_EXPANDED);
	default_size(&options->max_findings, DEFAULT_FINDINGS);
	return 0;
}

static int looks_like_json(const char *text, size_t len)
{
	size_t i = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r'))
		i++;
	return i < len && (text[i] == '{' || text[i] == '[');
}

static int finish(const struct mpijob__doc_reader *r, int rc)
{
	return rc == 0 && r->failed ? MPIJOB_ERR_SYNTAX : rc;
}

static void reset(struct mpijob__doc_reader *r)
{
	while (mpijob__doc_stack_top(&r->frames))
		mpijob__doc_stack_pop(&r->frames);
	r->docs->count = 0;
	r->values = 0;
	r->findings = 0;
	r->failed = 0;
}

static int is_earlier(const mpijob_diag *a, const mpijob_diag *b)
{
	const struct mpijob_finding *in_a = mpijob_diag_at(a, 0), *in_b = mpijob_diag_at(b, 0);

	if (!in_a || !in_b)
		return 0;
	return in_a->line < in_b->line || (in_a->line == in_b->line && in_a->column < in_b->column);
}

static int copy_findings(const mpijob_diag *from, mpijob_diag *to)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && mpijob_diag_at(from, i); i++)
		rc = mpijob_diag_add(to, mpijob_diag_at(from, i));
	return rc;
}

/* The text is not JSON: read it as YAML. If that fails too, report the findings of the reader that
 * came further. */
static int read_as_yaml(struct mpijob__doc_reader *r, mpijob_diag *diag, const mpijob_diag *as_json)
{
	mpijob_diag *as_yaml = mpijob_diag_new();
	int rc, passed;

	if (!as_yaml)
		return MPIJOB_ERR_NOMEM;
	reset(r);
	r->diag = as_yaml;
	rc = finish(r, mpijob__doc_read_yaml(r));
	passed = copy_findings(rc != MPIJOB_ERR_SYNTAX || is_earlier(as_json, as_yaml) ? as_yaml
										       : as_json,
	    diag);
	mpijob_diag_free(as_yaml);
	return rc ? rc : passed;
}

/* As kubectl: text that begins like JSON is read as JSON first. */
static int read_either(struct mpijob__doc_reader *r)
{
	mpijob_diag *diag = r->diag, *as_json = mpijob_diag_new();
	int rc, passed;

	if (!as_json)
		return MPIJOB_ERR_NOMEM;
	r->diag = as_json;
	rc = finish(r, mpijob__doc_read_json(r));
	if (rc == MPIJOB_ERR_SYNTAX && r->not_json) {
		rc = read_as_yaml(r, diag, as_json);
	} else {
		passed = copy_findings(as_json, diag);
		rc = rc ? rc : passed;
	}
	r->diag = diag;
	mpijob_diag_free(as_json);
	return rc;
}

static int read_text(struct mpijob__doc_reader *r)
{
	int json = r->options.format == MPIJOB_FORMAT_JSON ||
		   r->options.format == MPIJOB_FORMAT_JSON_COMPACT;
	int rc;

	if (r->len > r->options.max_bytes) {
		rc = mpijob__doc_read_error(r, "limit-size", 0, 0,
		    "the text has %zu bytes, more than %zu; split it, or raise max_bytes", r->len,
		    r->options.max_bytes);
		return rc ? rc : MPIJOB_ERR_SYNTAX;
	}
	if (r->options.format == MPIJOB_FORMAT_AUTO && looks_like_json(r->text, r->len))
		return read_either(r);
	return finish(r, json ? mpijob__doc_read_json(r) : mpijob__doc_read_yaml(r));
}

static int prepare(struct mpijob__doc_reader *r)
{
	r->docs = calloc(1, sizeof(*r->docs));
	if (!r->docs)
		return MPIJOB_ERR_NOMEM;
	r->arena = &r->docs->arena;
	mpijob__base_arena_expect(r->arena, r->len * 5);
	if (!r->options.source)
		return 0;
	r->source = mpijob__base_arena_copy(r->arena, r->options.source, strlen(r->options.source));
	return r->source ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob_docs_parse(const char *text, size_t len, const struct mpijob_parse_options *options,
    mpijob_docs **out, mpijob_diag *diag)
{
	struct mpijob__doc_reader r = { .frames = { .size = sizeof(struct mpijob__doc_frame) } };
	int rc;

	if (!out || (!text && len))
		return MPIJOB_ERR_USAGE;
	rc = read_options(&r.options, options);
	if (rc)
		return rc;
	r.text = text ? text : "";
	r.len = len;
	r.diag = diag;
	rc = prepare(&r);
	if (rc == 0)
		rc = read_text(&r);
	mpijob__doc_stack_free(&r.frames);
	if (rc)
		mpijob_docs_free(r.docs);
	else
		*out = r.docs;
	return rc;
}

/* Make the only document the owner of the memory. */
static int own_document(mpijob_docs *docs, mpijob_doc **out)
{
	struct mpijob__doc_own_doc *own = calloc(1, sizeof(*own));

	if (!own)
		return MPIJOB_ERR_NOMEM;
	own->doc = *docs->items[0];
	own->arena = docs->arena;
	own->doc.arena = &own->arena;
	memset(&docs->arena, 0, sizeof(docs->arena));
	*out = &own->doc;
	return 0;
}

static int report_count(const mpijob_docs *docs, const struct mpijob_parse_options *options,
    mpijob_diag *diag)
{
	struct mpijob_parse_options known;
	struct mpijob__core_place place = { NULL, 0, 0 };

	if (mpijob__base_struct_check(&known, sizeof(known), options) == 0)
		place.source = known.source;
	if (docs->count == 0) {
		(void)mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "no-document", NULL, NULL,
		    &place, "the text contains no document");
		return MPIJOB_ERR_SYNTAX;
	}
	place.line = docs->items[1]->root->line;
	place.column = docs->items[1]->root->column;
	(void)mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "several-documents", NULL, NULL,
	    &place, "the text contains %zu documents, the second begins here; one is expected",
	    docs->count);
	return MPIJOB_ERR_SYNTAX;
}

int mpijob_doc_parse(const char *text, size_t len, const struct mpijob_parse_options *options,
    mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_docs *docs = NULL;
	int rc;

	if (!out)
		return MPIJOB_ERR_USAGE;
	rc = mpijob_docs_parse(text, len, options, &docs, diag);
	if (rc)
		return rc;
	rc = docs->count == 1 ? own_document(docs, out) : report_count(docs, options, diag);
	mpijob_docs_free(docs);
	return rc;
}

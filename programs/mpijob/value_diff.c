/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two values: field by field, entries of a list by their names, and strings of
 * several lines line by line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_diff.h"
#include "findings.h"
#include "print.h"

#define MOST_LINES 12 /* printed lines of a string, per side */

struct comparison {
	mpijob_doc *doc;
	mpijob_node *list;
	mpijob_text *path;
	int code;
};

/* Append a step to the path. Returns the length before it, for path_cut(). */
static size_t path_add(struct comparison *at, const char *before, const char *word,
    const char *after)
{
	size_t len = mpijob_text_len(at->path);

	if (mpijob_text_write(at->path, before, strlen(before)) ||
	    mpijob_text_write(at->path, word, strlen(word)) ||
	    mpijob_text_write(at->path, after, strlen(after)))
		at->code = MPIJOB_ERR_NOMEM;
	return len;
}

static void path_cut(struct comparison *at, size_t len)
{
	char *kept = strndup(mpijob_text_data(at->path), len);

	mpijob_text_clear(at->path);
	if (!kept || mpijob_text_write(at->path, kept, len))
		at->code = MPIJOB_ERR_NOMEM;
	free(kept);
}

static void compare(struct comparison *at, const mpijob_node *old, const mpijob_node *new);

static int is_plain(const char *key)
{
	return *key &&
	       key[strspn(key,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] == '\0';
}

static void compare_key(struct comparison *at, const char *key, const mpijob_node *old,
    const mpijob_node *new)
{
	int dot = is_plain(key);
	size_t len = path_add(at,
	    !dot                        ? "["
	    : mpijob_text_len(at->path) ? "."
					: "",
	    key, dot ? "" : "]");

	compare(at, old, new);
	path_cut(at, len);
}

static const char *name_of(const mpijob_node *entry)
{
	return mpijob_node_string(mpijob_node_get(entry, "name"));
}

static const mpijob_node *named(const mpijob_node *list, const char *name)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++)
		if (name_of(mpijob_node_at(list, i)) &&
		    strcmp(name_of(mpijob_node_at(list, i)), name) == 0)
			return mpijob_node_at(list, i);
	return NULL;
}

/* Whether each entry has a unique name. */
static int all_named(const mpijob_node *list)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *name = name_of(mpijob_node_at(list, i));
		if (!name || named(list, name) != mpijob_node_at(list, i))
			return 0;
	}
	return 1;
}

static void compare_named(struct comparison *at, const mpijob_node *old, const mpijob_node *new)
{
	for (int pass = 0; pass < 2; pass++) {
		const mpijob_node *list = pass ? new : old;
		for (size_t i = 0; i < mpijob_node_count(list); i++) {
			const char *name = name_of(mpijob_node_at(list, i));
			if (pass && named(old, name))
				continue;
			size_t len = path_add(at, "[", name, "]");
			compare(at, named(old, name), named(new, name));
			path_cut(at, len);
		}
	}
}

static void compare_maps(struct comparison *at, const mpijob_node *old, const mpijob_node *new)
{
	for (size_t i = 0; i < mpijob_node_count(old); i++)
		compare_key(at, mpijob_node_key(old, i), mpijob_node_at(old, i),
		    mpijob_node_get(new, mpijob_node_key(old, i)));
	for (size_t i = 0; i < mpijob_node_count(new); i++)
		if (!mpijob_node_get(old, mpijob_node_key(new, i)))
			compare_key(at, mpijob_node_key(new, i), NULL, mpijob_node_at(new, i));
}

static void compare(struct comparison *at, const mpijob_node *old, const mpijob_node *new)
{
	int32_t kind = mpijob_node_kind(old);

	if (mpijob_node_equal(old, new))
		return;
	if (kind == mpijob_node_kind(new) && kind == MPIJOB_NODE_MAP) {
		compare_maps(at, old, new);
		return;
	}
	if (kind == mpijob_node_kind(new) && kind == MPIJOB_NODE_LIST && all_named(old) &&
	    all_named(new)) {
		compare_named(at, old, new);
		return;
	}
	mpijob_node *field = mpijob_node_append_map(at->doc, at->list);
	mpijob_node_put_string(at->doc, field, "field", mpijob_text_data(at->path));
	mpijob_node_put_copy(at->doc, field, "old", old);
	mpijob_node_put_copy(at->doc, field, "new", new);
}

int value_diff(mpijob_doc *doc, mpijob_node *list, const char *path, const mpijob_node *old,
    const mpijob_node *new)
{
	struct comparison at = { .doc = doc, .list = list, .path = mpijob_text_new() };

	if (!at.path || mpijob_text_write(at.path, path, strlen(path)))
		at.code = MPIJOB_ERR_NOMEM;
	else
		compare(&at, old, new);
	mpijob_text_free(at.path);
	return at.code ? at.code : mpijob_doc_error(doc);
}

/* ---- printing ---- */

static int has_line(const char *text, const char *line, size_t len)
{
	while (*text) {
		size_t this = strcspn(text, "\n");
		if (this == len && memcmp(text, line, len) == 0)
			return 1;
		text += this + (text[this] == '\n');
	}
	return 0;
}

/* The lines of one text that are not in the other. */
static void print_lines(const char *text, const char *other, char sign)
{
	size_t count = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");
		if (!has_line(other, text, len) && count++ < MOST_LINES)
			print_out("      %c %.*s\n", sign, (int)len, text);
		text += len + (text[len] == '\n');
	}
	if (count > MOST_LINES)
		print_out("      %c and %zu more lines\n", sign, count - MOST_LINES);
}

static int print_value(const mpijob_node *value)
{
	if (!value) {
		fputs("(absent)", stdout);
		return 0;
	}
	return mpijob_node_write(value, MPIJOB_FORMAT_JSON_COMPACT, file_write, stdout);
}

int value_diff_print(const mpijob_node *field)
{
	const mpijob_node *old = mpijob_node_get(field, "old"),
			  *new = mpijob_node_get(field, "new");
	const char *old_text = mpijob_node_string(old), *new_text = mpijob_node_string(new);

	print_out("    %s: ", mpijob_node_string(mpijob_node_get(field, "field")));
	if (old_text && new_text && strchr(old_text, '\n') && strchr(new_text, '\n')) {
		puts("these lines");
		print_lines(old_text, new_text, '-');
		print_lines(new_text, old_text, '+');
		return 0;
	}
	int code = print_value(old);
	fputs(" -> ", stdout);
	if (code == 0)
		code = print_value(new);
	putchar('\n');
	return code;
}

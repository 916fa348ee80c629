/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits a tree by path: which entry a path names, and what is created for a path that does not
 * exist yet.
 */
#include "doc/edit.h"

#include "base/utf8.h"
#include "doc/index.h"

#include <string.h>

#define NEW_ITEM "-" /* in brackets: append to the list */

static struct mpijob__core_place place_of(const struct mpijob__doc_edit *edit,
    const mpijob_node *node)
{
	struct mpijob__core_place place = { edit->source, 0, 0 };

	mpijob_node_place(node, &place.line, &place.column);
	return place;
}

static int refuse(const struct mpijob__doc_edit *edit, int code, const mpijob_node *node,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

static int refuse(const struct mpijob__doc_edit *edit, int code, const mpijob_node *node,
    const char *format, ...)
{
	struct mpijob__core_place place = place_of(edit, node);
	va_list args;
	int rc;

	va_start(args, format);
	rc = mpijob__core_diag_vaddf(edit->diag, MPIJOB_SEVERITY_ERROR, "bad-path", NULL,
	    edit->path, &place, format, args);
	va_end(args);
	return rc ? rc : code;
}

static int is_new_item(const struct mpijob__base_field_step *step)
{
	return step->bracket && step->len == 1 && *step->text == *NEW_ITEM;
}

/* Whether a step names an item of a list that does not exist yet. */
static int makes_item(const struct mpijob__base_field_step *step)
{
	struct mpijob__base_field_step key, value;

	return is_new_item(step) || mpijob__base_field_path_select(step, &key, &value);
}

static int nothing_to_remove(const struct mpijob__doc_edit *edit, const mpijob_node *node)
{
	struct mpijob__core_place place = place_of(edit, node);

	return mpijob__core_diag_addf(edit->diag, MPIJOB_SEVERITY_WARNING, "nothing-removed", NULL,
	    edit->path, &place, "there is nothing to remove");
}

/* ---- find ---- */

/* Find the entry of a step; *at is MPIJOB__DOC_INDEX_NONE when absent. */
static int find(const struct mpijob__doc_edit *edit, const mpijob_node *node,
    const struct mpijob__base_field_step *step, uint32_t *at)
{
	uint32_t second = MPIJOB__DOC_INDEX_NONE;

	*at = MPIJOB__DOC_INDEX_NONE;
	if (node->kind == MPIJOB_NODE_MAP) {
		*at = mpijob__doc_map_find(node, step->text, step->len);
		return 0;
	}
	if (node->kind != MPIJOB_NODE_LIST)
		return edit->value
			   ? refuse(edit, MPIJOB_ERR_NOT_FOUND, node,
				 "'%.*s' has no place here: the value is not a %s", (int)step->len,
				 step->text, makes_item(step) ? "list" : "map")
			   : 0;
	*at = mpijob__doc_list_find(node, step, &second);
	if (second != MPIJOB__DOC_INDEX_NONE)
		return refuse(edit, MPIJOB_ERR_NOT_FOUND, node->in.items[second],
		    "[%.*s] selects items %lu and %lu; give the number of one of them",
		    (int)step->len, step->text, (unsigned long)*at, (unsigned long)second);
	if (*at != MPIJOB__DOC_INDEX_NONE || makes_item(step) || !edit->value)
		return 0;
	return refuse(edit, MPIJOB_ERR_NOT_FOUND, node,
	    "'%.*s' is not one of the %lu items of the list; write [0], [name=...], or [-] for a "
	    "new one",
	    (int)step->len, step->text, (unsigned long)node->count);
}

/* ---- create ---- */

static int is_whole(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return 0;
	return len == 1 || (len > 1 && *text != '0');
}

static void put_selected(mpijob_doc *doc, mpijob_node *item,
    const struct mpijob__base_field_step *step)
{
	struct mpijob__base_field_step key, value;
	mpijob_node *node;
	const char *name;

	if (!item || !mpijob__base_field_path_select(step, &key, &value))
		return;
	name = mpijob__base_arena_copy(doc->arena, key.text, key.len);
	node = is_whole(value.text, value.len)
		   ? mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, value.text, value.len)
		   : mpijob_node_new_text(doc, MPIJOB_NODE_STRING, value.text, value.len);
	if (!name)
		doc->error = MPIJOB_ERR_NOMEM;
	else
		mpijob_node_put(doc, item, name, node);
}

/* The value of a step that does not exist: the value of the edit at the end of the path, else a
 * list or map for the next step. */
static mpijob_node *new_value(const struct mpijob__doc_edit *edit, mpijob_doc *doc,
    const char *rest)
{
	struct mpijob__base_field_step next;

	if (mpijob__base_field_path_next(&rest, &next) == 0)
		return mpijob_node_copy(doc, edit->value);
	return makes_item(&next) ? mpijob_node_new(doc, MPIJOB_NODE_LIST)
				 : mpijob_node_new(doc, MPIJOB_NODE_MAP);
}

/* Add an entry for a step. Returns its value; NULL after an error of the document. */
static mpijob_node *add_entry(const struct mpijob__doc_edit *edit, mpijob_doc *doc,
    mpijob_node *node, const struct mpijob__base_field_step *step, const char *rest)
{
	mpijob_node *value = new_value(edit, doc, rest);
	const char *key;

	if (mpijob_node_kind(node) == MPIJOB_NODE_LIST) {
		if (*rest)
			put_selected(doc, value, step);
		return mpijob_node_append(doc, node, value);
	}
	key = mpijob__base_arena_copy(doc->arena, step->text, step->len);
	if (!key)
		doc->error = MPIJOB_ERR_NOMEM;
	return key ? mpijob_node_put(doc, node, key, value) : NULL;
}

/* Create the entries of all remaining steps. */
static int add_entries(const struct mpijob__doc_edit *edit, mpijob_doc *doc, mpijob_node *node,
    const char *rest)
{
	struct mpijob__base_field_step step;
	size_t index;

	while (node && mpijob__base_field_path_next(&rest, &step) > 0) {
		if (step.bracket && mpijob__base_field_path_number(&step, &index))
			return refuse(edit, MPIJOB_ERR_NOT_FOUND, NULL,
			    "there is no list with item [%.*s]; write [-] for a new item",
			    (int)step.len, step.text);
		node = add_entry(edit, doc, node, &step, rest);
	}
	if (mpijob_doc_error(doc) == MPIJOB_ERR_USAGE)
		return refuse(edit, MPIJOB_ERR_USAGE, NULL,
		    "a list in a list has no items that can be selected; write [-]");
	return mpijob_doc_error(doc);
}

/* ---- change ---- */

static int push(struct mpijob__doc_edit *edit, uint32_t at)
{
	return mpijob__doc_stack_push(&edit->steps, &at) ? 0 : MPIJOB_ERR_NOMEM;
}

static int add(struct mpijob__doc_edit *edit, mpijob_doc *doc, mpijob_node *node,
    const struct mpijob__base_field_step *step, const char *rest)
{
	mpijob_node *value;
	int rc;

	if (!edit->value)
		return nothing_to_remove(edit, node);
	edit->change = MPIJOB__DOC_CHANGE_ADDED;
	rc = push(edit, node->count);
	if (rc)
		return rc;
	value = add_entry(edit, doc, node, step, rest);
	return add_entries(edit, doc, value, rest);
}

/* Replace an entry, which keeps its place. */
static int replace(struct mpijob__doc_edit *edit, mpijob_doc *doc, mpijob_node *node, uint32_t at,
    const char *rest)
{
	mpijob_node *old = mpijob__doc_node_child(node, at);
	mpijob_node *value;

	if (*rest == 0 && mpijob_node_equal(old, edit->value))
		return 0;
	edit->change = MPIJOB__DOC_CHANGE_REPLACED;
	value = new_value(edit, doc, rest);
	if (!value)
		return mpijob_doc_error(doc);
	value->line = old->line;
	value->column = old->column;
	mpijob__doc_node_adopt(NULL, old);
	if (node->kind == MPIJOB_NODE_MAP)
		node->in.entries[at].value = value;
	else
		node->in.items[at] = value;
	mpijob__doc_node_adopt(node, value);
	return add_entries(edit, doc, value, rest);
}

static int is_path(const char *path)
{
	struct mpijob__base_field_step step;
	int rc;

	if (!*path || !mpijob__base_utf8_valid(path, strlen(path), NULL))
		return 0;
	do
		rc = mpijob__base_field_path_next(&path, &step);
	while (rc > 0);
	return rc == 0;
}

int mpijob__doc_edit(struct mpijob__doc_edit *edit, mpijob_doc *doc, mpijob_node *start)
{
	const char *rest = edit->path;
	struct mpijob__base_field_step step;
	mpijob_node *node = start;
	uint32_t at;
	int rc;

	edit->change = MPIJOB__DOC_CHANGE_NONE;
	if (!is_path(rest))
		return refuse(edit, MPIJOB_ERR_USAGE, NULL,
		    "not a path; write it like spec.slotsPerWorker or args[0]");
	for (;;) {
		(void)mpijob__base_field_path_next(&rest, &step);
		rc = find(edit, node, &step, &at);
		if (rc)
			return rc;
		if (at == MPIJOB__DOC_INDEX_NONE)
			return add(edit, doc, node, &step, rest);
		rc = push(edit, at);
		if (rc)
			return rc;
		if (*rest == 0 && !edit->value) {
			edit->change = MPIJOB__DOC_CHANGE_REMOVED;
			(void)mpijob_node_remove_at(node, at);
			return 0;
		}
		if (*rest == 0 || mpijob__doc_node_child(node, at)->kind == MPIJOB_NODE_NULL)
			return edit->value ? replace(edit, doc, node, at, rest)
					   : nothing_to_remove(edit, node);
		node = mpijob__doc_node_child(node, at);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How rows and a document are walked together: which path a value has in findings, and which place
 * stands for something that is absent (that of the key whose object lacks it).
 */
#include "job/walk.h"

#include <string.h>

#include "base/field_path.h"
#include "job/value.h"

/* Rows name a list's entries "[]"; findings say which one. */
static const char *row_path(struct mpijob__walk *walk, const char *path)
{
	const char *hole = strstr(path, "[]");

	if (!hole)
		return path;
	mpijob__field_path_cut(&walk->path, 0);
	if (mpijob_text_write(&walk->path, path, (size_t)(hole - path)) ||
	    mpijob__field_path_index(&walk->path, walk->index) || mpijob__text_puts(&walk->path, hole + 2)) {
		walk->report->code = MPIJOB_ERR_NOMEM;
		return path;
	}
	return mpijob_text_data(&walk->path);
}

/* The value of a key, and the key's place if it has one (what was filled in has none). */
static const mpijob_node *child(const mpijob_node *map, const char *key, struct mpijob__place *place)
{
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		if (strcmp(mpijob_node_key(map, i), key) == 0) {
			int32_t line, column;

			mpijob_node_key_place(map, i, &line, &column);
			if (line) {
				place->line = line;
				place->column = column;
			}
			return mpijob_node_at(map, i);
		}
	}
	return NULL;
}

static void walk_map(struct mpijob__walk *walk, int id, const mpijob_node *map, struct mpijob__place around);

static void walk_list(struct mpijob__walk *walk, int id, const mpijob_node *list, struct mpijob__place around)
{
	const struct mpijob__row *row = mpijob__field_row(id);

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *entry = mpijob_node_at(list, i);
		struct mpijob__place place = mpijob__report_place(walk->report, entry, &around);

		walk->index = i;
		if (mpijob_node_kind(entry) == MPIJOB_NODE_MAP) {
			walk_map(walk, id, entry, place);
		} else if (mpijob_node_kind(entry) != MPIJOB_NODE_NULL) {
			struct mpijob__row object = *row;
			struct mpijob_text path = { 0 };

			object.field.kind = MPIJOB_KIND_OBJECT;
			if (mpijob__text_puts(&path, row->field.path) || mpijob__field_path_index(&path, i))
				walk->report->code = MPIJOB_ERR_NOMEM;
			walk->spot = (struct mpijob__spot){ mpijob_text_data(&path), place };
			walk->field(walk, &object, entry);
			mpijob__text_release(&path);
		}
	}
}

static const char *unknown_path(struct mpijob__walk *walk, int id, const char *key)
{
	const struct mpijob__row *row = mpijob__field_row(id);
	int failed = 0;

	mpijob__field_path_cut(&walk->path, 0);
	if (id != FIELD_ROOT)
		failed |= mpijob__text_puts(&walk->path, row->field.path);
	if (row->field.kind == MPIJOB_KIND_LIST)
		failed |= mpijob__field_path_index(&walk->path, walk->index);
	if (row->flags & FIELD_BY_ROLE)
		failed |= mpijob__field_path_entry(&walk->path, key);
	else
		failed |= mpijob__field_path_key(&walk->path, key);
	if (failed)
		walk->report->code = MPIJOB_ERR_NOMEM;
	return mpijob_text_data(&walk->path);
}

static void walk_unknown(struct mpijob__walk *walk, int id, const mpijob_node *map)
{
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const char *key = mpijob_node_key(map, i);
		int known = 0;

		for (int row = 1; row < FIELD_END && !known; row++) {
			known = mpijob__field_row(row)->parent == id && strcmp(mpijob__field_row(row)->key, key) == 0;
		}
		if (known)
			continue;
		walk->spot.place.source = walk->report->source;
		mpijob_node_key_place(map, i, &walk->spot.place.line, &walk->spot.place.column);
		walk->spot.path = unknown_path(walk, id, key);
		walk->unknown(walk, id, key);
	}
}

/* What the operator always has is walked also where the document lacks it. */
static int is_object(const struct mpijob__row *row, const mpijob_node *node)
{
	int32_t kind = mpijob_node_kind(node);

	return kind == MPIJOB_NODE_MAP || (kind <= MPIJOB_NODE_NULL && (row->flags & FIELD_MADE));
}

static void walk_map(struct mpijob__walk *walk, int id, const mpijob_node *map, struct mpijob__place around)
{
	for (int i = 1; i < FIELD_END; i++) {
		const struct mpijob__row *row = mpijob__field_row(i);
		struct mpijob__place key_place = around;
		const mpijob_node *node;

		if (row->parent != id)
			continue;
		node = child(map, row->key, &key_place);
		walk->spot.path = row_path(walk, row->field.path);
		walk->spot.place = mpijob__report_place(walk->report, node, &key_place);
		walk->field(walk, row, node);
		if (row->field.kind == MPIJOB_KIND_OBJECT && is_object(row, node))
			walk_map(walk, i, node, key_place.line ? key_place : walk->spot.place);
		else if (row->field.kind == MPIJOB_KIND_LIST)
			walk_list(walk, i, node, key_place);
	}
	if (walk->unknown && !(mpijob__field_row(id)->flags & FIELD_OPEN))
		walk_unknown(walk, id, map);
}

void mpijob__walk_object(struct mpijob__walk *walk, int id, const mpijob_node *node)
{
	struct mpijob__place around = { walk->report->source, 0, 0 };

	around = mpijob__report_place(walk->report, node, &around);
	if (is_object(mpijob__field_row(id), node))
		walk_map(walk, id, node, around);
	mpijob__text_release(&walk->path);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the field table and a document together. Knows the path of a value in findings, and the
 * place of an absent value: that of the key of its parent.
 */
#include "job/walk.h"

#include <string.h>

#include "base/field_path.h"
#include "job/value.h"

/* The path for findings: the index of a list entry replaces "[]" of the row's path, and an unknown
 * role replaces the role of the row. */
static const char *row_path(struct mpijob__job_walk *walk, const char *path)
{
	const char *open = strchr(path, '[');
	const char *close = open ? strchr(open, ']') : NULL;
	int is_list = close == open + 1;
	int failed;

	if (!close || (!is_list && !walk->role))
		return path;
	mpijob__base_field_path_cut(&walk->path, 0);
	failed = mpijob_text_write(&walk->path, path, (size_t)(open - path));
	if (is_list)
		failed |= mpijob__base_field_path_index(&walk->path, walk->index);
	else
		failed |= mpijob__base_field_path_entry(&walk->path, walk->role);
	failed |= mpijob__base_text_puts(&walk->path, close + 1);
	if (!failed)
		return mpijob_text_data(&walk->path);
	walk->report->code = MPIJOB_ERR_NOMEM;
	return path;
}

const struct mpijob__job_spot *mpijob__job_walk_spot(struct mpijob__job_walk *walk)
{
	if (!walk->spot.path)
		walk->spot.path = row_path(walk, walk->row_path);
	return &walk->spot;
}

/* The value of a key. Sets `place` to that of the key, if it has one (a default has none). */
static const mpijob_node *child(const mpijob_node *map, const char *key,
    struct mpijob__core_place *place)
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

static void walk_map(struct mpijob__job_walk *walk, int id, const mpijob_node *map,
    struct mpijob__core_place around);
static void visit(struct mpijob__job_walk *walk, int id, const mpijob_node *node,
    struct mpijob__core_place around);

static void walk_list(struct mpijob__job_walk *walk, int id, const mpijob_node *list,
    struct mpijob__core_place around)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *entry = mpijob_node_at(list, i);
		struct mpijob__core_place place =
		    mpijob__job_report_place(walk->report, entry, &around);

		walk->index = i;
		if (mpijob_node_kind(entry) == MPIJOB_NODE_MAP) {
			walk_map(walk, id, entry, place);
		} else if (mpijob_node_kind(entry) != MPIJOB_NODE_NULL) {
			struct mpijob__job_row object = *row;
			struct mpijob_text path = { 0 };

			object.field.kind = MPIJOB_KIND_OBJECT;
			if (mpijob__base_text_puts(&path, row->field.path) ||
			    mpijob__base_field_path_index(&path, i))
				walk->report->code = MPIJOB_ERR_NOMEM;
			walk->spot = (struct mpijob__job_spot){ mpijob_text_data(&path), place };
			walk->field(walk, &object, entry);
			mpijob__base_text_release(&path);
		}
	}
}

static const char *unknown_path(struct mpijob__job_walk *walk, int id, const char *key)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	int failed = 0;

	mpijob__base_field_path_cut(&walk->path, 0);
	if (id != FIELD_ROOT)
		failed |= mpijob__base_text_puts(&walk->path, row->field.path);
	if (row->field.kind == MPIJOB_KIND_LIST)
		failed |= mpijob__base_field_path_index(&walk->path, walk->index);
	if (row->flags & FIELD_BY_ROLE)
		failed |= mpijob__base_field_path_entry(&walk->path, key);
	else
		failed |= mpijob__base_field_path_key(&walk->path, key);
	if (failed)
		walk->report->code = MPIJOB_ERR_NOMEM;
	return mpijob_text_data(&walk->path);
}

/* The row of a key, or 0. */
static int row_of_key(int id, const char *key)
{
	for (int row = 1; row < FIELD_END; row++) {
		if (mpijob__job_field_row(row)->parent == id &&
		    strcmp(mpijob__job_field_row(row)->key, key) == 0)
			return row;
	}
	return 0;
}

static int first_child(int id)
{
	int row = 1;

	while (mpijob__job_field_row(row)->parent != id)
		row++;
	return row;
}

/* An unknown role must have the types of a known one. */
static void walk_other_roles(struct mpijob__job_walk *walk, int id, const mpijob_node *map,
    struct mpijob__core_place around)
{
	int like = first_child(id);

	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const mpijob_node *node = mpijob_node_at(map, i);

		if (row_of_key(id, mpijob_node_key(map, i)))
			continue;
		walk->role = mpijob_node_key(map, i);
		visit(walk, like, node, around);
		walk->role = NULL;
	}
}

static void walk_unknown(struct mpijob__job_walk *walk, int id, const mpijob_node *map)
{
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const char *key = mpijob_node_key(map, i);

		if (row_of_key(id, key))
			continue;
		walk->spot.place.source = walk->report->source;
		mpijob_node_key_place(map, i, &walk->spot.place.line, &walk->spot.place.column);
		walk->spot.path = unknown_path(walk, id, key);
		walk->unknown(walk, id, key);
	}
}

/* An object that always exists for the operator is walked also if it is absent. */
static int is_object(const struct mpijob__job_row *row, const mpijob_node *node)
{
	int32_t kind = mpijob_node_kind(node);

	return kind == MPIJOB_NODE_MAP || (kind <= MPIJOB_NODE_NULL && (row->flags & FIELD_ALWAYS));
}

static void visit(struct mpijob__job_walk *walk, int id, const mpijob_node *node,
    struct mpijob__core_place around)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);

	walk->row_path = row->field.path;
	walk->spot.path = NULL;
	walk->spot.place = mpijob__job_report_place(walk->report, node, &around);
	walk->field(walk, row, node);
	if (row->field.kind == MPIJOB_KIND_OBJECT && is_object(row, node))
		walk_map(walk, id, node, around.line ? around : walk->spot.place);
	else if (row->field.kind == MPIJOB_KIND_LIST)
		walk_list(walk, id, node, around);
}

static void walk_map(struct mpijob__job_walk *walk, int id, const mpijob_node *map,
    struct mpijob__core_place around)
{
	unsigned int flags = mpijob__job_field_row(id)->flags;

	for (int i = 1; i < FIELD_END; i++) {
		struct mpijob__core_place place = around;
		const mpijob_node *node;

		if (mpijob__job_field_row(i)->parent != id)
			continue;
		node = child(map, mpijob__job_field_row(i)->key, &place);
		visit(walk, i, node, place);
	}
	if ((flags & FIELD_BY_ROLE) && walk->other_roles)
		walk_other_roles(walk, id, map, around);
	if (walk->unknown)
		walk_unknown(walk, id, map);
}

void mpijob__job_walk_object(struct mpijob__job_walk *walk, int id, const mpijob_node *node)
{
	struct mpijob__core_place around = { walk->report->source, 0, 0 };

	around = mpijob__job_report_place(walk->report, node, &around);
	if (is_object(mpijob__job_field_row(id), node))
		walk_map(walk, id, node, around);
	mpijob__base_text_release(&walk->path);
}

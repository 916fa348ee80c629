/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies a table of moves: one row after the other, each to the current value of its field; and
 * reports unknown fields. Null counts as absent, as in the API servers of both versions.
 */
#include "convert/conversion.h"

#include <string.h>

#include "base/field_path.h"

/* The length of the path of a field's parent; 0 without a parent. */
static size_t parent_length(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? (size_t)(dot - path) : 0;
}

static void remove_field(struct mpijob__convert_conversion *conversion, const char *field)
{
	struct mpijob_text parent = { 0 };

	if (mpijob_text_write(&parent, field, parent_length(field)))
		conversion->code = MPIJOB_ERR_NOMEM;
	else
		mpijob_node_remove(mpijob_doc_edit(conversion->doc, mpijob_text_data(&parent)),
		    field + parent_length(field) + 1);
	mpijob__base_text_release(&parent);
}

static void rename_word(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move, const char *word)
{
	struct mpijob_text parent = { 0 };
	size_t len = parent_length(move->field);

	for (const struct mpijob__convert_word *row = move->words; row->from; row++) {
		if (strcmp(row->from, word) != 0)
			continue;
		if (mpijob_text_write(&parent, move->field, len))
			conversion->code = MPIJOB_ERR_NOMEM;
		else
			mpijob_node_put_string(conversion->doc,
			    mpijob_doc_edit(conversion->doc, mpijob_text_data(&parent)),
			    move->field + len + 1, row->to);
		mpijob__base_text_release(&parent);
		return;
	}
}

static int is_harmless(const struct mpijob__convert_move *move, const mpijob_node *value)
{
	const char *text = mpijob_node_text(value);
	int flag;

	if (mpijob_node_bool(value, &flag))
		text = flag ? "true" : "false";
	return move->harmless && text && strcmp(text, move->harmless) == 0;
}

static void apply_move(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);

	if (move->carry) {
		move->carry(conversion, move);
		return;
	}
	if (value && move->note && !is_harmless(move, value)) {
		if (move->loss)
			mpijob__convert_loss(conversion, move->field, value, "%s", move->note);
		else
			mpijob__convert_change(conversion, move->field, value, "%s", move->note);
	}
	if (move->what == MOVE_DROP)
		remove_field(conversion, move->field);
	else if (move->words && mpijob_node_string(value))
		rename_word(conversion, move, mpijob_node_string(value));
}

/* Whether a row has this path or one below it. */
static int is_known(const struct mpijob__convert_move *moves, const char *path)
{
	size_t len = strlen(path);

	for (const struct mpijob__convert_move *move = moves; move->field; move++) {
		const char *rest = move->field + len;

		if (strncmp(move->field, path, len) == 0 &&
		    (*rest == '\0' || *rest == '.' || *rest == '['))
			return 1;
	}
	return 0;
}

/* The maps all of whose keys are in the tables. */
static const struct {
	const char *path;
	int by_role;
} closed[] = { { "spec", 0 }, { "spec.runPolicy", 0 }, { "spec.runPolicy.schedulingPolicy", 0 },
	{ "spec.mpiReplicaSpecs", 1 }, { "spec.mpiReplicaSpecs[Launcher]", 0 },
	{ "spec.mpiReplicaSpecs[Worker]", 0 } };

static void report_unknown(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *moves, const char *map, int by_role)
{
	const mpijob_node *node = mpijob_doc_edit(conversion->doc, map);
	struct mpijob_text path = { 0 };
	int failed = mpijob__base_text_puts(&path, map);
	size_t mark = path.len;

	for (size_t i = 0;
	     !failed && mpijob_node_kind(node) == MPIJOB_NODE_MAP && i < mpijob_node_count(node);
	     i++) {
		const char *key = mpijob_node_key(node, i);

		failed = by_role ? mpijob__base_field_path_entry(&path, key)
				 : mpijob__base_field_path_key(&path, key);
		if (!failed && !is_known(moves, mpijob_text_data(&path)))
			mpijob__convert_change(conversion, mpijob_text_data(&path),
			    mpijob_node_at(node, i), "not a known field; it is copied unchanged");
		mpijob__base_field_path_cut(&path, mark);
	}
	if (failed)
		conversion->code = MPIJOB_ERR_NOMEM;
	mpijob__base_text_release(&path);
}

void mpijob__convert_moves_apply(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *moves)
{
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		report_unknown(conversion, moves, closed[i].path, closed[i].by_role);
	for (const struct mpijob__convert_move *move = moves; move->field; move++)
		apply_move(conversion, move);
}

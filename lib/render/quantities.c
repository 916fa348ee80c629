/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities as mpi-operator v0.8.2 sends them: it reads a job into Go's types and writes those, which spells each
 * quantity of a pod in its canonical form (5120Mi as 5Gi, 0.5 as 500m). The schema tells where quantities are.
 */
#include "render/build.h"

#include "base/quantity.h"
#include "schema/schema.h"

#include <string.h>

#define DEEPEST 64 /* levels; pods have fewer, and no value below a quantity has any */

static void spell(struct mpijob__build *b, mpijob_node *map, const char *key)
{
	const mpijob_node *given = mpijob_node_get(map, key);
	const char *text = mpijob_node_text(given);
	char canonical[MPIJOB__QUANTITY_TEXT];
	struct mpijob__quantity quantity;

	if (!text || !mpijob__quantity_parse(text, mpijob_node_length(given), &quantity))
		return;
	mpijob__quantity_print(&quantity, canonical);
	if (!mpijob_node_string(given) || strcmp(canonical, text) != 0)
		mpijob_node_put_string(b->doc, map, key, canonical);
}

static void spell_all(struct mpijob__build *b, mpijob_node *object, int type, int depth);

/* The value of a field: one, or the entries of a list or map. */
static void spell_field(struct mpijob__build *b, mpijob_node *object, const char *key,
			const struct mpijob__schema_field *field, int depth)
{
	mpijob_node *node = mpijob_node_edit(object, key);

	if (field->kind == SCHEMA_QUANTITY && field->shape == SCHEMA_ONE)
		spell(b, object, key);
	else if (field->kind == SCHEMA_QUANTITY && field->shape == SCHEMA_MAP)
		for (size_t i = 0; mpijob_node_key(node, i); i++)
			spell(b, node, mpijob_node_key(node, i));
	else if (field->kind == SCHEMA_OBJECT && field->shape == SCHEMA_ONE)
		spell_all(b, node, field->of, depth);
	else if (field->kind == SCHEMA_OBJECT)
		for (size_t i = 0; i < mpijob_node_count(node); i++)
			spell_all(b, mpijob_node_edit_at(node, i), field->of, depth);
}

static void spell_all(struct mpijob__build *b, mpijob_node *object, int type, int depth)
{
	for (size_t i = 0; depth < DEEPEST && mpijob_node_key(object, i); i++) {
		const char *key = mpijob_node_key(object, i);
		const struct mpijob__schema_field *field = mpijob__schema_find(type, key);

		if (field)
			spell_field(b, object, key, field, depth + 1);
	}
}

void mpijob__build_quantities(struct mpijob__build *b, mpijob_node *spec)
{
	if (b->subject->options.reference)
		spell_all(b, spec, SCHEMA_PodSpec, 0);
}

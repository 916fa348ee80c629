/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities in reference mode. mpi-operator v0.8.2 decodes a job into Go types and encodes these,
 * which converts each quantity of a pod to its canonical form (5120Mi to 5Gi, 0.5 to 500m). The
 * schema says where quantities are.
 */
#include "render/build.h"

#include "base/quantity.h"
#include "schema/schema.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64 /* levels; pods have fewer */

/*
 * Whether Go keeps the spelling of a quantity: apimachinery treats some numbers as canonical that
 * are not (007, 5., 1E3), depending on the digits without leading zeros and the suffix.
 */
static int is_kept(const char *text)
{
	static const char decimal[] = "num", above[] = "kMGTPE", binary[] = "KMGTPE";
	const char *at = text + (*text == '+' || *text == '-'), *num, *denom, *end, *unit;
	long exponent = 0, whole, part, last, bits;

	for (num = at; *num == '0'; num++)
		;
	whole = (long)strspn(num, "0123456789");
	denom = num[whole] == '.' ? num + whole + 1 : num + whole;
	part = num[whole] == '.' ? (long)strspn(denom, "0123456789") : 0;
	end = denom + part;
	if (whole == 0)
		return 0;
	if (end[0] && end[1] == 'i') {
		bits = 10 * (strchr(binary, end[0]) - binary + 1);
		last = strtol(num + (whole > 3 ? whole - 3 : 0), NULL, 10);
		return part == 0 && 15 - whole - bits * 3 / 10 - 1 >= 0 && (last & 7) != 0;
	}
	if ((*end == 'e' || *end == 'E') && end[1])
		exponent = strtol(end + 1, NULL, 10);
	else if (*end && (unit = strchr(decimal, *end)) != NULL)
		exponent = 3 * (unit - decimal) - 9;
	else if (*end && (unit = strchr(above, *end)) != NULL)
		exponent = 3 * (unit - above) + 3;
	if (whole + part > 18 || exponent - part < -9 || (exponent - part) % 3 != 0)
		return 0;
	/* The last three digits, across the decimal point. */
	for (last = 0; last < 3; last++) {
		long from_end = last < part ? part - 1 - last : -1;
		char c = from_end >= 0                    ? denom[from_end]
			 : whole - 1 - (last - part) >= 0 ? num[whole - 1 - (last - part)]
							  : '1';

		if (c != '0')
			return 1;
	}
	return 0;
}

static void canonicalize(struct mpijob__render_build *b, mpijob_node *map, const char *key)
{
	const mpijob_node *given = mpijob_node_get(map, key);
	const char *text = mpijob_node_text(given);
	char canonical[MPIJOB__BASE_QUANTITY_TEXT];
	struct mpijob__base_quantity quantity;

	if (!text || !mpijob__base_quantity_parse(text, mpijob_node_length(given), &quantity))
		return;
	if (is_kept(text) && mpijob_node_string(given))
		return;
	mpijob__base_quantity_print(&quantity, canonical);
	if (!mpijob_node_string(given) || strcmp(canonical, text) != 0)
		mpijob_node_put_string(b->doc, map, key, canonical);
}

static void canonicalize_object(struct mpijob__render_build *b, mpijob_node *object, int type,
    int depth);

/* Convert the value of a field: a single value, or the entries of a list or map. */
static void canonicalize_field(struct mpijob__render_build *b, mpijob_node *object, const char *key,
    const struct mpijob__schema_field *field, int depth)
{
	mpijob_node *node = mpijob_node_edit(object, key);

	if (field->kind == SCHEMA_QUANTITY && field->shape == SCHEMA_ONE)
		canonicalize(b, object, key);
	else if (field->kind == SCHEMA_QUANTITY && field->shape == SCHEMA_MAP)
		for (size_t i = 0; mpijob_node_key(node, i); i++)
			canonicalize(b, node, mpijob_node_key(node, i));
	else if (field->kind == SCHEMA_OBJECT && field->shape == SCHEMA_ONE)
		canonicalize_object(b, node, field->of, depth);
	else if (field->kind == SCHEMA_OBJECT)
		for (size_t i = 0; i < mpijob_node_count(node); i++)
			canonicalize_object(b, mpijob_node_edit_at(node, i), field->of, depth);
}

static void canonicalize_object(struct mpijob__render_build *b, mpijob_node *object, int type,
    int depth)
{
	for (size_t i = 0; depth < MAX_DEPTH && mpijob_node_key(object, i); i++) {
		const char *key = mpijob_node_key(object, i);
		const struct mpijob__schema_field *field = mpijob__schema_find(type, key);

		if (field)
			canonicalize_field(b, object, key, field, depth + 1);
	}
}

void mpijob__render_build_quantities(struct mpijob__render_build *b, mpijob_node *spec)
{
	if (b->subject->options.reference)
		canonicalize_object(b, spec, SCHEMA_PodSpec, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob_template_field_find() and mpijob_template_field_at(): fields of the schema of pod
 * templates as public structs. Knows the words for kinds of values, how a path is followed through
 * the schema, and that the template itself is a field without a name.
 */
#include <string.h>

#include "base/field_path.h"
#include "schema/schema.h"

#include <mpijob/fields.h>

static const char *const kinds[] = {
	[SCHEMA_STRING] = "string",
	[SCHEMA_BOOL] = "boolean",
	[SCHEMA_INT32] = "int32",
	[SCHEMA_INT64] = "int64",
	[SCHEMA_QUANTITY] = "quantity",
	[SCHEMA_INT_OR_STRING] = "int or string",
	[SCHEMA_TIME] = "time",
	[SCHEMA_ANY] = "any",
};

static const struct mpijob__schema_field pod_template = {
	.kind = SCHEMA_OBJECT,
	.of = SCHEMA_PodTemplateSpec,
	.flags = SCHEMA_IN_CRD | SCHEMA_IN_KUBERNETES,
};

/* NULL when there is no such field, or the path is invalid. */
static const struct mpijob__schema_field *find(const char *path)
{
	const struct mpijob__schema_field *field = &pod_template;
	struct mpijob__base_field_step step;
	int more;

	while (field && (more = mpijob__base_field_path_next(&path, &step)) != 0) {
		char name[64];

		if (more > 0 && step.bracket && field->shape != SCHEMA_ONE)
			continue;
		if (more < 0 || step.len >= sizeof(name) || field->kind != SCHEMA_OBJECT)
			return NULL;
		memcpy(name, step.text, step.len);
		name[step.len] = '\0';
		field = mpijob__schema_find(field->of, name);
	}
	return field;
}

static int fill_out(const struct mpijob__schema_field *field, struct mpijob_template_field *out)
{
	struct mpijob_template_field field_out = MPIJOB_TEMPLATE_FIELD_INIT;
	size_t size = out->size < sizeof(field_out) ? out->size : sizeof(field_out);

	field_out.name = mpijob__schema_text(field->name);
	field_out.is_object = field->kind == SCHEMA_OBJECT;
	field_out.type =
	    field_out.is_object ? mpijob__schema_type_name(field->of) : kinds[field->kind];
	field_out.shape = field->shape;
	field_out.required = (field->flags & (SCHEMA_CRD_REQUIRED | SCHEMA_KUBE_REQUIRED)) != 0;
	field_out.in_crd = (field->flags & SCHEMA_IN_CRD) != 0;
	field_out.in_kubernetes = (field->flags & SCHEMA_IN_KUBERNETES) != 0;
	field_out.default_text = field->fill ? mpijob__schema_text(field->fill) : NULL;
	field_out.choices = field->choices ? mpijob__schema_text(field->choices) : NULL;
	memcpy((char *)out + sizeof(size_t), (char *)&field_out + sizeof(size_t),
	    size - sizeof(size_t));
	return 1;
}

int mpijob_template_field_find(const char *path, struct mpijob_template_field *out)
{
	const struct mpijob__schema_field *field;

	if (!path || !out || out->size < sizeof(size_t))
		return MPIJOB_ERR_USAGE;
	field = find(path);
	return field ? fill_out(field, out) : 0;
}

int mpijob_template_field_at(const char *path, size_t index, struct mpijob_template_field *out)
{
	const struct mpijob__schema_field *field, *fields;
	size_t count = 0;

	if (!path || !out || out->size < sizeof(size_t))
		return MPIJOB_ERR_USAGE;
	field = find(path);
	if (!field || field->kind != SCHEMA_OBJECT)
		return 0;
	fields = mpijob__schema_fields(field->of, &count);
	return index < count ? fill_out(&fields[index], out) : 0;
}

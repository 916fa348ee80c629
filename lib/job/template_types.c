/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which checks a type of the schema has. They are collected once for a validation, when the first
 * object of the type is checked, because a template may contain tens of thousands of them.
 */
#include "job/template_types.h"

#include <stdlib.h>
#include <string.h>

struct mpijob__job_template_types {
	uint8_t collected[SCHEMA_NONE];
	struct mpijob__job_template_type
	    of[SCHEMA_NONE]; /* 160 kB: only initialized if collected */
};

struct mpijob__job_template_types *mpijob__job_template_types_new(void)
{
	struct mpijob__job_template_types *types = malloc(sizeof(*types));

	if (types)
		memset(types->collected, 0, sizeof(types->collected));
	return types;
}

static const struct mpijob__job_template_row *row_of(const struct mpijob__job_template_type *type,
    const char *key)
{
	for (size_t i = 0; i < type->rows_count; i++) {
		const struct mpijob__job_template_row *row = &type->rows[i];

		if (row->key && row->key[0] == key[0] && !(row->flags & ROW_ONE_OF) &&
		    strcmp(row->key, key) == 0)
			return row;
	}
	return NULL;
}

static void collect(struct mpijob__job_template_type *type, int id)
{
	size_t count;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(id, &count);

	type->rows = mpijob__job_template_rows(id, &type->rows_count);
	type->checks_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct mpijob__job_template_row *row =
		    row_of(type, mpijob__schema_text(fields[i].name));

		if (!(fields[i].flags & SCHEMA_IN_CRD) || !(row || fields[i].choices))
			continue;
		type->checks[type->checks_count].field = &fields[i];
		type->checks[type->checks_count].when = row && (row->flags & ROW_REQUIRED)
							    ? MPIJOB__JOB_TEMPLATE_ALWAYS
							    : UINT64_C(1) << i;
		type->checks[type->checks_count++].row = row;
	}
}

const struct mpijob__job_template_type *
mpijob__job_template_types_get(struct mpijob__job_template_types *types, int type)
{
	if (!types->collected[type])
		collect(&types->of[type], type);
	types->collected[type] = 1;
	return &types->of[type];
}

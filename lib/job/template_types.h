/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of each type of the schema. */
#ifndef MPIJOB__JOB_TEMPLATE_TYPES_H
#define MPIJOB__JOB_TEMPLATE_TYPES_H

#include "job/template_walk.h"
#include "schema/schema.h"

#define MPIJOB__JOB_TEMPLATE_FIELDS 63 /* No type has more. */
#define MPIJOB__JOB_TEMPLATE_ALWAYS (UINT64_C(1) << MPIJOB__JOB_TEMPLATE_FIELDS)

/* The checks of a type. */
struct mpijob__job_template_type {
	const struct mpijob__job_template_row *rows;
	size_t rows_count, checks_count;
	struct {
		const struct mpijob__schema_field *field;
		/* NULL: only the schema's choices are checked */
		const struct mpijob__job_template_row *row;
		/* Bit of the field; MPIJOB__JOB_TEMPLATE_ALWAYS if an absent field is checked. */
		uint64_t when;
	} checks[MPIJOB__JOB_TEMPLATE_FIELDS];
};

/* Create an empty table; free() it. NULL when memory ran out. */
struct mpijob__job_template_types *mpijob__job_template_types_new(void);

/* Get the checks of a type, SCHEMA_*. */
const struct mpijob__job_template_type *
mpijob__job_template_types_get(struct mpijob__job_template_types *types, int type);

#endif

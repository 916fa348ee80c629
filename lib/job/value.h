/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a document, read by its row. */
#ifndef MPIJOB__JOB_VALUE_H
#define MPIJOB__JOB_VALUE_H

#include "job/field.h"
#include "job/report.h"

struct mpijob__job_value {
	/* INT32, INT64, BOOL; CHOICE: its constant, or MPIJOB_OTHER; TIME: seconds. */
	int64_t number;
	const char *text; /* STRING, CHOICE: as it stands. */
};

#define VALUE_ABSENT 0
#define VALUE_GIVEN  1
#define VALUE_WRONG  (-1)

/* VALUE_*; absent are also null, and "" where the row says so. Objects, lists and documents: only
 * their kind is looked at. */
int mpijob__job_value_read(const struct mpijob__job_row *row, const mpijob_node *node,
    struct mpijob__job_value *out);

/* Say that a value has the wrong type. */
void mpijob__job_value_complain(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const struct mpijob__job_row *row,
    const mpijob_node *node);

/* The same, of a value that no row describes; `wanted` stands behind "must be". */
void mpijob__job_value_complain_of(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *wanted, const mpijob_node *node);

#define MPIJOB__JOB_VALUE_QUANTITY "a quantity such as 3, \"500m\" or \"2Gi\""

/* A quantity as the report's judge reads it. */
int mpijob__job_value_is_quantity(const struct mpijob__job_report *report, const mpijob_node *node);

/* Check what is inside a document that has a shape. Returns how many entries are wrong. */
size_t mpijob__job_value_check_entries(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const struct mpijob__job_row *row,
    const mpijob_node *node);

/* Check the types of everything in the object of a row, below it too, all at once. */
void mpijob__job_value_check_types(struct mpijob__job_report *report, int id,
    const mpijob_node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values of a document according to their rows in the field table. */
#ifndef MPIJOB__JOB_VALUE_H
#define MPIJOB__JOB_VALUE_H

#include "job/field.h"
#include "job/report.h"

struct mpijob__job_value {
	/* INT32, INT64, BOOL; CHOICE: its constant, or MPIJOB_OTHER; TIME: seconds. */
	int64_t number;
	const char *text; /* STRING, CHOICE: the text of the document. */
};

#define VALUE_ABSENT 0
#define VALUE_GIVEN  1
#define VALUE_WRONG  (-1)

/* Returns VALUE_*. Null is absent, and "" if the row says so. For objects, lists and documents,
 * only the kind is checked. */
int mpijob__job_value_read(const struct mpijob__job_row *row, const mpijob_node *node,
    struct mpijob__job_value *out);

/* Report that a value has the wrong type. */
void mpijob__job_value_complain(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const struct mpijob__job_row *row,
    const mpijob_node *node);

/* The same for a value without a row; the message is "must be EXPECTED". */
void mpijob__job_value_complain_of(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *wanted, const mpijob_node *node);

#define MPIJOB__JOB_VALUE_QUANTITY "a quantity such as 3, \"500m\" or \"2Gi\""

/* Whether a value is a quantity, according to the report's mode. */
int mpijob__job_value_is_quantity(const struct mpijob__job_report *report, const mpijob_node *node);

/* Check the entries of a document according to its shape. Returns the number of wrong entries. */
size_t mpijob__job_value_check_entries(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const struct mpijob__job_row *row,
    const mpijob_node *node);

/* Check the types of all values in the object of a row, at every level. */
void mpijob__job_value_check_types(struct mpijob__job_report *report, int id,
    const mpijob_node *node);

#endif

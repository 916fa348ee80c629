/* SPDX-License-Identifier: Apache-2.0 */
/* Visits every row of the field table in a document, and every unknown key. */
#ifndef MPIJOB__JOB_WALK_H
#define MPIJOB__JOB_WALK_H

#include "base/text.h"
#include "job/field.h"
#include "job/report.h"

struct mpijob__job_walk {
	struct mpijob__job_report *report;
	/* Called for each row, in the order of the table, also if the document has no value (node
	 * NULL). */
	void (*field)(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
	    const mpijob_node *node);
	/* Called for each unknown key of the object `id`; may be NULL. */
	void (*unknown)(struct mpijob__job_walk *walk, int id, const char *key);
	/* 1: visit unknown roles too, with the rows of a known role. */
	int other_roles;
	struct mpijob__job_spot spot; /* Private; use mpijob__job_walk_spot(). */
	/* Private: the row's path, from which the path of the spot is made. */
	const char *row_path;
	struct mpijob_text path; /* Private: buffer for a path inside a list. */
	const char *role;        /* Private: the unknown role. */
	size_t index;            /* Private: the index in the list. */
};

/*
 * Visit the rows below row `id`, whose object is `node`. Rows inside an object that is not a map,
 * or absent and not FIELD_ALWAYS, are not visited.
 */
void mpijob__job_walk_object(struct mpijob__job_walk *walk, int id, const mpijob_node *node);

/* The path and place of the current row or key; borrowed until the next call of `field` or
 * `unknown`. */
const struct mpijob__job_spot *mpijob__job_walk_spot(struct mpijob__job_walk *walk);

#endif

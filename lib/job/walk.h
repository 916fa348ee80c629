/* SPDX-License-Identifier: Apache-2.0 */
/* Visit every row of a document, and every key that is no row. */
#ifndef MPIJOB__JOB_WALK_H
#define MPIJOB__JOB_WALK_H

#include "base/text.h"
#include "job/field.h"
#include "job/report.h"

struct mpijob__job_walk {
	struct mpijob__job_report *report;
	/* Called for each row, in the order of the table, also where the document has no value
	 * (node NULL). */
	void (*field)(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
	    const mpijob_node *node);
	/* Called for each key that is no row of the object `id`; NULL: nobody asks. */
	void (*unknown)(struct mpijob__job_walk *walk, int id, const char *key);
	/* Visit roles that have no row too, by the rows of one that has. */
	int other_roles;
	struct mpijob__job_spot spot; /* Private: see mpijob__job_walk_spot(). */
	const char *row_path;         /* Private: the path that the spot's is made from. */
	struct mpijob_text path;      /* Private: a path inside a list. */
	const char *role;             /* Private: the role that has no row. */
	size_t index;                 /* Private: the entry of the list. */
};

/*
 * Visit the object of row `id`, and what is below. Rows of an object that is absent (and not
 * FIELD_MADE) or no map are not visited. The walk begins at `node`, which is not visited itself.
 */
void mpijob__job_walk_object(struct mpijob__job_walk *walk, int id, const mpijob_node *node);

/* The path and place of the row or key that is visited; borrowed until the next one is. */
const struct mpijob__job_spot *mpijob__job_walk_spot(struct mpijob__job_walk *walk);

#endif

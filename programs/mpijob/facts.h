/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job's children look like, from documents.
 */
#ifndef MPIJOB_PROGRAM_FACTS_H
#define MPIJOB_PROGRAM_FACTS_H

#include <mpijob/mpijob.h>

#define PLACEHOLDER_UID "00000000-0000-0000-0000-000000000000"

/* What was read of a cluster. */
struct facts {
	mpijob_facts *all;
	mpijob_observation *observation;
	const char *name;       /* of the job */
	const char *namespace_; /* of the job; objects of others are left out */
	char *uid;              /* of the job, where an owner reference tells it; NULL */
	struct mpijob_priority_class *classes;
	const struct mpijob_priority_class **class_pointers;
	size_t classes_count;
	size_t taken; /* objects that belong to the job */
};

/* Begin with nothing. 0 or a code; free the facts in either case. */
int facts_begin(struct facts *facts, const char *name, const char *namespace_);
void facts_free(struct facts *facts);

/* Take an object, or the items of a list of them; what does not belong to the job is left out. 0 or
 * a code. */
int facts_take(struct facts *facts, const mpijob_node *object, mpijob_diag *diag);

#endif

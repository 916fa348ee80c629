/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observed children of a job, read from documents.
 */
#ifndef MPIJOB_PROGRAM_FACTS_H
#define MPIJOB_PROGRAM_FACTS_H

#include <mpijob/mpijob.h>

#define PLACEHOLDER_UID "00000000-0000-0000-0000-000000000000"

/* What is known of a cluster. */
struct facts {
	mpijob_facts *all;
	mpijob_observation *observation;
	const char *name;       /* of the job */
	const char *namespace_; /* of the job; objects of other namespaces are skipped */
	char *uid;              /* of the job, from an owner reference; or NULL */
	struct mpijob_priority_class *classes;
	const struct mpijob_priority_class **class_pointers;
	size_t classes_count;
	size_t taken; /* objects that belong to the job */
};

/* Initialise. 0 or a code; call facts_free() in either case. */
int facts_begin(struct facts *facts, const char *name, const char *namespace_);
void facts_free(struct facts *facts);

/* Add an object, or the items of a list; objects that do not belong to the job are skipped. 0 or a
 * code. */
int facts_take(struct facts *facts, const mpijob_node *object, mpijob_diag *diag);

#endif

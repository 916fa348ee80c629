/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of the files that are no MPIJobs: what jobs need before they start.
 */
#ifndef MPIJOB_PROGRAM_NEEDED_H
#define MPIJOB_PROGRAM_NEEDED_H

#include "connect.h"
#include "input.h"

/* How a document is sent. */
struct sending {
	const struct arguments *arguments;
	const char *query[6]; /* for a create or an apply */
	size_t query_count;
	size_t printed;
	int quiet; /* print no lines about what was sent */
};

/* Make the query of --validate, --dry-run and --field-manager. */
void sending_begin(struct sending *sending, const struct arguments *arguments);

/* "Strict", "Warn" or "Ignore". */
const char *sending_validation(const struct arguments *arguments);

/* Where an object stands in the order of sending; MPIJobs come last. */
int needed_rank(const struct input_object *object);

/* Whether an object of that kind has a namespace. */
int needed_has_namespace(const struct input_object *object);

/*
 * Create or apply an object, and print the line about it. One that is there already as the file has
 * it is left as it is. 0 or a code, with findings in the connection's diag.
 */
int needed_send(struct connection *connection, struct sending *sending,
    const struct input_object *object);

#endif

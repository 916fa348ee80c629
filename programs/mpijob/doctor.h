/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of mpijob doctor share: reading an object, and reporting a result.
 */
#ifndef MPIJOB_PROGRAM_DOCTOR_H
#define MPIJOB_PROGRAM_DOCTOR_H

#include "connect.h"

/* What to do if the server does not answer as expected. */
#define SERVER_HEALTH "kubectl get --raw '/readyz?verbose'"

enum result { RESULT_OK, RESULT_WARN, RESULT_FAIL };

struct doctor {
	const struct arguments *arguments;
	struct connection *connection;
	mpijob_doc *report; /* with -o json: a list of maps */
	int failed;
	int code; /* the failure that ends the checks */
	/* the user, as an option of kubectl create rolebinding; NULL: not read yet */
	char *subject;
};

/* An object or a collection to read. */
struct probe {
	const char *api_version, *kind;
	const char *resource; /* as rights name it: "leases.coordination.k8s.io" */
	const char *check;    /* identifier of the check, one word */
	const char *what;     /* its name in messages */
	const char *selector; /* field selector of a collection; NULL: all */
};

/* An answer that is not an object. */
struct raw {
	mpijob_doc *doc;
	char *message; /* why there is no document; may be NULL */
	int over, code;
};

/* doctor.c */
/* Report the result of a check. `mend`: commands that fix it, one per line, or NULL. */
void say(struct doctor *doctor, enum result result, const char *check, const char *mend,
    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Read an object, or a collection if `name` is NULL. 1: it exists; 0: it does not; -1: it could not
 * be read, which is reported unless the command ends. */
int read_object(struct doctor *doctor, const struct probe *probe, const char *namespace_,
    const char *name, mpijob_doc **out);
/* Get a path that is not an object. 0 or a code; free_raw() in either case. */
int get_raw(struct doctor *doctor, const char *path, struct raw *raw);
void free_raw(struct raw *raw);

/* doctor_rights.c */
void check_rights(struct doctor *doctor);
void check_operator_rights(struct doctor *doctor);
/* The commands that grant the user the right to read it; free(). NULL when memory ran out. */
char *grant_commands(struct doctor *doctor, const struct probe *probe,
    const struct mpijob_target *target);
/* The user, as an option of kubectl create rolebinding. */
const char *subject_option(struct doctor *doctor);

/* doctor_extras.c */
/* Whether the server serves a path, which belongs to `name`. 1 or 0; -1: unknown, which is reported
 * unless the command ends; free_raw(). */
int serves(struct doctor *doctor, const char *path, const char *check, const char *name,
    struct raw *raw);
void check_queues(struct doctor *doctor);
void check_gangs(struct doctor *doctor);
void check_domain(struct doctor *doctor);

#endif

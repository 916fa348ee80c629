/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of mpijob doctor share: how something is looked at, and how it is told.
 */
#ifndef MPIJOB_PROGRAM_DOCTOR_H
#define MPIJOB_PROGRAM_DOCTOR_H

#include "connect.h"

/* What to do about a server that does not answer as it should. */
#define NOT_WELL "kubectl get --raw '/readyz?verbose'"

enum result { RESULT_OK, RESULT_WARN, RESULT_FAIL };

struct doctor {
	const struct arguments *arguments;
	struct connection *connection;
	mpijob_doc *report; /* with -o json: a list of maps */
	int failed;
	int code; /* why it cannot go on */
	/* who we are, as an option of kubectl create rolebinding; NULL: not asked yet */
	char *subject;
};

/* Something to look at. */
struct place {
	const char *api_version, *kind;
	const char *resource; /* as rights name it: "leases.coordination.k8s.io" */
	const char *check;    /* what it is looked at for, one word */
	const char *what;     /* for people */
	const char *selector; /* of fields, for a collection; NULL: all */
};

/* An answer that is no object. */
struct raw {
	mpijob_doc *doc;
	char *message; /* why there is none; may be NULL */
	int over, code;
};

/* doctor.c */
/* One line about one thing; `mend` is a command, or several in lines, or NULL. */
void say(struct doctor *doctor, enum result result, const char *check, const char *mend,
    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Get an object, or without a name a collection. 1: there; 0: not there; -1: not seen, which is
 * said unless all ends. */
int look_at(struct doctor *doctor, const struct place *place, const char *namespace_,
    const char *name, mpijob_doc **out);
/* Get a path that is no object. 0 or a code; free_raw() in either case. */
int get_raw(struct doctor *doctor, const char *path, struct raw *raw);
void free_raw(struct raw *raw);

/* doctor_rights.c */
void check_rights(struct doctor *doctor);
void check_operator_rights(struct doctor *doctor);
/* The commands that allow us a look; free(). NULL when memory ran out. */
char *allow_look(struct doctor *doctor, const struct place *place,
    const struct mpijob_target *target);
/* Who we are, as an option of kubectl create rolebinding. */
const char *subject_option(struct doctor *doctor);

/* doctor_extras.c */
/* Whether a path is served, which is NAME's. 1 or 0; -1: not to be known, which is said unless all
 * ends; free_raw(). */
int serves(struct doctor *doctor, const char *path, const char *check, const char *name,
    struct raw *raw);
void check_queues(struct doctor *doctor);
void check_gangs(struct doctor *doctor);
void check_domain(struct doctor *doctor);

#endif

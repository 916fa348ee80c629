/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the command create: its templates, and the job that it writes.
 */
#ifndef MPIJOB_PROGRAM_CREATE_H
#define MPIJOB_PROGRAM_CREATE_H

#include <mpijob/mpijob.h>

#include "command.h"

/* A template: a job that tests the network between the hosts. */
struct create_template {
	const char *name;
	const char *about;          /* one sentence at the top of the file */
	const char *const *program; /* runs unless the user gives a program; ends with NULL */
	/* init containers compile it into the program; NULL: the image contains the program */
	const char *source_name;
	const char *source;     /* its text */
	int32_t gpus;           /* of each worker, by default */
	const char *const *env; /* "NAME=value"; ends with NULL; NULL: none */
};

/* Find a template; NULL if not found. */
const struct create_template *create_template_find(const char *name);

struct create {
	const struct arguments *arguments;
	const struct create_template *template_; /* NULL without one */
	const char *name;
	const char *image;
	const char *const *program; /* ends with NULL */
	size_t program_count;
	int compiles; /* the job compiles the template's source */
	int32_t mpi;  /* MPIJOB_OPENMPI, ... */
	int32_t tool; /* MPIJOB_LAUNCH_* */
	int32_t workers;
	int32_t slots;
	int32_t gpus;
	/* "NAME=value", "NAME" and "PREFIX*": the template's, then the user's */
	struct words env;
	/* the same without values, for the launch command; strings are owned */
	struct words forward;
	mpijob_launch *launch;
};

/* Write the job as commented YAML. 0 or MPIJOB_ERR_NOMEM. */
int create_write(const struct create *create, mpijob_text *out);

#endif

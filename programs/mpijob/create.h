/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the command create know together: the job that is to be written.
 */
#ifndef MPIJOB_PROGRAM_CREATE_H
#define MPIJOB_PROGRAM_CREATE_H

#include <mpijob/mpijob.h>

#include "command.h"

/* A test of the links, or nothing but the user's program. */
struct create_template {
	const char *name;
	const char *about;          /* one sentence for the head of the file */
	const char *const *program; /* what runs unless a program is given; closed by NULL */
	/* compiled by init containers, into the program; NULL: the image has it */
	const char *source_name;
	const char *source;     /* its text */
	int32_t gpus;           /* of each worker unless given */
	const char *const *env; /* "NAME=value" that it wants; closed by NULL; NULL: none */
};

/* Find a template; NULL when there is none. */
const struct create_template *create_template_find(const char *name);

struct create {
	const struct arguments *arguments;
	const struct create_template *template_; /* NULL without one */
	const char *name;
	const char *image;
	const char *const *program; /* closed by NULL */
	size_t program_count;
	int compiles; /* the template's source */
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

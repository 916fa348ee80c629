/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the command line, as a list of Kubernetes objects.
 */
#ifndef MPIJOB_PROGRAM_INPUT_H
#define MPIJOB_PROGRAM_INPUT_H

#include <mpijob/mpijob.h>

#include "command.h"

struct input_object {
	const mpijob_node *node; /* borrowed from the inputs */
	const char *source;      /* file name for findings */
	size_t position;         /* in the order of the files */
};

struct input {
	struct input_object *objects;
	size_t count;
	mpijob_docs **files;
	size_t files_count;
};

/*
 * Read all operands: files, directories and "-". Goes on after a bad file, so that all findings
 * come at once; returns 0, or the first code. Free the input in either case.
 */
int input_read(const struct words *operands, struct input *input, mpijob_diag *diag);

/* Read the text of a file, or of standard input for "-". */
int input_read_text(const char *operand, mpijob_text *text, mpijob_diag *diag);

/* The name of an operand in findings. */
const char *input_name(const char *operand);

/* Add the objects of a text; `name` is that of its source. */
int input_add_text(struct input *input, const char *text, size_t len, const char *name,
    mpijob_diag *diag);

void input_free(struct input *input);

/* Whether an object is of this kind; api_version NULL: of any group and version. */
int input_is(const struct input_object *object, const char *api_version, const char *kind);

/*
 * Make a job from an object, in a namespace ("default" where neither the object nor the command
 * line names one), with defaults. The findings go to diag.
 */
int input_job(const struct input_object *object, const struct arguments *arguments, mpijob **out,
    mpijob_diag *diag);

/*
 * Name a job that has metadata.generateName and no name: with random letters, as an API server
 * does, or with `placeholder` with INPUT_PLACEHOLDER, so that the same input gives the same output.
 */
#define INPUT_PLACEHOLDER "xxxxx"
int input_generate_name(mpijob *job, int placeholder);

#endif

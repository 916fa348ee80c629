/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents on standard output: YAML with --- between them, or JSON, several of them as a v1 List.
 */
#ifndef MPIJOB_PROGRAM_OUTPUT_H
#define MPIJOB_PROGRAM_OUTPUT_H

#include <mpijob/mpijob.h>

/* Read -o: yaml or json; `format` does not change without it. Returns 0, or prints an error and
 * returns EXIT_USAGE. */
int output_format(const char *name, int32_t *format);

/* A v1 List without items, yours; mpijob_doc_error() says whether memory ran out. */
mpijob_doc *output_list_new(void);

struct output {
	int32_t format;   /* MPIJOB_FORMAT_YAML or _JSON */
	size_t count;     /* documents so far */
	mpijob_doc *list; /* JSON: all of them */
};

/* Print a document, or keep it for the list. 0 or a code. */
int output_put(struct output *output, const mpijob_node *node);

/* Print the list, and free it. 0 or a code. */
int output_end(struct output *output);

#endif

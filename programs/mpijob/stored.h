/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print an object that the server stored: one line as kubectl, or the object with -o.
 */
#ifndef MPIJOB_PROGRAM_STORED_H
#define MPIJOB_PROGRAM_STORED_H

#include <stdio.h>

#include <mpijob/mpijob.h>

#include "command.h"

/* Check -o of a command that prints what was stored: name, yaml or json. Returns 0, or prints an
 * error and returns EXIT_USAGE. */
int stored_form(const struct arguments *arguments);

/*
 * Print an object: "configmap/name done (server dry run)", or as -o says, YAML documents with ---
 * between them (`printed` counts them). 0 or a code.
 */
int stored_print(const struct arguments *arguments, const mpijob_node *object, const char *done,
    size_t *printed);

/* Begin a line about an object, as -o name prints it: "mpijob.kubeflow.org/pi". */
void stored_print_name(const mpijob_node *object, FILE *stream);

/* " (dry run)" if nothing is stored. */
const char *stored_suffix(const struct arguments *arguments);

#endif

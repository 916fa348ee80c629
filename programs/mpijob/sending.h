/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the objects of files are sent to a cluster.
 */
#ifndef MPIJOB_PROGRAM_SENDING_H
#define MPIJOB_PROGRAM_SENDING_H

#include "connect.h"
#include "input.h"

/* "Strict", "Warn" or "Ignore", as --validate says. */
const char *sending_validation(const struct arguments *arguments);

/* Fill in what the command line says. */
void sending_options(const struct arguments *arguments, const char *namespace_,
    struct mpijob_submit_options *options);

/* What others refer to comes first, MPIJobs last, else as in the files. */
void sending_sort(struct input *input);

/* Whether objects of that kind have a namespace. */
int sending_has_namespace(const struct input_object *object);

#endif

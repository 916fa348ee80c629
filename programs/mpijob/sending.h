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

/* Fill in the options from the command line. */
void sending_options(const struct arguments *arguments, const char *namespace_,
    struct mpijob_submit_options *options);

/* Sort: objects that others refer to first, MPIJobs last, otherwise in the order of the files. */
void sending_sort(struct input *input);

/* Whether objects of that kind have a namespace. */
int sending_has_namespace(const struct input_object *object);

#endif

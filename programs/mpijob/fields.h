/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields in which two values differ.
 */
#ifndef MPIJOB_PROGRAM_FIELDS_H
#define MPIJOB_PROGRAM_FIELDS_H

#include <mpijob/mpijob.h>

/*
 * Append a map {field, old, new} to `list` for each field that differs; `old` or `new` is missing
 * where the value is. `path` is that of the values, "" for whole objects. The entries of a list
 * that all have names are told apart by these. Returns 0 or a code.
 */
int fields_compare(mpijob_doc *doc, mpijob_node *list, const char *path, const mpijob_node *old,
    const mpijob_node *new);

/* Print such a map as one line or more, each with an indent. */
int fields_print(const mpijob_node *field);

#endif

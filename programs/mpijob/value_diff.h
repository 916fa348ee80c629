/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields in which two values differ.
 */
#ifndef MPIJOB_PROGRAM_VALUE_DIFF_H
#define MPIJOB_PROGRAM_VALUE_DIFF_H

#include <mpijob/mpijob.h>

/*
 * Append a map {field, old, new} to `list` for each field that differs; `old` or `new` is missing
 * where the value is. `path` is that of the values, "" for whole objects. Entries of a list are
 * matched by their names if all have one. Returns 0 or a code.
 */
int value_diff(mpijob_doc *doc, mpijob_node *list, const char *path, const mpijob_node *old,
    const mpijob_node *new);

/* Print such a map as one line or more, each with an indent. */
int value_diff_print(const mpijob_node *field);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the differences of two texts.
 */
#ifndef MPIJOB_PROGRAM_TEXT_DIFF_H
#define MPIJOB_PROGRAM_TEXT_DIFF_H

#include <stddef.h>

/*
 * Print the lines that differ to standard output, in the unified format of diff(1), under the name
 * of the file. Prints nothing if the texts are equal. Returns 0 or MPIJOB_ERR_NOMEM.
 */
int text_diff_print(const char *name, const char *old, size_t old_len, const char *new_,
    size_t new_len);

/* Print text from outside to standard output: on a terminal its lines are escaped, otherwise it is
 * printed as it is. */
void text_print(const char *text, size_t len);

#endif

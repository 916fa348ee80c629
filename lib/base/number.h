/* SPDX-License-Identifier: Apache-2.0 */
/* Whole decimal numbers in text. */
#ifndef MPIJOB__BASE_NUMBER_H
#define MPIJOB__BASE_NUMBER_H

#include <stdint.h>

/* Read a number of digits only. Returns 1; 0 if the text is something else or above UINT64_MAX,
 * and `out` is unchanged. */
int mpijob__base_number_parse(const char *text, uint64_t *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal digits. */
#ifndef MPIJOB__BASE_HEX_H
#define MPIJOB__BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The value of a digit in either case, or -1. */
int mpijob__base_hex_value(char c);
/* Write the lowest `count` digits of a number in lower case, without a NUL. */
void mpijob__base_hex_write(uint64_t number, size_t count, char *out);

#endif

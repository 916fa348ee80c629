/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes and random names. The pure directories may not include this header: entropy is an
 * argument there. */
#ifndef MPIJOB__BASE_RANDOM_H
#define MPIJOB__BASE_RANDOM_H

#include <stddef.h>

#define MPIJOB__BASE_RANDOM_UUID_SIZE 37

/* Fill `data` with random bytes that are safe for keys. Returns 0 or MPIJOB_ERR_IO. */
int mpijob__base_random_fill(void *data, size_t len);
/* Write a UUID of version 4. Returns 0 or MPIJOB_ERR_IO. */
int mpijob__base_random_uuid(char out[MPIJOB__BASE_RANDOM_UUID_SIZE]);
/* Write `len` characters (at most 16) as generateName does (it appends five), without a NUL.
 * Returns 0 or MPIJOB_ERR_IO. */
int mpijob__base_random_suffix(char *out, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Wipes memory that contained secrets. */
#ifndef MPIJOB__BASE_SECRET_H
#define MPIJOB__BASE_SECRET_H

#include <stddef.h>

/* Overwrite bytes; the compiler cannot remove the call. `data` may be NULL when `len` is 0. */
void mpijob__base_secret_wipe(void *data, size_t len);
/* Wipe `len` bytes of allocated memory and free it. `data` may be NULL. */
void mpijob__base_secret_free(void *data, size_t len);
/* The same for a string. */
void mpijob__base_secret_free_text(char *text);

#endif

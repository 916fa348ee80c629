/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds copies of a secret that the library left in memory: it searches the memory of the process.
 * The secret has SECRET_LENGTH characters. The test gives a function that writes it, so that the
 * search itself needs no permanent copy.
 */
#ifndef MPIJOB_TEST_OWN_MEMORY_H
#define MPIJOB_TEST_OWN_MEMORY_H

#include <stddef.h>

#define SECRET_LENGTH 40

typedef void (*own_memory_make_fn)(char out[SECRET_LENGTH + 1]);

/* The number of copies in the writable memory of this process, without the stack. A copy may be
 * counted twice. */
size_t own_memory_count(own_memory_make_fn make);
#endif

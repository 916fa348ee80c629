/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that must not survive its use: wiping, and a buffer of fixed size that is wiped. */
#ifndef MPIJOB__SECRET_H
#define MPIJOB__SECRET_H

#include <stddef.h>

/* Overwrite bytes in a way that the compiler may not leave out. `data` may be NULL when `len` is 0. */
void mpijob__secret_wipe(void *data, size_t len);

/*
 * A buffer of a size given once. It never moves, so no copy of its bytes stays behind:
 * appending more than fits is refused.
 */
struct mpijob__secret {
	char *data; /* NUL-terminated after the first `len` bytes; NULL before mpijob__secret_init() */
	size_t len;
	size_t cap; /* without the final NUL */
};

/* Get memory for `cap` bytes. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__secret_init(struct mpijob__secret *secret, size_t cap);
/* Append; a mpijob_write_fn (`secret` is a struct mpijob__secret). 0, or MPIJOB_ERR_NOMEM when it does not fit. */
int mpijob__secret_write(void *secret, const char *data, size_t len);
/* Wipe and give back the memory; afterwards like new. Fine on a zeroed struct. */
void mpijob__secret_free(struct mpijob__secret *secret);

#endif

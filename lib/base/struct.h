/* SPDX-License-Identifier: Apache-2.0 */
/* The only check of structs from callers that begin with `size_t size`. */
#ifndef MPIJOB__BASE_STRUCT_H
#define MPIJOB__BASE_STRUCT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copy a caller's struct, which may be compiled for another version of the library.
 *
 * local  the library's own struct, `known` bytes; set to zeros, then to what was given; its `size`
 * becomes `known`. known  sizeof(*local). given  the caller's struct; NULL means "nothing given".
 *
 * Returns 0; MPIJOB_ERR_USAGE when `size` is too small to hold itself; MPIJOB_ERR_UNSUPPORTED when
 * the struct is longer than known and its tail is not zero. After a failure `local` is all zeros
 * but for its size.
 */
int mpijob__base_struct_check(void *local, size_t known, const void *given);

/* Whether a boolean member is 0 or 1; other numbers are MPIJOB_ERR_USAGE. */
static inline int mpijob__base_struct_is_flag(int32_t member)
{
	return member == 0 || member == 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a struct of another version of the library.
 *
 * Bytes after the caller's `size` are never read. Members that this library does not know must be
 * zero, that is, not used.
 */
#include "base/struct.h"

#include <mpijob/base.h>

#include <string.h>

int mpijob__base_struct_check(void *local, size_t known, const void *given)
{
	const unsigned char *bytes = given;
	size_t size;

	memset(local, 0, known);
	memcpy(local, &known, sizeof(known));
	if (!given)
		return 0;
	memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return MPIJOB_ERR_USAGE;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return MPIJOB_ERR_UNSUPPORTED;
	if (size > known)
		size = known;
	memcpy((char *)local + sizeof(size), bytes + sizeof(size), size - sizeof(size));
	return 0;
}

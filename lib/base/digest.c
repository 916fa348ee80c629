/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 64-bit digest to detect changes: FNV-1a, byte by byte.
 *
 * It must not change between releases, because a caller may observe with one release and plan with
 * another.
 */
#include "base/digest.h"

uint64_t mpijob__base_digest_add(uint64_t digest, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
	return digest;
}

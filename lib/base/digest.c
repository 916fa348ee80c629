/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 64-bit digest to notice change: FNV-1a, byte by byte.
 *
 * Who observes with one release may plan with another, so it may not change between releases.
 */
#include "base/digest.h"

uint64_t mpijob__base_digest_add(uint64_t digest, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
	return digest;
}

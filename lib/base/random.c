/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that asks the system for random bytes. */
#include "base/random.h"

#include "base/hex.h"

#include <mpijob/base.h>

#include <errno.h>
#include <sys/random.h>

int mpijob__base_random_fill(void *data, size_t len)
{
	unsigned char *at = data;

	while (len > 0) {
		ssize_t got = getrandom(at, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return MPIJOB_ERR_IO;
		at += got;
		len -= (size_t)got;
	}
	return 0;
}

int mpijob__base_random_uuid(char out[MPIJOB__BASE_RANDOM_UUID_SIZE])
{
	unsigned char bytes[16];

	if (mpijob__base_random_fill(bytes, sizeof(bytes)))
		return MPIJOB_ERR_IO;
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(bytes); i++, out += 2) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		mpijob__base_hex_write(bytes[i], 2, out);
	}
	*out = 0;
	return 0;
}

int mpijob__base_random_suffix(char *out, size_t len)
{
	/* The alphabet of Kubernetes: it has no vowels, to avoid words. */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char bytes[16];

	if (len > sizeof(bytes) || mpijob__base_random_fill(bytes, len))
		return MPIJOB_ERR_IO;
	for (size_t i = 0; i < len; i++)
		out[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 (RFC 4648 section 4), as the data of a Secret and both halves of an SSH key pair need it.
 * Only encoding: nothing here ever has to read it. The caller owns the output, so that keys stay in
 * memory that he wipes.
 */
#include "render/build.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void mpijob__render_base64_encode(const unsigned char *data, size_t len, char *out)
{
	for (size_t i = 0; i < len; i += 3) {
		unsigned second = i + 1 < len ? data[i + 1] : 0;
		unsigned third = i + 2 < len ? data[i + 2] : 0;
		unsigned bits = (unsigned)data[i] << 16 | second << 8 | third;

		*out++ = alphabet[bits >> 18];
		*out++ = alphabet[bits >> 12 & 63];
		*out++ = i + 1 < len ? alphabet[bits >> 6 & 63] : '=';
		*out++ = i + 2 < len ? alphabet[bits & 63] : '=';
	}
}

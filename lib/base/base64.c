/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base64 alphabet. The data may be a key: memory is wiped before this file frees it, and the
 * data is not copied into other buffers.
 */
#include "base/base64.h"

#include "base/secret.h"

#include <mpijob/base.h>

#include <stdint.h>
#include <stdlib.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void mpijob__base_base64_encode(const void *data, size_t len, char *out)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i += 3) {
		unsigned second = i + 1 < len ? bytes[i + 1] : 0;
		unsigned third = i + 2 < len ? bytes[i + 2] : 0;
		unsigned bits = (unsigned)bytes[i] << 16 | second << 8 | third;

		*out++ = alphabet[bits >> 18];
		*out++ = alphabet[bits >> 12 & 63];
		*out++ = i + 1 < len ? alphabet[bits >> 6 & 63] : '=';
		*out++ = i + 2 < len ? alphabet[bits & 63] : '=';
	}
}

char *mpijob__base_base64_encode_new(const void *data, size_t len)
{
	char *out = len < SIZE_MAX / 2 ? malloc(MPIJOB__BASE_BASE64_LEN(len) + 1) : NULL;

	if (!out)
		return NULL;
	mpijob__base_base64_encode(data, len, out);
	out[MPIJOB__BASE_BASE64_LEN(len)] = 0;
	return out;
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Write the high `count` bytes of 24 bits. */
static size_t put(unsigned char *out, uint32_t bits, size_t count)
{
	for (size_t i = 0; out && i < count; i++)
		out[i] = (unsigned char)(bits >> (16 - 8 * i));
	return count;
}

size_t mpijob__base_base64_decode(const char *text, size_t len, void *out)
{
	unsigned char *bytes = out;
	uint32_t bits = 0;
	size_t digits = 0, padding = 0, count = 0;

	for (size_t i = 0; i < len; i++) {
		int value = value_of(text[i]);

		if (text[i] == '\n' || text[i] == '\r')
			continue;
		if (text[i] == '=') {
			padding++;
			continue;
		}
		if (value < 0 || padding)
			return SIZE_MAX;
		bits = bits << 6 | (uint32_t)value;
		if (++digits % 4 == 0)
			count += put(bytes ? bytes + count : NULL, bits, 3);
	}
	if (padding > 2 || (digits + padding) % 4 || digits % 4 == 1)
		return SIZE_MAX;
	if (digits % 4)
		count +=
		    put(bytes ? bytes + count : NULL, bits << 6 * (4 - digits % 4), digits % 4 - 1);
	return count;
}

int mpijob__base_base64_decode_new(const char *text, size_t len, char **out, size_t *out_len)
{
	size_t room = MPIJOB__BASE_BASE64_DECODED(len), count;
	char *data = malloc(room + 1);

	if (!data)
		return MPIJOB_ERR_NOMEM;
	count = mpijob__base_base64_decode(text, len, data);
	if (count == SIZE_MAX) {
		mpijob__base_secret_free(data, room);
		return MPIJOB_ERR_SYNTAX;
	}
	data[count] = 0;
	*out = data;
	*out_len = count;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 as Secrets and binaryData hold it (RFC 4648, padded). The buffers may hold keys: their
 * owner gives them back through the function here that wipes them.
 */
#include "base64.h"

#include <mpijob/base.h>

#include <stdlib.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *mpijob__local_base64_encode(const void *data, size_t len)
{
	const unsigned char *in = data;
	char *out = malloc((len + 2) / 3 * 4 + 1);
	char *at = out;

	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		unsigned bits = (unsigned)in[i] << 16;

		if (i + 1 < len)
			bits |= (unsigned)in[i + 1] << 8;
		if (i + 2 < len)
			bits |= in[i + 2];
		*at++ = letters[bits >> 18];
		*at++ = letters[(bits >> 12) & 63];
		*at++ = '=';
		*at++ = '=';
		if (i + 1 < len)
			at[-2] = letters[(bits >> 6) & 63];
		if (i + 2 < len)
			at[-1] = letters[bits & 63];
	}
	*at = 0;
	return out;
}

static int value_of(char c)
{
	for (int i = 0; i < 64; i++) {
		if (letters[i] == c)
			return i;
	}
	return -1;
}

int mpijob__local_base64_decode(const char *text, size_t len, unsigned char **result,
    size_t *out_len)
{
	unsigned char *out;
	unsigned bits = 0;
	int have = 0;
	size_t n = 0;

	if (len % 4 != 0)
		return MPIJOB_ERR_SYNTAX;
	while (len > 0 && text[len - 1] == '=' && len % 4 != 2)
		len--;
	out = malloc(len / 4 * 3 + 4);
	if (!out)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < len; i++) {
		int value = value_of(text[i]);

		if (value < 0) {
			mpijob__local_base64_wipe_free(out, n);
			return MPIJOB_ERR_SYNTAX;
		}
		bits = (bits << 6) | (unsigned)value;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (unsigned char)(bits >> have);
		}
	}
	out[n] = 0;
	*result = out;
	*out_len = n;
	return 0;
}

void mpijob__local_base64_wipe_free(void *data, size_t len)
{
	volatile unsigned char *p = data;

	while (data && len-- > 0)
		*p++ = 0;
	free(data);
}

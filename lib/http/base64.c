/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 as in kubeconfigs. It accepts what Go accepts there: line feeds and carriage returns
 * anywhere, no other white space, padding to a multiple of four, and any value in the bits that
 * padding leaves over.
 */
#include "http/base64.h"

#include <mpijob/base.h>

#include <stdint.h>
#include <stdlib.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

/* Decode into `out`, which has room for len / 4 * 3 + 3 bytes, or only check when it is NULL. -1:
 * not base64. */
static int decode(const char *text, size_t len, char *out, size_t *out_len)
{
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
			return -1;
		bits = bits << 6 | (uint32_t)value;
		if (++digits % 4 == 0 && out) {
			out[count] = (char)(bits >> 16);
			out[count + 1] = (char)(bits >> 8);
			out[count + 2] = (char)bits;
		}
		if (digits % 4 == 0)
			count += 3;
	}
	if (padding > 2 || (digits + padding) % 4 || digits % 4 == 1)
		return -1;
	if (digits % 4 == 2 && out)
		out[count] = (char)(bits >> 4);
	if (digits % 4 == 3 && out) {
		out[count] = (char)(bits >> 10);
		out[count + 1] = (char)(bits >> 2);
	}
	*out_len = count + (digits % 4 ? digits % 4 - 1 : 0);
	return 0;
}

int mpijob__http_base64_check(const char *text, size_t len)
{
	size_t count;

	return decode(text, len, NULL, &count) == 0;
}

int mpijob__http_base64_decode(const char *text, size_t len, mpijob__http_secret *out)
{
	size_t room = len / 4 * 3 + 3, count = 0;
	char *data = malloc(room);
	int code;

	if (!data)
		return MPIJOB_ERR_NOMEM;
	code = decode(text, len, data, &count) ? MPIJOB_ERR_SYNTAX : 0;
	if (code == 0)
		code = mpijob__http_secret_set(out, data, count);
	mpijob__http_wipe(data, room);
	free(data);
	return code;
}

int mpijob__http_base64_encode(const char *data, size_t len, mpijob__http_secret *out)
{
	size_t room = (len + 2) / 3 * 4;
	char *text = malloc(room + 1);
	size_t at = 0;
	int code;

	if (!text)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = (uint32_t)(unsigned char)data[i] << 16;

		if (i + 1 < len)
			bits |= (uint32_t)(unsigned char)data[i + 1] << 8;
		if (i + 2 < len)
			bits |= (uint32_t)(unsigned char)data[i + 2];
		text[at++] = alphabet[bits >> 18];
		text[at++] = alphabet[bits >> 12 & 63];
		text[at++] = i + 1 < len ? alphabet[bits >> 6 & 63] : '=';
		text[at++] = i + 2 < len ? alphabet[bits & 63] : '=';
	}
	code = mpijob__http_secret_set(out, text, at);
	mpijob__http_wipe(text, room);
	free(text);
	return code;
}

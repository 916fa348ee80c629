/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, writes and checks UTF-8.
 *
 * The smallest code of each length detects overlong forms. Invalid text, which other readers accept
 * in different ways, is always rejected.
 */
#include "base/utf8.h"

#define SMALLEST(len) ((len) == 2 ? 0x80u : (len) == 3 ? 0x800u : 0x10000u)

size_t mpijob__base_utf8_read(const char *at, const char *end, uint32_t *code)
{
	const unsigned char *c = (const unsigned char *)at;
	size_t len;
	uint32_t value;

	if (at >= end)
		return 0;
	len = c[0] < 0x80   ? 1
	      : c[0] < 0xc2 ? 0
	      : c[0] < 0xe0 ? 2
	      : c[0] < 0xf0 ? 3
	      : c[0] < 0xf5 ? 4
			    : 0;
	if (len == 0 || len > (size_t)(end - at))
		return 0;
	value = len == 1 ? c[0] : c[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (c[i] & 0x3fu);
	}
	if (len > 1 &&
	    (value < SMALLEST(len) || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)))
		return 0;
	if (code)
		*code = value;
	return len;
}

size_t mpijob__base_utf8_write(char into[4], uint32_t code)
{
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len - 1; i > 0; i--) {
		into[i] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	into[0] = (char)(lead[len] | code);
	return len;
}

int mpijob__base_utf8_valid(const char *text, size_t len, size_t *bad)
{
	const char *at = text;
	const char *end = text + len;

	while (at < end) {
		size_t step = mpijob__base_utf8_read(at, end, NULL);

		if (step == 0) {
			if (bad)
				*bad = (size_t)(at - text);
			return 0;
		}
		at += step;
	}
	return 1;
}

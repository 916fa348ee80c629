/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from outside, made safe to print.
 *
 * The only list of what is not printed as it is: terminals act on control characters, C1 as single
 * bytes too, and the bidirectional controls reorder a line so that it reads as another one
 * (CVE-2021-42574).
 */
#include "base/escape.h"

#include "base/utf8.h"

#include <string.h>

int mpijob__base_escape_needed(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/* \xNN for a byte, \uNNNN for a longer character. */
static int write_escape(uint32_t code, int is_byte, mpijob_write_fn write, void *user)
{
	static const char hex[] = "0123456789abcdef";
	char escape[6] = { '\\', is_byte ? 'x' : 'u' };
	size_t len = 2;

	for (int shift = is_byte ? 4 : 12; shift >= 0; shift -= 4)
		escape[len++] = hex[code >> shift & 15];
	return write(user, escape, len);
}

int mpijob_escaped_write(const char *text, size_t len, mpijob_write_fn write, void *user)
{
	const char *at = text, *from = text, *end = text ? text + len : NULL;
	int rc = 0;

	if (!write || (!text && len))
		return MPIJOB_ERR_USAGE;
	while (at < end && rc == 0) {
		uint32_t code = 0;
		size_t step = mpijob__base_utf8_read(at, end, &code);

		if (step && !mpijob__base_escape_needed(code)) {
			at += step;
			continue;
		}
		if (at > from)
			rc = write(user, from, (size_t)(at - from));
		if (rc == 0)
			rc = write_escape(step ? code : (unsigned char)*at, step < 2, write, user);
		at += step ? step : 1;
		from = at;
	}
	return rc == 0 && at > from ? write(user, from, (size_t)(at - from)) : rc;
}

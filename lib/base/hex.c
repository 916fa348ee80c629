/* SPDX-License-Identifier: Apache-2.0 */
/* The hexadecimal digits in both directions, independent of the locale. */
#include "base/hex.h"

int mpijob__base_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void mpijob__base_hex_write(uint64_t number, size_t count, char *out)
{
	static const char digits[] = "0123456789abcdef";

	while (count-- > 0) {
		out[count] = digits[number & 15];
		number >>= 4;
	}
}

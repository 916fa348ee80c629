/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers without the white space, signs, bases and overflow rules of strtoull(). */
#include "base/number.h"

int mpijob__base_number_parse(const char *text, uint64_t *out)
{
	uint64_t value = 0;

	if (!*text)
		return 0;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || value > (UINT64_MAX - digit) / 10)
			return 0;
		value = value * 10 + digit;
	}
	*out = value;
	return 1;
}

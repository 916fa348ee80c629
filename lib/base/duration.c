/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses durations on command lines: "90s", "1h30m", "250ms".
 */
#include "base/duration.h"

#include <mpijob/base.h>

#include <string.h>

#define MOST_MS (INT64_C(1) << 53) /* exact also in doubles */

/* The milliseconds of the unit at the beginning of the text, and its length; 0: unknown. An empty
 * text is the second. */
static int64_t unit_ms(const char *text, size_t *len)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };

	*len = 0;
	if (*text == '\0')
		return 1000;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*len = strlen(units[i].name);
		if (strncmp(text, units[i].name, *len) == 0)
			return units[i].ms;
	}
	return 0;
}

int mpijob__base_duration_parse(const char *text, int64_t *ms)
{
	int64_t sum = 0;

	if (*text == '\0')
		return MPIJOB_ERR_SYNTAX;
	while (*text) {
		size_t digits = strspn(text, "0123456789"), len;
		int64_t number = 0, unit = unit_ms(text + digits, &len);

		if (digits == 0 || unit == 0)
			return MPIJOB_ERR_SYNTAX;
		for (size_t i = 0; i < digits; i++) {
			number = number * 10 + (text[i] - '0');
			if (number > (MOST_MS - sum) / unit)
				return MPIJOB_ERR_SYNTAX;
		}
		sum += number * unit;
		text += digits + len;
	}
	*ms = sum;
	return 0;
}

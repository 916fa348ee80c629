/* SPDX-License-Identifier: Apache-2.0 */
/* Formats strings and reads numbers. */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *mpijob__local_words_format(const char *format, ...)
{
	va_list args;
	va_list again;
	char *text = NULL;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len >= 0)
		text = malloc((size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}

int mpijob__local_words_number(const char *text, uint64_t *out)
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that the embedded cluster makes up or checks: identifiers, random name endings, times
 * as text. No other file reads a clock or asks the system for randomness.
 */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

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

static int draw(unsigned char *bytes, size_t len)
{
	return getrandom(bytes, len, 0) == (ssize_t)len ? 0 : -1;
}

int mpijob__local_words_uid(char out[WORDS_UID_SIZE])
{
	static const char hex[] = "0123456789abcdef";
	unsigned char bytes[16];
	char *p = out;

	if (draw(bytes, sizeof(bytes)))
		return -1;
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = hex[bytes[i] >> 4];
		*p++ = hex[bytes[i] & 15];
	}
	*p = 0;
	return 0;
}

int mpijob__local_words_suffix(char out[WORDS_SUFFIX_SIZE])
{
	/* Kubernetes' alphabet: no vowels, so that no word comes out. */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char bytes[WORDS_SUFFIX_SIZE - 1];

	if (draw(bytes, sizeof(bytes)))
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++)
		out[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	out[sizeof(bytes)] = 0;
	return 0;
}

static int64_t read_clock(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t mpijob__local_words_now(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t mpijob__local_words_clock(void)
{
	return read_clock(CLOCK_MONOTONIC);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that grows.
 *
 * Old memory is wiped when a text grows or is freed: a text may contain a secret, and its owner has
 * no access to the old bytes.
 */
#include "base/text.h"

#include "base/secret.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 120

int mpijob__base_text_is_one_of(const char *text, const char *const *strings)
{
	while (*strings && !mpijob__base_text_is(text, *strings))
		strings++;
	return *strings != NULL;
}

int mpijob__base_text_copy(const char *text, const char **out)
{
	*out = text ? strdup(text) : NULL;
	return text && !*out ? MPIJOB_ERR_NOMEM : 0;
}

void mpijob__base_text_release(struct mpijob_text *text)
{
	if (text->data)
		mpijob__base_secret_wipe(text->data, text->cap + 1);
	free(text->data);
	memset(text, 0, sizeof(*text));
}

int mpijob__base_text_reserve(struct mpijob_text *text, size_t len)
{
	size_t cap;
	char *data;

	if (text->data && len <= text->cap - text->len)
		return 0;
	if (len >= SIZE_MAX / 4 || text->len >= SIZE_MAX / 4)
		return MPIJOB_ERR_NOMEM;
	cap = text->cap + text->cap / 2;
	if (cap < text->len + len)
		cap = text->len + len;
	if (cap < FIRST_CAP)
		cap = FIRST_CAP;
	data = malloc(cap + 1);
	if (!data)
		return MPIJOB_ERR_NOMEM;
	if (text->data) {
		memcpy(data, text->data, text->len);
		mpijob__base_secret_wipe(text->data, text->cap + 1);
		free(text->data);
	}
	data[text->len] = 0;
	text->data = data;
	text->cap = cap;
	return 0;
}

int mpijob__base_text_append(struct mpijob_text *text, const char *data, size_t len)
{
	if (len == 0)
		return 0;
	if (mpijob__base_text_reserve(text, len))
		return MPIJOB_ERR_NOMEM;
	memcpy(text->data + text->len, data, len);
	text->len += len;
	text->data[text->len] = 0;
	return 0;
}

int mpijob__base_text_puts(struct mpijob_text *text, const char *string)
{
	return mpijob__base_text_append(text, string, strlen(string));
}

int mpijob__base_text_vprintf(struct mpijob_text *text, const char *format, va_list args)
{
	size_t room = text->data ? text->cap - text->len + 1 : 0;
	va_list again;
	int len;

	/* Most texts fit; others are printed a second time. */
	va_copy(again, args);
	len = vsnprintf(room ? text->data + text->len : NULL, room, format, again);
	va_end(again);
	if (len >= 0 && (size_t)len < room) {
		text->len += (size_t)len;
		return 0;
	}
	if (room)
		text->data[text->len] = 0;
	if (len < 0 || mpijob__base_text_reserve(text, (size_t)len))
		return MPIJOB_ERR_NOMEM;
	(void)vsnprintf(text->data + text->len, (size_t)len + 1, format, args);
	text->len += (size_t)len;
	return 0;
}

int mpijob__base_text_printf(struct mpijob_text *text, const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = mpijob__base_text_vprintf(text, format, args);
	va_end(args);
	return rc;
}

char *mpijob__base_text_vformat(const char *format, va_list args)
{
	va_list again;
	char *string = NULL;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len >= 0)
		string = malloc((size_t)len + 1);
	if (string)
		(void)vsnprintf(string, (size_t)len + 1, format, args);
	return string;
}

char *mpijob__base_text_format(const char *format, ...)
{
	va_list args;
	char *string;

	va_start(args, format);
	string = mpijob__base_text_vformat(format, args);
	va_end(args);
	return string;
}

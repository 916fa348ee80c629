/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotes strings as Go does, because findings in reference mode are equal to the messages of
 * mpi-operator. %q escapes characters that are not printable; encoding/json also escapes characters
 * with a meaning in HTML.
 */
#include "job/quote.h"

#include <string.h>

/* Ranges of code points that are spaces, controls, private or unassigned. */
static const struct {
	uint32_t first;
	uint32_t last;
} unprintable[] = {
	{ 0x80, 0xa0 },
	{ 0xad, 0xad },
	{ 0x600, 0x605 },
	{ 0x61c, 0x61c },
	{ 0x6dd, 0x6dd },
	{ 0x1680, 0x1680 },
	{ 0x180e, 0x180e },
	{ 0x2000, 0x200f },
	{ 0x2028, 0x202f },
	{ 0x205f, 0x206f },
	{ 0x3000, 0x3000 },
	{ 0xe000, 0xf8ff },
	{ 0xfeff, 0xfeff },
	{ 0xfff0, 0xfffb },
	{ 0xfffe, 0xffff },
	{ 0xe0000, 0xe00ff },
	{ 0xf0000, 0x10ffff },
};

/* Decode one character; text of documents is valid UTF-8. Returns its length. */
static size_t decode(const unsigned char *text, uint32_t *point)
{
	size_t len = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;

	*point = len == 1 ? text[0] : text[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return i;
		*point = (*point << 6) | (text[i] & 0x3fu);
	}
	return len;
}

static int prints(uint32_t point)
{
	for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]); i++) {
		if (point >= unprintable[i].first && point <= unprintable[i].last)
			return 0;
	}
	return 1;
}

/* The letter of a short escape; `letters` has the order of `controls`. */
static char short_escape(uint32_t point, const char *controls, const char *letters)
{
	const char *at = point && point < 0x80 ? strchr(controls, (int)point) : NULL;

	return at ? letters[at - controls] : '\0';
}

static int put_escaped(struct mpijob_text *out, char letter)
{
	char escape[] = { '\\', letter };

	return mpijob_text_write(out, escape, sizeof(escape));
}

static int go_character(struct mpijob_text *out, const char *text, size_t len, uint32_t point)
{
	char letter = short_escape(point, "\a\b\f\n\r\t\v\\\"", "abfnrtv\\\"");

	if (letter)
		return put_escaped(out, letter);
	if (point < 0x20 || point == 0x7f)
		return mpijob__base_text_printf(out, "\\x%02x", (unsigned int)point);
	if (point >= 0x80 && !prints(point))
		return mpijob__base_text_printf(out, point > 0xffff ? "\\U%08x" : "\\u%04x",
		    (unsigned int)point);
	return mpijob_text_write(out, text, len);
}

static int json_character(struct mpijob_text *out, const char *text, size_t len, uint32_t point)
{
	char letter = short_escape(point, "\b\f\n\r\t\\\"", "bfnrt\\\"");

	if (letter)
		return put_escaped(out, letter);
	if (point < 0x20 || point == '<' || point == '>' || point == '&' || point == 0x2028 ||
	    point == 0x2029)
		return mpijob__base_text_printf(out, "\\u%04x", (unsigned int)point);
	return mpijob_text_write(out, text, len);
}

static int quote(struct mpijob_text *out, const char *text,
    int (*character)(struct mpijob_text *, const char *, size_t, uint32_t))
{
	int code = mpijob__base_text_puts(out, "\"");

	while (!code && *text) {
		uint32_t point;
		size_t len = decode((const unsigned char *)text, &point);

		code = character(out, text, len, point);
		text += len;
	}
	return code ? code : mpijob__base_text_puts(out, "\"");
}

int mpijob__job_quote_go(struct mpijob_text *out, const char *text)
{
	return quote(out, text, go_character);
}

int mpijob__job_quote_json(struct mpijob_text *out, const char *text)
{
	return quote(out, text, json_character);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves YAML scalars as kubectl does: YAML 1.1 with Go's parsing of numbers.
 *
 * So `yes` is true, 0600 and 0o600 are 384, 1_000 is 1000, 1e3 is 1000 and sent as 1000, 08 is 8,
 * 0x_10 is 16, and 1:30 is a string. The writer uses the same function to decide which strings need
 * quotes.
 */
#include "doc/scalar.h"

#include "base/hex.h"

#include <mpijob/doc.h>

#include <stdio.h>
#include <string.h>

struct word {
	const char *text;
	uint8_t kind;
	uint8_t truth; /* of a double: 0 NaN, 1 infinity, 2 minus infinity */
};

static const struct word words[] = {
	{ "~", MPIJOB_NODE_NULL, 0 },
	{ "null", MPIJOB_NODE_NULL, 0 },
	{ "Null", MPIJOB_NODE_NULL, 0 },
	{ "NULL", MPIJOB_NODE_NULL, 0 },
	{ "y", MPIJOB_NODE_BOOL, 1 },
	{ "Y", MPIJOB_NODE_BOOL, 1 },
	{ "yes", MPIJOB_NODE_BOOL, 1 },
	{ "Yes", MPIJOB_NODE_BOOL, 1 },
	{ "YES", MPIJOB_NODE_BOOL, 1 },
	{ "true", MPIJOB_NODE_BOOL, 1 },
	{ "True", MPIJOB_NODE_BOOL, 1 },
	{ "TRUE", MPIJOB_NODE_BOOL, 1 },
	{ "on", MPIJOB_NODE_BOOL, 1 },
	{ "On", MPIJOB_NODE_BOOL, 1 },
	{ "ON", MPIJOB_NODE_BOOL, 1 },
	{ "n", MPIJOB_NODE_BOOL, 0 },
	{ "N", MPIJOB_NODE_BOOL, 0 },
	{ "no", MPIJOB_NODE_BOOL, 0 },
	{ "No", MPIJOB_NODE_BOOL, 0 },
	{ "NO", MPIJOB_NODE_BOOL, 0 },
	{ "false", MPIJOB_NODE_BOOL, 0 },
	{ "False", MPIJOB_NODE_BOOL, 0 },
	{ "FALSE", MPIJOB_NODE_BOOL, 0 },
	{ "off", MPIJOB_NODE_BOOL, 0 },
	{ "Off", MPIJOB_NODE_BOOL, 0 },
	{ "OFF", MPIJOB_NODE_BOOL, 0 },
	{ ".nan", MPIJOB_NODE_NUMBER, 0 },
	{ ".NaN", MPIJOB_NODE_NUMBER, 0 },
	{ ".NAN", MPIJOB_NODE_NUMBER, 0 },
	{ ".inf", MPIJOB_NODE_NUMBER, 1 },
	{ ".Inf", MPIJOB_NODE_NUMBER, 1 },
	{ ".INF", MPIJOB_NODE_NUMBER, 1 },
	{ "+.inf", MPIJOB_NODE_NUMBER, 1 },
	{ "+.Inf", MPIJOB_NODE_NUMBER, 1 },
	{ "+.INF", MPIJOB_NODE_NUMBER, 1 },
	{ "-.inf", MPIJOB_NODE_NUMBER, 2 },
	{ "-.Inf", MPIJOB_NODE_NUMBER, 2 },
	{ "-.INF", MPIJOB_NODE_NUMBER, 2 },
};

static int find_word(const char *text, size_t len, struct mpijob__doc_scalar *out)
{
	static const char *const special[] = { ".nan", ".inf", "-.inf" };

	if (len > 5)
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].text[0] != text[0] || strlen(words[i].text) != len ||
		    memcmp(words[i].text, text, len) != 0)
			continue;
		out->kind = words[i].kind;
		out->truth = words[i].truth;
		if (out->kind == MPIJOB_NODE_NUMBER) {
			out->is_float = out->is_special = 1;
			out->number_len = strlen(special[words[i].truth]);
			memcpy(out->number, special[words[i].truth], out->number_len + 1);
		}
		return 1;
	}
	return 0;
}

/* A text whose `_` are skipped. */
struct plain {
	const char *at;
	const char *end;
};

static int peek(struct plain *p)
{
	while (p->at < p->end && *p->at == '_')
		p->at++;
	return p->at < p->end ? (unsigned char)*p->at : -1;
}

static int take(struct plain *p, int c)
{
	if (peek(p) != c)
		return 0;
	p->at++;
	return 1;
}

static int take_any(struct plain *p, const char *set)
{
	int c = peek(p);

	if (c <= 0 || !strchr(set, c))
		return 0;
	p->at++;
	return 1;
}

static int take_digits(struct plain *p)
{
	int count = 0;

	for (; peek(p) >= '0' && peek(p) <= '9'; p->at++)
		count = 1;
	return count;
}

/* Parse the digits of a whole number up to the end. Returns 1; 0 when there are none, invalid ones
 * or too many. */
static int read_magnitude(struct plain p, int base, uint64_t *value)
{
	int c = peek(&p);

	*value = 0;
	if (c < 0)
		return 0;
	for (; (c = peek(&p)) >= 0; p.at++) {
		int digit = mpijob__base_hex_value((char)c);

		if (digit < 0 || digit >= base ||
		    *value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base)
			return 0;
		*value = *value * (uint64_t)base + (uint64_t)digit;
	}
	return 1;
}

static void set_whole(struct mpijob__doc_scalar *out, int negative, uint64_t value)
{
	out->kind = MPIJOB_NODE_NUMBER;
	out->is_unsigned = !negative && value > INT64_MAX;
	out->number_len = (size_t)snprintf(out->number, sizeof(out->number), "%s%llu",
	    negative && value ? "-" : "", (unsigned long long)value);
}

static int fits(int sign, uint64_t value)
{
	return sign == '-' ? value <= (uint64_t)INT64_MAX + 1 : sign != '+' || value <= INT64_MAX;
}

/* 0x, 0o, 0b and a leading 0 give the base. Values above INT64_MAX must have no plus sign, because
 * Go's ParseUint does not accept one. */
static int read_whole(const char *text, size_t len, struct mpijob__doc_scalar *out)
{
	struct plain p = { text, text + len };
	int sign = peek(&p);
	struct plain digits;
	uint64_t value;
	int base = 10;

	if (sign == '-' || sign == '+')
		p.at++;
	digits = p;
	if (take(&digits, '0')) {
		if (take_any(&digits, "xX"))
			base = 16;
		else if (take_any(&digits, "bB"))
			base = 2;
		else if (take_any(&digits, "oO") || peek(&digits) >= 0)
			base = 8;
		if (base != 10)
			p = digits;
	}
	if (!read_magnitude(p, base, &value) || !fits(sign, value))
		return 0;
	set_whole(out, sign == '-', value);
	return 1;
}

/* `0b` followed by a sign, which go-yaml accepts by accident: 0b+11 is 3, and 0b-11 is -3. */
static int read_signed_binary(const char *text, size_t len, struct mpijob__doc_scalar *out)
{
	struct plain p = { text, text + len };
	uint64_t value;
	int sign;

	if (!take(&p, '0') || !take(&p, 'b'))
		return 0;
	sign = peek(&p);
	if (!take_any(&p, "+-") || !read_magnitude(p, 2, &value) || !fits(sign, value))
		return 0;
	set_whole(out, sign == '-', value);
	return 1;
}

static int is_float(struct plain p)
{
	int before, after = 0;

	(void)take_any(&p, "+-");
	before = take_digits(&p);
	if (take(&p, '.'))
		after = take_digits(&p);
	if (!before && !after)
		return 0;
	if (take_any(&p, "eE")) {
		(void)take_any(&p, "+-");
		if (!take_digits(&p))
			return 0;
	}
	return peek(&p) < 0;
}

static int read_float(const char *text, size_t len, struct mpijob__doc_scalar *out)
{
	struct plain p = { text, text + len };

	if (!is_float(p) || !mpijob__doc_number_double(text, len, &out->value))
		return 0;
	out->kind = MPIJOB_NODE_NUMBER;
	out->is_float = 1;
	out->number_len = mpijob__doc_number_spell(out->value, 64, out->number);
	return 1;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Only after a leading point, Go requires a digit on both sides of each `_`. */
static int underscores_split_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '_' &&
		    (i + 1 == len || !is_digit(text[i - 1]) || !is_digit(text[i + 1])))
			return 0;
	return 1;
}

/* Parse at most `most` digits (exactly `most` if `all`) in a range. Returns 1 + the value, or 0. */
static int take_field(struct plain *p, int most, int all, int low, int high)
{
	int value = 0, count = 0;

	for (; count < most && p->at < p->end && *p->at >= '0' && *p->at <= '9'; count++)
		value = value * 10 + (*p->at++ - '0');
	return count && (!all || count == most) && value >= low && value <= high ? value + 1 : 0;
}

static int take_char(struct plain *p, char c)
{
	if (p->at >= p->end || *p->at != c)
		return 0;
	p->at++;
	return 1;
}

static int take_clock(struct plain *p)
{
	if (!take_field(p, 2, 0, 0, 23) || !take_char(p, ':') || !take_field(p, 2, 0, 0, 59) ||
	    !take_char(p, ':') || !take_field(p, 2, 0, 0, 59))
		return 0;
	if (take_char(p, '.') || take_char(p, ','))
		return take_digits(p);
	return 1;
}

static int take_zone(struct plain *p)
{
	if (take_char(p, 'Z'))
		return 1;
	if (!take_char(p, '+') && !take_char(p, '-'))
		return 0;
	return take_field(p, 2, 1, 0, 24) && take_char(p, ':') && take_field(p, 2, 1, 0, 60);
}

static int days_of(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* The four forms that go-yaml accepts as a time. They are strings; only the tag !!timestamp
 * requires one of them. */
static int is_time(const char *text, size_t len)
{
	struct plain p = { text, text + len };
	int year = take_field(&p, 4, 1, 0, 9999) - 1;
	int month, day;

	if (year < 0 || !take_char(&p, '-') || (month = take_field(&p, 2, 0, 1, 12) - 1) < 0 ||
	    !take_char(&p, '-'))
		return 0;
	day = take_field(&p, 2, 0, 1, 31) - 1;
	if (day < 0 || day > days_of(year, month))
		return 0;
	if (p.at == p.end)
		return 1;
	if (take_char(&p, ' '))
		return take_clock(&p) && p.at == p.end;
	if (!take_char(&p, 'T') && !take_char(&p, 't'))
		return 0;
	return take_clock(&p) && take_zone(&p) && p.at == p.end;
}

static void resolve(const char *text, size_t len, int times, struct mpijob__doc_scalar *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = MPIJOB_NODE_NULL;
	if (len == 0)
		return;
	out->kind = MPIJOB_NODE_STRING;
	if (find_word(text, len, out))
		return;
	if (*text == '.') {
		if (underscores_split_digits(text, len))
			(void)read_float(text, len, out);
		return;
	}
	if (*text != '+' && *text != '-' && !(*text >= '0' && *text <= '9'))
		return;
	if (times && is_time(text, len)) {
		out->is_time = 1;
		return;
	}
	if (read_whole(text, len, out) || read_float(text, len, out))
		return;
	(void)read_signed_binary(text, len, out);
}

void mpijob__doc_scalar_resolve(const char *text, size_t len, struct mpijob__doc_scalar *out)
{
	resolve(text, len, 1, out);
}

static int as_float(struct mpijob__doc_scalar *out)
{
	if (out->is_float)
		return 1;
	if (out->kind != MPIJOB_NODE_NUMBER || out->is_unsigned)
		return 0;
	if (!mpijob__doc_number_double(out->number, out->number_len, &out->value))
		return 0;
	out->is_float = 1;
	out->number_len = mpijob__doc_number_spell(out->value, 64, out->number);
	return 1;
}

int mpijob__doc_scalar_resolve_tag(const char *tag, const char *text, size_t len,
    struct mpijob__doc_scalar *out)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	const char *name;

	memset(out, 0, sizeof(*out));
	out->kind = MPIJOB_NODE_STRING;
	if (strncmp(tag, prefix, sizeof(prefix) - 1) != 0)
		return 1;
	name = tag + sizeof(prefix) - 1;
	if (strcmp(name, "bool") == 0) {
		resolve(text, len, 0, out);
		return out->kind == MPIJOB_NODE_BOOL;
	}
	if (strcmp(name, "int") == 0) {
		resolve(text, len, 0, out);
		return out->kind == MPIJOB_NODE_NUMBER && !out->is_float;
	}
	if (strcmp(name, "float") == 0) {
		resolve(text, len, 0, out);
		return out->kind == MPIJOB_NODE_NUMBER && as_float(out);
	}
	if (strcmp(name, "null") == 0) {
		resolve(text, len, 0, out);
		return out->kind == MPIJOB_NODE_NULL;
	}
	if (strcmp(name, "timestamp") == 0) {
		resolve(text, len, 1, out);
		return out->is_time;
	}
	return 1;
}

size_t mpijob__doc_scalar_key(const struct mpijob__doc_scalar *scalar,
    char into[MPIJOB__DOC_NUMBER_ROOM])
{
	if (scalar->is_float && !scalar->is_special)
		return mpijob__doc_number_spell(scalar->value, 32, into);
	memcpy(into, scalar->number, scalar->number_len + 1);
	return scalar->number_len;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses numbers, and spells them as Go does.
 *
 * The C library's conversions depend on the locale for the decimal point. So strtod() gets only
 * digits and an exponent, and non-digits in the output of snprintf() are skipped.
 */
#include "doc/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* more digits do not change the nearest double, if one digit represents the rest */
#define MAX_DIGITS   800
#define MAX_EXPONENT 100000000L /* larger exponents need not be exact */

static int is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

const char *mpijob__doc_number_digits(const char *at, const char *end)
{
	while (is_digit(at, end))
		at++;
	return at;
}

const char *mpijob__doc_number_end(const char *at, const char *end)
{
	if (at < end && *at == '-')
		at++;
	if (!is_digit(at, end))
		return NULL;
	at = *at == '0' ? at + 1 : mpijob__doc_number_digits(at, end);
	if (at < end && *at == '.') {
		if (!is_digit(at + 1, end))
			return NULL;
		at = mpijob__doc_number_digits(at + 1, end);
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		if (at < end && (*at == '+' || *at == '-'))
			at++;
		if (!is_digit(at, end))
			return NULL;
		at = mpijob__doc_number_digits(at, end);
	}
	return at;
}

/* A decimal number: 0.d1d2d3... times 10^`point`, without leading and trailing zeros. */
struct decimal {
	int negative;
	long point;
	size_t count; /* 0: the number is zero */
	int more;     /* further digits that are not all zero were dropped */
	char digits[MAX_DIGITS];
};

static long read_exponent(const char *at, const char *end)
{
	int negative = 0;
	long value = 0;

	for (; at < end; at++) {
		if (*at == '-')
			negative = 1;
		else if (*at >= '0' && *at <= '9' && value < MAX_EXPONENT)
			value = value * 10 + (*at - '0');
	}
	return negative ? -value : value;
}

static void add_digit(struct decimal *d, char digit)
{
	if (d->count < MAX_DIGITS)
		d->digits[d->count++] = digit;
	else if (digit != '0')
		d->more = 1;
}

static void decimal_read(struct decimal *d, const char *at, const char *end)
{
	int after_point = 0;
	int begun = 0;

	d->negative = d->more = 0;
	d->point = 0;
	d->count = 0;
	for (; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '-')
			d->negative = 1;
		else if (*at == '.')
			after_point = 1;
		if (*at < '0' || *at > '9')
			continue;
		begun |= *at != '0';
		if (begun) {
			add_digit(d, *at);
			d->point += !after_point;
		} else if (after_point) {
			d->point--;
		}
	}
	if (!d->more)
		while (d->count && d->digits[d->count - 1] == '0')
			d->count--;
	if (at < end)
		d->point += read_exponent(at + 1, end);
}

/* Parse a whole number without exponent and fraction that fits an int64 or uint64. Returns 1, or 0.
 */
static int plain_whole(const char *at, const char *end, int *negative, uint64_t *value)
{
	*negative = at < end && *at == '-';
	at += *negative;
	*value = 0;
	for (; at < end; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
			return 0;
		*value = *value * 10 + digit;
	}
	return !*negative || *value <= (uint64_t)INT64_MAX + 1;
}

/* Parse a whole number with an exponent or a fraction, such as 1e3 and 1.0. */
static int decimal_int(const char *text, size_t len, int64_t *out)
{
	struct decimal d;
	uint64_t value = 0;
	uint64_t limit;

	decimal_read(&d, text, text + len);
	if (d.count == 0) {
		*out = 0;
		return 1;
	}
	if (d.point > 19 || d.more || (long)d.count > d.point)
		return 0;
	for (long i = 0; i < d.point; i++)
		value = value * 10 + (uint64_t)(i < (long)d.count ? d.digits[i] - '0' : 0);
	limit = (uint64_t)INT64_MAX + (d.negative ? 1 : 0);
	if (value > limit)
		return 0;
	*out = d.negative ? (int64_t)(0 - value) : (int64_t)value;
	return 1;
}

int mpijob__doc_number_int(const char *text, size_t len, int64_t *out)
{
	int negative;
	uint64_t value;

	if (!plain_whole(text, text + len, &negative, &value))
		return decimal_int(text, len, out);
	if (value > (uint64_t)INT64_MAX + (unsigned)negative)
		return 0;
	*out = negative ? (int64_t)(0 - value) : (int64_t)value;
	return 1;
}

int mpijob__doc_number_double(const char *text, size_t len, double *out)
{
	struct decimal d;
	char plain[MAX_DIGITS + 32];
	size_t count;
	double value;

	decimal_read(&d, text, text + len);
	if (d.count == 0) {
		*out = d.negative ? -0.0 : 0.0;
		return 1;
	}
	count = d.count;
	memcpy(plain, d.digits, count);
	if (d.more)
		plain[count++] = '1';
	(void)snprintf(plain + count, sizeof(plain) - count, "e%ld", d.point - (long)count);
	value = strtod(plain, NULL);
	if (isinf(value))
		return 0;
	*out = d.negative ? -value : value;
	return 1;
}

/* The shortest digits that are parsed as the same value. */
struct shortest {
	char digits[24];
	int count;
	int exponent; /* exponent of the first digit */
};

static double shortest_value(const struct shortest *s, int bits)
{
	char plain[48];

	(void)snprintf(plain, sizeof(plain), "%.*se%d", s->count, s->digits,
	    s->exponent - s->count + 1);
	return bits == 32 ? (double)strtof(plain, NULL) : strtod(plain, NULL);
}

static void round_to(struct shortest *s, double value, int count)
{
	char text[48];
	const char *at = text;

	(void)snprintf(text, sizeof(text), "%.*e", count - 1, value);
	for (s->count = 0; *at != 'e'; at++)
		if (*at >= '0' && *at <= '9')
			s->digits[s->count++] = *at;
	s->exponent = (int)read_exponent(at + 1, at + strlen(at));
}

/* Whether the value is a power of two and exactly between two decimals of `count` digits: Go rounds
 * up. */
static int rounds_up(double value, int count)
{
	char text[80];
	const char *at = text;
	int seen = 0;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (bits << 12)
		return 0;
	(void)snprintf(text, sizeof(text), "%.60e", value);
	for (; *at != 'e'; at++) {
		if (*at < '0' || *at > '9')
			continue;
		if (seen++ >= count && *at != (seen == count + 1 ? '5' : '0'))
			return 0;
	}
	return 1;
}

/* The next larger decimal with the same number of digits. */
static void step_up(struct shortest *s)
{
	int i = s->count - 1;

	while (i >= 0 && s->digits[i] == '9')
		s->digits[i--] = '0';
	if (i >= 0) {
		s->digits[i]++;
		return;
	}
	s->digits[0] = '1';
	s->exponent++;
}

/* The number of digits that every number of this size can represent; fewer for subnormal numbers.
 */
static int certain_digits(double value, int bits)
{
	double step = bits == 32 ? 1.40129846432481707092e-45 : 4.9406564584124654e-324;
	int certain = 0;

	for (double ten = 10; certain < (bits == 32 ? 6 : 15) && value / step > ten * 2; ten *= 10)
		certain++;
	return certain ? certain : 1;
}

/*
 * The doubles below a power of two are twice as dense as those above: so the nearest decimal may
 * not be parsed as the value, but the next larger one may. Every decimal of up to `sure` digits is
 * represented exactly enough, so fewer digits need not be tried.
 */
static void find_shortest(struct shortest *s, double value, int bits)
{
	int most = bits == 32 ? 9 : 17;
	int certain = certain_digits(value, bits);

	for (int count = certain; count <= most; count++) {
		round_to(s, value, count);
		if (count == most)
			break;
		if (shortest_value(s, bits) == value && !rounds_up(value, count))
			break;
		step_up(s);
		if (shortest_value(s, bits) == value)
			break;
	}
	while (s->count > 1 && s->digits[s->count - 1] == '0')
		s->count--;
}

static size_t spell_exponent(const struct shortest *s, int two_digits, char *at)
{
	char *to = at;

	*to++ = s->digits[0];
	if (s->count > 1) {
		*to++ = '.';
		memcpy(to, s->digits + 1, (size_t)s->count - 1);
		to += s->count - 1;
	}
	to += snprintf(to, 8, two_digits ? "e%c%02d" : "e%c%d", s->exponent < 0 ? '-' : '+',
	    abs(s->exponent));
	return (size_t)(to - at);
}

static size_t spell_plain(const struct shortest *s, char *at)
{
	char *to = at;
	int i = 0;

	if (s->exponent < 0) {
		*to++ = '0';
		*to++ = '.';
		for (int zeros = -s->exponent - 1; zeros > 0; zeros--)
			*to++ = '0';
	} else {
		for (; i <= s->exponent; i++)
			*to++ = i < s->count ? s->digits[i] : '0';
		if (i < s->count)
			*to++ = '.';
	}
	for (; i < s->count; i++)
		*to++ = s->digits[i];
	return (size_t)(to - at);
}

size_t mpijob__doc_number_spell(double value, int bits, char into[MPIJOB__DOC_NUMBER_ROOM])
{
	struct shortest s = { .count = 0 };
	char *to = into;
	int plain;

	if (signbit(value)) {
		*to++ = '-';
		value = -value;
	}
	if (bits == 32)
		value = (double)(float)value;
	if (isinf(value)) {
		memcpy(to, ".inf", 5);
		return (size_t)(to - into) + 4;
	}
	if (value == 0) {
		*to++ = '0';
	} else {
		find_shortest(&s, value, bits);
		plain = bits == 32 ? s.exponent >= -4 && s.exponent < 6
				   : s.exponent >= -6 && s.exponent < 21;
		to += plain ? spell_plain(&s, to)
			    : spell_exponent(&s, bits == 32 || s.exponent > 0, to);
	}
	*to = 0;
	return (size_t)(to - into);
}

static size_t spell_whole(int negative, uint64_t value, char *into)
{
	char digits[20]; /* of UINT64_MAX */
	size_t at = sizeof(digits), len;

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	len = sizeof(digits) - at;
	into[0] = '-';
	memcpy(into + negative, digits + at, len);
	into[(size_t)negative + len] = 0;
	return (size_t)negative + len;
}

size_t mpijob__doc_number_canonical(const char *text, size_t len,
    char into[MPIJOB__DOC_NUMBER_ROOM])
{
	uint64_t whole;
	double value;
	int negative;

	if (plain_whole(text, text + len, &negative, &whole)) {
		return spell_whole(negative && whole, whole, into);
	}
	if (!mpijob__doc_number_double(text, len, &value))
		return 0;
	return mpijob__doc_number_spell(value, 64, into);
}

/* Go parses `-0` as an integer and loses the sign, and `-0.0` as a double and keeps it. */
static size_t unsigned_zero(char *spelled, size_t len)
{
	if (len != 2 || memcmp(spelled, "-0", 2) != 0)
		return len;
	spelled[0] = '0';
	return 1;
}

int mpijob__doc_number_equal(const char *a, size_t a_len, const char *b, size_t b_len)
{
	char a_room[MPIJOB__DOC_NUMBER_ROOM], b_room[MPIJOB__DOC_NUMBER_ROOM];

	if (a_len == b_len && memcmp(a, b, a_len) == 0)
		return 1;
	a_len = unsigned_zero(a_room, mpijob__doc_number_canonical(a, a_len, a_room));
	b_len = unsigned_zero(b_room, mpijob__doc_number_canonical(b, b_len, b_room));
	return a_len && a_len == b_len && memcmp(a_room, b_room, a_len) == 0;
}

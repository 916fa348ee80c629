/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses, calculates and prints quantities of Kubernetes. Suffixes are decimal (n u m k M G T P E),
 * binary (Ki Mi Gi Ti Pi Ei) or exponents (e3); this format of a quantity decides how a sum is
 * printed. As in Kubernetes, fractions of a billionth are rounded away from zero, and a binary
 * quantity is at most 2^63-1. Values are whole billionths in 192 bits, so that sums over any number
 * of containers and replicas are exact.
 */
#include "base/quantity.h"

#include <string.h>

#define NANO_DIGITS 9
#define BILLION     1000000000u

static int is_zero(const struct mpijob__base_quantity *q)
{
	for (size_t i = 0; i < MPIJOB__BASE_QUANTITY_LIMBS; i++)
		if (q->limb[i] != 0)
			return 0;
	return 1;
}

/* limb = limb * factor + addend. Returns 1, or 0 on overflow. */
static int scale_up(uint32_t *limb, uint32_t factor, uint32_t addend)
{
	uint64_t carry = addend;

	for (size_t i = 0; i < MPIJOB__BASE_QUANTITY_LIMBS; i++) {
		carry += (uint64_t)limb[i] * factor;
		limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return carry == 0;
}

/* limb = limb / divisor. Returns the remainder. */
static uint32_t scale_down(uint32_t *limb, uint32_t divisor)
{
	uint64_t rest = 0;

	for (size_t i = MPIJOB__BASE_QUANTITY_LIMBS; i-- > 0;) {
		rest = (rest << 32) | limb[i];
		limb[i] = (uint32_t)(rest / divisor);
		rest %= divisor;
	}
	return (uint32_t)rest;
}

static int compare_size(const uint32_t *a, const uint32_t *b)
{
	for (size_t i = MPIJOB__BASE_QUANTITY_LIMBS; i-- > 0;)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int add_size(uint32_t *a, const uint32_t *b)
{
	uint64_t carry = 0;

	for (size_t i = 0; i < MPIJOB__BASE_QUANTITY_LIMBS; i++) {
		carry += (uint64_t)a[i] + b[i];
		a[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return carry == 0;
}

/* a = a - b; a must not be smaller than b. */
static void subtract_size(uint32_t *a, const uint32_t *b)
{
	uint64_t borrow = 0;

	for (size_t i = 0; i < MPIJOB__BASE_QUANTITY_LIMBS; i++) {
		uint64_t take = (uint64_t)b[i] + borrow;

		borrow = a[i] < take;
		a[i] = (uint32_t)(a[i] - take);
	}
}

/* limb = limb * 10^power; a negative power divides and rounds up. */
static int shift_decimal(uint32_t *limb, int64_t power)
{
	int rest = 0;

	for (; power > 0; power--)
		if (!scale_up(limb, 10, 0))
			return 0;
	for (; power < 0; power++) {
		int zero = 1;

		rest |= scale_down(limb, 10) != 0;
		for (size_t i = 0; i < MPIJOB__BASE_QUANTITY_LIMBS; i++)
			zero &= limb[i] == 0;
		if (zero)
			break;
	}
	return !rest || scale_up(limb, 1, 1);
}

struct suffix {
	int format;
	int bits;         /* binary: power of two */
	int64_t exponent; /* else: power of ten */
};

/* Read the number of an exponent such as "e-3"; `at` is after the e. */
static int read_exponent(const char *at, const char *end, int64_t *out)
{
	int negative = at < end && *at == '-';
	int64_t value = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return 0;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9')
			return 0;
		if (value < 100000)
			value = value * 10 + (*at - '0');
	}
	*out = negative ? -value : value;
	return 1;
}

static int read_suffix(const char *at, const char *end, struct suffix *out)
{
	static const char decimal[] = "num\0kMGTPE";
	static const char binary[] = "KMGTPE";
	const char *found;

	*out = (struct suffix){ MPIJOB__BASE_QUANTITY_DECIMAL, 0, 0 };
	if (at == end)
		return 1;
	if (end - at == 1) {
		found = memchr(decimal, *at, sizeof(decimal) - 1);
		if (found == NULL || *at == '\0')
			return 0;
		out->exponent = 3 * (int64_t)(found - decimal) - NANO_DIGITS;
		return 1;
	}
	if (end - at == 2 && at[1] == 'i') {
		found = memchr(binary, *at, sizeof(binary) - 1);
		if (found == NULL)
			return 0;
		out->format = MPIJOB__BASE_QUANTITY_BINARY;
		out->bits = 10 * (int)(found - binary + 1);
		return 1;
	}
	out->format = MPIJOB__BASE_QUANTITY_EXPONENT;
	return (*at == 'e' || *at == 'E') && read_exponent(at + 1, end, &out->exponent);
}

/* Read the digits of a number into `limb`, and count those after its point. *fits is set to whether
 * they fit. Returns the end of the number. */
static const char *read_digits(const char *at, const char *end, uint32_t *limb, int64_t *decimals,
    int *fits)
{
	int point = 0;

	*decimals = 0;
	*fits = 1;
	for (; at < end; at++) {
		if (*at == '.' && !point) {
			point = 1;
			continue;
		}
		if (*at < '0' || *at > '9')
			break;
		*fits &= scale_up(limb, 10, (uint32_t)(*at - '0'));
		*decimals += point;
	}
	return at;
}

/* A binary quantity is at most 2^63-1, and one below 1 counts as decimal. */
static void bound_binary(struct mpijob__base_quantity *q)
{
	struct mpijob__base_quantity limit = { { UINT32_MAX, UINT32_MAX >> 1, 0, 0, 0, 0 }, 0, 0 };
	static const uint32_t one[MPIJOB__BASE_QUANTITY_LIMBS] = { BILLION, 0, 0, 0, 0, 0 };

	shift_decimal(limit.limb, NANO_DIGITS);
	if (compare_size(q->limb, limit.limb) > 0)
		memcpy(q->limb, limit.limb, sizeof(limit.limb));
	if (compare_size(q->limb, one) < 0 && !is_zero(q))
		q->format = MPIJOB__BASE_QUANTITY_DECIMAL;
}

int mpijob__base_quantity_parse(const char *text, size_t len, struct mpijob__base_quantity *out)
{
	struct mpijob__base_quantity q = { { 0 }, 0, 0 };
	const char *end = text + len, *at = text;
	struct suffix suffix;
	int64_t decimals;
	int fits;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (at == end)
		return 0;
	if (*at == '-' || *at == '+')
		q.negative = *at++ == '-';
	at = read_digits(at, end, q.limb, &decimals, &fits);
	if (!fits || !read_suffix(at, end, &suffix))
		return 0;
	q.format = suffix.format;
	if (is_zero(&q)) {
		q.negative = 0;
		*out = q;
		return 1;
	}
	if (!scale_up(q.limb, UINT32_C(1) << (suffix.bits / 2), 0) ||
	    !scale_up(q.limb, UINT32_C(1) << (suffix.bits / 2), 0))
		return 0;
	if (!shift_decimal(q.limb, suffix.exponent - decimals + NANO_DIGITS))
		return 0;
	if (q.format == MPIJOB__BASE_QUANTITY_BINARY)
		bound_binary(&q);
	*out = q;
	return 1;
}

int mpijob__base_quantity_multiply(struct mpijob__base_quantity *quantity, int64_t factor)
{
	uint64_t size = factor < 0 ? (uint64_t)0 - (uint64_t)factor : (uint64_t)factor;
	struct mpijob__base_quantity high = *quantity;

	if (!scale_up(quantity->limb, (uint32_t)size, 0) ||
	    !scale_up(high.limb, (uint32_t)(size >> 32), 0))
		return 0;
	if (high.limb[MPIJOB__BASE_QUANTITY_LIMBS - 1] != 0)
		return 0;
	memmove(high.limb + 1, high.limb, (MPIJOB__BASE_QUANTITY_LIMBS - 1) * sizeof(high.limb[0]));
	high.limb[0] = 0;
	if (!add_size(quantity->limb, high.limb))
		return 0;
	quantity->negative = !is_zero(quantity) && (quantity->negative != (factor < 0));
	return 1;
}

int mpijob__base_quantity_add(struct mpijob__base_quantity *quantity,
    const struct mpijob__base_quantity *other)
{
	struct mpijob__base_quantity sum;

	if (is_zero(quantity)) {
		*quantity = *other;
		return 1;
	}
	if (quantity->negative == other->negative)
		return add_size(quantity->limb, other->limb);
	if (compare_size(quantity->limb, other->limb) >= 0) {
		subtract_size(quantity->limb, other->limb);
		quantity->negative &= !is_zero(quantity);
		return 1;
	}
	sum = *other;
	subtract_size(sum.limb, quantity->limb);
	sum.format = quantity->format;
	*quantity = sum;
	return 1;
}

int mpijob__base_quantity_compare(const struct mpijob__base_quantity *a,
    const struct mpijob__base_quantity *b)
{
	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return a->negative ? compare_size(b->limb, a->limb) : compare_size(a->limb, b->limb);
}

int mpijob__base_quantity_is_whole(const struct mpijob__base_quantity *quantity)
{
	struct mpijob__base_quantity rest = *quantity;

	return scale_down(rest.limb, BILLION) == 0;
}

int mpijob__base_quantity_value(const struct mpijob__base_quantity *quantity, int64_t *out)
{
	struct mpijob__base_quantity whole = *quantity;
	uint64_t size;

	if (scale_down(whole.limb, BILLION) && !scale_up(whole.limb, 1, 1))
		return 0;
	for (size_t i = 2; i < MPIJOB__BASE_QUANTITY_LIMBS; i++) {
		if (whole.limb[i])
			return 0;
	}
	size = (uint64_t)whole.limb[1] << 32 | whole.limb[0];
	if (size > INT64_MAX)
		return 0;
	*out = quantity->negative ? -(int64_t)size : (int64_t)size;
	return 1;
}

/* Print a whole number. Returns the length. */
static size_t print_whole(const uint32_t *value, int negative, char *out)
{
	struct mpijob__base_quantity rest = { { 0 }, 0, 0 };
	char digits[MPIJOB__BASE_QUANTITY_TEXT];
	size_t count = 0, len = 0;

	memcpy(rest.limb, value, sizeof(rest.limb));
	do {
		digits[count++] = (char)('0' + scale_down(rest.limb, 10));
	} while (!is_zero(&rest));
	if (negative)
		out[len++] = '-';
	while (count > 0)
		out[len++] = digits[--count];
	return len;
}

/* Divide by `factor` while there is no remainder, at most `most` times. Returns how often. */
static int take_factors(uint32_t *limb, uint32_t factor, int most)
{
	uint32_t trial[MPIJOB__BASE_QUANTITY_LIMBS];
	int times = 0;

	while (times < most) {
		memcpy(trial, limb, sizeof(trial));
		if (scale_down(trial, factor) != 0)
			break;
		memcpy(limb, trial, sizeof(trial));
		times++;
	}
	return times;
}

static size_t print_exponent(int exponent, char *out)
{
	size_t len = 0;

	if (exponent == 0)
		return 0;
	out[len++] = 'e';
	if (exponent < 0)
		out[len++] = '-';
	exponent = exponent < 0 ? -exponent : exponent;
	if (exponent >= 10)
		out[len++] = (char)('0' + exponent / 10);
	out[len++] = (char)('0' + exponent % 10);
	return len;
}

/* A binary quantity is printed as binary if it is whole and at least 1024; `whole` receives its
 * value. */
static int print_as_binary(const struct mpijob__base_quantity *q, uint32_t *whole)
{
	static const uint32_t kibi[MPIJOB__BASE_QUANTITY_LIMBS] = { 1024, 0, 0, 0, 0, 0 };

	if (q->format != MPIJOB__BASE_QUANTITY_BINARY)
		return 0;
	memcpy(whole, q->limb, sizeof(q->limb));
	return scale_down(whole, BILLION) == 0 && compare_size(whole, kibi) >= 0;
}

size_t mpijob__base_quantity_print(const struct mpijob__base_quantity *quantity,
    char out[MPIJOB__BASE_QUANTITY_TEXT])
{
	static const char decimal[] = "num\0kMGTPE";
	static const char binary[] = "\0KMGTPE";
	uint32_t value[MPIJOB__BASE_QUANTITY_LIMBS];
	size_t len;
	int times;

	if (is_zero(quantity)) {
		memcpy(out, "0", 2);
		return 1;
	}
	if (print_as_binary(quantity, value)) {
		times = take_factors(value, 1024, 6);
		len = print_whole(value, quantity->negative, out);
		if (times > 0) {
			out[len++] = binary[times];
			out[len++] = 'i';
		}
	} else {
		memcpy(value, quantity->limb, sizeof(value));
		times = take_factors(value, 1000,
		    quantity->format == MPIJOB__BASE_QUANTITY_EXPONENT ? 19 : 9);
		len = print_whole(value, quantity->negative, out);
		if (quantity->format == MPIJOB__BASE_QUANTITY_EXPONENT)
			len += print_exponent(3 * times - NANO_DIGITS, out + len);
		else if (decimal[times] != '\0')
			out[len++] = decimal[times];
	}
	out[len] = '\0';
	return len;
}

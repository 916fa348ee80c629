/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities: what is read, how it is printed, sums and products. The expected texts are those of
 * apimachinery v0.35.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"

static struct mpijob__base_quantity parse(const char *text)
{
	struct mpijob__base_quantity q;

	if (!mpijob__base_quantity_parse(text, strlen(text), &q))
		fail_msg("'%s' is not read", text);
	return q;
}

static void check_print(const struct mpijob__base_quantity *q, const char *expected)
{
	char text[MPIJOB__BASE_QUANTITY_TEXT];
	size_t len = mpijob__base_quantity_print(q, text);

	assert_string_equal(text, expected);
	assert_int_equal(len, strlen(expected));
}

static void prints_canonically(void **state)
{
	static const char *const pairs[][2] = {
		{ "0", "0" },
		{ "0Gi", "0" },
		{ "-0", "0" },
		{ "1", "1" },
		{ "+1", "1" },
		{ "-1", "-1" },
		{ "001", "1" },
		{ "1000m", "1" },
		{ "0.5", "500m" },
		{ "1.5", "1500m" },
		{ "100m", "100m" },
		{ "1u", "1u" },
		{ "1n", "1n" },
		{ "0.1n", "1n" },
		{ "-0.1n", "-1n" },
		{ "1.0000000001", "1000000001n" },
		{ "1000", "1k" },
		{ "1500", "1500" },
		{ "1000k", "1M" },
		{ "12E", "12E" },
		{ "1Ki", "1Ki" },
		{ "1024", "1024" },
		{ "2048Ki", "2Mi" },
		{ "1.5Gi", "1536Mi" },
		{ "0.5Ki", "512" },
		{ "1023Mi", "1023Mi" },
		{ "1024Gi", "1Ti" },
		{ "0.3Ki", "307200m" },
		{ "1e3", "1e3" },
		{ "1E3", "1e3" },
		{ "12e-3", "12e-3" },
		{ "1e2", "100" },
		{ "1.5e4", "15e3" },
		{ "5.", "5" },
		{ ".5", "500m" },
		{ "8Ei", "9223372036854775807" },
		{ "7Ei", "7Ei" },
		{ "-2Gi", "-2Gi" },
		{ "64k", "64k" },
		{ "0.001Gi", "1073741824m" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "100000000000000000000", "100E" },
		{ "1e-30", "1e-9" },
		{ " 2 ", "2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct mpijob__base_quantity q = parse(pairs[i][0]);

		check_print(&q, pairs[i][1]);
	}
}

static void refuses_what_is_none(void **state)
{
	static const char *const texts[] = { "", "  ", "x", "1x", "1ki", "1KI", "1mi", "1 Gi",
		"--1", "1e", "1e+", "1e3i", "1.2.3", "1Gii", "1Zi", "0x10", "1_000", "1,5", "Gi1",
		"1e1000" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct mpijob__base_quantity q;

		if (mpijob__base_quantity_parse(texts[i], strlen(texts[i]), &q))
			fail_msg("'%s' is read", texts[i]);
	}
}

static void adds(void **state)
{
	static const char *const rows[][3] = {
		{ "1", "500m", "1500m" },
		{ "1Gi", "1G", "2073741824" },
		{ "1G", "1Gi", "2073741824" },
		{ "1Gi", "1Gi", "2Gi" },
		{ "0", "1Gi", "1Gi" },
		{ "0", "1e3", "1e3" },
		{ "1Gi", "-1Gi", "0" },
		{ "1Gi", "-2Gi", "-1Gi" },
		{ "-1", "3", "2" },
		{ "512", "1Ki", "1536" },
		{ "1Ki", "512", "1536" },
		{ "1e3", "1", "1001" },
		{ "1Ki", "0.5", "1024500m" },
		{ "7Ei", "7Ei", "14Ei" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mpijob__base_quantity a = parse(rows[i][0]), b = parse(rows[i][1]);

		assert_int_equal(mpijob__base_quantity_add(&a, &b), 1);
		check_print(&a, rows[i][2]);
	}
}

static void multiplies(void **state)
{
	static const struct {
		const char *text;
		int64_t factor;
		const char *product;
	} rows[] = {
		{ "500m", 4, "2" },
		{ "1.5Gi", 2, "3Gi" },
		{ "1", 0, "0" },
		{ "3", -2, "-6" },
		{ "-3", -2, "6" },
		{ "100m", 10000, "1k" },
		{ "7Ei", 2147483647, "15032385529Ei" },
		{ "1n", INT64_C(5000000000), "5" },
		{ "1", INT64_MIN, "-9223372036854775808" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mpijob__base_quantity q = parse(rows[i].text);

		assert_int_equal(mpijob__base_quantity_multiply(&q, rows[i].factor), 1);
		check_print(&q, rows[i].product);
	}
}

static void tells_when_it_does_not_fit(void **state)
{
	struct mpijob__base_quantity a = parse("1e47"), b;

	(void)state;
	assert_int_equal(mpijob__base_quantity_multiply(&a, INT64_MAX), 0);
	a = parse("6e48");
	b = a;
	assert_int_equal(mpijob__base_quantity_add(&a, &b), 0);
	/* A format is given to a zero only by what is added to it. */
	a = parse("0");
	b = parse("0Gi");
	assert_int_equal(mpijob__base_quantity_add(&a, &b), 1);
	assert_int_equal(a.format, MPIJOB__BASE_QUANTITY_BINARY);
}

static void compares(void **state)
{
	static const char *const ascending[] = { "-2Gi", "-1", "-1m", "0", "1n", "1m", "1", "1k",
		"1Ki", "1M", "1Mi", "7Ei" };

	(void)state;
	for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++)
		for (size_t j = 0; j < sizeof(ascending) / sizeof(ascending[0]); j++) {
			struct mpijob__base_quantity a = parse(ascending[i]),
						     b = parse(ascending[j]);

			assert_int_equal(mpijob__base_quantity_compare(&a, &b), i < j ? -1 : i > j);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_canonically),
		cmocka_unit_test(refuses_what_is_none),
		cmocka_unit_test(adds),
		cmocka_unit_test(multiplies),
		cmocka_unit_test(tells_when_it_does_not_fit),
		cmocka_unit_test(compares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 3339: what is read, what is not, and that every second comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/time.h"

static void test_p11_reads(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2019-07-09T22:15:51Z", 1562710551 },
		{ "2019-07-10T00:15:51+02:00", 1562710551 },
		{ "2019-07-09T16:45:51-05:30", 1562710551 },
		{ "2019-07-09T22:15:51.999999999Z", 1562710551 },
		{ "2019-07-09T22:15:51,5Z", 1562710551 },
		{ "1969-12-31T23:59:59Z", -1 },
		{ "2000-02-29T00:00:00Z", 951782400 },
		{ "0000-01-01T00:00:00Z", -62167219200 },
		{ "0001-01-01T00:00:00Z", -62135596800 },
		{ "9999-12-31T23:59:59Z", 253402300799 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t seconds = 42;

		assert_int_equal(mpijob__base_time_parse(cases[i].text, &seconds), 1);
		assert_int_equal(seconds, cases[i].seconds);
	}
}

static void fractions(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
		int32_t nanoseconds;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0, 0 },
		{ "2001-09-09T01:46:40Z", 1000000000, 0 },
		{ "2001-09-09T03:46:40+02:00", 1000000000, 0 },
		{ "2001-09-08T20:16:40.125999-05:30", 1000000000, 125999000 },
		{ "2001-09-09T01:46:40,5Z", 1000000000, 500000000 },
		{ "2001-09-09T01:46:40.0000000019Z", 1000000000, 1 },
		{ "2001-09-09T01:46:40.99999999999999999999Z", 1000000000, 999999999 },
		{ "2000-02-29T00:00:00Z", 951782400, 0 },
		{ "2024-12-31T23:59:59Z", 1735689599, 0 },
		{ "2001-09-09T1:46:40Z", 1000000000, 0 },
		{ "2001-09-09T04:46:40+02:60", 1000000000, 0 },
	};
	char text[MPIJOB__BASE_TIME_NS_SIZE];
	int64_t seconds;
	int32_t nanoseconds;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(mpijob__base_time_parse_ns(rows[i].text, &seconds, &nanoseconds),
		    1);
		assert_int_equal(seconds, rows[i].seconds);
		assert_int_equal(nanoseconds, rows[i].nanoseconds);
	}
	assert_int_equal(mpijob__base_time_format_ns(1000000000, 1002003, 9, text), 1);
	assert_string_equal(text, "2001-09-09T01:46:40.001002003Z");
	assert_int_equal(mpijob__base_time_format_ns(1000000000, 999999999, 3, text), 1);
	assert_string_equal(text, "2001-09-09T01:46:40.999Z");
	assert_int_equal(mpijob__base_time_format_ns(-1, 0, 1, text), 1);
	assert_string_equal(text, "1969-12-31T23:59:59.0Z");
	assert_int_equal(mpijob__base_time_format_ns(INT64_MAX, 0, 1, text), 0);
	assert_string_equal(text, "");
}

static void test_p11_refuses(void **state)
{
	static const char *const cases[] = {
		"",
		"2019",
		"2019-07-09",
		"2019-07-09T22:15:51",
		"2019-07-09 22:15:51Z",
		"2019-07-09t22:15:51Z",
		"2019-07-09T22:15:51z",
		"2019-02-29T00:00:00Z",
		"1900-02-29T00:00:00Z",
		"2019-13-01T00:00:00Z",
		"2019-00-01T00:00:00Z",
		"2019-01-00T00:00:00Z",
		"2019-01-32T00:00:00Z",
		"2019-01-01T24:00:00Z",
		"2019-01-01T00:60:00Z",
		"2019-01-01T00:00:60Z",
		"2019-01-01T00:00:00.Z",
		"2019-01-01T00:00:00+0200",
		"2019-01-01T00:00:00+02",
		"2019-01-01T00:00:00Z ",
		" 2019-01-01T00:00:00Z",
		"19-01-01T00:00:00Z",
		"2001-09-09T24:00:00Z",
		"2001-09-09T1:",
		"2001-09-09T:46:40Z",
		"2001-09-09T01:46:40Zx",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t seconds = 42;

		assert_int_equal(mpijob__base_time_parse(cases[i], &seconds), 0);
		assert_int_equal(seconds, 42);
	}
}

static void test_p11_comes_back(void **state)
{
	const int64_t first = -62167219200, last = 253402300799;
	char text[MPIJOB__BASE_TIME_SIZE];
	int64_t seconds;

	(void)state;
	/* A step with no common factor with a day visits all times of day and dates. */
	for (int64_t at = first; at <= last; at += 7654321) {
		time_t libc_time = (time_t)at;
		struct tm tm;

		assert_int_equal(mpijob__base_time_format(at, text), 1);
		assert_int_equal(mpijob__base_time_parse(text, &seconds), 1);
		assert_int_equal(seconds, at);
		assert_non_null(gmtime_r(&libc_time, &tm));
		assert_int_equal((text[5] - '0') * 10 + (text[6] - '0'), tm.tm_mon + 1);
		assert_int_equal((text[8] - '0') * 10 + (text[9] - '0'), tm.tm_mday);
	}
	assert_int_equal(mpijob__base_time_format(last, text), 1);
	assert_string_equal(text, "9999-12-31T23:59:59Z");
	assert_int_equal(mpijob__base_time_format(last + 1, text), 0);
	assert_string_equal(text, "");
	assert_int_equal(mpijob__base_time_format(first - 1, text), 0);
	assert_int_equal(mpijob__base_time_format(INT64_MAX, text), 0);
	assert_int_equal(mpijob__base_time_format(INT64_MIN, text), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_p11_reads),
		cmocka_unit_test(fractions), cmocka_unit_test(test_p11_refuses),
		cmocka_unit_test(test_p11_comes_back) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

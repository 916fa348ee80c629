/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/duration.h"

#include <mpijob/base.h>

static void test_read(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = { { "90s", 90000 }, { "5m", 300000 }, { "1h30m", 5400000 }, { "250ms", 250 },
		{ "60", 60000 }, { "1m30", 90000 }, { "0", 0 }, { "1h1m1s1ms", 3661001 },
		{ "9007199254740992ms", INT64_C(1) << 53 } };
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(mpijob__base_duration_parse(rows[i].text, &ms), 0);
		assert_int_equal(ms, rows[i].ms);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = { "", "s", "5x", "-5s", "+5s", " 5s", "5s ", "1.5h",
		"5 m", "1m30x", "9007199254740993ms", "9007199254741s",
		"99999999999999999999999999h" };
	int64_t ms = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(mpijob__base_duration_parse(texts[i], &ms), MPIJOB_ERR_SYNTAX);
	assert_int_equal(ms, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes, UUIDs and suffixes of names; the clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"
#include "../support/fake_clock.h"

#include <mpijob/base.h>

static void bytes(void **state)
{
	unsigned char data[4096] = { 0 }, seen[256] = { 0 };
	size_t different = 0;

	(void)state;
	assert_int_equal(mpijob__base_random_fill(data, sizeof(data)), 0);
	for (size_t i = 0; i < sizeof(data); i++)
		seen[data[i]] = 1;
	for (size_t i = 0; i < sizeof(seen); i++)
		different += seen[i];
	assert_true(different > 200);
	assert_int_equal(mpijob__base_random_fill(NULL, 0), 0);
}

static void names(void **state)
{
	char uuid[MPIJOB__BASE_RANDOM_UUID_SIZE], other[MPIJOB__BASE_RANDOM_UUID_SIZE];
	char suffix[18] = "................|";

	(void)state;
	assert_int_equal(mpijob__base_random_uuid(uuid), 0);
	assert_int_equal(mpijob__base_random_uuid(other), 0);
	assert_int_equal(strlen(uuid), 36);
	assert_int_equal(strspn(uuid, "0123456789abcdef-"), 36);
	assert_true(uuid[8] == '-' && uuid[13] == '-' && uuid[18] == '-' && uuid[23] == '-');
	assert_true(uuid[14] == '4' && strchr("89ab", uuid[19]));
	assert_string_not_equal(uuid, other);
	assert_int_equal(mpijob__base_random_suffix(suffix, 16), 0);
	assert_int_equal(strspn(suffix, "bcdfghjklmnpqrstvwxz2456789"), 16);
	assert_string_equal(suffix + 16, "|");
	assert_int_equal(mpijob__base_random_suffix(suffix, 17), MPIJOB_ERR_IO);
}

static void clocks(void **state)
{
	int64_t us = mpijob__base_clock_monotonic_us(), wall = mpijob__base_clock_wall_ms();

	(void)state;
	fake_clock_us_ += 1500;
	assert_int_equal(mpijob__base_clock_monotonic_us(), us + 1500);
	assert_int_equal(mpijob__base_clock_monotonic_ms(), (us + 1500) / 1000);
	assert_true(mpijob__base_clock_wall_ms() - wall <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bytes), cmocka_unit_test(names),
		cmocka_unit_test(clocks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What time it is for the server: bounds that narrow, clocks that jump, dates that are none. */
#include "../support/fake_clock.h"

#include "client/server_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
	"Oct", "Nov", "Dec" };

/* The server answers at `server_ms` of its clock. */
static void answer(struct mpijob__client_server_clock *clock, int64_t server_ms, int64_t sent_ms,
    int64_t came_ms)
{
	time_t seconds = (time_t)(server_ms / 1000);
	struct tm utc;
	char date[64];

	gmtime_r(&seconds, &utc);
	snprintf(date, sizeof(date), "%s, %02d %s %d %02d:%02d:%02d GMT", days[utc.tm_wday],
	    utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
	    utc.tm_sec);
	mpijob__client_server_clock_take(clock, date, sent_ms, came_ms);
}

static void a_date_is_read(void **state)
{
	struct mpijob__client_server_clock clock = { 0, 0 };

	(void)state;
	mpijob__client_server_clock_take(&clock, "Sat, 21 Nov 2026 18:37:20 GMT", 4000, 4000);
	assert_int_equal(clock.known, 1);
	assert_int_equal(mpijob__client_server_clock_ms(&clock, 4000), INT64_C(1795286240000));
	for (int month = 0; month < 12; month++) {
		int64_t ms = INT64_C(1767225600000) + INT64_C(86400000) * 31 * month;

		memset(&clock, 0, sizeof(clock));
		answer(&clock, ms, 0, 0);
		assert_int_equal(mpijob__client_server_clock_ms(&clock, 0), ms);
	}
}

static void what_is_no_date_says_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		",",
		"now",
		"Sat, 21 Nov 2026",
		"Sat, 21 Nov 2026 18:37:20",
		"Sat, 21 Nov 2026 18:37:20 UTC",
		"Sat, 21 ovD 2026 18:37:20 GMT",
		"Sat, 21 Nun 2026 18:37:20 GMT",
		"Sat, xx Nov 2026 18:37:20 GMT",
		"Sat, 21 Nov 2026 99:37:20 GMT",
		"Saturday, 21-Nov-26 18:37:20 GMT",
		"Sat Nov 21 18:37:20 2026",
	};
	struct mpijob__client_server_clock clock = { 0, 0 };
	int64_t before, told;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		mpijob__client_server_clock_take(&clock, texts[i], 0, 0);
		assert_int_equal(clock.known, 0);
	}
	before = fake_clock_wall_s() * INT64_C(1000);
	told = mpijob__client_server_clock_ms(&clock, 77);
	assert_int_equal(told, before);
}

/* Whatever the two clocks show, soon it is known to some milliseconds. */
static void bounds_narrow(void **state)
{
	(void)state;
	for (int64_t ahead = -7200000; ahead <= 7200000; ahead += 3600000) {
		struct mpijob__client_server_clock clock = { 0, 0 };
		int64_t true_ahead = INT64_C(1795286240000) + ahead + 337, now = 1000;

		for (int i = 0; i < 200; i++) {
			now += 137;
			answer(&clock, now + 10 + true_ahead, now, now + 20);
			assert_in_range(mpijob__client_server_clock_ms(&clock, now) -
					    (now + true_ahead) + 1100,
			    0, 1200);
		}
		assert_in_range(mpijob__client_server_clock_ms(&clock, now) - (now + true_ahead) +
				    50,
		    0, 100);
	}
}

/* The server's clock is set, forwards and back: one answer later that is known. A slow answer takes
 * nothing back. */
static void a_clock_is_set(void **state)
{
	struct mpijob__client_server_clock clock = { 0, 0 };
	int64_t server = INT64_C(1795286240500);

	(void)state;
	answer(&clock, server, 1000, 1000);
	answer(&clock, server + 3600000, 2000, 2000);
	assert_in_range(mpijob__client_server_clock_ms(&clock, 2000) - (server + 3600000) + 1000, 0,
	    2000);
	answer(&clock, server - 3600000, 3000, 3000);
	assert_in_range(mpijob__client_server_clock_ms(&clock, 3000) - (server - 3600000) + 1000, 0,
	    2000);
	/* Asked at 4,000, said at once, heard half a minute later. */
	answer(&clock, server - 3600000 + 1000, 4000, 34000);
	assert_in_range(mpijob__client_server_clock_ms(&clock, 34000) - (server - 3600000 + 31000) +
			    1000,
	    0, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_date_is_read),
		cmocka_unit_test(what_is_no_date_says_nothing),
		cmocka_unit_test(bounds_narrow),
		cmocka_unit_test(a_clock_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A watch whose server says nothing any more although its connection stands. */
#include "../support/watch_fixture.h"

#define BOOKMARK(version)                                                                         \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}" \
	"\n"

static int64_t left_ms(const struct watch_fixture *fixture)
{
	return mpijob__client_watch_due_ms(fixture->watch) - clock_now;
}

/* More of the stream that is open. */
static void say(struct watch_fixture *fixture, const char *text)
{
	struct fake_exchange *exchange = fixture->fake.exchanges;

	free(exchange->text);
	exchange->text = strdup(text);
	exchange->told = 0;
	watch_run(fixture);
}

static void set_up_watching(struct watch_fixture *fixture)
{
	watch_set_up(fixture);
	reply(fixture, 200, LIST("10", ""));
	reply_open(fixture, EVENT("ADDED", "a", "11"));
	watch_run(fixture);
}

static void test_bookmarks_are_missed(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	set_up_watching(&fixture);
	assert_true(left_ms(&fixture) > 300000);
	say(&fixture, BOOKMARK("12"));
	assert_int_equal(left_ms(&fixture), 180000);
	/* Anything that comes will do. */
	clock_now += 100000;
	say(&fixture, EVENT("MODIFIED", "a", "13"));
	assert_int_equal(left_ms(&fixture), 180000);
	assert_int_equal(fixture.fake.fresh, 0);
	/* Cut, and resumed over another connection. */
	sleep_over(&fixture);
	reply_open(&fixture, EVENT("MODIFIED", "a", "14"));
	watch_run(&fixture);
	asked(&fixture, 2, "resourceVersion", "13");
	assert_int_equal(fixture.fake.fresh, 1);
	seen_is(&fixture, "()10 Aa@11 Ma@13 Ma@14 ");
	assert_int_equal(fixture.failures, 0);
	assert_int_equal(left_ms(&fixture), 180000);
	watch_tear_down(&fixture);
}

/* Nor is the next stream allowed to be silent from its beginning. */
static void test_the_next_stream_is_silent_too(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	set_up_watching(&fixture);
	say(&fixture, BOOKMARK("12"));
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(sleep_over(&fixture), 180000);
		reply_open(&fixture, "");
		watch_run(&fixture);
		assert_int_equal(fixture.fake.fresh, i);
	}
	watch_tear_down(&fixture);
}

/* It never stays open for longer than was asked for. */
static void test_the_end_comes_all_the_same(void **state)
{
	struct watch_fixture fixture;
	int64_t begun = clock_now;

	(void)state;
	set_up_watching(&fixture);
	for (int i = 0; i < 10 && left_ms(&fixture) > 60000; i++) {
		clock_now += 60000;
		say(&fixture, BOOKMARK("12"));
	}
	assert_true(left_ms(&fixture) < 180000);
	assert_true(clock_now + left_ms(&fixture) - begun <= 630000);
	watch_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bookmarks_are_missed),
		cmocka_unit_test(test_the_next_stream_is_silent_too),
		cmocka_unit_test(test_the_end_comes_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

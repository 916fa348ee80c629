/* SPDX-License-Identifier: Apache-2.0 */
/* A watch whose server says nothing any more although its connection stands. */
#include "../support/watch_rig.h"

#define BOOKMARK(version)                                                                         \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}" \
	"\n"

static int64_t left_ms(const struct rig *rig)
{
	return mpijob__client_watch_due_ms(rig->watch) - clock_now;
}

/* More of the stream that is open. */
static void say(struct rig *rig, const char *text)
{
	struct fake_exchange *exchange = rig->fake.exchanges;

	free(exchange->text);
	exchange->text = strdup(text);
	exchange->told = 0;
	run(rig);
}

static void set_up_watching(struct rig *rig)
{
	set_up(rig);
	reply(rig, 200, LIST("10", ""));
	reply_open(rig, EVENT("ADDED", "a", "11"));
	run(rig);
}

static void test_bookmarks_are_missed(void **state)
{
	struct rig rig;

	(void)state;
	set_up_watching(&rig);
	assert_true(left_ms(&rig) > 300000);
	say(&rig, BOOKMARK("12"));
	assert_int_equal(left_ms(&rig), 180000);
	/* Anything that comes will do. */
	clock_now += 100000;
	say(&rig, EVENT("MODIFIED", "a", "13"));
	assert_int_equal(left_ms(&rig), 180000);
	assert_int_equal(rig.fake.fresh, 0);
	/* Cut, and resumed over another connection. */
	sleep_over(&rig);
	reply_open(&rig, EVENT("MODIFIED", "a", "14"));
	run(&rig);
	asked(&rig, 2, "resourceVersion", "13");
	assert_int_equal(rig.fake.fresh, 1);
	seen_is(&rig, "()10 Aa@11 Ma@13 Ma@14 ");
	assert_int_equal(rig.failures, 0);
	assert_int_equal(left_ms(&rig), 180000);
	tear_down(&rig);
}

/* Nor is the next stream allowed to be silent from its beginning. */
static void test_the_next_stream_is_silent_too(void **state)
{
	struct rig rig;

	(void)state;
	set_up_watching(&rig);
	say(&rig, BOOKMARK("12"));
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(sleep_over(&rig), 180000);
		reply_open(&rig, "");
		run(&rig);
		assert_int_equal(rig.fake.fresh, i);
	}
	tear_down(&rig);
}

/* It never stays open for longer than was asked for. */
static void test_the_end_comes_all_the_same(void **state)
{
	struct rig rig;
	int64_t begun = clock_now;

	(void)state;
	set_up_watching(&rig);
	for (int i = 0; i < 10 && left_ms(&rig) > 60000; i++) {
		clock_now += 60000;
		say(&rig, BOOKMARK("12"));
	}
	assert_true(left_ms(&rig) < 180000);
	assert_true(clock_now + left_ms(&rig) - begun <= 630000);
	tear_down(&rig);
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

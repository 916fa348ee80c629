/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/watch_rig.h"

#define PAGE(version, token, items)                                                \
	"{\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" token \
	"\"},\"items\":[" items "]}"
#define TOO_LARGE                                                                       \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Timeout\",\"message\":"                                                      \
	"\"Too large resource version: 99, current: 5\",\"code\":504}"
#define TOO_LARGE_CAUSE                                                                         \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"         \
	"\"Timeout\",\"message\":\"later\","                                                    \
	"\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"x\"}]," \
	"\"retryAfterSeconds\":1},"                                                             \
	"\"code\":504}"
#define NEW_TOKEN                                                                           \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"other\"}," \
	"\"status\":\"Failure\","                                                           \
	"\"reason\":\"Expired\",\"message\":\"too old\",\"code\":410}"
#define GONE_EVENT "{\"type\":\"ERROR\",\"object\":" EXPIRED "}\n"
#define END(version)                                                                             \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":" \
	"\"" version "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define BOOKMARK(version)                                                                         \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}" \
	"\n"

/* --- ordinary lists --- */

/* Pages of any size, also empty ones; only the token says that there is more, and it stands for the
 * version. */
static void test_l1_pages(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, PAGE("10", "t/1", POD("a", "1")));
	reply(&rig, 200, PAGE("10", "t/2", ""));
	reply(&rig, 200, LIST("10", POD("b", "2")));
	reply_open(&rig, "");
	run(&rig);
	seen_is(&rig, "(La@1 Lb@2 )10 ");
	asked(&rig, 0, "limit", "500");
	asked(&rig, 0, "resourceVersion", "0");
	for (size_t page = 1; page < 3; page++) {
		asked(&rig, page, "limit", "500");
		asked(&rig, page, "continue", page == 1 ? "t/1" : "t/2");
		asked(&rig, page, "resourceVersion", NULL);
		asked(&rig, page, "labelSelector", "a=b");
	}
	asked(&rig, 3, "resourceVersion", "10");
	tear_down(&rig);
}

/* A token that is too old: the whole list, at the version that was asked for, not the rest at
 * another one. */
static void test_l2_an_old_token(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, PAGE("10", "t/1", POD("a", "1")));
	reply(&rig, 410, NEW_TOKEN);
	reply(&rig, 200, LIST("20", POD("b", "2")));
	run(&rig);
	seen_is(&rig, "(La@1 (Lb@2 )20 ");
	asked(&rig, 2, "continue", NULL);
	asked(&rig, 2, "limit", NULL);
	asked(&rig, 2, "resourceVersion", "0");
	assert_int_equal(rig.failures, 0);
	tear_down(&rig);
}

/* A server that says so again and again is waited for. */
static void test_l2_does_not_spin(void **state)
{
	struct rig rig;
	size_t before;

	(void)state;
	set_up(&rig);
	for (int i = 0; i < 3; i++) {
		reply(&rig, 200, PAGE("10", "t/1", ""));
		reply(&rig, 410, EXPIRED);
	}
	for (int i = 0; i < 100; i++)
		mpijob_client_poll(rig.client, 0);
	before = rig.fake.log_count;
	assert_true(before <= 6);
	assert_true(sleep_over(&rig) >= 800);
	assert_int_equal(rig.failures, 1);
	assert_int_equal(mpijob_watch_synced(rig.watch), 0);
	tear_down(&rig);
}

/* "0" at first, then what was seen last, then the newest once that cannot be had. */
static void test_l3_versions_of_lists(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, EVENT("ADDED", "a", "11") GONE_EVENT);
	reply(&rig, 410, EXPIRED);
	reply(&rig, 200, LIST("30", POD("a", "11")));
	reply(&rig, 200, EVENT("MODIFIED", "a", "31") GONE_EVENT);
	reply(&rig, 200, LIST("40", ""));
	reply_open(&rig, "");
	run(&rig);
	asked(&rig, 0, "resourceVersion", "0");
	asked(&rig, 2, "resourceVersion", "11");
	asked(&rig, 3, "resourceVersion", NULL);
	asked(&rig, 5, "resourceVersion", "31"); /* again what was seen last */
	assert_int_equal(rig.failures, 0);
	tear_down(&rig);
}

static void test_l4_versions_from_the_future(void **state)
{
	static const char *const bodies[] = { TOO_LARGE, TOO_LARGE_CAUSE };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct rig rig;

		set_up(&rig);
		reply(&rig, 200, LIST("99", ""));
		reply(&rig, 200, EVENT("ADDED", "a", "99") GONE_EVENT);
		reply(&rig, 504, bodies[i]);
		reply(&rig, 200, LIST("5", ""));
		run(&rig);
		asked(&rig, 2, "resourceVersion", "99");
		asked(&rig, 3, "resourceVersion", NULL);
		asked(&rig, 3, "limit", "500");
		assert_int_equal(rig.failures, 0);
		/* Also when a watch is refused so: the newest list at once. */
		reply(&rig, 504, bodies[i]);
		run(&rig);
		assert_true(sleep_over(&rig) >= 800);
		reply(&rig, 200, LIST("6", ""));
		run(&rig);
		asked(&rig, 5, "watch", NULL);
		asked(&rig, 5, "resourceVersion", NULL);
		/* Any other 504 is a failure like the others. */
		reply(&rig, 504, "slow");
		run(&rig);
		assert_true(sleep_over(&rig) >= 800);
		assert_int_equal(rig.failures, 1);
		tear_down(&rig);
	}
}

/* Asked for a version, a server answers from its cache, but only the whole list. */
static void test_l5_no_pages_from_the_cache(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, EVENT("ADDED", "a", "11") GONE_EVENT);
	reply(&rig, 200, LIST("20", ""));
	run(&rig);
	asked(&rig, 2, "resourceVersion", "11");
	asked(&rig, 2, "limit", NULL);
	tear_down(&rig);
	/* One that answers "0" in pages has no cache. */
	set_up(&rig);
	reply(&rig, 200, PAGE("10", "t", ""));
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, EVENT("ADDED", "a", "11") GONE_EVENT);
	reply(&rig, 200, LIST("20", ""));
	run(&rig);
	asked(&rig, 3, "resourceVersion", "11");
	asked(&rig, 3, "limit", "500");
	tear_down(&rig);
}

/* A server without pages is asked for them once, by all watches of a client together. */
static void test_l1_servers_without_pages(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	reply(&rig, 501, "no pages");
	reply(&rig, 200, LIST("10", POD("a", "1")));
	reply(&rig, 410, EXPIRED);
	run(&rig);
	assert_int_equal(rig.failures, 0);
	sleep_over(&rig);
	reply(&rig, 410, EXPIRED);
	reply(&rig, 200, LIST("11", ""));
	run(&rig);
	seen_is(&rig, "(La@1 )10 ()11 ");
	asked(&rig, 0, "limit", "500");
	for (size_t i = 1; i < rig.fake.log_count; i++)
		asked(&rig, i, "limit", NULL);
	/* 501 without them is a failure. */
	reply(&rig, 501, "no watches either");
	run(&rig);
	assert_int_equal(rig.failures, 1);
	tear_down(&rig);
}

/* --- streamed lists --- */

static void set_up_streams(struct rig *rig)
{
	set_up(rig);
	rig->fake.streams = 1;
}

/* What is there comes as events, up to the mark; then the same stream goes on. */
static void test_w8_a_streamed_list(void **state)
{
	(void)state;
	for (size_t piece = 0; piece < 4; piece++) {
		struct rig rig;

		set_up_streams(&rig);
		rig.fake.piece = piece;
		reply(&rig, 200,
		    EVENT("ADDED", "a", "50") BOOKMARK("3") EVENT("ADDED", "b", "7") END("60")
			EVENT("ADDED", "c", "61") EVENT("DELETED", "a", "62"));
		reply_open(&rig, "");
		run(&rig);
		seen_is(&rig, "(La@50 Lb@7 )60 Ac@61 Da@62 ");
		assert_int_equal(mpijob_watch_synced(rig.watch), 1);
		asked(&rig, 0, "watch", "1");
		asked(&rig, 0, "sendInitialEvents", "true");
		asked(&rig, 0, "resourceVersionMatch", "NotOlderThan");
		asked(&rig, 0, "allowWatchBookmarks", "true");
		asked(&rig, 0, "resourceVersion", NULL);
		asked(&rig, 0, "limit", NULL);
		/* It goes on as a plain watch. */
		asked(&rig, 1, "sendInitialEvents", NULL);
		asked(&rig, 1, "resourceVersionMatch", NULL);
		asked(&rig, 1, "resourceVersion", "62");
		tear_down(&rig);
	}
}

/* An empty collection: the mark alone; and other annotations are no mark. */
static void test_w8_nothing_there(void **state)
{
	struct rig rig;

	(void)state;
	set_up_streams(&rig);
	reply_open(&rig, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":"
			 "\"5\",\"annotations\":"
			 "{\"k8s.io/initial-events-end\":\"false\",\"x\":\"true\"}}}}\n");
	run(&rig);
	assert_int_equal(mpijob_watch_synced(rig.watch), 0);
	tear_down(&rig);
	set_up_streams(&rig);
	reply_open(&rig, END("5"));
	run(&rig);
	seen_is(&rig, "()5 ");
	assert_true(sleep_over(&rig) > 300000); /* of a watch now */
	reply_open(&rig, "");
	run(&rig);
	asked(&rig, 1, "resourceVersion", "5");
	tear_down(&rig);
}

/* Whoever refuses is asked for a list, at once, and never again for a stream. */
static void test_w8_a_refusal_is_remembered(void **state)
{
	static const int statuses[] = { 400, 405, 406, 415, 422, 501 };

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct rig rig;

		set_up_streams(&rig);
		reply(&rig, statuses[i],
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"}");
		reply(&rig, 200, LIST("10", POD("a", "1")));
		reply(&rig, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
		reply(&rig, 200, LIST("20", ""));
		run(&rig);
		seen_is(&rig, "(La@1 )10 Ab@11 ()20 ");
		asked(&rig, 1, "watch", NULL);
		asked(&rig, 3, "watch", NULL);
		assert_int_equal(rig.failures, 0);
		tear_down(&rig);
	}
}

/* Other failures lead to a list this once; the list tells what is wrong. */
static void test_w8_other_failures_list_once(void **state)
{
	static const int statuses[] = { 401, 403, 404, 500, 503 };

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct rig rig;

		set_up_streams(&rig);
		reply(&rig, statuses[i], "");
		reply(&rig, statuses[i], "");
		run(&rig);
		assert_int_equal(rig.failures, 1);
		asked(&rig, 1, "watch", NULL);
		assert_true(sleep_over(&rig) >= 800);
		reply(&rig, 200, LIST("10", ""));
		reply(&rig, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
		reply(&rig, 200, END("20"));
		run(&rig);
		seen_is(&rig, "()10 Ab@11 ()20 ");
		asked(&rig, 4, "sendInitialEvents", "true");
		asked(&rig, 4, "resourceVersion", "11");
		tear_down(&rig);
	}
}

/* Overload and broken connections are no matter of how the list comes. */
static void test_w8_overload_waits(void **state)
{
	struct fake_reply busy = { .status = 429, .header = "Retry-After: 90" },
			  lost = { .end_code = MPIJOB_ERR_IO };
	struct rig rig;

	(void)state;
	set_up_streams(&rig);
	fake_script(&rig.fake, busy);
	run(&rig);
	assert_int_equal(sleep_over(&rig), 90000);
	fake_script(&rig.fake, lost);
	run(&rig);
	assert_true(sleep_over(&rig) >= 1600);
	reply(&rig, 200,
	    EVENT("ADDED", "a", "1") "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
				     "\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
				     "\"TooManyRequests\",\"message\":\"m\",\"details\":{"
				     "\"retryAfterSeconds\":40},\"code\":429}}\n");
	run(&rig);
	assert_int_equal(sleep_over(&rig), 40000);
	reply_open(&rig, END("10"));
	run(&rig);
	seen_is(&rig, "(La@1 ()10 ");
	for (size_t i = 0; i < rig.fake.log_count; i++)
		asked(&rig, i, "sendInitialEvents", "true");
	assert_int_equal(rig.failures, 3);
	tear_down(&rig);
}

/* A stream that ends before its mark is no list. */
static void test_w8_half_a_list(void **state)
{
	struct rig rig;

	(void)state;
	set_up_streams(&rig);
	reply(&rig, 200, EVENT("ADDED", "a", "1"));
	reply(&rig, 200, LIST("10", POD("b", "1")));
	run(&rig);
	seen_is(&rig, "(La@1 (Lb@1 )10 ");
	asked(&rig, 1, "watch", NULL);
	tear_down(&rig);
	/* Nor is what is no JSON. */
	set_up_streams(&rig);
	reply(&rig, 200, "garbage");
	reply(&rig, 200, LIST("10", ""));
	run(&rig);
	seen_is(&rig, "()10 ");
	tear_down(&rig);
}

/* A server that does not know the parameter just watches, silently: a list then, and no second
 * try. */
static void test_w8_a_silent_server(void **state)
{
	struct rig rig;

	(void)state;
	set_up_streams(&rig);
	reply_open(&rig, "");
	run(&rig);
	assert_int_equal(sleep_over(&rig), 30000);
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
	reply(&rig, 200, LIST("20", ""));
	run(&rig);
	asked(&rig, 3, "watch", NULL);
	seen_is(&rig, "()10 Ab@11 ()20 ");
	tear_down(&rig);
	/* One that is slow is not silent; one that falls silent on the way is given up this
	 * once. */
	set_up_streams(&rig);
	rig.fake.piece = 2;
	reply_open(&rig, EVENT("ADDED", "a", "1") EVENT("ADDED", "b", "2"));
	while (!is_quiet(&rig)) {
		mpijob_client_poll(rig.client, 0);
		clock_now += 29000;
	}
	assert_int_equal(rig.fake.log_count, 1);
	clock_now += 1001;
	rig.fake.piece = 0;
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
	reply_open(&rig, "");
	run(&rig);
	seen_is(&rig, "(La@1 Lb@2 ()10 Ab@11 ");
	asked(&rig, 1, "watch", NULL);
	asked(&rig, 3, "sendInitialEvents", "true");
	tear_down(&rig);
}

/* A version that cannot be had is not asked for again: the newest state instead. */
static void test_w8_versions_that_are_gone(void **state)
{
	static const struct {
		int status;
		const char *body;
	} rows[] = {
		{ 410, EXPIRED },
		{ 504, TOO_LARGE },
		{ 504, TOO_LARGE_CAUSE },
		{ 200, GONE_EVENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig rig;

		set_up_streams(&rig);
		reply(&rig, 200, END("10") EVENT("ADDED", "a", "11") GONE_EVENT);
		reply(&rig, rows[i].status, rows[i].body);
		reply(&rig, 200, END("30"));
		run(&rig);
		seen_is(&rig, "()10 Aa@11 ()30 ");
		asked(&rig, 1, "resourceVersion", "11");
		asked(&rig, 2, "resourceVersion", NULL);
		asked(&rig, 2, "sendInitialEvents", "true");
		assert_int_equal(rig.failures, 0);
		tear_down(&rig);
		/* Said of no version at all, it is nonsense: a list. */
		set_up_streams(&rig);
		reply(&rig, rows[i].status, rows[i].body);
		reply(&rig, 200, LIST("10", ""));
		run(&rig);
		asked(&rig, 1, "watch", NULL);
		tear_down(&rig);
	}
}

/* Short of memory in the middle: the same stream again. */
static void test_w8_no_memory(void **state)
{
	struct rig rig;

	(void)state;
	set_up_streams(&rig);
	rig.refuse = MPIJOB_ERR_NOMEM;
	reply(&rig, 200, EVENT("ADDED", "a", "1") END("10"));
	run(&rig);
	assert_int_equal(sleep_over(&rig), 100);
	reply_open(&rig, EVENT("ADDED", "a", "1") END("10"));
	run(&rig);
	seen_is(&rig, "((La@1 )10 ");
	asked(&rig, 1, "sendInitialEvents", "true");
	tear_down(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_l1_pages),
		cmocka_unit_test(test_l1_servers_without_pages),
		cmocka_unit_test(test_l2_an_old_token),
		cmocka_unit_test(test_l2_does_not_spin),
		cmocka_unit_test(test_l3_versions_of_lists),
		cmocka_unit_test(test_l4_versions_from_the_future),
		cmocka_unit_test(test_l5_no_pages_from_the_cache),
		cmocka_unit_test(test_w8_a_streamed_list),
		cmocka_unit_test(test_w8_nothing_there),
		cmocka_unit_test(test_w8_a_refusal_is_remembered),
		cmocka_unit_test(test_w8_other_failures_list_once),
		cmocka_unit_test(test_w8_overload_waits),
		cmocka_unit_test(test_w8_half_a_list),
		cmocka_unit_test(test_w8_a_silent_server),
		cmocka_unit_test(test_w8_versions_that_are_gone),
		cmocka_unit_test(test_w8_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/watch_fixture.h"

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
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, PAGE("10", "t/1", POD("a", "1")));
	reply(&fixture, 200, PAGE("10", "t/2", ""));
	reply(&fixture, 200, LIST("10", POD("b", "2")));
	reply_open(&fixture, "");
	watch_run(&fixture);
	seen_is(&fixture, "(La@1 Lb@2 )10 ");
	asked(&fixture, 0, "limit", "500");
	asked(&fixture, 0, "resourceVersion", "0");
	for (size_t page = 1; page < 3; page++) {
		asked(&fixture, page, "limit", "500");
		asked(&fixture, page, "continue", page == 1 ? "t/1" : "t/2");
		asked(&fixture, page, "resourceVersion", NULL);
		asked(&fixture, page, "labelSelector", "a=b");
	}
	asked(&fixture, 3, "resourceVersion", "10");
	watch_tear_down(&fixture);
}

/* A token that is too old: the whole list, at the version that was asked for, not the rest at
 * another one. */
static void test_l2_an_old_token(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, PAGE("10", "t/1", POD("a", "1")));
	reply(&fixture, 410, NEW_TOKEN);
	reply(&fixture, 200, LIST("20", POD("b", "2")));
	watch_run(&fixture);
	seen_is(&fixture, "(La@1 (Lb@2 )20 ");
	asked(&fixture, 2, "continue", NULL);
	asked(&fixture, 2, "limit", NULL);
	asked(&fixture, 2, "resourceVersion", "0");
	assert_int_equal(fixture.failures, 0);
	watch_tear_down(&fixture);
}

/* A server that says so again and again is waited for. */
static void test_l2_does_not_spin(void **state)
{
	struct watch_fixture fixture;
	size_t before;

	(void)state;
	watch_set_up(&fixture);
	for (int i = 0; i < 3; i++) {
		reply(&fixture, 200, PAGE("10", "t/1", ""));
		reply(&fixture, 410, EXPIRED);
	}
	for (int i = 0; i < 100; i++)
		mpijob_client_poll(fixture.client, 0);
	before = fixture.fake.log_count;
	assert_true(before <= 6);
	assert_true(sleep_over(&fixture) >= 800);
	assert_int_equal(fixture.failures, 1);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 0);
	watch_tear_down(&fixture);
}

/* "0" at first, then what was seen last, then the newest once that cannot be had. */
static void test_l3_versions_of_lists(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, EVENT("ADDED", "a", "11") GONE_EVENT);
	reply(&fixture, 410, EXPIRED);
	reply(&fixture, 200, LIST("30", POD("a", "11")));
	reply(&fixture, 200, EVENT("MODIFIED", "a", "31") GONE_EVENT);
	reply(&fixture, 200, LIST("40", ""));
	reply_open(&fixture, "");
	watch_run(&fixture);
	asked(&fixture, 0, "resourceVersion", "0");
	asked(&fixture, 2, "resourceVersion", "11");
	asked(&fixture, 3, "resourceVersion", NULL);
	asked(&fixture, 5, "resourceVersion", "31"); /* again what was seen last */
	assert_int_equal(fixture.failures, 0);
	watch_tear_down(&fixture);
}

static void test_l4_versions_from_the_future(void **state)
{
	static const char *const bodies[] = { TOO_LARGE, TOO_LARGE_CAUSE };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct watch_fixture fixture;

		watch_set_up(&fixture);
		reply(&fixture, 200, LIST("99", ""));
		reply(&fixture, 200, EVENT("ADDED", "a", "99") GONE_EVENT);
		reply(&fixture, 504, bodies[i]);
		reply(&fixture, 200, LIST("5", ""));
		watch_run(&fixture);
		asked(&fixture, 2, "resourceVersion", "99");
		asked(&fixture, 3, "resourceVersion", NULL);
		asked(&fixture, 3, "limit", "500");
		assert_int_equal(fixture.failures, 0);
		/* Also when a watch is refused so: the newest list at once. */
		reply(&fixture, 504, bodies[i]);
		watch_run(&fixture);
		assert_true(sleep_over(&fixture) >= 800);
		reply(&fixture, 200, LIST("6", ""));
		watch_run(&fixture);
		asked(&fixture, 5, "watch", NULL);
		asked(&fixture, 5, "resourceVersion", NULL);
		/* Any other 504 is a failure like the others. */
		reply(&fixture, 504, "slow");
		watch_run(&fixture);
		assert_true(sleep_over(&fixture) >= 800);
		assert_int_equal(fixture.failures, 1);
		watch_tear_down(&fixture);
	}
}

/* Asked for a version, a server answers from its cache, but only the whole list. */
static void test_l5_no_pages_from_the_cache(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, EVENT("ADDED", "a", "11") GONE_EVENT);
	reply(&fixture, 200, LIST("20", ""));
	watch_run(&fixture);
	asked(&fixture, 2, "resourceVersion", "11");
	asked(&fixture, 2, "limit", NULL);
	watch_tear_down(&fixture);
	/* One that answers "0" in pages has no cache. */
	watch_set_up(&fixture);
	reply(&fixture, 200, PAGE("10", "t", ""));
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, EVENT("ADDED", "a", "11") GONE_EVENT);
	reply(&fixture, 200, LIST("20", ""));
	watch_run(&fixture);
	asked(&fixture, 3, "resourceVersion", "11");
	asked(&fixture, 3, "limit", "500");
	watch_tear_down(&fixture);
}

/* A server without pages is asked for them once, by all watches of a client together. */
static void test_l1_servers_without_pages(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 501, "no pages");
	reply(&fixture, 200, LIST("10", POD("a", "1")));
	reply(&fixture, 410, EXPIRED);
	watch_run(&fixture);
	assert_int_equal(fixture.failures, 0);
	sleep_over(&fixture);
	reply(&fixture, 410, EXPIRED);
	reply(&fixture, 200, LIST("11", ""));
	watch_run(&fixture);
	seen_is(&fixture, "(La@1 )10 ()11 ");
	asked(&fixture, 0, "limit", "500");
	for (size_t i = 1; i < fixture.fake.log_count; i++)
		asked(&fixture, i, "limit", NULL);
	/* 501 without them is a failure. */
	reply(&fixture, 501, "no watches either");
	watch_run(&fixture);
	assert_int_equal(fixture.failures, 1);
	watch_tear_down(&fixture);
}

/* --- streamed lists --- */

static void set_up_streams(struct watch_fixture *fixture)
{
	watch_set_up(fixture);
	fixture->fake.streams = 1;
}

/* What is there comes as events, up to the mark; then the same stream goes on. */
static void test_w8_a_streamed_list(void **state)
{
	(void)state;
	for (size_t piece = 0; piece < 4; piece++) {
		struct watch_fixture fixture;

		set_up_streams(&fixture);
		fixture.fake.piece = piece;
		reply(&fixture, 200,
		    EVENT("ADDED", "a", "50") BOOKMARK("3") EVENT("ADDED", "b", "7") END("60")
			EVENT("ADDED", "c", "61") EVENT("DELETED", "a", "62"));
		reply_open(&fixture, "");
		watch_run(&fixture);
		seen_is(&fixture, "(La@50 Lb@7 )60 Ac@61 Da@62 ");
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 1);
		asked(&fixture, 0, "watch", "1");
		asked(&fixture, 0, "sendInitialEvents", "true");
		asked(&fixture, 0, "resourceVersionMatch", "NotOlderThan");
		asked(&fixture, 0, "allowWatchBookmarks", "true");
		asked(&fixture, 0, "resourceVersion", NULL);
		asked(&fixture, 0, "limit", NULL);
		/* It goes on as a plain watch. */
		asked(&fixture, 1, "sendInitialEvents", NULL);
		asked(&fixture, 1, "resourceVersionMatch", NULL);
		asked(&fixture, 1, "resourceVersion", "62");
		watch_tear_down(&fixture);
	}
}

/* An empty collection: the mark alone; and other annotations are no mark. */
static void test_w8_nothing_there(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	set_up_streams(&fixture);
	reply_open(&fixture, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":"
			     "\"5\",\"annotations\":"
			     "{\"k8s.io/initial-events-end\":\"false\",\"x\":\"true\"}}}}\n");
	watch_run(&fixture);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 0);
	watch_tear_down(&fixture);
	set_up_streams(&fixture);
	reply_open(&fixture, END("5"));
	watch_run(&fixture);
	seen_is(&fixture, "()5 ");
	assert_true(sleep_over(&fixture) > 300000); /* of a watch now */
	reply_open(&fixture, "");
	watch_run(&fixture);
	asked(&fixture, 1, "resourceVersion", "5");
	watch_tear_down(&fixture);
}

/* Whoever refuses is asked for a list, at once, and never again for a stream. */
static void test_w8_a_refusal_is_remembered(void **state)
{
	static const int statuses[] = { 400, 405, 406, 415, 422, 501 };

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct watch_fixture fixture;

		set_up_streams(&fixture);
		reply(&fixture, statuses[i],
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"}");
		reply(&fixture, 200, LIST("10", POD("a", "1")));
		reply(&fixture, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
		reply(&fixture, 200, LIST("20", ""));
		watch_run(&fixture);
		seen_is(&fixture, "(La@1 )10 Ab@11 ()20 ");
		asked(&fixture, 1, "watch", NULL);
		asked(&fixture, 3, "watch", NULL);
		assert_int_equal(fixture.failures, 0);
		watch_tear_down(&fixture);
	}
}

/* Other failures lead to a list this once; the list tells what is wrong. */
static void test_w8_other_failures_list_once(void **state)
{
	static const int statuses[] = { 401, 403, 404, 500, 503 };

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct watch_fixture fixture;

		set_up_streams(&fixture);
		reply(&fixture, statuses[i], "");
		reply(&fixture, statuses[i], "");
		watch_run(&fixture);
		assert_int_equal(fixture.failures, 1);
		asked(&fixture, 1, "watch", NULL);
		assert_true(sleep_over(&fixture) >= 800);
		reply(&fixture, 200, LIST("10", ""));
		reply(&fixture, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
		reply(&fixture, 200, END("20"));
		watch_run(&fixture);
		seen_is(&fixture, "()10 Ab@11 ()20 ");
		asked(&fixture, 4, "sendInitialEvents", "true");
		asked(&fixture, 4, "resourceVersion", "11");
		watch_tear_down(&fixture);
	}
}

/* Overload and broken connections are no matter of how the list comes. */
static void test_w8_overload_waits(void **state)
{
	struct fake_reply busy = { .status = 429, .header = "Retry-After: 90" },
			  lost = { .end_code = MPIJOB_ERR_IO };
	struct watch_fixture fixture;

	(void)state;
	set_up_streams(&fixture);
	fake_script(&fixture.fake, busy);
	watch_run(&fixture);
	assert_int_equal(sleep_over(&fixture), 90000);
	fake_script(&fixture.fake, lost);
	watch_run(&fixture);
	assert_true(sleep_over(&fixture) >= 1600);
	reply(&fixture, 200,
	    EVENT("ADDED", "a", "1") "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
				     "\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
				     "\"TooManyRequests\",\"message\":\"m\",\"details\":{"
				     "\"retryAfterSeconds\":40},\"code\":429}}\n");
	watch_run(&fixture);
	assert_int_equal(sleep_over(&fixture), 40000);
	reply_open(&fixture, END("10"));
	watch_run(&fixture);
	seen_is(&fixture, "(La@1 ()10 ");
	for (size_t i = 0; i < fixture.fake.log_count; i++)
		asked(&fixture, i, "sendInitialEvents", "true");
	assert_int_equal(fixture.failures, 3);
	watch_tear_down(&fixture);
}

/* A stream that ends before its mark is no list. */
static void test_w8_half_a_list(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	set_up_streams(&fixture);
	reply(&fixture, 200, EVENT("ADDED", "a", "1"));
	reply(&fixture, 200, LIST("10", POD("b", "1")));
	watch_run(&fixture);
	seen_is(&fixture, "(La@1 (Lb@1 )10 ");
	asked(&fixture, 1, "watch", NULL);
	watch_tear_down(&fixture);
	/* Nor is what is no JSON. */
	set_up_streams(&fixture);
	reply(&fixture, 200, "garbage");
	reply(&fixture, 200, LIST("10", ""));
	watch_run(&fixture);
	seen_is(&fixture, "()10 ");
	watch_tear_down(&fixture);
}

/* A server that does not know the parameter just watches, silently: a list then, and no second
 * try. */
static void test_w8_a_silent_server(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	set_up_streams(&fixture);
	reply_open(&fixture, "");
	watch_run(&fixture);
	assert_int_equal(sleep_over(&fixture), 30000);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
	reply(&fixture, 200, LIST("20", ""));
	watch_run(&fixture);
	asked(&fixture, 3, "watch", NULL);
	seen_is(&fixture, "()10 Ab@11 ()20 ");
	watch_tear_down(&fixture);
	/* One that is slow is not silent; one that falls silent on the way is given up this
	 * once. */
	set_up_streams(&fixture);
	fixture.fake.piece = 2;
	reply_open(&fixture, EVENT("ADDED", "a", "1") EVENT("ADDED", "b", "2"));
	while (!is_quiet(&fixture)) {
		mpijob_client_poll(fixture.client, 0);
		clock_now += 29000;
	}
	assert_int_equal(fixture.fake.log_count, 1);
	clock_now += 1001;
	fixture.fake.piece = 0;
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, EVENT("ADDED", "b", "11") GONE_EVENT);
	reply_open(&fixture, "");
	watch_run(&fixture);
	seen_is(&fixture, "(La@1 Lb@2 ()10 Ab@11 ");
	asked(&fixture, 1, "watch", NULL);
	asked(&fixture, 3, "sendInitialEvents", "true");
	watch_tear_down(&fixture);
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
		struct watch_fixture fixture;

		set_up_streams(&fixture);
		reply(&fixture, 200, END("10") EVENT("ADDED", "a", "11") GONE_EVENT);
		reply(&fixture, rows[i].status, rows[i].body);
		reply(&fixture, 200, END("30"));
		watch_run(&fixture);
		seen_is(&fixture, "()10 Aa@11 ()30 ");
		asked(&fixture, 1, "resourceVersion", "11");
		asked(&fixture, 2, "resourceVersion", NULL);
		asked(&fixture, 2, "sendInitialEvents", "true");
		assert_int_equal(fixture.failures, 0);
		watch_tear_down(&fixture);
		/* Said of no version at all, it is nonsense: a list. */
		set_up_streams(&fixture);
		reply(&fixture, rows[i].status, rows[i].body);
		reply(&fixture, 200, LIST("10", ""));
		watch_run(&fixture);
		asked(&fixture, 1, "watch", NULL);
		watch_tear_down(&fixture);
	}
}

/* Short of memory in the middle: the same stream again. */
static void test_w8_no_memory(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	set_up_streams(&fixture);
	fixture.refuse = MPIJOB_ERR_NOMEM;
	reply(&fixture, 200, EVENT("ADDED", "a", "1") END("10"));
	watch_run(&fixture);
	assert_int_equal(sleep_over(&fixture), 100);
	reply_open(&fixture, EVENT("ADDED", "a", "1") END("10"));
	watch_run(&fixture);
	seen_is(&fixture, "((La@1 )10 ");
	asked(&fixture, 1, "sendInitialEvents", "true");
	watch_tear_down(&fixture);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/watch_fixture.h"

static void test_w1_w2_list_then_watch(void **state)
{
	struct watch_fixture fixture;
	char *value;

	(void)state;
	for (size_t piece = 0; piece < 4; piece++) {
		watch_set_up(&fixture);
		fixture.fake.piece = piece;
		reply(&fixture, 200, LIST("10", POD("a", "3") "," POD("b", "4")));
		reply_open(&fixture,
		    EVENT("ADDED", "c", "11") EVENT("MODIFIED", "a",
			"12") "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
			      "\"resourceVersion\":\"20\"}}}\n" EVENT("DELETED", "b", "21"));
		watch_run(&fixture);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 1);
		assert_string_equal(mpijob_text_data(&fixture.seen),
		    "(La@3 Lb@4 )10 Ac@11 Ma@12 Db@21 ");
		assert_string_equal(fixture.fake.log[0],
		    "GET /api/v1/pods?limit=500&resourceVersion=0&labelSelector=a%3Db");
		value = fake_query(fixture.fake.log[1], "resourceVersion");
		assert_string_equal(value, "10");
		free(value);
		value = fake_query(fixture.fake.log[1], "allowWatchBookmarks");
		assert_string_equal(value, "true");
		free(value);
		value = fake_query(fixture.fake.log[1], "timeoutSeconds");
		assert_in_range(atoi(value), 300, 600);
		free(value);
		watch_tear_down(&fixture);
	}
}

static void test_w4_an_end_is_normal(void **state)
{
	struct watch_fixture fixture;
	char *value;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, EVENT("ADDED", "a", "11"));
	/* Cut in the middle of an event: goes on before it. */
	reply(&fixture, 200, EVENT("MODIFIED", "a", "12") "{\"type\":\"MODIF");
	reply_open(&fixture, EVENT("MODIFIED", "a", "13"));
	watch_run(&fixture);
	assert_string_equal(mpijob_text_data(&fixture.seen), "()10 Aa@11 Ma@12 Ma@13 ");
	value = fake_query(fixture.fake.log[3], "resourceVersion");
	assert_string_equal(value, "12");
	free(value);
	assert_int_equal(fixture.failures, 0);
	/* It should have ended long ago: given up, begun again. */
	assert_true(sleep_over(&fixture) > 300000);
	reply_open(&fixture, EVENT("DELETED", "a", "14"));
	watch_run(&fixture);
	value = fake_query(fixture.fake.log[4], "resourceVersion");
	assert_string_equal(value, "13");
	free(value);
	watch_tear_down(&fixture);
}

static void test_w3_gone_lists_anew(void **state)
{
	struct watch_fixture fixture;
	char *value;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", POD("a", "3")));
	reply(&fixture, 200,
	    EVENT("ADDED", "b", "11") "{\"type\":\"ERROR\",\"object\":" EXPIRED "}\n");
	reply(&fixture, 200, LIST("30", POD("b", "11")));
	reply(&fixture, 410, EXPIRED);
	watch_run(&fixture);
	sleep_over(&fixture); /* a watch refused at once makes it wait */
	reply(&fixture, 200, LIST("40", ""));
	reply_open(&fixture, "");
	watch_run(&fixture);
	assert_string_equal(mpijob_text_data(&fixture.seen), "(La@3 )10 Ab@11 (Lb@11 )30 ()40 ");
	/* Not from a cache that may be older than what was seen; and not in pages, so it may be a
	 * cache. */
	assert_string_equal(fixture.fake.log[2],
	    "GET /api/v1/pods?resourceVersion=11&labelSelector=a%3Db");
	value = fake_query(fixture.fake.log[5], "resourceVersion");
	assert_string_equal(value, "40");
	free(value);
	watch_tear_down(&fixture);
}

static void test_w5_failures_back_off(void **state)
{
	struct watch_fixture fixture;
	int64_t wait, least = 800;
	struct fake_reply lost = { 0 }, busy = { 0 };
	char *value;

	(void)state;
	watch_set_up(&fixture);
	for (int i = 0; i < 8; i++) {
		reply(&fixture, 500, "broken");
		watch_run(&fixture);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 0);
		wait = sleep_over(&fixture);
		assert_in_range(wait, least, 2 * least);
		least = least * 2 > 30000 ? 30000 : least * 2;
	}
	assert_int_equal(fixture.failures, 1); /* told once */
	/* Opening the watch fails: keep the version, do not list again. */
	reply(&fixture, 200, LIST("10", ""));
	lost.end_code = MPIJOB_ERR_IO;
	fake_script(&fixture.fake, lost);
	watch_run(&fixture);
	assert_true(sleep_over(&fixture) > 25000);
	busy.status = 429;
	busy.header = "Retry-After: 90";
	fake_script(&fixture.fake, busy);
	watch_run(&fixture);
	assert_int_equal(sleep_over(&fixture), 90000);
	/* A list that breaks off is no list. */
	reply_open(&fixture, EVENT("ADDED", "a", "11"));
	watch_run(&fixture);
	value = fake_query(fixture.fake.log[fixture.fake.log_count - 1], "resourceVersion");
	assert_string_equal(value, "10");
	free(value);
	assert_string_equal(mpijob_text_data(&fixture.seen), "()10 Aa@11 ");
	watch_tear_down(&fixture);
}

static void test_health(void **state)
{
	const struct mpijob_watch_health *health;
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	health = mpijob_watch_health_get(fixture.watch);
	assert_int_equal(health->size, sizeof(*health));
	assert_int_equal(health->code, 0);
	assert_int_equal(health->silent_ms, -1);
	reply(&fixture, 500, "broken");
	watch_run(&fixture);
	health = mpijob_watch_health_get(fixture.watch);
	assert_int_equal(health->code, MPIJOB_ERR_SERVER);
	assert_int_equal(health->silent_ms, -1);
	sleep_over(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply_open(&fixture, "");
	watch_run(&fixture);
	clock_now += 1234;
	health = mpijob_watch_health_get(fixture.watch);
	assert_int_equal(health->code, 0);
	assert_int_equal(health->silent_ms, 1234);
	assert_int_equal(health->synced, 1);
	assert_int_equal(health->hopeless, 0);
	assert_null(mpijob_watch_health_get(NULL));
	watch_tear_down(&fixture);
}

/* After a cut, a stream that the server accepts is healthy: its first event may be minutes away. */
static void test_health_after_a_cut_without_events(void **state)
{
	struct fake_reply lost = { .end_code = MPIJOB_ERR_IO }, late = { .status = 200, .open = 1 };
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	fake_script(&fixture.fake, lost);
	watch_run(&fixture);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->code, MPIJOB_ERR_IO);
	sleep_over(&fixture);
	late.polls = 2;
	fake_script(&fixture.fake, late);
	assert_int_equal(mpijob_client_poll(fixture.client, 0), 0);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->code, MPIJOB_ERR_IO);
	for (int i = 0; i < 4; i++)
		assert_int_equal(mpijob_client_poll(fixture.client, 0), 0);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->code, 0);
	watch_tear_down(&fixture);
}

static void test_w6_broken_answers(void **state)
{
	static const char *const bodies[] = { "", "{\"items\":[", LIST("1", "") "x", "[]",
		"{\"metadata\":{},\"items\":[]}",
		"{\"metadata\":{\"resourceVersion\":7},\"items\":[]}",
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":500}" };
	struct watch_fixture fixture;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		watch_set_up(&fixture);
		reply(&fixture, 200, bodies[i]);
		watch_run(&fixture);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 0);
		assert_int_equal(fixture.failures, 1);
		assert_true(sleep_over(&fixture) > 0);
		reply(&fixture, 200, LIST("10", ""));
		/* A watch that speaks no JSON is a failure, and goes on from where it stood. */
		reply(&fixture, 200, "garbage");
		watch_run(&fixture);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 1);
		assert_int_equal(fixture.failures, 2);
		assert_true(sleep_over(&fixture) > 0);
		watch_tear_down(&fixture);
	}
}

static void test_w3_500_in_the_stream(void **state)
{
	struct watch_fixture fixture;
	char *value;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200,
	    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
	    "\"Failure\","
	    "\"reason\":\"InternalError\",\"message\":\"etcd\",\"code\":500}}\n");
	watch_run(&fixture);
	assert_int_equal(fixture.failures, 1);
	assert_true(sleep_over(&fixture) >= 800);
	reply_open(&fixture,
	    "{\"type\":\"INVENTED\",\"object\":{\"metadata\":{\"resourceVersion\":\"15\"}}}");
	watch_run(&fixture);
	value = fake_query(fixture.fake.log[2], "resourceVersion");
	assert_string_equal(value, "10");
	free(value);
	assert_string_equal(mpijob_text_data(&fixture.seen), "()10 ");
	watch_tear_down(&fixture);
}

static void test_no_memory_loses_nothing(void **state)
{
	struct watch_fixture fixture;
	char *value;

	(void)state;
	watch_set_up(&fixture);
	fixture.refuse = MPIJOB_ERR_NOMEM;
	reply(&fixture, 200, LIST("10", POD("a", "3")));
	watch_run(&fixture);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 0);
	sleep_over(&fixture);
	reply(&fixture, 200, LIST("10", POD("a", "3")));
	reply_open(&fixture, "");
	watch_run(&fixture);
	assert_string_equal(mpijob_text_data(&fixture.seen), "((La@3 )10 ");
	sleep_over(&fixture);
	fixture.refuse = MPIJOB_ERR_NOMEM;
	reply_open(&fixture, EVENT("MODIFIED", "a", "11"));
	watch_run(&fixture);
	sleep_over(&fixture);
	reply_open(&fixture, EVENT("MODIFIED", "a", "11"));
	watch_run(&fixture);
	value = fake_query(fixture.fake.log[fixture.fake.log_count - 1], "resourceVersion");
	assert_string_equal(value, "10");
	free(value);
	assert_string_equal(mpijob_text_data(&fixture.seen), "((La@3 )10 Ma@11 ");
	watch_tear_down(&fixture);
}

#define STATUS_EVENT(code, reason, more)                                                        \
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":" \
	"\"Failure\",\"reason\":\"" reason "\",\"message\":\"m\"" more ",\"code\":" #code "}}\n"

/* Overload: wait at least as long as is asked for, and go on where it stood. */
static void test_w3_429_in_the_stream_keeps_the_version(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200,
	    EVENT("ADDED", "a", "11")
		STATUS_EVENT(429, "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":20}"));
	watch_run(&fixture);
	assert_int_equal(fixture.failures, 1);
	assert_int_equal(sleep_over(&fixture), 20000);
	reply_open(&fixture, "");
	watch_run(&fixture);
	asked(&fixture, 2, "watch", "1");
	asked(&fixture, 2, "resourceVersion", "11");
	watch_tear_down(&fixture);
}

/* What going on cannot cure, and internal errors that do not stop, lead to a new list at the last
 * version. */
static void test_w3_other_errors_list_anew(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, STATUS_EVENT(400, "BadRequest", ""));
	watch_run(&fixture);
	assert_true(sleep_over(&fixture) >= 800);
	reply(&fixture, 200, LIST("20", ""));
	for (int i = 0; i < 3; i++) {
		reply(&fixture, 200, STATUS_EVENT(500, "InternalError", ""));
		watch_run(&fixture);
		assert_true(sleep_over(&fixture) >= 800);
	}
	reply(&fixture, 200, LIST("30", ""));
	watch_run(&fixture);
	seen_is(&fixture, "()10 ()20 ()30 ");
	asked(&fixture, 2, "watch", NULL);
	asked(&fixture, 2, "resourceVersion", "10");
	asked(&fixture, 5, "watch", "1");
	asked(&fixture, 6, "watch", NULL);
	asked(&fixture, 6, "resourceVersion", "20");
	watch_tear_down(&fixture);
}

/* A server that ends each watch at once is as bad as one that refuses it; one that waits is not. */
static void test_w4_a_short_life_is_a_failure(void **state)
{
	struct fake_reply slow = { .status = 200, .body = "", .polls = 3 };
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply(&fixture, 200, "");
	watch_run(&fixture);
	assert_in_range(sleep_over(&fixture), 800, 1600);
	reply(&fixture, 200, "");
	watch_run(&fixture);
	assert_in_range(sleep_over(&fixture), 1600, 3200);
	fake_script(&fixture.fake, slow);
	mpijob_client_poll(fixture.client, 0);
	clock_now += 1000;
	watch_run(&fixture);
	assert_int_equal(sleep_over(&fixture), 0);
	assert_int_equal(fixture.failures, 0); /* nothing to tell people */
	watch_tear_down(&fixture);
}

/* Let a watch live so long, and break. */
static int64_t live_and_break(struct watch_fixture *fixture, int64_t ms)
{
	struct fake_reply breaks = { .status = 200,
		.body = "",
		.polls = 3,
		.end_code = MPIJOB_ERR_IO };

	fake_script(&fixture->fake, breaks);
	mpijob_client_poll(fixture->client, 0);
	clock_now += ms;
	watch_run(fixture);
	return sleep_over(fixture);
}

static void test_w5_two_good_minutes_reset_the_back_off(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	watch_run(&fixture);
	assert_in_range(live_and_break(&fixture, 2000), 800, 1600);
	assert_in_range(live_and_break(&fixture, 119000), 1600, 3200);
	assert_in_range(live_and_break(&fixture, 119000), 3200, 6400);
	assert_in_range(live_and_break(&fixture, 121000), 800, 1600);
	assert_in_range(live_and_break(&fixture, 2000), 1600, 3200);
	/* Several watches that end as they should add up. */
	for (int i = 0; i < 3; i++) {
		struct fake_reply ends = { .status = 200, .body = "", .polls = 3 };

		fake_script(&fixture.fake, ends);
		mpijob_client_poll(fixture.client, 0);
		clock_now += 50000;
		watch_run(&fixture);
		assert_int_equal(sleep_over(&fixture), 0);
	}
	assert_in_range(live_and_break(&fixture, 10), 800, 1600);
	watch_tear_down(&fixture);
}

/* No rate holds a watch up; its list takes a token like any request. */
static void test_w6_watches_take_no_token(void **state)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	options.qps = options.burst = 1;
	assert_int_equal(mpijob_client_set_options(fixture.client, &options), 0);
	reply(&fixture, 200, LIST("10", ""));
	for (int i = 0; i < 30; i++)
		reply(&fixture, 200, EVENT("ADDED", "a", "11"));
	watch_run(&fixture);
	assert_int_equal(fixture.fake.log_count, 31);
	reply(&fixture, 200,
	    EVENT("ADDED", "a", "12") "{\"type\":\"ERROR\",\"object\":" EXPIRED "}\n");
	watch_run(&fixture);
	reply(&fixture, 200, LIST("20", ""));
	for (int i = 0; i < 10; i++)
		mpijob_client_poll(fixture.client, 0);
	assert_int_equal(fixture.fake.log_count, 32);
	clock_now += 1000;
	watch_run(&fixture);
	assert_int_equal(fixture.fake.log_count, 33);
	asked(&fixture, 32, "watch", NULL);
	watch_tear_down(&fixture);
}

/* From "0" a server tells what is there in any order: versions mean nothing before the first
 * change. */
static void test_w7_synthetic_events_have_no_version(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("0", ""));
	reply(&fixture, 200, EVENT("ADDED", "a", "50") EVENT("ADDED", "b", "7"));
	reply(&fixture, 200,
	    EVENT("ADDED", "a", "50") EVENT("MODIFIED", "b", "51") EVENT("ADDED", "c", "52"));
	reply_open(&fixture, "");
	watch_run(&fixture);
	asked(&fixture, 1, "resourceVersion", "0");
	asked(&fixture, 2, "resourceVersion", "0");
	asked(&fixture, 3, "resourceVersion", "52");
	watch_tear_down(&fixture);
}

/* One name, two objects: the uid tells. What vanished unseen is not in the next list. */
static void test_w10_uids_tell_successors_apart(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", POD("a", "3") "," POD("b", "4")));
	reply(&fixture, 200,
	    "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"na\",\"uid\":\"z\","
	    "\"resourceVersion\":\"12\"}}}\n"
	    "{\"type\":\"ERROR\",\"object\":" EXPIRED "}\n");
	reply(&fixture, 200,
	    LIST("30",
		"{\"metadata\":{\"name\":\"na\",\"uid\":\"z\",\"resourceVersion\":\"12\"}}"));
	watch_run(&fixture);
	seen_is(&fixture, "(La@3 Lb@4 )10 Mz@12 (Lz@12 )30 ");
	watch_tear_down(&fixture);
}

/* --- owners --- */

static void test_free_inside_of_each_callback(void **state)
{
	static const char *const told[] = { "(", "(La@3 ", "(La@3 )10 " };

	(void)state;
	for (int streams = 0; streams < 2; streams++)
		for (int i = 0; i < 3; i++) {
			struct watch_fixture fixture;

			watch_set_up(&fixture);
			fixture.fake.streams = streams;
			fixture.free_in = "bol"[i];
			if (streams)
				reply(&fixture, 200,
				    EVENT("ADDED", "a", "3") EVENT("ADDED", "b",
					"4") "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
					     "\"resourceVersion\":\"10\",\"annotations\":"
					     "{\"k8s.io/initial-events-end\":\"true\"}}}}\n");
			else
				reply(&fixture, 200,
				    i == 2 ? LIST("10", POD("a", "3"))
					   : LIST("10", POD("a", "3") "," POD("b", "4")));
			for (int turn = 0; turn < 20; turn++)
				mpijob_client_poll(fixture.client, 0);
			assert_null(fixture.watch);
			if (!streams || i < 2)
				seen_is(&fixture, told[i]);
			watch_tear_down(&fixture);
		}
	for (int i = 0; i < 2; i++) {
		struct fake_reply refuse = { .refuse = MPIJOB_ERR_NOMEM };
		struct watch_fixture fixture;

		watch_set_up(&fixture);
		fixture.free_in = 'f';
		if (i)
			reply(&fixture, 403, "");
		else
			fake_script(&fixture.fake, refuse);
		for (int turn = 0; turn < 20; turn++)
			mpijob_client_poll(fixture.client, 0);
		assert_null(fixture.watch);
		assert_int_equal(fixture.failures, 1);
		watch_tear_down(&fixture);
	}
}

/* An owner that has enough is told his own code, once, and nothing after it. */
static void test_a_code_of_the_owner_ends_it(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	for (int streams = 0; streams < 2; streams++) {
		watch_set_up(&fixture);
		fixture.fake.streams = streams;
		fixture.refuse = MPIJOB_ERR_SPEC;
		if (streams)
			reply(&fixture, 200, EVENT("ADDED", "a", "3") EVENT("ADDED", "b", "4"));
		else
			reply(&fixture, 200, LIST("10", POD("a", "3") "," POD("b", "4")));
		for (int i = 0; i < 50; i++) {
			mpijob_client_poll(fixture.client, 0);
			clock_now += 60000;
		}
		seen_is(&fixture, "(");
		assert_int_equal(fixture.failures, 1);
		assert_int_equal(fixture.last_code, MPIJOB_ERR_SPEC);
		assert_int_equal(fixture.fake.log_count, 1);
		watch_tear_down(&fixture);
	}
}

static mpijob_watch *other_watch;

static void free_the_other(void *user, const struct mpijob_answer *answer, const char *what)
{
	(void)answer;
	(void)what;
	mpijob_watch_free(other_watch);
	other_watch = NULL;
	((struct watch_fixture *)user)->failures++;
}

static void test_one_watch_frees_another(void **state)
{
	struct fake_reply refuse = { .refuse = MPIJOB_ERR_IO };

	(void)state;
	for (int order = 0; order < 2; order++) {
		struct mpijob_watch_options options;
		struct watch_fixture fixture;

		set_up_client(&fixture);
		options = watch_options(&fixture);
		options.failed = free_the_other;
		if (order == 0)
			assert_int_equal(mpijob_watch_new(fixture.client, &options, &other_watch),
			    0);
		assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch), 0);
		if (order == 1)
			assert_int_equal(mpijob_watch_new(fixture.client, &options, &other_watch),
			    0);
		fixture.fake.streams = 1;
		if (order == 1)
			reply_open(&fixture, "");
		fake_script(&fixture.fake, refuse);
		mpijob_client_poll(fixture.client, 0);
		assert_null(other_watch);
		assert_int_equal(fixture.failures, 1);
		mpijob_watch_free(fixture.watch);
		fixture.watch = NULL;
		watch_tear_down(&fixture);
	}
}

static void test_names_are_selected_by_field(void **state)
{
	static const char *const refused[] = { "", ".", "..", "a/b" };
	struct mpijob_watch_options options;
	struct watch_fixture fixture;
	mpijob_watch *none = NULL;

	(void)state;
	set_up_client(&fixture);
	options = watch_options(&fixture);
	options.name = "a=b,c\\d&limit=1";
	options.label_selector = "x=y&limit=1";
	options.namespace_ = "d";
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch), 0);
	reply(&fixture, 200, LIST("10", ""));
	watch_run(&fixture);
	asked(&fixture, 0, "fieldSelector", "metadata.name=a\\=b\\,c\\\\d&limit\\=1");
	asked(&fixture, 0, "labelSelector", "x=y&limit=1");
	asked(&fixture, 0, "limit", "500");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		options.name = refused[i];
		assert_int_equal(mpijob_watch_new(fixture.client, &options, &none),
		    MPIJOB_ERR_USAGE);
	}
	options.name = NULL;
	options.namespace_ = "../x";
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &none), MPIJOB_ERR_USAGE);
	options.namespace_ = NULL;
	options.kind = "Pod\",\"x\":\"";
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &none), MPIJOB_ERR_USAGE);
	options.kind = NULL;
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &none), MPIJOB_ERR_USAGE);
	options.kind = "Pod";
	options.object = NULL;
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &none), MPIJOB_ERR_USAGE);
	assert_null(none);
	mpijob_watch_free(NULL);
	watch_tear_down(&fixture);
}

static int on_large(void *user, const struct mpijob_watch_event *event)
{
	struct watch_fixture *fixture = user;

	mpijob__base_text_printf(&fixture->seen, "%s:%s:%zu ", event->uid,
	    event->json ? "whole" : "none", event->whole_len);
	assert_true(
	    event->json ? event->json_len > 0 && event->whole_len <= 120 : event->whole_len > 120);
	return 0;
}

/* One monster is told without its bytes, and does not stop the others. */
static void test_an_object_over_the_limit(void **state)
{
	static const char large[] =
	    "{\"metadata\":{\"name\":\"nb\",\"uid\":\"b\",\"resourceVersion\":\"4\"},\"x\":\""
	    "0123456789012345678901234567890123456789012345678901234567890123456789\"}";
	struct mpijob_watch_options options;
	struct watch_fixture fixture;
	char *list = fake_text("{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[%s,%s]}",
	    large, POD("a", "1"));
	char *events =
	    fake_text("{\"type\":\"MODIFIED\",\"object\":%s}\n%s", large, EVENT("ADDED", "c", "5"));

	(void)state;
	for (size_t piece = 0; piece < 3; piece++) {
		set_up_client(&fixture);
		fixture.fake.piece = piece;
		options = watch_options(&fixture);
		options.object = on_large;
		options.object_limit = 120;
		assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch), 0);
		reply(&fixture, 200, list);
		reply_open(&fixture, events);
		watch_run(&fixture);
		assert_int_equal(strncmp(mpijob_text_data(&fixture.seen), "(b:none:", 8), 0);
		assert_non_null(strstr(mpijob_text_data(&fixture.seen), "a:whole:"));
		assert_non_null(strstr(mpijob_text_data(&fixture.seen), ")10 b:none:"));
		assert_non_null(strstr(mpijob_text_data(&fixture.seen), "c:whole:"));
		assert_int_equal(fixture.failures, 0);
		watch_tear_down(&fixture);
	}
	free(list);
	free(events);
}

static int on_any(void *user, const struct mpijob_watch_event *event)
{
	struct watch_fixture *fixture = user;

	mpijob__base_text_printf(&fixture->seen, "%s:%s ", event->uid,
	    event->json ? "whole" : "none");
	return 0;
}

/* Who sets no limit has one of 8 MiB. */
static void test_objects_have_eight_mebibytes(void **state)
{
	static const size_t lens[] = { (8 << 20) - 1000, 8 << 20 };
	static const char *const told[] = { "(b:whole )10 ", "(b:none )10 " };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *text = calloc(1, lens[i] + 1), *list;
		struct mpijob_watch_options options;
		struct watch_fixture fixture;

		memset(text, 'x', lens[i]);
		list = fake_text("{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[{"
				 "\"metadata\":{\"name\":\"nb\","
				 "\"uid\":\"b\",\"resourceVersion\":\"4\"},\"x\":\"%s\"}]}",
		    text);
		set_up_client(&fixture);
		options = watch_options(&fixture);
		options.object = on_any;
		assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch), 0);
		reply(&fixture, 200, list);
		watch_run(&fixture);
		assert_int_equal(strncmp(mpijob_text_data(&fixture.seen), told[i], strlen(told[i])),
		    0);
		watch_tear_down(&fixture);
		free(list);
		free(text);
	}
}

/* The client may go first. */
static void test_the_client_goes_first(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	reply(&fixture, 200, LIST("10", ""));
	reply_open(&fixture, "");
	watch_run(&fixture);
	mpijob_client_free(fixture.client);
	assert_null(fixture.fake.exchanges);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 1);
	mpijob_watch_free(fixture.watch);
	mpijob__base_text_release(&fixture.seen);
	fake_release(&fixture.fake);
}

/* The resource of a kind whose plural and scope nobody can guess. */
static void test_a_given_plural_and_scope(void **state)
{
	struct watch_fixture fixture;
	struct mpijob_watch_options options = watch_options(&fixture);

	(void)state;
	set_up_client(&fixture);
	options.api_version = "metrics.k8s.io/v1beta1";
	options.kind = "PodMetrics";
	options.plural = "pods";
	options.scope = MPIJOB_SCOPE_CLUSTER;
	options.label_selector = NULL;
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch), 0);
	reply(&fixture, 200, LIST("10", ""));
	reply_open(&fixture, "");
	watch_run(&fixture);
	assert_string_equal(fixture.fake.log[0],
	    "GET /apis/metrics.k8s.io/v1beta1/pods?limit=500&resourceVersion=0");
	watch_tear_down(&fixture);
	set_up_client(&fixture);
	fixture.watch = NULL;
	options.scope = 9;
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch),
	    MPIJOB_ERR_USAGE);
	options.scope = MPIJOB_SCOPE_AUTO;
	options.plural = "a/b";
	assert_int_equal(mpijob_watch_new(fixture.client, &options, &fixture.watch),
	    MPIJOB_ERR_USAGE);
	assert_null(fixture.watch);
	watch_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_w1_w2_list_then_watch),
		cmocka_unit_test(test_a_given_plural_and_scope),
		cmocka_unit_test(test_w3_gone_lists_anew),
		cmocka_unit_test(test_w3_500_in_the_stream),
		cmocka_unit_test(test_w3_429_in_the_stream_keeps_the_version),
		cmocka_unit_test(test_w3_other_errors_list_anew),
		cmocka_unit_test(test_w4_an_end_is_normal),
		cmocka_unit_test(test_w4_a_short_life_is_a_failure),
		cmocka_unit_test(test_w5_failures_back_off),
		cmocka_unit_test(test_w5_two_good_minutes_reset_the_back_off),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_health_after_a_cut_without_events),
		cmocka_unit_test(test_w6_broken_answers),
		cmocka_unit_test(test_w6_watches_take_no_token),
		cmocka_unit_test(test_w7_synthetic_events_have_no_version),
		cmocka_unit_test(test_w10_uids_tell_successors_apart),
		cmocka_unit_test(test_no_memory_loses_nothing),
		cmocka_unit_test(test_free_inside_of_each_callback),
		cmocka_unit_test(test_a_code_of_the_owner_ends_it),
		cmocka_unit_test(test_one_watch_frees_another),
		cmocka_unit_test(test_names_are_selected_by_field),
		cmocka_unit_test(test_an_object_over_the_limit),
		cmocka_unit_test(test_objects_have_eight_mebibytes),
		cmocka_unit_test(test_the_client_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

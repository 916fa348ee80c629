/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/fake_cluster.h"

#include "cluster/client.h"
#include "cluster/watch.h"

#include <setjmp.h>

#include <cmocka.h>

#define LIST(version, items) "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define POD(uid, version) "{\"metadata\":{\"name\":\"n" uid "\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, uid, version) "{\"type\":\"" type "\",\"object\":" POD(uid, version) "}\n"
#define EXPIRED "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"Expired\",\"message\":\"too old\",\"code\":410}"

/* A watch over a scripted server. */
struct rig {
	struct fake fake;
	mpijob_client *client;
	mpijob_watch *watch;
	mpijob_text seen;  /* what was told */
	int failures;
	int refuse;        /* answer this to the next object */
};

static int64_t clock_now; /* the watch's clock stands still unless a test moves it */

static int64_t clock_ms(void)
{
	return clock_now;
}

static void on_begin(void *user)
{
	mpijob__text_puts(&((struct rig *)user)->seen, "(");
}

static int on_object(void *user, const struct mpijob_watch_event *object)
{
	static const char *const words[] = { "L", "A", "M", "D" };
	struct rig *rig = user;
	int code = rig->refuse;

	rig->refuse = 0;
	if (code)
		return code;
	assert_non_null(object->json);
	assert_int_equal(object->json[0], '{');
	mpijob__text_printf(&rig->seen, "%s%s@%s ", words[object->event], object->uid, object->resource_version);
	return 0;
}

static int on_listed(void *user, const char *version)
{
	mpijob__text_printf(&((struct rig *)user)->seen, ")%s ", version);
	return 0;
}

static void on_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	assert_true(answer->code < 0);
	assert_non_null(what);
	((struct rig *)user)->failures++;
}

static void set_up(struct rig *rig)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	memset(rig, 0, sizeof(*rig));
	rig->client = fake_client(&rig->fake);
	rig->client->clock = clock_ms;
	options.api_version = "v1";
	options.kind = "Pod";
	options.label_selector = "a=b";
	options.user = rig;
	options.seed = 7;
	options.begin = on_begin;
	options.object = on_object;
	options.listed = on_listed;
	options.failed = on_failed;
	assert_int_equal(mpijob_watch_new(rig->client, &options, &rig->watch), 0);
}

static void tear_down(struct rig *rig)
{
	mpijob_watch_free(rig->watch);
	assert_null(rig->fake.exchanges);
	mpijob_client_free(rig->client);
	mpijob__text_release(&rig->seen);
	fake_release(&rig->fake);
}

static void reply(struct rig *rig, int status, const char *body)
{
	struct fake_reply script = { 0 };

	script.status = status;
	script.body = body;
	fake_script(&rig->fake, script);
}

static void reply_open(struct rig *rig, const char *body)
{
	struct fake_reply script = { 0 };

	script.status = 200;
	script.body = body;
	script.open = 1;
	fake_script(&rig->fake, script);
}

static int is_quiet(const struct rig *rig)
{
	for (const struct fake_exchange *exchange = rig->fake.exchanges; exchange; exchange = exchange->next)
		if (!exchange->reply.open || exchange->told < strlen(exchange->text))
			return 0;
	return rig->fake.script_at == rig->fake.script_count;
}

/* Go on until the script is used up and its last answer was told. */
static void run(struct rig *rig)
{
	for (int i = 0; i < 4000 && !is_quiet(rig); i++)
		assert_int_equal(mpijob_client_poll(rig->client, 0), 0);
	assert_int_equal(rig->fake.script_at, rig->fake.script_count);
}

/* Wait as long as it wants; returns how long that is. */
static int64_t sleep_over(struct rig *rig)
{
	int64_t due = mpijob__watch_due_ms(rig->watch), wait;

	if (due == INT64_MIN)
		return 0;
	assert_true(due != INT64_MAX);
	wait = due - clock_now;
	clock_now = due;
	return wait;
}

static void list_then_watch(void **state)
{
	struct rig rig;
	char *value;

	(void)state;
	for (size_t piece = 0; piece < 4; piece++) {
		set_up(&rig);
		rig.fake.piece = piece;
		reply(&rig, 200, LIST("10", POD("a", "3") "," POD("b", "4")));
		reply_open(&rig, EVENT("ADDED", "c", "11") EVENT("MODIFIED", "a", "12")
			   "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"20\"}}}\n"
			   EVENT("DELETED", "b", "21"));
		run(&rig);
		assert_int_equal(mpijob_watch_synced(rig.watch), 1);
		assert_string_equal(mpijob_text_data(&rig.seen), "(La@3 Lb@4 )10 Ac@11 Ma@12 Db@21 ");
		assert_string_equal(rig.fake.log[0], "GET /api/v1/pods?limit=500&resourceVersion=0&labelSelector=a%3Db");
		value = fake_query(rig.fake.log[1], "resourceVersion");
		assert_string_equal(value, "10");
		free(value);
		value = fake_query(rig.fake.log[1], "allowWatchBookmarks");
		assert_string_equal(value, "true");
		free(value);
		value = fake_query(rig.fake.log[1], "timeoutSeconds");
		assert_in_range(atoi(value), 300, 600);
		free(value);
		tear_down(&rig);
	}
}

static void an_end_is_normal(void **state)
{
	struct rig rig;
	char *value;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, EVENT("ADDED", "a", "11"));
	/* Cut in the middle of an event: goes on before it. */
	reply(&rig, 200, EVENT("MODIFIED", "a", "12") "{\"type\":\"MODIF");
	reply_open(&rig, EVENT("MODIFIED", "a", "13"));
	run(&rig);
	assert_string_equal(mpijob_text_data(&rig.seen), "()10 Aa@11 Ma@12 Ma@13 ");
	value = fake_query(rig.fake.log[3], "resourceVersion");
	assert_string_equal(value, "12");
	free(value);
	assert_int_equal(rig.failures, 0);
	/* It should have ended long ago: given up, begun again. */
	assert_true(sleep_over(&rig) > 300000);
	reply_open(&rig, EVENT("DELETED", "a", "14"));
	run(&rig);
	value = fake_query(rig.fake.log[4], "resourceVersion");
	assert_string_equal(value, "13");
	free(value);
	tear_down(&rig);
}

static void gone_lists_anew(void **state)
{
	struct rig rig;
	char *value;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, LIST("10", POD("a", "3")));
	reply(&rig, 200, EVENT("ADDED", "b", "11") "{\"type\":\"ERROR\",\"object\":" EXPIRED "}\n");
	reply(&rig, 200, LIST("30", POD("b", "11")));
	reply(&rig, 410, EXPIRED);
	run(&rig);
	sleep_over(&rig); /* a watch refused at once makes it wait */
	reply(&rig, 200, LIST("40", ""));
	reply_open(&rig, "");
	run(&rig);
	assert_string_equal(mpijob_text_data(&rig.seen), "(La@3 )10 Ab@11 (Lb@11 )30 ()40 ");
	/* Not from a cache that may be older than what was seen; and not in pages, so it may be a cache. */
	assert_string_equal(rig.fake.log[2], "GET /api/v1/pods?resourceVersion=11&labelSelector=a%3Db");
	value = fake_query(rig.fake.log[5], "resourceVersion");
	assert_string_equal(value, "40");
	free(value);
	tear_down(&rig);
}

static void failures_back_off(void **state)
{
	struct rig rig;
	int64_t wait, least = 800;
	struct fake_reply lost = { 0 }, busy = { 0 };
	char *value;

	(void)state;
	set_up(&rig);
	for (int i = 0; i < 8; i++) {
		reply(&rig, 500, "broken");
		run(&rig);
		assert_int_equal(mpijob_watch_synced(rig.watch), 0);
		wait = sleep_over(&rig);
		assert_in_range(wait, least, 2 * least);
		least = least * 2 > 30000 ? 30000 : least * 2;
	}
	assert_int_equal(rig.failures, 1); /* told once */
	/* Opening the watch fails: keep the version, do not list again. */
	reply(&rig, 200, LIST("10", ""));
	lost.end_code = MPIJOB_ERR_IO;
	fake_script(&rig.fake, lost);
	run(&rig);
	assert_true(sleep_over(&rig) > 25000);
	busy.status = 429;
	busy.header = "Retry-After: 90";
	fake_script(&rig.fake, busy);
	run(&rig);
	assert_int_equal(sleep_over(&rig), 90000);
	/* A list that breaks off is no list. */
	reply_open(&rig, EVENT("ADDED", "a", "11"));
	run(&rig);
	value = fake_query(rig.fake.log[rig.fake.log_count - 1], "resourceVersion");
	assert_string_equal(value, "10");
	free(value);
	assert_string_equal(mpijob_text_data(&rig.seen), "()10 Aa@11 ");
	tear_down(&rig);
}

static void broken_answers(void **state)
{
	static const char *const bodies[] = { "", "{\"items\":[", LIST("1", "") "x", "[]", "{\"metadata\":{},\"items\":[]}",
					      "{\"metadata\":{\"resourceVersion\":7},\"items\":[]}",
					      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":500}" };
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		set_up(&rig);
		reply(&rig, 200, bodies[i]);
		run(&rig);
		assert_int_equal(mpijob_watch_synced(rig.watch), 0);
		assert_int_equal(rig.failures, 1);
		assert_true(sleep_over(&rig) > 0);
		reply(&rig, 200, LIST("10", ""));
		/* A watch that speaks no JSON is a failure, and goes on from where it stood. */
		reply(&rig, 200, "garbage");
		run(&rig);
		assert_int_equal(mpijob_watch_synced(rig.watch), 1);
		assert_int_equal(rig.failures, 2);
		assert_true(sleep_over(&rig) > 0);
		tear_down(&rig);
	}
}

static void errors_in_the_stream(void **state)
{
	struct rig rig;
	char *value;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, LIST("10", ""));
	reply(&rig, 200, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
	      "\"reason\":\"InternalError\",\"message\":\"etcd\",\"code\":500}}\n");
	run(&rig);
	assert_int_equal(rig.failures, 1);
	assert_true(sleep_over(&rig) >= 800);
	reply_open(&rig, "{\"type\":\"INVENTED\",\"object\":{\"metadata\":{\"resourceVersion\":\"15\"}}}");
	run(&rig);
	value = fake_query(rig.fake.log[2], "resourceVersion");
	assert_string_equal(value, "10");
	free(value);
	assert_string_equal(mpijob_text_data(&rig.seen), "()10 ");
	tear_down(&rig);
}

static void no_memory_loses_nothing(void **state)
{
	struct rig rig;
	char *value;

	(void)state;
	set_up(&rig);
	rig.refuse = MPIJOB_ERR_NOMEM;
	reply(&rig, 200, LIST("10", POD("a", "3")));
	run(&rig);
	assert_int_equal(mpijob_watch_synced(rig.watch), 0);
	sleep_over(&rig);
	reply(&rig, 200, LIST("10", POD("a", "3")));
	reply_open(&rig, "");
	run(&rig);
	assert_string_equal(mpijob_text_data(&rig.seen), "((La@3 )10 ");
	sleep_over(&rig);
	rig.refuse = MPIJOB_ERR_NOMEM;
	reply_open(&rig, EVENT("MODIFIED", "a", "11"));
	run(&rig);
	sleep_over(&rig);
	reply_open(&rig, EVENT("MODIFIED", "a", "11"));
	run(&rig);
	value = fake_query(rig.fake.log[rig.fake.log_count - 1], "resourceVersion");
	assert_string_equal(value, "10");
	free(value);
	assert_string_equal(mpijob_text_data(&rig.seen), "((La@3 )10 Ma@11 ");
	tear_down(&rig);
}

static void a_list_in_pages(void **state)
{
	struct rig rig;
	char *value;

	(void)state;
	set_up(&rig);
	reply(&rig, 200, "{\"metadata\":{\"resourceVersion\":\"10\",\"continue\":\"t/1\"},\"items\":[" POD("a", "1") "]}");
	reply(&rig, 200, LIST("10", POD("b", "2")));
	reply_open(&rig, "");
	run(&rig);
	assert_string_equal(mpijob_text_data(&rig.seen), "(La@1 Lb@2 )10 ");
	value = fake_query(rig.fake.log[1], "continue");
	assert_string_equal(value, "t/1");
	free(value);
	tear_down(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_then_watch),
		cmocka_unit_test(an_end_is_normal),
		cmocka_unit_test(gone_lists_anew),
		cmocka_unit_test(failures_back_off),
		cmocka_unit_test(broken_answers),
		cmocka_unit_test(errors_in_the_stream),
		cmocka_unit_test(no_memory_loses_nothing),
		cmocka_unit_test(a_list_in_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

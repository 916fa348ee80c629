/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch over a scripted server, with a clock that stands still unless the test moves it. What its
 * owner is told is written down: "(" a list begins, ")10 " it is complete at 10, "La@3 " the object
 * of uid a, listed at 3; A, M and D for the events. A test program includes it once.
 */
#ifndef MPIJOB_TEST_WATCH_RIG_H
#define MPIJOB_TEST_WATCH_RIG_H

#include "fake_cluster.h"

#include "client/client.h"
#include "client/watch.h"

#include <setjmp.h>

#include <cmocka.h>

#define LIST(version, items)                                                 \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version \
	"\"},\"items\":[" items "]}"
#define POD(uid, version)                                                                         \
	"{\"metadata\":{\"name\":\"n" uid "\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version \
	"\"}}"
#define EVENT(type, uid, version) "{\"type\":\"" type "\",\"object\":" POD(uid, version) "}\n"
#define EXPIRED                                                                         \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Expired\",\"message\":\"too old\",\"code\":410}"

struct rig {
	struct fake fake;
	mpijob_client *client;
	mpijob_watch *watch;
	mpijob_text seen; /* what was told */
	int failures;
	int refuse;    /* answer this to the next object */
	int last_code; /* of the failure that was told last */
	char free_in;  /* free the watch inside of this callback: b, o, l, f */
};

FAKE void free_in(struct rig *rig, char callback)
{
	if (rig->free_in != callback)
		return;
	mpijob_watch_free(rig->watch);
	rig->watch = NULL;
	rig->free_in = '-'; /* nothing may be told any more */
}

FAKE int64_t clock_now; /* the watch's clock stands still unless a test moves it */

FAKE int64_t clock_ms(void)
{
	return clock_now;
}

FAKE void on_begin(void *user)
{
	struct rig *rig = user;

	assert_int_not_equal(rig->free_in, '-');
	mpijob__base_text_puts(&rig->seen, "(");
	free_in(rig, 'b');
}

FAKE int on_object(void *user, const struct mpijob_watch_event *object)
{
	static const char *const words[] = { "L", "A", "M", "D" };
	struct rig *rig = user;
	int code = rig->refuse;

	assert_int_not_equal(rig->free_in, '-');
	assert_int_equal(object->size, sizeof(*object));
	rig->refuse = 0;
	if (code)
		return code;
	assert_non_null(object->json);
	assert_int_equal(object->json[0], '{');
	mpijob__base_text_printf(&rig->seen, "%s%s@%s ", words[object->event], object->uid,
	    object->resource_version);
	free_in(rig, 'o');
	return 0;
}

FAKE int on_listed(void *user, const char *version)
{
	struct rig *rig = user;

	assert_int_not_equal(rig->free_in, '-');
	mpijob__base_text_printf(&rig->seen, ")%s ", version);
	free_in(rig, 'l');
	return 0;
}

FAKE void on_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct rig *rig = user;

	assert_int_not_equal(rig->free_in, '-');
	assert_true(answer->code < 0);
	assert_non_null(answer->message);
	assert_true(strcmp(what, "list") == 0 || strcmp(what, "watch") == 0);
	rig->failures++;
	rig->last_code = answer->code;
	free_in(rig, 'f');
}

FAKE struct mpijob_watch_options rig_options(struct rig *rig)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = "v1";
	options.kind = "Pod";
	options.label_selector = "a=b";
	options.user = rig;
	options.seed = 7;
	options.begin = on_begin;
	options.object = on_object;
	options.listed = on_listed;
	options.failed = on_failed;
	return options;
}

FAKE void set_up_client(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->client = fake_client(&rig->fake);
	rig->client->clock = clock_ms;
}

FAKE void set_up(struct rig *rig)
{
	struct mpijob_watch_options options = rig_options(rig);

	set_up_client(rig);
	assert_int_equal(mpijob_watch_new(rig->client, &options, &rig->watch), 0);
}

FAKE void tear_down(struct rig *rig)
{
	mpijob_watch_free(rig->watch);
	assert_null(rig->fake.exchanges);
	mpijob_client_free(rig->client);
	mpijob__base_text_release(&rig->seen);
	fake_release(&rig->fake);
}

FAKE void reply(struct rig *rig, int status, const char *body)
{
	struct fake_reply script = { 0 };

	script.status = status;
	script.body = body;
	fake_script(&rig->fake, script);
}

FAKE void reply_open(struct rig *rig, const char *body)
{
	struct fake_reply script = { 0 };

	script.status = 200;
	script.body = body;
	script.open = 1;
	fake_script(&rig->fake, script);
}

FAKE int is_quiet(const struct rig *rig)
{
	for (const struct fake_exchange *exchange = rig->fake.exchanges; exchange;
	     exchange = exchange->next)
		if (!exchange->reply.open || exchange->told < strlen(exchange->text))
			return 0;
	return rig->fake.script_at == rig->fake.script_count;
}

/* Go on until the script is used up and its last answer was told. */
FAKE void run(struct rig *rig)
{
	for (int i = 0; i < 4000 && !is_quiet(rig); i++)
		assert_int_equal(mpijob_client_poll(rig->client, 0), 0);
	assert_int_equal(rig->fake.script_at, rig->fake.script_count);
}

/* Wait as long as it wants; returns how long that is. */
FAKE int64_t sleep_over(struct rig *rig)
{
	int64_t due = mpijob__client_watch_due_ms(rig->watch), wait;

	if (due == INT64_MIN)
		return 0;
	assert_true(due != INT64_MAX);
	wait = due - clock_now;
	clock_now = due;
	return wait;
}

/* What the request of this number asked for; NULL: it must not ask for it. */
FAKE void asked(const struct rig *rig, size_t request, const char *name, const char *value)
{
	char *found;

	assert_true(request < rig->fake.log_count);
	found = fake_query(rig->fake.log[request], name);
	if (value && found)
		assert_string_equal(found, value);
	assert_true((value != NULL) == (found != NULL));
	free(found);
}

FAKE void seen_is(const struct rig *rig, const char *told)
{
	assert_string_equal(mpijob_text_data(&rig->seen), told);
}

#endif

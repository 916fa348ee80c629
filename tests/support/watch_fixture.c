/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_fixture.h"

void free_in(struct watch_fixture *fixture, char callback)
{
	if (fixture->free_in != callback)
		return;
	mpijob_watch_free(fixture->watch);
	fixture->watch = NULL;
	fixture->free_in = '-'; /* nothing may be told any more */
}

int64_t clock_now;

static int64_t clock_ms(void)
{
	return clock_now;
}

static void on_begin(void *user)
{
	struct watch_fixture *fixture = user;

	assert_int_not_equal(fixture->free_in, '-');
	mpijob__base_text_puts(&fixture->seen, "(");
	free_in(fixture, 'b');
}

static int on_object(void *user, const struct mpijob_watch_event *object)
{
	static const char *const words[] = { "L", "A", "M", "D" };
	struct watch_fixture *fixture = user;
	int code = fixture->refuse;

	assert_int_not_equal(fixture->free_in, '-');
	assert_int_equal(object->size, sizeof(*object));
	fixture->refuse = 0;
	if (code)
		return code;
	assert_non_null(object->json);
	assert_int_equal(object->json[0], '{');
	mpijob__base_text_printf(&fixture->seen, "%s%s@%s ", words[object->event], object->uid,
	    object->resource_version);
	free_in(fixture, 'o');
	return 0;
}

static int on_listed(void *user, const char *version)
{
	struct watch_fixture *fixture = user;

	assert_int_not_equal(fixture->free_in, '-');
	mpijob__base_text_printf(&fixture->seen, ")%s ", version);
	free_in(fixture, 'l');
	return 0;
}

static void on_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct watch_fixture *fixture = user;

	assert_int_not_equal(fixture->free_in, '-');
	assert_true(answer->code < 0);
	assert_non_null(answer->message);
	assert_true(strcmp(what, "list") == 0 || strcmp(what, "watch") == 0);
	fixture->failures++;
	fixture->last_code = answer->code;
	free_in(fixture, 'f');
}

struct mpijob_watch_options watch_options(struct watch_fixture *fixture)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = "v1";
	options.kind = "Pod";
	options.label_selector = "a=b";
	options.user = fixture;
	options.seed = 7;
	options.begin = on_begin;
	options.object = on_object;
	options.listed = on_listed;
	options.failed = on_failed;
	return options;
}

void set_up_client(struct watch_fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->client = fake_client(&fixture->fake);
	fixture->client->clock = clock_ms;
}

void watch_set_up(struct watch_fixture *fixture)
{
	struct mpijob_watch_options options = watch_options(fixture);

	set_up_client(fixture);
	assert_int_equal(mpijob_watch_new(fixture->client, &options, &fixture->watch), 0);
}

void watch_tear_down(struct watch_fixture *fixture)
{
	mpijob_watch_free(fixture->watch);
	assert_null(fixture->fake.exchanges);
	mpijob_client_free(fixture->client);
	mpijob__base_text_release(&fixture->seen);
	fake_release(&fixture->fake);
}

void reply(struct watch_fixture *fixture, int status, const char *body)
{
	struct fake_reply script = { 0 };

	script.status = status;
	script.body = body;
	fake_script(&fixture->fake, script);
}

void reply_open(struct watch_fixture *fixture, const char *body)
{
	struct fake_reply script = { 0 };

	script.status = 200;
	script.body = body;
	script.open = 1;
	fake_script(&fixture->fake, script);
}

int is_quiet(const struct watch_fixture *fixture)
{
	for (const struct fake_exchange *exchange = fixture->fake.exchanges; exchange;
	     exchange = exchange->next)
		if (!exchange->reply.open || exchange->told < strlen(exchange->text))
			return 0;
	return fixture->fake.script_at == fixture->fake.script_count;
}

void watch_run(struct watch_fixture *fixture)
{
	for (int i = 0; i < 4000 && !is_quiet(fixture); i++)
		assert_int_equal(mpijob_client_poll(fixture->client, 0), 0);
	assert_int_equal(fixture->fake.script_at, fixture->fake.script_count);
}

int64_t sleep_over(struct watch_fixture *fixture)
{
	int64_t due = mpijob__client_watch_due_ms(fixture->watch), wait;

	if (due == INT64_MIN)
		return 0;
	assert_true(due != INT64_MAX);
	wait = due - clock_now;
	clock_now = due;
	return wait;
}

void asked(const struct watch_fixture *fixture, size_t request, const char *name, const char *value)
{
	char *found;

	assert_true(request < fixture->fake.log_count);
	found = fake_query(fixture->fake.log[request], name);
	if (value && found)
		assert_string_equal(found, value);
	assert_true((value != NULL) == (found != NULL));
	free(found);
}

void seen_is(const struct watch_fixture *fixture, const char *expected)
{
	assert_string_equal(mpijob_text_data(&fixture->seen), expected);
}

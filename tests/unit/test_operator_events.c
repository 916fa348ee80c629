/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: which of them are combined, limited or dropped, how they are sent and sent again, and
 * when they are not sent.
 */
#include "../support/operator_fixture.h"

#define POSTS   "POST /api/v1/namespaces/team/events"
#define PATCHES "PATCH /api/v1/namespaces/team/events/pi."

/* With one job, which has all its children, and whose own Events were told. */
static void set_up_job(struct operator_fixture *fixture)
{
	operator_set_up(fixture);
	put_job(fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(fixture, 300);
	expect_children(fixture, 1, 1);
	assert_int_equal(mpijob_operator_busy(fixture->operator_), 0);
}

static void say(struct operator_fixture *fixture, const char *reason, const char *message)
{
	mpijob__operator_events_emit(fixture->operator_, entry_of(fixture), "Warning", reason,
	    message);
}

static int answer_events(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	if (!fake->user || strcmp(method, "GET") == 0 || !strstr(path, "/events"))
		return 0;
	*reply = *(const struct fake_reply *)fake->user;
	return 1;
}

/* Say as many different things, of one reason. */
static void say_many(struct operator_fixture *fixture, const char *reason, int count)
{
	for (int i = 0; i < count; i++) {
		char *message = fake_text("message %d", i);

		say(fixture, reason, message);
		free(message);
	}
}

/* The Events of a reason that the server has: how many, and the latest in `one`. */
static size_t stored(const struct operator_fixture *fixture, const char *reason,
    struct fake_object **one)
{
	size_t count = 0;

	for (struct fake_object *object = fixture->fake.objects; object; object = object->next) {
		if (strcmp(object->collection, EVENTS) != 0 ||
		    strcmp(fake_string(object, "reason"), reason) != 0)
			continue;
		if (count++ == 0)
			*one = object;
	}
	return count;
}

static int64_t count_of(const struct fake_object *event)
{
	int64_t count = -1;

	assert_int_equal(mpijob_node_int(mpijob_node_find(mpijob_doc_root(event->doc), "count"),
			     &count),
	    1);
	return count;
}

static uint64_t dropped(const struct operator_fixture *fixture)
{
	return fixture->operator_->metrics.events_dropped;
}

/* --- what is said --- */

static void the_same_again_is_counted(void **state)
{
	struct fake_object *event = NULL;
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	for (int i = 0; i < 3; i++)
		say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Odd", &event), 1);
	assert_int_equal(count_of(event), 4);
	assert_int_equal(fake_count(&fixture.fake, PATCHES), 1);
	assert_string_equal(fake_string(event, "message"), "it is odd");
	operator_tear_down(&fixture);
}

/* The tenth different message of one reason and those after it are one Event, which says the
 * latest. */
static void many_messages_are_combined(void **state)
{
	struct fake_object *event = NULL;
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	say_many(&fixture, "Odd", 9);
	operator_run(&fixture, 50);
	assert_int_equal(stored(&fixture, "Odd", &event), 9);
	say_many(&fixture, "Odd", 12);
	operator_run(&fixture, 50);
	assert_int_equal(stored(&fixture, "Odd", &event), 10);
	assert_string_equal(fake_string(event, "message"),
	    "(combined from similar events): message 11");
	assert_int_equal(count_of(event), 3);
	say(&fixture, "Even", "message 12");
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Even", &event), 1);
	assert_string_equal(fake_string(event, "message"), "message 12");
	/* After ten minutes they are told one by one again. */
	fake_clock_advance_us(INT64_C(601) * 1000000);
	say(&fixture, "Odd", "message 13");
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Odd", &event), 11);
	assert_string_equal(fake_string(event, "message"), "message 13");
	operator_tear_down(&fixture);
}

/* One reason of one job has 25 in stock; those over it are dropped, and counted. */
static void one_reason_has_its_limit(void **state)
{
	struct fake_object *event = NULL;
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	for (int i = 0; i < 24; i++)
		say(&fixture, "Odd", "it is odd");
	assert_int_equal(dropped(&fixture), 0);
	say(&fixture, "Odd", "it is odd");
	assert_int_equal(dropped(&fixture), 0);
	say(&fixture, "Odd", "it is odd");
	say(&fixture, "Odd", "it is odder");
	assert_int_equal(dropped(&fixture), 2);
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Odd", &event), 1);
	assert_int_equal(count_of(event), 25);
	say(&fixture, "Even", "it is even");
	assert_int_equal(dropped(&fixture), 2);
	/* One more every five minutes. */
	fake_clock_advance_us(INT64_C(290) * 1000000);
	say(&fixture, "Odd", "it is odd");
	assert_int_equal(dropped(&fixture), 3);
	fake_clock_advance_us(INT64_C(10) * 1000000);
	say(&fixture, "Odd", "it is odd");
	assert_int_equal(dropped(&fixture), 3);
	say(&fixture, "Odd", "it is odd");
	assert_int_equal(dropped(&fixture), 4);
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Odd", &event), 1);
	assert_int_equal(count_of(event), 26);
	operator_tear_down(&fixture);
}

/* No more than a thousand wait; what already does is counted on. */
static void a_thousand_wait(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	fixture.operator_->hold_until_ms = fixture.operator_->now_ms + 60000;
	for (int i = 0; i < 1000; i++) {
		char *reason = fake_text("Reason%d", i);

		say(&fixture, reason, "m");
		free(reason);
	}
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 1000);
	assert_int_equal(dropped(&fixture), 0);
	say(&fixture, "Another", "m");
	assert_int_equal(dropped(&fixture), 1);
	say(&fixture, "Reason7", "m");
	assert_int_equal(dropped(&fixture), 1);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 1000);
	operator_tear_down(&fixture);
}

static void long_messages_are_cut(void **state)
{
	struct fake_object *event = NULL;
	char message[1500];
	const char *kept;
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	/* Of two bytes each, and the cut at 1024 would be in the middle of one. */
	message[0] = 'x';
	for (size_t i = 1; i + 1 < sizeof(message); i += 2)
		memcpy(message + i, "\xc3\xa4", 2);
	message[sizeof(message) - 1] = 0;
	say(&fixture, "Long", message);
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Long", &event), 1);
	kept = fake_string(event, "message");
	assert_int_equal(strlen(kept), 1023);
	assert_int_equal(strncmp(kept, message, 1023), 0);
	operator_tear_down(&fixture);
}

/* --- how they are sent --- */

/* The server forgets Events after an hour: the count begins anew. */
static void one_that_is_gone_begins_anew(void **state)
{
	struct fake_object *event = NULL;
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	say(&fixture, "Odd", "it is odd");
	say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Odd", &event), 1);
	assert_int_equal(count_of(event), 2);
	fake_delete(&fixture.fake, event);
	say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	assert_int_equal(stored(&fixture, "Odd", &event), 1);
	assert_int_equal(count_of(event), 1);
	assert_string_equal(fake_string(event, "firstTimestamp"),
	    fake_string(event, "lastTimestamp"));
	assert_string_equal(fake_string(event, "involvedObject.name"), "pi");
	operator_tear_down(&fixture);
}

/* A POST whose answer was lost, and that the server did: the next one meets it, and is no second
 * Event. */
static void a_lost_answer_is_no_second_event(void **state)
{
	struct fake_reply reply = { .apply = 1, .end_code = MPIJOB_ERR_IO };
	struct fake_object *event = NULL;
	struct operator_fixture fixture;

	(void)state;
	set_up_job(&fixture);
	fixture.fake.decide = answer_events;
	fixture.fake.user = &reply;
	say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 1);
	fixture.fake.user = NULL;
	fake_clock_advance_us(INT64_C(10) * 1000000);
	operator_run(&fixture, 20);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	assert_int_equal(stored(&fixture, "Odd", &event), 1);
	assert_int_equal(dropped(&fixture), 0);
	operator_tear_down(&fixture);
}

/* Ten seconds between tries, and no more than a dozen of them. */
static void a_dozen_tries(void **state)
{
	struct fake_reply reply = { .end_code = MPIJOB_ERR_IO };
	struct operator_fixture fixture;
	size_t posts;

	(void)state;
	set_up_job(&fixture);
	posts = fake_count(&fixture.fake, POSTS);
	fixture.fake.decide = answer_events;
	fixture.fake.user = &reply;
	say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	for (size_t tries = 1; tries < 12; tries++) {
		assert_int_equal(fake_count(&fixture.fake, POSTS), posts + tries);
		assert_in_range(mpijob__operator_events_due_ms(fixture.operator_) -
				    fixture.operator_->now_ms,
		    9000, 10000);
		assert_int_equal(dropped(&fixture), 0);
		fake_clock_advance_us(INT64_C(10) * 1000000);
		operator_run(&fixture, 20);
	}
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 12);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	assert_int_equal(dropped(&fixture), 1);
	assert_string_equal(fixture.last_log,
	    "the Event Odd about MPIJob team/pi is dropped after 12 attempts");
	operator_tear_down(&fixture);
}

/* What the server refuses is not tried again. */
static void what_is_refused_is_dropped(void **state)
{
	struct fake_reply reply = { .status = 403, .body = "{}" };
	struct operator_fixture fixture;
	size_t posts;

	(void)state;
	set_up_job(&fixture);
	posts = fake_count(&fixture.fake, POSTS);
	fixture.fake.decide = answer_events;
	fixture.fake.user = &reply;
	say(&fixture, "Odd", "it is odd");
	operator_run(&fixture, 20);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 1);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	assert_int_equal(dropped(&fixture), 1);
	operator_tear_down(&fixture);
}

/* Four at a time, so that jobs go first. */
static void few_at_a_time(void **state)
{
	struct fake_reply reply = { .open = 1, .status = 201, .body = "{}" };
	struct operator_fixture fixture;
	size_t posts;

	(void)state;
	set_up_job(&fixture);
	posts = fake_count(&fixture.fake, POSTS);
	fixture.fake.decide = answer_events;
	fixture.fake.user = &reply;
	say_many(&fixture, "Odd", 9);
	operator_run(&fixture, 50);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 4);
	assert_int_equal(fixture.operator_->writes, 4);
	operator_tear_down(&fixture);
}

/* --- when they are not sent --- */

/* Who is asked to wait sends no Events either. */
static void they_wait_as_asked(void **state)
{
	struct operator_fixture fixture;
	size_t posts;

	(void)state;
	set_up_job(&fixture);
	posts = fake_count(&fixture.fake, POSTS);
	fixture.operator_->hold_until_ms = fixture.operator_->now_ms + 60000;
	say(&fixture, "Held", "it waits");
	assert_int_equal(mpijob__operator_events_due_ms(fixture.operator_),
	    fixture.operator_->hold_until_ms);
	operator_run(&fixture, 50);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts);
	fixture.operator_->hold_until_ms = INT64_MIN;
	operator_run(&fixture, 50);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 1);
	operator_tear_down(&fixture);
}

/* What an Event is told holds for all else, too. */
static void they_make_all_wait(void **state)
{
	struct fake_reply reply = { .status = 429, .header = "Retry-After: 40", .body = "" };
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	set_up_job(&fixture);
	fixture.fake.decide = answer_events;
	fixture.fake.user = &reply;
	say(&fixture, "Busy", "too much");
	operator_run(&fixture, 50);
	assert_in_range(fixture.operator_->hold_until_ms - fixture.operator_->now_ms, 30000, 40000);
	writes = fake_writes(&fixture.fake);
	put_job(&fixture, "team", "other", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 100);
	assert_int_equal(fake_writes(&fixture.fake), writes);
	fake_clock_advance_us(INT64_C(40) * 1000000);
	operator_run(&fixture, 100);
	assert_true(fake_writes(&fixture.fake) > writes);
	operator_tear_down(&fixture);
}

/* A child cannot be read any more, which is worth an Event: not one of a standby. */
static void a_standby_tells_nothing(void **state)
{
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	set_up_job(&fixture);
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_WATCHES);
	writes = fake_writes(&fixture.fake);
	fake_patch(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-0"),
	    "status: {conditions: [1], phase: [2]}");
	operator_run(&fixture, 100);
	assert_non_null(strstr(fixture.last_log, "Pod team/pi-worker-0 is skipped"));
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_ACTS);
	operator_run(&fixture, 100);
	assert_int_equal(fake_writes(&fixture.fake), writes);
	operator_tear_down(&fixture);
}

/* Those that wait when the office is lost, in our line or for a token, are sent when it is back. */
static void they_wait_for_the_office(void **state)
{
	struct operator_fixture fixture;
	size_t posts;

	(void)state;
	set_up_job(&fixture);
	posts = fake_count(&fixture.fake, POSTS);
	pace(&fixture, 1, 1);
	for (int i = 0; i < 8; i++) {
		char *reason = fake_text("Reason%d", i);

		say(&fixture, reason, "m");
		free(reason);
	}
	operator_run(&fixture, 50);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 1);
	assert_true(fixture.operator_->writes > 0);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 7);
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_WATCHES);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	assert_int_equal(mpijob__operator_events_due_ms(fixture.operator_), INT64_MAX);
	clients_ms += 60000;
	operator_run(&fixture, 50);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 1);
	pace(&fixture, 0, 0);
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_ACTS);
	operator_run(&fixture, 100);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 8);
	operator_tear_down(&fixture);
}

/* What a server would have forgotten by now is told no more. */
static void old_news_are_dropped(void **state)
{
	struct fake_object *event = NULL;
	struct operator_fixture fixture;
	size_t posts;

	(void)state;
	set_up_job(&fixture);
	posts = fake_count(&fixture.fake, POSTS);
	say(&fixture, "Old", "words");
	fake_clock_advance_us(INT64_C(1800) * 1000000);
	say(&fixture, "Young", "words");
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_WATCHES);
	fake_clock_advance_us(INT64_C(1801) * 1000000);
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_ACTS);
	operator_run(&fixture, 100);
	assert_int_equal(fake_count(&fixture.fake, POSTS), posts + 1);
	assert_int_equal(stored(&fixture, "Young", &event), 1);
	assert_int_equal(dropped(&fixture), 1);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	operator_tear_down(&fixture);
}

/* Who is about to go, and still has his office, tells what he did, and does no more. */
static void who_ends_tells_the_rest(void **state)
{
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	set_up_job(&fixture);
	writes = fake_writes(&fixture.fake);
	say(&fixture, "Last", "words");
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_ENDS);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 1);
	put_job(&fixture, "team", "other", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 100);
	assert_int_equal(fake_writes(&fixture.fake), writes + 1);
	assert_string_equal(fixture.fake.log[fixture.fake.log_count - 1], POSTS);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_again_is_counted),
		cmocka_unit_test(many_messages_are_combined),
		cmocka_unit_test(one_reason_has_its_limit),
		cmocka_unit_test(a_thousand_wait),
		cmocka_unit_test(long_messages_are_cut),
		cmocka_unit_test(one_that_is_gone_begins_anew),
		cmocka_unit_test(a_lost_answer_is_no_second_event),
		cmocka_unit_test(a_dozen_tries),
		cmocka_unit_test(what_is_refused_is_dropped),
		cmocka_unit_test(few_at_a_time),
		cmocka_unit_test(they_wait_as_asked),
		cmocka_unit_test(they_make_all_wait),
		cmocka_unit_test(a_standby_tells_nothing),
		cmocka_unit_test(they_wait_for_the_office),
		cmocka_unit_test(old_news_are_dropped),
		cmocka_unit_test(who_ends_tells_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

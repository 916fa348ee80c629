/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: which of them are combined, limited or dropped, how they are sent and sent again, and
 * when they are not sent.
 */
#include "../support/operator_rig.h"

#define POSTS   "POST /api/v1/namespaces/team/events"
#define PATCHES "PATCH /api/v1/namespaces/team/events/pi."

/* With one job, which has all its children, and whose own Events were told. */
static void set_up_job(struct rig *rig)
{
	set_up(rig);
	put_job(rig, "team", "pi", 1, "cleanPodPolicy: All");
	run(rig, 300);
	expect_children(rig, 1, 1);
	assert_int_equal(mpijob_operator_busy(rig->operator_), 0);
}

static void say(struct rig *rig, const char *reason, const char *message)
{
	mpijob__operator_events_emit(rig->operator_, entry_of(rig), "Warning", reason, message);
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
static void say_many(struct rig *rig, const char *reason, int count)
{
	for (int i = 0; i < count; i++) {
		char *message = fake_text("message %d", i);

		say(rig, reason, message);
		free(message);
	}
}

/* The Events of a reason that the server has: how many, and the latest in `one`. */
static size_t stored(const struct rig *rig, const char *reason, struct fake_object **one)
{
	size_t count = 0;

	for (struct fake_object *object = rig->fake.objects; object; object = object->next) {
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

static uint64_t dropped(const struct rig *rig)
{
	return rig->operator_->metrics.events_dropped;
}

/* --- what is said --- */

static void the_same_again_is_counted(void **state)
{
	struct fake_object *event = NULL;
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	for (int i = 0; i < 3; i++)
		say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Odd", &event), 1);
	assert_int_equal(count_of(event), 4);
	assert_int_equal(fake_count(&rig.fake, PATCHES), 1);
	assert_string_equal(fake_string(event, "message"), "it is odd");
	tear_down(&rig);
}

/* The tenth different message of one reason and those after it are one Event, which says the
 * latest. */
static void many_messages_are_combined(void **state)
{
	struct fake_object *event = NULL;
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	say_many(&rig, "Odd", 9);
	run(&rig, 50);
	assert_int_equal(stored(&rig, "Odd", &event), 9);
	say_many(&rig, "Odd", 12);
	run(&rig, 50);
	assert_int_equal(stored(&rig, "Odd", &event), 10);
	assert_string_equal(fake_string(event, "message"),
	    "(combined from similar events): message 11");
	assert_int_equal(count_of(event), 3);
	say(&rig, "Even", "message 12");
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Even", &event), 1);
	assert_string_equal(fake_string(event, "message"), "message 12");
	/* After ten minutes they are told one by one again. */
	fake_clock_advance_us(INT64_C(601) * 1000000);
	say(&rig, "Odd", "message 13");
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Odd", &event), 11);
	assert_string_equal(fake_string(event, "message"), "message 13");
	tear_down(&rig);
}

/* One reason of one job has 25 in stock; those over it are dropped, and counted. */
static void one_reason_has_its_limit(void **state)
{
	struct fake_object *event = NULL;
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	for (int i = 0; i < 24; i++)
		say(&rig, "Odd", "it is odd");
	assert_int_equal(dropped(&rig), 0);
	say(&rig, "Odd", "it is odd");
	assert_int_equal(dropped(&rig), 0);
	say(&rig, "Odd", "it is odd");
	say(&rig, "Odd", "it is odder");
	assert_int_equal(dropped(&rig), 2);
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Odd", &event), 1);
	assert_int_equal(count_of(event), 25);
	say(&rig, "Even", "it is even");
	assert_int_equal(dropped(&rig), 2);
	/* One more every five minutes. */
	fake_clock_advance_us(INT64_C(290) * 1000000);
	say(&rig, "Odd", "it is odd");
	assert_int_equal(dropped(&rig), 3);
	fake_clock_advance_us(INT64_C(10) * 1000000);
	say(&rig, "Odd", "it is odd");
	assert_int_equal(dropped(&rig), 3);
	say(&rig, "Odd", "it is odd");
	assert_int_equal(dropped(&rig), 4);
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Odd", &event), 1);
	assert_int_equal(count_of(event), 26);
	tear_down(&rig);
}

/* No more than a thousand wait; what already does is counted on. */
static void a_thousand_wait(void **state)
{
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	rig.operator_->hold_until_ms = rig.operator_->now_ms + 60000;
	for (int i = 0; i < 1000; i++) {
		char *reason = fake_text("Reason%d", i);

		say(&rig, reason, "m");
		free(reason);
	}
	assert_int_equal(mpijob_operator_busy(rig.operator_), 1000);
	assert_int_equal(dropped(&rig), 0);
	say(&rig, "Another", "m");
	assert_int_equal(dropped(&rig), 1);
	say(&rig, "Reason7", "m");
	assert_int_equal(dropped(&rig), 1);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 1000);
	tear_down(&rig);
}

static void long_messages_are_cut(void **state)
{
	struct fake_object *event = NULL;
	char message[1500];
	const char *kept;
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	/* Of two bytes each, and the cut at 1024 would be in the middle of one. */
	message[0] = 'x';
	for (size_t i = 1; i + 1 < sizeof(message); i += 2)
		memcpy(message + i, "\xc3\xa4", 2);
	message[sizeof(message) - 1] = 0;
	say(&rig, "Long", message);
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Long", &event), 1);
	kept = fake_string(event, "message");
	assert_int_equal(strlen(kept), 1023);
	assert_int_equal(strncmp(kept, message, 1023), 0);
	tear_down(&rig);
}

/* --- how they are sent --- */

/* The server forgets Events after an hour: the count begins anew. */
static void one_that_is_gone_begins_anew(void **state)
{
	struct fake_object *event = NULL;
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	say(&rig, "Odd", "it is odd");
	say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Odd", &event), 1);
	assert_int_equal(count_of(event), 2);
	fake_delete(&rig.fake, event);
	say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	assert_int_equal(stored(&rig, "Odd", &event), 1);
	assert_int_equal(count_of(event), 1);
	assert_string_equal(fake_string(event, "firstTimestamp"),
	    fake_string(event, "lastTimestamp"));
	assert_string_equal(fake_string(event, "involvedObject.name"), "pi");
	tear_down(&rig);
}

/* A POST whose answer was lost, and that the server did: the next one meets it, and is no second
 * Event. */
static void a_lost_answer_is_no_second_event(void **state)
{
	struct fake_reply reply = { .apply = 1, .end_code = MPIJOB_ERR_IO };
	struct fake_object *event = NULL;
	struct rig rig;

	(void)state;
	set_up_job(&rig);
	rig.fake.decide = answer_events;
	rig.fake.user = &reply;
	say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 1);
	rig.fake.user = NULL;
	fake_clock_advance_us(INT64_C(10) * 1000000);
	run(&rig, 20);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 0);
	assert_int_equal(stored(&rig, "Odd", &event), 1);
	assert_int_equal(dropped(&rig), 0);
	tear_down(&rig);
}

/* Ten seconds between tries, and no more than a dozen of them. */
static void a_dozen_tries(void **state)
{
	struct fake_reply reply = { .end_code = MPIJOB_ERR_IO };
	struct rig rig;
	size_t posts;

	(void)state;
	set_up_job(&rig);
	posts = fake_count(&rig.fake, POSTS);
	rig.fake.decide = answer_events;
	rig.fake.user = &reply;
	say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	for (size_t tries = 1; tries < 12; tries++) {
		assert_int_equal(fake_count(&rig.fake, POSTS), posts + tries);
		assert_in_range(mpijob__operator_events_due_ms(rig.operator_) -
				    rig.operator_->now_ms,
		    9000, 10000);
		assert_int_equal(dropped(&rig), 0);
		fake_clock_advance_us(INT64_C(10) * 1000000);
		run(&rig, 20);
	}
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 12);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 0);
	assert_int_equal(dropped(&rig), 1);
	assert_string_equal(rig.last_log,
	    "the Event Odd about MPIJob team/pi is dropped after 12 attempts");
	tear_down(&rig);
}

/* What the server refuses is not tried again. */
static void what_is_refused_is_dropped(void **state)
{
	struct fake_reply reply = { .status = 403, .body = "{}" };
	struct rig rig;
	size_t posts;

	(void)state;
	set_up_job(&rig);
	posts = fake_count(&rig.fake, POSTS);
	rig.fake.decide = answer_events;
	rig.fake.user = &reply;
	say(&rig, "Odd", "it is odd");
	run(&rig, 20);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 1);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 0);
	assert_int_equal(dropped(&rig), 1);
	tear_down(&rig);
}

/* Four at a time, so that jobs go first. */
static void few_at_a_time(void **state)
{
	struct fake_reply reply = { .open = 1, .status = 201, .body = "{}" };
	struct rig rig;
	size_t posts;

	(void)state;
	set_up_job(&rig);
	posts = fake_count(&rig.fake, POSTS);
	rig.fake.decide = answer_events;
	rig.fake.user = &reply;
	say_many(&rig, "Odd", 9);
	run(&rig, 50);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 4);
	assert_int_equal(rig.operator_->writes, 4);
	tear_down(&rig);
}

/* --- when they are not sent --- */

/* Who is asked to wait sends no Events either. */
static void they_wait_as_asked(void **state)
{
	struct rig rig;
	size_t posts;

	(void)state;
	set_up_job(&rig);
	posts = fake_count(&rig.fake, POSTS);
	rig.operator_->hold_until_ms = rig.operator_->now_ms + 60000;
	say(&rig, "Held", "it waits");
	assert_int_equal(mpijob__operator_events_due_ms(rig.operator_),
	    rig.operator_->hold_until_ms);
	run(&rig, 50);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts);
	rig.operator_->hold_until_ms = INT64_MIN;
	run(&rig, 50);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 1);
	tear_down(&rig);
}

/* What an Event is told holds for all else, too. */
static void they_make_all_wait(void **state)
{
	struct fake_reply reply = { .status = 429, .header = "Retry-After: 40", .body = "" };
	struct rig rig;
	size_t writes;

	(void)state;
	set_up_job(&rig);
	rig.fake.decide = answer_events;
	rig.fake.user = &reply;
	say(&rig, "Busy", "too much");
	run(&rig, 50);
	assert_in_range(rig.operator_->hold_until_ms - rig.operator_->now_ms, 30000, 40000);
	writes = fake_writes(&rig.fake);
	put_job(&rig, "team", "other", 1, "cleanPodPolicy: All");
	run(&rig, 100);
	assert_int_equal(fake_writes(&rig.fake), writes);
	fake_clock_advance_us(INT64_C(40) * 1000000);
	run(&rig, 100);
	assert_true(fake_writes(&rig.fake) > writes);
	tear_down(&rig);
}

/* A child cannot be read any more, which is worth an Event: not one of a standby. */
static void a_standby_tells_nothing(void **state)
{
	struct rig rig;
	size_t writes;

	(void)state;
	set_up_job(&rig);
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_WATCHES);
	writes = fake_writes(&rig.fake);
	fake_patch(&rig.fake, fake_find(&rig.fake, PODS, "team", "pi-worker-0"),
	    "status: {conditions: [1], phase: [2]}");
	run(&rig, 100);
	assert_non_null(strstr(rig.last_log, "Pod team/pi-worker-0 is skipped"));
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_ACTS);
	run(&rig, 100);
	assert_int_equal(fake_writes(&rig.fake), writes);
	tear_down(&rig);
}

/* Those that wait when the office is lost, in our line or for a token, are sent when it is back. */
static void they_wait_for_the_office(void **state)
{
	struct rig rig;
	size_t posts;

	(void)state;
	set_up_job(&rig);
	posts = fake_count(&rig.fake, POSTS);
	pace(&rig, 1, 1);
	for (int i = 0; i < 8; i++) {
		char *reason = fake_text("Reason%d", i);

		say(&rig, reason, "m");
		free(reason);
	}
	run(&rig, 50);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 1);
	assert_true(rig.operator_->writes > 0);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 7);
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_WATCHES);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 0);
	assert_int_equal(mpijob__operator_events_due_ms(rig.operator_), INT64_MAX);
	clients_ms += 60000;
	run(&rig, 50);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 1);
	pace(&rig, 0, 0);
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_ACTS);
	run(&rig, 100);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 8);
	tear_down(&rig);
}

/* What a server would have forgotten by now is told no more. */
static void old_news_are_dropped(void **state)
{
	struct fake_object *event = NULL;
	struct rig rig;
	size_t posts;

	(void)state;
	set_up_job(&rig);
	posts = fake_count(&rig.fake, POSTS);
	say(&rig, "Old", "words");
	fake_clock_advance_us(INT64_C(1800) * 1000000);
	say(&rig, "Young", "words");
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_WATCHES);
	fake_clock_advance_us(INT64_C(1801) * 1000000);
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_ACTS);
	run(&rig, 100);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 1);
	assert_int_equal(stored(&rig, "Young", &event), 1);
	assert_int_equal(dropped(&rig), 1);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 0);
	tear_down(&rig);
}

/* Who is about to go, and still has his office, tells what he did, and does no more. */
static void who_ends_tells_the_rest(void **state)
{
	struct rig rig;
	size_t writes;

	(void)state;
	set_up_job(&rig);
	writes = fake_writes(&rig.fake);
	say(&rig, "Last", "words");
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_ENDS);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 1);
	put_job(&rig, "team", "other", 1, "cleanPodPolicy: All");
	run(&rig, 100);
	assert_int_equal(fake_writes(&rig.fake), writes + 1);
	assert_string_equal(rig.fake.log[rig.fake.log_count - 1], POSTS);
	assert_int_equal(mpijob_operator_busy(rig.operator_), 0);
	tear_down(&rig);
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

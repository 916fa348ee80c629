/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: which of them are combined, limited or dropped, how they are sent and sent again, and when they are not sent.
 */
#include "../support/operator_rig.h"

#include "operator/operator.h"

#define POSTS "POST /api/v1/namespaces/team/events"
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

static struct mpijob__record *record_of(struct rig *rig)
{
	return mpijob__jobs_by_uid(rig->operator_, fake_string(fake_find(&rig->fake, JOBS, "team", "pi"), "metadata.uid"));
}

static void say(struct rig *rig, const char *reason, const char *message)
{
	mpijob__events_emit(rig->operator_, record_of(rig), "Warning", reason, message);
}

static int answer_events(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	if (!fake->user || strcmp(method, "GET") == 0 || !strstr(path, "/events"))
		return 0;
	*reply = *(const struct fake_reply *)fake->user;
	return 1;
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
	assert_int_equal(mpijob__events_due_ms(rig.operator_), rig.operator_->hold_until_ms);
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
	fake_patch(&rig.fake, fake_find(&rig.fake, PODS, "team", "pi-worker-0"), "status: {conditions: [1], phase: [2]}");
	run(&rig, 100);
	assert_non_null(strstr(rig.last_log, "Pod team/pi-worker-0 is set aside"));
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
	assert_int_equal(mpijob__events_due_ms(rig.operator_), INT64_MAX);
	clients_ms += 60000;
	run(&rig, 50);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 1);
	pace(&rig, 0, 0);
	mpijob_operator_act(rig.operator_, MPIJOB_OPERATOR_ACTS);
	run(&rig, 100);
	assert_int_equal(fake_count(&rig.fake, POSTS), posts + 8);
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
		cmocka_unit_test(they_wait_as_asked),
		cmocka_unit_test(they_make_all_wait),
		cmocka_unit_test(a_standby_tells_nothing),
		cmocka_unit_test(they_wait_for_the_office),
		cmocka_unit_test(who_ends_tells_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch takes for final: any refusal before the first list, later only one that lasts for a
 * minute. */
#include "../support/watch_fixture.h"

#include "client/retry_budget.h"

/* Go on after this failure; it is told when it is another one. */
static void refused(struct watch_fixture *fixture, int status)
{
	reply(fixture, status, "");
	watch_run(fixture);
}

static void synced(struct watch_fixture *fixture)
{
	watch_set_up(fixture);
	reply(fixture, 200, LIST("10", POD("a", "3")));
	reply(fixture, 200, EVENT("MODIFIED", "a", "11"));
}

static void test_the_first_answer_is_believed(void **state)
{
	static const struct {
		int status, code;
	} rows[] = { { 401, MPIJOB_ERR_AUTH }, { 403, MPIJOB_ERR_AUTH },
		{ 404, MPIJOB_ERR_NOT_FOUND }, { 422, MPIJOB_ERR_REJECTED },
		{ 200, MPIJOB_ERR_SYNTAX } };
	struct watch_fixture fixture;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		watch_set_up(&fixture);
		reply(&fixture, rows[i].status, "<html>");
		watch_run(&fixture);
		assert_int_equal(fixture.last_code, rows[i].code);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 1);
		assert_int_equal(fixture.failures, 1);
		/* Whoever waits all the same may be lucky. */
		sleep_over(&fixture);
		reply(&fixture, 200, LIST("10", ""));
		reply_open(&fixture, "");
		watch_run(&fixture);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
		watch_tear_down(&fixture);
	}
	watch_set_up(&fixture);
	refused(&fixture, 503);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
	watch_tear_down(&fixture);
}

static void test_refusals_after_a_cut_pass(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	synced(&fixture);
	refused(&fixture, 401);
	assert_int_equal(fixture.last_code, MPIJOB_ERR_AUTH);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
	sleep_over(&fixture);
	refused(&fixture, 403);
	sleep_over(&fixture);
	reply(&fixture, 200, "garbage");
	watch_run(&fixture);
	assert_int_equal(fixture.last_code, MPIJOB_ERR_SYNTAX);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
	sleep_over(&fixture);
	reply(&fixture, 200, LIST("20", POD("a", "11")));
	reply_open(&fixture, EVENT("MODIFIED", "a", "21"));
	watch_run(&fixture);
	assert_int_equal(fixture.failures, 3);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
	seen_is(&fixture, "(La@3 )10 Ma@11 (La@11 )20 Ma@21 ");
	watch_tear_down(&fixture);
}

static void test_nothing_else_for_a_minute_is_believed(void **state)
{
	struct watch_fixture fixture;
	int64_t first;

	(void)state;
	synced(&fixture);
	refused(&fixture, 403);
	first = clock_now;
	while (clock_now - first < 60000) {
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
		assert_int_equal(fixture.failures, 1);
		sleep_over(&fixture);
		refused(&fixture, 403);
	}
	/* It is told once more. */
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 1);
	assert_int_equal(fixture.failures, 2);
	sleep_over(&fixture);
	refused(&fixture, 403);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 1);
	assert_int_equal(fixture.failures, 2);
	watch_tear_down(&fixture);
}

/* Refused for ever, and only now and then by somebody who knows: no reason to give up. */
static void test_another_failure_begins_a_new_minute(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	synced(&fixture);
	for (int i = 0; i < 8; i++) {
		refused(&fixture, 401);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
		sleep_over(&fixture);
		refused(&fixture, 502);
		assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 0);
		sleep_over(&fixture);
	}
	watch_tear_down(&fixture);
}

static void garbled(struct watch_fixture *fixture)
{
	reply(fixture, 200, "garbage");
	watch_run(fixture);
	assert_int_equal(fixture->last_code, MPIJOB_ERR_SYNTAX);
	assert_int_equal(mpijob_watch_health_get(fixture->watch)->hopeless, 0);
}

/* Its owner cannot read an object: that is a garbled stream too, or the object stays as it is. */
static void test_an_object_that_cannot_be_read(void **state)
{
	struct watch_fixture fixture;
	int64_t first;

	(void)state;
	synced(&fixture);
	watch_run(&fixture);
	fixture.refuse = MPIJOB_ERR_SYNTAX;
	reply(&fixture, 200, EVENT("MODIFIED", "a", "12"));
	watch_run(&fixture);
	assert_int_equal(fixture.last_code, MPIJOB_ERR_SYNTAX);
	first = clock_now;
	sleep_over(&fixture);
	reply(&fixture, 200, EVENT("MODIFIED", "a", "12"));
	watch_run(&fixture);
	asked(&fixture, 3, "resourceVersion", "11");
	seen_is(&fixture, "(La@3 )10 Ma@11 Ma@12 ");
	for (int i = 0; i < 20 && !mpijob_watch_health_get(fixture.watch)->hopeless; i++) {
		fixture.refuse = MPIJOB_ERR_SYNTAX;
		reply(&fixture, 200, EVENT("MODIFIED", "a", "13"));
		watch_run(&fixture);
		sleep_over(&fixture);
	}
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->hopeless, 1);
	assert_true(clock_now - first > 60000);
	watch_tear_down(&fixture);
}

/* A stream that brings nothing, and ends when it should, is an answer too. */
static void test_a_silent_stream_begins_a_new_minute(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	synced(&fixture);
	garbled(&fixture);
	sleep_over(&fixture);
	reply_open(&fixture, "");
	watch_run(&fixture);
	clock_now += 300000;
	fixture.fake.exchanges->reply.open = 0;
	garbled(&fixture);
	assert_int_equal(fixture.failures, 2);
	watch_tear_down(&fixture);
}

static void test_the_rule(void **state)
{
	struct mpijob__client_retry_budget patience = { 0 };

	(void)state;
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_UNREACHABLE,
			     0),
	    0);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_AUTH, 0), 1);
	mpijob__client_retry_budget_grant(&patience);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_AUTH, 100), 0);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_NOT_FOUND,
			     60099),
	    0);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_AUTH, 60100),
	    1);
	mpijob__client_retry_budget_grant(&patience);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_AUTH, 60101),
	    0);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_SERVER,
			     100000),
	    0);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_AUTH, 130000),
	    0);
	assert_int_equal(mpijob__client_retry_budget_exhausted(&patience, MPIJOB_ERR_AUTH, 190000),
	    1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_answer_is_believed),
		cmocka_unit_test(test_refusals_after_a_cut_pass),
		cmocka_unit_test(test_nothing_else_for_a_minute_is_believed),
		cmocka_unit_test(test_another_failure_begins_a_new_minute),
		cmocka_unit_test(test_an_object_that_cannot_be_read),
		cmocka_unit_test(test_a_silent_stream_begins_a_new_minute),
		cmocka_unit_test(test_the_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

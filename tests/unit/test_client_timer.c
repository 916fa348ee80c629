/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: when they fire, and what may be done to them meanwhile. */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

static int64_t clock_now;

static int64_t clock_ms(void)
{
	return clock_now;
}

struct fixture {
	struct fake fake;
	mpijob_client *client;
	mpijob_timer *timer, *other; /* `timer` fires on_timer */
	int fired;
	int64_t again_ms; /* set it again inside of its callback; 0: do not */
	int frees;        /* 1: free both inside of the callback */
};

static void on_timer(void *user)
{
	struct fixture *fixture = user;

	fixture->fired++;
	if (fixture->again_ms)
		mpijob_timer_set(fixture->timer, fixture->again_ms);
	if (!fixture->frees)
		return;
	mpijob_timer_free(fixture->timer);
	mpijob_timer_free(fixture->other);
	fixture->timer = fixture->other = NULL;
}

static void set_up(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	clock_now = 1000;
	fixture->client = fake_client(&fixture->fake);
	fixture->client->clock = clock_ms;
	assert_int_equal(mpijob_timer_new(fixture->client, on_timer, fixture, &fixture->timer), 0);
	assert_int_equal(mpijob_timer_new(fixture->client, on_timer, fixture, &fixture->other), 0);
}

static void tear_down(struct fixture *fixture)
{
	mpijob_timer_free(fixture->timer);
	mpijob_timer_free(fixture->other);
	assert_null(mpijob__base_list_first(&fixture->client->timers));
	mpijob_client_free(fixture->client);
	fake_release(&fixture->fake);
}

static void poll_at(struct fixture *fixture, int64_t now_ms)
{
	clock_now = now_ms;
	assert_int_equal(mpijob_client_poll(fixture->client, 0), 0);
}

static void fires_once_at_its_time(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	poll_at(&fixture, 2000);
	assert_int_equal(fixture.fired, 0);
	mpijob_timer_set(fixture.timer, 2500);
	poll_at(&fixture, 2499);
	assert_int_equal(fixture.fired, 0);
	poll_at(&fixture, 2500);
	poll_at(&fixture, 9000);
	assert_int_equal(fixture.fired, 1);
	mpijob_timer_set(fixture.timer, 0); /* in the past */
	poll_at(&fixture, 9000);
	assert_int_equal(fixture.fired, 2);
	tear_down(&fixture);
}

static void the_last_time_counts(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	mpijob_timer_set(fixture.timer, 2000);
	mpijob_timer_set(fixture.timer, 3000);
	mpijob_timer_set(fixture.other, 2000);
	mpijob_timer_set(fixture.other, INT64_MAX);
	poll_at(&fixture, 2999);
	assert_int_equal(fixture.fired, 0);
	poll_at(&fixture, 3000);
	assert_int_equal(fixture.fired, 1);
	tear_down(&fixture);
}

static void set_in_its_callback_it_fires_in_the_next_poll(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fixture.again_ms = 1;
	mpijob_timer_set(fixture.timer, 1);
	poll_at(&fixture, 1000);
	assert_int_equal(fixture.fired, 1);
	poll_at(&fixture, 1000);
	assert_int_equal(fixture.fired, 2);
	tear_down(&fixture);
}

static void both_may_be_freed_in_a_callback(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fixture.frees = 1;
	mpijob_timer_set(fixture.timer, 1);
	mpijob_timer_set(fixture.other, 1);
	poll_at(&fixture, 1000);
	assert_int_equal(fixture.fired, 1);
	tear_down(&fixture);
}

/* Otherwise a caller that polls without a limit would not see what the callback did. */
static void a_poll_that_fires_does_not_wait(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	mpijob_timer_set(fixture.timer, 1000);
	assert_int_equal(mpijob_client_poll(fixture.client, -1), 0);
	assert_int_equal(fixture.fired, 1);
	assert_true(fixture.client->reported);
	tear_down(&fixture);
}

static void wrong_use(void **state)
{
	struct fixture fixture;
	mpijob_timer *timer = NULL;

	(void)state;
	set_up(&fixture);
	assert_int_equal(mpijob_timer_new(NULL, on_timer, NULL, &timer), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_timer_new(fixture.client, NULL, NULL, &timer), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_timer_new(fixture.client, on_timer, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_null(timer);
	mpijob_timer_set(NULL, 1);
	mpijob_timer_free(NULL);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_once_at_its_time),
		cmocka_unit_test(the_last_time_counts),
		cmocka_unit_test(set_in_its_callback_it_fires_in_the_next_poll),
		cmocka_unit_test(both_may_be_freed_in_a_callback),
		cmocka_unit_test(a_poll_that_fires_does_not_wait),
		cmocka_unit_test(wrong_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that was away: who watches waits longer and longer, and no longer once it has answered
 * anybody.
 */
#include "../support/watch_fixture.h"

static int away(struct fake *fake, const char *method, const char *path, struct fake_reply *reply_)
{
	(void)fake;
	(void)method;
	(void)path;
	reply_->end_code = MPIJOB_ERR_UNREACHABLE;
	return 1;
}

static int overloaded(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply_)
{
	(void)fake;
	(void)method;
	if (strncmp(path, "/api/v1/nodes", 13) == 0)
		return 0;
	reply_->status = 500;
	return 1;
}

static int proxied(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply_)
{
	(void)fake;
	(void)method;
	if (strncmp(path, "/api/v1/nodes", 13) == 0)
		reply_->status = 502;
	else
		reply_->end_code = MPIJOB_ERR_UNREACHABLE;
	return 1;
}

static void polls(struct watch_fixture *fixture)
{
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(fixture->client, 0), 0);
}

/* Until it waits for more than ten seconds. */
static void wear_out(struct watch_fixture *fixture, fake_decide decide)
{
	fixture->fake.decide = decide;
	for (int i = 0; i < 30; i++) {
		polls(fixture);
		if (mpijob__client_watch_due_ms(fixture->watch) - clock_now > 10000)
			return;
		clock_now = mpijob__client_watch_due_ms(fixture->watch);
	}
	fail_msg("%s", "it does not wait longer and longer");
}

static void ignore(void *user, const struct mpijob_answer *answer)
{
	(void)user;
	(void)answer;
}

/* Somebody else asks for something. */
static void ask(struct watch_fixture *fixture)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;

	callbacks.done = ignore;
	request.method = "GET";
	request.path = "/api/v1/nodes";
	assert_int_equal(mpijob_client_start(fixture->client, &request, &callbacks, NULL), 0);
	polls(fixture);
}

static void test_it_is_back(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	wear_out(&fixture, away);
	ask(&fixture);
	/* that one did not get through either */
	assert_true(mpijob__client_watch_due_ms(fixture.watch) - clock_now > 10000);
	fixture.fake.decide = NULL;
	ask(&fixture);
	assert_in_range(mpijob__client_watch_due_ms(fixture.watch) - clock_now, 0, 500);
	clock_now += 500;
	polls(&fixture);
	assert_int_equal(mpijob_watch_health_get(fixture.watch)->synced, 1);
	mpijob_watch_free(fixture.watch);
	fixture.watch = NULL;
	polls(&fixture);
	watch_tear_down(&fixture);
}

static int starting(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply_)
{
	(void)fake;
	(void)method;
	if (strncmp(path, "/api/v1/nodes", 13) == 0)
		return 0;
	reply_->status = 403;
	return 1;
}

/* A server that has just started refuses for a moment what it does not know yet. */
static void test_it_starts(void **state)
{
	struct watch_fixture fixture;

	(void)state;
	watch_set_up(&fixture);
	wear_out(&fixture, away);
	fixture.fake.decide = starting;
	ask(&fixture);
	clock_now += 500;
	polls(&fixture);
	assert_in_range(mpijob__client_watch_due_ms(fixture.watch) - clock_now, 800, 1600);
	watch_tear_down(&fixture);
}

/* A server that answers, but not well, is spared; and a proxy's answer tells nothing. */
static void test_who_is_spared(void **state)
{
	static const fake_decide decides[] = { overloaded, proxied };
	struct watch_fixture fixture;

	(void)state;
	for (int i = 0; i < 2; i++) {
		watch_set_up(&fixture);
		wear_out(&fixture, decides[i]);
		ask(&fixture);
		assert_true(mpijob__client_watch_due_ms(fixture.watch) - clock_now > 10000);
		watch_tear_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_back),
		cmocka_unit_test(test_it_starts),
		cmocka_unit_test(test_who_is_spared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a client says about its requests, and about the time of its server. */
#include "../support/fake_cluster.h"

#include "base/clock.h"
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
	struct mpijob_request_stats last;
	int ended, done;
	size_t received;
};

static void on_ended(void *user, const struct mpijob_request_stats *stats)
{
	struct fixture *fixture = user;

	assert_int_equal(stats->size, sizeof(*stats));
	assert_int_equal(fixture->done, fixture->ended);
	fixture->last = *stats;
	fixture->ended++;
}

static void on_received(void *user, size_t len)
{
	((struct fixture *)user)->received += len;
}

static int on_data(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
	return 0;
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	(void)answer;
	((struct fixture *)user)->done++;
}

static void set_up(struct fixture *fixture)
{
	struct mpijob_client_observer observer = MPIJOB_CLIENT_OBSERVER_INIT;

	memset(fixture, 0, sizeof(*fixture));
	clock_now = 1000;
	fixture->client = fake_client(&fixture->fake);
	fixture->client->clock = clock_ms;
	observer.ended = on_ended;
	observer.received = on_received;
	observer.user = fixture;
	assert_int_equal(mpijob_client_set_observer(fixture->client, &observer), 0);
}

static void tear_down(struct fixture *fixture)
{
	mpijob_client_free(fixture->client);
	fake_release(&fixture->fake);
}

static mpijob_call *start(struct fixture *fixture, const char *method, int streaming)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), streaming ? on_data : NULL,
		on_done, fixture };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	mpijob_call *call = NULL;

	request.method = method;
	request.path = "/api/v1/namespaces/d/pods";
	request.streaming = streaming;
	assert_int_equal(mpijob_client_start(fixture->client, &request, &callbacks, &call), 0);
	return call;
}

static void finish(struct fixture *fixture, int ended)
{
	for (int i = 0; i < 20; i++)
		assert_int_equal(mpijob_client_poll(fixture->client, 0), 0);
	assert_int_equal(fixture->ended, ended);
}

static void each_end_is_observed(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fake_answer(&fixture.fake, 404, "no");
	(void)start(&fixture, "DELETE", 0);
	clock_now += 70;
	finish(&fixture, 1);
	assert_string_equal(fixture.last.method, "DELETE");
	assert_int_equal(fixture.last.status, 404);
	assert_int_equal(fixture.last.code, MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(fixture.last.took_ms, 70);
	assert_int_equal(fixture.last.streaming, 0);
	fake_script(&fixture.fake, (struct fake_reply){ .end_code = MPIJOB_ERR_IO });
	(void)start(&fixture, "BREW", 0);
	finish(&fixture, 2);
	assert_string_equal(fixture.last.method, "other");
	assert_int_equal(fixture.last.status, 0);
	assert_int_equal(fixture.last.code, MPIJOB_ERR_IO);
	tear_down(&fixture);
}

static void streamed_bytes_are_observed(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fake_answer(&fixture.fake, 200, "0123456789");
	(void)start(&fixture, "GET", 0);
	finish(&fixture, 1);
	assert_int_equal(fixture.received, 0);
	fixture.fake.piece = 3;
	fake_answer(&fixture.fake, 200, "0123456789");
	(void)start(&fixture, "GET", 1);
	finish(&fixture, 2);
	assert_int_equal(fixture.received, 10);
	assert_int_equal(fixture.last.streaming, 1);
	tear_down(&fixture);
}

static void what_is_not_observed(void **state)
{
	struct fixture fixture;
	struct mpijob_client_observer observer = MPIJOB_CLIENT_OBSERVER_INIT;

	(void)state;
	set_up(&fixture);
	mpijob_call_cancel(start(&fixture, "GET", 0));
	finish(&fixture, 0);
	assert_int_equal(mpijob_client_set_observer(fixture.client, &observer),
	    0); /* no functions */
	(void)start(&fixture, "GET", 1);
	finish(&fixture, 0);
	assert_int_equal(mpijob_client_set_observer(fixture.client, NULL), 0);
	(void)start(&fixture, "GET", 1);
	finish(&fixture, 0);
	assert_int_equal(fixture.received, 0);
	assert_int_equal(fixture.done, 2);
	assert_int_equal(mpijob_client_set_observer(NULL, NULL), MPIJOB_ERR_USAGE);
	tear_down(&fixture);
}

static void the_time_of_the_server(void **state)
{
	struct fixture fixture;
	int64_t wall_ms;

	(void)state;
	set_up(&fixture);
	wall_ms = mpijob__base_clock_wall_ms();
	assert_in_range(mpijob_client_server_ms(fixture.client), wall_ms, wall_ms + 60000);
	fake_script(&fixture.fake, (struct fake_reply){ .status = 200,
				       .body = "{}",
				       .header = "Date: Thu, 01 Jan 1970 00:01:00 GMT" });
	(void)start(&fixture, "GET", 0);
	finish(&fixture, 1);
	assert_in_range(mpijob_client_server_ms(fixture.client), 60000, 61000);
	wall_ms = mpijob_client_server_ms(fixture.client);
	clock_now += 5000;
	assert_int_equal(mpijob_client_server_ms(fixture.client), wall_ms + 5000);
	assert_int_equal(mpijob_client_server_ms(NULL), 0);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_is_observed),
		cmocka_unit_test(streamed_bytes_are_observed),
		cmocka_unit_test(what_is_not_observed),
		cmocka_unit_test(the_time_of_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

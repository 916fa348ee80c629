/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <pthread.h>
#include <setjmp.h>

#include <cmocka.h>

#define JOB(status)                                                                             \
	"{\"metadata\":{\"name\":\"pi\",\"namespace\":\"d\",\"uid\":\"u\",\"resourceVersion\":" \
	"\"11\"},\"status\":{\"phase\":\"" status "\"}}"
#define LIST(items)         "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

static int64_t clock_now;

/* Time passes while somebody looks at it. */
static int64_t clock_ms(void)
{
	return clock_now += 50;
}

struct fixture {
	struct fake fake;
	mpijob_client *client;
	mpijob_diag *diag;
	struct mpijob_target target;
	mpijob_text seen;
	const char *wanted; /* phase; NULL: that it does not exist */
	int answer;         /* of ready(), instead of 1 */
};

static int ready(void *user, const mpijob_node *object)
{
	struct fixture *fixture = user;
	const char *phase =
	    object ? mpijob_node_string(mpijob_node_find(object, "status.phase")) : NULL;
	int is = fixture->wanted && phase ? strcmp(fixture->wanted, phase) == 0
					  : !fixture->wanted && !object;

	mpijob__base_text_printf(&fixture->seen, "%s ", phase ? phase : "-");
	return is ? fixture->answer : 0;
}

static void set_up(struct fixture *fixture, const char *wanted)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->client = fake_client(&fixture->fake);
	fixture->client->clock = clock_ms;
	fixture->diag = mpijob_diag_new();
	fixture->target.size = sizeof(fixture->target);
	fixture->target.api_version = "kubeflow.org/v2beta1";
	fixture->target.kind = "MPIJob";
	fixture->target.namespace_ = "d";
	fixture->target.name = "pi";
	fixture->wanted = wanted;
	fixture->answer = 1;
}

static void tear_down(struct fixture *fixture)
{
	assert_null(mpijob__base_list_first(&fixture->client->watches));
	mpijob_diag_free(fixture->diag);
	mpijob_client_free(fixture->client);
	assert_null(fixture->fake.exchanges);
	mpijob__base_text_release(&fixture->seen);
	fake_release(&fixture->fake);
}

static void script(struct fixture *fixture, int status, const char *body, int open)
{
	struct fake_reply reply = { .status = status, .body = body, .open = open };

	fake_script(&fixture->fake, reply);
}

static int wait_for(struct fixture *fixture, int64_t timeout_ms, mpijob_doc **out)
{
	return mpijob_client_wait(fixture->client, &fixture->target, timeout_ms, ready, fixture,
	    out, fixture->diag);
}

static void test_wait_through_everything(void **state)
{
	struct fixture fixture;
	mpijob_doc *job = NULL;

	(void)state;
	set_up(&fixture, "Done");
	script(&fixture, 503, "starting", 0);
	script(&fixture, 200, LIST(""), 0);
	script(&fixture, 200,
	    EVENT("ADDED", JOB("New")) EVENT("ADDED", "{\"metadata\":{\"name\":\"other\"}}"), 0);
	script(&fixture, 200, "garbage", 0);
	script(&fixture, 200,
	    EVENT("MODIFIED", "{\"metadata\":{\"name\":\"pi\",\"resourceVersion\":\"12\"},"
			      "\"status\":{\"phase\" 1}}"),
	    0);
	script(&fixture, 410, "", 0);
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200,
	    EVENT("DELETED", JOB("Half")) EVENT("ADDED", JOB("Again"))
		EVENT("MODIFIED", JOB("Done")),
	    1);
	assert_int_equal(wait_for(&fixture, -1, &job), 0);
	assert_string_equal(mpijob_text_data(&fixture.seen), "- New Half - Again Done ");
	assert_string_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(job), "status.phase")),
	    "Done");

	assert_int_equal(mpijob_diag_count(fixture.diag, 0), 0);
	mpijob_doc_free(job);
	tear_down(&fixture);
}

static void test_wait_for_an_end(void **state)
{
	struct fixture fixture;
	mpijob_doc *job = (mpijob_doc *)&fixture;

	(void)state;
	set_up(&fixture, NULL);
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200, EVENT("DELETED", JOB("Half")), 1);
	assert_int_equal(wait_for(&fixture, -1, &job), 0);
	assert_null(job);
	tear_down(&fixture);
	/* It vanished while nobody watched: the next list does not hold it. */
	set_up(&fixture, NULL);
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 410, "", 0);
	script(&fixture, 200, LIST(""), 0);
	assert_int_equal(wait_for(&fixture, 600000, NULL), 0);
	assert_string_equal(mpijob_text_data(&fixture.seen), "Half - ");
	tear_down(&fixture);
}

static void test_wait_times_out(void **state)
{
	struct fixture fixture;
	mpijob_doc *job = NULL;

	(void)state;
	set_up(&fixture, "Done");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200, "", 1);
	assert_int_equal(wait_for(&fixture, 5000, &job), MPIJOB_ERR_TIMEOUT);
	assert_null(job);
	assert_string_equal(mpijob_diag_at(fixture.diag, 0)->id, "wait-failed");
	tear_down(&fixture);
	/* The last failure is told beside it. */
	set_up(&fixture, "Done");
	for (int i = 0; i < 60; i++)
		script(&fixture, 500, "etcd", 0);
	assert_int_equal(wait_for(&fixture, 5000, &job), MPIJOB_ERR_TIMEOUT);
	assert_non_null(strstr(mpijob_diag_at(fixture.diag, 0)->message, "status 500: etcd"));
	tear_down(&fixture);
	/* Look once. */
	set_up(&fixture, "Done");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	assert_int_equal(wait_for(&fixture, 0, &job), MPIJOB_ERR_TIMEOUT);
	assert_string_equal(mpijob_text_data(&fixture.seen), "Half ");
	tear_down(&fixture);
	set_up(&fixture, "Half");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	assert_int_equal(wait_for(&fixture, 0, NULL), 0);
	tear_down(&fixture);
}

static void test_wait_ends_where_no_waiting_helps(void **state)
{
	static const struct {
		int status, code;
	} rows[] = {
		{ 401, MPIJOB_ERR_AUTH },
		{ 403, MPIJOB_ERR_AUTH },
		{ 404, MPIJOB_ERR_NOT_FOUND },
		{ 400, MPIJOB_ERR_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture fixture;
		mpijob_doc *job = NULL;

		set_up(&fixture, "Done");
		script(&fixture, rows[i].status, "nothing here", 0);
		assert_int_equal(wait_for(&fixture, -1, &job), rows[i].code);
		assert_null(job);
		assert_non_null(strstr(mpijob_diag_at(fixture.diag, 0)->message, "nothing here"));
		tear_down(&fixture);
	}
}

/* After a first answer refusals may pass; when nothing else comes for a minute they are meant. */
static void test_wait_through_refusals(void **state)
{
	struct fixture fixture;
	int64_t begun;

	(void)state;
	set_up(&fixture, "Done");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200, EVENT("MODIFIED", JOB("Half")), 0);
	script(&fixture, 401, "expired", 0);
	script(&fixture, 403, "who are you", 0);
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200, EVENT("MODIFIED", JOB("Done")), 1);
	assert_int_equal(wait_for(&fixture, -1, NULL), 0);
	assert_int_equal(mpijob_diag_count(fixture.diag, 0), 0);
	tear_down(&fixture);
	set_up(&fixture, "Done");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200, EVENT("MODIFIED", JOB("Half")), 0);
	for (int i = 0; i < 12; i++)
		script(&fixture, 403, "taken away", 0);
	begun = clock_now;
	assert_int_equal(wait_for(&fixture, -1, NULL), MPIJOB_ERR_AUTH);
	assert_in_range(clock_now - begun, 60000, 150000);
	assert_non_null(strstr(mpijob_diag_at(fixture.diag, 0)->message, "taken away"));
	tear_down(&fixture);
}

static void test_wait_and_codes_of_ready(void **state)
{
	struct fixture fixture;
	mpijob_doc *job = NULL;

	(void)state;
	set_up(&fixture, "Half");
	fixture.answer = MPIJOB_ERR_SPEC;
	script(&fixture, 200, LIST(JOB("Half")), 0);
	assert_int_equal(wait_for(&fixture, -1, &job), MPIJOB_ERR_SPEC);
	assert_null(job);
	assert_int_equal(mpijob_diag_count(fixture.diag, 0), 0);
	fixture.target.subresource = "status";
	assert_int_equal(wait_for(&fixture, 0, NULL), MPIJOB_ERR_USAGE);
	fixture.target.subresource = NULL;
	fixture.target.namespace_ = NULL;
	assert_int_equal(wait_for(&fixture, 0, NULL), MPIJOB_ERR_USAGE);
	fixture.target.namespace_ = "d";
	fixture.target.name = NULL;
	assert_int_equal(wait_for(&fixture, 0, NULL), MPIJOB_ERR_USAGE);
	tear_down(&fixture);
}

static void *cancel_soon(void *client)
{
	fake_await_polls(5);
	mpijob_client_cancel(client);
	return NULL;
}

static void test_wait_is_cancelled(void **state)
{
	struct fixture fixture;
	pthread_t thread;

	(void)state;
	set_up(&fixture, "Done");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	script(&fixture, 200, "", 1);
	script(&fixture, 200, "", 1);
	for (int i = 0; i < 50; i++)
		script(&fixture, 200, "", 1);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, fixture.client), 0);
	assert_int_equal(wait_for(&fixture, -1, NULL), MPIJOB_ERR_CANCELLED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	tear_down(&fixture);
}

/* Other watches and calls of the client go on meanwhile, and calls at once cannot be made from
 * inside. */
static int ready_calls(void *user, const mpijob_node *object)
{
	struct fixture *fixture = user;
	mpijob_doc *doc = NULL;

	(void)object;
	assert_int_equal(mpijob_client_get(fixture->client, &fixture->target, &doc, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_wait(fixture->client, &fixture->target, 0, ready, fixture,
			     NULL, NULL),
	    MPIJOB_ERR_USAGE);
	return 1;
}

static void test_wait_inside_of_wait(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture, "Half");
	script(&fixture, 200, LIST(JOB("Half")), 0);
	assert_int_equal(mpijob_client_wait(fixture.client, &fixture.target, -1, ready_calls,
			     &fixture, NULL, fixture.diag),
	    0);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_through_everything),
		cmocka_unit_test(test_wait_for_an_end),
		cmocka_unit_test(test_wait_times_out),
		cmocka_unit_test(test_wait_ends_where_no_waiting_helps),
		cmocka_unit_test(test_wait_through_refusals),
		cmocka_unit_test(test_wait_and_codes_of_ready),
		cmocka_unit_test(test_wait_is_cancelled),
		cmocka_unit_test(test_wait_inside_of_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

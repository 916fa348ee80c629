/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of the embedded cluster: resume, selections, forgotten versions, bookmarks,
 * back-pressure, cancelling. */
#include "../support/fake_wait.h"
#include "../support/local_client.h"

#include <poll.h>
#include <pthread.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

static void put_map(struct cluster *cluster, const char *name, const char *app)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\"}}}",
	    name, app);
	expect(cluster, "POST", MAPS, body, 201);
}

static char *version_now(struct cluster *cluster)
{
	struct answer answer = ask(cluster, "GET", MAPS, NULL);
	char *version = strdup(mpijob_node_string(
	    mpijob_node_find(mpijob_doc_root(answer.doc), "metadata.resourceVersion")));

	answer_free(&answer);
	return version;
}

static void watch(struct cluster *cluster, struct answer *answer, const char *query,
    const char *version)
{
	char path[256];

	snprintf(path, sizeof(path), MAPS "?watch=true%s%s", query, version);
	ask_start(cluster, answer, 1, "GET", path, NULL, NULL);
}

static void test_from_now(void **state)
{
	struct answer answer;

	put_map(*state, "a", "x");
	watch(*state, &answer, "", "");
	poll_for(*state, 20);
	assert_int_equal(told(&answer, "{\"type\":\"ADDED\""), 1);
	put_map(*state, "b", "x");
	expect(*state, "PATCH", MAPS "/b", "{\"data\":{\"k\":\"v\"}}", 200);
	expect(*state, "DELETE", MAPS "/a", NULL, 200);
	poll_for(*state, 20);
	assert_int_equal(told(&answer, "{\"type\":\"ADDED\""), 2);
	assert_int_equal(told(&answer, "{\"type\":\"MODIFIED\""), 1);
	assert_int_equal(told(&answer, "{\"type\":\"DELETED\""), 1);
	assert_int_equal(told(&answer, "\n"), 4);
	mpijob_call_cancel(answer.call);
	put_map(*state, "c", "x");
	poll_for(*state, 20);
	assert_int_equal(told(&answer, "\n"), 4);
	answer_free(&answer);
}

static void test_resume(void **state)
{
	struct answer answer;
	char *version;

	put_map(*state, "a", "x");
	version = version_now(*state);
	put_map(*state, "b", "x");
	expect(*state, "DELETE", MAPS "/b", NULL, 200);
	watch(*state, &answer, "&resourceVersion=", version);
	poll_for(*state, 20);
	assert_int_equal(told(&answer, "{\"type\":\"ADDED\""), 1);
	assert_int_equal(told(&answer, "{\"type\":\"DELETED\""), 1);
	assert_int_equal(told(&answer, "\"name\":\"a\""), 0);
	free(version);
	mpijob_call_cancel(answer.call);
	answer_free(&answer);
}

static void test_expired(void **state)
{
	struct cluster *cluster = *state;
	struct answer answer;
	char *version;
	char name[16];

	cluster->local->store.window = 4;
	put_map(*state, "a", "x");
	version = version_now(*state);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		put_map(*state, name, "x");
	}
	watch(*state, &answer, "&resourceVersion=", version);
	poll_for(*state, 20);
	assert_true(answer.done);
	assert_int_equal(answer.status, 200);
	assert_int_equal(told(&answer, "{\"type\":\"ERROR\""), 1);
	assert_int_equal(told(&answer, "\"reason\":\"Expired\""), 1);
	assert_int_equal(told(&answer, "\"code\":410"), 1);
	assert_int_equal(told(&answer, "ADDED"), 0);
	free(version);
	answer_free(&answer);
}

/* A watcher that takes nothing for too long loses its place. */
static void test_paused(void **state)
{
	struct cluster *cluster = *state;
	struct answer answer;
	mpijob_exchange *exchange;
	char name[16];

	cluster->local->store.window = 4;
	watch(cluster, &answer, "", "");
	poll_for(cluster, 5);
	exchange = ((struct mpijob__local_call *)mpijob__base_list_first(&cluster->local->calls))
		       ->exchange;
	cluster->transport.pause(cluster->local, exchange, 1);
	put_map(cluster, "a", "x");
	poll_for(cluster, 5);
	assert_int_equal(told(&answer, "ADDED"), 0);
	cluster->transport.pause(cluster->local, exchange, 0);
	poll_for(cluster, 5);
	assert_int_equal(told(&answer, "ADDED"), 1);
	cluster->transport.pause(cluster->local, exchange, 1);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		put_map(cluster, name, "x");
	}
	cluster->transport.pause(cluster->local, exchange, 0);
	poll_for(cluster, 5);
	assert_true(answer.done);
	assert_int_equal(told(&answer, "ADDED"), 1);
	assert_int_equal(told(&answer, "\"reason\":\"Expired\""), 1);
	answer_free(&answer);
}

static void test_selection(void **state)
{
	struct answer answer;
	char *version;

	put_map(*state, "a", "x");
	put_map(*state, "b", "y");
	version = version_now(*state);
	watch(*state, &answer, "&labelSelector=app%3Dx&resourceVersion=", version);
	expect(*state, "PATCH", MAPS "/b", "{\"metadata\":{\"labels\":{\"app\":\"x\"}}}", 200);
	expect(*state, "PATCH", MAPS "/b", "{\"data\":{\"k\":\"v\"}}", 200);
	expect(*state, "PATCH", MAPS "/a", "{\"metadata\":{\"labels\":{\"app\":\"y\"}}}", 200);
	expect(*state, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"v\"}}", 200);
	expect(*state, "DELETE", MAPS "/a", NULL, 200);
	poll_for(*state, 20);
	assert_int_equal(told(&answer, "{\"type\":\"ADDED\""), 1);
	assert_int_equal(told(&answer, "{\"type\":\"MODIFIED\""), 1);
	assert_int_equal(told(&answer, "{\"type\":\"DELETED\""), 1);
	/* What left is told as it was when it belonged to the selection. */
	assert_int_equal(told(&answer, "\"app\":\"y\""), 0);
	free(version);
	mpijob_call_cancel(answer.call);
	answer_free(&answer);
}

static void test_timeout_and_bookmark(void **state)
{
	struct answer answer;

	watch(*state, &answer, "&allowWatchBookmarks=true&timeoutSeconds=1", "");
	poll_for(*state, 100);
	assert_false(answer.done);
	poll_for(*state, 1000);
	assert_true(answer.done);
	assert_int_equal(answer.code, 0);
	assert_int_equal(told(&answer, "{\"type\":\"BOOKMARK\""), 1);
	answer_free(&answer);
}

static void test_initial_events(void **state)
{
	struct answer answer;

	put_map(*state, "a", "x");
	watch(*state, &answer,
	    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
	    "");
	poll_for(*state, 20);
	assert_int_equal(told(&answer, "{\"type\":\"ADDED\""), 1);
	assert_int_equal(told(&answer, "\"k8s.io/initial-events-end\":\"true\""), 1);
	mpijob_call_cancel(answer.call);
	answer_free(&answer);
}

/* As a host's own loop uses it: one descriptor and one time. */
static void test_interest(void **state)
{
	struct cluster *cluster = *state;
	struct answer answer;
	int64_t deadline = 0, before_ms;
	int fd = -1;

	poll_for(cluster, 5);
	assert_int_equal(mpijob_client_interest(cluster->client, &fd, &deadline), 0);
	assert_true(fd >= 0);
	assert_false(fake_wait_is_readable(fd));
	assert_true(deadline == -1);
	before_ms = fake_clock_ms();
	watch(cluster, &answer, "&timeoutSeconds=1", "");
	assert_true(fake_wait_is_readable(fd));
	poll_for(cluster, 5);
	assert_false(fake_wait_is_readable(fd));
	assert_int_equal(mpijob_client_interest(cluster->client, &fd, &deadline), 0);
	assert_int_equal(deadline, before_ms + 1000);
	mpijob_call_cancel(answer.call);
	answer_free(&answer);
}

static void *wake_later(void *client)
{
	fake_wait_await();
	mpijob_client_wake(client);
	return NULL;
}

static void test_wake(void **state)
{
	struct cluster *cluster = *state;
	pthread_t thread;

	poll_for(cluster, 5);
	assert_int_equal(pthread_create(&thread, NULL, wake_later, cluster->client), 0);
	/* Without the wake this would never return. */
	assert_int_equal(mpijob_client_poll(cluster->client, -1), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_many(void **state)
{
	struct answer answers[200];

	for (size_t i = 0; i < 200; i++)
		watch(*state, &answers[i], "", "");
	poll_for(*state, 10);
	put_map(*state, "a", "x");
	poll_for(*state, 20);
	for (size_t i = 0; i < 200; i++) {
		assert_int_equal(told(&answers[i], "ADDED"), 1);
		if (i % 2)
			mpijob_call_cancel(answers[i].call);
	}
	put_map(*state, "b", "x");
	poll_for(*state, 20);
	for (size_t i = 0; i < 200; i++) {
		assert_int_equal(told(&answers[i], "ADDED"), i % 2 ? 1 : 2);
		answer_free(&answers[i]);
	}
}

static int up(void **state)
{
	return cluster_up(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, up, cluster_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_from_now),
		TEST(test_resume),
		TEST(test_expired),
		TEST(test_selection),
		TEST(test_paused),
		TEST(test_interest),
		TEST(test_wake),
		TEST(test_timeout_and_bookmark),
		TEST(test_initial_events),
		TEST(test_many),
	};

	return cmocka_run_group_tests_name("local watch", tests, NULL, NULL);
}

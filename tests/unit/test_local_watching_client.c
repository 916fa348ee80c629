/* SPDX-License-Identifier: Apache-2.0 */
/* The client's watches, lists and waits over the embedded cluster, as it is: also where it refuses
 * something. */
#include "../support/fake_wait.h"
#include "../support/local_client.h"

#include <mpijob/watch.h>

#include <pthread.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

static void put_map(struct cluster *cluster, const char *name)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"}}", name);
	expect(cluster, "POST", MAPS, body, 201);
}

static struct mpijob_target maps(const char *name)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = "v1";
	target.kind = "ConfigMap";
	target.namespace_ = "default";
	target.name = name;
	return target;
}

struct seen {
	char told[256];
	int failures;
};

static void tell(struct seen *seen, const char *word, const char *name)
{
	size_t len = strlen(seen->told);

	snprintf(seen->told + len, sizeof(seen->told) - len, "%s%s ", word, name);
}

static void on_begin(void *user)
{
	tell(user, "(", "");
}

static int on_object(void *user, const struct mpijob_watch_event *event)
{
	static const char *const words[] = { "L", "A", "M", "D" };

	tell(user, words[event->event], event->name);
	return 0;
}

static int on_listed(void *user, const char *version)
{
	assert_true(strlen(version) > 0);
	tell(user, ")", "");
	return 0;
}

static void on_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	(void)answer;
	(void)what;
	((struct seen *)user)->failures++;
}

static mpijob_watch *watch(struct cluster *cluster, struct seen *seen, const char *name)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	mpijob_watch *watch = NULL;

	options.api_version = "v1";
	options.kind = "ConfigMap";
	options.namespace_ = "default";
	options.name = name;
	options.begin = on_begin;
	options.object = on_object;
	options.listed = on_listed;
	options.failed = on_failed;
	options.user = seen;
	assert_int_equal(mpijob_watch_new(cluster->client, &options, &watch), 0);
	return watch;
}

static void test_a_watch(void **state)
{
	struct cluster *cluster = *state;
	struct seen all = { 0 }, one = { 0 };
	mpijob_watch *first, *second;

	put_map(cluster, "a");
	first = watch(cluster, &all, NULL);
	second = watch(cluster, &one, "b");
	poll_for(cluster, 20);
	assert_int_equal(mpijob_watch_health_get(first)->synced &&
			     mpijob_watch_health_get(second)->synced,
	    1);
	put_map(cluster, "b");
	expect(cluster, "PATCH", MAPS "/b", "{\"data\":{\"k\":\"v\"}}", 200);
	expect(cluster, "DELETE", MAPS "/a", NULL, 200);
	expect(cluster, "DELETE", MAPS "/b", NULL, 200);
	poll_for(cluster, 20);
	assert_string_equal(all.told, "( La ) Ab Mb Da Db ");
	assert_string_equal(one.told, "( ) Ab Mb Db ");
	assert_int_equal(all.failures + one.failures, 0);
	mpijob_watch_free(first);
	mpijob_watch_free(second);
}

/* Whether it does pages or not, the list is whole. */
static void test_a_list(void **state)
{
	struct cluster *cluster = *state;
	struct mpijob_target target = maps(NULL);
	mpijob_diag *diag = mpijob_diag_new();

	put_map(cluster, "a");
	put_map(cluster, "b");
	put_map(cluster, "c");
	for (int i = 0; i < 2; i++) {
		mpijob_doc *list = NULL;
		const mpijob_node *items;

		assert_int_equal(mpijob_client_list(cluster->client, &target, 2, &list, diag), 0);
		items = mpijob_node_get(mpijob_doc_root(list), "items");
		assert_int_equal(mpijob_node_count(items), 3);
		for (size_t at = 0; at < 3; at++)
			assert_string_equal(mpijob_node_string(
						mpijob_node_get(mpijob_node_at(items, at), "kind")),
			    "ConfigMap");
		mpijob_doc_free(list);
	}
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	mpijob_diag_free(diag);
}

static int has_data(void *user, const mpijob_node *object)
{
	(void)user;
	return mpijob_node_find(object, "data.k") != NULL;
}

static void *cancel_soon(void *client)
{
	fake_wait_await();
	mpijob_client_cancel(client);
	return NULL;
}

/* A wait ends, by the timeout and by another thread. */
static void test_a_wait(void **state)
{
	struct cluster *cluster = *state;
	struct mpijob_target target = maps("a");
	mpijob_doc *map = NULL;
	pthread_t thread;

	put_map(cluster, "a");
	assert_int_equal(mpijob_client_wait(cluster->client, &target, 30, has_data, NULL, &map,
			     NULL),
	    MPIJOB_ERR_TIMEOUT);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cluster->client), 0);
	assert_int_equal(mpijob_client_wait(cluster->client, &target, -1, has_data, NULL, &map,
			     NULL),
	    MPIJOB_ERR_CANCELLED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_null(map);
	expect(cluster, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"v\"}}", 200);
	assert_int_equal(mpijob_client_wait(cluster->client, &target, 0, has_data, NULL, &map,
			     NULL),
	    0);
	assert_non_null(map);
	mpijob_doc_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_watch, cluster_up, cluster_down),
		cmocka_unit_test_setup_teardown(test_a_list, cluster_up, cluster_down),
		cmocka_unit_test_setup_teardown(test_a_wait, cluster_up, cluster_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

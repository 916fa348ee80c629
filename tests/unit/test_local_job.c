/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch/v1 Job controller and the garbage collector of the embedded cluster, driven by pod
 * statuses that the test writes as a kubelet would.
 */
#include "../support/fake_wait.h"
#include "../support/local_client.h"

#define JOB  "/apis/batch/v1/namespaces/default/jobs"
#define PODS "/api/v1/namespaces/default/pods"
#define MAPS "/api/v1/namespaces/default/configmaps"

static void make_job(struct cluster *cluster, const char *fields, const char *restart)
{
	char body[1024];

	snprintf(body, sizeof(body),
	    "{\"metadata\":{\"name\":\"j\"},\"spec\":{%s\"template\":{\"metadata\":{\"labels\":{"
	    "\"l\":\"1\"}},"
	    "\"spec\":"
	    "{\"restartPolicy\":\"%s\",\"hostname\":\"h\",\"containers\":[{\"name\":\"c\","
	    "\"image\":\"i\"}]}}}}",
	    fields, restart);
	expect(cluster, "POST", JOB, body, 201);
	poll_for(cluster, 5);
}

static size_t count(struct cluster *cluster, const char *path)
{
	struct answer answer = ask(cluster, "GET", path, NULL);
	size_t items = mpijob_node_count(mpijob_node_get(mpijob_doc_root(answer.doc), "items"));

	answer_free(&answer);
	return items;
}

/* Path of the first pod in some phase; yours. */
static char *find_pod(struct cluster *cluster, const char *phase)
{
	struct answer answer = ask(cluster, "GET", PODS, NULL);
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(answer.doc), "items");
	char *path = NULL;

	for (size_t i = 0; i < mpijob_node_count(items) && !path; i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_find(mpijob_node_at(items, i), "metadata.name"));
		const char *now =
		    mpijob_node_string(mpijob_node_find(mpijob_node_at(items, i), "status.phase"));

		if (strcmp(now, phase) == 0) {
			size_t size = strlen(PODS) + strlen(name) + 2;

			path = malloc(size);
			snprintf(path, size, PODS "/%s", name);
		}
	}
	answer_free(&answer);
	assert_non_null(path);
	return path;
}

static void set_pod(struct cluster *cluster, const char *from, const char *status)
{
	char *path = find_pod(cluster, from);
	char whole[256];

	snprintf(whole, sizeof(whole), "%s/status", path);
	expect(cluster, "PATCH", whole, status, 200);
	poll_for(cluster, 5);
	free(path);
}

static void set_phase(struct cluster *cluster, const char *from, const char *to)
{
	char body[64];

	snprintf(body, sizeof(body), "{\"status\":{\"phase\":\"%s\"}}", to);
	set_pod(cluster, from, body);
}

static void expect_condition(struct cluster *cluster, const char *type, const char *status,
    const char *reason)
{
	struct answer answer = ask(cluster, "GET", JOB "/j", NULL);
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(answer.doc), "status.conditions");
	int found = 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *condition = mpijob_node_at(list, i);

		if (strcmp(mpijob_node_string(mpijob_node_get(condition, "type")), type) != 0)
			continue;
		found = 1;
		assert_string_equal(mpijob_node_string(mpijob_node_get(condition, "status")),
		    status ? status : "no such condition");
		assert_string_equal(mpijob_node_string(mpijob_node_get(condition, "reason")),
		    reason);
	}
	assert_int_equal(found, status != NULL);
	answer_free(&answer);
}

static void test_success(void **state)
{
	char *path;

	make_job(*state, "", "Never");
	assert_int_equal(count(*state, PODS), 1);
	assert_int_equal(count(*state, PODS "?labelSelector=batch.kubernetes.io/"
					    "job-name%3Dj,job-name%3Dj,controller-uid,l%3D1"),
	    1);
	path = find_pod(*state, "Pending");
	assert_memory_equal(path, PODS "/j-", strlen(PODS "/j-"));
	assert_int_equal(strlen(path), strlen(PODS "/j-") + 5);
	expect_text(*state, path, "metadata.ownerReferences[0].kind", "Job");
	expect_text(*state, path, "spec.hostname", "h");
	free(path);
	expect_text(*state, JOB "/j", "status.active", "1");
	expect_text(*state, JOB "/j", "spec.backoffLimit", "6");
	set_phase(*state, "Pending", "Running");
	set_phase(*state, "Running", "Succeeded");
	expect_condition(*state, "SuccessCriteriaMet", "True", "CompletionsReached");
	expect_condition(*state, "Complete", "True", "CompletionsReached");
	expect_text(*state, JOB "/j", "status.succeeded", "1");
	expect_text(*state, JOB "/j", "status.active", NULL);
	poll_for(*state, 50);
	assert_int_equal(count(*state, PODS), 1);
}

static void test_backoff_limit(void **state)
{
	make_job(*state, "\"backoffLimit\":2,", "Never");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(count(*state, PODS), (size_t)i + 1);
		expect_condition(*state, "Failed", NULL, NULL);
		set_phase(*state, "Pending", "Failed");
		/* 20 ms, then 40 ms. */
		poll_for(*state, 80);
	}
	assert_int_equal(count(*state, PODS), 3);
	expect_condition(*state, "FailureTarget", "True", "BackoffLimitExceeded");
	expect_condition(*state, "Failed", "True", "BackoffLimitExceeded");
	expect_text(*state, JOB "/j", "status.failed", "3");
	expect_text(*state, JOB "/j", "status.conditions[1].message",
	    "Job has reached the specified backoff limit");
}

static void test_no_second_attempt(void **state)
{
	make_job(*state, "\"backoffLimit\":0,", "Never");
	set_phase(*state, "Pending", "Failed");
	poll_for(*state, 60);
	assert_int_equal(count(*state, PODS), 1);
	expect_condition(*state, "Failed", "True", "BackoffLimitExceeded");
}

static void test_restarts_count(void **state)
{
	make_job(*state, "\"backoffLimit\":1,", "OnFailure");
	set_pod(*state, "Pending",
	    "{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\","
	    "\"restartCount\":0,"
	    "\"state\":{\"waiting\":"
	    "{\"reason\":\"CrashLoopBackOff\"}},\"lastState\":{\"terminated\":{\"exitCode\":3}}}]}"
	    "}");
	expect_condition(*state, "FailureTarget", NULL, NULL);
	set_pod(*state, "Running",
	    "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":1,\"state\":{"
	    "\"running\":{}},"
	    "\"lastState\":{\"terminated\":{\"exitCode\":3}}}]}}");
	expect_condition(*state, "FailureTarget", NULL, NULL);
	set_pod(*state, "Running",
	    "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":1,\"state\":{"
	    "\"waiting\":{}},"
	    "\"lastState\":{\"terminated\":{\"exitCode\":3}}}]}}");
	expect_condition(*state, "Failed", "True", "BackoffLimitExceeded");
	expect_text(*state, JOB "/j", "status.failed", "1");
	assert_int_equal(count(*state, PODS), 0);
}

static void test_suspend(void **state)
{
	make_job(*state, "\"suspend\":true,", "Never");
	assert_int_equal(count(*state, PODS), 0);
	expect_condition(*state, "Suspended", "True", "JobSuspended");
	expect_text(*state, JOB "/j", "status.startTime", NULL);
	expect(*state, "PATCH", JOB "/j",
	    "{\"spec\":{\"suspend\":false,\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"b\"}}}}"
	    "}",
	    200);
	poll_for(*state, 5);
	expect_condition(*state, "Suspended", "False", "JobResumed");
	assert_int_equal(count(*state, PODS), 1);
	expect(*state, "PATCH", JOB "/j",
	    "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"a\":\"c\"}}}}}", 422);
	expect(*state, "PATCH", JOB "/j", "{\"spec\":{\"suspend\":true}}", 200);
	poll_for(*state, 5);
	assert_int_equal(count(*state, PODS), 0);
	expect_condition(*state, "Suspended", "True", "JobSuspended");
	expect_text(*state, JOB "/j", "status.failed", NULL);
	expect_text(*state, JOB "/j", "status.startTime", NULL);
}

static void test_deadline(void **state)
{
	make_job(*state, "\"activeDeadlineSeconds\":1,", "Never");
	poll_for(*state, 500);
	expect_condition(*state, "Failed", NULL, NULL);
	poll_for(*state, 700);
	expect_condition(*state, "Failed", "True", "DeadlineExceeded");
	assert_int_equal(count(*state, PODS), 0);
}

static void test_deleted_pod_is_replaced(void **state)
{
	char *path;

	make_job(*state, "\"podReplacementPolicy\":\"Failed\",", "Never");
	path = find_pod(*state, "Pending");
	/* As if it ran on a node: its deletion has to wait. */
	expect(*state, "PATCH", path, "{\"metadata\":{\"finalizers\":[\"x/y\"]}}", 200);
	expect(*state, "DELETE", path, NULL, 200);
	poll_for(*state, 60);
	assert_int_equal(count(*state, PODS), 1);
	expect_text(*state, JOB "/j", "status.terminating", "1");
	expect(*state, "PATCH", path, "{\"metadata\":{\"finalizers\":null}}", 200);
	poll_for(*state, 60);
	assert_int_equal(count(*state, PODS), 1);
	expect_text(*state, JOB "/j", "status.failed", "1");
	expect_text(*state, JOB "/j", "status.active", "1");
	expect(*state, "GET", path, NULL, 404);
	free(path);
}

static void test_time_to_live(void **state)
{
	make_job(*state, "\"ttlSecondsAfterFinished\":0,", "Never");
	set_phase(*state, "Pending", "Succeeded");
	poll_for(*state, 20);
	expect(*state, "GET", JOB "/j", NULL, 404);
	assert_int_equal(count(*state, PODS), 0);
}

static void test_unsupported_jobs(void **state)
{
	static const char *const fields[] = { "\"completions\":2,", "\"parallelism\":3,",
		"\"completionMode\":\"Indexed\",", "\"podFailurePolicy\":{\"rules\":[]},",
		"\"manualSelector\":true," };
	char body[512];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(body, sizeof(body),
		    "{\"metadata\":{\"name\":\"j\"},\"spec\":{%s\"template\":{\"spec\":{"
		    "\"restartPolicy\":"
		    "\"Never\","
		    "\"containers\":[{\"name\":\"c\"}]}}}}",
		    fields[i]);
		expect_refusal(*state, "POST", JOB, "application/json", body, 501,
		    "NotImplemented");
	}
	expect_refusal(*state, "POST", JOB, "application/json",
	    "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":"
	    "\"Always\","
	    "\"containers\":[{\"name\":\"c\"}]}}}}",
	    422, "Invalid");
}

/* Garbage. */

static char *uid_of(struct cluster *cluster, const char *path)
{
	struct answer answer = ask(cluster, "GET", path, NULL);
	char *uid = strdup(
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(answer.doc), "metadata.uid")));

	answer_free(&answer);
	return uid;
}

static void make_child(struct cluster *cluster, const char *name, const char *uid)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
	    "\"ConfigMap\","
	    "\"name\":\"o\","
	    "\"uid\":\"%s\"}]}}",
	    name, uid);
	expect(cluster, "POST", MAPS, body, 201);
}

static void test_children_follow(void **state)
{
	char *uid;
	char *child;

	expect(*state, "POST", MAPS, "{\"metadata\":{\"name\":\"o\"}}", 201);
	uid = uid_of(*state, MAPS "/o");
	make_child(*state, "c1", uid);
	make_child(*state, "c2", uid);
	child = uid_of(*state, MAPS "/c1");
	make_child(*state, "c3", child);
	make_child(*state, "lost", "00000000-0000-0000-0000-000000000000");
	poll_for(*state, 5);
	expect(*state, "GET", MAPS "/lost", NULL, 404);
	assert_int_equal(count(*state, MAPS), 4);
	expect(*state, "DELETE", MAPS "/o", NULL, 200);
	poll_for(*state, 5);
	assert_int_equal(count(*state, MAPS), 0);
	free(uid);
	free(child);
}

static void test_orphan_and_foreground(void **state)
{
	char *uid;

	expect(*state, "POST", MAPS, "{\"metadata\":{\"name\":\"o\"}}", 201);
	uid = uid_of(*state, MAPS "/o");
	make_child(*state, "c1", uid);
	expect(*state, "DELETE", MAPS "/o", "{\"propagationPolicy\":\"Orphan\"}", 200);
	poll_for(*state, 5);
	expect_text(*state, MAPS "/c1", "metadata.ownerReferences[0].uid", NULL);
	free(uid);
	expect(*state, "POST", MAPS, "{\"metadata\":{\"name\":\"o\"}}", 201);
	uid = uid_of(*state, MAPS "/o");
	make_child(*state, "c2", uid);
	expect(*state, "PATCH", MAPS "/c2", "{\"metadata\":{\"finalizers\":[\"x/y\"]}}", 200);
	expect(*state, "DELETE", MAPS "/o", "{\"propagationPolicy\":\"Foreground\"}", 200);
	poll_for(*state, 5);
	expect_text(*state, MAPS "/o", "metadata.finalizers[0]", "foregroundDeletion");
	expect(*state, "PATCH", MAPS "/c2", "{\"metadata\":{\"finalizers\":null}}", 200);
	poll_for(*state, 5);
	expect(*state, "GET", MAPS "/o", NULL, 404);
	assert_int_equal(count(*state, MAPS), 1);
	free(uid);
}

static void test_job_keeps_pods_without_policy(void **state)
{
	make_job(*state, "", "Never");
	expect(*state, "DELETE", JOB "/j", NULL, 200);
	poll_for(*state, 5);
	assert_int_equal(count(*state, PODS), 1);
}

static void test_namespace(void **state)
{
	expect(*state, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}", 201);
	expect_text(*state, "/api/v1/namespaces/n", "status.phase", "Active");
	expect(*state, "POST", "/api/v1/namespaces/n/configmaps",
	    "{\"metadata\":{\"name\":\"m\",\"finalizers\":[\"x/y\"]}}", 201);
	expect(*state, "DELETE", "/api/v1/namespaces/n", NULL, 200);
	expect_text(*state, "/api/v1/namespaces/n", "status.phase", "Terminating");
	expect_refusal(*state, "POST", "/api/v1/namespaces/n/configmaps", "application/json",
	    "{\"metadata\":{\"name\":\"k\"}}", 403, "Forbidden");
	expect(*state, "PATCH", "/api/v1/namespaces/n/configmaps/m",
	    "{\"metadata\":{\"finalizers\":null}}", 200);
	poll_for(*state, 5);
	expect(*state, "GET", "/api/v1/namespaces/n", NULL, 404);
}

static int up(void **state)
{
	return cluster_up(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, up, cluster_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_success),
		TEST(test_backoff_limit),
		TEST(test_no_second_attempt),
		TEST(test_restarts_count),
		TEST(test_suspend),
		TEST(test_deadline),
		TEST(test_deleted_pod_is_replaced),
		TEST(test_time_to_live),
		TEST(test_unsupported_jobs),
		TEST(test_children_follow),
		TEST(test_orphan_and_foreground),
		TEST(test_job_keeps_pods_without_policy),
		TEST(test_namespace),
	};

	return cmocka_run_group_tests_name("local job", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A limit on the number of workers: who is refused, who goes on, and with how many. */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void begin(struct plan_cluster *cluster, int workers, const char *policy)
{
	mpijob_doc *job = mpijob_doc_new();

	NEED(job);
	plan_cluster_set(&job,
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: {runPolicy: {%s}, "
	    "mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: %d, "
	    "template: {spec: {containers: [{name: w, image: i}]}}}}}}",
	    policy, workers);
	plan_cluster_begin(cluster, job);
}

static int settle(struct plan_cluster *cluster)
{
	int acted = 0;

	for (int i = 0; i < 20; i++) {
		mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);
		size_t count = 0;

		for (size_t k = 0; k < mpijob_plan_get_result(plan)->actions_count; k++)
			count += mpijob_plan_at(plan, k)->verb != MPIJOB_ACTION_EVENT;
		acted |= count > 0;
		(void)plan_cluster_act_all(cluster, plan);
		mpijob_plan_free(plan);
		if (!count && !plan_cluster_job_controller(cluster))
			return acted;
	}
	fail_msg("it does not settle");
	return 0;
}

static int count_workers(struct plan_cluster *cluster)
{
	char name[32];
	int count = 0;

	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "pi-worker-%d", i);
		count += plan_cluster_find(cluster, "Pod", name) != NULL;
	}
	return count;
}

static int has_condition(struct plan_cluster *cluster, const char *type)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(cluster->job), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++)
		if (strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type")),
			type) == 0)
			return strcmp(mpijob_node_string(
					  mpijob_node_get(mpijob_node_at(list, i), "status")),
				   "True") == 0;
	return 0;
}

static void scale(struct plan_cluster *cluster, int workers)
{
	char patch[128];

	snprintf(patch, sizeof(patch), "{spec: {mpiReplicaSpecs: {Worker: {replicas: %d}}}}",
	    workers);
	plan_cluster_change_job(cluster, patch);
}

static void expect_refused(struct plan_cluster *cluster, const char *message)
{
	mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);

	assert_int_equal(mpijob_plan_get_result(plan)->actions_count, 1);
	assert_int_equal(mpijob_plan_at(plan, 0)->verb, MPIJOB_ACTION_EVENT);
	assert_string_equal(mpijob_plan_at(plan, 0)->event_reason, "ValidationError");
	assert_non_null(strstr(mpijob_plan_at(plan, 0)->event_message, message));
	assert_int_equal(mpijob_plan_get_result(plan)->next_ms, 0);
	mpijob_plan_free(plan);
}

static void run_all(struct plan_cluster *cluster, int workers)
{
	char name[32];

	for (int i = 0; i < workers; i++) {
		snprintf(name, sizeof(name), "pi-worker-%d", i);
		plan_cluster_pod_runs(cluster, name);
	}
	plan_cluster_pod_runs(cluster, "pi-launcher-0");
}

static void one_over_the_limit_does_not_begin(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 9, "");
	cluster.max_workers = 8;
	expect_refused(&cluster,
	    "9 workers are more than the 8 that the operator's configuration allows");
	assert_int_equal(settle(&cluster), 0);
	assert_int_equal(cluster.count, 0);
	/* Made smaller, it begins. */
	scale(&cluster, 8);
	assert_int_equal(settle(&cluster), 1);
	assert_int_equal(count_workers(&cluster), 8);
	plan_cluster_end(&cluster);
}

static void at_the_limit_it_begins(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 8, "");
	cluster.max_workers = 8;
	settle(&cluster);
	assert_int_equal(count_workers(&cluster), 8);
	plan_cluster_end(&cluster);
}

/* To begin small and grow is no way around it. */
static void it_grows_to_the_limit_only(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 1, "");
	cluster.max_workers = 3;
	settle(&cluster);
	run_all(&cluster, 1);
	settle(&cluster);
	scale(&cluster, 40);
	settle(&cluster);
	assert_int_equal(count_workers(&cluster), 3);
	run_all(&cluster, 3);
	settle(&cluster);
	assert_true(has_condition(&cluster, "Running"));
	/* It ends as any other. */
	plan_cluster_launcher_succeeded(&cluster);
	settle(&cluster);
	assert_true(has_condition(&cluster, "Succeeded"));
	plan_cluster_end(&cluster);
}

/* Nobody's work is taken away when the limit comes down. */
static void a_lower_limit_takes_nothing(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 5, "cleanPodPolicy: All");
	settle(&cluster);
	run_all(&cluster, 5);
	settle(&cluster);
	cluster.max_workers = 2;
	assert_int_equal(settle(&cluster), 0);
	assert_int_equal(count_workers(&cluster), 5);
	scale(&cluster, 7);
	assert_int_equal(settle(&cluster), 0);
	assert_int_equal(count_workers(&cluster), 5);
	/* Less of its own accord is fine. */
	scale(&cluster, 4);
	settle(&cluster);
	assert_int_equal(count_workers(&cluster), 4);
	plan_cluster_launcher_succeeded(&cluster);
	settle(&cluster);
	assert_true(has_condition(&cluster, "Succeeded"));
	assert_int_equal(count_workers(&cluster), 0);
	plan_cluster_end(&cluster);
}

static void suspended_it_stops_and_does_not_resume(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 5, "");
	settle(&cluster);
	run_all(&cluster, 5);
	settle(&cluster);
	cluster.max_workers = 2;
	plan_cluster_change_job(&cluster, "{spec: {runPolicy: {suspend: true}}}");
	settle(&cluster);
	assert_int_equal(count_workers(&cluster), 0);
	assert_true(has_condition(&cluster, "Suspended"));
	assert_true(plan_cluster_bool(plan_cluster_job(&cluster)->doc, "spec.suspend"));
	plan_cluster_change_job(&cluster, "{spec: {runPolicy: {suspend: false}}}");
	expect_refused(&cluster, "5 workers are more than the 2");
	assert_int_equal(settle(&cluster), 0);
	assert_true(plan_cluster_bool(plan_cluster_job(&cluster)->doc, "spec.suspend"));
	scale(&cluster, 2);
	settle(&cluster);
	assert_int_equal(count_workers(&cluster), 2);
	assert_false(plan_cluster_bool(plan_cluster_job(&cluster)->doc, "spec.suspend"));
	plan_cluster_end(&cluster);
}

/* One that came suspended makes nothing, so that nothing of it waits for admission. */
static void one_that_came_suspended_is_refused(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 5, "suspend: true");
	cluster.max_workers = 2;
	expect_refused(&cluster, "5 workers");
	plan_cluster_end(&cluster);
}

/* Who has ended is cleaned up after. */
static void a_finished_job_is_cleaned_up(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 3, "cleanPodPolicy: All");
	settle(&cluster);
	run_all(&cluster, 3);
	settle(&cluster);
	plan_cluster_launcher_failed(&cluster, "{phase: Failed}", 0);
	cluster.max_workers = 1;
	settle(&cluster);
	assert_true(has_condition(&cluster, "Failed"));
	assert_int_equal(count_workers(&cluster), 0);
	assert_int_equal(settle(&cluster), 0);
	plan_cluster_end(&cluster);
}

/* Where refused jobs are Failed, that is no end that lets the next plan go on. */
static void failed_for_the_limit_it_stays_so(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 5, "");
	cluster.max_workers = 2;
	cluster.features.fail_invalid = 1;
	settle(&cluster);
	assert_true(has_condition(&cluster, "Failed"));
	assert_int_equal(settle(&cluster), 0);
	assert_int_equal(cluster.count, 0);
	scale(&cluster, 2);
	settle(&cluster);
	assert_false(has_condition(&cluster, "Failed"));
	assert_int_equal(count_workers(&cluster), 2);
	plan_cluster_end(&cluster);
}

/* A status that claims to be that of a job in motion is no pass. */
static void a_forged_status_opens_no_door(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 9, "");
	cluster.max_workers = 2;
	plan_cluster_change_job(&cluster,
	    "{status: {startTime: '2026-11-21T12:00:00Z', conditions: [{type: "
	    "Running, status: 'True'}]}}");
	expect_refused(&cluster, "9 workers");
	plan_cluster_end(&cluster);
}

/* One that begins again keeps to the limit, and does not get stuck half way. */
static void a_restart_keeps_to_the_limit(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 4, "");
	cluster.features.restart_gang = 3;
	settle(&cluster);
	run_all(&cluster, 4);
	settle(&cluster);
	cluster.max_workers = 2;
	plan_cluster_pod(&cluster, "pi-worker-1", "{status: {phase: Failed}}");
	settle(&cluster);
	settle(&cluster);
	assert_int_equal(count_workers(&cluster), 2);
	assert_false(plan_cluster_bool(plan_cluster_job(&cluster)->doc, "spec.suspend"));
	plan_cluster_end(&cluster);
}

/* Pods of somebody else that bear the names of its workers do not count as its own. */
static void foreign_pods_open_no_door(void **state)
{
	mpijob_doc *pod = mpijob_doc_new();
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 9, "");
	cluster.max_workers = 2;
	plan_cluster_set(&pod,
	    "{apiVersion: v1, kind: Pod, metadata: {name: pi-worker-8, namespace: ns, labels: "
	    "{training.kubeflow.org/job-role: worker}}}");
	plan_cluster_add(&cluster, pod);
	expect_refused(&cluster, "9 workers");
	plan_cluster_end(&cluster);
}

static void negative_limits_are_refused(void **state)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_plan *plan = NULL;
	mpijob *job = NULL;
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, 1, "");
	assert_int_equal(mpijob_from_node(mpijob_doc_root(cluster.job), NULL, &job, NULL), 0);
	options.now_ms = 1;
	options.max_workers = -1;
	assert_int_equal(mpijob_plan_new(job, cluster.facts, &options, &plan, NULL),
	    MPIJOB_ERR_USAGE);
	mpijob_free(job);
	plan_cluster_end(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_over_the_limit_does_not_begin),
		cmocka_unit_test(at_the_limit_it_begins),
		cmocka_unit_test(it_grows_to_the_limit_only),
		cmocka_unit_test(a_lower_limit_takes_nothing),
		cmocka_unit_test(suspended_it_stops_and_does_not_resume),
		cmocka_unit_test(one_that_came_suspended_is_refused),
		cmocka_unit_test(a_finished_job_is_cleaned_up),
		cmocka_unit_test(failed_for_the_limit_it_stays_so),
		cmocka_unit_test(a_forged_status_opens_no_door),
		cmocka_unit_test(a_restart_keeps_to_the_limit),
		cmocka_unit_test(foreign_pods_open_no_door),
		cmocka_unit_test(negative_limits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

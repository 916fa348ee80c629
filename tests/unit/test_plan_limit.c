/* SPDX-License-Identifier: Apache-2.0 */
/* A limit on the number of workers: who is refused, who goes on, and with how many. */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void begin(struct fake *fake, int workers, const char *policy)
{
	mpijob_doc *job = mpijob_doc_new();

	NEED(job);
	fake_set(&job,
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: {runPolicy: {%s}, "
	    "mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: %d, "
	    "template: {spec: {containers: [{name: w, image: i}]}}}}}}",
	    policy, workers);
	fake_begin(fake, job);
}

static int settle(struct fake *fake)
{
	int acted = 0;

	for (int i = 0; i < 20; i++) {
		mpijob_plan *plan = fake_plan(fake, fake->facts);
		size_t count = 0;

		for (size_t k = 0; k < mpijob_plan_count(plan); k++)
			count += mpijob_plan_at(plan, k)->verb != MPIJOB_ACTION_EVENT;
		acted |= count > 0;
		(void)fake_act_all(fake, plan);
		mpijob_plan_free(plan);
		if (!count && !fake_job_controller(fake))
			return acted;
	}
	fail_msg("it does not settle");
	return 0;
}

static int count_workers(struct fake *fake)
{
	char name[32];
	int count = 0;

	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "pi-worker-%d", i);
		count += fake_find(fake, "Pod", name) != NULL;
	}
	return count;
}

static int has_condition(struct fake *fake, const char *type)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(fake->job), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++)
		if (strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type")),
			type) == 0)
			return strcmp(mpijob_node_string(
					  mpijob_node_get(mpijob_node_at(list, i), "status")),
				   "True") == 0;
	return 0;
}

static void scale(struct fake *fake, int workers)
{
	char patch[128];

	snprintf(patch, sizeof(patch), "{spec: {mpiReplicaSpecs: {Worker: {replicas: %d}}}}",
	    workers);
	fake_change_job(fake, patch);
}

static void expect_refused(struct fake *fake, const char *message)
{
	mpijob_plan *plan = fake_plan(fake, fake->facts);

	assert_int_equal(mpijob_plan_count(plan), 1);
	assert_int_equal(mpijob_plan_at(plan, 0)->verb, MPIJOB_ACTION_EVENT);
	assert_string_equal(mpijob_plan_at(plan, 0)->event_reason, "ValidationError");
	assert_non_null(strstr(mpijob_plan_at(plan, 0)->event_message, message));
	assert_int_equal(mpijob_plan_next_ms(plan), 0);
	mpijob_plan_free(plan);
}

static void run_all(struct fake *fake, int workers)
{
	char name[32];

	for (int i = 0; i < workers; i++) {
		snprintf(name, sizeof(name), "pi-worker-%d", i);
		fake_pod_runs(fake, name);
	}
	fake_pod_runs(fake, "pi-launcher-0");
}

static void one_over_the_limit_does_not_begin(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 9, "");
	fake.max_workers = 8;
	expect_refused(&fake,
	    "9 workers are more than the 8 that the operator's configuration allows");
	assert_int_equal(settle(&fake), 0);
	assert_int_equal(fake.count, 0);
	/* Made smaller, it begins. */
	scale(&fake, 8);
	assert_int_equal(settle(&fake), 1);
	assert_int_equal(count_workers(&fake), 8);
	fake_end(&fake);
}

static void at_the_limit_it_begins(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 8, "");
	fake.max_workers = 8;
	settle(&fake);
	assert_int_equal(count_workers(&fake), 8);
	fake_end(&fake);
}

/* To begin small and grow is no way around it. */
static void it_grows_to_the_limit_only(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 1, "");
	fake.max_workers = 3;
	settle(&fake);
	run_all(&fake, 1);
	settle(&fake);
	scale(&fake, 40);
	settle(&fake);
	assert_int_equal(count_workers(&fake), 3);
	run_all(&fake, 3);
	settle(&fake);
	assert_true(has_condition(&fake, "Running"));
	/* It ends as any other. */
	fake_launcher_succeeded(&fake);
	settle(&fake);
	assert_true(has_condition(&fake, "Succeeded"));
	fake_end(&fake);
}

/* Nobody's work is taken away when the limit comes down. */
static void a_lower_limit_takes_nothing(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 5, "cleanPodPolicy: All");
	settle(&fake);
	run_all(&fake, 5);
	settle(&fake);
	fake.max_workers = 2;
	assert_int_equal(settle(&fake), 0);
	assert_int_equal(count_workers(&fake), 5);
	scale(&fake, 7);
	assert_int_equal(settle(&fake), 0);
	assert_int_equal(count_workers(&fake), 5);
	/* Less of its own accord is fine. */
	scale(&fake, 4);
	settle(&fake);
	assert_int_equal(count_workers(&fake), 4);
	fake_launcher_succeeded(&fake);
	settle(&fake);
	assert_true(has_condition(&fake, "Succeeded"));
	assert_int_equal(count_workers(&fake), 0);
	fake_end(&fake);
}

static void suspended_it_stops_and_does_not_resume(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 5, "");
	settle(&fake);
	run_all(&fake, 5);
	settle(&fake);
	fake.max_workers = 2;
	fake_change_job(&fake, "{spec: {runPolicy: {suspend: true}}}");
	settle(&fake);
	assert_int_equal(count_workers(&fake), 0);
	assert_true(has_condition(&fake, "Suspended"));
	assert_true(fake_bool(fake_job(&fake)->doc, "spec.suspend"));
	fake_change_job(&fake, "{spec: {runPolicy: {suspend: false}}}");
	expect_refused(&fake, "5 workers are more than the 2");
	assert_int_equal(settle(&fake), 0);
	assert_true(fake_bool(fake_job(&fake)->doc, "spec.suspend"));
	scale(&fake, 2);
	settle(&fake);
	assert_int_equal(count_workers(&fake), 2);
	assert_false(fake_bool(fake_job(&fake)->doc, "spec.suspend"));
	fake_end(&fake);
}

/* One that came suspended makes nothing, so that nothing of it waits for admission. */
static void one_that_came_suspended_is_refused(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 5, "suspend: true");
	fake.max_workers = 2;
	expect_refused(&fake, "5 workers");
	fake_end(&fake);
}

/* Who has ended is cleaned up after. */
static void a_finished_job_is_cleaned_up(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 3, "cleanPodPolicy: All");
	settle(&fake);
	run_all(&fake, 3);
	settle(&fake);
	fake_launcher_failed(&fake, "{phase: Failed}", 0);
	fake.max_workers = 1;
	settle(&fake);
	assert_true(has_condition(&fake, "Failed"));
	assert_int_equal(count_workers(&fake), 0);
	assert_int_equal(settle(&fake), 0);
	fake_end(&fake);
}

/* Where refused jobs are Failed, that is no end that lets the next plan go on. */
static void failed_for_the_limit_it_stays_so(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 5, "");
	fake.max_workers = 2;
	fake.features.fail_invalid = 1;
	settle(&fake);
	assert_true(has_condition(&fake, "Failed"));
	assert_int_equal(settle(&fake), 0);
	assert_int_equal(fake.count, 0);
	scale(&fake, 2);
	settle(&fake);
	assert_false(has_condition(&fake, "Failed"));
	assert_int_equal(count_workers(&fake), 2);
	fake_end(&fake);
}

/* A status that claims to be that of a job in motion is no pass. */
static void a_forged_status_opens_no_door(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 9, "");
	fake.max_workers = 2;
	fake_change_job(&fake, "{status: {startTime: '2026-11-21T12:00:00Z', conditions: [{type: "
			       "Running, status: 'True'}]}}");
	expect_refused(&fake, "9 workers");
	fake_end(&fake);
}

/* One that begins again keeps to the limit, and does not get stuck half way. */
static void a_restart_keeps_to_the_limit(void **state)
{
	struct fake fake;

	(void)state;
	begin(&fake, 4, "");
	fake.features.restart_gang = 3;
	settle(&fake);
	run_all(&fake, 4);
	settle(&fake);
	fake.max_workers = 2;
	fake_pod(&fake, "pi-worker-1", "{status: {phase: Failed}}");
	settle(&fake);
	settle(&fake);
	assert_int_equal(count_workers(&fake), 2);
	assert_false(fake_bool(fake_job(&fake)->doc, "spec.suspend"));
	fake_end(&fake);
}

/* Pods of somebody else that bear the names of its workers do not count as its own. */
static void foreign_pods_open_no_door(void **state)
{
	mpijob_doc *pod = mpijob_doc_new();
	struct fake fake;

	(void)state;
	begin(&fake, 9, "");
	fake.max_workers = 2;
	fake_set(&pod,
	    "{apiVersion: v1, kind: Pod, metadata: {name: pi-worker-8, namespace: ns, labels: "
	    "{training.kubeflow.org/job-role: worker}}}");
	fake_add(&fake, pod);
	expect_refused(&fake, "9 workers");
	fake_end(&fake);
}

static void negative_limits_are_refused(void **state)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_plan *plan = NULL;
	mpijob *job = NULL;
	struct fake fake;

	(void)state;
	begin(&fake, 1, "");
	assert_int_equal(mpijob_from_node(mpijob_doc_root(fake.job), NULL, &job, NULL), 0);
	options.now_ms = 1;
	options.max_workers = -1;
	assert_int_equal(mpijob_plan_new(job, fake.facts, &options, &plan, NULL), MPIJOB_ERR_USAGE);
	mpijob_free(job);
	fake_end(&fake);
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

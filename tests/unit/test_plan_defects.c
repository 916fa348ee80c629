/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defects of mpi-operator v0.8.2 that no case of tests/cases/plan can show, by their number in
 * docs/differences.md (test_render_differences.c lists all, and where each is tested).
 */
#include "../support/plan_cluster.h"

#include "plan/facts.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void begin(struct plan_cluster *cluster)
{
	static const char text[] =
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: {mpiReplicaSpecs: "
	    "{Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: i}]}}}}}}";
	mpijob_doc *job = NULL;

	NEED(!mpijob_doc_parse(text, sizeof(text) - 1, NULL, &job, NULL));
	plan_cluster_begin(cluster, job);
}

static size_t plan_and_act(struct plan_cluster *cluster)
{
	mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);
	size_t count = mpijob_plan_get_result(plan)->actions_count;

	NEED(!plan_cluster_act_all(cluster, plan));
	mpijob_plan_free(plan);
	return count;
}

static int drop(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
	return 0;
}

/* No entropy is taken by any other body, and an unchanged job has no body at all. */
static void row_12_a_key_is_drawn_for_the_secret_alone(void **state)
{
	struct plan_cluster cluster;
	mpijob_plan *plan;
	size_t secrets = 0;

	(void)state;
	begin(&cluster);
	plan = plan_cluster_plan(&cluster, cluster.facts);
	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);
		int is_secret = action->role == MPIJOB_ROLE_SECRET;

		if (action->verb != MPIJOB_ACTION_EVENT)
			assert_int_equal(mpijob_plan_write_body(plan, i, NULL, 0, drop, NULL),
			    is_secret ? MPIJOB_ERR_USAGE : 0);
		secrets += (size_t)is_secret;
	}
	assert_int_equal(secrets, 1);
	mpijob_plan_free(plan);
	while (plan_and_act(&cluster) > 0)
		continue;
	assert_int_equal(plan_and_act(&cluster), 0);
	plan_cluster_end(&cluster);
}

/* The job, and the news of its children, are read alone: the same plan comes of them again, byte by
 * byte. */
static void row_14_planning_changes_nothing(void **state)
{
	struct plan_cluster cluster;
	mpijob_text *before, *after;

	(void)state;
	begin(&cluster);
	for (int turn = 0; turn < 4; turn++) {
		const struct mpijob_launcher_facts *launcher;
		struct mpijob_launcher_facts known = MPIJOB_LAUNCHER_FACTS_INIT;
		size_t pods = cluster.facts->pods.count;
		mpijob_plan *first, *second;
		mpijob *job = NULL;
		struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;

		NEED(!mpijob_from_node(mpijob_doc_root(cluster.job), NULL, &job, NULL));
		before =
		    plan_cluster_json(mpijob_doc_root(mpijob_document(job)), MPIJOB_FORMAT_JSON);
		launcher = mpijob_facts_launcher(cluster.facts);
		if (launcher)
			known = *launcher;
		options.now_ms = cluster.now_ms;
		options.render = &cluster.render;
		NEED(!mpijob_plan_new(job, cluster.facts, &options, &first, NULL));
		NEED(!mpijob_plan_new(job, cluster.facts, &options, &second, NULL));
		after =
		    plan_cluster_json(mpijob_doc_root(mpijob_document(job)), MPIJOB_FORMAT_JSON);
		assert_string_equal(mpijob_text_data(before), mpijob_text_data(after));
		assert_int_equal(cluster.facts->pods.count, pods);
		assert_ptr_equal(mpijob_facts_launcher(cluster.facts), launcher);
		if (launcher)
			assert_memory_equal(launcher, &known, sizeof(known));
		assert_int_equal(mpijob_plan_get_result(first)->actions_count,
		    mpijob_plan_get_result(second)->actions_count);
		mpijob_text_free(before);
		mpijob_text_free(after);
		mpijob_plan_free(first);
		mpijob_plan_free(second);
		mpijob_free(job);
		plan_and_act(&cluster);
		plan_cluster_job_controller(&cluster);
		plan_cluster_pod_runs(&cluster, "pi-worker-0");
		plan_cluster_pod_runs(&cluster, "pi-worker-1");
	}
	plan_cluster_end(&cluster);
}

static void row_26_a_launcher_pod_is_replaced_once_it_failed(void **state)
{
	struct plan_cluster cluster;
	struct plan_cluster_object *job;

	(void)state;
	begin(&cluster);
	while (plan_and_act(&cluster) > 0)
		continue;
	job = plan_cluster_job(&cluster);
	assert_non_null(job);
	assert_string_equal(plan_cluster_text(job->doc, "spec.podReplacementPolicy"), "Failed");
	plan_cluster_end(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_12_a_key_is_drawn_for_the_secret_alone),
		cmocka_unit_test(row_14_planning_changes_nothing),
		cmocka_unit_test(row_26_a_launcher_pod_is_replaced_once_it_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

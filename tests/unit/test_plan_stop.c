/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher Job that is to stop may have ended, unseen: a plan of yesterday's news does nothing to
 * it. */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void plan_all(struct plan_cluster *cluster)
{
	for (size_t count = 1; count;) {
		mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);

		count = mpijob_plan_get_result(plan)->actions_count;
		NEED(!plan_cluster_act_all(cluster, plan));
		mpijob_plan_free(plan);
	}
}

/* A job that runs. */
static void begin(struct plan_cluster *cluster)
{
	static const char text[] =
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: {mpiReplicaSpecs: "
	    "{Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}}}}";
	mpijob_doc *job = NULL;

	NEED(!mpijob_doc_parse(text, sizeof(text) - 1, NULL, &job, NULL));
	plan_cluster_begin(cluster, job);
	plan_all(cluster);
	NEED(plan_cluster_job_controller(cluster));
	plan_cluster_pod_runs(cluster, "pi-worker-0");
	plan_cluster_pod_runs(cluster, "pi-launcher-0");
	plan_all(cluster);
}

static const struct mpijob_condition *condition(const mpijob_plan *plan, const char *type)
{
	const struct mpijob_status *status = mpijob_plan_get_result(plan)->status;

	for (size_t i = 0; i < status->conditions_count; i++) {
		if (strcmp(status->conditions[i]->type, type) == 0)
			return status->conditions[i];
	}
	return NULL;
}

static void one_that_ended_unseen_is_not_suspended(void **state)
{
	struct plan_cluster cluster;
	mpijob_plan *plan;

	(void)state;
	begin(&cluster);
	plan_cluster_change_job(&cluster, "{spec: {runPolicy: {suspend: true}}}");
	plan = plan_cluster_plan(&cluster, cluster.facts);
	plan_cluster_launcher_succeeded(&cluster);
	assert_int_equal(plan_cluster_act_all(&cluster, plan), MPIJOB_ERR_CONFLICT);
	assert_false(plan_cluster_bool(plan_cluster_job(&cluster)->doc, "spec.suspend"));
	assert_non_null(plan_cluster_find(&cluster, "Pod", "pi-worker-0"));
	mpijob_plan_free(plan);

	plan = plan_cluster_plan(&cluster, cluster.facts);
	assert_non_null(condition(plan, "Succeeded"));
	mpijob_plan_free(plan);
	plan_cluster_end(&cluster);
}

/* Whoever feeds facts need not know the version: then the Job is stopped as it is. */
static void one_whose_version_is_not_known_is_suspended(void **state)
{
	struct mpijob_launcher_facts known;
	struct mpijob_observed observed = { .size = sizeof(observed), .launcher = &known };
	struct plan_cluster cluster;
	mpijob_plan *plan;

	(void)state;
	begin(&cluster);
	plan_cluster_change_job(&cluster, "{spec: {runPolicy: {suspend: true}}}");
	known = *mpijob_facts_launcher(cluster.facts);
	known.resource_version = NULL;
	NEED(mpijob_facts_apply(cluster.facts, &observed) == 1);
	plan = plan_cluster_plan(&cluster, cluster.facts);
	plan_cluster_set(&plan_cluster_job(&cluster)->doc, "{metadata: {resourceVersion: \"%ld\"}}",
	    ++cluster.version);
	assert_int_equal(plan_cluster_act_all(&cluster, plan), 0);
	assert_true(plan_cluster_bool(plan_cluster_job(&cluster)->doc, "spec.suspend"));
	mpijob_plan_free(plan);
	plan_cluster_end(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_ended_unseen_is_not_suspended),
		cmocka_unit_test(one_whose_version_is_not_known_is_suspended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

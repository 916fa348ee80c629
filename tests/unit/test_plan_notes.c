/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about its actions: what to read before them, and which difference from the
 * reference they follow from. */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define AN_HOUR_MS 3600000

static void plan_all(struct plan_cluster *fake)
{
	for (size_t count = 1; count;) {
		mpijob_plan *plan = plan_cluster_plan(fake, fake->facts);

		count = mpijob_plan_get_result(plan)->actions_count;
		NEED(!plan_cluster_act_all(fake, plan));
		mpijob_plan_free(plan);
	}
}

static void begin(struct plan_cluster *fake)
{
	static const char text[] =
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: {runPolicy: {ttlSecondsAfterFinished: 60}, mpiReplicaSpecs: "
	    "{Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: i}]}}}}}}";
	mpijob_doc *job = NULL;

	NEED(!mpijob_doc_parse(text, sizeof(text) - 1, NULL, &job, NULL));
	plan_cluster_begin(fake, job);
}

/* A job that runs. */
static void run(struct plan_cluster *fake)
{
	begin(fake);
	plan_all(fake);
	NEED(plan_cluster_job_controller(fake));
	plan_cluster_pod_runs(fake, "pi-worker-0");
	plan_cluster_pod_runs(fake, "pi-worker-1");
	plan_cluster_pod_runs(fake, "pi-launcher-0");
	plan_all(fake);
}

static const struct mpijob_action *find(const mpijob_plan *plan, int32_t verb, int32_t role)
{
	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);

		if (action->verb == verb && action->role == role)
			return action;
	}
	return NULL;
}

static void check_read(const struct mpijob_action *action, size_t index, int32_t role,
    const char *kind, const char *name)
{
	const struct mpijob_fresh_read *read;

	assert_true(index < action->fresh_reads_count);
	read = action->fresh_reads[index];
	assert_int_equal(read->size, sizeof(*read));
	assert_int_equal(read->role, role);
	assert_string_equal(read->kind, kind);
	assert_string_equal(read->name, name);
	assert_non_null(read->api_version);
}

static void a_new_job_reads_itself_before_its_launcher(void **state)
{
	const struct mpijob_action *action;
	struct plan_cluster fake;
	mpijob_plan *plan;

	(void)state;
	begin(&fake);
	plan = plan_cluster_plan(&fake, fake.facts);
	action = find(plan, MPIJOB_ACTION_CREATE, MPIJOB_ROLE_LAUNCHER);
	assert_non_null(action);
	assert_int_equal(action->fresh_reads_count, 1);
	check_read(action, 0, 0, "MPIJob", "pi");
	assert_string_equal(action->fresh_reads[0]->uid,
	    plan_cluster_text(fake.job, "metadata.uid"));
	assert_null(action->difference);
	action = find(plan, MPIJOB_ACTION_CREATE, MPIJOB_ROLE_WORKER);
	assert_int_equal(action->fresh_reads_count, 0);
	action = find(plan, MPIJOB_ACTION_CREATE, MPIJOB_ROLE_SERVICE);
	assert_int_equal(action->fresh_reads_count, 0);
	mpijob_plan_free(plan);
	plan_cluster_end(&fake);
}

static void a_worker_that_is_recreated_needs_the_secret(void **state)
{
	const struct mpijob_action *action;
	struct plan_cluster fake;
	mpijob_plan *plan;

	(void)state;
	run(&fake);
	plan_cluster_delete(&fake, plan_cluster_find(&fake, "Pod", "pi-worker-1"));
	plan = plan_cluster_plan(&fake, fake.facts);
	action = find(plan, MPIJOB_ACTION_CREATE, MPIJOB_ROLE_WORKER);
	assert_non_null(action);
	assert_int_equal(action->fresh_reads_count, 1);
	check_read(action, 0, MPIJOB_ROLE_SECRET, "Secret", "pi-ssh");
	assert_string_equal(action->fresh_reads[0]->uid,
	    plan_cluster_text(plan_cluster_find(&fake, "Secret", "pi-ssh")->doc, "metadata.uid"));
	mpijob_plan_free(plan);
	plan_cluster_end(&fake);
}

static void a_scale_down_reads_the_job(void **state)
{
	const struct mpijob_action *action;
	struct plan_cluster fake;
	mpijob_plan *plan;

	(void)state;
	run(&fake);
	plan_cluster_change_job(&fake, "{spec: {mpiReplicaSpecs: {Worker: {replicas: 1}}}}");
	plan = plan_cluster_plan(&fake, fake.facts);
	action = find(plan, MPIJOB_ACTION_DELETE, MPIJOB_ROLE_WORKER);
	assert_non_null(action);
	assert_int_equal(action->fresh_reads_count, 1);
	check_read(action, 0, 0, "MPIJob", "pi");
	assert_string_equal(action->difference, "scale-down-by-name");
	mpijob_plan_free(plan);
	plan_cluster_end(&fake);
}

static void a_missing_launcher_is_read(void **state)
{
	const struct mpijob_action *action;
	struct plan_cluster fake;
	mpijob_plan *plan;

	(void)state;
	run(&fake);
	plan_cluster_delete(&fake, plan_cluster_job(&fake));
	fake.now_ms += AN_HOUR_MS;
	plan = plan_cluster_plan(&fake, fake.facts);
	action = find(plan, MPIJOB_ACTION_PATCH_STATUS, 0);
	assert_non_null(action);
	assert_int_equal(action->fresh_reads_count, 1);
	check_read(action, 0, MPIJOB_ROLE_LAUNCHER, "Job", "pi-launcher");
	assert_null(action->fresh_reads[0]->uid);
	assert_string_equal(action->difference, "launcher-not-made-twice");
	mpijob_plan_free(plan);
	plan_cluster_end(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_job_reads_itself_before_its_launcher),
		cmocka_unit_test(a_worker_that_is_recreated_needs_the_secret),
		cmocka_unit_test(a_scale_down_reads_the_job),
		cmocka_unit_test(a_missing_launcher_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

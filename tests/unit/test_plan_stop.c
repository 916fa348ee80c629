/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher Job that is to stop may have ended, unseen: a plan of yesterday's news does nothing to
 * it. */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void plan_all(struct fake *fake)
{
	for (size_t count = 1; count;) {
		mpijob_plan *plan = fake_plan(fake, fake->facts);

		count = mpijob_plan_count(plan);
		NEED(!fake_act_all(fake, plan));
		mpijob_plan_free(plan);
	}
}

/* A job that runs. */
static void begin(struct fake *fake)
{
	static const char text[] =
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: {mpiReplicaSpecs: "
	    "{Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}}}}";
	mpijob_doc *job = NULL;

	NEED(!mpijob_doc_parse(text, sizeof(text) - 1, NULL, &job, NULL));
	fake_begin(fake, job);
	plan_all(fake);
	NEED(fake_job_controller(fake));
	fake_pod_runs(fake, "pi-worker-0");
	fake_pod_runs(fake, "pi-launcher-0");
	plan_all(fake);
}

static const struct mpijob_condition *condition(const mpijob_plan *plan, const char *type)
{
	const struct mpijob_status *status = mpijob_plan_status(plan);

	for (size_t i = 0; i < status->conditions_count; i++) {
		if (strcmp(status->conditions[i]->type, type) == 0)
			return status->conditions[i];
	}
	return NULL;
}

static void one_that_ended_unseen_is_not_suspended(void **state)
{
	struct fake fake;
	mpijob_plan *plan;

	(void)state;
	begin(&fake);
	fake_change_job(&fake, "{spec: {runPolicy: {suspend: true}}}");
	plan = fake_plan(&fake, fake.facts);
	fake_launcher_succeeded(&fake);
	assert_int_equal(fake_act_all(&fake, plan), MPIJOB_ERR_CONFLICT);
	assert_false(fake_bool(fake_job(&fake)->doc, "spec.suspend"));
	assert_non_null(fake_find(&fake, "Pod", "pi-worker-0"));
	mpijob_plan_free(plan);

	plan = fake_plan(&fake, fake.facts);
	assert_non_null(condition(plan, "Succeeded"));
	mpijob_plan_free(plan);
	fake_end(&fake);
}

/* Whoever feeds facts need not know the version: then the Job is stopped as it is. */
static void one_whose_version_is_not_known_is_suspended(void **state)
{
	struct mpijob_launcher_facts known;
	struct fake fake;
	mpijob_plan *plan;

	(void)state;
	begin(&fake);
	fake_change_job(&fake, "{spec: {runPolicy: {suspend: true}}}");
	known = *mpijob_facts_launcher(fake.facts);
	known.resource_version = NULL;
	NEED(mpijob_facts_put_launcher(fake.facts, &known) == 1);
	plan = fake_plan(&fake, fake.facts);
	fake_set(&fake_job(&fake)->doc, "{metadata: {resourceVersion: \"%ld\"}}", ++fake.version);
	assert_int_equal(fake_act_all(&fake, plan), 0);
	assert_true(fake_bool(fake_job(&fake)->doc, "spec.suspend"));
	mpijob_plan_free(plan);
	fake_end(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_ended_unseen_is_not_suspended),
		cmocka_unit_test(one_whose_version_is_not_known_is_suspended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

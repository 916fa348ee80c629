/* SPDX-License-Identifier: Apache-2.0 */
/* What features of the plan ask of an operator: deletions of the job and of its launcher's pods,
 * and a restart. */
#include "../support/operator_fixture.h"

static struct mpijob_features features;
static struct mpijob_render_options render;

static void begin(struct operator_fixture *fixture)
{
	set_up_server(fixture);
	render = (struct mpijob_render_options)MPIJOB_RENDER_OPTIONS_INIT;
	render.features = &features;
	fixture->options.render = &render;
	start_operator(fixture);
}

static struct fake_object *launcher_of(struct operator_fixture *fixture)
{
	return fake_find(&fixture->fake, LAUNCHERS, "team", "pi-launcher");
}

/* The Job controller makes the launcher's pod. */
static void launcher_runs(struct operator_fixture *fixture)
{
	char *yaml = fake_text(
	    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pi-launcher-x\n  labels:\n"
	    "    training.kubeflow.org/operator-name: mpi-operator\n    "
	    "training.kubeflow.org/job-name: pi\n"
	    "    training.kubeflow.org/job-role: launcher\n  ownerReferences:\n"
	    "  - {apiVersion: batch/v1, kind: Job, name: pi-launcher, controller: true, uid: %s}\n"
	    "status: {phase: Running}\n",
	    fake_string(launcher_of(fixture), "metadata.uid"));

	fake_put(&fixture->fake, PODS, "team", yaml);
	fake_patch(&fixture->fake, launcher_of(fixture),
	    "status: {active: 1, startTime: '2020-11-21T12:00:00Z'}");
	free(yaml);
}

static struct fake_object *a_running_job(struct operator_fixture *fixture, const char *policy)
{
	struct fake_object *job = put_job(fixture, "team", "pi", 2, policy);

	operator_run(fixture, 400);
	run_pods(fixture);
	launcher_runs(fixture);
	operator_run(fixture, 400);
	assert_true(is_true(job, "Running"));
	return job;
}

static void the_job_goes_after_its_time(void **state)
{
	struct operator_fixture fixture;
	size_t requests;

	(void)state;
	features = (struct mpijob_features){ .size = sizeof(features),
		.ttl_deletes_job = 1,
		.clean_launcher = 1 };
	begin(&fixture);
	a_running_job(&fixture, "cleanPodPolicy: All, ttlSecondsAfterFinished: 60");
	fake_patch(&fixture.fake, launcher_of(&fixture),
	    "status: {active: 0, succeeded: 1, completionTime: '2020-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	operator_run(&fixture, 600);
	assert_int_equal(fake_objects(&fixture.fake, JOBS), 0);
	assert_int_equal(fake_count(&fixture.fake,
			     "DELETE /apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/pi"),
	    1);
	assert_int_equal(fake_count(&fixture.fake,
			     "DELETE /api/v1/namespaces/team/pods/pi-launcher-x"),
	    1);
	requests = fixture.fake.log_count;
	operator_run(&fixture, 100);
	assert_int_equal(fixture.fake.log_count, requests);
	operator_tear_down(&fixture);
}

static void the_job_stays_without_the_feature(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	features = (struct mpijob_features)MPIJOB_FEATURES_INIT;
	begin(&fixture);
	a_running_job(&fixture, "cleanPodPolicy: All, ttlSecondsAfterFinished: 60");
	fake_patch(&fixture.fake, launcher_of(&fixture),
	    "status: {active: 0, succeeded: 1, completionTime: '2020-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	operator_run(&fixture, 600);
	assert_int_equal(fake_objects(&fixture.fake, JOBS), 1);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 1);
	operator_tear_down(&fixture);
}

static void a_gang_begins_again(void **state)
{
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	features = (struct mpijob_features){ .size = sizeof(features), .restart_gang = 1 };
	begin(&fixture);
	job = a_running_job(&fixture, "cleanPodPolicy: All");
	fake_patch(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-1"),
	    "status: {phase: Failed, reason: Evicted}");
	operator_run(&fixture, 400);
	assert_string_equal(condition(job, "Failed"), "absent");
	assert_true(is_true(job, "Restarting"));
	assert_string_equal(condition(job, "Running"), "False");
	/* the launcher's, until the Job controller has deleted it */
	assert_int_equal(fake_objects(&fixture.fake, PODS), 1);
	assert_string_equal(fake_string(job, "status.conditions[1].reason"), "MPIJobRestarting");

	/* Whoever takes over in the middle goes on. */
	mpijob_operator_free(fixture.operator_);
	start_operator(&fixture);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-launcher-x"));
	fake_patch(&fixture.fake, launcher_of(&fixture), "status: {active: 0}");
	operator_run(&fixture, 600);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 2);
	run_pods(&fixture);
	launcher_runs(&fixture);
	operator_run(&fixture, 400);
	assert_true(is_true(job, "Running"));
	assert_string_equal(condition(job, "Restarting"), "False");
	assert_int_equal(fake_count(&fixture.fake, "POST /api/v1/namespaces/team/pods"), 4);

	/* That was the one restart. */
	fake_patch(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-0"),
	    "status: {phase: Failed, reason: Evicted}");
	operator_run(&fixture, 400);
	assert_true(is_true(job, "Failed"));
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_job_goes_after_its_time),
		cmocka_unit_test(the_job_stays_without_the_feature),
		cmocka_unit_test(a_gang_begins_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

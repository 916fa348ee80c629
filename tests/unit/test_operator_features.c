/* SPDX-License-Identifier: Apache-2.0 */
/* What features of the plan ask of an operator: deletions of the job and of its launcher's pods,
 * and a restart. */
#include "../support/operator_rig.h"

static struct mpijob_features features;
static struct mpijob_render_options render;

static void begin(struct rig *rig)
{
	set_up_server(rig);
	render = (struct mpijob_render_options)MPIJOB_RENDER_OPTIONS_INIT;
	render.features = &features;
	rig->options.render = &render;
	start_operator(rig);
}

static struct fake_object *launcher_of(struct rig *rig)
{
	return fake_find(&rig->fake, LAUNCHERS, "team", "pi-launcher");
}

/* The Job controller makes the launcher's pod. */
static void launcher_runs(struct rig *rig)
{
	char *yaml = fake_text(
	    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pi-launcher-x\n  labels:\n"
	    "    training.kubeflow.org/operator-name: mpi-operator\n    "
	    "training.kubeflow.org/job-name: pi\n"
	    "    training.kubeflow.org/job-role: launcher\n  ownerReferences:\n"
	    "  - {apiVersion: batch/v1, kind: Job, name: pi-launcher, controller: true, uid: %s}\n"
	    "status: {phase: Running}\n",
	    fake_string(launcher_of(rig), "metadata.uid"));

	fake_put(&rig->fake, PODS, "team", yaml);
	fake_patch(&rig->fake, launcher_of(rig),
	    "status: {active: 1, startTime: '2020-11-21T12:00:00Z'}");
	free(yaml);
}

static struct fake_object *a_running_job(struct rig *rig, const char *policy)
{
	struct fake_object *job = put_job(rig, "team", "pi", 2, policy);

	run(rig, 400);
	run_pods(rig);
	launcher_runs(rig);
	run(rig, 400);
	assert_true(is_true(job, "Running"));
	return job;
}

static void the_job_goes_after_its_time(void **state)
{
	struct rig rig;
	size_t requests;

	(void)state;
	features = (struct mpijob_features){ .size = sizeof(features),
		.ttl_deletes_job = 1,
		.clean_launcher = 1 };
	begin(&rig);
	a_running_job(&rig, "cleanPodPolicy: All, ttlSecondsAfterFinished: 60");
	fake_patch(&rig.fake, launcher_of(&rig),
	    "status: {active: 0, succeeded: 1, completionTime: '2020-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	run(&rig, 600);
	assert_int_equal(fake_objects(&rig.fake, JOBS), 0);
	assert_int_equal(fake_count(&rig.fake,
			     "DELETE /apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/pi"),
	    1);
	assert_int_equal(fake_count(&rig.fake, "DELETE /api/v1/namespaces/team/pods/pi-launcher-x"),
	    1);
	requests = rig.fake.log_count;
	run(&rig, 100);
	assert_int_equal(rig.fake.log_count, requests);
	tear_down(&rig);
}

static void the_job_stays_without_the_feature(void **state)
{
	struct rig rig;

	(void)state;
	features = (struct mpijob_features)MPIJOB_FEATURES_INIT;
	begin(&rig);
	a_running_job(&rig, "cleanPodPolicy: All, ttlSecondsAfterFinished: 60");
	fake_patch(&rig.fake, launcher_of(&rig),
	    "status: {active: 0, succeeded: 1, completionTime: '2020-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	run(&rig, 600);
	assert_int_equal(fake_objects(&rig.fake, JOBS), 1);
	assert_int_equal(fake_objects(&rig.fake, PODS), 1);
	tear_down(&rig);
}

static void a_gang_begins_again(void **state)
{
	struct fake_object *job;
	struct rig rig;

	(void)state;
	features = (struct mpijob_features){ .size = sizeof(features), .restart_gang = 1 };
	begin(&rig);
	job = a_running_job(&rig, "cleanPodPolicy: All");
	fake_patch(&rig.fake, fake_find(&rig.fake, PODS, "team", "pi-worker-1"),
	    "status: {phase: Failed, reason: Evicted}");
	run(&rig, 400);
	assert_string_equal(condition(job, "Failed"), "absent");
	assert_true(is_true(job, "Restarting"));
	assert_string_equal(condition(job, "Running"), "False");
	/* the launcher's, until the Job controller has deleted it */
	assert_int_equal(fake_objects(&rig.fake, PODS), 1);
	assert_string_equal(fake_string(job, "status.conditions[1].reason"), "MPIJobRestarting");

	/* Whoever takes over in the middle goes on. */
	mpijob_operator_free(rig.operator_);
	start_operator(&rig);
	fake_delete(&rig.fake, fake_find(&rig.fake, PODS, "team", "pi-launcher-x"));
	fake_patch(&rig.fake, launcher_of(&rig), "status: {active: 0}");
	run(&rig, 600);
	assert_int_equal(fake_objects(&rig.fake, PODS), 2);
	run_pods(&rig);
	launcher_runs(&rig);
	run(&rig, 400);
	assert_true(is_true(job, "Running"));
	assert_string_equal(condition(job, "Restarting"), "False");
	assert_int_equal(fake_count(&rig.fake, "POST /api/v1/namespaces/team/pods"), 4);

	/* That was the one restart. */
	fake_patch(&rig.fake, fake_find(&rig.fake, PODS, "team", "pi-worker-0"),
	    "status: {phase: Failed, reason: Evicted}");
	run(&rig, 400);
	assert_true(is_true(job, "Failed"));
	tear_down(&rig);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The typed structs: read from a job, written to one, older and newer ones, and what they must not
 * touch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/job.h>

#include "job/job.h"

#define HEAD "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: pi\n"

static const char full[] =
    HEAD "  extra: stays\n"
	 "spec:\n"
	 "  slotsPerWorker: 2.0\n"
	 "  runLauncherAsWorker: true\n"
	 "  spice: salt\n"
	 "  runPolicy:\n"
	 "    cleanPodPolicy: Running\n"
	 "    ttlSecondsAfterFinished: 60\n"
	 "    activeDeadlineSeconds: 5000000000\n"
	 "    backoffLimit: 0\n"
	 "    suspend: false\n"
	 "    managedBy: kubeflow.org/mpi-operator\n"
	 "    spice: pepper\n"
	 "    schedulingPolicy:\n"
	 "      minAvailable: 3\n"
	 "      queue: gold\n"
	 "      minResources: {cpu: 3000m}\n"
	 "      priorityClass: high\n"
	 "      scheduleTimeoutSeconds: 180\n"
	 "      spice: mace\n"
	 "  mpiReplicaSpecs:\n"
	 "    Coordinator: {replicas: 1}\n"
	 "    Launcher:\n"
	 "      replicas: 1\n"
	 "      spice: sage\n"
	 "      restartPolicy: OnFailure\n"
	 "      template: {spec: {containers: [{name: l, image: i}]}}\n"
	 "    Worker:\n"
	 "      replicas: 4\n"
	 "      restartPolicy: Never\n"
	 "      template: {spec: {containers: [{name: w, image: i}]}}\n"
	 "  sshAuthMountPath: /home/mpi/.ssh\n"
	 "  launcherCreationPolicy: WaitForWorkersReady\n"
	 "  mpiImplementation: MPICH\n"
	 "status:\n"
	 "  spice: thyme\n"
	 "  conditions:\n"
	 "  - {type: Created, status: 'True', reason: MPIJobCreated, message: m, spice: dill,\n"
	 "     lastUpdateTime: '2019-07-09T22:15:51Z', lastTransitionTime: "
	 "'2019-07-10T00:15:52+02:00'}\n"
	 "  - {type: Running, status: 'False'}\n"
	 "  - {type: Odd, status: Perhaps}\n"
	 "  replicaStatuses:\n"
	 "    Launcher: {active: 1, failed: 2, selector: a=b}\n"
	 "    Worker: {succeeded: 3}\n"
	 "  startTime: '2019-07-09T22:15:51Z'\n"
	 "  completionTime: '2019-07-09T22:17:06.5Z'\n"
	 "  lastReconcileTime: '2019-07-09T22:17:06Z'\n";

static mpijob *parse(const char *text)
{
	mpijob *job = NULL;

	assert_int_equal(mpijob_parse(text, strlen(text), NULL, &job, NULL), 0);
	return job;
}

static const mpijob_node *at(const mpijob *job, const char *path)
{
	return mpijob_node_find(mpijob_doc_root(mpijob_document(job)), path);
}

static char *yaml_of(const mpijob *job)
{
	mpijob_text *text = mpijob_text_new();
	char *copy;

	assert_int_equal(mpijob_node_write(mpijob_doc_root(mpijob_document(job)),
			     MPIJOB_FORMAT_YAML, mpijob_text_write, text),
	    0);
	copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	return copy;
}

static void assert_text(const mpijob *job, const char *path, const char *expected)
{
	const mpijob_node *node = at(job, path);

	if (!expected) {
		assert_null(node);
		return;
	}
	assert_non_null(node);
	assert_string_equal(mpijob_node_text(node), expected);
}

static void reads_the_spec(void **state)
{
	mpijob *job = parse(full);
	const struct mpijob_spec *spec = NULL, *again = NULL;
	const struct mpijob_run_policy *policy;
	const struct mpijob_scheduling_policy *gang;

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &spec, NULL), 0);
	assert_int_equal(spec->size, sizeof(*spec));
	assert_int_equal(*spec->slots_per_worker, 2);
	assert_int_equal(*spec->run_launcher_as_worker, 1);
	assert_string_equal(spec->ssh_auth_mount_path, "/home/mpi/.ssh");
	assert_int_equal(spec->launcher_creation_policy, MPIJOB_LAUNCHER_WAIT_FOR_WORKERS_READY);
	assert_int_equal(spec->mpi_implementation, MPIJOB_MPICH);
	policy = spec->run_policy;
	assert_int_equal(policy->size, sizeof(*policy));
	assert_int_equal(policy->clean_pod_policy, MPIJOB_CLEAN_POD_RUNNING);
	assert_int_equal(*policy->ttl_seconds_after_finished, 60);
	assert_true(*policy->active_deadline_seconds == INT64_C(5000000000));
	assert_int_equal(*policy->backoff_limit, 0);
	assert_int_equal(*policy->suspend, 0);
	assert_string_equal(policy->managed_by, "kubeflow.org/mpi-operator");
	gang = policy->scheduling_policy;
	assert_int_equal(*gang->min_available, 3);
	assert_string_equal(gang->queue, "gold");
	assert_ptr_equal(gang->min_resources,
	    at(job, "spec.runPolicy.schedulingPolicy.minResources"));
	assert_string_equal(gang->priority_class, "high");
	assert_int_equal(*gang->schedule_timeout_seconds, 180);
	assert_int_equal(*spec->launcher->replicas, 1);
	assert_int_equal(spec->launcher->restart_policy, MPIJOB_RESTART_ON_FAILURE);
	assert_ptr_equal(spec->launcher->pod_template,
	    mpijob__job_template(job, MPIJOB__JOB_LAUNCHER));
	assert_int_equal(*spec->worker->replicas, 4);
	assert_int_equal(spec->worker->restart_policy, MPIJOB_RESTART_NEVER);
	assert_ptr_equal(spec->worker->pod_template, mpijob__job_template(job, MPIJOB__JOB_WORKER));
	assert_int_equal(mpijob_spec_get(job, &again, NULL), 0);
	assert_ptr_equal(again, spec);
	mpijob_free(job);
}

static void reads_the_status(void **state)
{
	mpijob *job = parse(full);
	const struct mpijob_status *status = NULL;

	(void)state;
	assert_int_equal(mpijob_status_get(job, &status, NULL), 0);
	assert_int_equal(status->conditions_count, 3);
	assert_string_equal(status->conditions[0]->type, "Created");
	assert_int_equal(status->conditions[0]->status, MPIJOB_CONDITION_TRUE);
	assert_string_equal(status->conditions[0]->reason, "MPIJobCreated");
	assert_string_equal(status->conditions[0]->message, "m");
	assert_true(*status->conditions[0]->last_update_time == 1562710551);
	assert_true(*status->conditions[0]->last_transition_time == 1562710552);
	assert_int_equal(status->conditions[1]->status, MPIJOB_CONDITION_FALSE);
	assert_null(status->conditions[1]->last_update_time);
	assert_int_equal(status->conditions[2]->status, MPIJOB_OTHER);
	assert_int_equal(status->launcher->active, 1);
	assert_int_equal(status->launcher->succeeded, 0);
	assert_int_equal(status->launcher->failed, 2);
	assert_int_equal(status->worker->succeeded, 3);
	assert_true(*status->start_time == 1562710551);
	assert_true(*status->completion_time == 1562710626);
	mpijob_free(job);
}

static void absent_and_null_are_nothing(void **state)
{
	mpijob *job =
	    parse(HEAD "spec: {slotsPerWorker: null, mpiImplementation: '', runPolicy: null, "
		       "mpiReplicaSpecs: {Launcher: null, Worker: {template: null}}}");
	const struct mpijob_spec *spec = NULL;
	const struct mpijob_status *status = NULL;

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &spec, NULL), 0);
	assert_null(spec->slots_per_worker);
	assert_int_equal(spec->mpi_implementation, 0);
	assert_null(spec->run_policy);
	assert_null(spec->launcher);
	assert_non_null(spec->worker);
	assert_null(spec->worker->pod_template);
	assert_null(mpijob__job_template(job, MPIJOB__JOB_WORKER));
	assert_int_equal(mpijob_status_get(job, &status, NULL), 0);
	assert_int_equal(status->size, sizeof(*status));
	assert_null(status->conditions);
	mpijob_free(job);
}

static void all_wrong_types_at_once(void **state)
{
	mpijob *job = parse(HEAD
	    "spec:\n  slotsPerWorker: '2'\n  runPolicy: {suspend: 1, backoffLimit: 3000000000}\n"
	    "  mpiReplicaSpecs:\n    Worker: []\n");
	const struct mpijob_spec *spec = (const struct mpijob_spec *)&job;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &spec, diag), MPIJOB_ERR_SPEC);
	assert_ptr_equal(spec, &job);
	assert_int_equal(mpijob_diag_count(diag, 0), 4);
	assert_string_equal(mpijob_diag_at(diag, 0)->field, "spec.mpiReplicaSpecs[Worker]");
	assert_string_equal(mpijob_diag_at(diag, 1)->field, "spec.slotsPerWorker");
	assert_string_equal(mpijob_diag_at(diag, 1)->reason, "TypeInvalid");
	assert_int_equal(mpijob_diag_at(diag, 1)->line, 6);
	assert_int_equal(mpijob_diag_at(diag, 1)->column, 19);
	assert_int_equal(mpijob_spec_get(job, &spec, NULL), MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_spec_get(NULL, &spec, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_spec_get(job, NULL, NULL), MPIJOB_ERR_USAGE);
	mpijob_diag_free(diag);
	mpijob_free(job);
}

/* Storing what was read changes nothing: no spelling, no order, no unknown key. */
static void own_view_changes_nothing(void **state)
{
	mpijob *job = parse(full);
	const struct mpijob_spec *spec = NULL;
	const struct mpijob_status *status = NULL;
	char *before = yaml_of(job), *after;
	int32_t line;

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &spec, NULL), 0);
	assert_int_equal(mpijob_spec_set(job, spec, NULL), 0);
	assert_int_equal(mpijob_status_get(job, &status, NULL), 0);
	assert_int_equal(mpijob_status_set(job, status, NULL), 0);
	after = yaml_of(job);
	assert_string_equal(after, before);
	mpijob_node_place(at(job, "spec.slotsPerWorker"), &line, NULL);
	assert_int_equal(line, 7);
	free(before);
	free(after);
	mpijob_free(job);
}

/* Entries of a list are known by a key that may be missing, or be there twice. */
static void own_view_of_odd_entries(void **state)
{
	mpijob *job = parse("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: "
			    "pi}\nstatus:\n  conditions:\n"
			    "  - {status: Maybe, more: 1}\n  - {type: A, status: 'True', more: 2}\n"
			    "  - {type: A, status: Perhaps, more: 3}\n  - {more: 4}\n");
	const struct mpijob_status *status = NULL;
	char *before = yaml_of(job), *after;

	(void)state;
	assert_int_equal(mpijob_status_get(job, &status, NULL), 0);
	assert_int_equal(mpijob_status_set(job, status, NULL), 0);
	after = yaml_of(job);
	assert_string_equal(after, before);
	free(before);
	free(after);
	mpijob_free(job);
}

static void changes_through_the_own_view(void **state)
{
	mpijob *job = parse(full);
	const struct mpijob_spec *view = NULL;
	struct mpijob_spec spec;
	struct mpijob_run_policy policy;
	const int32_t on = 1;

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &view, NULL), 0);
	spec = *view;
	policy = *view->run_policy;
	policy.suspend = &on;
	policy.scheduling_policy = NULL;
	spec.run_policy = &policy;
	spec.launcher_creation_policy = 0;
	assert_int_equal(mpijob_spec_set(job, &spec, NULL), 0);
	assert_int_equal(mpijob_node_kind(at(job, "spec.runPolicy.suspend")), MPIJOB_NODE_BOOL);
	assert_null(at(job, "spec.runPolicy.schedulingPolicy"));
	assert_null(at(job, "spec.launcherCreationPolicy"));
	assert_text(job, "spec.spice", "salt");
	assert_text(job, "spec.runPolicy.spice", "pepper");
	assert_text(job, "spec.mpiReplicaSpecs[Launcher].spice", "sage");
	assert_text(job, "spec.mpiReplicaSpecs[Coordinator].replicas", "1");
	assert_text(job, "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].name", "l");
	mpijob_free(job);
}

/* A whole job from structs alone, read back member by member through a parse of its own text. */
static void from_structs_alone(void **state)
{
	const int32_t slots = 2, one = 1, workers = 4, timeout = 180, backoff = 0, yes = 5;
	const int64_t deadline = INT64_C(5000000000);
	mpijob_doc *template = NULL;
	struct mpijob_scheduling_policy gang = MPIJOB_SCHEDULING_POLICY_INIT;
	struct mpijob_run_policy policy = MPIJOB_RUN_POLICY_INIT;
	struct mpijob_replica_spec launcher = MPIJOB_REPLICA_SPEC_INIT,
				   worker = MPIJOB_REPLICA_SPEC_INIT;
	struct mpijob_spec spec = MPIJOB_SPEC_INIT;
	const struct mpijob_spec *view = NULL;
	static const char text[] = "spec: {containers: [{name: c, image: i}]}";
	mpijob *job = NULL, *parsed;
	char *yaml;

	(void)state;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &template, NULL), 0);
	gang.queue = "gold";
	gang.schedule_timeout_seconds = &timeout;
	policy.active_deadline_seconds = &deadline;
	policy.backoff_limit = &backoff;
	policy.suspend = &yes;
	policy.clean_pod_policy = MPIJOB_CLEAN_POD_ALL;
	policy.scheduling_policy = &gang;
	launcher.replicas = &one;
	launcher.pod_template = worker.pod_template = mpijob_doc_root(template);
	worker.replicas = &workers;
	worker.restart_policy = MPIJOB_RESTART_ON_FAILURE;
	spec.slots_per_worker = &slots;
	spec.launcher = &launcher;
	spec.worker = &worker;
	spec.run_policy = &policy;
	spec.mpi_implementation = MPIJOB_INTEL;
	assert_int_equal(mpijob_new("pi", "lab", &spec, &job, NULL), 0);
	mpijob_doc_free(template);
	assert_string_equal(mpijob_name(job), "pi");
	assert_string_equal(mpijob_namespace(job), "lab");
	assert_null(mpijob_uid(job));
	yaml = yaml_of(job);
	parsed = parse(yaml);
	assert_int_equal(mpijob_spec_get(parsed, &view, NULL), 0);
	assert_int_equal(*view->slots_per_worker, 2);
	assert_int_equal(*view->worker->replicas, 4);
	assert_int_equal(view->worker->restart_policy, MPIJOB_RESTART_ON_FAILURE);
	assert_int_equal(view->run_policy->clean_pod_policy, MPIJOB_CLEAN_POD_ALL);
	assert_int_equal(*view->run_policy->suspend, 1);
	assert_int_equal(*view->run_policy->backoff_limit, 0);
	assert_true(*view->run_policy->active_deadline_seconds == deadline);
	assert_int_equal(*view->run_policy->scheduling_policy->schedule_timeout_seconds, 180);
	assert_int_equal(view->mpi_implementation, MPIJOB_INTEL);
	assert_int_equal(mpijob_default(parsed, NULL, NULL), 0);
	assert_int_equal(mpijob_validate(parsed, NULL, NULL), 0);
	free(yaml);
	mpijob_free(parsed);
	mpijob_free(job);
	assert_int_equal(mpijob_new("pi", NULL, NULL, &job, NULL), 0);
	assert_null(at(job, "spec.mpiReplicaSpecs"));
	assert_null(mpijob_namespace(job));
	mpijob_free(job);
	assert_int_equal(mpijob_new(NULL, NULL, NULL, &job, NULL), MPIJOB_ERR_USAGE);
}

/* A copy on the heap of exactly `size` bytes, so that a look past it is caught. */
static void *older(const void *from, size_t size)
{
	void *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, from, size);
	memcpy(copy, &size, sizeof(size));
	return copy;
}

/* Every size that an older spec could have had: what is inside is removed, what is past it
 * stays. */
/* Text that is not UTF-8 is refused, and nothing changes. */
static void only_utf8(void **state)
{
	static const char *const bad[] = { "\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80" };
	struct mpijob_spec spec = MPIJOB_SPEC_INIT;
	struct mpijob_scheduling_policy gang = MPIJOB_SCHEDULING_POLICY_INIT;
	struct mpijob_run_policy policy = MPIJOB_RUN_POLICY_INIT;
	struct mpijob_condition condition = MPIJOB_CONDITION_INIT;
	const struct mpijob_condition *conditions[] = { &condition };
	struct mpijob_status status = MPIJOB_STATUS_INIT;

	(void)state;
	policy.scheduling_policy = &gang;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		mpijob *job = NULL;

		spec = (struct mpijob_spec)MPIJOB_SPEC_INIT;
		spec.ssh_auth_mount_path = bad[i];
		assert_int_equal(mpijob_new(bad[i], NULL, NULL, &job, NULL), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_new("a", bad[i], NULL, &job, NULL), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_new("a", NULL, &spec, &job, NULL), MPIJOB_ERR_USAGE);
		assert_null(job);
		assert_int_equal(mpijob_new("a", "b", NULL, &job, NULL), 0);
		assert_int_equal(mpijob_identify(job, bad[i], NULL, NULL), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_identify(job, NULL, NULL, bad[i]), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_spec_set(job, &spec, NULL), MPIJOB_ERR_USAGE);
		spec.ssh_auth_mount_path = NULL;
		spec.run_policy = &policy;
		gang.queue = bad[i];
		assert_int_equal(mpijob_spec_set(job, &spec, NULL), MPIJOB_ERR_USAGE);
		condition.message = bad[i];
		status.conditions = conditions;
		status.conditions_count = 1;
		assert_int_equal(mpijob_status_set(job, &status, NULL), MPIJOB_ERR_USAGE);
		assert_string_equal(mpijob_name(job), "a");
		assert_null(mpijob_uid(job));
		assert_null(
		    mpijob_node_find(mpijob_doc_root(mpijob_document(job)), "status.conditions"));
		mpijob_free(job);
	}
}

static void older_spec(void **state)
{
	static const struct {
		const char *path;
		size_t end;
	} members[] = {
		{ "spec.slotsPerWorker", offsetof(struct mpijob_spec, run_launcher_as_worker) },
		{ "spec.runLauncherAsWorker", offsetof(struct mpijob_spec, run_policy) },
		{ "spec.runPolicy", offsetof(struct mpijob_spec, launcher) },
		{ "spec.mpiReplicaSpecs[Launcher]", offsetof(struct mpijob_spec, worker) },
		{ "spec.mpiReplicaSpecs[Worker]",
		    offsetof(struct mpijob_spec, ssh_auth_mount_path) },
		{ "spec.sshAuthMountPath", offsetof(struct mpijob_spec, launcher_creation_policy) },
		{ "spec.launcherCreationPolicy", offsetof(struct mpijob_spec, mpi_implementation) },
		{ "spec.mpiImplementation", sizeof(struct mpijob_spec) },
	};
	const struct mpijob_spec empty = MPIJOB_SPEC_INIT;

	(void)state;
	for (size_t size = sizeof(size_t); size <= sizeof(empty); size++) {
		mpijob *job = parse(full);
		void *spec = older(&empty, size);

		assert_int_equal(mpijob_spec_set(job, spec, NULL), 0);
		for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			assert_int_equal(at(job, members[i].path) != NULL, members[i].end > size);
		assert_text(job, "spec.spice", "salt");
		assert_text(job, "spec.mpiReplicaSpecs[Coordinator].replicas", "1");
		free(spec);
		mpijob_free(job);
	}
}

/* The same in nested structs: only queue is known to this caller of two levels. */
static void older_nested(void **state)
{
	mpijob *job = parse(full);
	struct mpijob_scheduling_policy gang = MPIJOB_SCHEDULING_POLICY_INIT;
	struct mpijob_run_policy policy = MPIJOB_RUN_POLICY_INIT;
	struct mpijob_spec spec = MPIJOB_SPEC_INIT;
	void *old_gang, *old_policy, *old_spec;

	(void)state;
	gang.queue = "silver";
	old_gang = older(&gang, offsetof(struct mpijob_scheduling_policy, min_resources));
	policy.scheduling_policy = old_gang;
	old_policy = older(&policy, offsetof(struct mpijob_run_policy, suspend));
	spec.run_policy = old_policy;
	old_spec = older(&spec, offsetof(struct mpijob_spec, launcher));
	assert_int_equal(mpijob_spec_set(job, old_spec, NULL), 0);
	assert_text(job, "spec.runPolicy.schedulingPolicy.queue", "silver");
	assert_text(job, "spec.runPolicy.schedulingPolicy.minAvailable", NULL);
	assert_text(job, "spec.runPolicy.schedulingPolicy.priorityClass", "high");
	assert_text(job, "spec.runPolicy.schedulingPolicy.spice", "mace");
	assert_text(job, "spec.runPolicy.backoffLimit", NULL);
	assert_text(job, "spec.runPolicy.managedBy", "kubeflow.org/mpi-operator");
	assert_text(job, "spec.slotsPerWorker", NULL);
	assert_text(job, "spec.mpiReplicaSpecs[Worker].replicas", "4");
	free(old_gang);
	free(old_policy);
	free(old_spec);
	mpijob_free(job);
}

/* Lists: entries are found by their type, and keep what an older struct does not know. */
static void older_in_lists(void **state)
{
	mpijob *job = parse(full);
	struct mpijob_condition created = MPIJOB_CONDITION_INIT, failed = MPIJOB_CONDITION_INIT;
	const struct mpijob_condition *list[2];
	struct mpijob_status status = MPIJOB_STATUS_INIT;
	void *old[2], *old_status;

	(void)state;
	failed.type = "Failed";
	failed.status = MPIJOB_CONDITION_TRUE;
	created.type = "Created";
	created.status = MPIJOB_CONDITION_FALSE;
	created.reason = "Other";
	list[0] = old[0] = older(&failed, offsetof(struct mpijob_condition, reason));
	list[1] = old[1] = older(&created, offsetof(struct mpijob_condition, message));
	status.conditions = list;
	status.conditions_count = 2;
	old_status = older(&status, offsetof(struct mpijob_status, launcher));
	assert_int_equal(mpijob_status_set(job, old_status, NULL), 0);
	assert_int_equal(mpijob_node_count(at(job, "status.conditions")), 2);
	assert_text(job, "status.conditions[0].type", "Failed");
	assert_text(job, "status.conditions[0].spice", NULL);
	assert_text(job, "status.conditions[1].status", "False");
	assert_text(job, "status.conditions[1].reason", "Other");
	assert_text(job, "status.conditions[1].message", "m");
	assert_text(job, "status.conditions[1].spice", "dill");
	assert_text(job, "status.conditions[1].lastTransitionTime", "2019-07-10T00:15:52+02:00");
	assert_text(job, "status.replicaStatuses[Launcher].failed", "2");
	assert_text(job, "status.spice", "thyme");
	free(old_status);
	/* A caller that knows the list but not its count does not have it. */
	status.conditions_count = 0;
	old_status = older(&status, offsetof(struct mpijob_status, conditions_count));
	assert_int_equal(mpijob_status_set(job, old_status, NULL), 0);
	assert_int_equal(mpijob_node_count(at(job, "status.conditions")), 2);
	free(old_status);
	free(old[0]);
	free(old[1]);
	mpijob_free(job);
}

static void writes_a_status(void **state)
{
	mpijob *job = parse(HEAD);
	const int64_t start = 1562710551, far = INT64_MAX;
	struct mpijob_replica_status worker = MPIJOB_REPLICA_STATUS_INIT;
	struct mpijob_status status = MPIJOB_STATUS_INIT;

	(void)state;
	worker.active = 2;
	status.worker = &worker;
	status.start_time = &start;
	assert_int_equal(mpijob_status_set(job, &status, NULL), 0);
	assert_text(job, "status.startTime", "2019-07-09T22:15:51Z");
	assert_text(job, "status.replicaStatuses[Worker].active", "2");
	assert_null(at(job, "status.replicaStatuses[Worker].failed"));
	assert_null(at(job, "status.replicaStatuses[Launcher]"));
	assert_null(at(job, "status.conditions"));
	status.completion_time = &far;
	assert_int_equal(mpijob_status_set(job, &status, NULL), MPIJOB_ERR_USAGE);
	assert_null(at(job, "status.completionTime"));
	mpijob_free(job);
}

static void other_words_stay(void **state)
{
	mpijob *job =
	    parse(HEAD "spec: {mpiImplementation: LAM, launcherCreationPolicy: AtStartup}");
	const struct mpijob_spec *view = NULL;
	struct mpijob_spec spec;

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &view, NULL), 0);
	assert_int_equal(view->mpi_implementation, MPIJOB_OTHER);
	spec = *view;
	spec.launcher_creation_policy = MPIJOB_OTHER;
	assert_int_equal(mpijob_spec_set(job, &spec, NULL), 0);
	assert_text(job, "spec.mpiImplementation", "LAM");
	assert_text(job, "spec.launcherCreationPolicy", "AtStartup");
	mpijob_free(job);
}

/* A failure anywhere leaves the job as it was, and its views. */
static void failures_change_nothing(void **state)
{
	struct {
		struct mpijob_run_policy known;
		const void *future;
	} newer = { MPIJOB_RUN_POLICY_INIT, NULL };
	struct mpijob_spec spec = MPIJOB_SPEC_INIT;
	struct mpijob_status status = MPIJOB_STATUS_INIT;
	const struct mpijob_condition *none[1] = { NULL };
	const struct mpijob_spec *view = NULL, *again = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = parse(full);
	char *before = yaml_of(job), *after;

	(void)state;
	assert_int_equal(mpijob_spec_get(job, &view, NULL), 0);
	newer.known.size = sizeof(newer);
	newer.future = &newer;
	spec.run_policy = &newer.known;
	assert_int_equal(mpijob_spec_set(job, &spec, diag), MPIJOB_ERR_UNSUPPORTED);
	assert_string_equal(mpijob_diag_at(diag, 0)->field, "spec.runPolicy");
	newer.known.size = sizeof(size_t) - 1;
	assert_int_equal(mpijob_spec_set(job, &spec, diag), MPIJOB_ERR_USAGE);
	spec.run_policy = NULL;
	spec.size = 0;
	assert_int_equal(mpijob_spec_set(job, &spec, diag), MPIJOB_ERR_USAGE);
	spec.size = sizeof(spec);
	spec.mpi_implementation = 99;
	assert_int_equal(mpijob_spec_set(job, &spec, diag), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_spec_set(job, NULL, diag), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_spec_set(NULL, &spec, diag), MPIJOB_ERR_USAGE);
	status.conditions_count = 1;
	assert_int_equal(mpijob_status_set(job, &status, diag), MPIJOB_ERR_USAGE);
	status.conditions = none;
	assert_int_equal(mpijob_status_set(job, &status, diag), MPIJOB_ERR_USAGE);
	after = yaml_of(job);
	assert_string_equal(after, before);
	assert_int_equal(mpijob_spec_get(job, &again, NULL), 0);
	assert_ptr_equal(view, again);
	/* A longer struct whose tail is zero is fine. */
	newer.known.size = sizeof(newer);
	newer.future = NULL;
	spec.mpi_implementation = 0;
	spec.run_policy = &newer.known;
	assert_int_equal(mpijob_spec_set(job, &spec, NULL), 0);
	assert_text(job, "spec.runPolicy.spice", "pepper");
	assert_null(at(job, "spec.runPolicy.backoffLimit"));
	free(before);
	free(after);
	mpijob_diag_free(diag);
	mpijob_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_spec),
		cmocka_unit_test(reads_the_status),
		cmocka_unit_test(absent_and_null_are_nothing),
		cmocka_unit_test(all_wrong_types_at_once),
		cmocka_unit_test(own_view_changes_nothing),
		cmocka_unit_test(own_view_of_odd_entries),
		cmocka_unit_test(changes_through_the_own_view),
		cmocka_unit_test(from_structs_alone),
		cmocka_unit_test(only_utf8),
		cmocka_unit_test(older_spec),
		cmocka_unit_test(older_nested),
		cmocka_unit_test(older_in_lists),
		cmocka_unit_test(writes_a_status),
		cmocka_unit_test(other_words_stay),
		cmocka_unit_test(failures_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence about a job: what is collected, what may be missing, what the caller adds, and how the
 * task ends.
 */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

#define JOBS "/apis/kubeflow.org/v2beta1/mpijobs"
#define NAME "training.kubeflow.org/job-name: pi"
#define ROLE "training.kubeflow.org/job-role: "

struct scene {
	struct fake fake;
	mpijob_client *client;
	mpijob_diag *diag;
	const char *refused; /* part of the paths that are forbidden */
	int hold;            /* requests for pods are never answered */
};

static int decide(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	const struct scene *scene = fake->user;

	(void)method;
	if (scene->hold && strstr(path, "/pods")) {
		reply->open = 1;
		return 1;
	}
	if (scene->refused && strstr(path, scene->refused)) {
		reply->status = 403;
		reply->body = "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"no "
			      "right\\u0007\",\"code\":403}";
		return 1;
	}
	if (!strstr(path, "/log?"))
		return 0;
	reply->status = 200;
	reply->body = strstr(path, "previous=true")
			  ? "first run\n"
			  : "bash: mpirun: command not found\nlast line\n";
	return 1;
}

static int up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->client = fake_client(&scene->fake);
	scene->fake.decide = decide;
	scene->fake.user = scene;
	scene->diag = mpijob_diag_new();
	fake_put(&scene->fake, JOBS, "d",
	    "{metadata: {name: pi, uid: u}, apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: "
	    "{mpiReplicaSpecs: {Worker: {replicas: 2}}}, status: {conditions: [{type: Running, "
	    "status: 'True'}]}}");
	*state = scene;
	return 0;
}

static int down(void **state)
{
	struct scene *scene = *state;

	mpijob_client_free(scene->client);
	mpijob_diag_free(scene->diag);
	fake_release(&scene->fake);
	free(scene);
	return 0;
}

static void put_pod(struct scene *scene, const char *name, const char *role, const char *owner,
    const char *status)
{
	char *yaml = fake_text("{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {" NAME
			       ", " ROLE "%s}, ownerReferences: [{kind: MPIJob, uid: %s}]}, spec: "
			       "{containers: [{name: c}]}, status: %s}",
	    name, role, owner, status);

	fake_put(&scene->fake, "/api/v1/pods", "d", yaml);
	free(yaml);
}

static void put_all(struct scene *scene)
{
	put_pod(scene, "pi-worker-0", "worker", "u",
	    "{phase: Running, containerStatuses: [{restartCount: 1}]}");
	put_pod(scene, "pi-worker-1", "worker", "u", "{phase: Pending}");
	put_pod(scene, "pi-worker-2", "worker", "older", "{phase: Running}");
	put_pod(scene, "pi-launcher-x", "launcher", "u", "{phase: Failed}");
	fake_put(&scene->fake, "/apis/batch/v1/jobs", "d", "{metadata: {name: pi-launcher}}");
	fake_put(&scene->fake, "/api/v1/events", "d",
	    "{metadata: {name: a}, involvedObject: {name: pi-worker-0}, reason: R}");
	fake_put(&scene->fake, "/api/v1/events", "d",
	    "{metadata: {name: b}, involvedObject: {name: pig}}");
	fake_put(&scene->fake, "/api/v1/events", "d",
	    "{metadata: {name: c}, involvedObject: {name: pi}, lastTimestamp: "
	    "'2020-01-01T00:00:00Z'}");
}

static size_t count(const mpijob_doc *evidence, const char *path)
{
	return mpijob_node_count(mpijob_node_find(mpijob_doc_root(evidence), path));
}

static int has_cause(const struct scene *scene, const char *id)
{
	for (size_t i = 0; mpijob_diag_at(scene->diag, i); i++)
		if (strcmp(mpijob_diag_at(scene->diag, i)->id, id) == 0)
			return 1;
	return 0;
}

static void collects_everything(void **state)
{
	struct scene *scene = *state;
	mpijob_doc *evidence = NULL;
	mpijob *job = NULL;
	int causes;

	put_all(scene);
	causes = mpijob_run_diagnose(scene->client, "d", "pi", NULL, &job, &evidence, scene->diag);
	assert_int_equal(causes, mpijob_diag_count(scene->diag, 0));
	assert_true(has_cause(scene, "mpirun-not-found"));
	assert_string_equal(mpijob_uid(job), "u");
	assert_int_equal(count(evidence, "pods.items"), 3);
	assert_int_equal(count(evidence, "events.items"), 1);
	assert_int_equal(count(evidence, "missing"), 0);
	assert_non_null(mpijob_node_find(mpijob_doc_root(evidence), "launcher.metadata"));
	/* The launcher first, then the worker that runs, with its run before the restart. */
	assert_int_equal(fake_count(&scene->fake, "GET /api/v1/namespaces/d/pods/"), 3);
	assert_non_null(strstr(scene->fake.log[scene->fake.log_count - 3],
	    "pi-launcher-x/log?container=c&limitBytes=65536&previous=false&tailLines=400"));
	assert_non_null(strstr(scene->fake.log[scene->fake.log_count - 1], "previous=true"));
	mpijob_doc_free(evidence);
	mpijob_free(job);
}

static void goes_on_without_rights(void **state)
{
	struct scene *scene = *state;
	mpijob_doc *evidence = NULL;
	const mpijob_node *why;

	put_all(scene);
	scene->refused = "/pods?";
	assert_true(
	    mpijob_run_diagnose(scene->client, "d", "pi", NULL, NULL, &evidence, scene->diag) >= 0);
	why = mpijob_node_find(mpijob_doc_root(evidence), "missing.pods");
	assert_non_null(strstr(mpijob_node_string(why), "no right"));
	assert_null(mpijob_node_find(mpijob_doc_root(evidence), "pods"));
	mpijob_doc_free(evidence);
	scene->refused = "/log?";
	assert_true(
	    mpijob_run_diagnose(scene->client, "d", "pi", NULL, NULL, &evidence, scene->diag) >= 0);
	assert_int_equal(count(evidence, "missing"), 2);
	assert_non_null(mpijob_node_get(mpijob_node_get(mpijob_doc_root(evidence), "missing"),
	    "the log of pod pi-launcher-x"));
	mpijob_doc_free(evidence);
	mpijob_diag_clear(scene->diag);
	scene->refused = "/mpijobs";
	evidence = NULL;
	assert_int_equal(mpijob_run_diagnose(scene->client, "d", "pi", NULL, NULL, &evidence,
			     scene->diag),
	    MPIJOB_ERR_AUTH);
	assert_null(evidence);
	assert_int_equal(mpijob_diag_count(scene->diag, 0), 1);
	assert_int_equal(mpijob_run_diagnose(scene->client, "d", "other", NULL, NULL, NULL, NULL),
	    MPIJOB_ERR_AUTH);
}

/* What the caller saw counts only where the cluster does not show it any more. */
static void takes_what_the_caller_saw(void **state)
{
	static const char lost[] = "bash: mpirun: command not found\n";
	struct mpijob_run_diagnose_options options = MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT;
	struct mpijob_log_tail tail = MPIJOB_LOG_TAIL_INIT;
	struct scene *scene = *state;
	mpijob_doc *evidence = NULL, *pod = NULL;
	char text[sizeof(lost)];

	assert_int_equal(mpijob_doc_parse("{metadata: {name: pi-launcher-y}}", 33, NULL, &pod,
			     NULL),
	    0);
	memcpy(text, lost, sizeof(lost));
	tail.pod = "pi-launcher-y";
	tail.text = text;
	tail.len = strlen(text);
	options.log = &tail;
	options.pod = mpijob_doc_root(pod);
	assert_true(mpijob_run_diagnose(scene->client, "d", "pi", &options, NULL, &evidence,
			scene->diag) > 0);
	assert_true(has_cause(scene, "mpirun-not-found"));
	assert_int_equal(count(evidence, "pods.items"), 1);
	mpijob_doc_free(evidence);
	put_pod(scene, "pi-launcher-y", "launcher", "u", "{phase: Succeeded}");
	evidence = NULL;
	assert_true(mpijob_run_diagnose(scene->client, "d", "pi", &options, NULL, &evidence,
			scene->diag) >= 0);
	assert_int_equal(count(evidence, "pods.items"), 1);
	mpijob_doc_free(evidence);
	tail.text = NULL;
	assert_int_equal(mpijob_run_diagnose(scene->client, "d", "pi", &options, NULL, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	options.size = 1;
	assert_int_equal(mpijob_run_diagnose(scene->client, "d", "pi", &options, NULL, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	mpijob_doc_free(pod);
}

static void never_done(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	(void)user;
	(void)job;
	(void)doc;
	fail_msg("done with %d", code);
}

static void is_cancelled(void **state)
{
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;
	struct scene *scene = *state;
	mpijob_task *task = NULL;

	put_all(scene);
	scene->hold = 1;
	callbacks.done = never_done;
	assert_int_equal(mpijob_run_diagnose_start(scene->client, "d", "pi", NULL, &callbacks,
			     &task, scene->diag),
	    0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(scene->client, 0), 0);
	mpijob_task_cancel(task);
	assert_null(mpijob__base_list_first(&scene->client->tasks));
	assert_null(mpijob__base_list_first(&scene->client->calls));
	mpijob_client_cancel(scene->client);
	assert_int_equal(mpijob_run_diagnose(scene->client, "d", "pi", NULL, NULL, NULL,
			     scene->diag),
	    MPIJOB_ERR_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(collects_everything, up, down),
		cmocka_unit_test_setup_teardown(goes_on_without_rights, up, down),
		cmocka_unit_test_setup_teardown(takes_what_the_caller_saw, up, down),
		cmocka_unit_test_setup_teardown(is_cancelled, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

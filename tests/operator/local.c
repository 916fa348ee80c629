/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator over the embedded cluster, without its node: the test plays kubelet by patching
 * pods. It is linked with the shared libraries and uses nothing but public headers, as any host
 * would.
 */
#include "../support/writes.h"

#include <mpijob/local.h>
#include <mpijob/mpijob.h>
#include <mpijob/operator.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define JOB "kubeflow.org/v2beta1"

struct world {
	mpijob_client *client;
	mpijob_operator *operator_;
};

static const char job_text[] =
    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, namespace: "
    "default}\nspec:\n"
    "  slotsPerWorker: 2\n  runPolicy: {cleanPodPolicy: Running}\n  mpiReplicaSpecs:\n"
    "    Launcher:\n      replicas: 1\n"
    "      template: {spec: {containers: [{name: launcher, image: pi, command: [mpirun, "
    "/home/mpiuser/pi]}]}}\n"
    "    Worker:\n      replicas: 2\n      template: {spec: {containers: [{name: worker, image: "
    "pi}]}}\n";

static int up(void **state)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct world *world = calloc(1, sizeof(*world));
	mpijob_local *local = NULL;

	assert_non_null(world);
	options.no_node = 1;
	options.backoff_base_ms = 20;
	assert_int_equal(mpijob_local_new(&options, &transport, &local, NULL), 0);
	assert_int_equal(mpijob_client_new(&transport, local, &world->client), 0);
	assert_int_equal(mpijob_operator_new(world->client, NULL, &world->operator_, NULL), 0);
	*state = world;
	return 0;
}

static int down(void **state)
{
	struct world *world = *state;

	mpijob_operator_free(world->operator_);
	mpijob_client_free(world->client);
	free(world);
	return 0;
}

static struct mpijob_target target_of(const char *version, const char *kind, const char *name)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = version;
	target.kind = kind;
	target.namespace_ = "default";
	target.name = name;
	return target;
}

/* The object as text, or NULL when it is not there. */
static mpijob_doc *look(struct world *world, const char *version, const char *kind,
    const char *name)
{
	struct mpijob_target target = target_of(version, kind, name);
	mpijob_doc *doc = NULL;
	int code = mpijob_client_get(world->client, &target, &doc, NULL);

	assert_true(code == 0 || code == MPIJOB_ERR_NOT_FOUND);
	return doc;
}

static int exists(struct world *world, const char *version, const char *kind, const char *name)
{
	mpijob_doc *doc = look(world, version, kind, name);

	mpijob_doc_free(doc);
	return doc != NULL;
}

static size_t count(struct world *world, const char *version, const char *kind)
{
	struct mpijob_target target = target_of(version, kind, NULL);
	mpijob_doc *doc = NULL;
	size_t number;

	assert_int_equal(mpijob_client_get(world->client, &target, &doc, NULL), 0);
	number = mpijob_node_count(mpijob_node_get(mpijob_doc_root(doc), "items"));
	mpijob_doc_free(doc);
	return number;
}

/* 1 when a condition of the job is as wanted. */
static int is(struct world *world, const char *type, const char *status)
{
	mpijob_doc *doc = look(world, JOB, "MPIJob", "pi");
	const mpijob_node *list =
	    doc ? mpijob_node_find(mpijob_doc_root(doc), "status.conditions") : NULL;
	int found = 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *one = mpijob_node_at(list, i);

		found |= strcmp(mpijob_node_string(mpijob_node_get(one, "type")), type) == 0 &&
			 strcmp(mpijob_node_string(mpijob_node_get(one, "status")), status) == 0;
	}
	mpijob_doc_free(doc);
	return found;
}

static void patch(struct world *world, const char *version, const char *kind, const char *name,
    const char *sub, const char *text)
{
	struct mpijob_target target = target_of(version, kind, name);
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = NULL;

	target.subresource = sub;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	if (mpijob_client_write(world->client, &target, mpijob_doc_root(doc), WRITE(PATCH_MERGE),
		NULL, diag)) {
		print_error("%s\n", mpijob_diag_at(diag, 0)->message);
		fail();
	}
	mpijob_diag_free(diag);
	mpijob_doc_free(doc);
}

static void submit(struct world *world)
{
	struct mpijob_target target = target_of(JOB, "MPIJob", NULL);
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(job_text, strlen(job_text), NULL, &doc, NULL), 0);
	assert_int_equal(mpijob_client_write(world->client, &target, mpijob_doc_root(doc), NULL,
			     NULL, NULL),
	    0);
	mpijob_doc_free(doc);
}

/* Step until `condition` holds; fail when it does not within a few seconds. */
#define UNTIL(condition)                                                                \
	do {                                                                            \
		int tries = 0, holds;                                                   \
                                                                                        \
		while (!(holds = (condition)) && tries++ < 2000)                        \
			assert_int_equal(mpijob_operator_step(world->operator_, 5), 0); \
		assert_true(holds);                                                     \
	} while (0)

static void run_workers(struct world *world)
{
	static const char running[] =
	    "status: {phase: Running, startTime: '2026-11-21T12:00:00Z', conditions: "
	    "[{type: Ready, status: 'True'}], containerStatuses: [{name: worker, state: "
	    "{running: {startedAt: '2026-11-21T12:00:00Z'}}}]}";

	patch(world, "v1", "Pod", "pi-worker-0", "status", running);
	patch(world, "v1", "Pod", "pi-worker-1", "status", running);
}

/* The name of the launcher's pod; yours. */
static char *launcher_pod(struct world *world)
{
	struct mpijob_target target = target_of("v1", "Pod", NULL);
	const mpijob_node *items;
	mpijob_doc *doc = NULL;
	char *name = NULL;

	assert_int_equal(mpijob_client_get(world->client, &target, &doc, NULL), 0);
	items = mpijob_node_get(mpijob_doc_root(doc), "items");
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const char *one =
		    mpijob_node_string(mpijob_node_find(mpijob_node_at(items, i), "metadata.name"));

		if (strncmp(one, "pi-launcher", 11) == 0)
			name = strdup(one);
	}
	mpijob_doc_free(doc);
	return name;
}

static void expect_all(struct world *world)
{
	UNTIL(exists(world, "batch/v1", "Job", "pi-launcher"));
	assert_true(exists(world, "v1", "Service", "pi"));
	assert_true(exists(world, "v1", "ConfigMap", "pi-config"));
	assert_true(exists(world, "v1", "Secret", "pi-ssh"));
	assert_true(exists(world, "v1", "Pod", "pi-worker-0"));
	assert_true(exists(world, "v1", "Pod", "pi-worker-1"));
}

static void from_submit_to_success(void **state)
{
	struct world *world = *state;
	char *pod;

	submit(world);
	expect_all(world);
	UNTIL(is(world, "Created", "True"));
	run_workers(world);
	UNTIL((pod = launcher_pod(world)) != NULL);
	patch(world, "v1", "Pod", pod, "status",
	    "status: {phase: Running, startTime: '2026-11-21T12:00:00Z', conditions: [{type: "
	    "Ready, status: 'True'}], "
	    "containerStatuses: [{name: launcher, state: {running: {startedAt: "
	    "'2026-11-21T12:00:00Z'}}}]}");
	UNTIL(is(world, "Running", "True"));
	patch(world, "v1", "Pod", pod, "status",
	    "status: {phase: Succeeded, containerStatuses: [{name: launcher, state: {running: "
	    "null, terminated: {exitCode: 0}}}]}");
	UNTIL(is(world, "Succeeded", "True"));
	UNTIL(!exists(world, "v1", "Pod", "pi-worker-0"));
	UNTIL(!exists(world, "v1", "Pod", "pi-worker-1"));
	assert_true(exists(world, "batch/v1", "Job", "pi-launcher"));
	UNTIL(count(world, "v1", "Event") > 0);
	free(pod);
}

static void deleting_takes_the_children(void **state)
{
	struct world *world = *state;
	struct mpijob_target target = target_of(JOB, "MPIJob", "pi");

	submit(world);
	expect_all(world);
	assert_int_equal(mpijob_client_delete(world->client, &target, DELETION(NULL, "Background"),
			     NULL),
	    0);
	UNTIL(!exists(world, "batch/v1", "Job", "pi-launcher"));
	UNTIL(count(world, "v1", "Pod") == 0 && count(world, "v1", "Secret") == 0 &&
	      count(world, "v1", "Service") == 0);
	/* The same name again is another job. */
	submit(world);
	expect_all(world);
}

static void suspend_and_resume(void **state)
{
	struct world *world = *state;

	submit(world);
	expect_all(world);
	patch(world, JOB, "MPIJob", "pi", NULL, "spec: {runPolicy: {suspend: true}}");
	UNTIL(is(world, "Suspended", "True"));
	UNTIL(count(world, "v1", "Pod") == 0);
	patch(world, JOB, "MPIJob", "pi", NULL, "spec: {runPolicy: {suspend: false}}");
	UNTIL(is(world, "Suspended", "False"));
	expect_all(world);
}

static void scale_up_and_down(void **state)
{
	struct world *world = *state;

	submit(world);
	expect_all(world);
	patch(world, JOB, "MPIJob", "pi", NULL, "spec: {mpiReplicaSpecs: {Worker: {replicas: 4}}}");
	UNTIL(exists(world, "v1", "Pod", "pi-worker-3"));
	patch(world, JOB, "MPIJob", "pi", NULL, "spec: {mpiReplicaSpecs: {Worker: {replicas: 1}}}");
	UNTIL(!exists(world, "v1", "Pod", "pi-worker-1") &&
	      !exists(world, "v1", "Pod", "pi-worker-3"));
	assert_true(exists(world, "v1", "Pod", "pi-worker-0"));
}

/* When it stands still, its next step waits: nothing is due, nothing is sent. */
static void it_rests(void **state)
{
	struct world *world = *state;
	mpijob_doc *doc;
	char *version;

	submit(world);
	expect_all(world);
	UNTIL(is(world, "Created", "True"));
	for (int i = 0; i < 200; i++)
		assert_int_equal(mpijob_operator_step(world->operator_, 1), 0);
	doc = look(world, JOB, "MPIJob", "pi");
	version = strdup(
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.resourceVersion")));
	mpijob_doc_free(doc);
	for (int i = 0; i < 200; i++)
		assert_int_equal(mpijob_operator_step(world->operator_, 1), 0);
	doc = look(world, JOB, "MPIJob", "pi");
	assert_string_equal(version,
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.resourceVersion")));
	mpijob_doc_free(doc);
	free(version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(from_submit_to_success, up, down),
		cmocka_unit_test_setup_teardown(deleting_takes_the_children, up, down),
		cmocka_unit_test_setup_teardown(suspend_and_resume, up, down),
		cmocka_unit_test_setup_teardown(scale_up_and_down, up, down),
		cmocka_unit_test_setup_teardown(it_rests, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An operator on the tiny server of fake_cluster.h, and what its tests look at. */
#ifndef MPIJOB_TEST_OPERATOR_RIG_H
#define MPIJOB_TEST_OPERATOR_RIG_H

#include "fake_cluster.h"

#include "client/client.h"
#include "operator/operator.h"

#include <setjmp.h>

#include <cmocka.h>

#define JOBS        "/apis/kubeflow.org/v2beta1/mpijobs"
#define PODS        "/api/v1/pods"
#define LAUNCHERS   "/apis/batch/v1/jobs"
#define SERVICES    "/api/v1/services"
#define CONFIG_MAPS "/api/v1/configmaps"
#define SECRETS     "/api/v1/secrets"
#define EVENTS      "/api/v1/events"

struct rig {
	struct fake fake;
	mpijob_client *client;
	mpijob_operator *operator_;
	struct mpijob_operator_options options;
	int logged;
	char *last_log;
	char *last_action; /* the last message of severity debug */
	const char *last_id;
};

FAKE void on_log(void *user, const struct mpijob_finding *finding)
{
	struct rig *rig = user;

	if (finding->severity == MPIJOB_SEVERITY_DEBUG) {
		free(rig->last_action);
		rig->last_action = strdup(finding->message);
		return;
	}
	rig->logged++;
	free(rig->last_log);
	rig->last_log = strdup(finding->message);
	rig->last_id = finding->id;
}

FAKE void start_operator(struct rig *rig)
{
	rig->options.log = on_log;
	rig->options.log_user = rig;
	assert_int_equal(mpijob_operator_new(rig->client, &rig->options, &rig->operator_, NULL), 0);
}

static int64_t clients_ms = 1000000; /* the clock of clients that have a pace */

FAKE int64_t clients_clock(void)
{
	return clients_ms;
}

/* From now on requests wait for tokens, which come as the test's clock goes on. */
FAKE void pace(struct rig *rig, int32_t qps, int32_t burst)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;

	options.qps = qps;
	options.burst = burst;
	rig->client->clock = clients_clock;
	assert_int_equal(mpijob_client_set_options(rig->client, &options), 0);
}

static int streams; /* the server does lists as streams */

/* Without an operator yet, so that its options can be set. */
FAKE void set_up_server(struct rig *rig)
{
	const struct mpijob_operator_options none = MPIJOB_OPERATOR_OPTIONS_INIT;

	memset(rig, 0, sizeof(*rig));
	rig->options = none;
	rig->client = fake_client(&rig->fake);
	rig->fake.streams = streams;
}

FAKE void set_up(struct rig *rig)
{
	set_up_server(rig);
	start_operator(rig);
}

FAKE void tear_down(struct rig *rig)
{
	mpijob_operator_free(rig->operator_);
	assert_null(rig->fake.exchanges);
	mpijob_client_free(rig->client);
	free(rig->last_log);
	free(rig->last_action);
	fake_release(&rig->fake);
}

FAKE void run(struct rig *rig, int steps)
{
	for (int i = 0; i < steps; i++)
		assert_int_equal(mpijob_operator_step(rig->operator_, 1), 0);
}

FAKE struct fake_object *put_job(struct rig *rig, const char *namespace_, const char *name,
    int workers, const char *policy)
{
	char *yaml = fake_text(
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: %s}\nspec:\n"
	    "  slotsPerWorker: 2\n  runPolicy: {%s}\n  mpiReplicaSpecs:\n"
	    "    Launcher:\n      template: {spec: {containers: [{name: l, image: i, command: "
	    "[mpirun]}]}}\n"
	    "    Worker:\n      replicas: %d\n      template: {spec: {containers: [{name: w, "
	    "image: i}]}}\n",
	    name, policy, workers);
	struct fake_object *job = fake_put(&rig->fake, JOBS, namespace_, yaml);

	free(yaml);
	return job;
}

/* What the operator knows of the job team/pi. */
FAKE struct mpijob__operator_job *entry_of(struct rig *rig)
{
	return mpijob__operator_job_find(rig->operator_,
	    fake_string(fake_find(&rig->fake, JOBS, "team", "pi"), "metadata.uid"));
}

/* All pods of a job begin to run. */
FAKE void run_pods(struct rig *rig)
{
	for (struct fake_object *object = rig->fake.objects; object; object = object->next)
		if (strcmp(object->collection, PODS) == 0 && !fake_string(object, "status.phase"))
			fake_patch(&rig->fake, object,
			    "status: {phase: Running, conditions: [{type: Ready, status: "
			    "'True'}]}");
}

FAKE const char *condition(const struct fake_object *job, const char *type)
{
	const mpijob_node *list =
	    job ? mpijob_node_find(mpijob_doc_root(job->doc), "status.conditions") : NULL;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *one = mpijob_node_at(list, i);

		if (strcmp(mpijob_node_string(mpijob_node_get(one, "type")), type) == 0)
			return mpijob_node_string(mpijob_node_get(one, "status"));
	}
	return "absent";
}

FAKE int is_true(const struct fake_object *job, const char *type)
{
	return strcmp(condition(job, type), "True") == 0;
}

FAKE int has_children(const struct rig *rig, size_t jobs, size_t workers)
{
	return fake_objects(&rig->fake, SERVICES) == jobs &&
	       fake_objects(&rig->fake, CONFIG_MAPS) == jobs &&
	       fake_objects(&rig->fake, SECRETS) == jobs &&
	       fake_objects(&rig->fake, LAUNCHERS) == jobs &&
	       fake_objects(&rig->fake, PODS) == workers;
}

FAKE void expect_children(const struct rig *rig, size_t jobs, size_t workers)
{
	assert_int_equal(fake_objects(&rig->fake, SERVICES), jobs);
	assert_int_equal(fake_objects(&rig->fake, CONFIG_MAPS), jobs);
	assert_int_equal(fake_objects(&rig->fake, SECRETS), jobs);
	assert_int_equal(fake_objects(&rig->fake, LAUNCHERS), jobs);
	assert_int_equal(fake_objects(&rig->fake, PODS), workers);
}

/* What the operator says of itself, yours. */
FAKE char *metrics(const struct rig *rig)
{
	mpijob_text *text = mpijob_text_new();
	char *copy;

	assert_int_equal(mpijob_operator_metrics(rig->operator_, mpijob_text_write, text), 0);
	copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	return copy;
}

#endif

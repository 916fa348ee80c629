/* SPDX-License-Identifier: Apache-2.0 */
#include "operator_fixture.h"

static void on_log(void *user, const struct mpijob_finding *finding)
{
	struct operator_fixture *fixture = user;

	if (finding->severity == MPIJOB_SEVERITY_DEBUG) {
		free(fixture->last_action);
		fixture->last_action = strdup(finding->message);
		return;
	}
	fixture->logged++;
	free(fixture->last_log);
	fixture->last_log = strdup(finding->message);
	fixture->last_id = finding->id;
}

void start_operator(struct operator_fixture *fixture)
{
	fixture->options.log = on_log;
	fixture->options.log_user = fixture;
	assert_int_equal(mpijob_operator_new(fixture->client, &fixture->options,
			     &fixture->operator_, NULL),
	    0);
}

int64_t clients_ms = 1000000;

static int64_t clients_clock(void)
{
	return clients_ms;
}

void pace(struct operator_fixture *fixture, int32_t qps, int32_t burst)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;

	options.qps = qps;
	options.burst = burst;
	fixture->client->clock = clients_clock;
	assert_int_equal(mpijob_client_set_options(fixture->client, &options), 0);
}

int streams;

void set_up_server(struct operator_fixture *fixture)
{
	const struct mpijob_operator_options none = MPIJOB_OPERATOR_OPTIONS_INIT;

	memset(fixture, 0, sizeof(*fixture));
	fixture->options = none;
	fixture->client = fake_client(&fixture->fake);
	fixture->fake.streams = streams;
}

void operator_set_up(struct operator_fixture *fixture)
{
	set_up_server(fixture);
	start_operator(fixture);
}

void operator_tear_down(struct operator_fixture *fixture)
{
	mpijob_operator_free(fixture->operator_);
	assert_null(fixture->fake.exchanges);
	mpijob_client_free(fixture->client);
	free(fixture->last_log);
	free(fixture->last_action);
	fake_release(&fixture->fake);
}

void operator_run(struct operator_fixture *fixture, int steps)
{
	for (int i = 0; i < steps; i++)
		assert_int_equal(mpijob_operator_step(fixture->operator_, 1), 0);
}

struct fake_object *put_job(struct operator_fixture *fixture, const char *namespace_,
    const char *name, int workers, const char *policy)
{
	char *yaml = fake_text(
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: %s}\nspec:\n"
	    "  slotsPerWorker: 2\n  runPolicy: {%s}\n  mpiReplicaSpecs:\n"
	    "    Launcher:\n      template: {spec: {containers: [{name: l, image: i, command: "
	    "[mpirun]}]}}\n"
	    "    Worker:\n      replicas: %d\n      template: {spec: {containers: [{name: w, "
	    "image: i}]}}\n",
	    name, policy, workers);
	struct fake_object *job = fake_put(&fixture->fake, JOBS, namespace_, yaml);

	free(yaml);
	return job;
}

struct mpijob__operator_job *entry_of(struct operator_fixture *fixture)
{
	return mpijob__operator_job_find(fixture->operator_,
	    fake_string(fake_find(&fixture->fake, JOBS, "team", "pi"), "metadata.uid"));
}

void run_pods(struct operator_fixture *fixture)
{
	for (struct fake_object *object = fixture->fake.objects; object; object = object->next)
		if (strcmp(object->collection, PODS) == 0 && !fake_string(object, "status.phase"))
			fake_patch(&fixture->fake, object,
			    "status: {phase: Running, conditions: [{type: Ready, status: "
			    "'True'}]}");
}

const char *condition(const struct fake_object *job, const char *type)
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

int is_true(const struct fake_object *job, const char *type)
{
	return strcmp(condition(job, type), "True") == 0;
}

int has_children(const struct operator_fixture *fixture, size_t jobs, size_t workers)
{
	return fake_objects(&fixture->fake, SERVICES) == jobs &&
	       fake_objects(&fixture->fake, CONFIG_MAPS) == jobs &&
	       fake_objects(&fixture->fake, SECRETS) == jobs &&
	       fake_objects(&fixture->fake, LAUNCHERS) == jobs &&
	       fake_objects(&fixture->fake, PODS) == workers;
}

void expect_children(const struct operator_fixture *fixture, size_t jobs, size_t workers)
{
	assert_int_equal(fake_objects(&fixture->fake, SERVICES), jobs);
	assert_int_equal(fake_objects(&fixture->fake, CONFIG_MAPS), jobs);
	assert_int_equal(fake_objects(&fixture->fake, SECRETS), jobs);
	assert_int_equal(fake_objects(&fixture->fake, LAUNCHERS), jobs);
	assert_int_equal(fake_objects(&fixture->fake, PODS), workers);
}

char *metrics(const struct operator_fixture *fixture)
{
	mpijob_text *text = mpijob_text_new();
	char *copy;

	assert_int_equal(mpijob_operator_metrics(fixture->operator_, mpijob_text_write, text), 0);
	copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	return copy;
}

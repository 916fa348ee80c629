/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the pieces of work whose every allocation must be able to fail, and writes all that comes
 * of each into a sink, so that two runs can be compared byte for byte. Each frees what it made,
 * also when it failed half way.
 */
#include "failing_malloc.h"
#include "scenarios.h"
#include "../support/plan_cluster.h"

static const uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 1, 2, 3, 5, 7, 11, 13, 17 };

int sink_write(void *user, const char *data, size_t len)
{
	struct sink *sink = user;

	NEED(len <= sink->room - sink->len);
	memcpy(sink->data + sink->len, data, len);
	sink->len += len;
	return 0;
}

static void say(struct sink *sink, const char *word, long long number)
{
	char line[160];

	sink_write(sink, line,
	    (size_t)snprintf(line, sizeof(line), "%s %lld\n", word ? word : "-", number));
}

static int write_node(struct sink *sink, const mpijob_node *node, int32_t format)
{
	int code = mpijob_node_write(node, format, sink_write, sink);

	return code ? code : sink_write(sink, "\n", 1);
}

/* All findings, and that one was lost when one was. A finding of "out of memory" tells no more than
 * the code. */
static int write_findings(struct sink *sink, const mpijob_diag *diag)
{
	int code = 0;

	for (size_t i = 0; !code && mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);

		say(sink, finding->id, finding->severity);
		say(sink, finding->reason, 0);
		code = mpijob_finding_write(finding, sink_write, sink);
		sink_write(sink, "\n", 1);
	}
	say(sink, "dropped", (long long)mpijob_diag_dropped(diag));
	return code;
}

static int act_parse_text(const char *text, size_t len, struct sink *sink)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = NULL;
	int code = diag ? 0 : MPIJOB_ERR_NOMEM, wrote = 0;

	options.source = "job.yaml";
	if (!code)
		code = mpijob_parse(text, len, &options, &job, diag);
	if (code != MPIJOB_ERR_NOMEM)
		wrote = write_findings(sink, diag);
	if (!code && !wrote)
		wrote = write_node(sink, mpijob_doc_root(mpijob_document(job)), MPIJOB_FORMAT_JSON);
	NEED(!code == !!job);
	mpijob_free(job);
	mpijob_diag_free(diag);
	return wrote ? wrote : code;
}

static int act_parse(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	(void)scenario;
	return act_parse_text(subject->text, subject->len, sink);
}

static int act_parse_json(const struct scenario *scenario, struct subject *subject,
    struct sink *sink)
{
	(void)scenario;
	return act_parse_text(subject->json, subject->json_len, sink);
}

static int prepare_parsed(struct subject *subject)
{
	return mpijob_parse(subject->text, subject->len, NULL, &subject->job, NULL);
}

static int prepare_defaulted(struct subject *subject)
{
	int code = prepare_parsed(subject);

	return code ? code : mpijob_default(subject->job, NULL, NULL);
}

static int act_write(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(subject->job));
	int code = write_node(sink, root, MPIJOB_FORMAT_YAML);

	(void)scenario;
	return code ? code : write_node(sink, root, MPIJOB_FORMAT_JSON_COMPACT);
}

static int act_default(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? mpijob_default(subject->job, NULL, diag) : MPIJOB_ERR_NOMEM;

	(void)scenario;
	if (code != MPIJOB_ERR_NOMEM && write_findings(sink, diag))
		code = MPIJOB_ERR_NOMEM;
	/* From here on the job is rightly another one. */
	oom_stop();
	if (!code)
		code = write_node(sink, mpijob_doc_root(mpijob_document(subject->job)),
		    MPIJOB_FORMAT_JSON);
	mpijob_diag_free(diag);
	return code;
}

static int act_validate(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? mpijob_validate(subject->job, NULL, diag) : MPIJOB_ERR_NOMEM;

	(void)scenario;
	if (code != MPIJOB_ERR_NOMEM && write_findings(sink, diag))
		code = MPIJOB_ERR_NOMEM;
	mpijob_diag_free(diag);
	return code;
}

/* Views out, the same views in again, and a job made of nothing but views. */
static int act_views(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	const struct mpijob_spec *spec = NULL;
	const struct mpijob_status *status = NULL;
	mpijob *made = NULL, *copy = NULL;
	int code = mpijob_spec_get(subject->job, &spec, NULL);

	(void)scenario;
	if (!code)
		code = mpijob_new("made", "of-views", spec, &made, NULL);
	if (!code)
		code = mpijob_status_get(subject->job, &status, NULL);
	if (!code)
		code = mpijob_status_set(made, status, NULL);
	if (!code)
		code = mpijob_spec_set(subject->job, spec, NULL);
	if (!code && !(copy = mpijob_clone(subject->job)))
		code = MPIJOB_ERR_NOMEM;
	if (!code)
		code = write_node(sink, mpijob_doc_root(mpijob_document(made)), MPIJOB_FORMAT_JSON);
	if (!code)
		code = write_node(sink, mpijob_doc_root(mpijob_document(copy)), MPIJOB_FORMAT_JSON);
	mpijob_free(made);
	mpijob_free(copy);
	return code;
}

static int write_hosts(const struct subject *subject, struct sink *sink)
{
	mpijob_hostfile *hosts = NULL;
	int code = mpijob_hostfile_new(subject->job, &subject->render, &hosts, NULL);

	if (!code)
		code = mpijob_hostfile_write(hosts, sink_write, sink);
	mpijob_hostfile_free(hosts);
	return code;
}

static int write_children(mpijob_objects *objects, struct sink *sink)
{
	int code = mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, MPIJOB_FORMAT_JSON, 1,
	    sink_write, sink);

	if (!code)
		code = mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, MPIJOB_FORMAT_YAML, 0,
		    sink_write, sink);
	for (size_t i = 0; !code && i < mpijob_objects_count(objects); i++) {
		struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
		mpijob_doc *doc = NULL;

		code = mpijob_objects_head(objects, i, &head);
		if (!code)
			say(sink, head.name, head.role);
		if (!code)
			code = mpijob_objects_at(objects, i, &doc);
		if (!code)
			code = write_node(sink, mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
		mpijob_doc_free(doc);
	}
	return code;
}

static int act_render(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	struct mpijob_render_options options = subject->render;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_objects *objects = NULL;
	int code = diag ? 0 : MPIJOB_ERR_NOMEM;

	(void)scenario;
	options.entropy = entropy;
	options.entropy_len = sizeof(entropy);
	if (!code)
		code = mpijob_render(subject->job, &options, &objects, diag);
	if (!code)
		code = write_findings(sink, diag);
	if (!code)
		code = write_hosts(subject, sink);
	if (!code)
		code = write_children(objects, sink);
	mpijob_objects_free(objects);
	mpijob_diag_free(diag);
	return code;
}

static int observe_all(const struct state *state, mpijob_facts *facts)
{
	mpijob_observation *observation = mpijob_observation_new();
	int code = observation ? 0 : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; !code && i < state->count; i++) {
		const struct mpijob_observed *observed;

		code = mpijob_observe(observation, mpijob_text_data(state->events[i]),
		    mpijob_text_len(state->events[i]), &observed, NULL);
		if (!code)
			code = mpijob_facts_apply(facts, observed);
		code = code > 0 ? 0 : code;
	}
	mpijob_observation_free(observation);
	return code;
}

static int write_actions(const mpijob_plan *plan, struct sink *sink)
{
	int code = 0;

	for (size_t i = 0; !code && i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);

		say(sink, action->kind, action->verb * 1000 + action->stage);
		say(sink, action->name, action->index);
		say(sink, action->uid, action->role);
		say(sink, action->event_reason, 0);
		sink_write(sink, action->why, strlen(action->why));
		sink_write(sink, "\n", 1);
		if (action->verb == MPIJOB_ACTION_EVENT)
			sink_write(sink, action->event_message, strlen(action->event_message));
		else if (action->verb != MPIJOB_ACTION_DELETE)
			code = mpijob_plan_write_body(plan, i, entropy, sizeof(entropy), sink_write,
			    sink);
		sink_write(sink, "\n", 1);
	}
	return code;
}

static int act_plan(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	const struct state *state = &subject->states[scenario->state];
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_facts *facts = mpijob_facts_new();
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_plan *plan = NULL;
	mpijob *job = NULL;
	int code = facts && diag ? observe_all(state, facts) : MPIJOB_ERR_NOMEM;

	options.now_ms = state->now_ms;
	options.render = &subject->render;
	if (!code)
		code = mpijob_from_node(mpijob_doc_root(state->job), NULL, &job, NULL);
	if (!code)
		code = mpijob_plan_new(job, facts, &options, &plan, diag);
	if (!code)
		code = write_findings(sink, diag);
	if (!code)
		code = write_actions(plan, sink);
	if (!code)
		code = mpijob_status_set(job, mpijob_plan_get_result(plan)->status, NULL);
	if (!code)
		code = write_node(sink, mpijob_doc_root(mpijob_document(job)), MPIJOB_FORMAT_JSON);
	if (!code)
		say(sink, "next", mpijob_plan_get_result(plan)->next_ms);
	if (!code)
		say(sink, "transitions", mpijob_plan_get_result(plan)->transitions);
	mpijob_plan_free(plan);
	mpijob_free(job);
	mpijob_diag_free(diag);
	mpijob_facts_free(facts);
	return code;
}

/* Convert a job, write what comes of it, and go on with that; *from becomes the converted job. */
static int convert_once(mpijob_doc **from, const char *version, struct sink *sink)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *converted = NULL;
	int code = diag ? 0 : MPIJOB_ERR_NOMEM;

	if (!code)
		code = mpijob_convert(mpijob_doc_root(*from), "job.yaml", version, NULL, &converted,
		    diag);
	NEED(!code == !!converted);
	if (code != MPIJOB_ERR_NOMEM && write_findings(sink, diag))
		code = MPIJOB_ERR_NOMEM;
	if (!code)
		code = write_node(sink, mpijob_doc_root(converted), MPIJOB_FORMAT_JSON);
	mpijob_diag_free(diag);
	mpijob_doc_free(*from);
	*from = converted;
	return code;
}

/* To v1, back, and on to a TrainJob. */
static int act_convert(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	static const char *const versions[] = { "v1", "v2beta1", "TrainJob" };
	mpijob_doc *doc =
	    mpijob_doc_from_node(mpijob_doc_root(mpijob_document(subject->job)), NULL);
	int code = doc ? 0 : MPIJOB_ERR_NOMEM;

	(void)scenario;
	for (size_t i = 0; !code && i < 3; i++)
		code = convert_once(&doc, versions[i], sink);
	mpijob_doc_free(doc);
	return code;
}

/* What the training operator does without being told, all in one job. */
static const char training_job[] =
    "{apiVersion: kubeflow.org/v1, kind: MPIJob, metadata: {name: j}, spec: {cleanPodPolicy: All, "
    "mainContainer: mpi, made: up,"
    " runPolicy: {backoffLimit: 3, schedulingPolicy: {minAvailable: 2}, managedBy: "
    "kubeflow.org/training-operator},"
    " mpiReplicaSpecs: {Launcher: {restartPolicy: ExitCode, template: {spec: {restartPolicy: "
    "Never, serviceAccountName: s,"
    " containers: [{name: l, image: i, command: [mpirun, -mca, plm_rsh_agent, /etc/mpi/kubexec.sh],"
    " env: [{name: I_MPI_HYDRA_BOOTSTRAP_EXEC, value: /etc/mpi/kubexec.sh}], resources: {limits: "
    "{nvidia.com/gpu: 1}}}]}}},"
    " Worker: {replicas: 2, restartPolicy: Always, template: {spec: {containers: [{name: w, image: "
    "i, args: [a]},"
    " {name: mpi, image: i, command: [sleep], env: [{name: A, value: b}]}]}}}}}}";

static int act_convert_v1(const struct scenario *scenario, struct subject *subject,
    struct sink *sink)
{
	static const char *const versions[] = { "v2beta1", "v1", "TrainJob" };
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(training_job, sizeof(training_job) - 1, NULL, &doc, NULL);

	(void)scenario;
	(void)subject;
	for (size_t i = 0; !code && i < 3; i++)
		code = convert_once(&doc, versions[i], sink);
	mpijob_doc_free(doc);
	return code;
}

/* A failed launcher with a log, a worker without memory, one without a node, an event; and what the
 * job alone tells. */
static int act_diagnose(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	static const char pods[] = "[{metadata: {name: x-worker-0}, status: {phase: Failed, "
				   "containerStatuses: [{name: c, state: {terminated: "
				   "{exitCode: 137, reason: OOMKilled}}}]}}, {metadata: {name: "
				   "x-worker-1}, status: {phase: Pending, conditions: "
				   "[{type: PodScheduled, status: 'False', reason: Unschedulable, "
				   "message: 1 Insufficient cpu}]}},"
				   "{metadata: {name: x-worker-2}, status: {phase: Pending, "
				   "conditions: [{type: PodScheduled, status: 'False', "
				   "reason: Unschedulable, message: 2 Insufficient cpu}]}}]";
	static const char events[] = "[{type: Warning, reason: FailedCreate, message: 'exceeded "
				     "quota: q', involvedObject: {kind: Job, name: l}}]";
	static const char text[] =
	    "ssh: Could not resolve hostname a.b: no\nssh: Could not resolve hostname c.d: no\n"
	    "ssh: Could not resolve hostname e.f: no\xff\nORTE was unable to reliably start one or "
	    "more daemons";
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;
	struct mpijob_log_tail tail = MPIJOB_LOG_TAIL_INIT;
	const struct mpijob_log_tail *tails[] = { &tail };
	mpijob_doc *docs[2] = { NULL, NULL };
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? mpijob_doc_parse(pods, sizeof(pods) - 1, NULL, &docs[0], NULL)
			: MPIJOB_ERR_NOMEM;

	(void)scenario;
	if (code == 0)
		code = mpijob_doc_parse(events, sizeof(events) - 1, NULL, &docs[1], NULL);
	if (code == 0) {
		tail.pod = "x-launcher-1";
		tail.text = text;
		tail.len = sizeof(text) - 1;
		evidence.job = subject->job;
		evidence.pods = mpijob_doc_root(docs[0]);
		evidence.events = mpijob_doc_root(docs[1]);
		evidence.logs = tails;
		evidence.logs_count = 1;
		evidence.now_ms = INT64_C(1795262400000);
		int count = mpijob_diagnose(&evidence, diag);
		code = count < 0 ? count : 0;
	}
	if (code == 0 && write_findings(sink, diag))
		code = MPIJOB_ERR_NOMEM;
	mpijob_diag_free(diag);
	mpijob_doc_free(docs[0]);
	mpijob_doc_free(docs[1]);
	return code;
}

/* The CRD does not depend on the job. */
static int act_crd(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	struct mpijob_crd_options options = MPIJOB_CRD_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	int code;

	(void)scenario;
	(void)subject;
	options.descriptions = 1;
	code = mpijob_crd_new(&options, &doc);
	if (!code)
		code = write_node(sink, mpijob_node_get(mpijob_doc_root(doc), "metadata"),
		    MPIJOB_FORMAT_JSON);
	mpijob_doc_free(doc);
	return code;
}

const struct scenario scenarios[] = {
	{ "parse", -1, 0, NULL, act_parse },
	{ "parse JSON", -1, 0, NULL, act_parse_json },
	{ "write", -1, 0, prepare_parsed, act_write },
	{ "default", -1, 0, prepare_parsed, act_default },
	{ "validate", -1, 0, prepare_defaulted, act_validate },
	{ "views", -1, 1, prepare_defaulted, act_views },
	{ "render", -1, 1, prepare_defaulted, act_render },
	{ "convert", -1, 0, prepare_parsed, act_convert },
	{ "convert from v1", -1, 1, prepare_parsed, act_convert_v1 },
	{ "diagnose", -1, 0, prepare_parsed, act_diagnose },
	{ "crd", -1, 1, NULL, act_crd },
	{ "plan of nothing", 0, 1, NULL, act_plan },
	{ "plan of created", 1, 1, NULL, act_plan },
	{ "plan of running", 2, 1, NULL, act_plan },
	{ "plan of succeeded", 3, 1, NULL, act_plan },
	{ "plan of failing", 4, 1, NULL, act_plan },
	{ "plan of stopped", 5, 1, NULL, act_plan },
};
const size_t scenarios_count = sizeof(scenarios) / sizeof(scenarios[0]);

/* Keep what the cluster holds now, one event of each object. */
static void keep_state(struct state *state, const char *name, const struct plan_cluster *cluster)
{
	state->name = name;
	state->job = mpijob_doc_from_node(mpijob_doc_root(cluster->job), NULL);
	state->count = cluster->count;
	state->now_ms = cluster->now_ms;
	state->events = calloc(cluster->count + 1, sizeof(mpijob_text *));
	NEED(state->job && state->events);
	for (size_t i = 0; i < cluster->count; i++)
		state->events[i] =
		    plan_cluster_json(mpijob_doc_root(cluster->objects[i].doc), MPIJOB_FORMAT_JSON);
}

static void act_until_quiet(struct plan_cluster *cluster)
{
	for (int rounds = 0; rounds < 20; rounds++) {
		mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);
		size_t count = mpijob_plan_get_result(plan)->actions_count;

		plan_cluster_act_all(cluster, plan);
		mpijob_plan_free(plan);
		if (!count)
			return;
	}
	plan_cluster_die("the plan never comes to rest");
}

static void workers_run(struct plan_cluster *cluster)
{
	for (size_t i = 0; i < cluster->count; i++) {
		const char *name = plan_cluster_text(cluster->objects[i].doc, "metadata.name");

		if (strcmp(plan_cluster_text(cluster->objects[i].doc, "kind"), "Pod") == 0 &&
		    strstr(name, "-worker-")) {
			char copy[300];

			snprintf(copy, sizeof(copy), "%s", name);
			plan_cluster_pod_runs(cluster, copy);
		}
	}
}

/* A worker fails; and then, where that is asked for, the job was stopped to begin again. */
static void fail(struct subject *subject, const struct plan_cluster *running)
{
	struct plan_cluster cluster;
	char name[300];

	plan_cluster_copy(&cluster, running);
	snprintf(name, sizeof(name), "%s-worker-0",
	    plan_cluster_text(cluster.job, "metadata.name"));
	plan_cluster_pod(&cluster, name,
	    "{status: {phase: Failed, reason: Evicted, conditions: []}}");
	keep_state(&subject->states[4], "failing", &cluster);
	for (int i = 0; i < 1 || plan_cluster_job_controller(&cluster); i++) {
		mpijob_plan *plan = plan_cluster_plan(&cluster, cluster.facts);

		plan_cluster_act_all(&cluster, plan);
		mpijob_plan_free(plan);
	}
	keep_state(&subject->states[5], "stopped", &cluster);
	plan_cluster_end(&cluster);
}

/* Each state is kept before the plan that it calls for is carried out. */
static void live(struct subject *subject)
{
	mpijob_doc *job = NULL;
	struct plan_cluster cluster;

	NEED(!mpijob_doc_parse(subject->text, subject->len, NULL, &job, NULL));
	plan_cluster_begin(&cluster, job);
	cluster.render = subject->render;
	keep_state(&subject->states[0], "nothing", &cluster);
	act_until_quiet(&cluster);
	cluster.now_ms += 1000;
	workers_run(&cluster);
	keep_state(&subject->states[1], "created", &cluster);
	act_until_quiet(&cluster);
	while (plan_cluster_job_controller(&cluster))
		act_until_quiet(&cluster);
	cluster.now_ms += 1000;
	for (size_t i = 0; i < cluster.count; i++) {
		if (strstr(plan_cluster_text(cluster.objects[i].doc, "metadata.name"),
			"-launcher-"))
			plan_cluster_pod_runs(&cluster, "pi-launcher-0");
	}
	keep_state(&subject->states[2], "running", &cluster);
	act_until_quiet(&cluster);
	fail(subject, &cluster);
	cluster.now_ms += 1000;
	plan_cluster_launcher_succeeded(&cluster);
	keep_state(&subject->states[3], "succeeded", &cluster);
	plan_cluster_end(&cluster);
}

void subject_begin(struct subject *subject, const char *name, const char *text, size_t len)
{
	mpijob_text *json;

	subject->name = name;
	subject->text = malloc(len + 1);
	NEED(subject->text);
	memcpy(subject->text, text, len);
	subject->len = len;
	if (prepare_parsed(subject))
		return;
	json =
	    plan_cluster_json(mpijob_doc_root(mpijob_document(subject->job)), MPIJOB_FORMAT_JSON);
	subject->json_len = mpijob_text_len(json);
	subject->json = strdup(mpijob_text_data(json));
	NEED(subject->json);
	mpijob_text_free(json);
	if (!mpijob_default(subject->job, NULL, NULL) && !mpijob_validate(subject->job, NULL, NULL))
		live(subject);
	mpijob_free(subject->job);
	subject->job = NULL;
}

void subject_end(struct subject *subject)
{
	for (size_t i = 0; i < SUBJECT_STATES; i++) {
		struct state *state = &subject->states[i];

		for (size_t k = 0; k < state->count; k++)
			mpijob_text_free(state->events[k]);
		free(state->events);
		mpijob_doc_free(state->job);
	}
	free(subject->json);
	free(subject->text);
}

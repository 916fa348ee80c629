/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A good value for each type of argument, for the calls that tests/abi/test-arguments generates.
 *
 * Values are made once and never freed: each call runs in a process of its own.
 */
#include <mpijob/flyte.h>
#include <mpijob/http.h>
#include <mpijob/lease.h>
#include <mpijob/local.h>
#include <mpijob/mpijob.h>
#include <mpijob/operator.h>
#include <mpijob/operator_config.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char job_text[] =
    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, namespace: default, uid: "
    "u-1}\n"
    "spec:\n  mpiReplicaSpecs:\n    Launcher:\n      template: {spec: {containers: [{name: l, "
    "image: i, command: [mpirun]}]}}\n"
    "    Worker:\n      replicas: 2\n      template: {spec: {containers: [{name: w, image: i}]}}\n";
static const char config_text[] = "apiVersion: libmpijob/v1alpha1\nkind: OperatorConfig\n";
static const char pod_text[] = "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":"
			       "\"Pod\",\"metadata\":{\"name\":\"pi-worker-0\",\"uid\":\"p-1\","
			       "\"labels\":{\"training.kubeflow.org/"
			       "job-role\":\"worker\"}},\"status\":{\"phase\":\"Running\"}}}";

#define MUST(expression)        \
	((expression) ? (void)0 \
		      : (printf("cannot make: %s\n", #expression), fflush(stdout), _exit(3)))

static mpijob_exchange *started;
static int destroyed;

static int fake_start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	(void)self;
	(void)request;
	started = exchange;
	return 0;
}

static int fake_poll(void *self, int timeout_ms)
{
	mpijob_exchange *exchange = started;

	(void)self;
	(void)timeout_ms;
	started = NULL;
	if (exchange)
		mpijob_exchange_end(exchange, MPIJOB_ERR_IO, NULL);
	return exchange ? 0 : MPIJOB_ERR_IO;
}

static int fake_interest(void *self, int *fd, int64_t *deadline_ms)
{
	(void)self;
	*fd = -1;
	*deadline_ms = -1;
	return 0;
}

static void fake_cancel(void *self, mpijob_exchange *exchange)
{
	(void)self;
	(void)exchange;
	started = NULL;
}

static void fake_wake(void *self)
{
	(void)self;
}

static void fake_destroy(void *self)
{
	(void)self;
	destroyed++;
}

/* A transport whose exchanges end at once, without an answer. */
static struct mpijob_transport fake_transport = {
	sizeof(fake_transport),
	fake_start,
	fake_poll,
	fake_interest,
	NULL,
	fake_cancel,
	fake_wake,
	fake_destroy,
};

static mpijob_client *make_client(void)
{
	mpijob_client *client = NULL;

	MUST(mpijob_client_new(&fake_transport, NULL, &client) == 0);
	return client;
}

static mpijob_text *make_text(void)
{
	mpijob_text *text = mpijob_text_new();

	MUST(mpijob_text_write(text, "some", 4) == 0);
	return text;
}

static mpijob_diag *make_diag(void)
{
	return mpijob_diag_new();
}

static mpijob_doc *make_doc(void)
{
	mpijob_doc *doc = NULL;

	MUST(mpijob_doc_parse(job_text, strlen(job_text), NULL, &doc, NULL) == 0);
	return doc;
}

static mpijob_docs *make_docs(void)
{
	mpijob_docs *docs = NULL;

	MUST(mpijob_docs_parse(job_text, strlen(job_text), NULL, &docs, NULL) == 0);
	return docs;
}

static mpijob_node *make_node(void)
{
	return mpijob_doc_edit(make_doc(), "");
}

static mpijob *make_job(void)
{
	mpijob *job = NULL;

	MUST(mpijob_parse(job_text, strlen(job_text), NULL, &job, NULL) == 0);
	MUST(mpijob_default(job, NULL, NULL) == 0);
	return job;
}

static void no_answer(void *user, const struct mpijob_answer *answer)
{
	(void)user;
	(void)answer;
}

static void no_result(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	(void)user;
	(void)code;
	mpijob_free(job);
	mpijob_doc_free(doc);
}

static int no_line(void *user, const struct mpijob_log_line *line)
{
	(void)user;
	(void)line;
	return 0;
}

static void no_event(void *user, const struct mpijob_run_event *event)
{
	(void)user;
	(void)event;
}

static int no_object(void *user, const struct mpijob_watch_event *event)
{
	(void)user;
	(void)event;
	return 0;
}

static void no_change(void *user, int leading, const char *holder)
{
	(void)user;
	(void)leading;
	(void)holder;
}

static int is_ready(void *user, const mpijob_node *object)
{
	(void)user;
	(void)object;
	return 1;
}

static void no_timer(void *user)
{
	(void)user;
}

static int perform(void *self, const struct mpijob_request *request,
    mpijob_blocking_answer *answer);
static void no_abort(void *self, mpijob_blocking_answer *answer)
{
	(void)self;
	(void)answer;
}

#define GIVEN(type, ...)                                                                   \
	static struct mpijob_##type given_##type = { .size = sizeof(struct mpijob_##type), \
		__VA_ARGS__ }
GIVEN(request, .method = "GET", .path = "/api");
GIVEN(callbacks, .done = no_answer);
GIVEN(task_callbacks, .done = no_result);
GIVEN(blocking, .perform = perform, .abort = no_abort, .destroy = fake_destroy);
GIVEN(target, .api_version = "v1", .kind = "Pod", .namespace_ = "default", .name = "pi");
static struct mpijob_target collection = { .size = sizeof(collection),
	.api_version = "v1",
	.kind = "Pod" };
GIVEN(access, .verb = "get", .resource = "pods");
GIVEN(watch_options, .api_version = "v1", .kind = "Pod", .object = no_object);
GIVEN(run_options, .namespace_ = "default", .name = "j", .event = no_event);
GIVEN(logs_options, .namespace_ = "default", .label_selector = "a=b", .line = no_line);
GIVEN(lease_options, .namespace_ = "default", .name = "lease", .identity = "me",
    .changed = no_change);
GIVEN(finding, .severity = MPIJOB_SEVERITY_ERROR, .message = "text", .id = "bad-key");
GIVEN(pod_facts, .name = "pi-worker-0", .uid = "p-1", .role = MPIJOB_ROLE_WORKER,
    .phase = MPIJOB_POD_RUNNING);
GIVEN(launcher_facts, .name = "pi-launcher", .uid = "l-1");
GIVEN(child_facts, .name = "pi", .uid = "s-1", .role = MPIJOB_ROLE_SERVICE);
GIVEN(observed, .uid = "p-1", .pod = &given_pod_facts);
static uint8_t entropy[MPIJOB_SSH_ENTROPY];
GIVEN(render_options, .entropy = entropy, .entropy_len = sizeof(entropy));
GIVEN(plan_options, .now_ms = 1, .render = &given_render_options);
GIVEN(operator_options, .render = &given_render_options);
GIVEN(priority_class, .name = "high");
GIVEN(log_tail, .pod = "pi-launcher");
GIVEN(flyte_log_template, .name = "logs", .uri = "https://logs.example");
GIVEN(evidence, .now_ms = 1);
static const char *no_words[] = { "program", NULL };
GIVEN(local_exec_options, .pod = "none", .argv = no_words);
GIVEN(local_options, .no_node = 1);
GIVEN(http_config_options, .server = "http://127.0.0.1:1");

static mpijob_blocking_answer *answered;
static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answer_there = PTHREAD_COND_INITIALIZER;

static int perform(void *self, const struct mpijob_request *request, mpijob_blocking_answer *answer)
{
	(void)self;
	(void)request;
	pthread_mutex_lock(&answer_lock);
	answered = answer;
	pthread_cond_signal(&answer_there);
	pthread_mutex_unlock(&answer_lock);
	for (;;)
		pause();
	return 0;
}

static mpijob_exchange *make_exchange(void)
{
	MUST(mpijob_client_start(make_client(), &given_request, &given_callbacks, NULL) == 0);
	MUST(started);
	return started;
}

static mpijob_blocking_answer *make_blocking_answer(void)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *client;
	void *self;

	MUST(mpijob_blocking_new(&given_blocking, NULL, &transport, &self) == 0);
	MUST(mpijob_client_new(&transport, self, &client) == 0);
	MUST(mpijob_client_start(client, &given_request, &given_callbacks, NULL) == 0);
	pthread_mutex_lock(&answer_lock);
	while (!answered)
		pthread_cond_wait(&answer_there, &answer_lock);
	pthread_mutex_unlock(&answer_lock);
	return answered;
}

static mpijob_call *make_call(void)
{
	mpijob_call *call = NULL;

	MUST(mpijob_client_start(make_client(), &given_request, &given_callbacks, &call) == 0);
	return call;
}

static mpijob_task *make_task(void)
{
	mpijob_task *task = NULL;

	MUST(mpijob_client_get_start(make_client(), &given_target, NULL, &task, NULL) == 0);
	return task;
}

#define MAKER(type, call)                       \
	static mpijob_##type *make_##type(void) \
	{                                       \
		mpijob_##type *made = NULL;     \
                                                \
		MUST((call) == 0);              \
		return made;                    \
	}
MAKER(watch, mpijob_watch_new(make_client(), &given_watch_options, &made))
MAKER(run, mpijob_run_new(make_client(), &given_run_options, &made))
MAKER(timer, mpijob_timer_new(make_client(), no_timer, NULL, &made))
MAKER(logs, mpijob_logs_new(make_client(), &given_logs_options, &made))
MAKER(lease, mpijob_lease_new(make_client(), &given_lease_options, &made))
MAKER(operator, mpijob_operator_new(make_client(), &given_operator_options, &made, NULL))
MAKER(launch, mpijob_launch_new(make_job(), no_words, 1, NULL, &made, NULL))
MAKER(objects, mpijob_render(make_job(), &given_render_options, &made, NULL))
MAKER(hostfile, mpijob_hostfile_new(make_job(), &given_render_options, &made, NULL))
MAKER(operator_config,
    mpijob_operator_config_parse(config_text, strlen(config_text), NULL, &made, NULL))
MAKER(effective, mpijob_effective_new(make_operator_config(), make_job(), NULL, &made, NULL))
MAKER(flyte_status, mpijob_flyte_status_read(make_node(), NULL, &made))
MAKER(http_config, mpijob_http_config_load(&given_http_config_options, &made, NULL))

static mpijob_observation *make_observation(void)
{
	mpijob_observation *observation = mpijob_observation_new();
	const struct mpijob_observed *observed;

	MUST(mpijob_observe(observation, pod_text, strlen(pod_text), &observed, NULL) == 0);
	return observation;
}

static mpijob_facts *make_facts(void)
{
	mpijob_facts *facts = mpijob_facts_new();

	MUST(mpijob_facts_apply(facts, &given_observed) == 1);
	given_observed.pod = NULL;
	given_observed.launcher = &given_launcher_facts;
	MUST(mpijob_facts_apply(facts, &given_observed) == 1);
	given_observed.launcher = NULL;
	given_observed.child = &given_child_facts;
	MUST(mpijob_facts_apply(facts, &given_observed) == 1);
	given_observed.child = NULL;
	given_observed.pod = &given_pod_facts;
	return facts;
}

static __attribute__((constructor)) void fill(void)
{
	given_evidence.job = make_job();
}

MAKER(plan, mpijob_plan_new(make_job(), make_facts(), &given_plan_options, &made, NULL))

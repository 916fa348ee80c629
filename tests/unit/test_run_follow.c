/* SPDX-License-Identifier: Apache-2.0 */
/* Following a job to its end: which events come, in which order, and what the result is. */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

#define JOBS "/apis/kubeflow.org/v2beta1/mpijobs"
#define PODS "/api/v1/pods"
#define NAME "training.kubeflow.org/job-name: pi"
#define ROLE "training.kubeflow.org/job-role: "
#define TIME "2026-11-21T12:00:00Z "

struct scene {
	struct fake fake;
	mpijob_client *client;
	mpijob_run *run;
	mpijob_text events; /* one line each */
	struct fake_object *job;
	const char *log;     /* of each container */
	const char *refused; /* part of the paths that are forbidden */
	int lost;            /* so many watches fail */
	int log_open;        /* logs do not end */
	int pause;           /* pause the run when output comes */
};

static int decide(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	struct scene *scene = fake->user;

	(void)method;
	if (scene->refused && strstr(path, scene->refused)) {
		reply->status = 403;
		reply->body = "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"no\"}";
		return 1;
	}
	if (scene->lost > 0 && strstr(path, "watch=")) {
		scene->lost--;
		reply->end_code = MPIJOB_ERR_IO;
		return 1;
	}
	if (!strstr(path, "/log?"))
		return 0;
	reply->status = 200;
	reply->body = scene->log;
	reply->open = scene->log_open;
	return 1;
}

static void on_event(void *user, const struct mpijob_run_event *event)
{
	static const char *const kinds[] = { "", "status", "output", "notice", "connection",
		"ended", "finding", "over" };
	struct scene *scene = user;

	mpijob__base_text_printf(&scene->events, "%s", kinds[event->kind]);
	if (event->kind == MPIJOB_RUN_STATUS)
		mpijob__base_text_printf(&scene->events, " %s %d/%d", event->phase, event->ready,
		    event->workers);
	else if (event->kind == MPIJOB_RUN_OUTPUT)
		mpijob__base_text_printf(&scene->events, " %s%s '%.*s'%s", event->pod,
		    event->is_main ? "" : " (other)", (int)event->len, event->data,
		    event->whole ? "" : " part");
	else if (event->kind == MPIJOB_RUN_FINDING)
		mpijob__base_text_printf(&scene->events, " %s", event->finding->id);
	else if (event->kind != MPIJOB_RUN_ENDED)
		mpijob__base_text_printf(&scene->events, " %d%s%s", event->code,
		    event->message ? " " : "", event->message ? event->message : "");
	mpijob__base_text_puts(&scene->events, "\n");
	if (scene->pause && event->kind == MPIJOB_RUN_OUTPUT)
		mpijob_run_pause(scene->run, 1);
}

static int up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->client = fake_client(&scene->fake);
	scene->fake.decide = decide;
	scene->fake.user = scene;
	scene->log = TIME "one\n" TIME "two\n";
	scene->job = fake_put(&scene->fake, JOBS, "d",
	    "{metadata: {name: pi, uid: u}, apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: "
	    "{mpiReplicaSpecs: {Worker: {replicas: 1}, Launcher: {template: {spec: {containers: "
	    "[{name: c, command: [mpirun]}], terminationGracePeriodSeconds: 7}}}}}}");
	*state = scene;
	return 0;
}

static int down(void **state)
{
	struct scene *scene = *state;

	mpijob_run_free(scene->run);
	assert_null(mpijob__base_list_first(&scene->client->calls));
	assert_null(mpijob__base_list_first(&scene->client->watches));
	assert_null(mpijob__base_list_first(&scene->client->timers));
	mpijob_client_free(scene->client);
	fake_release(&scene->fake);
	mpijob__base_text_release(&scene->events);
	free(scene);
	return 0;
}

static void start(struct scene *scene, int local)
{
	struct mpijob_run_options options = MPIJOB_RUN_OPTIONS_INIT;

	options.namespace_ = "d";
	options.name = "pi";
	options.local = local;
	options.event = on_event;
	options.user = scene;
	assert_int_equal(mpijob_run_new(scene->client, &options, &scene->run), 0);
}

static void poll_for(struct scene *scene, int polls)
{
	for (int i = 0; i < polls; i++)
		assert_int_equal(mpijob_client_poll(scene->client, 100), 0);
}

/* Poll until the run is over; returns its state. */
static int finish(struct scene *scene)
{
	for (int i = 0; i < 500000 && mpijob_run_state(scene->run) > 0; i++)
		assert_int_equal(mpijob_client_poll(scene->client, 100), 0);
	return mpijob_run_state(scene->run);
}

static struct fake_object *put_pod(struct scene *scene, const char *name, const char *role,
    const char *status)
{
	char *yaml = fake_text("{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {" NAME
			       ", " ROLE "%s}, ownerReferences: [{kind: %s, uid: u}]}, spec: "
			       "{containers: [{name: c}]}, status: %s}",
	    name, role, strcmp(role, "worker") == 0 ? "MPIJob" : "Job", status);
	struct fake_object *pod = fake_put(&scene->fake, PODS, "d", yaml);

	free(yaml);
	return pod;
}

static void set_condition(struct scene *scene, const char *type)
{
	char *yaml = fake_text(
	    "{status: {conditions: [{type: %s, status: 'True', reason: R, message: why}]}}", type);

	fake_patch(&scene->fake, scene->job, yaml);
	free(yaml);
}

#define RUNNING \
	"{phase: Running, containerStatuses: [{name: c, restartCount: 0, state: {running: {}}}]}"
#define READY                                                                               \
	"{phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: " \
	"[{name: "                                                                          \
	"c, restartCount: 0, state: {running: {}}}]}"
#define ENDED(phase, code)                                                                   \
	"{status: {phase: " phase ", containerStatuses: [{name: c, restartCount: 0, state: " \
	"{terminated: {exitCode: " code "}}}]}}"

static void assert_events(const struct scene *scene, const char *expected)
{
	assert_string_equal(mpijob_text_data(&scene->events), expected);
}

/* Whether these words come in this order. */
static void assert_order(const struct scene *scene, const char *const *words)
{
	const char *at = mpijob_text_data(&scene->events);

	for (; *words; words++) {
		const char *found = strstr(at, *words);

		if (!found)
			fail_msg("no '%s' in\n%s", *words, mpijob_text_data(&scene->events));
		at = found + strlen(*words);
	}
}

static void succeeds(void **state)
{
	struct scene *scene = *state;
	const struct mpijob_run_result *result;
	struct fake_object *launcher;

	start(scene, 0);
	poll_for(scene, 5);
	put_pod(scene, "pi-worker-0", "worker", READY);
	poll_for(scene, 5);
	set_condition(scene, "Running");
	launcher = put_pod(scene, "pi-launcher-x", "launcher", RUNNING);
	poll_for(scene, 20);
	assert_int_equal(mpijob_run_state(scene->run), 1);
	fake_patch(&scene->fake, launcher, ENDED("Succeeded", "0"));
	set_condition(scene, "Succeeded");
	assert_int_equal(finish(scene), 0);
	assert_events(scene, "status starting 0/0\n"
			     "status starting 0/1\n"
			     "status starting 1/1\n"
			     "status running 1/1\n"
			     "output pi-launcher-x 'one'\n"
			     "output pi-launcher-x 'two'\n"
			     "status succeeded 1/1\n"
			     "ended\n"
			     "over 0\n");
	result = mpijob_run_get_result(scene->run);
	assert_int_equal(result->outcome, MPIJOB_RUN_SUCCEEDED);
	assert_string_equal(result->reason, "R");
	assert_string_equal(result->message, "why");
	assert_int_equal(result->has_exit_code, 1);
	assert_int_equal(result->exit_code, 0);
	assert_string_equal(result->running_pod, "pi-worker-0");
	assert_true(result->ready_ms <= result->launcher_started_ms);
	assert_true(result->launcher_ended_ms <= result->ended_ms);
}

/* The launcher's pod is deleted when the job has failed, but its output was read. */
static void fails(void **state)
{
	static const char *const order[] = {
		"output pi-launcher-x 'bash: mpirun: command not found'",
		"notice 127 container c of pod pi-launcher-x ended with exit code 127",
		"status failed 0/1", "ended", "finding mpirun-not-found", "over 0", NULL
	};
	struct scene *scene = *state;
	struct fake_object *launcher;

	scene->log = TIME "bash: mpirun: command not found\n";
	start(scene, 0);
	launcher = put_pod(scene, "pi-launcher-x", "launcher", RUNNING);
	poll_for(scene, 20);
	fake_patch(&scene->fake, launcher, ENDED("Failed", "127"));
	poll_for(scene, 20);
	fake_delete(&scene->fake, launcher);
	set_condition(scene, "Failed");
	assert_int_equal(finish(scene), 0);
	assert_order(scene, order);
	assert_int_equal(mpijob_run_get_result(scene->run)->outcome, MPIJOB_RUN_FAILED);
	assert_int_equal(mpijob_run_get_result(scene->run)->exit_code, 127);
}

static void sshd_is_idle(void **state)
{
	struct scene *scene = *state;
	static const char *const order[] = { "ended", "finding ranks-on-launcher", "over", NULL };

	scene->log = "Server listening on 0.0.0.0 port 22.\n";
	start(scene, 0);
	put_pod(scene, "pi-worker-0", "worker", READY);
	poll_for(scene, 20);
	set_condition(scene, "Succeeded");
	assert_int_equal(finish(scene), 0);
	assert_order(scene, order);
}

static void sshd_is_used(void **state)
{
	struct scene *scene = *state;

	scene->log = "Server listening on 0.0.0.0 port 22.\nAccepted publickey for root\n";
	start(scene, 0);
	put_pod(scene, "pi-worker-0", "worker", READY);
	poll_for(scene, 20);
	set_condition(scene, "Succeeded");
	assert_int_equal(finish(scene), 0);
	assert_null(strstr(mpijob_text_data(&scene->events), "finding"));
}

static void is_deleted(void **state)
{
	struct scene *scene = *state;

	start(scene, 0);
	poll_for(scene, 10);
	fake_delete(&scene->fake, scene->job);
	assert_int_equal(finish(scene), 0);
	assert_int_equal(mpijob_run_get_result(scene->run)->outcome, MPIJOB_RUN_DELETED);
	assert_null(mpijob_run_get_result(scene->run)->reason);
}

static void does_not_exist(void **state)
{
	struct scene *scene = *state;

	fake_delete(&scene->fake, scene->job);
	start(scene, 0);
	assert_int_equal(finish(scene), MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(mpijob_run_stop(scene->run, 0), MPIJOB_ERR_NOT_FOUND);
}

static void is_forbidden(void **state)
{
	struct scene *scene = *state;

	scene->refused = "/pods";
	start(scene, 0);
	assert_int_equal(finish(scene), MPIJOB_ERR_AUTH);
	poll_for(scene, 3);
	assert_non_null(strstr(mpijob_text_data(&scene->events), "over -"));
}

static void connection_breaks(void **state)
{
	static const char *const order[] = { "connection -", "connection 0", "status succeeded",
		"over", NULL };
	struct scene *scene = *state;

	start(scene, 0);
	poll_for(scene, 10);
	scene->lost = 2;
	scene->fake.cut_watches = 1;
	fake_patch(&scene->fake, scene->job, "{metadata: {labels: {a: b}}}");
	poll_for(scene, 10);
	scene->fake.cut_watches = 0;
	poll_for(scene, 10000);
	set_condition(scene, "Succeeded");
	assert_int_equal(finish(scene), 0);
	assert_order(scene, order);
}

/* Pods of an earlier job with the same name do not count. */
static void other_pods(void **state)
{
	struct scene *scene = *state;

	fake_put(&scene->fake, PODS, "d",
	    "{apiVersion: v1, kind: Pod, metadata: {name: w, labels: {" NAME ", " ROLE
	    "worker}, ownerReferences: [{kind: MPIJob, uid: older}]}, status: " READY "}");
	start(scene, 0);
	poll_for(scene, 20);
	assert_events(scene, "status starting 0/0\nstatus starting 0/1\n");
}

static void many_pods(void **state)
{
	enum { COUNT = 300 };
	struct scene *scene = *state;
	struct fake_object *pods[COUNT];
	char name[32];

	fake_patch(&scene->fake, scene->job,
	    "{spec: {mpiReplicaSpecs: {Worker: {replicas: 300}}}}");
	start(scene, 0);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "pi-worker-%d", i);
		pods[i] = put_pod(scene, name, "worker", READY);
	}
	poll_for(scene, 20);
	assert_non_null(strstr(mpijob_text_data(&scene->events), "starting 300/300"));
	for (int i = 0; i < COUNT; i += 2)
		fake_delete(&scene->fake, pods[i]);
	poll_for(scene, 20);
	assert_non_null(strstr(mpijob_text_data(&scene->events), "starting 150/300"));
}

/* While the reader is behind, no time passes for the end of the output. */
static void is_paused(void **state)
{
	struct scene *scene = *state;

	scene->pause = 1;
	scene->log_open = 1;
	start(scene, 0);
	put_pod(scene, "pi-launcher-x", "launcher", RUNNING);
	poll_for(scene, 20);
	set_condition(scene, "Succeeded");
	for (int i = 0; i < 1000; i++)
		assert_int_equal(mpijob_client_poll(scene->client, 100), 0);
	fake_clock_advance_us(60000000);
	poll_for(scene, 10);
	assert_int_equal(mpijob_run_state(scene->run), 1);
	assert_null(strstr(mpijob_text_data(&scene->events), "ended"));
	scene->pause = 0;
	mpijob_run_pause(scene->run, 0);
	/* The launcher never ends: it is waited for, but not forever. */
	assert_int_equal(finish(scene), 0);
	assert_non_null(strstr(mpijob_text_data(&scene->events), "is not complete"));
}

static void stops(void **state)
{
	struct scene *scene = *state;
	struct fake_object *launcher;

	scene->log_open = 0;
	start(scene, 0);
	launcher = put_pod(scene, "pi-launcher-x", "launcher", RUNNING);
	poll_for(scene, 20);
	assert_int_equal(mpijob_run_stop(scene->run, -1), 0);
	poll_for(scene, 20);
	assert_int_equal(fake_count(&scene->fake, "DELETE "), 1);
	assert_int_equal(fake_objects(&scene->fake, JOBS), 0);
	assert_int_equal(mpijob_run_state(scene->run), 1);
	fake_delete(&scene->fake, launcher);
	assert_int_equal(finish(scene), 0);
	assert_int_equal(mpijob_run_get_result(scene->run)->outcome, MPIJOB_RUN_UNFINISHED);
	assert_non_null(strstr(mpijob_text_data(&scene->events), "status stopping"));
	assert_null(strstr(mpijob_text_data(&scene->events), "ended\n"));
}

/* The launcher stays, so its own grace period passes. */
static void stops_after_grace(void **state)
{
	struct scene *scene = *state;
	int64_t begun_ms;

	start(scene, 0);
	put_pod(scene, "pi-launcher-x", "launcher", RUNNING);
	poll_for(scene, 20);
	begun_ms = scene->client->clock();
	assert_int_equal(mpijob_run_stop(scene->run, -1), 0);
	assert_int_equal(finish(scene), 0);
	assert_true(scene->client->clock() - begun_ms >= 7000);
	assert_true(scene->client->clock() - begun_ms < 8000);
}

static void stop_is_refused(void **state)
{
	struct scene *scene = *state;

	start(scene, 0);
	poll_for(scene, 20);
	scene->refused = "/mpijobs/pi";
	assert_int_equal(mpijob_run_stop(scene->run, 0), 0);
	assert_int_equal(finish(scene), MPIJOB_ERR_AUTH);
	assert_non_null(strstr(mpijob_text_data(&scene->events), "finding "));
}

static void local_output_is_bytes(void **state)
{
	struct scene *scene = *state;

	scene->log = "one\nhalf";
	start(scene, 1);
	put_pod(scene, "pi-launcher-x", "launcher",
	    "{phase: Running, initContainerStatuses: [{name: i, restartCount: 0, state: "
	    "{terminated: {exitCode: 0}}}], containerStatuses: [{name: c, restartCount: 0, state: "
	    "{running: {}}}]}");
	poll_for(scene, 20);
	assert_non_null(
	    strstr(mpijob_text_data(&scene->events), "output pi-launcher-x 'one\nhalf' part\n"));
	/* That of other containers comes by lines. */
	assert_non_null(strstr(mpijob_text_data(&scene->events),
	    "output pi-launcher-x (other) 'one'\noutput pi-launcher-x (other) 'half'\n"));
	assert_null(strstr(scene->fake.log[scene->fake.log_count - 1], "timestamps"));
}

static void local_job_is_given_up(void **state)
{
	static const char *const order[] = { "status failed", "ended", "over", NULL };
	struct scene *scene = *state;

	start(scene, 1);
	put_pod(scene, "pi-launcher-x", "launcher",
	    "{phase: Pending, containerStatuses: [{name: c, restartCount: 0, state: {waiting: "
	    "{reason: CreateContainerConfigError, message: 'configmap \"x\" not found'}}}]}");
	assert_int_equal(finish(scene), 0);
	assert_order(scene, order);
	assert_int_equal(mpijob_run_get_result(scene->run)->given_up, 1);
	assert_int_equal(mpijob_run_get_result(scene->run)->explained, 1);
	assert_string_equal(mpijob_run_get_result(scene->run)->message,
	    "pod pi-launcher-x cannot start: configmap \"x\" not found; a local run has only the "
	    "objects of its files");
}

static void wrong_use(void **state)
{
	struct mpijob_run_options options = MPIJOB_RUN_OPTIONS_INIT;
	struct scene *scene = *state;

	assert_int_equal(mpijob_run_new(scene->client, &options, &scene->run), MPIJOB_ERR_USAGE);
	options.namespace_ = options.name = "d";
	assert_int_equal(mpijob_run_new(scene->client, &options, &scene->run), MPIJOB_ERR_USAGE);
	options.event = on_event;
	options.local = 2;
	assert_int_equal(mpijob_run_new(scene->client, &options, &scene->run), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_run_new(NULL, &options, &scene->run), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_run_state(NULL), MPIJOB_ERR_USAGE);
	assert_null(mpijob_run_get_result(NULL));
	mpijob_run_pause(NULL, 1);
	mpijob_run_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(succeeds),
		TEST(fails),
		TEST(sshd_is_idle),
		TEST(sshd_is_used),
		TEST(is_deleted),
		TEST(does_not_exist),
		TEST(is_forbidden),
		TEST(connection_breaks),
		TEST(other_pods),
		TEST(many_pods),
		TEST(is_paused),
		TEST(stops),
		TEST(stops_after_grace),
		TEST(stop_is_refused),
		TEST(local_output_is_bytes),
		TEST(local_job_is_given_up),
		TEST(wrong_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow a job to its end.
 *
 *   FOLLOWING --the job ended--> DRAINING --its output is complete--> DIAGNOSING --causes--> OVER
 *                                   \--it succeeded, or the cause is known-------------------^
 *   any but FAILED --mpijob_run_stop()--> STOPPING --launchers deleted, or the grace ended--> OVER
 *   any --no memory, no right to watch--> FAILED
 *
 * Two watches (the job; then its pods) and the logs of the launchers bring events. They change the
 * facts and set the timer; evaluate() is called by the timer, once in a poll for any number of
 * events, and is the only function that leaves a state. Only this file knows how long it waits for
 * output after the end of a job, and what the conditions of the job mean for the run.
 */
#include "run/run.h"

#include "base/api.h"
#include "base/struct.h"
#include "run/hopeless.h"
#include "run/objects.h"

#include <mpijob/watch.h>

#include <stdlib.h>

#define TICK_MS          200   /* between two evaluations while time matters */
#define END_TICK_MS      20    /* the same while the end of logs is awaited */
#define LAST_OUTPUT_MS   5000  /* in which output may still arrive after the end of the job */
#define LAST_HOPELESS_MS 500   /* the same of a launcher that goes on without workers */
#define LAST_REMOTE_MS   15000 /* the same over a connection that may break */
#define GRACE_MS         30000 /* of a launcher, unless its template has another time */
#define MOST_GRACE_S     3600

enum { NO_TROUBLE, CONNECTION_LOST, WATCH_REFUSED };

int64_t mpijob__run_now_ms(const struct mpijob_run *run)
{
	return run->client->clock();
}

void mpijob__run_wake(struct mpijob_run *run)
{
	mpijob_timer_set(&run->timer, mpijob__run_now_ms(run));
}

void mpijob__run_fail(struct mpijob_run *run, int code)
{
	run->code = run->code ? run->code : code;
	mpijob__run_wake(run);
}

void mpijob__run_emit(struct mpijob_run *run, struct mpijob_run_event *event)
{
	run->client->reported = 1;
	run->event(run->user, event);
}

void mpijob__run_notice(struct mpijob_run *run, const char *pod, const char *container,
    int32_t code, const char *format, ...)
{
	struct mpijob_run_event event = { .size = sizeof(event),
		.kind = MPIJOB_RUN_NOTICE,
		.code = code };
	va_list args;
	char *message;

	va_start(args, format);
	message = mpijob__base_text_vformat(format, args);
	va_end(args);
	if (!message) {
		mpijob__run_fail(run, MPIJOB_ERR_NOMEM);
		return;
	}
	event.pod = pod;
	event.container = container;
	event.message = message;
	mpijob__run_emit(run, &event);
	free(message);
}

static void emit_kind(struct mpijob_run *run, int32_t kind, int32_t code, const char *message)
{
	struct mpijob_run_event event = { .size = sizeof(event), .kind = kind, .code = code };

	event.message = message;
	mpijob__run_emit(run, &event);
}

static void emit_status(struct mpijob_run *run)
{
	struct mpijob_run_event event = { .size = sizeof(event), .kind = MPIJOB_RUN_STATUS };

	if (strcmp(run->reported.phase, run->status.phase) == 0 &&
	    run->reported.ready == run->status.ready &&
	    run->reported.workers == run->status.workers)
		return;
	run->reported = run->status;
	event.phase = run->status.phase;
	event.ready = run->status.ready;
	event.workers = run->status.workers;
	mpijob__run_emit(run, &event);
}

int mpijob__run_stream_log(struct mpijob_run *run, const char *pod, const char *container,
    int previous, const struct mpijob_callbacks *callbacks, mpijob_call **out)
{
	const char *query[] = { "container", container, previous ? "previous" : "follow", "true" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	mpijob_text path = { 0 };
	int rc;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = run->namespace_;
	target.name = pod;
	target.subresource = "log";
	target.query = query;
	target.query_count = 4;
	rc = mpijob_target_write(&target, mpijob_text_write, &path);
	request.method = "GET";
	request.path = mpijob_text_data(&path);
	request.streaming = 1;
	if (rc == 0)
		rc = mpijob_client_start(run->client, &request, callbacks, out);
	mpijob__base_text_release(&path);
	return rc;
}

/* ---- the job ---- */

void mpijob__run_end(struct mpijob_run *run, int outcome, const char *phase, const char *reason,
    const char *message)
{
	run->status.phase = phase;
	run->result.outcome = outcome;
	run->result.ended_ms = run->end.since_ms = mpijob__run_now_ms(run);
	run->reason = reason ? mpijob__base_text_format("%s", reason) : NULL;
	run->message = message ? mpijob__base_text_format("%s", message) : NULL;
	if ((reason && !run->reason) || (message && !run->message))
		mpijob__run_fail(run, MPIJOB_ERR_NOMEM);
	run->result.reason = run->reason;
	run->result.message = run->message;
}

/* Whether the launcher's command names a program that starts ranks. A script may start them, too,
 * and then nothing is known. */
static int starts_mpi(const mpijob_node *job)
{
	static const char *const lists[] = { "command", "args" };
	static const char *const words[] = { "mpirun", "mpiexec", "orterun", "prterun",
		"horovodrun", "deepspeed" };
	const mpijob_node *container =
	    mpijob_node_find(job, "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0]");

	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		const mpijob_node *items = mpijob_node_get(container, lists[list]);

		for (size_t i = 0; i < mpijob_node_count(items); i++) {
			const char *text = mpijob_node_string(mpijob_node_at(items, i));

			for (size_t j = 0; text && j < sizeof(words) / sizeof(words[0]); j++)
				if (strstr(text, words[j]))
					return 1;
		}
	}
	return 0;
}

static void read_spec(struct mpijob_run *run, const mpijob_node *job)
{
	int64_t workers = 0, seconds = -1;

	mpijob_node_int(mpijob_node_find(job, "spec.mpiReplicaSpecs[Worker].replicas"), &workers);
	run->status.workers = workers < 0 ? 0 : workers > INT32_MAX ? INT32_MAX : (int32_t)workers;
	run->starts_mpi = starts_mpi(job);
	run->waits = strcmp(mpijob__run_text(job, "spec.launcherCreationPolicy"),
			 "WaitForWorkersReady") == 0;
	mpijob_node_int(
	    mpijob_node_find(job,
		"spec.mpiReplicaSpecs[Launcher].template.spec.terminationGracePeriodSeconds"),
	    &seconds);
	run->grace_ms = seconds < 0 || seconds > MOST_GRACE_S ? GRACE_MS : seconds * 1000;
}

static void read_conditions(struct mpijob_run *run, const mpijob_node *job)
{
	static const struct {
		const char *type, *phase;
		int outcome;
	} rows[] = {
		{ "Failed", "failed", MPIJOB_RUN_FAILED },
		{ "Succeeded", "succeeded", MPIJOB_RUN_SUCCEEDED },
		{ "Suspended", "suspended", MPIJOB_RUN_UNFINISHED },
		{ "Restarting", "restarting", MPIJOB_RUN_UNFINISHED },
		{ "Running", "running", MPIJOB_RUN_UNFINISHED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const mpijob_node *condition = mpijob_condition_find(job, rows[i].type, "True");

		if (!condition)
			continue;
		if (rows[i].outcome)
			mpijob__run_end(run, rows[i].outcome, rows[i].phase,
			    mpijob__run_text(condition, "reason"),
			    mpijob__run_text(condition, "message"));
		else if (run->state != MPIJOB__RUN_STOPPING)
			run->status.phase = rows[i].phase;
		return;
	}
}

static int watch_pods(struct mpijob_run *run);

/* The first event of the job: only now it is known which pods belong to it. */
static int identify(struct mpijob_run *run, const mpijob_node *job)
{
	if (run->created)
		return 0;
	if (!run->uid)
		run->uid = mpijob__base_text_format("%s", mpijob__run_text(job, "metadata.uid"));
	run->created =
	    mpijob__base_text_format("%s", mpijob__run_text(job, "metadata.creationTimestamp"));
	return run->uid && run->created ? watch_pods(run) : MPIJOB_ERR_NOMEM;
}

static void job_deleted(struct mpijob_run *run)
{
	if (run->state == MPIJOB__RUN_FOLLOWING && !run->result.outcome)
		mpijob__run_end(run, MPIJOB_RUN_DELETED, "deleted", NULL, NULL);
	mpijob__run_wake(run);
}

/* ---- watches ---- */

static void report_connected(struct mpijob_run *run)
{
	if (run->connection != NO_TROUBLE)
		emit_kind(run, MPIJOB_RUN_CONNECTION, 0, NULL);
	run->connection = NO_TROUBLE;
}

static int read_object(struct mpijob_run *run, const struct mpijob_watch_event *event,
    mpijob_doc **doc)
{
	int rc = event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, doc, NULL)
			     : MPIJOB_ERR_SYNTAX;

	if (rc == 0)
		report_connected(run);
	return rc;
}

/* An event about another job with the same name does not count. */
static int on_job(void *user, const struct mpijob_watch_event *event)
{
	struct mpijob_run *run = user;
	mpijob_doc *doc = NULL;
	const mpijob_node *job;
	int rc = read_object(run, event, &doc);

	if (rc)
		return rc;
	job = mpijob_doc_root(doc);
	if (!run->uid || strcmp(run->uid, mpijob__run_text(job, "metadata.uid")) == 0) {
		rc = identify(run, job);
		run->listed = event->event != MPIJOB_WATCH_DELETED;
		if (rc == 0 && !run->result.outcome) {
			read_spec(run, job);
			read_conditions(run, job);
		}
		if (event->event == MPIJOB_WATCH_DELETED)
			job_deleted(run);
		mpijob__run_wake(run);
	}
	mpijob_doc_free(doc);
	if (rc)
		mpijob__run_fail(run, rc);
	return 0;
}

static int on_pod(void *user, const struct mpijob_watch_event *event)
{
	struct mpijob_run *run = user;
	mpijob_doc *doc = NULL;
	int rc = read_object(run, event, &doc);

	if (rc == 0)
		mpijob__run_pod_changed(run, doc, event->event == MPIJOB_WATCH_DELETED);
	return rc;
}

static void on_begin(void *user)
{
	((struct mpijob_run *)user)->listed = 0;
}

/* A job that was deleted while there was no connection is not in the list. */
static int on_listed(void *user, const char *resource_version)
{
	struct mpijob_run *run = user;

	(void)resource_version;
	report_connected(run);
	if (!run->listed && !run->uid)
		mpijob__run_fail(run, MPIJOB_ERR_NOT_FOUND);
	else if (!run->listed)
		job_deleted(run);
	return 0;
}

/* A watch tries again by itself. A failure that is permanent ends the run. */
static void on_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct mpijob_run *run = user;
	int is_lost = answer->code == MPIJOB_ERR_IO || answer->code == MPIJOB_ERR_UNREACHABLE ||
		      answer->code == MPIJOB_ERR_TIMEOUT || answer->code == MPIJOB_ERR_SERVER;
	int trouble = is_lost ? CONNECTION_LOST : WATCH_REFUSED;

	(void)what;
	if (mpijob_watch_health_get(run->job_watch)->hopeless ||
	    (run->pod_watch && mpijob_watch_health_get(run->pod_watch)->hopeless) ||
	    answer->code == MPIJOB_ERR_NOMEM) {
		mpijob__run_fail(run, answer->code);
		return;
	}
	if (run->connection != trouble)
		emit_kind(run, MPIJOB_RUN_CONNECTION, answer->code,
		    answer->message ? answer->message : mpijob_error_text(answer->code));
	run->connection = trouble;
}

/* `options` has what is special about this watch. */
static int start_watch(struct mpijob_run *run, struct mpijob_watch_options *options,
    mpijob_watch **out)
{
	options->namespace_ = run->namespace_;
	options->failed = on_failed;
	options->user = run;
	return mpijob_watch_new(run->client, options, out);
}

static int watch_job(struct mpijob_run *run)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = MPIJOB__BASE_API_VERSION;
	options.kind = MPIJOB__BASE_API_KIND;
	options.name = run->name;
	options.begin = on_begin;
	options.object = on_job;
	options.listed = on_listed;
	return start_watch(run, &options, &run->job_watch);
}

static int watch_pods(struct mpijob_run *run)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	char *selector = mpijob__base_text_format(MPIJOB__BASE_API_LABEL_JOB_NAME "=%s", run->name);
	int rc = MPIJOB_ERR_NOMEM;

	options.api_version = "v1";
	options.kind = "Pod";
	options.label_selector = selector;
	options.object = on_pod;
	if (selector)
		rc = start_watch(run, &options, &run->pod_watch);
	free(selector);
	return rc;
}

/* ---- states ---- */

static void emit_findings(struct mpijob_run *run)
{
	for (size_t i = 0; mpijob_diag_at(run->findings, i); i++) {
		struct mpijob_run_event event = { .size = sizeof(event),
			.kind = MPIJOB_RUN_FINDING };

		event.finding = mpijob_diag_at(run->findings, i);
		mpijob__run_emit(run, &event);
	}
	mpijob_diag_clear(run->findings);
}

static void enter(struct mpijob_run *run, enum mpijob__run_state state)
{
	run->state = state;
	if (state == MPIJOB__RUN_OVER || state == MPIJOB__RUN_FAILED)
		emit_kind(run, MPIJOB_RUN_OVER, run->code, NULL);
	else
		mpijob__run_wake(run);
}

/* All output of which more can come is waited for; and the end of a launcher, because that of the
 * job may be known before. While the user of the run is behind, no time passes. */
static int is_drained(struct mpijob_run *run)
{
	int64_t now_ms = mpijob__run_now_ms(run);
	int64_t most_ms = run->result.given_up ? LAST_HOPELESS_MS
			  : run->local         ? LAST_OUTPUT_MS
					       : LAST_REMOTE_MS;
	int going = !run->local && run->pods.launchers_going > 0;
	int64_t silent_ms;

	if (run->paused)
		run->end.since_ms = now_ms;
	silent_ms =
	    now_ms - (run->output_ms > run->end.since_ms ? run->output_ms : run->end.since_ms);
	if (!mpijob__run_output_is_open(run) && !going)
		return 1;
	/* A node that refuses to send a log will hardly send it later. */
	if (!run->local && !going && silent_ms >= LAST_OUTPUT_MS &&
	    !mpijob__run_output_is_alive(run, LAST_OUTPUT_MS))
		return 1;
	return silent_ms >= most_ms;
}

static void report_idle_workers(struct mpijob_run *run)
{
	struct mpijob_run_event event = { .size = sizeof(event), .kind = MPIJOB_RUN_FINDING };
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	int workers = run->status.workers;
	char *message;

	if (run->result.outcome != MPIJOB_RUN_SUCCEEDED || !run->starts_mpi ||
	    !mpijob__run_sshd_was_idle(run, workers))
		return;
	message = mpijob__base_text_format(
	    "sshd let nobody in on %d worker%s: all ranks ran on the launcher", workers,
	    workers == 1 ? "" : "s");
	if (!message)
		return;
	finding.id = "ranks-on-launcher";
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.message = message;
	event.finding = &finding;
	mpijob__run_emit(run, &event);
	free(message);
}

static void on_diagnosed(void *user, int code, mpijob *job, mpijob_doc *evidence)
{
	struct mpijob_run *run = user;

	run->task = NULL;
	mpijob_free(job);
	mpijob_doc_free(evidence);
	if (code < 0) /* a job that cannot be read any more is not a failure of the run */
		mpijob_diag_clear(run->findings);
	mpijob__run_wake(run);
}

static int start_diagnosis(struct mpijob_run *run)
{
	struct mpijob_run_diagnose_options options = MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT;
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;
	struct mpijob_log_tail last = MPIJOB_LOG_TAIL_INIT;

	last.pod = run->pods.last_pod;
	last.text = run->pods.last.data;
	last.len = run->pods.last.len;
	options.log = last.pod ? &last : NULL;
	options.pod = run->pods.launcher ? mpijob_doc_root(run->pods.launcher) : NULL;
	callbacks.done = on_diagnosed;
	callbacks.user = run;
	return mpijob_run_diagnose_start(run->client, run->namespace_, run->name, &options,
	    &callbacks, &run->task, run->findings);
}

static void drained(struct mpijob_run *run)
{
	int failed = run->result.outcome != MPIJOB_RUN_SUCCEEDED;

	if (!run->local)
		mpijob__run_output_report_missing(run);
	emit_kind(run, MPIJOB_RUN_ENDED, 0, NULL);
	report_idle_workers(run);
	if (failed && !run->result.explained && start_diagnosis(run) == 0)
		enter(run, MPIJOB__RUN_DIAGNOSING);
	else
		enter(run, MPIJOB__RUN_OVER);
}

static int is_stopped(struct mpijob_run *run)
{
	if (run->task)
		return 0;
	return (!run->pods.launchers_left && !mpijob__run_output_is_open(run)) ||
	       mpijob__run_now_ms(run) - run->end.since_ms >= run->end.grace_ms;
}

static void update_status(struct mpijob_run *run)
{
	if (!run->result.outcome)
		run->status.ready = run->pods.ready_workers;
	if (!run->result.ready_ms && run->created && run->pods.ready_workers == run->status.workers)
		run->result.ready_ms = mpijob__run_now_ms(run);
	emit_status(run);
}

/* The only function that leaves a state by itself; each step wakes the next one. */
static void leave_state(struct mpijob_run *run)
{
	if (run->code && run->state != MPIJOB__RUN_FAILED) {
		enter(run, MPIJOB__RUN_FAILED);
	} else if (run->state == MPIJOB__RUN_FOLLOWING) {
		if (run->local && run->created && !run->result.outcome)
			mpijob__run_hopeless_check(run);
		if (run->result.outcome)
			enter(run, MPIJOB__RUN_DRAINING);
	} else if (run->state == MPIJOB__RUN_DRAINING) {
		if (is_drained(run))
			drained(run);
	} else if (run->state == MPIJOB__RUN_DIAGNOSING) {
		if (!run->task) {
			emit_findings(run);
			enter(run, MPIJOB__RUN_OVER);
		}
	} else if (run->state == MPIJOB__RUN_STOPPING) {
		if (is_stopped(run))
			enter(run, MPIJOB__RUN_OVER);
	}
}

/* Called by the timer. */
static void evaluate(void *user)
{
	struct mpijob_run *run = user;
	int queued, ends, ticks;

	mpijob__run_sshd_stop(run);
	queued = mpijob__run_output_start_queued(run);
	update_status(run);
	leave_state(run);
	ends = run->state == MPIJOB__RUN_DRAINING || run->state == MPIJOB__RUN_STOPPING;
	ticks = run->state == MPIJOB__RUN_FOLLOWING && (run->local || queued);
	if (!mpijob__base_list_is_linked(&run->timer.link) && (ends || ticks))
		mpijob_timer_set(&run->timer,
		    mpijob__run_now_ms(run) + (ends ? END_TICK_MS : TICK_MS));
}

/* ---- public ---- */

static int copy_names(struct mpijob_run *run, const struct mpijob_run_options *options)
{
	run->namespace_ = mpijob__base_text_format("%s", options->namespace_);
	run->name = mpijob__base_text_format("%s", options->name);
	run->uid = options->uid ? mpijob__base_text_format("%s", options->uid) : NULL;
	run->findings = mpijob_diag_new();
	return run->namespace_ && run->name && (run->uid || !options->uid) && run->findings
		   ? 0
		   : MPIJOB_ERR_NOMEM;
}

int mpijob_run_new(mpijob_client *client, const struct mpijob_run_options *options,
    mpijob_run **out)
{
	struct mpijob_run_options known;
	struct mpijob_run *run;
	int rc = client && options && out
		     ? mpijob__base_struct_check(&known, sizeof(known), options)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (!known.namespace_ || !known.name || !known.event ||
	    !mpijob__base_struct_is_flag(known.local))
		return MPIJOB_ERR_USAGE;
	run = calloc(1, sizeof(*run));
	if (!run)
		return MPIJOB_ERR_NOMEM;
	run->client = client;
	mpijob__client_timer_init(&run->timer, client, evaluate, run);
	run->event = known.event;
	run->user = known.user;
	run->local = known.local;
	run->grace_ms = GRACE_MS;
	run->status.phase = "starting";
	run->reported.phase = "";
	run->result.size = sizeof(run->result);
	rc = copy_names(run, &known);
	if (rc == 0)
		rc = watch_job(run);
	if (rc) {
		mpijob_run_free(run);
		return rc;
	}
	mpijob__run_wake(run);
	*out = run;
	return 0;
}

void mpijob_run_free(mpijob_run *run)
{
	if (!run)
		return;
	mpijob_timer_set(&run->timer, INT64_MAX);
	mpijob_watch_free(run->job_watch);
	mpijob_watch_free(run->pod_watch);
	mpijob_task_cancel(run->task);
	mpijob__run_pods_free(run);
	mpijob__run_sshd_free(run);
	mpijob_diag_free(run->findings);
	free(run->namespace_);
	free(run->name);
	free(run->uid);
	free(run->created);
	free(run->reason);
	free(run->message);
	free(run);
}

int mpijob_run_state(const mpijob_run *run)
{
	if (!run)
		return MPIJOB_ERR_USAGE;
	return run->code ? run->code : run->state != MPIJOB__RUN_OVER;
}

const struct mpijob_run_result *mpijob_run_get_result(mpijob_run *run)
{
	if (!run)
		return NULL;
	run->result.running_pod = NULL;
	for (const struct mpijob__run_pod *pod = run->pods.all; pod; pod = pod->next)
		if (pod->active && !pod->deleted && !pod->deleting)
			run->result.running_pod = pod->name;
	return &run->result;
}

void mpijob_run_pause(mpijob_run *run, int on)
{
	if (!run || !on == !run->paused)
		return;
	run->paused = on != 0;
	mpijob__run_output_pause(run);
	mpijob__run_wake(run);
}

static void on_deleted(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	struct mpijob_run *run = user;

	(void)job;
	(void)doc;
	run->task = NULL;
	if (code && code != MPIJOB_ERR_NOT_FOUND) {
		emit_findings(run);
		mpijob__run_fail(run, code);
	}
	mpijob__run_wake(run);
}

int mpijob_run_stop(mpijob_run *run, int64_t grace_ms)
{
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;
	int rc;

	if (!run || run->code)
		return run ? run->code : MPIJOB_ERR_USAGE;
	mpijob_task_cancel(run->task);
	run->task = NULL;
	mpijob_diag_clear(run->findings);
	callbacks.done = on_deleted;
	callbacks.user = run;
	rc = mpijob_client_delete_job_start(run->client, run->namespace_, run->name, run->uid, NULL,
	    &callbacks, &run->task, run->findings);
	if (rc)
		return rc;
	if (!run->result.outcome)
		run->status.phase = "stopping";
	run->end.since_ms = mpijob__run_now_ms(run);
	run->end.grace_ms = grace_ms < 0 ? run->grace_ms : grace_ms;
	enter(run, MPIJOB__RUN_STOPPING);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a run is followed, wherever its cluster is: the job's conditions and its pods by two
 * watches that outlive broken connections, signals and the timeout, the end of the output, and the
 * exit code that tells how it went.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "findings.h"
#include "hopeless.h"
#include "print.h"
#include "run.h"

/* the longest wait in one turn of the loop: a signal is seen at the latest then */
#define TURN_MS          200
#define LAST_OUTPUT_MS   5000  /* how long output may still arrive after the job's end */
#define LAST_HOPELESS_MS 500   /* the same of a launcher that goes on without workers */
#define LAST_CLUSTER_MS  15000 /* the same over a connection that may break meanwhile */

/* ---- signals ---- */

static volatile sig_atomic_t signals_seen;
static volatile sig_atomic_t last_signal;
static mpijob_client *volatile interrupted;

static void on_signal(int number)
{
	mpijob_client *client = interrupted;

	signals_seen++;
	last_signal = number;
	if (client)
		mpijob_client_cancel(client);
}

void run_catch_signals(void)
{
	struct sigaction action = { 0 };
	struct sigaction before;

	action.sa_handler = on_signal;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup has it ignored */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	/* A reader of our output that goes away is an error of write(), not the end of the
	 * process. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

void run_interrupts(mpijob_client *client)
{
	interrupted = client;
}

int run_signals_seen(void)
{
	return signals_seen;
}

int run_must_stop(const struct run *run)
{
	if (signals_seen)
		return EXIT_SIGNALLED + last_signal;
	if (!run->is_cluster && run->pods.out.error == EPIPE)
		return EXIT_SIGNALLED + SIGPIPE;
	if (run->arguments->timeout_ms &&
	    mpijob__base_clock_monotonic_ms() - run->begun_ms >= run->arguments->timeout_ms)
		return EXIT_TIMED_OUT;
	return 0;
}

/* ---- watching ---- */

static int condition_true(const mpijob_node *status, const char *type, const mpijob_node **found)
{
	const mpijob_node *conditions = mpijob_node_get(status, "conditions");

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);
		const char *has = mpijob_node_string(mpijob_node_get(condition, "type"));
		const char *value = mpijob_node_string(mpijob_node_get(condition, "status"));
		if (has && value && strcmp(has, type) == 0) {
			*found = condition;
			return strcmp(value, "True") == 0;
		}
	}
	return 0;
}

static void keep_failure(struct run *run, const mpijob_node *condition)
{
	const char *reason = mpijob_node_string(mpijob_node_get(condition, "reason"));
	const char *message = mpijob_node_string(mpijob_node_get(condition, "message"));

	free(run->failure);
	if (asprintf(&run->failure, "%s: %s", reason ? reason : "Failed",
		message ? message : "no message") < 0)
		run->failure = NULL;
}

/* Another job of the same name is not ours. */
static int is_this(const struct run *run, const mpijob_node *job)
{
	const char *uid = mpijob_node_string(mpijob_node_find(job, "metadata.uid"));

	return uid && strcmp(uid, run->uid) == 0;
}

/* On this machine nobody but us deletes it. */
static void run_gone(struct run *run)
{
	if (!run->is_cluster || run->finished)
		return;
	run->finished = 1;
	run->phase = "deleted";
	run->failure = strdup("somebody deleted it");
}

static void job_changed(void *user, const mpijob_node *job, int gone)
{
	struct run *run = user;
	const mpijob_node *status = mpijob_node_get(job, "status");
	const mpijob_node *condition = NULL;

	if (run->finished || (run->uid && !is_this(run, job)))
		return;
	if (gone) {
		run_gone(run);
		return;
	}
	if (condition_true(status, "Failed", &condition)) {
		run->finished = 1;
		run->phase = "failed";
		keep_failure(run, condition);
	} else if (condition_true(status, "Succeeded", &condition)) {
		run->finished = run->succeeded = 1;
		run->phase = "succeeded";
	} else if (condition_true(status, "Suspended", &condition)) {
		run->phase = "suspended";
	} else if (condition_true(status, "Restarting", &condition)) {
		run->phase = "restarting";
	} else if (condition_true(status, "Running", &condition)) {
		run->phase = "running";
	}
	if (run->finished)
		run->finished_ms = mpijob__base_clock_monotonic_ms();
}

static int on_object(void *user, const struct mpijob_watch_event *event)
{
	struct watched *watched = user;
	mpijob_doc *doc = NULL;
	int code = event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, &doc, NULL)
			       : MPIJOB_ERR_SYNTAX;

	if (code)
		return code;
	watched->listed++;
	watched->run->told = TROUBLE_NONE;
	watched->changed(watched->user, mpijob_doc_root(doc), event->event == MPIJOB_WATCH_DELETED);
	mpijob_doc_free(doc);
	return 0;
}

static void on_begin(void *user)
{
	struct watched *watched = user;

	watched->listed = 0;
}

/* What vanished while nobody watched is not in the list. */
static int on_listed(void *user, const char *resource_version)
{
	struct watched *watched = user;
	struct run *run = watched->run;

	(void)resource_version;
	run->told = TROUBLE_NONE;
	if (watched == &run->watched_job && watched->listed == 0 && run->uid)
		run_gone(run);
	return 0;
}

static void say_trouble(struct run *run, const struct mpijob_answer *answer)
{
	int is_lost = answer->code == MPIJOB_ERR_IO || answer->code == MPIJOB_ERR_UNREACHABLE ||
		      answer->code == MPIJOB_ERR_TIMEOUT || answer->code == MPIJOB_ERR_SERVER;
	enum trouble trouble = is_lost ? TROUBLE_LOST : TROUBLE_REFUSED;

	if (run->is_cluster && run->told != trouble)
		progress_say(&run->progress,
		    "the %s (%s); the job goes on, and this tries to come back",
		    is_lost ? "connection is lost" : "cluster does not let it be watched now",
		    answer->message ? answer->message : mpijob_error_text(answer->code));
	run->told = trouble;
}

/* The watch itself tries again; what there is no hope for ends the run. */
static void on_watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct watched *watched = user;

	(void)what;
	if (mpijob_watch_hopeless(watched->watch) || answer->code == MPIJOB_ERR_NOMEM)
		watched->code = answer->code;
	else
		say_trouble(watched->run, answer);
}

static int watch(struct run *run, struct watched *watched, struct mpijob_watch_options *options)
{
	watched->run = run;
	options->namespace_ = run->namespace_;
	options->begin = on_begin;
	options->object = on_object;
	options->listed = on_listed;
	options->failed = on_watch_failed;
	options->user = watched;
	return mpijob_watch_new(run->client, options, &watched->watch);
}

static int watch_job(struct run *run)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = "kubeflow.org/v2beta1";
	options.kind = "MPIJob";
	options.name = run->name;
	run->watched_job.changed = job_changed;
	run->watched_job.user = run;
	return watch(run, &run->watched_job, &options);
}

static int watch_pods(struct run *run)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	mpijob_text *selector = mpijob_text_new();
	static const char key[] = "training.kubeflow.org/job-name=";
	int code = selector ? mpijob_text_write(selector, key, sizeof(key) - 1) : MPIJOB_ERR_NOMEM;

	if (code == 0)
		code = mpijob_text_write(selector, run->name, strlen(run->name));
	if (code == 0) {
		options.api_version = "v1";
		options.kind = "Pod";
		options.label_selector = mpijob_text_data(selector);
		run->pods.client = run->client;
		run->watched_pods.changed = pods_changed;
		run->watched_pods.user = &run->pods;
		code = watch(run, &run->watched_pods, &options);
	}
	mpijob_text_free(selector);
	return code;
}

int run_watch(struct run *run)
{
	int code = watch_job(run);

	return code ? code : watch_pods(run);
}

void run_unwatch(struct run *run)
{
	mpijob_watch_free(run->watched_job.watch);
	mpijob_watch_free(run->watched_pods.watch);
	run->watched_job.watch = run->watched_pods.watch = NULL;
	pods_free(&run->pods);
}

/* ---- the loop ---- */

int run_turn(struct run *run)
{
	int code = run->step(run, pods_turn(&run->pods, TURN_MS));

	/* A second signal ends at once, also while the output waits for its reader. */
	if (run_must_stop(run))
		pods_hurry(&run->pods, signals_seen > (run->stopping ? run->stopped_at : 1));
	if (code == 0)
		code = run->watched_job.code ? run->watched_job.code : run->watched_pods.code;
	if (code == 0)
		code = run->pods.code;
	int ready = pods_ready_workers(&run->pods);
	if (run->pods.first_ready_ms == 0 && ready == run->workers)
		run->pods.first_ready_ms = mpijob__base_clock_monotonic_ms();
	run->progress.waits = pods_in_line(&run->pods);
	/* Workers that are cleaned up at the end are no news. */
	progress_show(&run->progress, run->phase, run->finished ? run->progress.ready : ready,
	    run->workers, mpijob__base_clock_monotonic_ms());
	return code;
}

/* The end of the job may be known before that of its launcher. */
static int has_more(const struct run *run)
{
	return pods_logs_open(&run->pods) || (run->is_cluster && pods_launchers_going(&run->pods));
}

/* Who reads slowly gets all of it; only what does not come any more is not waited for. */
static int until_read(struct run *run)
{
	int64_t most = run->is_cluster      ? LAST_CLUSTER_MS
		       : run->pods.given_up ? LAST_HOPELESS_MS
					    : LAST_OUTPUT_MS;
	int64_t end = mpijob__base_clock_monotonic_ms() + most;
	int code = 0;

	while (code == 0 && has_more(run)) {
		if (outlet_pending(&run->pods.out) || outlet_pending(&run->pods.news))
			end = mpijob__base_clock_monotonic_ms() + most;
		else if (run->pods.heard_ms + most > end)
			end = run->pods.heard_ms + most;
		/* Where a node does not hand out logs there is no use in waiting. */
		if (run->is_cluster && !pods_logs_alive(&run->pods, LAST_OUTPUT_MS) &&
		    !pods_launchers_going(&run->pods) &&
		    mpijob__base_clock_monotonic_ms() >= end - most + LAST_OUTPUT_MS)
			break;
		if (mpijob__base_clock_monotonic_ms() >= end ||
		    (run->stopping = run_must_stop(run)) != 0)
			break;
		code = run_turn(run);
	}
	return code;
}

int run_until_finished(struct run *run)
{
	int code = 0;

	while (code == 0 && !run->finished && (run->stopping = run_must_stop(run)) == 0) {
		code = run_turn(run);
		if (!run->is_cluster)
			hopeless_check(run);
	}
	return code || run->stopping ? code : until_read(run);
}

/* Whether the launcher's command names a program that starts ranks; where a script may do so
 * nothing is claimed. */
static int starts_ranks(const struct run *run)
{
	static const char *const lists[] = { "command", "args" };
	static const char *const words[] = { "mpirun", "mpiexec", "orterun", "prterun",
		"horovodrun", "deepspeed" };
	const mpijob_node *container = mpijob_node_find(run->object->node,
	    "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0]");

	for (size_t list = 0; list < 2; list++) {
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

void run_tell_idle(struct run *run)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	const struct mpijob_finding_kind *kind = mpijob_finding_kind_find("ranks-on-launcher");
	char *message = NULL;

	if (!run->succeeded || !starts_ranks(run) ||
	    !sshd_was_idle(&run->pods.sshd, run->workers) ||
	    asprintf(&message, "sshd let nobody in on %d worker%s: all ranks ran on the launcher",
		run->workers, run->workers == 1 ? "" : "s") < 0)
		return;
	finding.id = "ranks-on-launcher";
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.message = message;
	progress_hide(&run->progress);
	fputs("mpijob: ", stderr);
	finding_print(&finding, stderr);
	print_to(stderr, "  %s\n", kind->advice);
	free(message);
}

void run_flush(struct run *run)
{
	while (outlet_pending(&run->pods.out)) {
		if (run_must_stop(run))
			pods_hurry(&run->pods,
			    signals_seen > (run->stopping ? run->stopped_at : 1));
		if (outlet_pending(&run->pods.out))
			outlet_wait(&run->pods.out, TURN_MS);
		outlet_flush(&run->pods.out);
		pods_turn(&run->pods, 0);
	}
}

/* ---- how it went ---- */

static double seconds(int64_t from, int64_t to)
{
	return from && to ? (double)(to - from) / 1000.0 : 0.0;
}

void run_print_timings(const struct run *run, int64_t closing_ms)
{
	int64_t end = mpijob__base_clock_monotonic_ms();
	int64_t own =
	    end - run->begun_ms - (run->pods.launcher_end_ms - run->pods.launcher_start_ms);

	fprintf(stderr,
	    "mpijob: timings in s: cluster up %.3f, job created %.3f, workers ready %.3f, launcher "
	    "started %.3f, launcher ran %.3f, result known %.3f, closed %.3f; all but the launcher "
	    "%.3f\n",
	    seconds(run->begun_ms, run->cluster_ms), seconds(run->begun_ms, run->created_ms),
	    seconds(run->begun_ms, run->pods.first_ready_ms),
	    seconds(run->begun_ms, run->pods.launcher_start_ms),
	    seconds(run->pods.launcher_start_ms, run->pods.launcher_end_ms),
	    seconds(run->pods.launcher_end_ms, run->finished_ms), seconds(closing_ms, end),
	    (double)own / 1000.0);
}

int run_exit_code(const struct run *run, int code)
{
	if (code)
		return EXIT_OWN_FAILURE;
	if (run->stopping)
		return run->stopping;
	if (run->succeeded)
		return run->pods.output_lost ? EXIT_OWN_FAILURE : 0;
	/* A job that failed although its launcher ended well: evicted, for example. */
	return run->pods.has_exit_code && run->pods.exit_code ? run->pods.exit_code : EXIT_FINDINGS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user sees of a run, on this machine or on a cluster: what is printed for each event,
 * which signals and limits end it, and its exit code.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "findings.h"
#include "run.h"

/* the longest wait in one turn of the loop: a signal is seen at the latest then */
#define TURN_MS 200

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
	/* under nohup it stays ignored */
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
	if (!run->is_cluster && run->out.error == EPIPE)
		return EXIT_SIGNALLED + SIGPIPE;
	if (run->arguments->timeout_ms &&
	    mpijob__base_clock_monotonic_ms() - run->begun_ms >= run->arguments->timeout_ms)
		return EXIT_TIMED_OUT;
	return 0;
}

/* ---- events ---- */

const struct mpijob_run_result *run_result(const struct run *run)
{
	return run->job_run ? mpijob_run_get_result(run->job_run) : &run->result;
}

int run_has_ended(const struct run *run)
{
	return run_result(run)->outcome != MPIJOB_RUN_UNFINISHED;
}

void run_print_end(struct run *run)
{
	const struct mpijob_run_result *result = run_result(run);
	const char *reason = result->reason ? result->reason : "Failed";
	const char *message = result->message ? result->message : "no message";

	if (run->end_printed || !result->outcome)
		return;
	run->end_printed = 1;
	run_output_flush(run);
	if (result->outcome == MPIJOB_RUN_SUCCEEDED)
		progress_say(&run->progress, "%s succeeded", run->name);
	else if (result->outcome == MPIJOB_RUN_DELETED)
		progress_say(&run->progress, "%s was deleted", run->name);
	else
		progress_say(&run->progress, "%s failed: %s%s%s", run->name,
		    result->given_up ? "" : reason, result->given_up ? "" : ": ", message);
}

static void on_connection(struct run *run, const struct mpijob_run_event *event)
{
	int is_refused = event->code != MPIJOB_ERR_IO && event->code != MPIJOB_ERR_UNREACHABLE &&
			 event->code != MPIJOB_ERR_TIMEOUT && event->code != MPIJOB_ERR_SERVER;

	if (event->code && run->is_cluster)
		progress_say(&run->progress,
		    "the %s (%s); the job goes on, and this tries to come back",
		    is_refused ? "cluster does not let it be watched now" : "connection is lost",
		    event->message);
}

static void on_event(void *user, const struct mpijob_run_event *event)
{
	struct run *run = user;

	if (event->kind == MPIJOB_RUN_OUTPUT) {
		run_output_put(run, event);
	} else if (event->kind == MPIJOB_RUN_STATUS) {
		run->phase = event->phase;
		run->ready = event->ready;
		run->workers = event->workers ? event->workers : run->workers;
	} else if (event->kind == MPIJOB_RUN_NOTICE) {
		progress_say(&run->progress, "%s", event->message);
	} else if (event->kind == MPIJOB_RUN_CONNECTION) {
		on_connection(run, event);
	} else if (event->kind == MPIJOB_RUN_ENDED) {
		run_print_end(run);
	} else if (event->kind == MPIJOB_RUN_FINDING) {
		run_print_cause(run, event->finding);
	}
}

/* ---- the loop ---- */

int run_follow(struct run *run)
{
	struct mpijob_run_options options = MPIJOB_RUN_OPTIONS_INIT;

	options.namespace_ = run->namespace_;
	options.name = run->name;
	options.uid = run->uid;
	options.local = !run->is_cluster;
	options.event = on_event;
	options.user = run;
	return mpijob_run_new(run->client, &options, &run->job_run);
}

void run_unfollow(struct run *run)
{
	run->result = *run_result(run);
	run->result.reason = run->result.message = run->result.running_pod = NULL;
	mpijob_run_free(run->job_run);
	run->job_run = NULL;
}

int run_turn(struct run *run)
{
	int code = run->step(run, run_output_turn(run, TURN_MS));
	int state = mpijob_run_state(run->job_run);

	/* A second signal ends at once, also while the output waits for its reader. */
	if (run_must_stop(run))
		run_output_give_up(run, signals_seen > (run->stopping ? run->stopped_at : 1));
	run->progress.waits = run_output_in_line(run);
	progress_show(&run->progress, run->phase, run->ready, run->workers,
	    mpijob__base_clock_monotonic_ms());
	return code == 0 && state < 0 ? state : code;
}

int run_until_over(struct run *run)
{
	int code = 0;

	while (code == 0 && mpijob_run_state(run->job_run) > 0 &&
	       (run->stopping = run_must_stop(run)) == 0)
		code = run_turn(run);
	if (code == 0)
		run_print_end(run);
	return code;
}

/* ---- how it went ---- */

static double seconds(int64_t from, int64_t to)
{
	return from && to ? (double)(to - from) / 1000.0 : 0.0;
}

void run_print_timings(const struct run *run, int64_t closing_ms)
{
	int64_t end = mpijob__base_clock_monotonic_ms();
	const struct mpijob_run_result *result = run_result(run);
	int64_t own =
	    end - run->begun_ms - (result->launcher_ended_ms - result->launcher_started_ms);

	fprintf(stderr,
	    "mpijob: timings in s: cluster up %.3f, job created %.3f, workers ready %.3f, launcher "
	    "started %.3f, launcher ran %.3f, result known %.3f, closed %.3f; all but the launcher "
	    "%.3f\n",
	    seconds(run->begun_ms, run->cluster_ms), seconds(run->begun_ms, run->created_ms),
	    seconds(run->begun_ms, result->ready_ms),
	    seconds(run->begun_ms, result->launcher_started_ms),
	    seconds(result->launcher_started_ms, result->launcher_ended_ms),
	    seconds(result->launcher_ended_ms, result->ended_ms), seconds(closing_ms, end),
	    (double)own / 1000.0);
}

int run_exit_code(const struct run *run, int code)
{
	const struct mpijob_run_result *result = run_result(run);

	if (code)
		return EXIT_OWN_FAILURE;
	if (run->stopping)
		return run->stopping;
	if (result->outcome == MPIJOB_RUN_SUCCEEDED)
		return run->output_lost ? EXIT_OWN_FAILURE : 0;
	/* A job that failed although its launcher ended well: evicted, for example. */
	return result->has_exit_code && result->exit_code ? result->exit_code : EXIT_FINDINGS;
}

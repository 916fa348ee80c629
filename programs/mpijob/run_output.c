/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a run: that of the launcher's first container goes to standard output as it is,
 * that of the others to standard error, by lines with a prefix. A reader that is behind pauses the
 * run.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run.h"

#define TURN_MS    200
#define STALLED_MS 1000 /* how long a reader may take nothing when it is time to end */
#define BEHIND_MS  2    /* the length of a turn while a reader is behind */

static size_t pending(const struct run *run)
{
	return outlet_pending(&run->out) + outlet_pending(&run->messages);
}

/* A reader that has enough, as head, is not an error; on a cluster the job goes on. */
static void say_lost(struct run *run)
{
	if (run->output_lost || !run->out.error)
		return;
	run->output_lost = 1;
	if (run->out.error != EPIPE || run->is_cluster)
		progress_say(&run->progress, "standard output: %s",
		    run->out.error == ETIMEDOUT ? "nobody reads it" : strerror(run->out.error));
}

static void set_paused(struct run *run, int on)
{
	if (run->paused == on)
		return;
	run->paused = on;
	mpijob_run_pause(run->job_run, on);
}

int run_output_begin(struct run *run)
{
	run->out.fd = STDOUT_FILENO;
	run->out_is_terminal = isatty(STDOUT_FILENO);
	run->messages.fd = STDERR_FILENO;
	return prefixed_begin(&run->others, &run->messages);
}

static int put_other(struct run *run, const struct mpijob_run_event *event)
{
	int code =
	    prefixed_put(&run->others, event->pod, event->container, event->data, event->len);

	if (code == 0 && event->whole)
		code = prefixed_put(&run->others, event->pod, event->container, "\n", 1);
	outlet_flush(&run->messages); /* so that other messages come before or after it */
	return code;
}

static int put_main(struct run *run, const struct mpijob_run_event *event)
{
	run->in_line = !event->whole && event->len && event->data[event->len - 1] != '\n';
	if (outlet_put(&run->out, event->data, event->len))
		return -1;
	return event->whole ? outlet_put(&run->out, "\n", 1) : 0;
}

void run_output_put(struct run *run, const struct mpijob_run_event *event)
{
	progress_hide(&run->progress);
	if (event->is_main ? put_main(run, event) : put_other(run, event))
		outlet_fail(event->is_main ? &run->out : &run->messages, ENOMEM);
	say_lost(run);
	if (outlet_pending(&run->out) >= OUTLET_MUCH ||
	    outlet_pending(&run->messages) >= OUTLET_MUCH)
		set_paused(run, 1);
}

int run_output_in_line(const struct run *run)
{
	return run->out_is_terminal && (run->in_line || outlet_pending(&run->out));
}

int run_output_turn(struct run *run, int most_ms)
{
	if (pending(run) == 0 && !run->paused)
		return most_ms;
	progress_hide(&run->progress);
	outlet_turn(&run->out);
	outlet_turn(&run->messages);
	say_lost(run);
	if (pending(run) < OUTLET_LITTLE)
		set_paused(run, 0);
	int wait_ms = run->paused ? BEHIND_MS : OUTLET_HOLD;
	return pending(run) && most_ms > wait_ms ? wait_ms : most_ms;
}

static void give_up(struct outlet *outlet, int now)
{
	if (outlet_pending(outlet) &&
	    (now || mpijob__base_clock_monotonic_ms() - outlet->moved_ms >= STALLED_MS))
		outlet_fail(outlet, ETIMEDOUT);
}

void run_output_give_up(struct run *run, int now)
{
	give_up(&run->out, now);
	give_up(&run->messages, now);
	say_lost(run);
	if (pending(run) == 0)
		set_paused(run, 0);
}

void run_output_flush(struct run *run)
{
	while (outlet_pending(&run->out)) {
		if (run_must_stop(run))
			run_output_give_up(run,
			    run_signals_seen() > (run->stopping ? run->stopped_at : 1));
		if (outlet_pending(&run->out))
			outlet_wait(&run->out, TURN_MS);
		outlet_flush(&run->out);
		run_output_turn(run, 0);
	}
}

void run_output_free(struct run *run)
{
	prefixed_free(&run->others);
	outlet_free(&run->out);
	outlet_free(&run->messages);
}

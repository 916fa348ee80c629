/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which states of pods on this machine are final: a command, a mount or a ConfigMap that is
 * missing stays missing, since nothing but this run creates objects here, and a worker that has
 * ended is not started again. A run ends there and says why, although a cluster would retry or
 * wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "evidence.h"
#include "hopeless.h"
#include "print.h"

#define CREATED_MS 2000 /* within which the operator creates what pods of its job refer to */
#define LEAVE_MS   2000 /* how long a launcher whose workers have ended may take to end by itself */
#define TAIL_LINES 10

/* ---- why a pod never starts ---- */

static void note(struct pod_row *row, const char *what, const char *name, const char *message)
{
	if (row->never)
		return;
	if (asprintf(&row->never, "%s%s%spod %s cannot start: %s", what, name, *name ? " of " : "",
		row->name, message) < 0) {
		row->never = NULL;
		row->pods->code = MPIJOB_ERR_NOMEM;
	}
}

static void look_container(struct pod_row *row, const mpijob_node *status)
{
	static const char *const states[] = { "state.terminated", "lastState.terminated" };
	const char *name = text_at(status, "name"),
		   *reason = text_at(status, "state.waiting.reason");
	int64_t code = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const mpijob_node *ended = mpijob_node_find(status, states[i]);
		mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code);
		if (strcmp(text_at(ended, "reason"), "StartError") == 0)
			note(row, "container ", name, text_at(ended, "message"));
		else if (ended && code == 127 && row->is_launcher)
			note(row, "container ", name, "its command was not found (exit code 127)");
	}
	if (*text_at(status, "state.waiting.message") &&
	    (strcmp(reason, "CreateContainerConfigError") == 0 ||
		strcmp(reason, "ContainerCreating") == 0)) {
		free(row->waits);
		row->waits = strdup(text_at(status, "state.waiting.message"));
	}
}

void hopeless_look(struct pod_row *row, const mpijob_node *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses",
		"status.containerStatuses" };
	int waited = row->waits != NULL, ran = 0;

	free(row->waits);
	row->waits = NULL;
	row->active = 0;
	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		const mpijob_node *statuses = mpijob_node_find(pod, lists[list]);
		for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
			const mpijob_node *status = mpijob_node_at(statuses, i);
			row->active |= mpijob_node_find(status, "state.running") != NULL;
			ran |= mpijob_node_find(status, "state.terminated") != NULL;
			look_container(row, status);
		}
	}
	if (!waited)
		row->waits_ms = mpijob__base_clock_monotonic_ms();
	if (!ran && strcmp(text_at(pod, "status.phase"), "Failed") == 0 &&
	    *text_at(pod, "status.message"))
		note(row, "", "", text_at(pod, "status.message"));
}

/* ---- what that means for the run ---- */

static const char *why_never(struct pod_row *row)
{
	char *message = NULL;

	if (row->never || !row->waits ||
	    mpijob__base_clock_monotonic_ms() - row->waits_ms < CREATED_MS)
		return row->never;
	if (asprintf(&message, "%s; a local run has only the objects of its files", row->waits) < 0)
		return NULL;
	note(row, "", "", message);
	free(message);
	return row->never;
}

/* What the pods of a job amount to. */
struct census {
	/* those that are not being deleted; of these, that never start or have ended */
	size_t workers, over;
	int active; /* a launcher runs */
	int launchers;
	const char *launcher; /* why it never starts */
	const char *worker;
};

static struct census take_census(struct pods *pods)
{
	struct census census = { 0 };

	for (struct pod_row *row = pods->rows; row; row = row->next) {
		const char *why = row->gone || row->deleting ? NULL : why_never(row);
		if (row->is_launcher) {
			census.launchers++;
			census.active |= row->active && !row->gone;
			census.launcher = why ? why : census.launcher;
		} else if (!row->gone && !row->deleting) {
			census.workers++;
			census.over += row->ended || why;
			census.worker = why ? why : census.worker;
		}
	}
	return census;
}

static int waits_for_workers(const struct run *run)
{
	return strcmp(text_at(run->object->node, "spec.launcherCreationPolicy"),
		   "WaitForWorkersReady") == 0;
}

/* The program that mpirun is to start is missing on this machine: Open MPI 4 and 5, Hydra. */
static int program_is_missing(const struct run *run)
{
	static const char *const lines[] = { "unable to find the specified executable file",
		"unable to launch the specified application", "execvp error on file " };

	for (size_t i = 0;
	     i < sizeof(lines) / sizeof(lines[0]) && run->pods.has_exit_code && run->pods.exit_code;
	     i++)
		if (memmem(run->pods.last, run->pods.last_len, lines[i], strlen(lines[i])))
			return 1;
	return 0;
}

static void give_up(struct run *run, const char *why, int explained)
{
	run->finished = run->pods.given_up = 1;
	run->explained = explained;
	run->phase = "failed";
	run->finished_ms = mpijob__base_clock_monotonic_ms();
	free(run->failure);
	run->failure = strdup(why);
}

/* Whether the launcher may still end well by itself: its work may be done. */
static int may_end_well(const struct run *run)
{
	const struct pods *pods = &run->pods;

	return pods->has_exit_code ? pods->exit_code == 0
				   : mpijob__base_clock_monotonic_ms() - pods->over_ms < LEAVE_MS;
}

void hopeless_check(struct run *run)
{
	struct census census = take_census(&run->pods);
	int all_over = run->workers > 0 && census.over >= (size_t)run->workers;

	if (run->finished)
		return;
	if (!all_over)
		run->pods.over_ms = 0;
	else if (!run->pods.over_ms)
		run->pods.over_ms = mpijob__base_clock_monotonic_ms();
	if (census.launcher)
		give_up(run, census.launcher, 1);
	else if (census.worker && (all_over || (!census.launchers && waits_for_workers(run))))
		give_up(run, census.worker, 1);
	else if (census.over && !census.launchers && waits_for_workers(run))
		give_up(run, "a worker has ended before the launcher could be created", 0);
	else if (all_over && !may_end_well(run))
		give_up(run, "all workers have ended, and the launcher needs them", 0);
	else if (!census.active && program_is_missing(run))
		give_up(run, "the program that mpirun is to start is not on this machine", 0);
}

/* ---- the last lines of a worker ---- */

static int tail_data(void *user, const char *data, size_t len)
{
	struct worker_tail *tail = &((struct container_row *)user)->pod->pods->tail;

	if (len > sizeof(tail->text)) {
		data += len - sizeof(tail->text);
		len = sizeof(tail->text);
	}
	if (tail->len + len > sizeof(tail->text)) {
		size_t cut = tail->len + len - sizeof(tail->text);
		memmove(tail->text, tail->text + cut, tail->len - cut);
		tail->len -= cut;
	}
	memcpy(tail->text + tail->len, data, len);
	tail->len += len;
	return 0;
}

static const char *last_lines(const char *text, const char *end)
{
	const char *at = end;
	int lines = 0;

	while (at > text && !(at < end && at[-1] == '\n' && ++lines == TAIL_LINES))
		at--;
	return at;
}

static void tail_done(void *user, const struct mpijob_answer *answer)
{
	struct container_row *row = user;
	struct pods *pods = row->pod->pods;
	struct worker_tail *tail = &pods->tail;
	const char *end = tail->text + tail->len, *at = last_lines(tail->text, end);

	(void)answer;
	row->log = NULL;
	if (!tail->len)
		return;
	progress_say(pods->progress, "the last lines of container %s of pod %s:", row->name,
	    row->pod->name);
	if (prefixed_put(&pods->others, row->line, row->pod->name, row->name, at,
		(size_t)(end - at)) ||
	    prefixed_end(&pods->others, row->line, row->pod->name, row->name))
		pods->code = MPIJOB_ERR_NOMEM;
	outlet_flush(&pods->news);
}

int hopeless_show_worker(struct container_row *row)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), tail_data, tail_done, row };
	struct pods *pods = row->pod->pods;

	if (pods->tail.shown || row->log)
		return 0;
	pods->tail.shown = 1;
	return pod_log_start(pods->client, pods->namespace_, row->pod->name, row->name, 0,
	    &callbacks, &row->log);
}

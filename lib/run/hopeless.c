/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find out that a job on a local cluster cannot succeed any more.
 *
 * Only this file knows which states of pods are final there: a command, a mount or a ConfigMap that
 * is missing stays missing, because nothing else creates objects, and a worker that has ended is
 * not started again. The run ends and reports why; a cluster would retry or wait.
 */
#define _GNU_SOURCE /* memmem() */
#include "run/hopeless.h"

#include "run/objects.h"
#include "run/run.h"

#include <stdlib.h>

#define CREATED_MS 2000 /* in which the operator creates what the pods of its job refer to */
#define LEAVE_MS   2000 /* in which a launcher whose workers have ended may end by itself */

/* ---- why a pod never starts ---- */

static void set_never(struct mpijob__run_pod *pod, const char *container, const char *message)
{
	if (pod->never)
		return;
	pod->never = mpijob__base_text_format("%s%s%spod %s cannot start: %s",
	    *container ? "container " : "", container, *container ? " of " : "", pod->name,
	    message);
	if (!pod->never)
		mpijob__run_fail(pod->run, MPIJOB_ERR_NOMEM);
}

const char *mpijob__run_hopeless_waits(const mpijob_node *status)
{
	const char *reason = mpijob__run_text(status, "state.waiting.reason");

	if (strcmp(reason, "CreateContainerConfigError") != 0 &&
	    strcmp(reason, "ContainerCreating") != 0)
		return NULL;
	return mpijob_node_string(mpijob_node_find(status, "state.waiting.message"));
}

static void read_container(struct mpijob__run_pod *pod, const mpijob_node *status)
{
	static const char *const states[] = { "state.terminated", "lastState.terminated" };
	const char *waits = mpijob__run_hopeless_waits(status);
	int64_t code = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const mpijob_node *ended = mpijob_node_find(status, states[i]);

		mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code);
		if (strcmp(mpijob__run_text(ended, "reason"), "StartError") == 0)
			set_never(pod, mpijob__run_text(status, "name"),
			    mpijob__run_text(ended, "message"));
		else if (ended && code == 127 && pod->is_launcher)
			set_never(pod, mpijob__run_text(status, "name"),
			    "its command was not found (exit code 127)");
	}
	if (waits && *waits) {
		free(pod->waits_for);
		pod->waits_for = mpijob__base_text_format("%s", waits);
	}
}

void mpijob__run_hopeless_read(struct mpijob__run_pod *pod, const mpijob_node *object)
{
	static const char *const lists[] = { "status.initContainerStatuses",
		"status.containerStatuses" };
	int waited = pod->waits_for != NULL, ended = 0;

	free(pod->waits_for);
	pod->waits_for = NULL;
	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		const mpijob_node *statuses = mpijob_node_find(object, lists[list]);

		for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
			const mpijob_node *status = mpijob_node_at(statuses, i);

			ended |= mpijob_node_find(status, "state.terminated") != NULL;
			read_container(pod, status);
		}
	}
	if (!waited)
		pod->waits_ms = mpijob__run_now_ms(pod->run);
	if (!ended && strcmp(mpijob__run_text(object, "status.phase"), "Failed") == 0 &&
	    *mpijob__run_text(object, "status.message"))
		set_never(pod, "", mpijob__run_text(object, "status.message"));
}

static const char *why_never(struct mpijob__run_pod *pod)
{
	char *message;

	if (pod->never || !pod->waits_for ||
	    mpijob__run_now_ms(pod->run) - pod->waits_ms < CREATED_MS)
		return pod->never;
	message = mpijob__base_text_format("%s; a local run has only the objects of its files",
	    pod->waits_for);
	if (message)
		set_never(pod, "", message);
	free(message);
	return pod->never;
}

/* ---- what that means for the run ---- */

/* The pods of a job, counted. */
struct census {
	size_t workers,
	    over;   /* that are not being deleted; of these, that never start or have ended */
	int active; /* a launcher runs */
	int launchers;
	const char *launcher; /* why it never starts */
	const char *worker;
};

static struct census count_pods(const struct mpijob_run *run)
{
	struct census census = { 0 };

	for (struct mpijob__run_pod *pod = run->pods.all; pod; pod = pod->next) {
		const char *why = pod->deleted || pod->deleting ? NULL : why_never(pod);

		if (pod->is_launcher) {
			census.launchers++;
			census.active |= pod->active && !pod->deleted;
			census.launcher = why ? why : census.launcher;
		} else if (!pod->deleted && !pod->deleting) {
			census.workers++;
			census.over += pod->ended || why;
			census.worker = why ? why : census.worker;
		}
	}
	return census;
}

/* The program that mpirun starts is not on this machine: Open MPI 4 and 5, Hydra. */
static int program_is_missing(const struct mpijob_run *run)
{
	static const char *const lines[] = { "unable to find the specified executable file",
		"unable to launch the specified application", "execvp error on file " };

	if (!run->result.exit_code || !run->pods.last.data)
		return 0;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (memmem(run->pods.last.data, run->pods.last.len, lines[i], strlen(lines[i])))
			return 1;
	return 0;
}

static void give_up(struct mpijob_run *run, const char *why, int explained)
{
	run->result.given_up = 1;
	run->result.explained = explained;
	mpijob__run_end(run, MPIJOB_RUN_FAILED, "failed", NULL, why);
}

/* Whether the launcher may still end well by itself: its work may be done. */
static int may_end_well(const struct mpijob_run *run)
{
	if (run->result.has_exit_code)
		return run->result.exit_code == 0;
	return mpijob__run_now_ms(run) - run->over_ms < LEAVE_MS;
}

void mpijob__run_hopeless_check(struct mpijob_run *run)
{
	struct census census = count_pods(run);
	int workers = run->status.workers;
	int all_over = workers > 0 && census.over >= (size_t)workers;

	if (!all_over)
		run->over_ms = 0;
	else if (!run->over_ms)
		run->over_ms = mpijob__run_now_ms(run);
	if (census.launcher)
		give_up(run, census.launcher, 1);
	else if (census.worker && (all_over || (!census.launchers && run->waits)))
		give_up(run, census.worker, 1);
	else if (census.over && !census.launchers && run->waits)
		give_up(run, "a worker has ended before the launcher could be created", 0);
	else if (all_over && !may_end_well(run))
		give_up(run, "all workers have ended, and the launcher needs them", 0);
	else if (!census.active && program_is_missing(run))
		give_up(run, "the program that mpirun is to start is not on this machine", 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a pod's status is read: when its containers' output can be followed, which exit code
 * counts, and what a person wants to be told of. An attempt that was ended from outside, because
 * its pod is being deleted, does not count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/clock.h"
#include "evidence.h"
#include "findings.h"
#include "hopeless.h"
#include "pods.h"

/* an earlier launcher that brings nothing for so long is waited for no more */
#define OVERTAKE_MS 15000
#define STALLED_MS  1000 /* how long a reader may take nothing when it is time to end */
#define BEHIND_MS   2    /* the length of a turn while a reader is behind */

/* ---- output ---- */

static void each_log(struct pods *pods, void (*act)(struct container_row *row, int on), int on)
{
	for (struct pod_row *pod = pods->rows; pod; pod = pod->next)
		for (struct container_row *row = pod->containers; row; row = row->next)
			act(row, on);
}

static void pause_log(struct container_row *row, int on)
{
	row->heard_ms = mpijob__base_clock_monotonic_ms();
	if (row->log)
		mpijob_call_pause(row->log, on);
	if (row->logs)
		mpijob_logs_pause(row->logs, on);
}

static void tell_lost(struct pods *pods)
{
	if (pods->output_lost || !pods->out.error)
		return;
	pods->output_lost = 1;
	/* A reader that has enough, as head, is no error; on a cluster the job goes on without
	 * it. */
	if (pods->out.error == EPIPE && !pods->is_cluster)
		return;
	progress_say(pods->progress, "standard output: %s",
	    pods->out.error == ETIMEDOUT ? "nobody reads it" : strerror(pods->out.error));
}

/* The end of what the last attempt printed, and some more, so that it is seldom moved. */
static void remember(struct pods *pods, const char *pod, const char *data, size_t len)
{
	if (pods->last_launcher != pod)
		pods->last_len = 0;
	pods->last_launcher = pod;
	if (len > PODS_LAST) {
		data += len - PODS_LAST;
		len = PODS_LAST;
	}
	if (pods->last_len + len > sizeof(pods->last)) {
		memmove(pods->last, pods->last + pods->last_len - PODS_LAST, PODS_LAST);
		pods->last_len = PODS_LAST;
	}
	memcpy(pods->last + pods->last_len, data, len);
	pods->last_len += len;
}

/* The output of the launcher's first container stays as it is; lines of the others get a prefix. */
static int put(struct container_row *row, const char *data, size_t len)
{
	struct pods *pods = row->pod->pods;
	struct outlet *outlet = row->is_main ? &pods->out : &pods->news;
	/* a cluster's logs come by lines */
	mpijob_text *begun = pods->is_cluster ? NULL : row->line;

	row->heard_ms = pods->heard_ms = mpijob__base_clock_monotonic_ms();
	if (row->is_main) {
		remember(pods, row->pod->name, data, len);
		pods->in_line = len && data[len - 1] != '\n';
	}
	progress_hide(pods->progress);
	if (row->is_main ? outlet_put(outlet, data, len)
			 : prefixed_put(&pods->others, begun, row->pod->name, row->name, data, len))
		return MPIJOB_ERR_NOMEM;
	if (!row->is_main)
		outlet_flush(outlet); /* so that messages come before or after it */
	tell_lost(pods);
	if (!pods->paused && outlet_pending(outlet) >= OUTLET_MUCH) {
		pods->paused = 1;
		each_log(pods, pause_log, 1);
	}
	return outlet->error ? MPIJOB_ERR_IO : 0;
}

int pods_in_line(const struct pods *pods)
{
	return pods->out_is_terminal && (pods->in_line || outlet_pending(&pods->out));
}

static void start_waiting(struct pods *pods);

int pods_turn(struct pods *pods, int most_ms)
{
	size_t pending = outlet_pending(&pods->out) + outlet_pending(&pods->news);

	sshd_rest(&pods->sshd);
	start_waiting(pods);
	/* A reader may have caught up while more was handed on. */
	if (pending == 0 && !pods->paused)
		return most_ms;
	progress_hide(pods->progress);
	outlet_turn(&pods->out);
	outlet_turn(&pods->news);
	tell_lost(pods);
	pending = outlet_pending(&pods->out) + outlet_pending(&pods->news);
	if (pods->paused && pending < OUTLET_LITTLE) {
		pods->paused = 0;
		each_log(pods, pause_log, 0);
	}
	int wait_ms = pods->paused ? BEHIND_MS : OUTLET_HOLD;
	return pending && most_ms > wait_ms ? wait_ms : most_ms;
}

static void hurry(struct outlet *outlet, int now)
{
	if (outlet_pending(outlet) &&
	    (now || mpijob__base_clock_monotonic_ms() - outlet->moved_ms >= STALLED_MS))
		outlet_fail(outlet, ETIMEDOUT);
}

void pods_hurry(struct pods *pods, int now)
{
	hurry(&pods->out, now);
	hurry(&pods->news, now);
	tell_lost(pods);
	if (pods->paused && outlet_pending(&pods->out) + outlet_pending(&pods->news) == 0) {
		pods->paused = 0;
		each_log(pods, pause_log, 0);
	}
}

static int log_data(void *user, const char *data, size_t len)
{
	return put(user, data, len);
}

static void say_lost(const struct container_row *row, const char *message)
{
	if (!row->pod->gone && (!row->is_main || !row->pod->pods->output_lost))
		progress_say(row->pod->pods->progress, "the output of pod %s was lost: %s",
		    row->pod->name, message);
}

static void log_done(void *user, const struct mpijob_answer *answer)
{
	struct container_row *row = user;
	struct pods *pods = row->pod->pods;

	row->log = NULL;
	if (prefixed_end(&pods->others, row->line, row->pod->name, row->name))
		pods->code = MPIJOB_ERR_NOMEM;
	if (answer->code)
		say_lost(row, answer->message ? answer->message : mpijob_error_text(answer->code));
}

static int log_follow(struct container_row *row, int previous)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), log_data, log_done, row };
	const struct pods *pods = row->pod->pods;

	return pod_log_start(pods->client, pods->namespace_, row->pod->name, row->name, previous,
	    &callbacks, &row->log);
}

static int logs_line(void *user, const struct mpijob_log_line *line)
{
	struct container_row *row = user;
	int code = put(row, line->text, line->len);

	free(row->trouble);
	row->trouble = NULL;
	return code == 0 && line->whole ? put(row, "\n", 1) : code;
}

static void logs_failed(void *user, const char *pod, const char *container, int code,
    const char *message, int again)
{
	struct container_row *row = user;

	(void)pod;
	(void)container;
	message = message ? message : mpijob_error_text(code);
	if (!again) {
		say_lost(row, message);
		return;
	}
	if (!row->trouble)
		row->troubled_ms = mpijob__base_clock_monotonic_ms();
	free(row->trouble);
	row->trouble = strdup(message);
}

/* All attempts of a container in its pod. */
static int logs_start(struct container_row *row)
{
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	const char *pods[] = { row->pod->name };

	options.namespace_ = row->pod->pods->namespace_;
	options.pods = pods;
	options.pods_count = 1;
	options.container = row->name;
	options.follow = 1;
	options.line = logs_line;
	options.failed = logs_failed;
	options.user = row;
	return mpijob_logs_new(row->pod->pods->client, &options, &row->logs);
}

static int is_going(const struct container_row *row)
{
	return row->waiting || row->log || (row->logs && mpijob_logs_state(row->logs) > 0);
}

/* Whether the output of an earlier launcher still comes. */
static int is_behind_another(const struct container_row *row)
{
	int64_t since_ms = mpijob__base_clock_monotonic_ms() - OVERTAKE_MS;

	for (const struct pod_row *pod = row->is_main ? row->pod->next : NULL; pod; pod = pod->next)
		for (const struct container_row *other = pod->containers; other;
		     other = other->next)
			if (other->is_main && is_going(other) &&
			    (other->waiting || row->pod->pods->paused ||
				other->heard_ms > since_ms))
				return 1;
	return 0;
}

static void logs_follow(struct container_row *row)
{
	struct pods *pods = row->pod->pods;

	row->waiting = is_behind_another(row);
	if (row->waiting)
		return;
	row->heard_ms = mpijob__base_clock_monotonic_ms();
	int code = logs_start(row);
	pods->code = code ? code : pods->code;
	if (pods->paused)
		pause_log(row, 1);
}

static void start_waiting(struct pods *pods)
{
	for (struct pod_row *pod = pods->rows; pod; pod = pod->next)
		for (struct container_row *row = pod->containers; row; row = row->next)
			if (row->waiting)
				logs_follow(row);
}

/* ---- pods ---- */

static void containers_free(struct pod_row *pod)
{
	while (pod->containers) {
		struct container_row *row = pod->containers;
		pod->containers = row->next;
		if (row->log)
			mpijob_call_cancel(row->log);
		mpijob_logs_free(row->logs);
		free(row->name);
		free(row->waits_for);
		free(row->trouble);
		mpijob_text_free(row->line);
		free(row);
	}
}

static void row_free(struct pod_row *row)
{
	if (!row)
		return;
	containers_free(row);
	free(row->name);
	free(row->uid);
	free(row->created);
	free(row->never);
	free(row->waits);
	free(row);
}

/* Where a pod that was created then belongs. */
static struct pod_row **row_place(struct pods *pods, const char *created)
{
	struct pod_row **at = &pods->rows;

	while (*at && strcmp((*at)->created, created) > 0)
		at = &(*at)->next;
	return at;
}

static struct pod_row *row_find(struct pods *pods, const mpijob_node *pod)
{
	const char *uid = mpijob_node_string(mpijob_node_find(pod, "metadata.uid"));
	const char *name = mpijob_node_string(mpijob_node_find(pod, "metadata.name"));
	const char *role = mpijob_node_string(
	    mpijob_node_find(pod, "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_ROLE "]"));
	const char *created =
	    mpijob_node_string(mpijob_node_find(pod, "metadata.creationTimestamp"));

	if (!uid || !name)
		return NULL;
	for (struct pod_row *row = pods->rows; row; row = row->next)
		if (strcmp(row->uid, uid) == 0)
			return row;
	struct pod_row *row = calloc(1, sizeof(*row));
	if (row) {
		row->pods = pods;
		row->uid = strdup(uid);
		row->name = strdup(name);
		row->created = strdup(created ? created : "");
		row->is_launcher = role && strcmp(role, "launcher") == 0;
	}
	if (!row || !row->uid || !row->name || !row->created) {
		row_free(row);
		pods->code = MPIJOB_ERR_NOMEM;
		return NULL;
	}
	struct pod_row **at = row_place(pods, row->created);
	row->next = *at;
	return *at = row;
}

static int is_ready(const mpijob_node *status)
{
	const mpijob_node *conditions = mpijob_node_get(status, "conditions");

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);
		const char *type = mpijob_node_string(mpijob_node_get(condition, "type"));
		const char *value = mpijob_node_string(mpijob_node_get(condition, "status"));
		if (type && value && strcmp(type, "Ready") == 0)
			return strcmp(value, "True") == 0;
	}
	return 0;
}

static struct container_row *container_find(struct pod_row *pod, const char *name, int is_init)
{
	for (struct container_row *row = pod->containers; row; row = row->next)
		if (strcmp(row->name, name) == 0)
			return row;
	struct container_row *row = calloc(1, sizeof(*row));
	if (row) {
		row->pod = pod;
		row->name = strdup(name);
		row->line = mpijob_text_new();
		row->is_init = is_init;
	}
	if (!row || !row->name || !row->line) {
		if (row) {
			free(row->name);
			mpijob_text_free(row->line);
		}
		free(row);
		pod->pods->code = MPIJOB_ERR_NOMEM;
		return NULL;
	}
	row->next = pod->containers;
	return pod->containers = row;
}

/* The first of these containers that ended, and not with 0; NULL when none did. */
static const mpijob_node *first_failed(const mpijob_node *statuses, int64_t *code)
{
	for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
		const mpijob_node *status = mpijob_node_at(statuses, i);

		if (mpijob_node_int(mpijob_node_find(status, "state.terminated.exitCode"), code) &&
		    *code != 0)
			return status;
	}
	return NULL;
}

/* The end of attempt `number` counts once. Of containers side by side the one that failed
 * counts. */
static void attempt_ended(struct container_row *row, int64_t number, const mpijob_node *terminated,
    const mpijob_node *statuses)
{
	struct pods *pods = row->pod->pods;
	int64_t code = 0, other = 0;

	if (pods->given_up || number < row->ended ||
	    !mpijob_node_int(mpijob_node_get(terminated, "exitCode"), &code))
		return;
	row->ended = number + 1;
	if (row->is_init && code == 0)
		return;
	pods->launcher_end_ms = mpijob__base_clock_monotonic_ms();
	/* One that was stopped from outside did not end by itself. */
	if (row->pod->deleting)
		return;
	if (code != 0)
		progress_say(pods->progress, "%s %s of pod %s ended with exit code %lld",
		    row->is_init ? "init container" : "container", row->name, row->pod->name,
		    (long long)code);
	else if (first_failed(statuses, &other))
		code = other;
	pods->has_exit_code = 1;
	pods->exit_code = (int)code;
}

/* Follow the output of each attempt; of one that came and went between two looks, fetch what is
 * kept. */
static void follow_attempts(struct container_row *row, int64_t started)
{
	struct pods *pods = row->pod->pods;

	if (pods->given_up || row->log || started <= row->attempts)
		return;
	if (pods->is_cluster) {
		row->attempts = started;
		if (!row->logs)
			logs_follow(row);
		return;
	}
	int previous = started > row->attempts + 1;
	row->attempts = previous ? started - 1 : started;
	int code = log_follow(row, previous);
	if (code)
		pods->code = code;
	else if (pods->paused)
		pause_log(row, 1);
}

static void launcher_changed(struct container_row *row, const mpijob_node *status,
    const mpijob_node *statuses)
{
	const mpijob_node *terminated = mpijob_node_find(status, "state.terminated");
	const mpijob_node *before = mpijob_node_find(status, "lastState.terminated");
	const mpijob_node *running = mpijob_node_find(status, "state.running");
	int64_t restarts = 0;

	mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	if (before && restarts > 0)
		attempt_ended(row, restarts - 1, before, statuses);
	if (running && !row->is_init && row->pod->pods->launcher_start_ms == 0)
		row->pod->pods->launcher_start_ms = mpijob__base_clock_monotonic_ms();
	if (terminated)
		attempt_ended(row, restarts, terminated, statuses);
	follow_attempts(row, restarts + (running || terminated ? 1 : 0));
}

/* Say once why a container cannot start yet. */
static void tell_waiting(struct container_row *row, const mpijob_node *status)
{
	const char *message = mpijob_node_string(mpijob_node_find(status, "state.waiting.message"));
	const char *reason = mpijob_node_string(mpijob_node_find(status, "state.waiting.reason"));

	/* A back-off is seen in the attempts. */
	if (!message || !reason ||
	    (strcmp(reason, "CreateContainerConfigError") != 0 &&
		strcmp(reason, "ContainerCreating") != 0) ||
	    (row->waits_for && strcmp(row->waits_for, message) == 0))
		return;
	free(row->waits_for);
	row->waits_for = strdup(message);
	if (!row->waits_for)
		row->pod->pods->code = MPIJOB_ERR_NOMEM;
	progress_say(row->pod->pods->progress, "container %s of pod %s is waiting: %s", row->name,
	    row->pod->name, message);
}

static void containers_changed(struct pod_row *pod, const mpijob_node *statuses, const char *first,
    int is_init)
{
	for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
		const mpijob_node *status = mpijob_node_at(statuses, i);
		const char *name = mpijob_node_string(mpijob_node_get(status, "name"));
		struct container_row *row = name ? container_find(pod, name, is_init) : NULL;

		if (!row)
			continue;
		row->is_main = pod->is_launcher && !is_init && first && strcmp(name, first) == 0;
		if (pod->is_launcher)
			launcher_changed(row, status, statuses);
		tell_waiting(row, status);
	}
}

/* Say once that a worker failed that nobody stopped. */
static void worker_failed(struct pod_row *pod, const mpijob_node *status)
{
	int64_t code = 0;
	const mpijob_node *failed =
	    first_failed(mpijob_node_get(status, "initContainerStatuses"), &code);

	if (!failed)
		failed = first_failed(mpijob_node_get(status, "containerStatuses"), &code);
	if (!failed || pod->deleting || pod->failed)
		return;
	pod->failed = 1;
	const char *name = mpijob_node_string(mpijob_node_get(failed, "name"));
	progress_say(pod->pods->progress, "pod %s failed: container %s ended with exit code %lld",
	    pod->name, name, (long long)code);
	for (struct container_row *row = pod->containers; row && !pod->pods->is_cluster;
	     row = row->next)
		if (strcmp(row->name, name) == 0 && hopeless_show_worker(row))
			pod->pods->code = MPIJOB_ERR_NOMEM;
}

/* Its log begins when its container does. */
static void worker_runs(struct pod_row *row, const mpijob_node *pod)
{
	const char *container =
	    mpijob_node_string(mpijob_node_find(pod, "spec.containers[0].name"));
	const mpijob_node *started =
	    mpijob_node_find(pod, "status.containerStatuses[0].state.running");
	struct pods *pods = row->pods;

	if (!container || !started || row->deleting)
		return;
	pods->sshd.client = pods->client;
	pods->sshd.namespace_ = pods->namespace_;
	int code = sshd_look(&pods->sshd, row->name, container);
	if (code == MPIJOB_ERR_NOMEM)
		pods->code = code;
}

void pods_changed(void *user, const mpijob_node *pod, int gone)
{
	struct pods *pods = user;
	struct pod_row *row = pod_is_of(pod, pods->uid, pods->created) ? row_find(pods, pod) : NULL;
	const mpijob_node *status = mpijob_node_get(pod, "status");
	const char *phase = mpijob_node_string(mpijob_node_get(status, "phase"));
	const char *first = mpijob_node_string(mpijob_node_find(pod, "spec.containers[0].name"));

	if (!row)
		return;
	/* The last status of a pod that is deleted may come together with the deletion itself. */
	row->deleting =
	    row->deleting || mpijob_node_find(pod, "metadata.deletionTimestamp") != NULL;
	row->ready = !gone && is_ready(status);
	row->running = !gone && phase && strcmp(phase, "Running") == 0;
	row->ended = phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
	containers_changed(row, mpijob_node_get(status, "initContainerStatuses"), first, 1);
	containers_changed(row, mpijob_node_get(status, "containerStatuses"), first, 0);
	if (!row->is_launcher && phase && strcmp(phase, "Failed") == 0)
		worker_failed(row, status);
	if (!row->is_launcher && row->running)
		worker_runs(row, pod);
	row->gone = gone;
	if (!pods->is_cluster)
		hopeless_look(row, pod);
}

int pods_ready_workers(const struct pods *pods)
{
	int ready = 0;

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		ready += !row->is_launcher && row->ready;
	return ready;
}

const char *pods_running(const struct pods *pods)
{
	for (const struct pod_row *row = pods->rows; row; row = row->next)
		if (row->active && !row->gone && !row->deleting)
			return row->name;
	return NULL;
}

int pods_launchers_left(const struct pods *pods)
{
	int left = 0;

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		left += row->is_launcher && !row->gone;
	return left;
}

int pods_launchers_going(const struct pods *pods)
{
	int going = 0;

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		going += row->is_launcher && !row->gone && !row->ended;
	return going;
}

int pods_logs_open(const struct pods *pods)
{
	int open = outlet_pending(&pods->out) || outlet_pending(&pods->news);

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		for (const struct container_row *container = row->containers; container;
		     container = container->next)
			open += is_going(container);
	return open;
}

static int may_go_on(const struct container_row *container, int64_t patience_ms)
{
	return container->logs && mpijob_logs_state(container->logs) > 0 &&
	       (!container->trouble ||
		   mpijob__base_clock_monotonic_ms() < container->troubled_ms + patience_ms);
}

int pods_logs_alive(const struct pods *pods, int64_t patience_ms)
{
	for (const struct pod_row *row = pods->rows; row; row = row->next)
		for (const struct container_row *container = row->containers; container;
		     container = container->next)
			if (container->log || container->waiting ||
			    may_go_on(container, patience_ms))
				return 1;
	return 0;
}

void pods_tell_missing(struct pods *pods)
{
	for (struct pod_row *row = pods->rows; row; row = row->next)
		for (struct container_row *container = row->containers; container;
		     container = container->next)
			if (!container->log && is_going(container))
				progress_say(pods->progress,
				    "the output of pod %s is not complete: %s", row->name,
				    container->trouble ? container->trouble
						       : "it did not end in time");
}

void pods_free(struct pods *pods)
{
	while (pods->rows) {
		struct pod_row *row = pods->rows;
		pods->rows = row->next;
		row_free(row);
	}
	sshd_free(&pods->sshd);
	prefixed_free(&pods->others);
	outlet_free(&pods->out);
	outlet_free(&pods->news);
}

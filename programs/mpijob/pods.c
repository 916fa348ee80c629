/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a pod's status is read: when its containers' output can be followed, which exit code counts, and what a
 * person wants to be told of. An attempt that was ended from outside, because its pod is being deleted, does not count.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "findings.h"
#include "pods.h"

#define LOOK_MS 100     /* how often a reader that takes nothing is given up for a signal or the timeout */
#define STALLED_MS 1000 /* how long a reader may take nothing when it is time to end */

int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Bytes written; 0: none could be within LOOK_MS, or a signal came; -1 and errno. */
static ssize_t write_some(int fd, const char *data, size_t len)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };

	/* So much, and no more, a pipe takes without waiting when it is ready. */
	if (poll(&ready, 1, LOOK_MS) <= 0)
		return 0;
	ssize_t written = write(fd, data, len < PIPE_BUF ? len : PIPE_BUF);
	return written < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : written;
}

/* A reader may be slow, and all waits for it then; but it cannot keep us from ending. Returns 0, or an errno. */
static int write_all(const struct pods *pods, int fd, const char *data, size_t len)
{
	int64_t moved_ms = clock_ms();

	while (len > 0) {
		ssize_t written = write_some(fd, data, len);
		if (written < 0)
			return errno;
		data += written;
		len -= (size_t)written;
		if (written > 0) {
			moved_ms = clock_ms();
			continue;
		}
		int urgency = pods->urgency(pods->urgency_user);
		if (urgency == PODS_END_NOW || (urgency == PODS_END_SOON && clock_ms() - moved_ms >= STALLED_MS))
			return ETIMEDOUT;
	}
	return 0;
}

/* The output of the launcher is ours; that of what prepares it is news. */
static int log_data(void *user, const char *data, size_t len)
{
	struct container_row *row = user;
	struct pods *pods = row->pod->pods;

	progress_hide(pods->progress);
	int number = write_all(pods, row->is_init ? STDERR_FILENO : STDOUT_FILENO, data, len);
	if (number == 0)
		return 0;
	if (!row->is_init) {
		pods->output_lost = 1;
		progress_say(pods->progress, "standard output: %s", number == ETIMEDOUT ? "nobody reads it" : strerror(number));
	}
	return MPIJOB_ERR_IO;
}

static void log_done(void *user, const struct mpijob_answer *answer)
{
	struct container_row *row = user;

	row->log = NULL;
	if (answer->code && !row->pod->gone && (row->is_init || !row->pod->pods->output_lost))
		progress_say(row->pod->pods->progress, "the output of pod %s was lost: %s", row->pod->name,
			     answer->message ? answer->message : mpijob_error_text(answer->code));
}

static int log_follow(struct container_row *row, int previous)
{
	const char *query[] = { "container", row->name, previous ? "previous" : "follow", "true" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	mpijob_text *path = mpijob_text_new();

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = row->pod->pods->namespace_;
	target.name = row->pod->name;
	target.subresource = "log";
	target.query = query;
	target.query_count = 4;
	int code = path ? mpijob_target_write(&target, mpijob_text_write, path) : MPIJOB_ERR_NOMEM;
	request.method = "GET";
	request.path = path ? mpijob_text_data(path) : NULL;
	request.streaming = 1;
	callbacks.data = log_data;
	callbacks.done = log_done;
	callbacks.user = row;
	if (code == 0)
		code = mpijob_client_start(row->pod->pods->client, &request, &callbacks, &row->log);
	mpijob_text_free(path);
	return code;
}

static struct pod_row *row_find(struct pods *pods, const mpijob_node *pod)
{
	const char *uid = mpijob_node_string(mpijob_node_find(pod, "metadata.uid"));
	const char *name = mpijob_node_string(mpijob_node_find(pod, "metadata.name"));
	const char *role = mpijob_node_string(mpijob_node_find(pod, "metadata.labels[training.kubeflow.org/job-role]"));

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
		row->is_launcher = role && strcmp(role, "launcher") == 0;
		row->next = pods->rows;
		pods->rows = row;
	}
	if (!row || !row->uid || !row->name) {
		pods->code = MPIJOB_ERR_NOMEM;
		return NULL;
	}
	return row;
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
		row->is_init = is_init;
	}
	if (!row || !row->name) {
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

		if (mpijob_node_int(mpijob_node_find(status, "state.terminated.exitCode"), code) && *code != 0)
			return status;
	}
	return NULL;
}

/* The end of attempt `number` counts once. Of containers side by side the one that failed counts. */
static void attempt_ended(struct container_row *row, int64_t number, const mpijob_node *terminated,
			  const mpijob_node *statuses)
{
	struct pods *pods = row->pod->pods;
	int64_t code = 0, other = 0;

	if (number < row->ended || !mpijob_node_int(mpijob_node_get(terminated, "exitCode"), &code))
		return;
	row->ended = number + 1;
	if (row->is_init && code == 0)
		return;
	pods->launcher_end_ms = clock_ms();
	/* One that was stopped from outside did not end by itself. */
	if (row->pod->deleting)
		return;
	if (code != 0)
		progress_say(pods->progress, "%s %s of pod %s ended with exit code %lld", row->is_init ? "init container" : "container",
			     row->name, row->pod->name, (long long)code);
	else if (first_failed(statuses, &other))
		code = other;
	pods->has_exit_code = 1;
	pods->exit_code = (int)code;
}

/* Follow the output of each attempt; of one that came and went between two looks, fetch what is kept. */
static void follow_attempts(struct container_row *row, int64_t started)
{
	if (row->log || started <= row->attempts)
		return;
	int previous = started > row->attempts + 1;
	row->attempts = previous ? started - 1 : started;
	int code = log_follow(row, previous);
	if (code)
		row->pod->pods->code = code;
}

static void launcher_changed(struct container_row *row, const mpijob_node *status, const mpijob_node *statuses)
{
	const mpijob_node *terminated = mpijob_node_find(status, "state.terminated");
	const mpijob_node *before = mpijob_node_find(status, "lastState.terminated");
	const mpijob_node *running = mpijob_node_find(status, "state.running");
	int64_t restarts = 0;

	mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	if (before && restarts > 0)
		attempt_ended(row, restarts - 1, before, statuses);
	if (running && !row->is_init && row->pod->pods->launcher_start_ms == 0)
		row->pod->pods->launcher_start_ms = clock_ms();
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
	if (!message || !reason || (strcmp(reason, "CreateContainerConfigError") != 0 && strcmp(reason, "ContainerCreating") != 0) ||
	    (row->waits_for && strcmp(row->waits_for, message) == 0))
		return;
	free(row->waits_for);
	row->waits_for = strdup(message);
	if (!row->waits_for)
		row->pod->pods->code = MPIJOB_ERR_NOMEM;
	progress_say(row->pod->pods->progress, "container %s of pod %s waits: %s", row->name, row->pod->name, message);
}

static void containers_changed(struct pod_row *pod, const mpijob_node *statuses, int is_init)
{
	for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
		const mpijob_node *status = mpijob_node_at(statuses, i);
		const char *name = mpijob_node_string(mpijob_node_get(status, "name"));
		struct container_row *row = name ? container_find(pod, name, is_init) : NULL;

		if (!row)
			continue;
		if (pod->is_launcher)
			launcher_changed(row, status, statuses);
		tell_waiting(row, status);
	}
}

/* Say once that a worker failed that nobody stopped. */
static void worker_failed(struct pod_row *pod, const mpijob_node *status)
{
	int64_t code = 0;
	const mpijob_node *failed = first_failed(mpijob_node_get(status, "initContainerStatuses"), &code);

	if (!failed)
		failed = first_failed(mpijob_node_get(status, "containerStatuses"), &code);
	if (!failed || pod->deleting || pod->failed)
		return;
	pod->failed = 1;
	progress_say(pod->pods->progress, "pod %s failed: container %s ended with exit code %lld", pod->name,
		     mpijob_node_string(mpijob_node_get(failed, "name")), (long long)code);
}

void pods_changed(void *user, const mpijob_node *pod, int gone)
{
	struct pods *pods = user;
	struct pod_row *row = row_find(pods, pod);
	const mpijob_node *status = mpijob_node_get(pod, "status");
	const char *phase = mpijob_node_string(mpijob_node_get(status, "phase"));

	if (!row)
		return;
	/* The last status of a pod that is deleted may come together with the deletion itself. */
	row->deleting = row->deleting || mpijob_node_find(pod, "metadata.deletionTimestamp") != NULL;
	row->ready = !gone && is_ready(status);
	row->running = !gone && phase && strcmp(phase, "Running") == 0;
	containers_changed(row, mpijob_node_get(status, "initContainerStatuses"), 1);
	containers_changed(row, mpijob_node_get(status, "containerStatuses"), 0);
	if (!row->is_launcher && phase && strcmp(phase, "Failed") == 0)
		worker_failed(row, status);
	row->gone = gone;
}

int pods_ready_workers(const struct pods *pods)
{
	int ready = 0;

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		ready += !row->is_launcher && row->ready;
	return ready;
}

int pods_launchers_left(const struct pods *pods)
{
	int left = 0;

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		left += row->is_launcher && !row->gone;
	return left;
}

int pods_logs_open(const struct pods *pods)
{
	int open = 0;

	for (const struct pod_row *row = pods->rows; row; row = row->next)
		for (const struct container_row *container = row->containers; container; container = container->next)
			open += container->log != NULL;
	return open;
}

static void containers_free(struct pod_row *pod)
{
	while (pod->containers) {
		struct container_row *row = pod->containers;
		pod->containers = row->next;
		if (row->log)
			mpijob_call_cancel(row->log);
		free(row->name);
		free(row->waits_for);
		free(row);
	}
}

void pods_free(struct pods *pods)
{
	while (pods->rows) {
		struct pod_row *row = pods->rows;
		pods->rows = row->next;
		containers_free(row);
		free(row->name);
		free(row->uid);
		free(row);
	}
}

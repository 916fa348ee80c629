/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a pod's status is read: when its output can be followed, and which exit code counts. An
 * attempt that was ended from outside, because its pod is being deleted, does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "findings.h"
#include "pods.h"

int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int log_data(void *user, const char *data, size_t len)
{
	struct pod_row *row = user;

	progress_hide(row->pods->progress);
	if (fwrite(data, 1, len, stdout) != len || fflush(stdout) != 0)
		return MPIJOB_ERR_IO;
	return 0;
}

static void log_done(void *user, const struct mpijob_answer *answer)
{
	struct pod_row *row = user;

	row->log = NULL;
	if (answer->code && !row->gone)
		progress_say(row->pods->progress, "the output of pod %s was lost: %s", row->name,
			     answer->message ? answer->message : mpijob_error_text(answer->code));
}

static int log_follow(struct pod_row *row, int previous)
{
	const char *query[] = { "follow", "true", "previous", "true" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	mpijob_text *path = mpijob_text_new();

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = row->pods->namespace_;
	target.name = row->name;
	target.subresource = "log";
	target.query = previous ? query + 2 : query;
	target.query_count = 2;
	int code = path ? mpijob_target_write(&target, mpijob_text_write, path) : MPIJOB_ERR_NOMEM;
	request.method = "GET";
	request.path = path ? mpijob_text_data(path) : NULL;
	request.streaming = 1;
	callbacks.data = log_data;
	callbacks.done = log_done;
	callbacks.user = row;
	if (code == 0)
		code = mpijob_client_start(row->pods->client, &request, &callbacks, &row->log);
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

/* Count the end of one attempt once; `by_itself`: it was not stopped from outside. */
static void attempt_ended(struct pod_row *row, int64_t restarts, const mpijob_node *terminated, int by_itself)
{
	const char *id = mpijob_node_string(mpijob_node_get(terminated, "containerID"));
	int64_t code = 0;
	char *identity = NULL;

	if (!mpijob_node_int(mpijob_node_get(terminated, "exitCode"), &code))
		return;
	if (asprintf(&identity, "%lld %s", (long long)restarts, id ? id : "") < 0) {
		row->pods->code = MPIJOB_ERR_NOMEM;
		return;
	}
	if (row->last_ended && strcmp(row->last_ended, identity) == 0) {
		free(identity);
		return;
	}
	free(row->last_ended);
	row->last_ended = identity;
	row->pods->launcher_end_ms = clock_ms();
	if (by_itself) {
		row->pods->has_exit_code = 1;
		row->pods->exit_code = (int)code;
	}
}

/* Follow the output of each attempt; of one that came and went between two looks, fetch what is kept. */
static void follow_attempts(struct pod_row *row, int64_t started)
{
	if (row->log || started <= row->attempts)
		return;
	int previous = started > row->attempts + 1;
	row->attempts = previous ? started - 1 : started;
	int code = log_follow(row, previous);
	if (code)
		row->pods->code = code;
}

static void launcher_changed(struct pod_row *row, const mpijob_node *status)
{
	const mpijob_node *container = mpijob_node_find(status, "containerStatuses[0]");
	const mpijob_node *terminated = mpijob_node_find(container, "state.terminated");
	const mpijob_node *before = mpijob_node_find(container, "lastState.terminated");
	const mpijob_node *running = mpijob_node_find(container, "state.running");
	int64_t restarts = 0;

	mpijob_node_int(mpijob_node_get(container, "restartCount"), &restarts);
	if (before && restarts > 0)
		attempt_ended(row, restarts - 1, before, 1);
	if (running && row->pods->launcher_start_ms == 0)
		row->pods->launcher_start_ms = clock_ms();
	if (terminated)
		attempt_ended(row, restarts, terminated, !row->deleting);
	follow_attempts(row, restarts + (running || terminated ? 1 : 0));
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
	if (row->is_launcher)
		launcher_changed(row, status);
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
		open += row->log != NULL;
	return open;
}

void pods_free(struct pods *pods)
{
	while (pods->rows) {
		struct pod_row *row = pods->rows;
		pods->rows = row->next;
		if (row->log)
			mpijob_call_cancel(row->log);
		free(row->name);
		free(row->uid);
		free(row->last_ended);
		free(row);
	}
}

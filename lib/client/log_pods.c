/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of logs: which containers are selected, in which order, and how many runs of each have
 * begun.
 */
#include "client/log_pods.h"

#include "base/api.h"
#include "client/logs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The lists of containers in the order of their logs, and the lists of their statuses. */
static const struct {
	const char *spec, *status;
} lists[] = {
	{ "initContainers", "initContainerStatuses" },
	{ "containers", "containerStatuses" },
	{ "ephemeralContainers", "ephemeralContainerStatuses" },
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static struct mpijob__client_log_pod *find_pod(struct mpijob_logs *logs, const char *name,
    const char *uid)
{
	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		if (strcmp(pod->uid, uid) == 0 && strcmp(pod->name, name) == 0)
			return pod;
	return NULL;
}

static void mark_deleted(struct mpijob__client_log_pod *pod)
{
	pod->deleted = 1;
	for (struct mpijob__client_log_source *source = pod->sources; source; source = source->next)
		mpijob__client_log_source_changed(source);
}

/* Another pod of the same name replaces the old one. */
static void drop_namesakes(struct mpijob_logs *logs, const char *name)
{
	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		if (!pod->deleted && strcmp(pod->name, name) == 0)
			mark_deleted(pod);
}

static void free_pod(struct mpijob__client_log_pod *pod)
{
	while (pod->sources) {
		struct mpijob__client_log_source *source = pod->sources;

		pod->sources = source->next;
		mpijob__client_log_free_source(source);
	}
	free(pod->name);
	free(pod->uid);
	free(pod);
}

/* ---- which containers ---- */

static const mpijob_node *find_container(const mpijob_node *pod, const char *name, size_t *list)
{
	const mpijob_node *spec = mpijob_node_get(pod, "spec");

	for (*list = 0; *list < LISTS; (*list)++) {
		const mpijob_node *containers = mpijob_node_get(spec, lists[*list].spec);

		for (size_t i = 0; i < mpijob_node_count(containers); i++) {
			const char *given = mpijob_node_string(
			    mpijob_node_get(mpijob_node_at(containers, i), "name"));

			if (given && strcmp(given, name) == 0)
				return mpijob_node_at(containers, i);
		}
	}
	return NULL;
}

static int add_source(struct mpijob__client_log_pod *pod, const mpijob_node *container, size_t list)
{
	const char *name = mpijob_node_string(mpijob_node_get(container, "name"));
	const char *policy = mpijob_node_string(mpijob_node_get(container, "restartPolicy"));
	struct mpijob__client_log_source *source, **at = &pod->sources;

	if (!name)
		return 0;
	source = calloc(1, sizeof(*source));
	if (!source)
		return MPIJOB_ERR_NOMEM;
	source->name = strdup(name);
	if (!source->name) {
		free(source);
		return MPIJOB_ERR_NOMEM;
	}
	source->logs = pod->logs;
	source->pod = pod;
	source->run.attempt = -1;
	source->late = pod->logs->listed;
	/* A container that always restarts is a sidecar: others do not wait for its end. */
	source->is_gate = list == 0 && !(policy && strcmp(policy, "Always") == 0);
	while (*at)
		at = &(*at)->next;
	*at = source;
	return 0;
}

static int add_all(struct mpijob__client_log_pod *pod, const mpijob_node *from)
{
	for (size_t list = 0; list < LISTS; list++) {
		const mpijob_node *containers =
		    mpijob_node_get(mpijob_node_get(from, "spec"), lists[list].spec);

		for (size_t i = 0; i < mpijob_node_count(containers); i++)
			if (add_source(pod, mpijob_node_at(containers, i), list))
				return MPIJOB_ERR_NOMEM;
	}
	return 0;
}

static int add_chosen(struct mpijob__client_log_pod *pod, const mpijob_node *from)
{
	const mpijob_node *annotations = mpijob_node_find(from, "metadata.annotations");
	const char *asked = pod->logs->options.container;
	const char *name =
	    asked ? asked
		  : mpijob_node_string(mpijob_node_get(annotations, MPIJOB__BASE_API_CONTAINER));
	const mpijob_node *container;
	size_t list = 1;

	container = name ? find_container(from, name, &list) : NULL;
	if (!container && !asked) {
		list = 1;
		container = mpijob_node_at(mpijob_node_find(from, "spec.containers"), 0);
	}
	if (container)
		return add_source(pod, container, list);
	mpijob__client_log_report_failure(pod->logs, pod->name, asked, MPIJOB_ERR_NOT_FOUND,
	    "the pod has no such container", 0);
	return 0;
}

static int add_pod(struct mpijob_logs *logs, const char *name, const char *uid,
    const mpijob_node *from)
{
	struct mpijob__client_log_pod *pod = calloc(1, sizeof(*pod));
	int rc = MPIJOB_ERR_NOMEM;

	if (!pod)
		return MPIJOB_ERR_NOMEM;
	pod->logs = logs;
	pod->name = strdup(name);
	pod->uid = strdup(uid);
	if (pod->name && pod->uid)
		rc = logs->options.all_containers ? add_all(pod, from) : add_chosen(pod, from);
	if (rc) {
		free_pod(pod);
		return rc;
	}
	*logs->last_pod = pod;
	logs->last_pod = &pod->next;
	return 0;
}

/* ---- status of containers ---- */

static const mpijob_node *find_status(const mpijob_node *status, const char *name)
{
	for (size_t list = 0; list < LISTS; list++) {
		const mpijob_node *statuses = mpijob_node_get(status, lists[list].status);

		for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
			const char *given = mpijob_node_string(
			    mpijob_node_get(mpijob_node_at(statuses, i), "name"));

			if (given && strcmp(given, name) == 0)
				return mpijob_node_at(statuses, i);
		}
	}
	return NULL;
}

/* A null value counts as absent. */
static int has(const mpijob_node *status, const char *path)
{
	return mpijob_node_kind(mpijob_node_find(status, path)) == MPIJOB_NODE_MAP;
}

/* Without `follow`: report once why there is no log. */
static void report_waiting(struct mpijob__client_log_source *source, const mpijob_node *status)
{
	struct mpijob_logs *logs = source->logs;
	const char *reason = mpijob_node_string(mpijob_node_find(status, "state.waiting.reason"));
	mpijob_text text = { 0 };
	const char *words = "the container is waiting to start";

	if (logs->options.previous && source->status.runs > 0)
		words = "the container did not run before";
	else if (reason && mpijob__base_text_printf(&text, "the container is waiting to start: %s",
			       reason) == 0)
		words = mpijob_text_data(&text);
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_CLOSED);
	mpijob__client_log_report_failure(logs, source->pod->name, source->name,
	    MPIJOB_ERR_REJECTED, words, 0);
	mpijob__base_text_release(&text);
}

static void take_status(struct mpijob__client_log_source *source, const mpijob_node *status)
{
	const struct mpijob_logs_options *options = &source->logs->options;
	int had_last = has(status, "lastState.terminated");
	int64_t restarts = 0;
	int32_t runs;

	(void)mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	source->status.container = MPIJOB__CLIENT_LOG_CONTAINER_STOPPED;
	if (has(status, "state.running"))
		source->status.container = MPIJOB__CLIENT_LOG_CONTAINER_RUNNING;
	else if (had_last && has(status, "state.waiting"))
		/* A restart is counted when the next run begins. */
		source->status.container = MPIJOB__CLIENT_LOG_CONTAINER_RESTARTING;
	runs = (int32_t)(restarts < 0 ? 0 : restarts > INT_MAX - 1 ? INT_MAX - 1 : restarts);
	if (source->status.container != MPIJOB__CLIENT_LOG_CONTAINER_STOPPED ||
	    has(status, "state.terminated"))
		runs++;
	/* Of a container that ran before the logs were opened, only the last run is read. */
	if (source->status.runs == 0 && runs > 0 && !source->late && source->run.attempt < 0)
		source->run.done = runs - 1;
	if (runs > source->status.runs)
		source->status.runs = runs;
	if (source->state != MPIJOB__CLIENT_LOG_STREAMING &&
	    ((!options->follow && source->status.runs == 0) || (options->previous && !had_last)))
		report_waiting(source, status);
	else
		mpijob__client_log_source_changed(source);
}

static int is_wanted(struct mpijob_logs *logs, const char *name)
{
	if (!logs->names)
		return 1;
	for (size_t i = 0; i < logs->options.pods_count; i++)
		if (strcmp(logs->names[i], name) == 0) {
			logs->named[i] = 1;
			return 1;
		}
	return 0;
}

static void take_state(struct mpijob__client_log_pod *pod, const mpijob_node *from)
{
	const mpijob_node *status = mpijob_node_get(from, "status");
	const char *phase = mpijob_node_string(mpijob_node_get(status, "phase"));

	pod->ended = phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
	for (struct mpijob__client_log_source *source = pod->sources; source && !pod->logs->freed;
	     source = source->next)
		if (source->state != MPIJOB__CLIENT_LOG_CLOSED)
			take_status(source, find_status(status, source->name));
}

static int take_object(struct mpijob_logs *logs, const struct mpijob_watch_event *event,
    const mpijob_node *from)
{
	struct mpijob__client_log_pod *pod = find_pod(logs, event->name, event->uid);
	int rc;

	if (!pod && event->event == MPIJOB_WATCH_DELETED)
		return 0;
	if (!pod) {
		drop_namesakes(logs, event->name);
		rc = add_pod(logs, event->name, event->uid, from);
		if (rc)
			return rc;
		pod = find_pod(logs, event->name, event->uid);
	}
	pod->round = logs->round;
	take_state(pod, from);
	if (event->event == MPIJOB_WATCH_DELETED && !logs->freed)
		mark_deleted(pod);
	return 0;
}

int mpijob__client_log_take_pod(struct mpijob_logs *logs, const struct mpijob_watch_event *event)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	int rc;

	if (!event->json || !is_wanted(logs, event->name))
		return 0;
	options.format = MPIJOB_FORMAT_JSON;
	options.max_bytes = event->json_len > 0 ? event->json_len : 1;
	rc = mpijob_doc_parse(event->json, event->json_len, &options, &doc, NULL);
	if (rc == MPIJOB_ERR_NOMEM)
		return rc;
	/* An object that cannot be parsed is ignored. */
	if (rc == 0)
		rc = take_object(logs, event, mpijob_doc_root(doc));
	else
		rc = 0;
	mpijob_doc_free(doc);
	return rc;
}

void mpijob__client_log_drop_unlisted(struct mpijob_logs *logs)
{
	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		if (!pod->deleted && pod->round != logs->round)
			mark_deleted(pod);
}

static int is_finished(const struct mpijob__client_log_pod *pod)
{
	if (!pod->deleted)
		return 0;
	for (const struct mpijob__client_log_source *source = pod->sources; source;
	     source = source->next)
		if (source->state != MPIJOB__CLIENT_LOG_CLOSED)
			return 0;
	return 1;
}

void mpijob__client_log_sweep_pods(struct mpijob_logs *logs)
{
	struct mpijob__client_log_pod **at = &logs->pods;

	while (*at) {
		struct mpijob__client_log_pod *pod = *at;

		if (!is_finished(pod)) {
			at = &pod->next;
			continue;
		}
		*at = pod->next;
		free_pod(pod);
	}
	logs->last_pod = at;
}

void mpijob__client_log_free_pods(struct mpijob_logs *logs)
{
	while (logs->pods) {
		struct mpijob__client_log_pod *pod = logs->pods;

		logs->pods = pod->next;
		free_pod(pod);
	}
	logs->last_pod = &logs->pods;
}

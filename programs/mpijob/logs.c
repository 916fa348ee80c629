/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob logs: knows whose output is meant by the name of a job (that of the launcher, all its attempts one after the
 * other, unless workers are asked for), waits for pods that are not there yet, and knows when nothing more can come:
 * when the job has ended and all that its pods printed was read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "connect.h"
#include "evidence.h"
#include "findings.h"
#include "print.h"

#define TURN_MS 200
#define SILENT_MS 1500 /* so long nothing is said while a node gives nothing */
#define LAST_MS 10000 /* how long pods may still appear, or their logs end, when the job has ended */

struct source {
	struct source *next;
	struct reader *reader;
	char *pod;
	mpijob_logs *logs;
	int inside; /* a line has begun and not ended */
	int ended;  /* the pod has, so its output has an end */
	int read;   /* something came */
	int told;   /* that its output is tried for again */
};

struct reader {
	const struct arguments *arguments;
	struct connection *connection;
	const char *name;
	mpijob *job;
	mpijob_watch *pods, *watched_job; /* with -f */
	struct source *sources;
	int prefix;
	int seen;     /* a pod was there */
	int told;     /* that it is waited for */
	int finished; /* the job has ended, or is gone */
	int64_t finished_ms;
	size_t failures;
	int code; /* why it cannot go on */
};

/* ---- lines ---- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int on_line(void *user, const struct mpijob_log_line *line)
{
	struct source *source = user;

	source->read = 1;
	if (source->reader->prefix && !source->inside)
		print_out("[pod/%s/%s] ", line->pod, line->container);
	fwrite(line->text, 1, line->len, stdout);
	if (line->whole)
		putchar('\n');
	source->inside = !line->whole;
	return ferror(stdout) ? MPIJOB_ERR_IO : 0;
}

static void on_failed(void *user, const char *pod, const char *container, int code, const char *message, int again)
{
	struct source *source = user;

	if (again) {
		if (!source->told)
			print_to(stderr, "mpijob: the output of pod %s cannot be had now: %s; trying again\n", pod,
				message ? message : mpijob_error_text(code));
		source->told = 1;
		return;
	}
	source->reader->failures++;
	print_to(stderr, "mpijob: the output of pod %s%s%s cannot be had: %s\n", pod, container ? ", container " : "",
		container ? container : "", message ? message : mpijob_error_text(code));
}

static void source_free(struct source *source)
{
	mpijob_logs_free(source->logs);
	free(source->pod);
	free(source);
}

static struct source *source_new(struct reader *reader, const char *pod, int previous)
{
	const struct arguments *arguments = reader->arguments;
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	struct source *source = calloc(1, sizeof(*source));
	int64_t since = (arguments->since_ms.value + 999) / 1000;
	const char *pods[1];

	if (!source || !(source->pod = strdup(pod))) {
		reader->code = MPIJOB_ERR_NOMEM;
		free(source);
		return NULL;
	}
	source->reader = reader;
	pods[0] = source->pod;
	options.namespace_ = reader->connection->namespace_;
	options.pods = pods;
	options.pods_count = 1;
	options.container = arguments->container;
	options.all_containers = arguments->all_containers;
	options.follow = arguments->follow && !previous;
	options.previous = previous;
	options.timestamps = arguments->timestamps;
	options.tail_lines = arguments->tail.is && arguments->tail.value >= 0 ? &arguments->tail.value : NULL;
	options.since_seconds = arguments->since_ms.is ? &since : NULL;
	options.line = on_line;
	options.failed = previous && !arguments->previous ? NULL : on_failed;
	options.user = source;
	reader->code = mpijob_logs_new(reader->connection->client, &options, &source->logs);
	if (reader->code) {
		source_free(source);
		return NULL;
	}
	return source;
}

/* ---- which pods ---- */

static int is_wanted(const struct reader *reader, const mpijob_node *pod)
{
	const char *name = mpijob_node_string(mpijob_node_find(pod, "metadata.name"));
	const char *role = pod_role(pod);
	const mpijob_node *job = mpijob_doc_root(mpijob_document(reader->job));

	if (!name || !pod_is_of(pod, mpijob_uid(reader->job),
				mpijob_node_string(mpijob_node_find(job, "metadata.creationTimestamp"))))
		return 0;
	if (reader->arguments->pod)
		return strcmp(reader->arguments->pod, name) == 0;
	if (reader->arguments->all)
		return 1;
	return strcmp(role, reader->arguments->workers ? "worker" : "launcher") == 0;
}

static const char *wanted(const struct reader *reader)
{
	return reader->arguments->pod       ? "pod"
	       : reader->arguments->workers ? "workers"
	       : reader->arguments->all     ? "pods"
					    : "launcher";
}

static const char *none(const struct reader *reader)
{
	return reader->arguments->pod       ? "there is no such pod"
	       : reader->arguments->workers ? "there are no workers"
	       : reader->arguments->all     ? "there are no pods"
					    : "there is no launcher";
}

static int has_started(const mpijob_node *pod)
{
	static const char *const paths[] = { "status.initContainerStatuses", "status.containerStatuses" };

	for (size_t i = 0; i < 2; i++) {
		const mpijob_node *statuses = mpijob_node_find(pod, paths[i]);
		for (size_t j = 0; j < mpijob_node_count(statuses); j++) {
			const mpijob_node *status = mpijob_node_at(statuses, j);
			if (mpijob_node_find(status, "state.running") || mpijob_node_find(status, "state.terminated") ||
			    mpijob_node_find(status, "lastState.terminated"))
				return 1;
		}
	}
	return 0;
}

static mpijob_text *selector_of(const char *name)
{
	static const char key[] = "training.kubeflow.org/job-name=";
	mpijob_text *text = mpijob_text_new();

	if (text && (mpijob_text_write(text, key, sizeof(key) - 1) || mpijob_text_write(text, name, strlen(name)))) {
		mpijob_text_free(text);
		return NULL;
	}
	return text;
}

/* ---- once ---- */

/* The launcher's attempts as they were made; workers by their numbers, which are behind the last dash. */
static int compare_pods(const void *a, const void *b)
{
	const mpijob_node *left = *(const mpijob_node *const *)a, *right = *(const mpijob_node *const *)b;
	const char *names[2] = { mpijob_node_string(mpijob_node_find(left, "metadata.name")),
				 mpijob_node_string(mpijob_node_find(right, "metadata.name")) };
	const char *made[2] = { mpijob_node_string(mpijob_node_find(left, "metadata.creationTimestamp")),
				mpijob_node_string(mpijob_node_find(right, "metadata.creationTimestamp")) };
	int order = strcmp(pod_role(left), pod_role(right));

	if (order == 0 && strcmp(pod_role(left), "launcher") == 0 && made[0] && made[1])
		order = strcmp(made[0], made[1]);
	if (order == 0 && strlen(names[0]) != strlen(names[1]))
		order = strlen(names[0]) < strlen(names[1]) ? -1 : 1;
	return order ? order : strcmp(names[0], names[1]);
}

static int drain(struct reader *reader, struct source *source)
{
	int64_t begun_ms = now_ms();
	int state = 1;

	while ((state = mpijob_logs_state(source->logs)) > 0) {
		int code = mpijob_client_poll(reader->connection->client, TURN_MS);
		fflush(stdout);
		if (!source->read && !source->told && now_ms() - begun_ms >= SILENT_MS) {
			print_to(stderr, "mpijob: waiting for the output of pod %s: its node has not sent any yet\n", source->pod);
			source->told = 1;
		}
		if (code)
			return code;
		if (connection_signal())
			return MPIJOB_ERR_CANCELLED;
	}
	if (source->inside)
		putchar('\n');
	return state;
}

static int print_pod(struct reader *reader, const mpijob_node *pod)
{
	const struct arguments *arguments = reader->arguments;
	const char *name = mpijob_node_string(mpijob_node_find(pod, "metadata.name"));
	int64_t restarts = 0;
	int code = 0;

	mpijob_node_int(mpijob_node_find(pod, "status.containerStatuses[0].restartCount"), &restarts);
	/* An attempt in the same pod: what is left of the one before belongs in front. */
	int whole = restarts > 0 && !arguments->previous && !arguments->tail.is && !arguments->since_ms.is &&
		    strcmp(pod_role(pod), "launcher") == 0;
	for (int previous = whole ? 1 : arguments->previous; code == 0; previous = 0) {
		struct source *source = source_new(reader, name, previous);
		if (!source)
			return reader->code;
		code = drain(reader, source);
		source_free(source);
		if (previous && whole && code != MPIJOB_ERR_CANCELLED && code != MPIJOB_ERR_NOMEM &&
		    code != MPIJOB_ERR_IO && code != MPIJOB_ERR_UNREACHABLE)
			code = 0;
		if (!previous || !whole)
			break;
	}
	return code;
}

static int print_pods(struct reader *reader, const mpijob_node **pods, size_t count)
{
	int code = 0;

	qsort(pods, count, sizeof(const mpijob_node *), compare_pods);
	for (size_t i = 0; i < count && code == 0; i++) {
		if (!has_started(pods[i])) {
			print_to(stderr, "mpijob: pod %s has not started\n",
				mpijob_node_string(mpijob_node_find(pods[i], "metadata.name")));
			reader->failures++;
			continue;
		}
		int one = print_pod(reader, pods[i]);
		/* That one pod has gone meanwhile was told. */
		if (one == MPIJOB_ERR_NOT_FOUND || one == MPIJOB_ERR_REJECTED)
			reader->failures += reader->failures == 0;
		else
			code = one;
	}
	return code;
}

static int once(struct reader *reader)
{
	struct connection *connection = reader->connection;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text *selector = selector_of(reader->name);
	const char *query[] = { "labelSelector", selector ? mpijob_text_data(selector) : NULL };
	mpijob_doc *list = NULL;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = connection->namespace_;
	target.query = query;
	target.query_count = 2;
	int code = selector ? mpijob_client_list(connection->client, &target, 0, &list, connection->diag)
			    : MPIJOB_ERR_NOMEM;
	const mpijob_node *items = code == 0 ? mpijob_node_get(mpijob_doc_root(list), "items") : NULL;
	const mpijob_node **pods = calloc(mpijob_node_count(items) + 1, sizeof(*pods));
	size_t count = 0;
	for (size_t i = 0; pods && i < mpijob_node_count(items); i++)
		if (is_wanted(reader, mpijob_node_at(items, i)))
			pods[count++] = mpijob_node_at(items, i);
	if (code == 0 && !pods)
		code = MPIJOB_ERR_NOMEM;
	if (code == 0 && count == 0) {
		print_to(stderr, "mpijob: %s of %s to print; see 'mpijob describe %s'\n", none(reader), reader->name,
			reader->name);
		reader->failures++;
	}
	if (code == 0)
		code = print_pods(reader, pods, count);
	free(pods);
	mpijob_doc_free(list);
	mpijob_text_free(selector);
	return code;
}

/* ---- with -f ---- */

static int has_ended(const mpijob_node *pod)
{
	const char *phase = mpijob_node_string(mpijob_node_find(pod, "status.phase"));

	return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

static int on_pod(void *user, const struct mpijob_watch_event *event)
{
	struct reader *reader = user;
	mpijob_doc *doc = NULL;
	int code = event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, &doc, NULL) : 0;
	const mpijob_node *pod = doc ? mpijob_doc_root(doc) : NULL;

	if (code == 0 && pod && event->event != MPIJOB_WATCH_DELETED && is_wanted(reader, pod) && has_started(pod)) {
		struct source **last = &reader->sources;
		while (*last && strcmp((*last)->pod, event->name) != 0)
			last = &(*last)->next;
		reader->seen = 1;
		if (!*last)
			*last = source_new(reader, event->name, 0);
		if (*last)
			(*last)->ended = has_ended(pod);
	}
	mpijob_doc_free(doc);
	return code ? code : reader->code;
}

static int on_job(void *user, const struct mpijob_watch_event *event)
{
	struct reader *reader = user;
	mpijob_doc *doc = NULL;
	int code = event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, &doc, NULL) : 0;
	const mpijob_node *job = doc ? mpijob_doc_root(doc) : NULL;

	if (event->event == MPIJOB_WATCH_DELETED || condition_is_true(job, "Succeeded") ||
	    condition_is_true(job, "Failed"))
		reader->finished = 1;
	mpijob_doc_free(doc);
	return code;
}

static void on_watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct reader *reader = user;

	(void)what;
	if (answer->code == MPIJOB_ERR_NOMEM || mpijob_watch_hopeless(reader->pods) ||
	    mpijob_watch_hopeless(reader->watched_job))
		reader->code = answer->code;
	else
		print_to(stderr, "mpijob: the connection is lost (%s); trying again\n",
			answer->message ? answer->message : mpijob_error_text(answer->code));
}

static size_t open_sources(const struct reader *reader)
{
	size_t open = 0;

	for (const struct source *source = reader->sources; source; source = source->next)
		open += mpijob_logs_state(source->logs) > 0;
	return open;
}

static int goes_on(struct reader *reader)
{
	size_t open = open_sources(reader);

	if (!mpijob_watch_synced(reader->pods))
		return 1;
	if (reader->arguments->pod && reader->seen && open == 0)
		return 0;
	if (!reader->finished)
		return 1;
	if (reader->finished_ms == 0)
		reader->finished_ms = now_ms();
	/* Workers may be kept for ever. */
	if (now_ms() - reader->finished_ms >= LAST_MS)
		return 0;
	return open > 0;
}

static int turns(struct reader *reader)
{
	int code = 0;

	while (code == 0 && goes_on(reader)) {
		if (!reader->seen && !reader->told && mpijob_watch_synced(reader->pods)) {
			print_to(stderr, "mpijob: waiting for the %s of %s\n", wanted(reader), reader->name);
			reader->told = 1;
		}
		code = mpijob_client_poll(reader->connection->client, TURN_MS);
		fflush(stdout);
		if (code == 0)
			code = reader->code;
		if (code == 0 && (ferror(stdout) || !output_is_read()))
			code = MPIJOB_ERR_IO;
		if (code == 0 && connection_signal())
			code = MPIJOB_ERR_CANCELLED;
	}
	if (code == 0 && !reader->seen) {
		print_to(stderr, "mpijob: %s has ended, and %s to print\n", reader->name, none(reader));
		reader->failures++;
	}
	return code;
}

/* What pods that have ended printed was read to its end, or it is said that it was not. */
static void judge_sources(struct reader *reader)
{
	for (const struct source *source = reader->sources; source; source = source->next) {
		if (!source->ended || mpijob_logs_unread(source->logs) == 0)
			continue;
		print_to(stderr, "mpijob: the output of pod %s is not complete; see 'kubectl logs %s'\n", source->pod,
			source->pod);
		reader->failures++;
	}
}

static int follow(struct reader *reader)
{
	struct connection *connection = reader->connection;
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	mpijob_text *selector = selector_of(reader->name);

	options.api_version = "v1";
	options.kind = "Pod";
	options.namespace_ = connection->namespace_;
	options.label_selector = selector ? mpijob_text_data(selector) : NULL;
	options.object = on_pod;
	options.failed = on_watch_failed;
	options.user = reader;
	int code = selector ? mpijob_watch_new(connection->client, &options, &reader->pods) : MPIJOB_ERR_NOMEM;
	options.api_version = "kubeflow.org/v2beta1";
	options.kind = "MPIJob";
	options.name = reader->name;
	options.label_selector = NULL;
	options.object = on_job;
	if (code == 0)
		code = mpijob_watch_new(connection->client, &options, &reader->watched_job);
	if (code == 0)
		code = turns(reader);
	if (code == 0)
		judge_sources(reader);
	mpijob_watch_free(reader->pods);
	mpijob_watch_free(reader->watched_job);
	mpijob_text_free(selector);
	while (reader->sources) {
		struct source *source = reader->sources;
		reader->sources = source->next;
		source_free(source);
	}
	return code;
}

/* ---- the command ---- */

/* That the job is there, and how many workers it has. */
static int look(struct reader *reader)
{
	struct connection *connection = reader->connection;
	const struct mpijob_spec *spec = NULL;
	int workers = 1;

	int code = mpijob_client_get_job(connection->client, connection->namespace_, reader->name, &reader->job,
					 connection->diag);
	if (code == 0 && mpijob_spec_get(reader->job, &spec, NULL) == 0 && spec->worker && spec->worker->replicas)
		workers = *spec->worker->replicas;
	reader->prefix = reader->arguments->prefix > 0;
	if (reader->arguments->prefix == 0)
		reader->prefix = reader->arguments->all || (reader->arguments->workers && workers > 1);
	return code;
}

int logs_command(const struct arguments *arguments)
{
	struct connection connection = { 0 };
	struct reader reader = { .arguments = arguments, .connection = &connection };

	if (arguments->operands.count != 1) {
		fputs("mpijob: name one MPIJob\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments->all + arguments->workers + (arguments->pod != NULL) > 1) {
		fputs("mpijob: only one of --all, --workers and --pod makes sense\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments->follow && arguments->previous) {
		fputs("mpijob: what a container printed before its restart cannot be followed\n", stderr);
		return EXIT_USAGE;
	}
	reader.name = arguments->operands.items[0];
	int code = connection_open(&connection, arguments);
	connection.by_name = 1;
	if (code == 0) {
		connection_catch_signals(&connection);
		code = look(&reader);
		if (code == 0)
			code = arguments->follow ? follow(&reader) : once(&reader);
		if (code == 0 && fflush(stdout))
			code = MPIJOB_ERR_IO;
		code = connection_exit(&connection, connection_tell(&connection, code));
		if (code == 0 && reader.failures)
			code = EXIT_FINDINGS;
	}
	mpijob_free(reader.job);
	connection_close(&connection);
	return code;
}

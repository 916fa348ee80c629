/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob logs: prints the output of the launcher (all attempts, one after the other), or of the
 * workers. It waits for pods that do not exist yet, and ends when the job has ended and the output
 * of its pods was read. It has no time limit while output arrives, however slow its reader is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/api.h"
#include "base/clock.h"
#include "connect.h"
#include "objects.h"
#include "findings.h"
#include "outlet.h"
#include "prefixed.h"
#include "print.h"

#define TURN_MS   200
#define BEHIND_MS 2    /* length of a turn while the reader of standard output is behind */
#define SILENT_MS 1500 /* a node that sends nothing for this time is reported */
/* after the end of the job, a running worker without output for this time is given up */
#define KEPT_MS 10000
/* after the end of the job, a log that fails and has no output for this time is given up */
#define LOST_MS 60000
/* the output of a launcher starts when the one before it has had no output for this time */
#define OVERTAKE_MS 15000

struct source {
	struct source *next;
	struct reader *reader;
	char *pod;
	char *created;
	mpijob_logs *logs; /* NULL: not started yet */
	int is_launcher;
	int is_extra; /* the user did not request it: it is not a failure if it is not available */
	int inside;   /* a line has begun and not ended */
	int ends;     /* the pod has ended or is being deleted, so its output ends */
	int read;     /* output has arrived */
	int reported; /* a retry, or a wait for the node, was reported */
	int64_t last_ms; /* of the last line, or when reading started or resumed */
};

struct reader {
	const struct arguments *arguments;
	struct connection *connection;
	const char *name;
	mpijob *job;
	mpijob_watch *pods, *watched_job; /* with -f */
	struct source *sources;           /* launchers in the order in which they were created */
	struct outlet out;
	struct prefixed prefixed; /* writes to out */
	int paused;               /* the reader of standard output is behind */
	int prefix;
	int seen;     /* a pod was observed */
	int reported; /* the wait for a pod was reported */
	int finished; /* the job has ended, or was deleted */
	int64_t finished_ms;
	size_t failures;
	int code; /* the failure that ends the command */
};

/* ---- lines ---- */

static void pause_all(struct reader *reader, int on)
{
	reader->paused = on;
	for (struct source *source = reader->sources; source; source = source->next) {
		source->last_ms = mpijob__base_clock_monotonic_ms();
		if (source->logs)
			mpijob_logs_pause(source->logs, on);
	}
}

/* The address of a container's name does not change while its output is read. */
static int put(struct reader *reader, const struct mpijob_log_line *line, const char *data,
    size_t len)
{
	return reader->prefix
		   ? prefixed_put(&reader->prefixed, line->pod, line->container, data, len)
		   : outlet_put(&reader->out, data, len);
}

static int on_line(void *user, const struct mpijob_log_line *line)
{
	struct source *source = user;
	struct reader *reader = source->reader;
	int code;

	source->read = 1;
	source->reported = 0;
	source->last_ms = mpijob__base_clock_monotonic_ms();
	code = put(reader, line, line->text, line->len);
	if (code == 0 && line->whole)
		code = put(reader, line, "\n", 1);
	source->inside = !line->whole;
	if (!reader->paused && outlet_pending(&reader->out) >= OUTLET_MUCH)
		pause_all(reader, 1);
	return code ? MPIJOB_ERR_NOMEM : reader->out.error ? MPIJOB_ERR_IO : 0;
}

/* Write what the reader takes now, and resume reading when little is pending. */
static void write_on(struct reader *reader)
{
	outlet_turn(&reader->out);
	if (reader->paused && outlet_pending(&reader->out) < OUTLET_LITTLE)
		pause_all(reader, 0);
}

/* One turn of reading and writing. */
static int turn(struct reader *reader)
{
	int wait_ms = reader->paused                 ? BEHIND_MS
		      : outlet_pending(&reader->out) ? OUTLET_HOLD
						     : TURN_MS;
	int code = mpijob_client_poll(reader->connection->client, wait_ms);

	write_on(reader);
	if (code == 0)
		code = reader->code;
	if (code == 0 && (reader->out.error || !output_is_read()))
		code = MPIJOB_ERR_IO;
	if (code == 0 && connection_signal())
		code = MPIJOB_ERR_CANCELLED;
	return code;
}

static int write_all(struct reader *reader)
{
	outlet_flush(&reader->out);
	while (outlet_pending(&reader->out) && !connection_signal()) {
		outlet_wait(&reader->out, TURN_MS);
		outlet_flush(&reader->out);
	}
	return reader->out.error ? MPIJOB_ERR_IO : connection_signal() ? MPIJOB_ERR_CANCELLED : 0;
}

static void on_failed(void *user, const char *pod, const char *container, int code,
    const char *message, int again)
{
	struct source *source = user;

	if (again) {
		if (!source->reported)
			print_to(stderr,
			    "mpijob: the output of pod %s is not available now: %s; trying again\n",
			    pod, message ? message : mpijob_error_text(code));
		source->reported = 1;
		return;
	}
	if (source->is_extra) {
		print_to(stderr,
		    "mpijob: what pod %s printed before its restart is not available: %s\n", pod,
		    message ? message : mpijob_error_text(code));
		return;
	}
	source->reader->failures++;
	print_to(stderr, "mpijob: the output of pod %s%s%s is not available: %s\n", pod,
	    container ? ", container " : "", container ? container : "",
	    message ? message : mpijob_error_text(code));
}

static void source_free(struct source *source)
{
	if (!source)
		return;
	mpijob_logs_free(source->logs);
	free(source->pod);
	free(source->created);
	free(source);
}

static struct source *source_new(struct reader *reader, const mpijob_node *pod)
{
	const char *created =
	    mpijob_node_string(mpijob_node_find(pod, "metadata.creationTimestamp"));
	struct source *source = calloc(1, sizeof(*source));

	if (source) {
		source->pod = strdup(mpijob_node_string(mpijob_node_find(pod, "metadata.name")));
		source->created = strdup(created ? created : "");
	}
	if (!source || !source->pod || !source->created) {
		reader->code = MPIJOB_ERR_NOMEM;
		source_free(source);
		return NULL;
	}
	source->reader = reader;
	source->is_launcher = strcmp(pod_role(pod), "launcher") == 0;
	return source;
}

static int source_start(struct source *source, int previous)
{
	struct reader *reader = source->reader;
	const struct arguments *arguments = reader->arguments;
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	int64_t since = (arguments->since_ms.value + 999) / 1000;
	const char *pods[] = { source->pod };

	options.namespace_ = reader->connection->namespace_;
	options.pods = pods;
	options.pods_count = 1;
	options.container = arguments->container;
	options.all_containers = arguments->all_containers;
	options.follow = arguments->follow && !previous;
	options.previous = previous;
	options.timestamps = arguments->timestamps;
	options.tail_lines =
	    arguments->tail.is && arguments->tail.value >= 0 ? &arguments->tail.value : NULL;
	options.since_seconds = arguments->since_ms.is ? &since : NULL;
	options.line = on_line;
	options.failed = on_failed;
	options.user = source;
	source->is_extra = previous && !arguments->previous;
	source->last_ms = mpijob__base_clock_monotonic_ms();
	int code = mpijob_logs_new(reader->connection->client, &options, &source->logs);
	if (code == 0 && reader->paused)
		mpijob_logs_pause(source->logs, 1);
	return code;
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

static const char *none_found(const struct reader *reader)
{
	return reader->arguments->pod       ? "there is no such pod"
	       : reader->arguments->workers ? "there are no workers"
	       : reader->arguments->all     ? "there are no pods"
					    : "there is no launcher";
}

static int has_started(const mpijob_node *pod)
{
	static const char *const paths[] = { "status.initContainerStatuses",
		"status.containerStatuses" };

	for (size_t i = 0; i < 2; i++) {
		const mpijob_node *statuses = mpijob_node_find(pod, paths[i]);
		for (size_t j = 0; j < mpijob_node_count(statuses); j++) {
			const mpijob_node *status = mpijob_node_at(statuses, j);
			if (mpijob_node_find(status, "state.running") ||
			    mpijob_node_find(status, "state.terminated") ||
			    mpijob_node_find(status, "lastState.terminated"))
				return 1;
		}
	}
	return 0;
}

static mpijob_text *selector_of(const char *name)
{
	static const char key[] = MPIJOB__BASE_API_LABEL_JOB_NAME "=";
	mpijob_text *text = mpijob_text_new();

	if (text && (mpijob_text_write(text, key, sizeof(key) - 1) ||
			mpijob_text_write(text, name, strlen(name)))) {
		mpijob_text_free(text);
		return NULL;
	}
	return text;
}

/* ---- without -f ---- */

/* Attempts of the launcher in the order of their creation; workers by the number after the last
 * dash. */
static int compare_pods(const void *a, const void *b)
{
	const mpijob_node *left = *(const mpijob_node *const *)a,
			  *right = *(const mpijob_node *const *)b;
	const char *names[2] = { mpijob_node_string(mpijob_node_find(left, "metadata.name")),
		mpijob_node_string(mpijob_node_find(right, "metadata.name")) };
	const char *made[2] = { mpijob_node_string(
				    mpijob_node_find(left, "metadata.creationTimestamp")),
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
	int64_t begun_ms = mpijob__base_clock_monotonic_ms();
	int state = 1;

	while ((state = mpijob_logs_state(source->logs, NULL)) > 0) {
		int code = turn(reader);
		if (!source->read && !source->reported &&
		    mpijob__base_clock_monotonic_ms() - begun_ms >= SILENT_MS) {
			print_to(stderr,
			    "mpijob: waiting for the output of pod %s: its node has not sent any "
			    "yet\n",
			    source->pod);
			source->reported = 1;
		}
		if (code)
			return code;
	}
	reader->prefixed.inside = NULL;
	if (source->inside && outlet_put(&reader->out, "\n", 1))
		return MPIJOB_ERR_NOMEM;
	return state;
}

static int print_run(struct reader *reader, const mpijob_node *pod, int previous)
{
	struct source *source = reader->sources = source_new(reader, pod);
	int code = source ? source_start(source, previous) : reader->code;

	if (code == 0)
		code = drain(reader, source);
	reader->sources = NULL;
	source_free(source);
	return code;
}

static int print_pod(struct reader *reader, const mpijob_node *pod)
{
	const struct arguments *arguments = reader->arguments;
	int64_t restarts = 0;
	int code = 0;

	mpijob_node_int(mpijob_node_find(pod, "status.containerStatuses[0].restartCount"),
	    &restarts);
	/* The pod was restarted: print the kept output of the attempt before first. */
	int whole = restarts > 0 && !arguments->previous && !arguments->tail.is &&
		    !arguments->since_ms.is && strcmp(pod_role(pod), "launcher") == 0;
	for (int previous = whole ? 1 : arguments->previous; code == 0; previous = 0) {
		code = print_run(reader, pod, previous);
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
		/* A pod that was deleted meanwhile is already reported. */
		if (one == MPIJOB_ERR_NOT_FOUND || one == MPIJOB_ERR_REJECTED)
			reader->failures += reader->failures == 0;
		else
			code = one;
	}
	return code;
}

static int print_existing(struct reader *reader)
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
	int code = selector
		       ? mpijob_client_list(connection->client, &target, 0, &list, connection->diag)
		       : MPIJOB_ERR_NOMEM;
	const mpijob_node *items =
	    code == 0 ? mpijob_node_get(mpijob_doc_root(list), "items") : NULL;
	const mpijob_node **pods = calloc(mpijob_node_count(items) + 1, sizeof(*pods));
	size_t count = 0;
	for (size_t i = 0; pods && i < mpijob_node_count(items); i++)
		if (is_wanted(reader, mpijob_node_at(items, i)))
			pods[count++] = mpijob_node_at(items, i);
	if (code == 0 && !pods)
		code = MPIJOB_ERR_NOMEM;
	if (code == 0 && count == 0) {
		print_to(stderr, "mpijob: %s of %s to print; see 'mpijob describe %s'\n",
		    none_found(reader), reader->name, reader->name);
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

static int has_end(const mpijob_node *pod)
{
	const char *phase = mpijob_node_string(mpijob_node_find(pod, "status.phase"));

	return mpijob_node_find(pod, "metadata.deletionTimestamp") ||
	       (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0));
}

static struct source *find_source(const struct reader *reader, const char *pod)
{
	struct source *source = reader->sources;

	while (source && strcmp(source->pod, pod) != 0)
		source = source->next;
	return source;
}

static struct source *add_source(struct reader *reader, const mpijob_node *pod)
{
	struct source *source = source_new(reader, pod), **at = &reader->sources;

	while (source && *at && strcmp((*at)->created, source->created) <= 0)
		at = &(*at)->next;
	if (source) {
		source->next = *at;
		*at = source;
	}
	return source;
}

static int on_pod(void *user, const struct mpijob_watch_event *event)
{
	struct reader *reader = user;
	mpijob_doc *doc = NULL;
	int code =
	    event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, &doc, NULL) : 0;
	const mpijob_node *pod = doc ? mpijob_doc_root(doc) : NULL;

	if (code == 0 && pod && event->event != MPIJOB_WATCH_DELETED && is_wanted(reader, pod) &&
	    has_started(pod)) {
		struct source *source = find_source(reader, event->name);
		reader->seen = 1;
		if (!source)
			source = add_source(reader, pod);
		if (source)
			source->ends = has_end(pod);
	}
	mpijob_doc_free(doc);
	return code ? code : reader->code;
}

static int on_job(void *user, const struct mpijob_watch_event *event)
{
	struct reader *reader = user;
	mpijob_doc *doc = NULL;
	int code =
	    event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, &doc, NULL) : 0;
	const mpijob_node *job = doc ? mpijob_doc_root(doc) : NULL;

	if (event->event == MPIJOB_WATCH_DELETED ||
	    mpijob_condition_find(job, "Succeeded", "True") ||
	    mpijob_condition_find(job, "Failed", "True"))
		reader->finished = 1;
	mpijob_doc_free(doc);
	return code;
}

static void on_watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct reader *reader = user;

	(void)what;
	if (answer->code == MPIJOB_ERR_NOMEM || mpijob_watch_health_get(reader->pods)->hopeless ||
	    mpijob_watch_health_get(reader->watched_job)->hopeless)
		reader->code = answer->code;
	else
		print_to(stderr, "mpijob: the connection is lost (%s); trying again\n",
		    answer->message ? answer->message : mpijob_error_text(answer->code));
}

static int is_open(const struct source *source)
{
	return !source->logs || mpijob_logs_state(source->logs, NULL) > 0;
}

static int is_quiet(const struct source *source, int64_t since_ms, int64_t most_ms)
{
	if (since_ms < source->last_ms)
		since_ms = source->last_ms;
	return !source->reader->paused && source->logs &&
	       mpijob__base_clock_monotonic_ms() - since_ms >= most_ms;
}

/* The attempts of the launcher are printed one after the other. */
static int may_start(const struct source *source)
{
	const struct source *other = source->reader->sources;

	for (; source->is_launcher && other != source; other = other->next)
		if (other->is_launcher && is_open(other) && !is_quiet(other, 0, OVERTAKE_MS))
			return 0;
	return 1;
}

static int start_sources(struct reader *reader)
{
	int code = 0;

	for (struct source *source = reader->sources; source && code == 0; source = source->next)
		if (!source->logs && may_start(source))
			code = source_start(source, 0);
	return code;
}

/* Whether to wait for more output after the end of the job: cleanPodPolicy None keeps workers
 * forever. */
static int has_more(const struct source *source)
{
	int64_t since_ms = source->reader->finished_ms;

	if (!is_open(source) || (source->reported && is_quiet(source, since_ms, LOST_MS)))
		return 0;
	return source->is_launcher || source->ends || !is_quiet(source, since_ms, KEPT_MS);
}

static int has_work(struct reader *reader)
{
	size_t open = 0, more = 0;

	if (!mpijob_watch_health_get(reader->pods)->synced)
		return 1;
	if (reader->finished && reader->finished_ms == 0)
		reader->finished_ms = mpijob__base_clock_monotonic_ms();
	for (const struct source *source = reader->sources; source; source = source->next) {
		open += is_open(source) ? 1 : 0;
		more += has_more(source) ? 1 : 0;
	}
	if (reader->arguments->pod && reader->seen && open == 0)
		return 0;
	return !reader->finished || more > 0;
}

static int run_to_end(struct reader *reader)
{
	int code = 0;

	while (code == 0 && has_work(reader)) {
		if (!reader->seen && !reader->reported &&
		    mpijob_watch_health_get(reader->pods)->synced) {
			print_to(stderr, "mpijob: waiting for the %s of %s\n", wanted(reader),
			    reader->name);
			reader->reported = 1;
		}
		code = turn(reader);
		if (code == 0 && mpijob_watch_health_get(reader->pods)->synced)
			code = start_sources(reader);
	}
	if (code == 0 && !reader->seen) {
		print_to(stderr, "mpijob: %s has ended, and %s to print\n", reader->name,
		    none_found(reader));
		reader->failures++;
	}
	return code;
}

/* Report output that was not read to its end. */
static void report_incomplete(struct reader *reader)
{
	for (const struct source *source = reader->sources; source; source = source->next) {
		size_t unread = 1;

		if (source->logs)
			(void)mpijob_logs_state(source->logs, &unread);
		if (!is_open(source))
			continue;
		if (!source->logs || (source->reported && unread)) {
			print_to(stderr,
			    "mpijob: the output of pod %s is not complete; see 'kubectl logs %s'\n",
			    source->pod, source->pod);
			reader->failures++;
		} else {
			print_to(stderr,
			    "mpijob: pod %s runs on after the job's end; 'kubectl logs -f %s' "
			    "shows what comes\n",
			    source->pod, source->pod);
		}
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
	int code = selector ? mpijob_watch_new(connection->client, &options, &reader->pods)
			    : MPIJOB_ERR_NOMEM;
	options.api_version = MPIJOB__BASE_API_VERSION;
	options.kind = MPIJOB__BASE_API_KIND;
	options.name = reader->name;
	options.label_selector = NULL;
	options.object = on_job;
	if (code == 0)
		code = mpijob_watch_new(connection->client, &options, &reader->watched_job);
	if (code == 0)
		code = run_to_end(reader);
	if (code == 0)
		report_incomplete(reader);
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

/* Read the job, and decide by its number of workers whether lines have prefixes. */
static int read_job(struct reader *reader)
{
	struct connection *connection = reader->connection;
	const struct mpijob_spec *spec = NULL;
	int workers = 1;

	int code = mpijob_client_get_job(connection->client, connection->namespace_, reader->name,
	    &reader->job, connection->diag);
	if (code == 0 && mpijob_spec_get(reader->job, &spec, NULL) == 0 && spec->worker &&
	    spec->worker->replicas)
		workers = *spec->worker->replicas;
	reader->prefix = reader->arguments->prefix > 0;
	if (reader->arguments->prefix == 0)
		reader->prefix =
		    reader->arguments->all || (reader->arguments->workers && workers > 1);
	return code;
}

int logs_command(const struct arguments *arguments)
{
	struct connection connection = { 0 };
	struct reader reader = { .arguments = arguments,
		.connection = &connection,
		.out.fd = STDOUT_FILENO };

	if (arguments->operands.count != 1) {
		fputs("mpijob: name one MPIJob\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments->all + arguments->workers + (arguments->pod != NULL) > 1) {
		fputs("mpijob: only one of --all, --workers and --pod makes sense\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments->follow && arguments->previous) {
		fputs("mpijob: what a container printed before its restart cannot be followed\n",
		    stderr);
		return EXIT_USAGE;
	}
	reader.name = arguments->operands.items[0];
	int code = connection_open(&connection, arguments);
	connection.by_name = 1;
	if (code == 0) {
		connection_catch_signals(&connection);
		code = prefixed_begin(&reader.prefixed, &reader.out) ? MPIJOB_ERR_NOMEM
								     : read_job(&reader);
		if (code == 0)
			code = arguments->follow ? follow(&reader) : print_existing(&reader);
		int written = write_all(&reader);
		code = code ? code : written;
		code = connection_exit(&connection, connection_report(&connection, code));
		if (code == 0 && reader.failures)
			code = EXIT_FINDINGS;
	}
	prefixed_free(&reader.prefixed);
	outlet_free(&reader.out);
	mpijob_free(reader.job);
	connection_close(&connection);
	return code;
}

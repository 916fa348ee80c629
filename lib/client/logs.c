/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs as a whole: which pods are watched, which source gets a stream, and when all is read.
 *
 * Streams are few and containers may be many, so sources queue for a stream. A stream that follows
 * a log does not end by itself. While others wait it is closed after its share of time, and resumes
 * later. A stream that does not end although its container has ended is closed, too.
 *
 * Any callback may free the logs: they exist until the outermost call has returned.
 */
#include "client/logs.h"

#include "base/api.h"
#include "base/struct.h"
#include "client/client.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS  64
#define SHARE_MS 5000 /* how long a stream is kept at least while others wait */

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

static void free_logs(struct mpijob_logs *logs)
{
	mpijob_timer_set(&logs->timer, INT64_MAX);
	mpijob_watch_free(logs->watch);
	mpijob__client_log_free_pods(logs);
	free_names(logs->names, logs->options.pods_count);
	free(logs->named);
	free((char *)logs->options.namespace_);
	free((char *)logs->options.label_selector);
	free((char *)logs->options.container);
	free(logs);
}

void mpijob__client_log_enter(struct mpijob_logs *logs)
{
	logs->depth++;
}

int mpijob__client_log_leave(struct mpijob_logs *logs)
{
	if (--logs->depth > 0 || !logs->freed)
		return 0;
	free_logs(logs);
	return 1;
}

/* Stop all requests; the memory is freed later. */
static void stop(struct mpijob_logs *logs)
{
	mpijob_timer_set(&logs->timer, INT64_MAX);
	mpijob_watch_free(logs->watch);
	logs->watch = NULL;
	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (struct mpijob__client_log_source *source = pod->sources; source;
		     source = source->next)
			if (source->stream.call)
				mpijob__client_log_close_stream(source);
}

void mpijob__client_log_end(struct mpijob_logs *logs, int code)
{
	if (logs->state <= 0)
		return;
	logs->state = code;
	stop(logs);
}

void mpijob__client_log_report_failure(struct mpijob_logs *logs, const char *pod,
    const char *container, int code, const char *message, int again)
{
	if (logs->options.failed && !logs->freed && logs->state > 0)
		logs->options.failed(logs->options.user, pod, container, code,
		    message ? message : mpijob_error_text(code), again);
}

/* ---- the queue for streams ---- */

/* Queue the sources that want a stream now. Returns when the next one will. */
static int64_t queue_up(struct mpijob_logs *logs, int64_t now_ms)
{
	int64_t due_ms = INT64_MAX, when;

	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (struct mpijob__client_log_source *source = pod->sources; source;
		     source = source->next) {
			if (mpijob__client_log_wants_stream(source, now_ms, &when))
				mpijob__client_log_queue(source);
			else if (when < due_ms)
				due_ms = when;
		}
	return due_ms;
}

/* The stream that has been open for the longest time. */
static struct mpijob__client_log_source *oldest(const struct mpijob_logs *logs)
{
	struct mpijob__client_log_source *found = NULL;

	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (struct mpijob__client_log_source *source = pod->sources; source;
		     source = source->next)
			if (source->stream.call &&
			    (!found || source->stream.opened_ms < found->stream.opened_ms))
				found = source;
	return found;
}

/*
 * Close as many streams as others wait for, if their share of time is over. Their slots are free in
 * the next poll, when the transport knows.
 */
static void make_room(struct mpijob_logs *logs, size_t waiting, int64_t now_ms, int64_t *due_ms)
{
	struct mpijob__client_log_source *source;
	int64_t when;

	while (waiting-- > 0 && (source = oldest(logs)) != NULL) {
		when = source->stream.opened_ms + SHARE_MS;
		if (when > now_ms) {
			*due_ms = when < *due_ms ? when : *due_ms;
			return;
		}
		mpijob__client_log_close_stream(source);
		mpijob__client_log_queue(source);
		*due_ms = now_ms;
	}
}

static void open_some(struct mpijob_logs *logs, int64_t now_ms, int64_t *due_ms)
{
	size_t waiting = 0;

	while (logs->queue.next->owner && logs->open < logs->options.max_streams &&
	       logs->state > 0 && !logs->freed) {
		struct mpijob__client_log_source *source = logs->queue.next->owner;

		if (mpijob__client_log_is_read(source))
			mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_IDLE);
		else
			mpijob__client_log_open_stream(source);
	}
	if (!logs->options.follow || logs->state <= 0 || logs->freed)
		return;
	for (struct mpijob__base_list *link = logs->queue.next; link->owner; link = link->next)
		waiting++;
	make_room(logs, waiting, now_ms, due_ms);
}

/* Close silent streams. Their slots are free in the next poll. */
static void cut_silent(struct mpijob_logs *logs, int64_t now_ms, int64_t *due_ms)
{
	int64_t when;

	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (struct mpijob__client_log_source *source = pod->sources;
		     source && logs->state > 0; source = source->next) {
			if (mpijob__client_log_is_silent(source, now_ms, &when)) {
				mpijob__client_log_abort_silent(source);
				when = now_ms;
			}
			*due_ms = when < *due_ms ? when : *due_ms;
		}
}

/* ---- when all is read ---- */

static int pod_is_read(const struct mpijob_logs *logs, const struct mpijob__client_log_pod *pod)
{
	if (logs->options.follow && !logs->options.previous && !pod->ended && !pod->deleted)
		return 0;
	for (const struct mpijob__client_log_source *source = pod->sources; source;
	     source = source->next)
		if (!mpijob__client_log_is_read(source))
			return 0;
	return 1;
}

static int all_is_read(const struct mpijob_logs *logs)
{
	if (!logs->listed || logs->open > 0 || (logs->options.follow && !logs->names))
		return 0;
	for (const struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		if (!pod_is_read(logs, pod))
			return 0;
	return 1;
}

static void pump(struct mpijob_logs *logs)
{
	int64_t now_ms, due_ms, later_ms = INT64_MAX;

	if (logs->state <= 0 || logs->freed)
		return;
	now_ms = logs->client->clock();
	(void)queue_up(logs, now_ms);
	if (!logs->paused)
		open_some(logs, now_ms, &later_ms);
	cut_silent(logs, now_ms, &later_ms);
	if (logs->state <= 0 || logs->freed)
		return;
	mpijob__client_log_sweep_pods(logs);
	if (all_is_read(logs)) {
		logs->state = 0;
		stop(logs);
		return;
	}
	due_ms = queue_up(logs, now_ms);
	if (later_ms < due_ms)
		due_ms = later_ms;
	mpijob_timer_set(&logs->timer, logs->paused ? INT64_MAX : due_ms);
}

void mpijob__client_log_schedule_scan(struct mpijob_logs *logs)
{
	if (logs->state > 0 && !logs->freed && !logs->paused)
		mpijob_timer_set(&logs->timer, INT64_MIN);
}

static void timer_fired(void *user)
{
	struct mpijob_logs *logs = user;

	mpijob__client_log_enter(logs);
	pump(logs);
	mpijob__client_log_leave(logs);
}

/* ---- the watch of pods ---- */

static void list_begins(void *user)
{
	struct mpijob_logs *logs = user;

	logs->round++;
}

static int take_object(void *user, const struct mpijob_watch_event *event)
{
	struct mpijob_logs *logs = user;
	int rc;

	mpijob__client_log_enter(logs);
	rc = mpijob__client_log_take_pod(logs, event);
	/* During the first list, sources get streams in the order of the list. */
	if (rc == 0 && (logs->listed || logs->options.follow))
		mpijob__client_log_schedule_scan(logs);
	if (rc == 0 && (logs->freed || logs->state <= 0))
		rc = MPIJOB_ERR_CANCELLED;
	mpijob__client_log_leave(logs);
	return rc;
}

/* Report named pods that do not exist. */
static void report_missing(struct mpijob_logs *logs)
{
	size_t missing = 0;

	for (size_t i = 0; i < logs->options.pods_count && !logs->freed; i++) {
		if (logs->named[i])
			continue;
		missing++;
		mpijob__client_log_report_failure(logs, logs->names[i], NULL, MPIJOB_ERR_NOT_FOUND,
		    "there is no such pod", 0);
	}
	if (missing == logs->options.pods_count)
		mpijob__client_log_end(logs, MPIJOB_ERR_NOT_FOUND);
}

static int take_listed(void *user, const char *version)
{
	struct mpijob_logs *logs = user;
	int rc = 0, first = !logs->listed;

	(void)version;
	mpijob__client_log_enter(logs);
	logs->listed = 1;
	mpijob__client_log_drop_unlisted(logs);
	if (first && logs->names)
		report_missing(logs);
	/* Without `follow`, one list is enough. */
	if (!logs->options.follow && logs->state > 0 && !logs->freed) {
		mpijob_watch_free(logs->watch);
		logs->watch = NULL;
	}
	mpijob__client_log_schedule_scan(logs);
	if (logs->freed || !logs->watch)
		rc = MPIJOB_ERR_CANCELLED;
	mpijob__client_log_leave(logs);
	return rc;
}

static void watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct mpijob_logs *logs = user;
	int code = answer->code;
	int final = mpijob_watch_health_get(logs->watch)->hopeless ||
		    (!logs->options.follow && code != MPIJOB_ERR_NOMEM);

	(void)what;
	if (code == 0)
		return;
	mpijob__client_log_enter(logs);
	if (code != MPIJOB_ERR_NOMEM)
		mpijob__client_log_report_failure(logs, NULL, NULL, code, answer->message, !final);
	if (final && !logs->freed)
		mpijob__client_log_end(logs, code);
	mpijob__client_log_leave(logs);
}

/* ---- make and free ---- */

static int copy_names(struct mpijob_logs *logs, const char *const *pods, size_t count)
{
	if (!pods)
		return 0;
	logs->names = calloc(count, sizeof(*logs->names));
	logs->named = calloc(count, 1);
	if (!logs->names || !logs->named)
		return MPIJOB_ERR_NOMEM;
	logs->options.pods_count = count;
	for (size_t i = 0; i < count; i++) {
		logs->names[i] = strdup(pods[i]);
		if (!logs->names[i])
			return MPIJOB_ERR_NOMEM;
	}
	return 0;
}

/* The labels of the pods of a job. */
static char *job_selector(const char *job, const char *role)
{
	return mpijob__base_text_format(MPIJOB__BASE_API_LABEL_JOB_NAME "=%s%s%s", job,
	    role ? "," MPIJOB__BASE_API_LABEL_JOB_ROLE "=" : "", role ? role : "");
}

static int copy_options(struct mpijob_logs *logs, const struct mpijob_logs_options *options)
{
	int rc;

	logs->options = *options;
	logs->options.pods = NULL;
	logs->options.pods_count = 0;
	rc = mpijob__base_text_copy(options->namespace_, &logs->options.namespace_);
	if (options->job)
		logs->options.label_selector = job_selector(options->job, options->role);
	else
		rc |=
		    mpijob__base_text_copy(options->label_selector, &logs->options.label_selector);
	if (options->job && !logs->options.label_selector)
		rc = MPIJOB_ERR_NOMEM;
	rc |= mpijob__base_text_copy(options->container, &logs->options.container);
	if (options->tail_lines)
		logs->tail_lines = *options->tail_lines;
	if (options->since_seconds)
		logs->since_seconds = *options->since_seconds;
	if (logs->options.max_streams == 0)
		logs->options.max_streams = STREAMS;
	return rc ? MPIJOB_ERR_NOMEM : copy_names(logs, options->pods, options->pods_count);
}

/* Other characters could change the meaning of a selector. */
static int is_label_value(const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	return *text && strspn(text, plain) == strlen(text);
}

/* Exactly one of names, labels and a job. */
static int check_selection(const struct mpijob_logs_options *options)
{
	const char *role = options->role;

	if ((options->pods != NULL) + (options->label_selector != NULL) + (options->job != NULL) !=
	    1)
		return MPIJOB_ERR_USAGE;
	if (role &&
	    (!options->job || (strcmp(role, "launcher") != 0 && strcmp(role, "worker") != 0)))
		return MPIJOB_ERR_USAGE;
	if ((options->job && !is_label_value(options->job)) ||
	    (options->pods && options->pods_count == 0))
		return MPIJOB_ERR_USAGE;
	for (size_t i = 0; options->pods && i < options->pods_count; i++)
		if (!options->pods[i] || !*options->pods[i])
			return MPIJOB_ERR_USAGE;
	return 0;
}

static int check_options(const struct mpijob_logs_options *options)
{
	if (!mpijob__base_struct_is_flag(options->all_containers) ||
	    !mpijob__base_struct_is_flag(options->follow) ||
	    !mpijob__base_struct_is_flag(options->previous) ||
	    !mpijob__base_struct_is_flag(options->timestamps))
		return MPIJOB_ERR_USAGE;
	if (!options->namespace_ || !options->line || options->max_streams < 0)
		return MPIJOB_ERR_USAGE;
	if ((options->tail_lines && *options->tail_lines < 0) ||
	    (options->since_seconds && *options->since_seconds < 1))
		return MPIJOB_ERR_USAGE;
	if (options->container && options->all_containers)
		return MPIJOB_ERR_USAGE;
	return check_selection(options);
}

static int start_watch(struct mpijob_logs *logs)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = "v1";
	options.kind = "Pod";
	options.namespace_ = logs->options.namespace_;
	options.label_selector = logs->options.label_selector;
	/* Several names are filtered out of the whole namespace: one watch costs less than many. */
	if (logs->options.pods_count == 1)
		options.name = logs->names[0];
	options.seed = (uint64_t)logs->client->clock();
	options.begin = list_begins;
	options.object = take_object;
	options.listed = take_listed;
	options.failed = watch_failed;
	options.user = logs;
	return mpijob_watch_new(logs->client, &options, &logs->watch);
}

int mpijob_logs_new(mpijob_client *client, const struct mpijob_logs_options *options,
    mpijob_logs **out)
{
	struct mpijob_logs_options known;
	struct mpijob_logs *logs;
	int rc = client && options && out
		     ? mpijob__base_struct_check(&known, sizeof(known), options)
		     : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = check_options(&known);
	if (rc)
		return rc;
	logs = calloc(1, sizeof(*logs));
	if (!logs)
		return MPIJOB_ERR_NOMEM;
	logs->client = client;
	logs->state = 1;
	logs->last_pod = &logs->pods;
	mpijob__base_list_init(&logs->queue);
	mpijob__client_timer_init(&logs->timer, client, timer_fired, logs);
	rc = copy_options(logs, &known);
	if (rc == 0)
		rc = start_watch(logs);
	if (rc) {
		free_logs(logs);
		return rc;
	}
	*out = logs;
	return 0;
}

void mpijob_logs_free(mpijob_logs *logs)
{
	if (!logs)
		return;
	logs->freed = 1;
	if (logs->depth == 0)
		free_logs(logs);
	else
		stop(logs);
}

void mpijob_logs_pause(mpijob_logs *logs, int on)
{
	if (!logs || logs->paused == (on != 0) || logs->state <= 0)
		return;
	logs->paused = on != 0;
	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (struct mpijob__client_log_source *source = pod->sources; source;
		     source = source->next)
			if (source->stream.call)
				mpijob_call_pause(source->stream.call, logs->paused);
	mpijob__client_log_schedule_scan(logs);
}

static size_t count_unread(const struct mpijob_logs *logs)
{
	size_t count = 0;

	for (const struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (const struct mpijob__client_log_source *source = pod->sources; source;
		     source = source->next)
			count += !mpijob__client_log_is_read(source);
	return count;
}

int mpijob_logs_state(const mpijob_logs *logs, size_t *unread)
{
	if (!logs)
		return MPIJOB_ERR_USAGE;
	if (unread)
		*unread = count_unread(logs);
	return logs->state;
}

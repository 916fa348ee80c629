/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of one container as a source of lines: which of its runs is read, and what the end of
 * a stream means.
 *
 *   IDLE ------ due, and a run is not read --------------------> QUEUED
 *   QUEUED ---- a stream is free ------------------------------> STREAMING
 *   STREAMING - fails, is cut for silence, or closed for others  > IDLE (resumes after back-off)
 *   STREAMING - ends well, the run is over --------------------> IDLE (next run)
 *   STREAMING - ends well, the run may go on ------------------> DRAINED
 *   DRAINED --- the status says that the run is over ----------> IDLE (next run)
 *   DRAINED --- no such status within a second ----------------> DRAINED_QUEUED
 *   DRAINED_QUEUED - the run is over --------------------------> QUEUED (next run)
 *   DRAINED_QUEUED - a stream is free -------------------------> STREAMING (resumes)
 *   any ------- pod deleted and read, or a final failure ------> CLOSED
 *
 * A stream that ends well may have ended because the run did, or because the server dropped it.
 * Only the pod's status says which, and it may arrive later than the end.
 */
#include "client/log_source.h"

#include "client/client.h"
#include "client/logs.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_LAST_MS  30000
#define WAIT_MOST_MS     60000 /* limit of Retry-After */
#define DRAINED_MS       1000  /* after a stream ended well, for the status to say why */
#define NOMEM_MS         100
#define ATTEMPTS_MOST    5    /* without `follow` */
#define REFUSALS_MOST    6    /* of a run that is over: about half a minute */
#define SILENT_MS        5000 /* how long the end of a run that is over may not come, at first */
/* how often the time is doubled; after the next silence the run is lost */
#define SILENCES_MOST     4
#define SILENT_DELETED_MS 60000 /* of a deleted pod: there is no second attempt */

/* ---- states ---- */

static int is_queued(const struct mpijob__client_log_source *source)
{
	return source->state == MPIJOB__CLIENT_LOG_QUEUED ||
	       source->state == MPIJOB__CLIENT_LOG_DRAINED_QUEUED;
}

static int is_drained(const struct mpijob__client_log_source *source)
{
	return source->state == MPIJOB__CLIENT_LOG_DRAINED ||
	       source->state == MPIJOB__CLIENT_LOG_DRAINED_QUEUED;
}

void mpijob__client_log_source_enter(struct mpijob__client_log_source *source,
    enum mpijob__client_log_source_state state)
{
	int was_queued = is_queued(source);

	source->logs->open -= source->state == MPIJOB__CLIENT_LOG_STREAMING;
	source->state = state;
	source->logs->open += state == MPIJOB__CLIENT_LOG_STREAMING;
	if (was_queued && !is_queued(source))
		mpijob__base_list_remove(&source->queue);
	else if (!was_queued && is_queued(source))
		mpijob__base_list_insert(&source->logs->queue, &source->queue, source);
}

void mpijob__client_log_queue(struct mpijob__client_log_source *source)
{
	mpijob__client_log_source_enter(source,
	    is_drained(source) ? MPIJOB__CLIENT_LOG_DRAINED_QUEUED : MPIJOB__CLIENT_LOG_QUEUED);
}

static int reads_once(const struct mpijob__client_log_source *source)
{
	return !source->logs->options.follow || source->logs->options.previous;
}

static int run_is_over(const struct mpijob__client_log_source *source)
{
	return source->run.is_previous || reads_once(source) || source->pod->deleted ||
	       source->run.attempt < source->status.runs - 1 ||
	       source->status.container != MPIJOB__CLIENT_LOG_CONTAINER_RUNNING;
}

/* Init containers are read before all others, one after the other. */
static int gate_is_open(const struct mpijob__client_log_source *source)
{
	for (const struct mpijob__client_log_source *before = source->pod->sources;
	     before != source; before = before->next)
		if (before->is_gate && before->state != MPIJOB__CLIENT_LOG_CLOSED &&
		    (!mpijob__client_log_is_read(before) || before->status.runs == 0))
			return 0;
	return 1;
}

int mpijob__client_log_wants_stream(const struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms)
{
	*due_ms = INT64_MAX;
	if ((source->state != MPIJOB__CLIENT_LOG_IDLE &&
		source->state != MPIJOB__CLIENT_LOG_DRAINED) ||
	    source->status.runs == 0 || mpijob__client_log_is_read(source) || !gate_is_open(source))
		return 0;
	*due_ms = source->retry.due_ms;
	return source->retry.due_ms <= now_ms;
}

int mpijob__client_log_is_read(const struct mpijob__client_log_source *source)
{
	return source->state == MPIJOB__CLIENT_LOG_CLOSED ||
	       (source->state != MPIJOB__CLIENT_LOG_STREAMING && !source->logs->options.previous &&
		   source->run.done >= source->status.runs);
}

/* ---- runs ---- */

static void report_failure(struct mpijob__client_log_source *source, int code, const char *message,
    int again)
{
	if (again && source->retry.reported_code == code)
		return;
	source->retry.reported_code = code;
	mpijob__client_log_report_failure(source->logs, source->pod->name, source->name, code,
	    message, again);
}

/* The run is read, or lost. */
static void finish_run(struct mpijob__client_log_source *source)
{
	source->run.done = source->run.attempt + 1;
	source->run.attempt = -1;
	source->retry.due_ms = source->retry.backoff_ms = 0;
	source->retry.attempts = source->retry.refusals = source->retry.reported_code = 0;
	source->stream.silences = 0;
	mpijob__client_log_source_enter(source, source->logs->options.previous
						    ? MPIJOB__CLIENT_LOG_CLOSED
						: is_queued(source) ? MPIJOB__CLIENT_LOG_QUEUED
								    : MPIJOB__CLIENT_LOG_IDLE);
	mpijob__client_log_lines_reset(source);
}

/* Its stream ended well and its run is over. */
static void complete_run(struct mpijob__client_log_source *source)
{
	(void)mpijob__client_log_lines_flush(source);
	finish_run(source);
}

/*
 * The server keeps the log of one earlier run only. While the next run waits to start, that is the
 * last run, with or without `previous`.
 */
static void choose_run(struct mpijob__client_log_source *source)
{
	int32_t last = source->status.runs - 1,
		oldest = source->status.container == MPIJOB__CLIENT_LOG_CONTAINER_RESTARTING
			     ? last
			     : last - 1;

	if (source->run.attempt >= 0 && source->run.attempt < oldest)
		finish_run(source);
	if (source->run.attempt < 0) {
		source->run.attempt =
		    source->logs->options.previous || source->run.done < last ? oldest : last;
		mpijob__client_log_lines_reset(source);
	}
	source->run.is_previous = source->logs->options.previous || source->run.attempt < last;
}

void mpijob__client_log_source_changed(struct mpijob__client_log_source *source)
{
	if (source->state == MPIJOB__CLIENT_LOG_STREAMING ||
	    source->state == MPIJOB__CLIENT_LOG_CLOSED)
		return;
	if (is_drained(source) && run_is_over(source))
		complete_run(source);
	if (!source->pod->deleted || source->state == MPIJOB__CLIENT_LOG_CLOSED)
		return;
	if (!mpijob__client_log_is_read(source))
		report_failure(source, MPIJOB_ERR_NOT_FOUND,
		    "the pod was deleted, and not all of its log was read", 0);
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_CLOSED);
}

/* ---- streams ---- */

static void try_later(struct mpijob__client_log_source *source, int code, int64_t at_least_ms)
{
	int64_t wait_ms;

	if (code == MPIJOB_ERR_NOMEM) {
		source->retry.due_ms = source->logs->client->clock() + NOMEM_MS;
		return;
	}
	if (source->retry.backoff_ms == 0)
		source->retry.backoff_ms = BACKOFF_FIRST_MS;
	wait_ms = source->retry.backoff_ms < at_least_ms ? at_least_ms : source->retry.backoff_ms;
	source->retry.due_ms =
	    source->logs->client->clock() + (wait_ms < WAIT_MOST_MS ? wait_ms : WAIT_MOST_MS);
	source->retry.backoff_ms = source->retry.backoff_ms * 2 > BACKOFF_LAST_MS
				       ? BACKOFF_LAST_MS
				       : source->retry.backoff_ms * 2;
}

/* A kubelet also refuses because the container does not run yet: these codes are not final. */
static int is_hopeless(struct mpijob__client_log_source *source, int code)
{
	int meant =
	    code == MPIJOB_ERR_AUTH || code == MPIJOB_ERR_UNSUPPORTED || code == MPIJOB_ERR_USAGE;

	return mpijob__client_retry_budget_exhausted(&source->retry.budget, meant ? code : 0,
	    source->logs->client->clock());
}

static int is_final(struct mpijob__client_log_source *source, int code)
{
	if (is_hopeless(source, code) || source->pod->deleted)
		return 1;
	if (!reads_once(source))
		return 0;
	return code == MPIJOB_ERR_REJECTED || code == MPIJOB_ERR_NOT_FOUND ||
	       source->retry.attempts >= ATTEMPTS_MOST;
}

/*
 * The log of the run is lost or out of reach: of the run before the last, or of one that is over
 * and was refused again and again. A run is not lost while the server does not answer at all.
 */
static int run_is_lost(const struct mpijob__client_log_source *source, int code)
{
	if (reads_once(source) || source->pod->deleted)
		return 0;
	if (source->run.is_previous &&
	    (code == MPIJOB_ERR_REJECTED || code == MPIJOB_ERR_NOT_FOUND))
		return 1;
	return (source->retry.refusals >= REFUSALS_MOST ||
		   source->stream.silences > SILENCES_MOST) &&
	       run_is_over(source);
}

static void failed(struct mpijob__client_log_source *source, int code, const char *message,
    int64_t at_least_ms)
{
	source->retry.attempts++;
	source->retry.refusals += code == MPIJOB_ERR_SERVER || code == MPIJOB_ERR_REJECTED ||
				  code == MPIJOB_ERR_NOT_FOUND;
	if (run_is_lost(source, code)) {
		/* The next run may be available. */
		report_failure(source, code, message, 0);
		finish_run(source);
	} else if (is_final(source, code)) {
		mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_CLOSED);
		report_failure(source, code, message, 0);
	} else {
		try_later(source, code, at_least_ms);
		report_failure(source, code, message, 1);
	}
}

static int stream_data(void *user, const char *data, size_t len)
{
	struct mpijob__client_log_source *source = user;
	struct mpijob_logs *logs = source->logs;
	int rc;

	source->stream.silent_since_ms = INT64_MIN;
	mpijob__client_retry_budget_grant(&source->retry.budget);
	mpijob__client_log_enter(logs);
	rc = mpijob__client_log_lines_feed(source, data, len);
	if (logs->freed || logs->state < 0)
		rc = MPIJOB_ERR_CANCELLED;
	mpijob__client_log_leave(logs);
	return rc;
}

static void ended_well(struct mpijob__client_log_source *source)
{
	const char *message = mpijob__client_log_kubelet_error(source);

	if (message) {
		failed(source, MPIJOB_ERR_REJECTED, message, 0);
		return;
	}
	if (run_is_over(source)) {
		complete_run(source);
		return;
	}
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_DRAINED);
	source->retry.due_ms = source->logs->client->clock() + DRAINED_MS;
}

static void stream_done(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__client_log_source *source = user;
	struct mpijob_logs *logs = source->logs;

	source->stream.call = NULL;
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_IDLE);
	if (answer->status == 200)
		mpijob__client_retry_budget_grant(&source->retry.budget);
	mpijob__client_log_enter(logs);
	if (logs->state > 0) {
		if (answer->code == 0)
			ended_well(source);
		else
			failed(source, answer->code, answer->message, answer->retry_after_ms);
		if (source->pod->deleted)
			mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_CLOSED);
		mpijob__client_log_schedule_scan(logs);
	}
	mpijob__client_log_leave(logs);
}

static int put_number(const char **query, size_t *count, const char *name, mpijob_text *text,
    int64_t value)
{
	query[(*count)++] = name;
	if (mpijob__base_text_printf(text, "%lld", (long long)value))
		return MPIJOB_ERR_NOMEM;
	query[(*count)++] = mpijob_text_data(text);
	return 0;
}

/* Where to begin: after what was reported; else, for containers that ran before, as the options
 * say. */
static int put_beginning(const struct mpijob__client_log_source *source, const char **query,
    size_t *count, mpijob_text texts[2])
{
	const struct mpijob_logs *logs = source->logs;
	int rc = 0;

	if (source->lines.position.last.text[0]) {
		query[(*count)++] = "sinceTime";
		query[(*count)++] = source->lines.position.last.text;
		return 0;
	}
	if (source->late)
		return 0;
	if (logs->options.tail_lines)
		rc = put_number(query, count, "tailLines", &texts[0], logs->tail_lines);
	if (rc == 0 && logs->options.since_seconds)
		rc = put_number(query, count, "sinceSeconds", &texts[1], logs->since_seconds);
	return rc;
}

static int start_stream(struct mpijob__client_log_source *source)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), stream_data, stream_done, source };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *query[10] = { "container", source->name, "timestamps", "true" };
	mpijob_text texts[2] = { { 0 }, { 0 } };
	size_t count = 4;
	int rc = put_beginning(source, query, &count, texts);

	if (source->run.is_previous || !reads_once(source)) {
		query[count++] = source->run.is_previous ? "previous" : "follow";
		query[count++] = "true";
	}
	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = source->logs->options.namespace_;
	target.name = source->pod->name;
	target.subresource = "log";
	target.query = query;
	target.query_count = count;
	request.method = "GET";
	request.target = &target;
	request.streaming = request.once = 1;
	request.fresh = source->stream.new_connection;
	if (rc == 0)
		rc = mpijob_client_start(source->logs->client, &request, &callbacks,
		    &source->stream.call);
	mpijob__base_text_release(&texts[0]);
	mpijob__base_text_release(&texts[1]);
	return rc;
}

void mpijob__client_log_open_stream(struct mpijob__client_log_source *source)
{
	int rc;

	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_IDLE);
	choose_run(source);
	mpijob__client_log_lines_restart(source);
	rc = start_stream(source);
	if (rc) {
		source->stream.call = NULL;
		failed(source, rc, mpijob_error_text(rc), 0);
		return;
	}
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_STREAMING);
	source->stream.new_connection = 0;
	source->stream.silent_since_ms = INT64_MIN;
	source->stream.opened_ms = source->logs->client->clock();
	if (source->logs->paused)
		mpijob_call_pause(source->stream.call, 1);
}

void mpijob__client_log_close_stream(struct mpijob__client_log_source *source)
{
	mpijob_call_cancel(source->stream.call);
	source->stream.call = NULL;
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_IDLE);
	source->retry.due_ms = 0;
}

int mpijob__client_log_is_silent(struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms)
{
	int64_t most_ms = source->pod->deleted ? SILENT_DELETED_MS
					       : (int64_t)SILENT_MS << source->stream.silences;

	*due_ms = INT64_MAX;
	if (source->state != MPIJOB__CLIENT_LOG_STREAMING || source->logs->paused ||
	    reads_once(source) || !run_is_over(source)) {
		source->stream.silent_since_ms = INT64_MIN;
		return 0;
	}
	if (source->stream.silent_since_ms == INT64_MIN)
		source->stream.silent_since_ms = now_ms;
	*due_ms = source->stream.silent_since_ms + most_ms;
	return now_ms >= *due_ms;
}

void mpijob__client_log_abort_silent(struct mpijob__client_log_source *source)
{
	mpijob__client_log_close_stream(source);
	source->stream.new_connection = 1;
	source->stream.silences++;
	failed(source, MPIJOB_ERR_TIMEOUT,
	    "its container has ended, and the end of its log does not come", 0);
}

void mpijob__client_log_free_source(struct mpijob__client_log_source *source)
{
	if (source->stream.call)
		mpijob_call_cancel(source->stream.call);
	mpijob__client_log_source_enter(source, MPIJOB__CLIENT_LOG_CLOSED);
	mpijob__base_text_release(&source->lines.text);
	free(source->name);
	free(source);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container as a source of lines: which of its runs is read, and what the end of a stream
 * means.
 *
 * A stream that ends well may have ended because the run did, or because the server let go of it:
 * only the pod's status knows, and it may come later than the end. So the run is done with when
 * both have come.
 */
#include "client/logs.h"

#include "client/client.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_LAST_MS  30000
#define WAIT_MOST_MS     60000 /* however long a server asks to wait */
#define UNSURE_MS        1000  /* after a stream ended well, for the status to tell why */
#define NOMEM_MS         100
#define TRIES_MOST       5    /* for who does not follow */
#define REFUSALS_MOST    6    /* of a run that is over: about half a minute */
#define SILENT_MS        5000 /* how long the end of a run that is over may not come, at first */
/* each time twice as long, so often; after the next one the run is lost */
#define SILENCES_MOST  4
#define SILENT_GONE_MS 60000 /* of a pod that is gone: there is no second try */

static int reads_once(const struct mpijob__client_log_source *source)
{
	return !source->logs->options.follow || source->logs->options.previous;
}

static int run_is_over(const struct mpijob__client_log_source *source)
{
	return source->is_previous || reads_once(source) || source->pod->gone ||
	       source->attempt < source->runs - 1 || !source->running;
}

/* Init containers that end come before all others, each when the one before it was read. */
static int gate_is_open(const struct mpijob__client_log_source *source)
{
	for (const struct mpijob__client_log_source *before = source->pod->sources;
	     before != source; before = before->next)
		if (before->is_gate && !before->over &&
		    (!mpijob__client_log_is_read(before) || before->runs == 0))
			return 0;
	return 1;
}

int mpijob__client_log_wants_stream(const struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms)
{
	*due_ms = INT64_MAX;
	if (source->call || source->is_waiting || source->over || source->runs == 0 ||
	    mpijob__client_log_is_read(source) || !gate_is_open(source))
		return 0;
	*due_ms = source->due_ms;
	return source->due_ms <= now_ms;
}

int mpijob__client_log_is_read(const struct mpijob__client_log_source *source)
{
	return source->over ||
	       (!source->call && !source->logs->options.previous && source->read >= source->runs);
}

/* --- runs --- */

static void tell_failure(struct mpijob__client_log_source *source, int code, const char *message,
    int again)
{
	if (again && source->told_code == code)
		return;
	source->told_code = code;
	mpijob__client_log_report_failure(source->logs, source->pod->name, source->name, code,
	    message, again);
}

static void finish_run(struct mpijob__client_log_source *source)
{
	source->read = source->attempt + 1;
	source->attempt = -1;
	source->drained = 0;
	source->due_ms = 0;
	source->backoff_ms = 0;
	source->tries = source->refusals = source->told_code = source->silences = 0;
	source->over = source->logs->options.previous;
	mpijob__client_log_lines_reset(source);
}

/* Its stream ended well and its run is over. */
static void complete_run(struct mpijob__client_log_source *source)
{
	(void)mpijob__client_log_lines_flush(source);
	finish_run(source);
}

/*
 * Of a run that came and went unseen the server keeps what it wrote, but of one only; while the
 * next one waits to start, that is the last one, however it is asked for.
 */
static void choose_run(struct mpijob__client_log_source *source)
{
	int32_t last = source->runs - 1, oldest = source->between ? last : last - 1;

	if (source->attempt >= 0 && source->attempt < oldest)
		finish_run(source);
	if (source->attempt < 0) {
		source->attempt =
		    source->logs->options.previous || source->read < last ? oldest : last;
		mpijob__client_log_lines_reset(source);
	}
	source->is_previous = source->logs->options.previous || source->attempt < last;
}

void mpijob__client_log_source_changed(struct mpijob__client_log_source *source)
{
	if (source->call || source->over)
		return;
	if (source->drained && run_is_over(source))
		complete_run(source);
	else if (source->due_ms == INT64_MAX)
		source->due_ms = 0;
	if (!source->pod->gone || source->over)
		return;
	if (!mpijob__client_log_is_read(source))
		tell_failure(source, MPIJOB_ERR_NOT_FOUND,
		    "the pod is gone, and not all of its log was read", 0);
	source->over = 1;
}

/* --- streams --- */

static void try_later(struct mpijob__client_log_source *source, int code, int64_t at_least_ms)
{
	int64_t wait_ms;

	if (code == MPIJOB_ERR_NOMEM) {
		source->due_ms = source->logs->client->clock() + NOMEM_MS;
		return;
	}
	if (source->backoff_ms == 0)
		source->backoff_ms = BACKOFF_FIRST_MS;
	wait_ms = source->backoff_ms < at_least_ms ? at_least_ms : source->backoff_ms;
	source->due_ms =
	    source->logs->client->clock() + (wait_ms < WAIT_MOST_MS ? wait_ms : WAIT_MOST_MS);
	source->backoff_ms =
	    source->backoff_ms * 2 > BACKOFF_LAST_MS ? BACKOFF_LAST_MS : source->backoff_ms * 2;
}

/* What a kubelet refuses because a container does not run yet is not meant. */
static int is_hopeless(struct mpijob__client_log_source *source, int code)
{
	int meant =
	    code == MPIJOB_ERR_AUTH || code == MPIJOB_ERR_UNSUPPORTED || code == MPIJOB_ERR_USAGE;

	return mpijob__client_retry_budget_exhausted(&source->patience, meant ? code : 0,
	    source->logs->client->clock());
}

static int is_final(struct mpijob__client_log_source *source, int code)
{
	if (is_hopeless(source, code) || source->pod->gone)
		return 1;
	if (!reads_once(source))
		return 0;
	return code == MPIJOB_ERR_REJECTED || code == MPIJOB_ERR_NOT_FOUND ||
	       source->tries >= TRIES_MOST;
}

/*
 * What was written is not kept, or is out of reach: the run before the last, and one that is over
 * and was refused again and again. A server that does not answer at all is waited for.
 */
static int run_is_lost(const struct mpijob__client_log_source *source, int code)
{
	if (reads_once(source) || source->pod->gone)
		return 0;
	if (source->is_previous && (code == MPIJOB_ERR_REJECTED || code == MPIJOB_ERR_NOT_FOUND))
		return 1;
	return (source->refusals >= REFUSALS_MOST || source->silences > SILENCES_MOST) &&
	       run_is_over(source);
}

static void failed(struct mpijob__client_log_source *source, int code, const char *message,
    int64_t at_least_ms)
{
	source->tries++;
	source->refusals += code == MPIJOB_ERR_SERVER || code == MPIJOB_ERR_REJECTED ||
			    code == MPIJOB_ERR_NOT_FOUND;
	if (run_is_lost(source, code)) {
		/* The next one may be had. */
		tell_failure(source, code, message, 0);
		finish_run(source);
	} else if (is_final(source, code)) {
		source->over = 1;
		tell_failure(source, code, message, 0);
	} else {
		try_later(source, code, at_least_ms);
		tell_failure(source, code, message, 1);
	}
}

static int stream_data(void *user, const char *data, size_t len)
{
	struct mpijob__client_log_source *source = user;
	struct mpijob_logs *logs = source->logs;
	int rc;

	source->quiet = 0;
	mpijob__client_retry_budget_grant(&source->patience);
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
	source->drained = 1;
	source->due_ms = source->logs->client->clock() + UNSURE_MS;
}

static void stream_done(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__client_log_source *source = user;
	struct mpijob_logs *logs = source->logs;

	source->call = NULL;
	logs->open--;
	if (answer->status == 200)
		mpijob__client_retry_budget_grant(&source->patience);
	mpijob__client_log_enter(logs);
	if (logs->state > 0) {
		if (answer->code == 0)
			ended_well(source);
		else
			failed(source, answer->code, answer->message, answer->retry_after_ms);
		if (source->pod->gone)
			source->over = 1;
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

/* Where to begin: behind what was told, else as was asked for, of containers that were there when
 * we came. */
static int put_beginning(const struct mpijob__client_log_source *source, const char **query,
    size_t *count, mpijob_text texts[2])
{
	const struct mpijob_logs *logs = source->logs;
	int rc = 0;

	if (source->place.last.text[0]) {
		query[(*count)++] = "sinceTime";
		query[(*count)++] = source->place.last.text;
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
	mpijob_text path = { 0 }, texts[2] = { { 0 }, { 0 } };
	size_t count = 4;
	int rc = put_beginning(source, query, &count, texts);

	if (source->is_previous || !reads_once(source)) {
		query[count++] = source->is_previous ? "previous" : "follow";
		query[count++] = "true";
	}
	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = source->logs->options.namespace_;
	target.name = source->pod->name;
	target.subresource = "log";
	target.query = query;
	target.query_count = count;
	if (rc == 0)
		rc = mpijob_target_write(&target, mpijob_text_write, &path);
	if (rc == 0) {
		request.method = "GET";
		request.path = mpijob_text_data(&path);
		request.streaming = 1;
		request.fresh = source->fresh;
		rc = mpijob__client_call_start(source->logs->client, &request,
		    MPIJOB__CLIENT_CALL_NO_RETRY, &callbacks, &source->call);
	}
	mpijob__base_text_release(&path);
	mpijob__base_text_release(&texts[0]);
	mpijob__base_text_release(&texts[1]);
	return rc;
}

void mpijob__client_log_open_stream(struct mpijob__client_log_source *source)
{
	int rc;

	choose_run(source);
	mpijob__client_log_lines_restart(source);
	source->drained = 0;
	rc = start_stream(source);
	if (rc) {
		source->call = NULL;
		failed(source, rc, mpijob_error_text(rc), 0);
		return;
	}
	source->fresh = source->quiet = 0;
	source->logs->open++;
	source->opened_ms = source->logs->client->clock();
	if (source->logs->paused)
		mpijob_call_pause(source->call, 1);
}

void mpijob__client_log_close_stream(struct mpijob__client_log_source *source)
{
	mpijob_call_cancel(source->call);
	source->call = NULL;
	source->logs->open--;
	source->due_ms = 0;
}

int mpijob__client_log_is_silent(struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms)
{
	int64_t most_ms =
	    source->pod->gone ? SILENT_GONE_MS : (int64_t)SILENT_MS << source->silences;

	*due_ms = INT64_MAX;
	if (!source->call || source->logs->paused || reads_once(source) || !run_is_over(source)) {
		source->quiet = 0;
		return 0;
	}
	if (!source->quiet)
		source->quiet_ms = now_ms;
	source->quiet = 1;
	*due_ms = source->quiet_ms + most_ms;
	return now_ms >= *due_ms;
}

void mpijob__client_log_abort_silent(struct mpijob__client_log_source *source)
{
	mpijob__client_log_close_stream(source);
	source->fresh = 1;
	source->silences++;
	failed(source, MPIJOB_ERR_TIMEOUT,
	    "its container has ended, and the end of its log does not come", 0);
}

void mpijob__client_log_free_source(struct mpijob__client_log_source *source)
{
	if (source->call) {
		mpijob_call_cancel(source->call);
		source->logs->open--;
	}
	mpijob__base_text_release(&source->line);
	free(source->name);
	free(source);
}

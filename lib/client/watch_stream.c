/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch's stream of events: at which version it goes on after an end, and lists that come as a
 * stream.
 *
 * Every event moves the version on, also a DELETED and a bookmark; an end of the stream is normal
 * and the watch goes on from there. Only "410 Gone" and what no second try can cure lead to a new
 * list. A streamed list is a watch that begins with what is there and marks the end of that with an
 * annotated bookmark; servers that do not know it refuse it, or just watch and stay silent.
 */
#include "client/watch.h"

#include "client/client.h"
#include "client/status.h"

#include <string.h>

#define SHORT_LIFE_MS 1000
#define WATCH_LEAST_S 300
#define LATE_MS       30000  /* how long after its timeoutSeconds a stream may stay open */
#define INITIAL_MS    30000  /* how long a streamed list may be silent */
#define SILENT_MS     180000 /* and a stream with bookmarks, which come every minute */
#define SERVER_ERRORS 3      /* in a row, and the list is made anew */

/* --- events --- */

static int read_event(const char *type)
{
	if (strcmp(type, "ADDED") == 0)
		return MPIJOB_WATCH_ADDED;
	if (strcmp(type, "MODIFIED") == 0)
		return MPIJOB_WATCH_MODIFIED;
	return strcmp(type, "DELETED") == 0 ? MPIJOB_WATCH_DELETED : -1;
}

/* What to make of a failure in the stream, or of one that came instead of it. */
static void classify(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	if (mpijob__client_watch_expired(answer) || mpijob__client_watch_too_large(answer)) {
		watch->gone = 1;
		/* A version from the future is no better for a list. */
		if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM ||
		    mpijob__client_watch_too_large(answer))
			watch->any_version = 1;
		return;
	}
	watch->stream_failed = 1;
	watch->busy_server = answer->status == 429;
	watch->internal = answer->status == 500 || answer->status == 0;
	watch->relist = !watch->internal && answer->status != 429 && answer->status < 500;
}

/* An ERROR event carries a Status. It ends the stream; what comes of it is decided there. */
static int take_error(mpijob_watch *watch, const struct mpijob__client_split_object *event)
{
	struct mpijob__client_verdict verdict = { 0 };
	struct mpijob_answer answer = { 0 };
	int64_t code = 0;

	if (mpijob__client_verdict_make(&verdict, 500, 0, event->json ? event->json : "",
		event->len)) {
		mpijob__client_verdict_release(&verdict);
		return MPIJOB_ERR_NOMEM;
	}
	if (verdict.doc)
		(void)mpijob_node_int(mpijob_node_get(mpijob_doc_root(verdict.doc), "code"), &code);
	answer.size = sizeof(answer);
	answer.code = verdict.code;
	answer.status = code < 0 || code > 999 ? 0 : (int32_t)code;
	answer.body = "";
	answer.reason = verdict.reason;
	answer.message = verdict.message;
	answer.retry_after_ms = verdict.retry_after_ms;
	classify(watch, &answer);
	watch->retry_after_ms = answer.retry_after_ms;
	if (watch->stream_failed && watch->state != MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		mpijob__client_watch_report_failure(watch, &answer, "watch");
	mpijob__client_verdict_release(&verdict);
	return MPIJOB_ERR_CANCELLED;
}

/* 1 when it marks the end of what was there. */
static int ends_list(const struct mpijob__client_split_object *bookmark)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	const char *mark;
	int rc, ends;

	options.format = MPIJOB_FORMAT_JSON;
	rc = mpijob_doc_parse(bookmark->json ? bookmark->json : "", bookmark->len, &options, &doc,
	    NULL);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	mark = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc),
	    "metadata.annotations[k8s.io/initial-events-end]"));
	ends = mark && strcmp(mark, "true") == 0;
	mpijob_doc_free(doc);
	return ends;
}

/* Until when the stream may stay open, unless something comes. */
static int64_t open_until(const mpijob_watch *watch)
{
	int64_t end_ms = watch->started_ms + watch->lasts_ms;
	int64_t silent_ms = watch->client->clock() + SILENT_MS;

	return watch->bookmarks && silent_ms < end_ms ? silent_ms : end_ms;
}

/* An event before the end of what was there. */
static int take_initial(mpijob_watch *watch, const struct mpijob__client_split_object *event)
{
	int kind = read_event(event->type), rc;

	mpijob__client_watch_begin_list(watch);
	if (watch->freed)
		return MPIJOB_ERR_CANCELLED;
	if (kind >= 0)
		return mpijob__client_watch_report_object(watch,
		    kind == MPIJOB_WATCH_DELETED ? kind : MPIJOB_WATCH_LISTED, event, "list");
	rc =
	    strcmp(event->type, "BOOKMARK") == 0 && *event->resource_version ? ends_list(event) : 0;
	if (rc <= 0)
		return rc;
	rc = mpijob__client_watch_complete_list(watch, event->resource_version);
	if (rc)
		return rc;
	watch->state = MPIJOB__CLIENT_WATCH_WATCHING;
	watch->due_ms = open_until(watch);
	return 0;
}

/* An object of another kind than what is watched. */
static int is_strange(const mpijob_watch *watch, const struct mpijob__client_split_object *event)
{
	return (*event->kind && strcmp(event->kind, watch->options.kind) != 0) ||
	       (*event->api_version && strcmp(event->api_version, watch->options.api_version) != 0);
}

static int take_event(void *user, const struct mpijob__client_split_object *event)
{
	mpijob_watch *watch = user;
	int rc, kind;

	if (strcmp(event->type, "ERROR") == 0)
		return take_error(watch, event);
	kind = read_event(event->type);
	if (kind >= 0 &&
	    (!*event->name || (!event->json && event->whole <= watch->options.object_limit)))
		return MPIJOB_ERR_SYNTAX; /* an event about nothing */
	if (kind >= 0 && is_strange(watch, event))
		return 0;
	watch->events = 1;
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		return take_initial(watch, event);
	if (kind >= 0) {
		rc = mpijob__client_watch_report_object(watch, kind, event, "watch");
		if (rc)
			return rc;
	}
	if (kind != MPIJOB_WATCH_ADDED)
		watch->synthetic = 0;
	watch->bookmarks |= strcmp(event->type, "BOOKMARK") == 0;
	/* Also a bookmark, and an event of a type that is not invented yet. */
	if (!*event->resource_version || watch->synthetic)
		return 0;
	return mpijob__client_watch_set_text(&watch->version, event->resource_version);
}

static int stream_data(void *user, const char *data, size_t len)
{
	mpijob_watch *watch = user;
	int rc;

	mpijob__client_watch_enter(watch);
	watch->heard_ms = watch->client->clock();
	rc = mpijob__client_split_feed(&watch->split, data, len, take_event, watch);
	if (rc == MPIJOB_ERR_SYNTAX && !watch->freed)
		watch->stream_failed = 1;
	if (rc == 0 && watch->events && watch->synced)
		mpijob__client_watch_recovered(watch);
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		watch->due_ms = watch->client->clock() + INITIAL_MS;
	else if (watch->state == MPIJOB__CLIENT_WATCH_WATCHING)
		watch->due_ms = open_until(watch);
	mpijob__client_watch_leave(watch);
	return rc;
}

/* --- the end of a stream --- */

/* Statuses of servers that do not do streamed lists, or not this way. */
static int refuses_streams(int32_t status)
{
	return status == 400 || status == 405 || status == 406 || status == 415 || status == 422 ||
	       status == 501;
}

static int64_t longer(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* It ended before all of what was there had come. */
static void initial_done(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	watch->begun = 0;
	if (answer->code == MPIJOB_ERR_NOMEM) {
		mpijob__client_watch_wait_for_memory(watch);
		return;
	}
	if (answer->status && answer->status != 200)
		classify(watch, answer);
	if (answer->status == 0 || answer->status == 429 ||
	    (watch->stream_failed && watch->busy_server)) {
		/* Not a matter of how the list comes. */
		mpijob__client_watch_report_failure(watch, answer, "list");
		if (!watch->freed)
			mpijob__client_watch_back_off(watch,
			    longer(answer->retry_after_ms, watch->retry_after_ms));
		return;
	}
	if (watch->gone && watch->version.len) {
		mpijob_text_clear(&watch->version);
		mpijob__client_watch_continue(watch);
		return;
	}
	watch->streams_refused |= refuses_streams(answer->status);
	watch->list_once = 1;
	mpijob__client_watch_continue(watch);
}

static int64_t lifetime(const mpijob_watch *watch)
{
	return watch->client->clock() - watch->started_ms;
}

/* 1 when the stream is to be counted as a failure. */
static int has_failed(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	int short_life = lifetime(watch) < SHORT_LIFE_MS && !watch->events;

	if (watch->gone)
		/* a server that says so again and again must not be asked without a pause */
		return short_life;
	if (watch->stream_failed) {
		if (answer->code == MPIJOB_ERR_SYNTAX || answer->status != 200)
			mpijob__client_watch_report_failure(watch, answer, "watch");
		return 1;
	}
	if (answer->code == 0)
		return short_life;
	/* A stream that broke after it brought something is no worse than one that ended. */
	if (answer->status == 200 && answer->code != MPIJOB_ERR_NOMEM && watch->events)
		return 0;
	mpijob__client_watch_report_failure(watch, answer, "watch");
	return 1;
}

static void watch_done(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	int64_t wait_ms = longer(answer->retry_after_ms, watch->retry_after_ms);
	int failed;

	if (answer->status && answer->status != 200)
		classify(watch, answer);
	failed = has_failed(watch, answer);
	if (watch->freed)
		return;
	watch->server_errors =
	    watch->stream_failed && watch->internal ? watch->server_errors + 1 : 0;
	watch->need_list = watch->gone || (watch->stream_failed && watch->relist) ||
			   watch->server_errors >= SERVER_ERRORS;
	if (answer->status == 200 && lifetime(watch) >= SHORT_LIFE_MS)
		mpijob__client_watch_mark_healthy(watch);
	if (!failed) {
		watch->told_code = watch->told_status = 0;
		mpijob__client_watch_recovered(watch);
	}
	if (answer->code == MPIJOB_ERR_NOMEM)
		mpijob__client_watch_wait_for_memory(watch);
	else if (failed)
		mpijob__client_watch_back_off(watch, wait_ms);
	else
		mpijob__client_watch_continue(watch);
}

static void stream_done(void *user, const struct mpijob_answer *answer)
{
	mpijob_watch *watch = user;

	mpijob__client_watch_enter(watch);
	watch->call = NULL;
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		initial_done(watch, answer);
	else if (watch->state == MPIJOB__CLIENT_WATCH_WATCHING)
		watch_done(watch, answer);
	mpijob__client_watch_leave(watch);
}

/* --- its start --- */

static size_t make_query(const mpijob_watch *watch, int initial, const char *timeout,
    const char **query)
{
	size_t count = mpijob__client_watch_add_query(query, 0, "watch", "1");

	count = mpijob__client_watch_add_query(query, count, "allowWatchBookmarks", "true");
	if (initial) {
		count = mpijob__client_watch_add_query(query, count, "sendInitialEvents", "true");
		count = mpijob__client_watch_add_query(query, count, "resourceVersionMatch",
		    "NotOlderThan");
	}
	if (!initial || (watch->version.len && !watch->any_version))
		count = mpijob__client_watch_add_query(query, count, "resourceVersion",
		    mpijob_text_data(&watch->version));
	return mpijob__client_watch_add_query(query, count, "timeoutSeconds", timeout);
}

int mpijob__client_watch_start_stream(mpijob_watch *watch, int initial)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), stream_data, stream_done, watch };
	int seconds =
	    WATCH_LEAST_S + (int)(mpijob__client_watch_random(watch) % (WATCH_LEAST_S + 1));
	mpijob_text timeout = { 0 };
	const char *query[12];
	size_t count;
	int rc = mpijob__base_text_printf(&timeout, "%d", seconds);

	if (rc)
		return rc;
	count = make_query(watch, initial, mpijob_text_data(&timeout), query);
	rc = mpijob__client_split_init(&watch->split, MPIJOB__CLIENT_SPLIT_EVENTS, "", "",
	    watch->options.object_limit);
	if (rc == 0)
		rc = mpijob__client_watch_send(watch, query, count, 1, &callbacks);
	mpijob__base_text_release(&timeout);
	if (rc) {
		mpijob__client_split_release(&watch->split);
		return rc;
	}
	watch->events = watch->gone = watch->stream_failed = watch->relist = watch->internal =
	    watch->busy_server = 0;
	watch->retry_after_ms = 0;
	watch->synthetic =
	    !initial && (watch->version.len == 0 || strcmp(watch->version.data, "0") == 0);
	watch->state =
	    initial ? MPIJOB__CLIENT_WATCH_LISTING_STREAM : MPIJOB__CLIENT_WATCH_WATCHING;
	watch->lasts_ms = (int64_t)seconds * 1000 + LATE_MS;
	watch->due_ms = initial ? watch->started_ms + INITIAL_MS : open_until(watch);
	return 0;
}

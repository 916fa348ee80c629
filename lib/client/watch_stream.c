/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a watch: from which version it resumes, when it lists again, and streamed lists.
 *
 * Every event advances the version, also a DELETED and a bookmark; an end of the stream is normal
 * and the watch resumes from there. must_relist() says which failures lead to a new list. A
 * streamed list is a watch that begins with all objects and marks the end of these with an
 * annotated bookmark. Servers that do not support it reject it, or start an ordinary watch and send
 * nothing.
 */
#include "client/watch_stream.h"

#include "base/api.h"
#include "client/client.h"
#include "client/status.h"

#include <string.h>

#define SHORT_LIFE_MS 1000 /* a stream that ends earlier without an event counts as failed */
#define WATCH_LEAST_S 300
#define LATE_MS       30000  /* how long after its timeoutSeconds a stream may stay open */
#define INITIAL_MS    30000  /* how long a streamed list may be silent */
#define SILENT_MS     180000 /* and a stream with bookmarks, which come every minute */
#define INTERNAL_MAX  3      /* this many internal errors in a row lead to a new list */

/* ---- events ---- */

static int read_event(const char *type)
{
	if (strcmp(type, "ADDED") == 0)
		return MPIJOB_WATCH_ADDED;
	if (strcmp(type, "MODIFIED") == 0)
		return MPIJOB_WATCH_MODIFIED;
	return strcmp(type, "DELETED") == 0 ? MPIJOB_WATCH_DELETED : -1;
}

/* Classify an ERROR event, or an answer that came instead of the stream. */
static void classify(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	int status = answer->status;

	if (mpijob__client_watch_expired(answer) || mpijob__client_watch_too_large(answer)) {
		watch->stream.failure = MPIJOB__CLIENT_WATCH_EXPIRED;
		/* A version that is too new is too new for a list, too. */
		if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM ||
		    mpijob__client_watch_too_large(answer))
			watch->list.newest = 1;
		return;
	}
	watch->stream.failure = status == 429                  ? MPIJOB__CLIENT_WATCH_BUSY
				: status == 500 || status == 0 ? MPIJOB__CLIENT_WATCH_INTERNAL
				: status < 500                 ? MPIJOB__CLIENT_WATCH_REJECTED
							       : MPIJOB__CLIENT_WATCH_BROKEN;
}

/* The stream failed with something else than an expired version. */
static int is_broken(const mpijob_watch *watch)
{
	return watch->stream.failure != MPIJOB__CLIENT_WATCH_NO_FAILURE &&
	       watch->stream.failure != MPIJOB__CLIENT_WATCH_EXPIRED;
}

/* Resuming from the last version would fail again. */
static int must_relist(const mpijob_watch *watch)
{
	return watch->stream.failure == MPIJOB__CLIENT_WATCH_EXPIRED ||
	       watch->stream.failure == MPIJOB__CLIENT_WATCH_REJECTED ||
	       watch->stream.internal_errors >= INTERNAL_MAX;
}

/* An ERROR event carries a Status and ends the stream. The end decides what follows. */
static int take_error(mpijob_watch *watch, const struct mpijob__base_split_object *event)
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
	watch->stream.retry_after_ms = answer.retry_after_ms;
	if (is_broken(watch) && watch->state != MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		mpijob__client_watch_report_failure(watch, &answer, "watch");
	mpijob__client_verdict_release(&verdict);
	return MPIJOB_ERR_CANCELLED;
}

/* 1 when the bookmark ends a streamed list; MPIJOB_ERR_NOMEM. */
static int ends_list(const struct mpijob__base_split_object *bookmark)
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
	    "metadata.annotations[" MPIJOB__BASE_API_LIST_END "]"));
	ends = mark && strcmp(mark, "true") == 0;
	mpijob_doc_free(doc);
	return ends;
}

/* Until when the stream may stay open without another byte. */
static int64_t open_until(const mpijob_watch *watch)
{
	int64_t end_ms = watch->started_ms + watch->stream.lasts_ms;
	int64_t silent_ms = watch->client->clock() + SILENT_MS;

	return watch->server.bookmarks && silent_ms < end_ms ? silent_ms : end_ms;
}

/* An event of a streamed list. */
static int take_listed(mpijob_watch *watch, const struct mpijob__base_split_object *event)
{
	int kind = read_event(event->type), rc;

	mpijob__client_watch_begin_list(watch);
	if (mpijob__client_watch_is_over(watch))
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
	mpijob__client_watch_enter(watch, MPIJOB__CLIENT_WATCH_WATCHING, open_until(watch));
	return 0;
}

/* The object has another kind than the watch. */
static int has_other_kind(const mpijob_watch *watch, const struct mpijob__base_split_object *event)
{
	return (*event->kind && strcmp(event->kind, watch->options.kind) != 0) ||
	       (*event->api_version && strcmp(event->api_version, watch->options.api_version) != 0);
}

static int take_event(void *user, const struct mpijob__base_split_object *event)
{
	mpijob_watch *watch = user;
	int rc, kind;

	if (strcmp(event->type, "ERROR") == 0)
		return take_error(watch, event);
	kind = read_event(event->type);
	if (kind >= 0 &&
	    (!*event->name || (!event->json && event->whole <= watch->options.object_limit)))
		return MPIJOB_ERR_SYNTAX; /* an event without an object */
	if (kind >= 0 && has_other_kind(watch, event))
		return 0;
	watch->stream.events = 1;
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		return take_listed(watch, event);
	if (kind >= 0) {
		rc = mpijob__client_watch_report_object(watch, kind, event, "watch");
		if (rc)
			return rc;
	}
	if (kind != MPIJOB_WATCH_ADDED)
		watch->stream.unordered = 0;
	watch->server.bookmarks |= strcmp(event->type, "BOOKMARK") == 0;
	/* Also of a bookmark, and of an event of an unknown type. */
	if (!*event->resource_version || watch->stream.unordered)
		return 0;
	return mpijob__client_watch_set_text(&watch->version, event->resource_version);
}

static int stream_data(void *user, const char *data, size_t len)
{
	mpijob_watch *watch = user;
	int rc;

	mpijob__client_watch_callback_begin(watch);
	watch->heard_ms = watch->client->clock();
	rc = mpijob__base_split_feed(&watch->split, data, len, take_event, watch);
	if (rc == MPIJOB_ERR_SYNTAX)
		watch->stream.failure = MPIJOB__CLIENT_WATCH_BROKEN;
	if (rc == 0 && watch->stream.events && watch->synced)
		mpijob__client_watch_recovered(watch);
	if (!mpijob__client_watch_is_over(watch))
		watch->due_ms = watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM
				    ? watch->client->clock() + INITIAL_MS
				    : open_until(watch);
	mpijob__client_watch_callback_end(watch);
	return rc;
}

/* ---- the end of a stream ---- */

/* Statuses with which servers refuse streamed lists. */
static int refuses_streams(int32_t status)
{
	return status == 400 || status == 405 || status == 406 || status == 415 || status == 422 ||
	       status == 501;
}

static int64_t longer(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The next list is an ordinary one. */
static void fall_back(mpijob_watch *watch, int for_good)
{
	watch->server.no_streamed_lists |= for_good;
	watch->upcoming = MPIJOB__CLIENT_WATCH_LISTING;
}

/* A server that does not support streamed lists starts an ordinary watch. */
void mpijob__client_watch_streamed_list_timed_out(mpijob_watch *watch)
{
	fall_back(watch, !watch->stream.events);
	watch->list.begun = 0;
}

/* The stream ended before its list was complete. */
static void streamed_list_done(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	watch->list.begun = 0;
	if (answer->code == MPIJOB_ERR_NOMEM) {
		mpijob__client_watch_wait_for_memory(watch);
		return;
	}
	if (answer->status && answer->status != 200)
		classify(watch, answer);
	if (answer->status == 0 || answer->status == 429 ||
	    watch->stream.failure == MPIJOB__CLIENT_WATCH_BUSY) {
		/* An ordinary list would fail, too. */
		mpijob__client_watch_report_failure(watch, answer, "list");
		mpijob__client_watch_back_off(watch,
		    longer(answer->retry_after_ms, watch->stream.retry_after_ms));
		return;
	}
	if (watch->stream.failure == MPIJOB__CLIENT_WATCH_EXPIRED && watch->version.len)
		mpijob_text_clear(&watch->version);
	else
		fall_back(watch, refuses_streams(answer->status));
	mpijob__client_watch_continue(watch);
}

static int64_t lifetime(const mpijob_watch *watch)
{
	return watch->client->clock() - watch->started_ms;
}

/* Report a failure of the stream. 1 when the watch is to back off. */
static int has_failed(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	int short_life = lifetime(watch) < SHORT_LIFE_MS && !watch->stream.events;

	if (watch->stream.failure == MPIJOB__CLIENT_WATCH_EXPIRED)
		return short_life; /* it may repeat this many times */
	if (is_broken(watch)) {
		if (answer->code == MPIJOB_ERR_SYNTAX || answer->status != 200)
			mpijob__client_watch_report_failure(watch, answer, "watch");
		return 1;
	}
	if (answer->code == 0)
		return short_life;
	/* A stream that breaks after an event counts as ended. */
	if (answer->status == 200 && answer->code != MPIJOB_ERR_NOMEM && watch->stream.events)
		return 0;
	mpijob__client_watch_report_failure(watch, answer, "watch");
	return 1;
}

static void watch_done(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	int64_t wait_ms = longer(answer->retry_after_ms, watch->stream.retry_after_ms);
	int failed;

	if (answer->status && answer->status != 200)
		classify(watch, answer);
	failed = has_failed(watch, answer);
	if (mpijob__client_watch_is_over(watch))
		return;
	if (watch->stream.failure == MPIJOB__CLIENT_WATCH_INTERNAL)
		watch->stream.internal_errors++;
	else
		watch->stream.internal_errors = 0;
	if (must_relist(watch))
		watch->upcoming = watch->server.no_streamed_lists
				      ? MPIJOB__CLIENT_WATCH_LISTING
				      : MPIJOB__CLIENT_WATCH_LISTING_STREAM;
	if (answer->status == 200 && lifetime(watch) >= SHORT_LIFE_MS)
		mpijob__client_watch_mark_healthy(watch);
	if (!failed) {
		watch->retry.reported_code = watch->retry.reported_status = 0;
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

	mpijob__client_watch_callback_begin(watch);
	watch->call = NULL;
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM)
		streamed_list_done(watch, answer);
	else if (watch->state == MPIJOB__CLIENT_WATCH_WATCHING)
		watch_done(watch, answer);
	mpijob__client_watch_callback_end(watch);
}

/* ---- the start of a stream ---- */

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
	if (!initial || (watch->version.len && !watch->list.newest))
		count = mpijob__client_watch_add_query(query, count, "resourceVersion",
		    mpijob_text_data(&watch->version));
	return mpijob__client_watch_add_query(query, count, "timeoutSeconds", timeout);
}

int mpijob__client_watch_start_stream(mpijob_watch *watch, enum mpijob__client_watch_state state)
{
	int initial = state == MPIJOB__CLIENT_WATCH_LISTING_STREAM;
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
	rc = mpijob__base_split_init(&watch->split, MPIJOB__BASE_SPLIT_EVENTS, "", "",
	    watch->options.object_limit);
	if (rc == 0)
		rc = mpijob__client_watch_send(watch, query, count, 1, &callbacks);
	mpijob__base_text_release(&timeout);
	if (rc) {
		mpijob__base_split_release(&watch->split);
		return rc;
	}
	watch->stream.events = 0;
	watch->stream.failure = MPIJOB__CLIENT_WATCH_NO_FAILURE;
	watch->stream.retry_after_ms = 0;
	watch->stream.unordered =
	    !initial && (watch->version.len == 0 || strcmp(watch->version.data, "0") == 0);
	watch->stream.lasts_ms = (int64_t)seconds * 1000 + LATE_MS;
	mpijob__client_watch_enter(watch, state,
	    initial ? watch->started_ms + INITIAL_MS : open_until(watch));
	return 0;
}

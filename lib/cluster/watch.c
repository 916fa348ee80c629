/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List and watch: at which resourceVersion to go on, when to list anew, how long to wait after a failure.
 *
 * The states are: waiting (until `due_ms`), listing, watching. Every event moves the version on; an end
 * of the stream is normal and the watch goes on from there; only "410 Gone" leads to a new list. After a
 * failure it waits 0.8 s, doubled each time up to 30 s, times one to two, until two minutes went well.
 */
#include "cluster/watch.h"

#include "base/text.h"
#include "cluster/client.h"
#include "cluster/clock.h"
#include "cluster/split.h"
#include "cluster/status.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS 800
#define BACKOFF_LAST_MS 30000
#define NOMEM_MS 100
#define HEALTHY_MS 120000
#define SHORT_LIFE_MS 1000
#define WATCH_LEAST_S 300
#define SILENCE_MS 30000 /* how long after its timeoutSeconds a watch may stay open */
#define RETRY_AFTER_MOST_MS 300000
#define OBJECT_LIMIT ((size_t)8 << 20)

enum state { WAITING, LISTING, WATCHING };

struct mpijob__watch {
	mpijob_client *client;
	struct mpijob__watch_config config; /* strings are ours */
	enum state state;
	mpijob_call *call;
	struct mpijob__split split;
	int64_t due_ms;
	int64_t started_ms;   /* the list or watch that runs */
	int64_t backoff_ms;   /* of the next failure */
	int64_t failed_ms;    /* when the last failure was */
	uint64_t dice;
	mpijob_text version;  /* to go on from */
	mpijob_text next;     /* token for the rest of a list */
	int need_list;
	int any_version;      /* the next list asks for the newest state, not for one that may be cached */
	int synced;
	int events;           /* of this watch, counted up to 1 */
	int gone;             /* an ERROR event said that the version is too old */
	int stream_failed;    /* an ERROR event said something else, or the stream is no JSON */
	int told_code;        /* the failure that was told last; told once */
};

static uint64_t roll(mpijob__watch *watch)
{
	/* splitmix64 */
	uint64_t z = (watch->dice += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int set_text(mpijob_text *text, const char *value)
{
	if (mpijob__text_reserve(text, strlen(value)))
		return MPIJOB_ERR_NOMEM;
	text->len = 0;
	text->data[0] = 0;
	return mpijob__text_puts(text, value);
}

static int copy(const char *from, const char **to)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? MPIJOB_ERR_NOMEM : 0;
}

int mpijob__watch_new(mpijob_client *client, const struct mpijob__watch_config *config, mpijob__watch **out)
{
	mpijob__watch *watch = calloc(1, sizeof(*watch));
	int rc = 0;

	if (!watch)
		return MPIJOB_ERR_NOMEM;
	watch->client = client;
	watch->config = *config;
	rc |= copy(config->api_version, &watch->config.api_version);
	rc |= copy(config->kind, &watch->config.kind);
	rc |= copy(config->namespace_, &watch->config.namespace_);
	rc |= copy(config->label_selector, &watch->config.label_selector);
	if (rc) {
		mpijob__watch_free(watch);
		return MPIJOB_ERR_NOMEM;
	}
	if (watch->config.object_limit == 0)
		watch->config.object_limit = OBJECT_LIMIT;
	if (!watch->config.clock)
		watch->config.clock = mpijob__clock_monotonic_ms;
	watch->dice = config->seed;
	watch->need_list = 1;
	watch->backoff_ms = BACKOFF_FIRST_MS;
	watch->due_ms = INT64_MIN;
	*out = watch;
	return 0;
}

void mpijob__watch_free(mpijob__watch *watch)
{
	if (!watch)
		return;
	if (watch->call)
		mpijob_call_cancel(watch->call);
	mpijob__split_release(&watch->split);
	mpijob__text_release(&watch->version);
	mpijob__text_release(&watch->next);
	free((char *)watch->config.api_version);
	free((char *)watch->config.kind);
	free((char *)watch->config.namespace_);
	free((char *)watch->config.label_selector);
	free(watch);
}

int mpijob__watch_synced(const mpijob__watch *watch)
{
	return watch->synced;
}

int64_t mpijob__watch_due_ms(const mpijob__watch *watch)
{
	return watch->due_ms;
}

/* Nothing runs any more: wait before the next try, or go on at once. */
static void rest(mpijob__watch *watch, int failed, int64_t at_least_ms)
{
	int64_t wait = 0;

	watch->call = NULL;
	watch->state = WAITING;
	mpijob__split_release(&watch->split);
	if (failed) {
		if (watch->started_ms - watch->failed_ms > HEALTHY_MS)
			watch->backoff_ms = BACKOFF_FIRST_MS;
		wait = watch->backoff_ms + (int64_t)(roll(watch) % (uint64_t)watch->backoff_ms);
		watch->backoff_ms = watch->backoff_ms * 2 > BACKOFF_LAST_MS ? BACKOFF_LAST_MS : watch->backoff_ms * 2;
		watch->failed_ms = watch->config.clock();
	}
	if (at_least_ms > RETRY_AFTER_MOST_MS)
		at_least_ms = RETRY_AFTER_MOST_MS;
	if (wait < at_least_ms)
		wait = at_least_ms;
	watch->due_ms = wait ? watch->config.clock() + wait : INT64_MIN;
}

/* Memory ran out here: the server is not to be spared, and nothing was learned about it. */
static void rest_short_of_memory(mpijob__watch *watch)
{
	rest(watch, 0, NOMEM_MS);
}

/* A failure is told when it is another one than before. */
static void tell_failure(mpijob__watch *watch, const struct mpijob_answer *answer, const char *what)
{
	if (watch->config.failed && watch->told_code != answer->code)
		watch->config.failed(watch->config.user, answer, what);
	watch->told_code = answer->code;
}

static int expired(const struct mpijob_answer *answer)
{
	if (answer->status == 410)
		return 1;
	if (answer->reason && (strcmp(answer->reason, "Expired") == 0 || strcmp(answer->reason, "Gone") == 0))
		return 1;
	return answer->status == 504 && answer->message && strstr(answer->message, "Too large resource version");
}

/* --- the list --- */

static void fill_object(struct mpijob__watch_object *out, int event, const struct mpijob__split_object *in)
{
	out->event = event;
	out->json = in->json;
	out->len = in->len;
	out->whole = in->whole;
	out->uid = in->uid;
	out->name = in->name;
	out->namespace_ = in->namespace_;
	out->resource_version = in->resource_version;
}

static int take_item(void *user, const struct mpijob__split_object *item)
{
	mpijob__watch *watch = user;
	struct mpijob__watch_object object;

	fill_object(&object, MPIJOB__WATCH_LISTED, item);
	return watch->config.object(watch->config.user, &object);
}

static int list_data(void *user, const char *data, size_t len)
{
	mpijob__watch *watch = user;

	return mpijob__split_feed(&watch->split, data, len, take_item, watch);
}

/* Read what stood around the items. */
static int end_list(mpijob__watch *watch)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	const char *version, *next;
	int rc;

	if (!mpijob__split_complete(&watch->split))
		return MPIJOB_ERR_IO;
	options.format = MPIJOB_FORMAT_JSON;
	rc = mpijob_doc_parse(mpijob_text_data(&watch->split.outer), watch->split.outer.len, &options, &doc, NULL);
	if (rc)
		return rc;
	version = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.resourceVersion"));
	next = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.continue"));
	rc = version ? set_text(&watch->next, next ? next : "") : MPIJOB_ERR_SYNTAX;
	if (rc == 0)
		rc = set_text(&watch->version, version);
	if (rc == 0 && watch->next.len == 0) {
		rc = watch->config.listed(watch->config.user, version);
		if (rc == 0) {
			watch->need_list = 0;
			watch->any_version = 0;
			watch->synced = 1;
			watch->told_code = 0;
		}
	}
	mpijob_doc_free(doc);
	return rc;
}

static void list_done(void *user, const struct mpijob_answer *answer)
{
	mpijob__watch *watch = user;
	struct mpijob_answer failure = *answer;
	int code = answer->code;

	if (code == 0)
		code = end_list(watch);
	if (code == 0) {
		rest(watch, 0, 0);
		return;
	}
	if (answer->code == 0) {
		failure.code = code;
		failure.message = code == MPIJOB_ERR_IO ? "the list broke off" : mpijob_error_text(code);
	} else if (expired(answer)) {
		/* Wanted a version, or the rest of a list, that is no more: ask for what there is. */
		watch->any_version = 1;
	}
	if (watch->next.data)
		mpijob_text_clear(&watch->next);
	tell_failure(watch, &failure, "list");
	if (code == MPIJOB_ERR_NOMEM)
		rest_short_of_memory(watch);
	else
		rest(watch, 1, answer->retry_after_ms);
}

static int start_call(mpijob__watch *watch, const char *const *query, size_t count, int streaming,
		      const struct mpijob_callbacks *callbacks)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	mpijob_text path = { 0 };
	int rc;

	target.api_version = watch->config.api_version;
	target.kind = watch->config.kind;
	target.namespace_ = watch->config.namespace_;
	target.query = query;
	target.query_count = count;
	rc = mpijob_target_write(&target, mpijob_text_write, &path);
	if (rc == 0) {
		request.method = "GET";
		request.path = mpijob_text_data(&path);
		request.streaming = streaming;
		rc = mpijob_client_start(watch->client, &request, callbacks, &watch->call);
	}
	mpijob__text_release(&path);
	return rc;
}

static size_t put_pair(const char **query, size_t count, const char *name, const char *value)
{
	query[count] = name;
	query[count + 1] = value;
	return count + 2;
}

static int start_list(mpijob__watch *watch)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), list_data, list_done, watch };
	const char *query[6];
	size_t count = 0;
	int rc;

	if (watch->config.label_selector)
		count = put_pair(query, count, "labelSelector", watch->config.label_selector);
	if (watch->next.len)
		count = put_pair(query, count, "continue", watch->next.data);
	else if (!watch->any_version)
		count = put_pair(query, count, "resourceVersion",
				 watch->version.len ? watch->version.data : "0");
	rc = mpijob__split_init(&watch->split, MPIJOB__SPLIT_LIST, watch->config.api_version, watch->config.kind,
				watch->config.object_limit);
	if (rc == 0)
		rc = start_call(watch, query, count, 0, &callbacks);
	if (rc) {
		mpijob__split_release(&watch->split);
		return rc;
	}
	watch->state = LISTING;
	watch->due_ms = INT64_MAX;
	if (watch->next.len == 0 && watch->config.begin)
		watch->config.begin(watch->config.user);
	return 0;
}

/* --- the watch --- */

static int read_event(const char *type)
{
	if (strcmp(type, "ADDED") == 0)
		return MPIJOB__WATCH_ADDED;
	if (strcmp(type, "MODIFIED") == 0)
		return MPIJOB__WATCH_MODIFIED;
	return strcmp(type, "DELETED") == 0 ? MPIJOB__WATCH_DELETED : -1;
}

/* An ERROR event carries a Status. It ends the stream; what comes of it is decided there. */
static int take_error(mpijob__watch *watch, const struct mpijob__split_object *event)
{
	struct mpijob__verdict verdict = { 0 };
	struct mpijob_answer answer = { 0 };
	int64_t code = 0;

	if (mpijob__verdict_make(&verdict, 500, 0, event->json ? event->json : "", event->len)) {
		mpijob__verdict_release(&verdict);
		return MPIJOB_ERR_NOMEM;
	}
	if (verdict.doc)
		(void)mpijob_node_int(mpijob_node_get(mpijob_doc_root(verdict.doc), "code"), &code);
	answer.size = sizeof(answer);
	answer.code = verdict.code;
	answer.status = (int32_t)code;
	answer.reason = verdict.reason;
	answer.message = verdict.message;
	answer.retry_after_ms = verdict.retry_after_ms;
	if (expired(&answer)) {
		watch->gone = 1;
	} else {
		watch->stream_failed = 1;
		tell_failure(watch, &answer, "watch");
	}
	mpijob__verdict_release(&verdict);
	return MPIJOB_ERR_CANCELLED;
}

static int take_event(void *user, const struct mpijob__split_object *event)
{
	mpijob__watch *watch = user;
	struct mpijob__watch_object object;
	int rc, kind;

	if (strcmp(event->type, "ERROR") == 0)
		return take_error(watch, event);
	watch->events = 1;
	kind = read_event(event->type);
	if (kind >= 0) {
		fill_object(&object, kind, event);
		rc = watch->config.object(watch->config.user, &object);
		if (rc)
			return rc;
	}
	/* Also a bookmark, and an event of a type that is not invented yet. */
	if (!*event->resource_version)
		return 0;
	return set_text(&watch->version, event->resource_version);
}

static int watch_data(void *user, const char *data, size_t len)
{
	mpijob__watch *watch = user;
	int rc = mpijob__split_feed(&watch->split, data, len, take_event, watch);

	if (rc == MPIJOB_ERR_SYNTAX)
		watch->stream_failed = 1;
	return rc;
}

static void watch_done(void *user, const struct mpijob_answer *answer)
{
	mpijob__watch *watch = user;
	int64_t lived = watch->config.clock() - watch->started_ms;
	int failed = watch->stream_failed;

	if (watch->gone || (answer->code && answer->status != 200 && expired(answer))) {
		watch->need_list = 1;
		watch->any_version = 1;
		/* A server that says so again and again must not be asked without a pause. */
		rest(watch, lived < SHORT_LIFE_MS && !watch->events, 0);
		return;
	}
	if (answer->code && !watch->stream_failed) {
		/* A stream that broke after it brought something is no worse than one that ended. */
		failed = answer->status != 200 || answer->code == MPIJOB_ERR_NOMEM || !watch->events;
		if (failed)
			tell_failure(watch, answer, "watch");
	} else if (!watch->stream_failed) {
		failed = lived < SHORT_LIFE_MS && !watch->events;
	} else if (answer->code == MPIJOB_ERR_SYNTAX) {
		tell_failure(watch, answer, "watch");
	}
	if (!failed)
		watch->told_code = 0;
	if (answer->code == MPIJOB_ERR_NOMEM)
		rest_short_of_memory(watch);
	else
		rest(watch, failed, answer->retry_after_ms);
}

static int start_watch(mpijob__watch *watch)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), watch_data, watch_done, watch };
	int seconds = WATCH_LEAST_S + (int)(roll(watch) % (WATCH_LEAST_S + 1));
	mpijob_text timeout = { 0 };
	const char *query[10];
	size_t count = 0;
	int rc = mpijob__text_printf(&timeout, "%d", seconds);

	if (rc)
		return rc;
	count = put_pair(query, count, "watch", "1");
	count = put_pair(query, count, "allowWatchBookmarks", "true");
	count = put_pair(query, count, "resourceVersion", mpijob_text_data(&watch->version));
	count = put_pair(query, count, "timeoutSeconds", mpijob_text_data(&timeout));
	if (watch->config.label_selector)
		count = put_pair(query, count, "labelSelector", watch->config.label_selector);
	rc = mpijob__split_init(&watch->split, MPIJOB__SPLIT_EVENTS, "", "", watch->config.object_limit);
	if (rc == 0)
		rc = start_call(watch, query, count, 1, &callbacks);
	mpijob__text_release(&timeout);
	if (rc) {
		mpijob__split_release(&watch->split);
		return rc;
	}
	watch->events = watch->gone = watch->stream_failed = 0;
	watch->state = WATCHING;
	watch->due_ms = watch->started_ms + (int64_t)seconds * 1000 + SILENCE_MS;
	return 0;
}

int mpijob__watch_step(mpijob__watch *watch)
{
	struct mpijob_answer answer = { 0 };
	int64_t now_ms = watch->config.clock();
	int rc;

	if (now_ms < watch->due_ms)
		return 0;
	if (watch->state == WATCHING) {
		/* The server should have ended this long ago; the connection is dead. */
		mpijob_call_cancel(watch->call);
		rest(watch, 0, 0);
	}
	if (watch->state != WAITING)
		return 0;
	watch->started_ms = now_ms;
	rc = watch->need_list ? start_list(watch) : start_watch(watch);
	if (rc == 0)
		return 0;
	answer.size = sizeof(answer);
	answer.code = rc;
	answer.message = mpijob_error_text(rc);
	tell_failure(watch, &answer, watch->need_list ? "list" : "watch");
	if (rc == MPIJOB_ERR_NOMEM) {
		rest_short_of_memory(watch);
		return rc;
	}
	rest(watch, 1, 0);
	return 0;
}

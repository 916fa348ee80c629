/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: how store events become the ADDED, MODIFIED, DELETED, BOOKMARK and ERROR events of one
 * client. A watch has no queue, only a cursor in the history of its collection. If a client is
 * paused until its cursor is trimmed, it gets ERROR with 410 and must list again. An object whose
 * labels change so that it begins or ceases to match the selector is reported as ADDED or DELETED.
 */
#include "local/watches.h"
#include "base/api.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BOOKMARK_MS 60000

struct mpijob__local_watch {
	struct mpijob__local_stream stream; /* first */
	struct mpijob__base_list link;
	struct mpijob_local *local;
	struct mpijob__local_call *call;
	const struct mpijob__local_kind *kind;
	struct mpijob__local_selector selector;
	struct mpijob__local_revision **initial;
	size_t initial_count;
	size_t initial_at;
	int mark_initial;
	uint64_t since;
	uint64_t cursor; /* sequence number in the history of the collection */
	int bookmarks;
	int64_t end_ms;
	int64_t bookmark_ms;
};

static struct mpijob__local_collection *collection_of(const struct mpijob__local_watch *watch)
{
	return &watch->local->store.collections[watch->kind->id];
}

static int send_text(struct mpijob__local_watch *watch, struct mpijob__local_call *call,
    const char *text)
{
	return mpijob__local_send_data(watch->local, call, text, strlen(text));
}

static int send_event(struct mpijob__local_watch *watch, struct mpijob__local_call *call,
    const char *type, const char *object, size_t len)
{
	struct mpijob_local *local = watch->local;
	char *head = mpijob__base_text_format("{\"type\":\"%s\",\"object\":", type);
	int ended;

	if (!head)
		return MPIJOB_ERR_NOMEM;
	ended = mpijob__local_send_data(local, call, head, strlen(head)) ||
		mpijob__local_send_data(local, call, object, len) ||
		mpijob__local_send_data(local, call, "}\n", 2);
	free(head);
	return ended ? 2 : 1;
}

static int send_revision(struct mpijob__local_watch *watch, struct mpijob__local_call *call,
    const char *type, struct mpijob__local_revision *revision)
{
	int result;

	mpijob__local_store_revision_ref(revision);
	result = send_event(watch, call, type, mpijob_text_data(revision->text),
	    mpijob_text_len(revision->text));
	mpijob__local_store_revision_unref(revision);
	return result;
}

/* Report an object that ceased to match as DELETED. As in Kubernetes, the event contains the last
 * version that matched, with the resourceVersion of the change. */
static int send_deselected(struct mpijob__local_watch *watch, struct mpijob__local_call *call,
    const struct mpijob__local_store_event *store_event)
{
	const char *text = mpijob_text_data(store_event->before->text);
	char *old = mpijob__base_text_format("\"resourceVersion\":\"%llu\"",
	    (unsigned long long)store_event->before->version);
	const char *at = old ? strstr(text, old) : NULL;
	char *object = NULL;
	int result = MPIJOB_ERR_NOMEM;

	if (at)
		object =
		    mpijob__base_text_format("%.*s\"resourceVersion\":\"%llu\"%s", (int)(at - text),
			text, (unsigned long long)store_event->now->version, at + strlen(old));
	if (object)
		result = send_event(watch, call, "DELETED", object, strlen(object));
	free(object);
	free(old);
	return result;
}

/* 1: sent; 0: the selector does not match; 2: the call was cancelled. */
static int send_change(struct mpijob__local_watch *watch, struct mpijob__local_call *call,
    const struct mpijob__local_store_event *store_event)
{
	int was = store_event->before &&
		  mpijob__local_selector_matches(&watch->selector, store_event->before);
	int is = store_event->change != MPIJOB__LOCAL_CHANGE_DELETED &&
		 mpijob__local_selector_matches(&watch->selector, store_event->now);

	if (is)
		return send_revision(watch, call, was ? "MODIFIED" : "ADDED", store_event->now);
	if (!was)
		return 0;
	if (store_event->change == MPIJOB__LOCAL_CHANGE_DELETED)
		return send_revision(watch, call, "DELETED", store_event->now);
	return send_deselected(watch, call, store_event);
}

static int send_bookmark(struct mpijob__local_watch *watch, struct mpijob__local_call *call,
    int end_of_initial)
{
	char *object = mpijob__base_text_format(
	    "{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",\"metadata\":{\"resourceVersion\":\"%llu\","
	    "\"creationTimestamp\":null%s}}",
	    watch->kind->name, watch->kind->group, *watch->kind->group ? "/" : "",
	    watch->kind->version, (unsigned long long)watch->local->store.version,
	    end_of_initial ? ",\"annotations\":{\"" MPIJOB__BASE_API_LIST_END "\":\"true\"}" : "");
	int result = MPIJOB_ERR_NOMEM;

	if (object)
		result = send_event(watch, call, "BOOKMARK", object, strlen(object));
	free(object);
	return result;
}

static int send_expired(struct mpijob__local_watch *watch, struct mpijob__local_call *call)
{
	mpijob_text *status =
	    mpijob__local_reply_expired(watch->since, collection_of(watch)->trimmed_version);
	int result = MPIJOB_ERR_NOMEM;

	if (status && send_text(watch, call, "{\"type\":\"ERROR\",\"object\":") == 0 &&
	    mpijob__local_send_data(watch->local, call, mpijob_text_data(status),
		mpijob_text_len(status)) == 0)
		send_text(watch, call, "}\n");
	if (status)
		result = 2;
	mpijob_text_free(status);
	return result;
}

static int feed_initial(struct mpijob__local_watch *watch, struct mpijob__local_call *call)
{
	if (watch->initial_at < watch->initial_count)
		return send_revision(watch, call, "ADDED", watch->initial[watch->initial_at++]);
	watch->mark_initial = 0;
	return send_bookmark(watch, call, 1);
}

static int feed_history(struct mpijob__local_watch *watch, struct mpijob__local_call *call)
{
	struct mpijob__local_collection *collection = collection_of(watch);
	const struct mpijob__local_store_event *store_event =
	    &collection->history[watch->cursor - collection->history_base];
	int result = 0;

	watch->cursor++;
	if (store_event->now->version > watch->since) {
		watch->since = store_event->now->version;
		result = send_change(watch, call, store_event);
	}
	return result == 0 ? 1 : result;
}

static int feed(struct mpijob__local_stream *stream, struct mpijob__local_call *call)
{
	struct mpijob__local_watch *watch = (struct mpijob__local_watch *)stream;
	struct mpijob__local_collection *collection = collection_of(watch);
	int64_t now = mpijob__base_clock_monotonic_ms();

	if (watch->initial_at < watch->initial_count || watch->mark_initial)
		return feed_initial(watch, call);
	if (watch->cursor < collection->history_base)
		return send_expired(watch, call);
	if (watch->cursor < collection->history_base + collection->history_count)
		return feed_history(watch, call);
	if (now >= watch->end_ms) {
		if (watch->bookmarks && send_bookmark(watch, call, 0) < 0)
			return MPIJOB_ERR_NOMEM;
		return 2;
	}
	if (watch->bookmarks && now >= watch->bookmark_ms) {
		watch->bookmark_ms = now + BOOKMARK_MS;
		return send_bookmark(watch, call, 0);
	}
	return 0;
}

static void close_watch(struct mpijob__local_stream *stream)
{
	struct mpijob__local_watch *watch = (struct mpijob__local_watch *)stream;

	mpijob__base_list_remove(&watch->link);
	for (size_t i = 0; i < watch->initial_count; i++)
		mpijob__local_store_revision_unref(watch->initial[i]);
	free(watch->initial);
	mpijob__local_selector_clear(&watch->selector);
	free(watch);
}

static int collect_initial(struct mpijob__local_watch *watch)
{
	struct mpijob__local_collection *collection = collection_of(watch);

	watch->cursor = collection->history_base + collection->history_count;
	watch->since = watch->local->store.version;
	if (collection->names.count == 0)
		return 0;
	watch->initial = calloc(collection->names.count, sizeof(*watch->initial));
	if (!watch->initial)
		return MPIJOB_ERR_NOMEM;
	for (struct mpijob__local_object *object =
		 mpijob__local_store_first(&watch->local->store, watch->kind->id);
	     object; object = mpijob__local_store_next(object)) {
		if (!mpijob__local_selector_matches(&watch->selector, object->now))
			continue;
		mpijob__local_store_revision_ref(object->now);
		watch->initial[watch->initial_count++] = object->now;
	}
	return 0;
}

/* Find the cursor of a resourceVersion. One that is no longer in the history gets a cursor before
 * it, for which feed() sends 410. */
static void find_cursor(struct mpijob__local_watch *watch)
{
	struct mpijob__local_collection *collection = collection_of(watch);
	size_t at = 0;

	if (watch->since < collection->trimmed_version) {
		watch->cursor = collection->history_base - 1;
		return;
	}
	while (
	    at < collection->history_count && collection->history[at].now->version <= watch->since)
		at++;
	watch->cursor = collection->history_base + at;
}

int mpijob__local_watches_open(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_watch_options *options, struct mpijob__local_stream **out)
{
	struct mpijob__local_watch *watch = calloc(1, sizeof(*watch));
	int64_t now = mpijob__base_clock_monotonic_ms();
	int rc = 0;

	if (!watch) {
		mpijob__local_selector_clear(&options->selector);
		return MPIJOB_ERR_NOMEM;
	}
	watch->stream = (struct mpijob__local_stream){ feed, close_watch };
	watch->local = local;
	watch->call = call;
	watch->kind = options->kind;
	watch->selector = options->selector;
	watch->since = options->since;
	watch->bookmarks = options->bookmarks;
	watch->mark_initial = options->initial_events;
	watch->end_ms = now + options->timeout_ms;
	watch->bookmark_ms = now + BOOKMARK_MS;
	mpijob__base_list_insert(local->watches[options->kind->id].next, &watch->link, watch);
	if (options->from_now)
		rc = collect_initial(watch);
	else
		find_cursor(watch);
	if (rc)
		close_watch(&watch->stream);
	else
		*out = &watch->stream;
	return rc;
}

void mpijob__local_watches_changed(struct mpijob_local *local, enum mpijob__local_kind_id kind)
{
	const struct mpijob__base_list *head = &local->watches[kind];

	for (struct mpijob__base_list *link = head->next; link->owner; link = link->next)
		mpijob__local_mark_ready(local, ((struct mpijob__local_watch *)link->owner)->call);
}

int64_t mpijob__local_watches_run_due(struct mpijob_local *local, int64_t clock_ms)
{
	int64_t next = -1;

	for (size_t kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		const struct mpijob__base_list *head = &local->watches[kind];

		for (struct mpijob__base_list *link = head->next; link->owner; link = link->next) {
			struct mpijob__local_watch *watch = link->owner;
			int64_t due =
			    watch->bookmarks
				? mpijob__base_clock_earlier(watch->bookmark_ms, watch->end_ms)
				: watch->end_ms;

			if (watch->call->paused)
				continue;
			if (due <= clock_ms)
				mpijob__local_mark_ready(local, watch->call);
			else
				next = mpijob__base_clock_earlier(next, due);
		}
	}
	return next;
}

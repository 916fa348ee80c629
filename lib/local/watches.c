/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: how what happened in the store becomes ADDED, MODIFIED, DELETED, BOOKMARK and ERROR
 * events of one watcher. A watch holds no queue, only its place in the shared history; a watcher
 * that was paused for so long that its place is gone is told 410 and has to list again. An object
 * whose labels change enters or leaves a selection as if it were made or deleted.
 */
#include "watches.h"
#include "base/api.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BOOKMARK_MS 60000

struct watch {
	struct stream stream; /* first */
	struct mpijob__base_list link;
	struct mpijob_local *local;
	struct call *call;
	const struct kind *kind;
	struct selector selector;
	struct revision **initial;
	size_t initial_count;
	size_t initial_at;
	int mark_initial;
	uint64_t since;
	uint64_t cursor; /* sequence number in the shelf's history */
	int bookmarks;
	int64_t end_ms;
	int64_t bookmark_ms;
};

static struct shelf *shelf_of(const struct watch *watch)
{
	return &watch->local->store.shelves[watch->kind->id];
}

static int tell_text(struct watch *watch, struct call *call, const char *text)
{
	return mpijob__local_tell(watch->local, call, text, strlen(text));
}

static int tell_event(struct watch *watch, struct call *call, const char *type, const char *object,
    size_t len)
{
	struct mpijob_local *local = watch->local;
	char *head = mpijob__base_text_format("{\"type\":\"%s\",\"object\":", type);
	int ended;

	if (!head)
		return MPIJOB_ERR_NOMEM;
	ended = mpijob__local_tell(local, call, head, strlen(head)) ||
		mpijob__local_tell(local, call, object, len) ||
		mpijob__local_tell(local, call, "}\n", 2);
	free(head);
	return ended ? 2 : 1;
}

static int tell_revision(struct watch *watch, struct call *call, const char *type,
    struct revision *revision)
{
	int result;

	mpijob__local_store_revision_hold(revision);
	result = tell_event(watch, call, type, mpijob_text_data(revision->text),
	    mpijob_text_len(revision->text));
	mpijob__local_store_revision_drop(revision);
	return result;
}

/* What left a selection is told as it was while it belonged to it, but with the version of the
 * change. */
static int tell_left(struct watch *watch, struct call *call, const struct happening *happening)
{
	const char *text = mpijob_text_data(happening->before->text);
	char *old = mpijob__base_text_format("\"resourceVersion\":\"%llu\"",
	    (unsigned long long)happening->before->version);
	const char *at = old ? strstr(text, old) : NULL;
	char *object = NULL;
	int result = MPIJOB_ERR_NOMEM;

	if (at)
		object =
		    mpijob__base_text_format("%.*s\"resourceVersion\":\"%llu\"%s", (int)(at - text),
			text, (unsigned long long)happening->now->version, at + strlen(old));
	if (object)
		result = tell_event(watch, call, "DELETED", object, strlen(object));
	free(object);
	free(old);
	return result;
}

/* 1: told, 0: not for this watcher, 2: over. */
static int tell_happening(struct watch *watch, struct call *call, const struct happening *happening)
{
	int was = happening->before &&
		  mpijob__local_selector_matches(&watch->selector, happening->before);
	int is = happening->change != CHANGE_DELETED &&
		 mpijob__local_selector_matches(&watch->selector, happening->now);

	if (is)
		return tell_revision(watch, call, was ? "MODIFIED" : "ADDED", happening->now);
	if (!was)
		return 0;
	if (happening->change == CHANGE_DELETED)
		return tell_revision(watch, call, "DELETED", happening->now);
	return tell_left(watch, call, happening);
}

static int tell_bookmark(struct watch *watch, struct call *call, int end_of_initial)
{
	char *object = mpijob__base_text_format(
	    "{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",\"metadata\":{\"resourceVersion\":\"%llu\","
	    "\"creationTimestamp\":null%s}}",
	    watch->kind->name, watch->kind->group, *watch->kind->group ? "/" : "",
	    watch->kind->version, (unsigned long long)watch->local->store.version,
	    end_of_initial ? ",\"annotations\":{\"" MPIJOB__BASE_API_LIST_END "\":\"true\"}" : "");
	int result = MPIJOB_ERR_NOMEM;

	if (object)
		result = tell_event(watch, call, "BOOKMARK", object, strlen(object));
	free(object);
	return result;
}

static int tell_expired(struct watch *watch, struct call *call)
{
	mpijob_text *status = mpijob__local_reply_expired(watch->since, shelf_of(watch)->forgotten);
	int result = MPIJOB_ERR_NOMEM;

	if (status && tell_text(watch, call, "{\"type\":\"ERROR\",\"object\":") == 0 &&
	    mpijob__local_tell(watch->local, call, mpijob_text_data(status),
		mpijob_text_len(status)) == 0)
		tell_text(watch, call, "}\n");
	if (status)
		result = 2;
	mpijob_text_free(status);
	return result;
}

static int feed_initial(struct watch *watch, struct call *call)
{
	if (watch->initial_at < watch->initial_count)
		return tell_revision(watch, call, "ADDED", watch->initial[watch->initial_at++]);
	watch->mark_initial = 0;
	return tell_bookmark(watch, call, 1);
}

static int feed_history(struct watch *watch, struct call *call)
{
	struct shelf *shelf = shelf_of(watch);
	const struct happening *happening = &shelf->history[watch->cursor - shelf->history_base];
	int result = 0;

	watch->cursor++;
	if (happening->now->version > watch->since) {
		watch->since = happening->now->version;
		result = tell_happening(watch, call, happening);
	}
	return result == 0 ? 1 : result;
}

static int feed(struct stream *stream, struct call *call)
{
	struct watch *watch = (struct watch *)stream;
	struct shelf *shelf = shelf_of(watch);
	int64_t now = mpijob__base_clock_monotonic_ms();

	if (watch->initial_at < watch->initial_count || watch->mark_initial)
		return feed_initial(watch, call);
	if (watch->cursor < shelf->history_base)
		return tell_expired(watch, call);
	if (watch->cursor < shelf->history_base + shelf->history_count)
		return feed_history(watch, call);
	if (now >= watch->end_ms) {
		if (watch->bookmarks && tell_bookmark(watch, call, 0) < 0)
			return MPIJOB_ERR_NOMEM;
		return 2;
	}
	if (watch->bookmarks && now >= watch->bookmark_ms) {
		watch->bookmark_ms = now + BOOKMARK_MS;
		return tell_bookmark(watch, call, 0);
	}
	return 0;
}

static void close_watch(struct stream *stream)
{
	struct watch *watch = (struct watch *)stream;

	mpijob__base_list_remove(&watch->link);
	for (size_t i = 0; i < watch->initial_count; i++)
		mpijob__local_store_revision_drop(watch->initial[i]);
	free(watch->initial);
	mpijob__local_selector_clear(&watch->selector);
	free(watch);
}

static int collect_initial(struct watch *watch)
{
	struct shelf *shelf = shelf_of(watch);

	watch->cursor = shelf->history_base + shelf->history_count;
	watch->since = watch->local->store.version;
	if (shelf->count == 0)
		return 0;
	watch->initial = calloc(shelf->count, sizeof(*watch->initial));
	if (!watch->initial)
		return MPIJOB_ERR_NOMEM;
	for (struct object *object = shelf->first; object; object = object->next) {
		if (!mpijob__local_selector_matches(&watch->selector, object->now))
			continue;
		mpijob__local_store_revision_hold(object->now);
		watch->initial[watch->initial_count++] = object->now;
	}
	return 0;
}

/* A version that is forgotten gets a place before the history, which the first feeding notices. */
static void find_place(struct watch *watch)
{
	struct shelf *shelf = shelf_of(watch);
	size_t at = 0;

	if (watch->since < shelf->forgotten) {
		watch->cursor = shelf->history_base - 1;
		return;
	}
	while (at < shelf->history_count && shelf->history[at].now->version <= watch->since)
		at++;
	watch->cursor = shelf->history_base + at;
}

int mpijob__local_watches_open(struct mpijob_local *local, struct call *call,
    struct watch_options *options, struct stream **out)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int64_t now = mpijob__base_clock_monotonic_ms();
	int error = 0;

	if (!watch) {
		mpijob__local_selector_clear(&options->selector);
		return MPIJOB_ERR_NOMEM;
	}
	watch->stream = (struct stream){ feed, close_watch };
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
		error = collect_initial(watch);
	else
		find_place(watch);
	if (error)
		close_watch(&watch->stream);
	else
		*out = &watch->stream;
	return error;
}

void mpijob__local_watches_changed(struct mpijob_local *local, enum kind_id kind)
{
	const struct mpijob__base_list *head = &local->watches[kind];

	for (struct mpijob__base_list *link = head->next; link->owner; link = link->next)
		mpijob__local_ready(local, ((struct watch *)link->owner)->call);
}

int64_t mpijob__local_watches_tick(struct mpijob_local *local, int64_t clock_ms)
{
	int64_t next = -1;

	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		const struct mpijob__base_list *head = &local->watches[kind];

		for (struct mpijob__base_list *link = head->next; link->owner; link = link->next) {
			struct watch *watch = link->owner;
			int64_t due = watch->bookmarks
					  ? mpijob__local_sooner(watch->bookmark_ms, watch->end_ms)
					  : watch->end_ms;

			if (watch->call->paused)
				continue;
			if (due <= clock_ms)
				mpijob__local_ready(local, watch->call);
			else
				next = mpijob__local_sooner(next, due);
		}
	}
	return next;
}

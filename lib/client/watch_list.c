/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a watch: which version it asks for, in which pages, and what it does when either has
 * expired.
 *
 * The first list may come from a cache ("0"); later ones must not be older than what was received.
 * The watch asks for pages only where the server does not answer from its cache anyway. An expired
 * token leads to one unpaged list of the same version, an expired version to one list of the newest
 * version, both without back-off. Bytes are cut into objects as they arrive, so a list costs the
 * memory of its largest object.
 */
#include "client/watch_list.h"

#include "client/client.h"

#include <string.h>

#define PAGE "500"

static int take_item(void *user, const struct mpijob__base_split_object *item)
{
	mpijob_watch *watch = user;

	mpijob__client_watch_begin_list(watch);
	if (mpijob__client_watch_is_over(watch))
		return MPIJOB_ERR_CANCELLED;
	return mpijob__client_watch_report_object(watch, MPIJOB_WATCH_LISTED, item, "list");
}

static int list_data(void *user, const char *data, size_t len)
{
	mpijob_watch *watch = user;
	int rc;

	mpijob__client_watch_callback_begin(watch);
	rc = mpijob__base_split_feed(&watch->split, data, len, take_item, watch);
	mpijob__client_watch_callback_end(watch);
	return rc;
}

/* Read the list's metadata: all except the items. */
static int end_page(mpijob_watch *watch)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	int from_cache = !watch->list.newest && watch->version.len == 0;
	mpijob_doc *doc = NULL;
	const char *version, *next;
	int rc;

	if (!mpijob__base_split_complete(&watch->split))
		return MPIJOB_ERR_IO;
	options.format = MPIJOB_FORMAT_JSON;
	rc = mpijob_doc_parse(mpijob_text_data(&watch->split.outer), watch->split.outer.len,
	    &options, &doc, NULL);
	if (rc)
		return rc;
	version =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.resourceVersion"));
	next = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.continue"));
	rc = version ? mpijob__client_watch_set_text(&watch->list.page, next ? next : "")
		     : MPIJOB_ERR_SYNTAX;
	if (rc == 0) {
		watch->list.pages++;
		if (watch->list.page.len == 0) {
			/* The answer to "0" has pages only where there is no cache. */
			if (from_cache && watch->list.pages > 1)
				watch->server.pages_from_cache = 1;
			rc = mpijob__client_watch_complete_list(watch, version);
		}
	}
	mpijob_doc_free(doc);
	return rc;
}

/* 1 when the request was changed so that it can succeed. */
static int change_request(mpijob_watch *watch, const struct mpijob_answer *answer)
{
	if (mpijob__client_watch_expired(answer) && watch->list.page.len && !watch->list.whole)
		return watch->list.whole = 1;
	if ((mpijob__client_watch_expired(answer) || mpijob__client_watch_too_large(answer)) &&
	    !watch->list.newest)
		return watch->list.newest = 1;
	if (answer->status == 501 && !watch->client->whole_lists)
		return watch->client->whole_lists = 1;
	return 0;
}

static void fail(mpijob_watch *watch, const struct mpijob_answer *answer, int code)
{
	struct mpijob_answer failure = *answer;
	int again = answer->code && change_request(watch, answer);

	mpijob_text_clear(&watch->list.page);
	watch->list.begun = 0;
	if (again) {
		mpijob__client_watch_continue(watch);
		return;
	}
	if (answer->code == 0) {
		failure.code = code;
		failure.message =
		    code == MPIJOB_ERR_IO ? "the list broke off" : mpijob_error_text(code);
	}
	mpijob__client_watch_report_failure(watch, &failure, "list");
	if (code == MPIJOB_ERR_NOMEM)
		mpijob__client_watch_wait_for_memory(watch);
	else
		mpijob__client_watch_back_off(watch, answer->retry_after_ms);
}

static void list_done(void *user, const struct mpijob_answer *answer)
{
	mpijob_watch *watch = user;
	int code = answer->code;

	mpijob__client_watch_callback_begin(watch);
	watch->call = NULL;
	if (code == 0)
		code = end_page(watch);
	if (mpijob__client_watch_is_over(watch)) {
		mpijob__client_watch_callback_end(watch);
		return;
	}
	if (code) {
		fail(watch, answer, code);
	} else {
		mpijob__client_watch_mark_healthy(watch);
		mpijob__client_watch_continue(watch);
	}
	mpijob__client_watch_callback_end(watch);
}

static size_t make_query(const mpijob_watch *watch, const char **query)
{
	const char *version = watch->list.newest   ? ""
			      : watch->version.len ? watch->version.data
						   : "0";
	int in_cache = *version && strcmp(version, "0") != 0;
	size_t count = 0;

	if (!watch->list.whole && !watch->client->whole_lists &&
	    (!in_cache || watch->server.pages_from_cache || watch->list.page.len))
		count = mpijob__client_watch_add_query(query, count, "limit", PAGE);
	if (watch->list.page.len)
		return mpijob__client_watch_add_query(query, count, "continue",
		    watch->list.page.data);
	return *version ? mpijob__client_watch_add_query(query, count, "resourceVersion", version)
			: count;
}

int mpijob__client_watch_start_list(mpijob_watch *watch)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), list_data, list_done, watch };
	const char *query[4];
	size_t count = make_query(watch, query);
	int rc;

	if (watch->list.page.len == 0)
		watch->list.pages = 0;
	rc = mpijob__base_split_init(&watch->split, MPIJOB__BASE_SPLIT_LIST,
	    watch->options.api_version, watch->options.kind, watch->options.object_limit);
	if (rc == 0)
		rc = mpijob__client_watch_send(watch, query, count, 0, &callbacks);
	if (rc) {
		mpijob__base_split_release(&watch->split);
		return rc;
	}
	mpijob__client_watch_enter(watch, MPIJOB__CLIENT_WATCH_LISTING, INT64_MAX);
	return 0;
}

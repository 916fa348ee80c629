/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole collection as one document, in any number of pages.
 *
 * Only the continue token says whether there is more. It implies the version, so the query does not
 * repeat that. When the token has expired, the list starts again, without pages: pages of two
 * versions together would be a state that never existed. The items are kept as text and parsed
 * once, at the end, with the apiVersion and kind that servers omit in them.
 */
#include "core/diag.h"
#include "base/struct.h"
#include "client/request.h"
#include "base/split.h"
#include "client/task.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 500

struct listing {
	mpijob_task task;
	struct mpijob_target target; /* the task owns the strings */
	mpijob_text limit;
	struct mpijob__base_split split;
	mpijob_text items; /* of all pages, with commas between them */
	mpijob_text next;  /* continue token */
	mpijob_doc *outer; /* the first page without its items */
	int whole;         /* do not ask for pages */
};

static int take_item(void *user, const struct mpijob__base_split_object *item)
{
	struct listing *listing = user;

	if (!item->json)
		return MPIJOB_ERR_SYNTAX;
	if (listing->items.len && mpijob_text_write(&listing->items, ",", 1))
		return MPIJOB_ERR_NOMEM;
	return mpijob_text_write(&listing->items, item->json, item->len);
}

static int page_data(void *user, const char *data, size_t len)
{
	struct listing *listing = user;

	return mpijob__base_split_feed(&listing->split, data, len, take_item, listing);
}

/* Read the list's metadata: all except the items. */
static int end_page(struct listing *listing)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	const char *next;
	int rc;

	if (!mpijob__base_split_complete(&listing->split))
		return MPIJOB_ERR_SYNTAX;
	options.format = MPIJOB_FORMAT_JSON;
	options.source = "answer of the server";
	rc = mpijob_doc_parse(mpijob_text_data(&listing->split.outer), listing->split.outer.len,
	    &options, &doc, listing->task.diag);
	if (rc)
		return rc;
	next = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.continue"));
	if (next && *next && strcmp(next, mpijob_text_data(&listing->next)) == 0) {
		mpijob_doc_free(doc);
		return mpijob__core_diag_addf(listing->task.diag, MPIJOB_SEVERITY_ERROR,
			   "request-failed", NULL, NULL, NULL,
			   "the server gives the same page again and again")
			   ? MPIJOB_ERR_NOMEM
			   : MPIJOB_ERR_SYNTAX;
	}
	mpijob_text_clear(&listing->next);
	rc = next ? mpijob__base_text_puts(&listing->next, next) : 0;
	if (listing->outer) {
		mpijob_doc_free(doc);
		return rc;
	}
	listing->outer = doc;
	return rc;
}

/* Start again: the token has expired, or the server does not support pages. */
static int change_request(struct listing *listing, int32_t status)
{
	if (listing->whole || !((status == 410 && listing->next.len) || status == 501))
		return 0;
	listing->task.client->whole_lists |= status == 501;
	listing->whole = 1;
	return 1;
}

static int is_ours(const char *name)
{
	return strcmp(name, "limit") == 0 || strcmp(name, "continue") == 0;
}

static int is_version(const char *name)
{
	return strcmp(name, "resourceVersion") == 0 || strcmp(name, "resourceVersionMatch") == 0;
}

/* The caller's query without our parameters, and without those that the token implies. `query` has
 * room. */
static size_t make_query(const struct listing *listing, const char *limit, const char **query)
{
	const struct mpijob_target *target = &listing->target;
	size_t count = 0;

	for (size_t i = 0; i + 1 < target->query_count; i += 2) {
		if (!target->query[i] || is_ours(target->query[i]) ||
		    (listing->next.len && is_version(target->query[i])))
			continue;
		query[count++] = target->query[i];
		query[count++] = target->query[i + 1];
	}
	if (!listing->whole) {
		query[count++] = "limit";
		query[count++] = limit;
	}
	if (listing->next.len) {
		query[count++] = "continue";
		query[count++] = listing->next.data;
	}
	return count;
}

static void page_done(void *user, const struct mpijob_answer *answer);

static int start_page(struct listing *listing)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), page_data, page_done, listing };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_target target = listing->target;
	const char **query = calloc(target.query_count + 4, sizeof(*query));
	int rc;

	if (!query)
		return MPIJOB_ERR_NOMEM;
	target.query_count = make_query(listing, mpijob_text_data(&listing->limit), query);
	target.query = query;
	request.method = "GET";
	request.target = &target;
	rc = mpijob_client_start(listing->task.client, &request, &callbacks, &listing->task.call);
	free(query);
	return rc;
}

static int request_page(struct listing *listing)
{
	int rc;

	mpijob__base_split_release(&listing->split);
	rc = mpijob__base_split_init(&listing->split, MPIJOB__BASE_SPLIT_LIST,
	    listing->target.api_version, listing->target.kind, MPIJOB__CLIENT_BODY_LIMIT);
	if (rc == 0)
		rc = start_page(listing);
	return rc ? rc : MPIJOB__CLIENT_TASK_WAITS;
}

static void restart(struct listing *listing)
{
	mpijob__base_text_release(&listing->items);
	mpijob_text_clear(&listing->next);
	mpijob_doc_free(listing->outer);
	listing->outer = NULL;
}

/* The first page without its items, as text that lacks the closing brace. */
static int write_outer(struct listing *listing, mpijob_text *text)
{
	mpijob_node *root = mpijob_doc_edit(listing->outer, "");
	mpijob_node *metadata = mpijob_node_edit(root, "metadata");
	int rc;

	mpijob_node_remove(root, "items");
	mpijob_node_remove(metadata, "continue");
	mpijob_node_remove(metadata, "remainingItemCount");
	if (!mpijob_node_get(root, "kind"))
		mpijob_node_put_string(listing->outer, root, "kind", "List");
	if (!mpijob_node_get(root, "apiVersion"))
		mpijob_node_put_string(listing->outer, root, "apiVersion", "v1");
	rc = mpijob_doc_error(listing->outer);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, text);
	if (rc == 0)
		text->data[--text->len] = 0;
	return rc;
}

static int assemble(struct listing *listing, mpijob_doc **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_text text = { 0 };
	int rc = write_outer(listing, &text);

	if (rc == 0)
		rc = mpijob__base_text_puts(&text, ",\"items\":[");
	if (rc == 0)
		rc =
		    mpijob_text_write(&text, mpijob_text_data(&listing->items), listing->items.len);
	mpijob__base_text_release(&listing->items);
	if (rc == 0)
		rc = mpijob__base_text_puts(&text, "]}");
	if (rc == 0) {
		options.format = MPIJOB_FORMAT_JSON;
		options.source = "answer of the server";
		options.max_bytes = text.len + 1;
		options.max_values = text.len + 1;
		rc = mpijob_doc_parse(text.data, text.len, &options, out, listing->task.diag);
	}
	mpijob__base_text_release(&text);
	return rc;
}

static int go_on(struct listing *listing, const mpijob_call *call,
    const struct mpijob_answer *answer)
{
	mpijob_task *task = &listing->task;
	int rc;

	if (answer->code && change_request(listing, answer->status)) {
		restart(listing);
		return request_page(listing);
	}
	rc = mpijob__client_request_report(call, answer, task->diag);
	if (rc)
		return rc;
	rc = end_page(listing);
	if (rc == MPIJOB_ERR_SYNTAX && mpijob_diag_count(task->diag, 0) == 0)
		mpijob__core_diag_addf(task->diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL,
		    NULL, NULL, "the answer is not a complete list");
	if (rc)
		return rc;
	return listing->next.len ? request_page(listing) : assemble(listing, &task->doc);
}

static void page_done(void *user, const struct mpijob_answer *answer)
{
	struct listing *listing = user;
	mpijob_call *call = listing->task.call;
	int rc;

	listing->task.call = NULL;
	rc = go_on(listing, call, answer);
	if (rc != MPIJOB__CLIENT_TASK_WAITS)
		mpijob__client_task_finish(&listing->task, rc);
}

static void release(mpijob_task *task)
{
	struct listing *listing = (struct listing *)task;

	mpijob__base_split_release(&listing->split);
	mpijob__base_text_release(&listing->limit);
	mpijob__base_text_release(&listing->items);
	mpijob__base_text_release(&listing->next);
	mpijob_doc_free(listing->outer);
}

static int begin(struct listing *listing, const struct mpijob_target *target, int32_t page)
{
	int rc = mpijob__client_task_copy_target(&listing->task, target, &listing->target);

	if (rc == 0)
		rc = mpijob__base_text_printf(&listing->limit, "%d", page ? (int)page : PAGE);
	listing->whole = listing->task.client->whole_lists;
	return rc ? rc : request_page(listing);
}

static int check(const struct mpijob_target *target, int32_t page)
{
	struct mpijob_target known;
	int rc = target && page >= 0 ? mpijob__base_struct_check(&known, sizeof(known), target)
				     : MPIJOB_ERR_USAGE;

	if (rc == 0 && (!known.api_version || !known.kind || known.name || known.query_count % 2 ||
			   (known.query_count && !known.query)))
		rc = MPIJOB_ERR_USAGE;
	return rc;
}

int mpijob_client_list_start(mpijob_client *client, const struct mpijob_target *target,
    int32_t page, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = client ? check(target, page) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__client_task_new(sizeof(struct listing), client, callbacks, out, diag,
		    &task);
	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	task->release = release;
	task->findings = diag;
	return mpijob__client_task_started(task, begin((struct listing *)task, target, page));
}

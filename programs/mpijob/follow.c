/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a watch is kept alive from the client's side: lines to documents, the version to resume
 * from, and what to do when it ends or is told that the version is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define PAUSE_MS 500 /* between the end of a watch and the next try */

static void take_version(struct follow *follow, const mpijob_node *object)
{
	const char *version = mpijob_node_string(mpijob_node_find(object, "metadata.resourceVersion"));

	if (version && strlen(version) < sizeof(follow->version))
		strcpy(follow->version, version);
}

static int take_event(struct follow *follow, const mpijob_node *event)
{
	const char *type = mpijob_node_string(mpijob_node_get(event, "type"));
	const mpijob_node *object = mpijob_node_get(event, "object");

	if (!type || !object)
		return MPIJOB_ERR_SYNTAX;
	if (strcmp(type, "ERROR") == 0) {
		/* The version is gone: begin anew. */
		follow->version[0] = '\0';
		return MPIJOB_ERR_SERVER;
	}
	take_version(follow, object);
	if (strcmp(type, "BOOKMARK") != 0)
		follow->changed(follow->user, object, strcmp(type, "DELETED") == 0);
	return 0;
}

static int take_line(struct follow *follow, const char *text, size_t len)
{
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(text, len, NULL, &doc, NULL);

	if (code == 0)
		code = take_event(follow, mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	return code;
}

static int on_data(void *user, const char *data, size_t len)
{
	struct follow *follow = user;
	int code = 0;

	while (len > 0 && code == 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) : len;
		code = mpijob_text_write(follow->line, data, part);
		if (end && code == 0) {
			code = take_line(follow, mpijob_text_data(follow->line), mpijob_text_len(follow->line));
			mpijob_text_clear(follow->line);
			part++;
		}
		data += part;
		len -= part;
	}
	return code;
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	struct follow *follow = user;

	follow->call = NULL;
	mpijob_text_clear(follow->line);
	if (answer->status == 410)
		follow->version[0] = '\0';
	else if (answer->code == MPIJOB_ERR_AUTH || answer->code == MPIJOB_ERR_NOT_FOUND ||
		 answer->code == MPIJOB_ERR_NOMEM || answer->code == MPIJOB_ERR_UNSUPPORTED)
		follow->code = answer->code;
	follow->again_ms = -1;
}

static int begin(struct follow *follow)
{
	const char *query[] = { "watch", "true", follow->selector_name, follow->selector, "resourceVersion",
				follow->version };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	mpijob_text *path = mpijob_text_new();

	target.api_version = follow->api_version;
	target.kind = follow->kind;
	target.namespace_ = follow->namespace_;
	target.query = query;
	target.query_count = follow->version[0] ? 6 : 4;
	int code = path ? mpijob_target_write(&target, mpijob_text_write, path) : MPIJOB_ERR_NOMEM;
	if (code == 0) {
		request.method = "GET";
		request.path = mpijob_text_data(path);
		request.streaming = 1;
		callbacks.data = on_data;
		callbacks.done = on_done;
		callbacks.user = follow;
		code = mpijob_client_start(follow->client, &request, &callbacks, &follow->call);
	}
	mpijob_text_free(path);
	return code;
}

int follow_keep(struct follow *follow, int64_t now_ms)
{
	if (follow->code || follow->call)
		return follow->code;
	if (!follow->line && !(follow->line = mpijob_text_new()))
		return follow->code = MPIJOB_ERR_NOMEM;
	if (follow->again_ms < 0)
		follow->again_ms = now_ms + PAUSE_MS;
	if (now_ms < follow->again_ms)
		return 0;
	return follow->code = begin(follow);
}

void follow_end(struct follow *follow)
{
	if (follow->call)
		mpijob_call_cancel(follow->call);
	follow->call = NULL;
	mpijob_text_free(follow->line);
	follow->line = NULL;
}

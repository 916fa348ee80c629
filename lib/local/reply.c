/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of the embedded API server: objects, and Status objects with reason, details and causes.
 */
#include "local/reply.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void mpijob__local_reply_clear(struct mpijob__local_reply *reply)
{
	mpijob_text_free(reply->text);
	mpijob__local_store_revision_unref(reply->revision);
	if (reply->stream)
		reply->stream->free(reply->stream);
	memset(reply, 0, sizeof(*reply));
}

static mpijob_doc *status_new(int code, const char *reason, const char *message)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");

	mpijob_node_put_string(doc, root, "kind", "Status");
	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	mpijob_node_put_map(doc, root, "metadata");
	mpijob_node_put_string(doc, root, "status", code < 300 ? "Success" : "Failure");
	mpijob_node_put_lossy(doc, root, "message", message);
	mpijob_node_put_string(doc, root, "reason", reason);
	return doc;
}

static mpijob_node *put_details(mpijob_doc *doc, const struct mpijob__local_kind *kind,
    const char *name, int by_kind)
{
	mpijob_node *details = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "details");

	if (!kind)
		return details;
	if (name && *name)
		mpijob_node_put_lossy(doc, details, "name", name);
	if (*kind->group)
		mpijob_node_put_string(doc, details, "group", kind->group);
	mpijob_node_put_string(doc, details, "kind", by_kind ? kind->name : kind->plural);
	return details;
}

/* Make a Status document the reply. Takes ownership of `doc`. */
static int set_status_reply(struct mpijob__local_reply *reply, int code, mpijob_doc *doc)
{
	mpijob_text *text = mpijob_text_new();
	int rc = text ? 0 : MPIJOB_ERR_NOMEM;

	if (code >= 300)
		mpijob_node_put_int(doc, mpijob_doc_edit(doc, ""), "code", code);
	if (!rc && mpijob_doc_error(doc))
		rc = MPIJOB_ERR_NOMEM;
	if (!rc)
		rc = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, text);
	mpijob_doc_free(doc);
	if (rc) {
		mpijob_text_free(text);
		return rc;
	}
	mpijob__local_reply_clear(reply);
	reply->status = code;
	reply->text = text;
	return 0;
}

static void put_cause(mpijob_doc *doc, mpijob_node *details, const char *cause, const char *field,
    const char *message)
{
	mpijob_node *entry =
	    mpijob_node_append_map(doc, mpijob_node_put_list(doc, details, "causes"));

	mpijob_node_put_string(doc, entry, "reason", cause);
	mpijob_node_put_lossy(doc, entry, "message", message);
	mpijob_node_put_lossy(doc, entry, "field", field);
}

int mpijob__local_reply_error(struct mpijob__local_reply *reply, int code, const char *reason,
    const struct mpijob__local_kind *kind, const char *name, char *message)
{
	return mpijob__local_reply_cause(reply, code, reason, kind, name, NULL, NULL, message);
}

int mpijob__local_reply_cause(struct mpijob__local_reply *reply, int code, const char *reason,
    const struct mpijob__local_kind *kind, const char *name, const char *cause, const char *field,
    char *message)
{
	mpijob_doc *doc;
	mpijob_node *details;

	if (!message)
		return MPIJOB_ERR_NOMEM;
	doc = status_new(code, reason, message);
	/* As in Kubernetes, 400 has no details. */
	details = code == 400 ? NULL : put_details(doc, kind, name, 0);
	if (cause)
		put_cause(doc, details, cause, field, message);
	free(message);
	return set_status_reply(reply, code, doc);
}

int mpijob__local_reply_conflict(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name, char *message)
{
	mpijob_doc *doc;

	if (!message)
		return MPIJOB_ERR_NOMEM;
	doc = status_new(409, "Conflict", message);
	free(message);
	put_details(doc, kind, name, 1);
	return set_status_reply(reply, 409, doc);
}

int mpijob__local_reply_invalid(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name, const char *cause, const char *field,
    char *message)
{
	char *whole;
	mpijob_doc *doc;

	if (!message)
		return MPIJOB_ERR_NOMEM;
	whole = mpijob__base_text_format("%s \"%s\" is invalid: %s: %s", kind->name, name, field,
	    message);
	if (!whole) {
		free(message);
		return MPIJOB_ERR_NOMEM;
	}
	doc = status_new(422, "Invalid", whole);
	put_cause(doc, put_details(doc, kind, name, 1), cause, field, message);
	free(whole);
	free(message);
	return set_status_reply(reply, 422, doc);
}

int mpijob__local_reply_not_found(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name)
{
	return mpijob__local_reply_error(reply, 404, "NotFound", kind, name,
	    mpijob__base_text_format("%s%s%s \"%s\" not found", kind->plural,
		*kind->group ? "." : "", kind->group, name));
}

int mpijob__local_reply_unsupported(struct mpijob__local_reply *reply,
    const struct mpijob__local_kind *kind, const char *name, const char *what)
{
	return mpijob__local_reply_error(reply, 501, "NotImplemented", kind, name,
	    mpijob__base_text_format("the embedded cluster does not support %s", what));
}

int mpijob__local_reply_deleted(struct mpijob__local_reply *reply,
    const struct mpijob__local_object *object)
{
	mpijob_doc *doc = status_new(200, NULL, NULL);
	mpijob_node *details = put_details(doc, object->kind, object->name, 0);

	mpijob_node_put_string(doc, details, "uid", object->uid);
	return set_status_reply(reply, 200, doc);
}

int mpijob__local_reply_revision(struct mpijob__local_reply *reply, int code,
    struct mpijob__local_revision *revision)
{
	mpijob__local_store_revision_ref(revision);
	mpijob__local_reply_clear(reply);
	reply->status = code;
	reply->revision = revision;
	return 0;
}

int mpijob__local_reply_object(struct mpijob__local_reply *reply, int code,
    const struct mpijob__local_object *object)
{
	return mpijob__local_reply_revision(reply, code, object->now);
}

int mpijob__local_reply_doc(struct mpijob__local_reply *reply, int code, const mpijob_doc *doc)
{
	mpijob_text *text = mpijob_text_new();
	int rc = MPIJOB_ERR_NOMEM;

	if (text && !mpijob_doc_error(doc))
		rc = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, text);
	if (rc) {
		mpijob_text_free(text);
		return rc;
	}
	mpijob__local_reply_clear(reply);
	reply->status = code;
	reply->text = text;
	return 0;
}

mpijob_text *mpijob__local_reply_expired(uint64_t requested, uint64_t oldest)
{
	struct mpijob__local_reply reply = { 0, NULL, NULL, NULL, NULL, NULL };
	char *message = mpijob__base_text_format("too old resource version: %llu (%llu)",
	    (unsigned long long)requested, (unsigned long long)oldest);

	if (mpijob__local_reply_error(&reply, 410, "Expired", NULL, NULL, message))
		return NULL;
	return reply.text;
}

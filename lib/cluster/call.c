/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as data, one for each thing that can be asked of an object, and the calls that wait for
 * their answer.
 *
 * Only this file knows content types, bodies of deletes, and how an answer becomes a document and
 * findings.
 */
#include "base/diag.h"
#include "base/struct.h"
#include "cluster/client.h"
#include "cluster/status.h"

#include <string.h>

#define JSON "application/json"

static int start(mpijob_client *client, const char *method, const struct mpijob_target *target,
		 const char *content_type, const mpijob_text *body, int flags, const struct mpijob_callbacks *callbacks,
		 mpijob_call **out)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	mpijob_text path = { 0 };
	int rc = mpijob_target_write(target, mpijob_text_write, &path);

	if (rc == 0) {
		request.method = method;
		request.path = mpijob_text_data(&path);
		if (body) {
			request.content_type = content_type;
			request.body = mpijob_text_data(body);
			request.body_len = body->len;
		}
		rc = mpijob__client_start(client, &request, flags, callbacks, out);
	}
	mpijob__text_release(&path);
	return rc;
}

int mpijob__request_start(mpijob_client *client, const char *method, const struct mpijob_target *target,
			  const char *content_type, const mpijob_text *body, const struct mpijob_callbacks *callbacks,
			  mpijob_call **out)
{
	return start(client, method, target, content_type, body, MPIJOB__CALL_ONCE, callbacks, out);
}

int mpijob__request_delete_options(const char *uid, const char *version, const char *propagation, const char *dry_run,
				   mpijob_text *out)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc);
	mpijob_node *preconditions;
	int rc;

	mpijob_node_put_string(doc, root, "kind", "DeleteOptions");
	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	mpijob_node_put_string(doc, root, "propagationPolicy", propagation);
	preconditions = uid || version ? mpijob_node_put_map(doc, root, "preconditions") : NULL;
	if (uid)
		mpijob_node_put_string(doc, preconditions, "uid", uid);
	if (version)
		mpijob_node_put_string(doc, preconditions, "resourceVersion", version);
	if (dry_run)
		mpijob_node_append_string(doc, mpijob_node_put_list(doc, root, "dryRun"), dry_run);
	rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, out);
	mpijob_doc_free(doc);
	return rc;
}

/* One call that somebody waits for. */
struct waiting {
	mpijob_call *call;
	mpijob_doc **out;
	mpijob_diag *diag;
	int code;
	int done;
};

static void report_warnings(const mpijob_text *warnings, mpijob_diag *diag)
{
	for (size_t at = 0; at < warnings->len; at += strlen(warnings->data + at) + 1)
		mpijob__diag_addf(diag, MPIJOB_SEVERITY_WARNING, "server-warning", NULL, NULL, NULL, "%s",
				  warnings->data + at);
}

static int read_answer(const struct mpijob_answer *answer, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;

	options.format = MPIJOB_FORMAT_JSON;
	options.source = "answer of the server";
	options.max_bytes = MPIJOB__CLIENT_BODY_LIMIT;
	options.max_values = MPIJOB__CLIENT_BODY_LIMIT / 2;
	return mpijob_doc_parse(answer->body, answer->body_len, &options, out, diag);
}

int mpijob__call_report(const mpijob_call *call, const struct mpijob_answer *answer, mpijob_diag *diag)
{
	struct mpijob__verdict verdict = { 0 };
	int code = answer->code;

	if (code && answer->status && answer->reason) {
		if (mpijob__verdict_make(&verdict, answer->status, call->exchange.is_post, answer->body,
					 answer->body_len))
			code = MPIJOB_ERR_NOMEM;
		mpijob__verdict_report(&verdict, diag);
		mpijob__verdict_release(&verdict);
	} else if (code) {
		mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL, NULL, NULL, "%s",
				  answer->message ? answer->message : mpijob_error_text(code));
	}
	return code;
}

static void when_done(void *user, const struct mpijob_answer *answer)
{
	struct waiting *waiting = user;

	waiting->done = 1;
	report_warnings(&waiting->call->exchange.warnings, waiting->diag);
	waiting->code = mpijob__call_report(waiting->call, answer, waiting->diag);
	if (waiting->code == 0 && waiting->out)
		waiting->code = read_answer(answer, waiting->out, waiting->diag);
}

static int cancelled(mpijob_diag *diag)
{
	mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL, NULL, NULL, "%s",
			  mpijob_error_text(MPIJOB_ERR_CANCELLED));
	return MPIJOB_ERR_CANCELLED;
}

int mpijob__call_await(mpijob_client *client, mpijob_call *call, const int *done, mpijob_diag *diag)
{
	int rc = 0;

	while (rc == 0) {
		if (mpijob__client_cancelled(client))
			rc = cancelled(diag);
		else
			rc = mpijob_client_poll(client, -1);
		if (*done)
			return 0;
	}
	mpijob_call_cancel(call);
	return rc;
}

int mpijob__call_now(mpijob_client *client, const char *method, const struct mpijob_target *target,
		     const char *content_type, const mpijob_text *body, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct waiting waiting = { NULL, out, diag, 0, 0 };
	int rc;

	if (client->polling)
		return MPIJOB_ERR_USAGE;
	if (mpijob__client_cancelled(client))
		return cancelled(diag);
	callbacks.done = when_done;
	callbacks.user = &waiting;
	rc = start(client, method, target, content_type, body, 0, &callbacks, &waiting.call);
	if (rc == 0)
		rc = mpijob__call_await(client, waiting.call, &waiting.done, diag);
	return rc ? rc : waiting.code;
}

int mpijob__call_with(mpijob_client *client, const char *method, const struct mpijob_target *target,
		      const char *content_type, const mpijob_node *node, mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_text body = { 0 };
	int rc;

	if (!client || !target || !node)
		return MPIJOB_ERR_USAGE;
	rc = mpijob_node_write(node, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, &body);
	if (rc == 0)
		rc = mpijob__call_now(client, method, target, content_type, &body, out, diag);
	mpijob__text_release(&body);
	return rc;
}

int mpijob_client_get(mpijob_client *client, const struct mpijob_target *target, mpijob_doc **out, mpijob_diag *diag)
{
	if (!client || !target || !out)
		return MPIJOB_ERR_USAGE;
	return mpijob__call_now(client, "GET", target, NULL, NULL, out, diag);
}

int mpijob_client_create(mpijob_client *client, const struct mpijob_target *target, const mpijob_node *object,
			 mpijob_doc **out, mpijob_diag *diag)
{
	return mpijob__call_with(client, "POST", target, JSON, object, out, diag);
}

int mpijob_client_update(mpijob_client *client, const struct mpijob_target *target, const mpijob_node *object,
			 mpijob_doc **out, mpijob_diag *diag)
{
	return mpijob__call_with(client, "PUT", target, JSON, object, out, diag);
}

int mpijob_client_patch(mpijob_client *client, const struct mpijob_target *target, const mpijob_node *patch,
			mpijob_doc **out, mpijob_diag *diag)
{
	return mpijob_client_patch_typed(client, target, MPIJOB_PATCH_MERGE, patch, out, diag);
}

int mpijob_client_patch_typed(mpijob_client *client, const struct mpijob_target *target, int32_t type,
			      const mpijob_node *patch, mpijob_doc **out, mpijob_diag *diag)
{
	static const char *const types[] = { "application/merge-patch+json", "application/json-patch+json",
					     "application/strategic-merge-patch+json" };

	if (type < 0 || (size_t)type >= sizeof(types) / sizeof(types[0]))
		return MPIJOB_ERR_USAGE;
	return mpijob__call_with(client, "PATCH", target, types[type], patch, out, diag);
}

/* A server that gets options in the body reads none of the query: a deletion that was only tried would happen. */
static const char *dry_run_of(const struct mpijob_target *target)
{
	for (size_t i = 0; target->query && i + 1 < target->query_count; i += 2)
		if (target->query[i] && strcmp(target->query[i], "dryRun") == 0)
			return target->query[i + 1];
	return NULL;
}

int mpijob_client_delete(mpijob_client *client, const struct mpijob_target *target, const char *uid,
			 const char *propagation, mpijob_diag *diag)
{
	struct mpijob_target known;
	mpijob_text body = { 0 };
	int rc;

	if (!client || !target)
		return MPIJOB_ERR_USAGE;
	rc = mpijob__struct_check(&known, sizeof(known), target);
	if (rc)
		return rc;
	rc = mpijob__request_delete_options(uid, NULL, propagation, dry_run_of(&known), &body);
	if (rc == 0)
		rc = mpijob__call_now(client, "DELETE", target, JSON, &body, NULL, diag);
	mpijob__text_release(&body);
	return rc;
}

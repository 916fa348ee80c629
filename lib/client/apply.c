/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-side apply, and the question whether an action is allowed.
 *
 * Only this file knows what server-side apply requires (a field manager, its content type, force)
 * and how to send and read a SelfSubjectAccessReview.
 */
#include "client/apply.h"

#include "core/diag.h"
#include "base/struct.h"
#include "client/task.h"

#include <stdlib.h>
#include <string.h>

#define APPLY_PATCH   "application/apply-patch+yaml"
#define MANAGER       "mpijob"
#define MANAGER_LIMIT 128

static int is_manager(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] > '~')
			return 0;
	return len > 0 && len <= MANAGER_LIMIT;
}

/* Join the caller's query and ours; `query` has room. 0, or MPIJOB_ERR_USAGE when both set the same
 * parameter. */
static int make_query(struct mpijob_target *target, const struct mpijob_apply_options *options,
    const char **query)
{
	size_t count = target->query_count;

	for (size_t i = 0; i < count; i++) {
		query[i] = target->query[i];
		if (!query[i] || (i % 2 == 0 && (strcmp(query[i], "fieldManager") == 0 ||
						    strcmp(query[i], "force") == 0)))
			return MPIJOB_ERR_USAGE;
	}
	query[count++] = "fieldManager";
	query[count++] = options->field_manager ? options->field_manager : MANAGER;
	if (options->force) {
		query[count++] = "force";
		query[count++] = "true";
	}
	target->query = query;
	target->query_count = count;
	return 0;
}

static int check(const struct mpijob_target *target, const struct mpijob_apply_options *options,
    struct mpijob_target *named, struct mpijob_apply_options *known)
{
	int rc = mpijob__base_struct_check(known, sizeof(*known), options);

	if (rc == 0)
		rc = mpijob__base_struct_check(named, sizeof(*named), target);
	if (rc)
		return rc;
	if (!named->name || named->query_count % 2 || (named->query_count && !named->query) ||
	    (known->field_manager && !is_manager(known->field_manager)) ||
	    !mpijob__base_struct_is_flag(known->force))
		return MPIJOB_ERR_USAGE;
	return 0;
}

int mpijob__client_task_request_apply(mpijob_task *task, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_apply_options *options, mpijob_diag *findings)
{
	struct mpijob_apply_options known;
	struct mpijob_target named;
	const char **query;
	int rc = check(target, options, &named, &known);

	if (rc)
		return mpijob__client_task_request_failed(task, rc);
	query = calloc(named.query_count + 4, sizeof(*query));
	if (!query)
		return mpijob__client_task_request_failed(task, MPIJOB_ERR_NOMEM);
	rc = make_query(&named, &known, query);
	/* JSON is YAML, and this is the only content type for apply that every server accepts. */
	rc = rc ? mpijob__client_task_request_failed(task, rc)
		: mpijob__client_task_request_node(task, "PATCH", &named, APPLY_PATCH, object,
		      task->wants, findings);
	free(query);
	return rc;
}

int mpijob_client_apply(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_apply_options *options, mpijob_doc **out,
    mpijob_diag *diag)
{
	struct mpijob__client_task_result awaited;
	struct mpijob_task_callbacks callbacks =
	    mpijob__client_task_blocking_callbacks(&awaited, out != NULL);
	mpijob_task *task = NULL;
	int rc = client && target && object
		     ? mpijob__client_task_new(sizeof(*task), client, &callbacks, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	rc = mpijob__client_task_started(task,
	    mpijob__client_task_request_apply(task, target, object, options, diag), &task);
	return mpijob__client_task_wait(client, task, rc, &awaited, NULL, out);
}

/* ---- access ---- */

static mpijob_doc *make_review(const struct mpijob_access *access)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""), *asked;

	mpijob_node_put_string(doc, root, "apiVersion", "authorization.k8s.io/v1");
	mpijob_node_put_string(doc, root, "kind", "SelfSubjectAccessReview");
	asked =
	    mpijob_node_put_map(doc, mpijob_node_put_map(doc, root, "spec"), "resourceAttributes");
	mpijob_node_put_string(doc, asked, "verb", access->verb);
	mpijob_node_put_string(doc, asked, "group", access->group);
	mpijob_node_put_string(doc, asked, "resource", access->resource);
	mpijob_node_put_string(doc, asked, "subresource", access->subresource);
	mpijob_node_put_string(doc, asked, "namespace", access->namespace_);
	mpijob_node_put_string(doc, asked, "name", access->name);
	return doc;
}

static void report_denial(const mpijob_node *status, const struct mpijob_access *access,
    mpijob_diag *diag)
{
	const char *why = mpijob_node_string(mpijob_node_get(status, "reason"));

	if (!why || !*why)
		why = mpijob_node_string(mpijob_node_get(status, "evaluationError"));
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_INFO, "access-denied", "Forbidden", NULL, NULL,
	    "may not %s %s%s%s%s%s", access->verb, access->resource, access->subresource ? "/" : "",
	    access->subresource ? access->subresource : "", why && *why ? ": " : "",
	    why ? why : "");
}

static int read_review(const mpijob_doc *doc, const struct mpijob_access *access, mpijob_diag *diag)
{
	const mpijob_node *status = mpijob_node_get(mpijob_doc_root(doc), "status");
	int allowed = 0;

	if (!mpijob_node_bool(mpijob_node_get(status, "allowed"), &allowed)) {
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL, NULL,
		    NULL, "the answer does not say whether it is allowed");
		return MPIJOB_ERR_SYNTAX;
	}
	if (!allowed)
		report_denial(status, access, diag);
	return allowed != 0;
}

struct asking {
	mpijob_task task;
	struct mpijob_access access; /* the task owns the strings */
};

static int answered(mpijob_task *task, int code, mpijob_doc *doc)
{
	const struct asking *asking = (const struct asking *)task;

	if (code == 0)
		code = read_review(doc, &asking->access, task->diag);
	mpijob_doc_free(doc);
	return code;
}

static int ask(struct asking *asking)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_task *task = &asking->task;
	mpijob_doc *doc = make_review(&asking->access);
	int rc = mpijob_doc_error(doc);

	target.api_version = "authorization.k8s.io/v1";
	target.kind = "SelfSubjectAccessReview";
	if (rc == 0)
		rc = mpijob__client_task_request_node(task, "POST", &target, "application/json",
		    mpijob_doc_root(doc), 1, task->diag);
	mpijob_doc_free(doc);
	return rc;
}

static int keep_access(struct asking *asking, const struct mpijob_access *given)
{
	struct mpijob_access *access = &asking->access;
	int rc = mpijob__base_struct_check(access, sizeof(*access), given);

	if (rc)
		return rc;
	if (!access->verb || !*access->verb || !access->resource || !*access->resource)
		return MPIJOB_ERR_USAGE;
	access->verb = mpijob__client_task_copy(&asking->task, access->verb, &rc);
	access->group = mpijob__client_task_copy(&asking->task, access->group, &rc);
	access->resource = mpijob__client_task_copy(&asking->task, access->resource, &rc);
	access->subresource = mpijob__client_task_copy(&asking->task, access->subresource, &rc);
	access->namespace_ = mpijob__client_task_copy(&asking->task, access->namespace_, &rc);
	access->name = mpijob__client_task_copy(&asking->task, access->name, &rc);
	return rc;
}

int mpijob_client_can_start(mpijob_client *client, const struct mpijob_access *access,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc =
	    access ? mpijob__client_task_new(sizeof(struct asking), client, callbacks, diag, &task)
		   : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = answered;
	rc = keep_access((struct asking *)task, access);
	return mpijob__client_task_started(task, rc ? rc : ask((struct asking *)task), out);
}

int mpijob_client_can(mpijob_client *client, const struct mpijob_access *access, mpijob_diag *diag)
{
	struct mpijob__client_task_result awaited;
	struct mpijob_task_callbacks callbacks =
	    mpijob__client_task_blocking_callbacks(&awaited, 0);
	mpijob_task *task = NULL;
	int rc = mpijob_client_can_start(client, access, &callbacks, &task, diag);

	return mpijob__client_task_wait(client, task, rc, &awaited, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The question whether an action is allowed.
 *
 * Only this file knows how to send and read a SelfSubjectAccessReview.
 */
#include "core/diag.h"
#include "base/struct.h"
#include "client/task.h"

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
	int rc = access ? mpijob__client_task_new(sizeof(struct asking), client, callbacks, out,
			      diag, &task)
			: MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = answered;
	rc = keep_access((struct asking *)task, access);
	return mpijob__client_task_started(task, rc ? rc : ask((struct asking *)task));
}

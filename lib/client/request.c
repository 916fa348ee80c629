/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about targets, and the blocking calls that send one.
 *
 * Only this file knows content types, and how the answer of a failed request becomes findings.
 */
#include "client/request.h"

#include "core/diag.h"
#include "client/client.h"
#include "client/status.h"
#include "client/task.h"

#include <string.h>

#define JSON "application/json"

int mpijob__client_request_report(const mpijob_call *call, const struct mpijob_answer *answer,
    mpijob_diag *diag)
{
	struct mpijob__client_verdict verdict = { 0 };
	int code = answer->code;

	if (code && answer->status && answer->reason) {
		if (mpijob__client_verdict_make(&verdict, answer->status,
			strcmp(call->exchange.method, "POST") == 0, answer->body, answer->body_len))
			code = MPIJOB_ERR_NOMEM;
		mpijob__client_verdict_report(&verdict, diag);
		mpijob__client_verdict_release(&verdict);
	} else if (code) {
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL, NULL,
		    NULL, "%s", answer->message ? answer->message : mpijob_error_text(code));
	}
	return code;
}

/* Send one request and wait for its answer; `node` is its body, or NULL. */
static int call_with(mpijob_client *client, const char *method, const struct mpijob_target *target,
    const char *content_type, const mpijob_node *node, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob__client_task_result result;
	struct mpijob_task_callbacks callbacks =
	    mpijob__client_task_blocking_callbacks(&result, out != NULL);
	mpijob_task *task = NULL;
	int rc = client && target && node
		     ? mpijob__client_task_new(sizeof(*task), client, &callbacks, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	rc = mpijob__client_task_started(task,
	    mpijob__client_task_request_node(task, method, target, content_type, node, task->wants,
		diag),
	    &task);
	return mpijob__client_task_wait(client, task, rc, &result, NULL, out);
}

int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = target ? mpijob__client_task_new(sizeof(*task), client, callbacks, diag, &task)
			: MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	return mpijob__client_task_started(task,
	    mpijob__client_task_request(task, "GET", target, NULL, NULL, 1, diag), out);
}

int mpijob_client_get(mpijob_client *client, const struct mpijob_target *target, mpijob_doc **out,
    mpijob_diag *diag)
{
	struct mpijob__client_task_result result;
	struct mpijob_task_callbacks callbacks = mpijob__client_task_blocking_callbacks(&result, 1);
	mpijob_task *task = NULL;
	int rc;

	if (!out)
		return MPIJOB_ERR_USAGE;
	rc = mpijob_client_get_start(client, target, &callbacks, &task, diag);
	return mpijob__client_task_wait(client, task, rc, &result, NULL, out);
}

int mpijob_client_create(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, mpijob_doc **out, mpijob_diag *diag)
{
	return call_with(client, "POST", target, JSON, object, out, diag);
}

int mpijob_client_update(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, mpijob_doc **out, mpijob_diag *diag)
{
	return call_with(client, "PUT", target, JSON, object, out, diag);
}

int mpijob_client_patch(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *patch, mpijob_doc **out, mpijob_diag *diag)
{
	return mpijob_client_patch_typed(client, target, MPIJOB_PATCH_MERGE, patch, out, diag);
}

int mpijob_client_patch_typed(mpijob_client *client, const struct mpijob_target *target,
    int32_t type, const mpijob_node *patch, mpijob_doc **out, mpijob_diag *diag)
{
	static const char *const types[] = { "application/merge-patch+json",
		"application/json-patch+json", "application/strategic-merge-patch+json" };

	if (type < 0 || (size_t)type >= sizeof(types) / sizeof(types[0]))
		return MPIJOB_ERR_USAGE;
	return call_with(client, "PATCH", target, types[type], patch, out, diag);
}

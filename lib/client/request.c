/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about targets.
 *
 * Only this file knows how the answer of a failed request becomes findings.
 */
#include "client/request.h"

#include "core/diag.h"
#include "client/client.h"
#include "client/status.h"
#include "client/task.h"

#include <string.h>

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

int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = target
		     ? mpijob__client_task_new(sizeof(*task), client, callbacks, out, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	return mpijob__client_task_started(task,
	    mpijob__client_task_request(task, "GET", target, NULL, NULL, 1, diag));
}

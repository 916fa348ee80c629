/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks: one request after another, until the task ends.
 *
 * Only this file knows how an answer becomes the next step, how a task ends or is cancelled, and
 * how a caller waits for one. A cancel of a wait, or a transport that has failed, is a step like an
 * answer, so that an unknown outcome of a write is reported.
 */
#include "client/task.h"

#include "core/diag.h"
#include "base/struct.h"
#include "client/request.h"

#include <stdlib.h>
#include <string.h>

static void child_done(void *user, int code, mpijob *job, mpijob_doc *doc);

int mpijob__client_task_new(size_t size, mpijob_client *client,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **handle, mpijob_diag *diag,
    mpijob_task **out)
{
	struct mpijob_task_callbacks known;
	int rc =
	    client ? mpijob__base_struct_check(&known, sizeof(known), callbacks) : MPIJOB_ERR_USAGE;
	mpijob_task *task;

	if (rc)
		return rc;
	if (callbacks ? !known.done : !handle || client->polling)
		return MPIJOB_ERR_USAGE;
	task = calloc(1, size);
	if (!task)
		return MPIJOB_ERR_NOMEM;
	task->client = client;
	task->callbacks = known;
	task->handle = handle;
	task->diag = diag;
	task->cancellable = !callbacks;
	task->wants = 1;
	mpijob__base_list_insert(client->tasks.next, &task->link, task);
	*out = task;
	return 0;
}

const char *mpijob__client_task_copy(mpijob_task *task, const char *text, int *rc)
{
	const char *copy =
	    text ? mpijob__base_arena_copy(&task->strings, text, strlen(text)) : NULL;

	if (text && !copy)
		*rc = MPIJOB_ERR_NOMEM;
	return copy;
}

int mpijob__client_task_copy_target(mpijob_task *task, const struct mpijob_target *from,
    struct mpijob_target *to)
{
	int rc = mpijob__base_struct_check(to, sizeof(*to), from);
	const char **query;

	if (rc)
		return rc;
	to->api_version = mpijob__client_task_copy(task, to->api_version, &rc);
	to->kind = mpijob__client_task_copy(task, to->kind, &rc);
	to->namespace_ = mpijob__client_task_copy(task, to->namespace_, &rc);
	to->name = mpijob__client_task_copy(task, to->name, &rc);
	to->subresource = mpijob__client_task_copy(task, to->subresource, &rc);
	to->plural = mpijob__client_task_copy(task, to->plural, &rc);
	if (!to->query || to->query_count == 0)
		return rc;
	query = mpijob__base_arena_array(&task->strings, to->query_count, sizeof(*query));
	if (!query)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < to->query_count; i++)
		query[i] = mpijob__client_task_copy(task, to->query[i], &rc);
	to->query = query;
	return rc;
}

/* Free all except the result. */
static void release_task(mpijob_task *task)
{
	if (task->call)
		mpijob_call_cancel(task->call);
	task->call = NULL;
	mpijob_task_cancel(task->child);
	if (task->release)
		task->release(task);
	task->release = NULL;
	mpijob__base_arena_free(&task->strings);
}

/* A client that is freed frees children before parents. */
static void free_task(mpijob_task *task)
{
	if (task->callbacks.done == child_done)
		((mpijob_task *)task->callbacks.user)->child = NULL;
	release_task(task);
	mpijob__base_list_remove(&task->link);
	mpijob_free(task->job);
	mpijob_doc_free(task->doc);
	free(task);
}

void mpijob_task_cancel(mpijob_task *task)
{
	if (task)
		free_task(task);
}

/* Give the result to the caller, unless the task has failed. */
static void move_result(mpijob_task *task, int code, mpijob **job, mpijob_doc **doc)
{
	if (code >= 0 && job) {
		*job = task->job;
		task->job = NULL;
	}
	if (code >= 0 && doc) {
		*doc = task->doc;
		task->doc = NULL;
	}
}

void mpijob__client_task_finish(mpijob_task *task, int code)
{
	struct mpijob_task_callbacks callbacks = task->callbacks;
	mpijob *job = NULL;
	mpijob_doc *doc = NULL;

	task->client->reported = 1;
	if (!callbacks.done) {
		task->over = 1;
		task->code = code;
		release_task(task);
		return;
	}
	move_result(task, code, &job, &doc);
	free_task(task); /* before the callback, which may do anything */
	callbacks.done(callbacks.user, code, job, doc);
}

/* Report that the task was cancelled, and why. */
static void report_failure(mpijob_diag *diag, int code)
{
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL, NULL, NULL,
	    "%s", mpijob_error_text(code));
}

int mpijob__client_task_return_document(mpijob_task *task, int code, mpijob_doc *doc)
{
	task->doc = doc;
	return code;
}

/* ---- steps ---- */

/* Step until a request is in flight or the task has ended. */
static int run_steps(mpijob_task *task, int code, mpijob_doc *doc)
{
	int rc;

	do {
		task->unsent = 0;
		rc = task->step(task, code, doc);
		code = task->failure;
		doc = NULL;
	} while (rc == MPIJOB__CLIENT_TASK_WAITS && task->unsent);
	return rc;
}

static void report_warnings(const mpijob_text *warnings, mpijob_diag *diag)
{
	for (size_t at = 0; at < warnings->len; at += strlen(warnings->data + at) + 1)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_WARNING, "server-warning", NULL, NULL,
		    NULL, "%s", warnings->data + at);
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

static void request_done(void *user, const struct mpijob_answer *answer)
{
	mpijob_task *task = user;
	mpijob_call *call = task->call;
	mpijob_doc *doc = NULL;
	int rc;

	task->call = NULL;
	report_warnings(&call->exchange.answer.warnings, task->findings);
	rc = mpijob__client_request_report(call, answer, task->findings);
	task->outcome_unknown = task->writes && call->exchange.retry.outcome_unknown;
	if (rc == 0 && task->body)
		rc = mpijob_text_write(task->body, answer->body, answer->body_len);
	if (rc == 0 && task->reads && (task->wants || task->reads != MPIJOB__CLIENT_TASK_WANTED))
		rc = read_answer(answer, &doc, task->findings);
	rc = run_steps(task, rc, doc);
	if (rc != MPIJOB__CLIENT_TASK_WAITS)
		mpijob__client_task_finish(task, rc);
}

static void child_done(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	mpijob_task *task = user;
	int rc;

	(void)job;
	rc = run_steps(task, code, doc);
	if (rc != MPIJOB__CLIENT_TASK_WAITS)
		mpijob__client_task_finish(task, rc);
}

struct mpijob_task_callbacks mpijob__client_task_child_callbacks(mpijob_task *task)
{
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;

	callbacks.done = child_done;
	callbacks.user = task;
	return callbacks;
}

static int send(mpijob_task *task, const char *method, const struct mpijob_target *target,
    const char *content_type, const mpijob_text *body)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;

	if (task->stopped)
		return task->stopped;
	if (task->cancellable && mpijob__client_take_cancel(task->client)) {
		report_failure(task->findings, MPIJOB_ERR_CANCELLED);
		return MPIJOB_ERR_CANCELLED;
	}
	callbacks.done = request_done;
	callbacks.user = task;
	request.method = method;
	request.target = target;
	if (body) {
		request.content_type = content_type;
		request.body = mpijob_text_data(body);
		request.body_len = body->len;
	}
	return mpijob_client_start(task->client, &request, &callbacks, &task->call);
}

int mpijob__client_task_request_failed(mpijob_task *task, int code)
{
	task->unsent = 1;
	task->failure = code;
	return MPIJOB__CLIENT_TASK_WAITS;
}

int mpijob__client_task_request(mpijob_task *task, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    int reads, mpijob_diag *findings)
{
	int rc;

	task->findings = findings;
	task->reads = reads;
	task->writes = strcmp(method, "GET") != 0;
	task->outcome_unknown = 0;
	rc = send(task, method, target, content_type, body);
	return rc ? mpijob__client_task_request_failed(task, rc) : MPIJOB__CLIENT_TASK_WAITS;
}

int mpijob__client_task_request_node(mpijob_task *task, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_node *node,
    int reads, mpijob_diag *findings)
{
	mpijob_text body = { 0 };
	int rc = mpijob_node_write(node, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, &body);

	rc = rc ? mpijob__client_task_request_failed(task, rc)
		: mpijob__client_task_request(task, method, target, content_type, &body, reads,
		      findings);
	mpijob__base_text_release(&body);
	return rc;
}

int mpijob__client_task_started(mpijob_task *task, int rc)
{
	if (rc == MPIJOB__CLIENT_TASK_WAITS && task->unsent)
		rc = run_steps(task, task->failure, NULL);
	if (rc != MPIJOB__CLIENT_TASK_WAITS) {
		free_task(task);
		return rc;
	}
	task->cancellable = 0;
	if (task->handle)
		*task->handle = task;
	return 0;
}

/* ---- waiting ---- */

/* Answer the request in flight with this code. */
static void stop(mpijob_task *task, int code)
{
	if (task->child || task->cancel_step) {
		if (task->child)
			stop(task->child, code);
		else
			task->cancel_step(task, code);
		return;
	}
	task->stopped = code;
	task->cancelled_in_flight = task->call && task->writes;
	if (task->call)
		mpijob_call_cancel(task->call);
	task->call = NULL;
	report_failure(task->findings, code);
	mpijob__client_task_finish(task, run_steps(task, code, NULL));
}

int mpijob_task_wait(mpijob_task *task, mpijob **job, mpijob_doc **doc)
{
	int rc;

	if (!task || task->callbacks.done || task->client->polling)
		return MPIJOB_ERR_USAGE;
	task->cancellable = 1;
	task->wants = job || doc;
	while (!task->over) {
		rc = mpijob__client_take_cancel(task->client)
			 ? MPIJOB_ERR_CANCELLED
			 : mpijob_client_poll(task->client, -1);
		if (rc && !task->over)
			stop(task, rc);
	}
	rc = task->code;
	move_result(task, rc, job, doc);
	free_task(task);
	return rc;
}

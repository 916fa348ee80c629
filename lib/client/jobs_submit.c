/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Create a job, and find out whether it exists when the answer was lost.
 *
 * Only this file knows when a create has succeeded whose answer was lost or came from a gateway:
 * the stored job contains all that was sent, is not being deleted, is not older than the request,
 * and managedFields names no other manager. Otherwise the outcome is reported as unknown.
 */
#include "client/jobs_submit.h"

#include "client/jobs.h"

#include "core/diag.h"
#include "base/struct.h"
#include "client/jobs_findings.h"
#include "client/task.h"
#include "client/write.h"
#include "job/job.h"
#include "base/time.h"

#include <string.h>

#define QUERY_MOST 6
/* how far times of servers may differ: they are in seconds, and there may be several API servers */
#define CLOCKS_MS 3000

/* A submission in progress. */
struct sending {
	mpijob_task task;
	const mpijob *job;
	struct mpijob_submit_options options; /* the task owns the strings */
	struct mpijob_target target;          /* without a name: the collection */
	const char *name;                     /* NULL: the server generates one */
	mpijob_doc *body;
	mpijob_diag *said; /* findings of the server */
	int plain;         /* the server does not know fieldValidation, so it is not requested */
	int lost;          /* the code of a lost answer; 0: none was lost */
	int64_t sent_ms;   /* of the first request, by the client's clock */
};

/* ---- comparing ---- */

static int holds_map(const mpijob_node *stored, const mpijob_node *sent)
{
	for (size_t i = 0; i < mpijob_node_count(sent); i++) {
		const mpijob_node *value = mpijob_node_at(sent, i);
		const mpijob_node *other = mpijob_node_get(stored, mpijob_node_key(sent, i));

		if (!other && mpijob_node_kind(value) == MPIJOB_NODE_NULL)
			continue;
		if (!mpijob__client_jobs_holds(other, value))
			return 0;
	}
	return 1;
}

int mpijob__client_jobs_holds(const mpijob_node *stored, const mpijob_node *sent)
{
	int32_t kind = mpijob_node_kind(sent);

	if (mpijob_node_kind(stored) != kind)
		return 0;
	if (kind == MPIJOB_NODE_MAP)
		return holds_map(stored, sent);
	if (kind != MPIJOB_NODE_LIST)
		return mpijob_node_equal(stored, sent);
	if (mpijob_node_count(stored) != mpijob_node_count(sent))
		return 0;
	for (size_t i = 0; i < mpijob_node_count(sent); i++)
		if (!mpijob__client_jobs_holds(mpijob_node_at(stored, i), mpijob_node_at(sent, i)))
			return 0;
	return 1;
}

/* Controllers that write a status do not count. A server without managedFields names none. */
static int has_other_author(const mpijob_node *stored, const char *manager)
{
	const mpijob_node *list = mpijob_node_find(stored, "metadata.managedFields");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *entry = mpijob_node_at(list, i);
		const char *given = mpijob_node_string(mpijob_node_get(entry, "manager"));

		if (!mpijob_node_find(entry, "fieldsV1.f:spec"))
			continue;
		if (!given || strcmp(given, manager) != 0)
			return 1;
	}
	return 0;
}

/* The job existed before the request was sent, as far as the server's clock is known. */
static int is_older(const struct sending *sending, const mpijob_node *stored)
{
	const struct mpijob__client_server_clock *clock = &sending->task.client->server_clock;
	const char *created =
	    mpijob_node_string(mpijob_node_find(stored, "metadata.creationTimestamp"));
	int64_t seconds = 0;

	return clock->known && created && mpijob__base_time_parse(created, &seconds) &&
	       seconds * 1000 + CLOCKS_MS < mpijob__client_server_clock_ms(clock, sending->sent_ms);
}

static int is_ours(const struct sending *sending, const mpijob_node *stored)
{
	return !mpijob_node_find(stored, "metadata.deletionTimestamp") &&
	       mpijob__client_jobs_holds(stored, mpijob_doc_root(sending->body)) &&
	       !has_other_author(stored, sending->options.field_manager);
}

/* ---- sending ---- */

int mpijob__client_jobs_send(mpijob_task *task, const struct mpijob_submit_options *options,
    const struct mpijob_target *to, const char *name, const mpijob_node *body, int plain,
    mpijob_diag *said)
{
	struct mpijob_write_options write = MPIJOB_WRITE_OPTIONS_INIT;
	const char *validation = options->field_validation, *query[QUERY_MOST];
	struct mpijob_target target = *to;

	target.query = query;
	target.query_count = 0;
	if (!options->apply) {
		query[target.query_count++] = "fieldManager";
		query[target.query_count++] = options->field_manager;
	}
	if (validation || !plain) {
		query[target.query_count++] = "fieldValidation";
		query[target.query_count++] = validation ? validation : "Strict";
	}
	if (options->dry_run) {
		query[target.query_count++] = "dryRun";
		query[target.query_count++] = "All";
	}
	if (options->apply) {
		write.verb = MPIJOB_WRITE_APPLY;
		write.field_manager = options->field_manager;
		write.force = options->force;
		target.name = name;
	}
	return mpijob__client_task_request_write(task, &target, body, &write, 1, said);
}

static int send_job(struct sending *sending)
{
	return mpijob__client_jobs_send(&sending->task, &sending->options, &sending->target,
	    sending->name, mpijob_doc_root(sending->body), sending->plain, sending->said);
}

static int say_not_strict(mpijob_diag *diag)
{
	return mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_WARNING, "not-strict", NULL, NULL, NULL,
	    "the server cannot refuse fields that it does not know, and was not asked to");
}

int mpijob__client_jobs_outcome_unknown(const mpijob_task *task, int code)
{
	return code == MPIJOB_ERR_IO || code == MPIJOB_ERR_TIMEOUT || task->cancelled_in_flight ||
	       (code && task->outcome_unknown);
}

int mpijob__client_jobs_report_unknown(const char *what, mpijob_diag *diag)
{
	return mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unknown-outcome", NULL, NULL,
	    NULL, "what became of the request is not known: the job may have been %s", what);
}

/* The answer was lost: report what is known without a read, or read. */
static int after_lost_answer(struct sending *sending, int lost)
{
	struct mpijob_target target = sending->target;

	sending->lost = lost;
	if (sending->options.dry_run)
		return lost;
	if (sending->options.apply || !sending->name) {
		(void)mpijob__client_jobs_report_unknown(
		    sending->options.apply ? "changed, or not"
					   : "created, under a name of the server's, or not",
		    sending->said);
		return lost;
	}
	target.name = sending->name;
	target.query = NULL;
	target.query_count = 0;
	return mpijob__client_task_request(&sending->task, "GET", &target, NULL, NULL, 1, NULL);
}

/*
 * The result of this read: 0 when the job exists as it was sent; CONFLICT when another one had its
 * name before; else `lost`, with a finding that the outcome is unknown.
 */
static int judge(const struct sending *sending, int rc, const mpijob_doc *found)
{
	if (rc == 0 && is_older(sending, mpijob_doc_root(found))) {
		if (sending->lost != MPIJOB_ERR_CONFLICT)
			(void)mpijob__core_diag_addf(sending->said, MPIJOB_SEVERITY_ERROR,
			    "server-refused", "AlreadyExists", NULL, NULL,
			    "a job of that name was there before this one was sent");
		return MPIJOB_ERR_CONFLICT;
	}
	if (rc == 0 && is_ours(sending, mpijob_doc_root(found)))
		return 0;
	if (rc == 0)
		(void)mpijob__client_jobs_report_unknown(
		    "created and changed, or that of another client was there before",
		    sending->said);
	else
		(void)mpijob__client_jobs_report_unknown(
		    rc == MPIJOB_ERR_NOT_FOUND
			? "created and deleted, or is on its way; it is not there now"
			: "created, or not; it cannot be looked for",
		    sending->said);
	return rc == MPIJOB_ERR_NOMEM || rc == MPIJOB_ERR_CANCELLED ? rc : sending->lost;
}

static int finish(struct sending *sending, int rc, const mpijob_doc *stored)
{
	mpijob_task *task = &sending->task;

	/* If the job exists, the lost answer is not reported. */
	if (rc == 0 && sending->lost)
		mpijob_diag_clear(sending->said);
	if (mpijob__client_jobs_place_findings(sending->job, sending->said, task->diag) && rc)
		rc = MPIJOB_ERR_NOMEM;
	if (rc == 0 && task->wants)
		rc = mpijob_from_node(mpijob_doc_root(stored), mpijob_doc_source(stored),
		    &task->job, task->diag);
	return rc;
}

/* Request strict validation. A server that does not know it is asked without, unless the caller
 * requires it. */
static int answered(mpijob_task *task, int code, mpijob_doc *doc)
{
	struct sending *sending = (struct sending *)task;

	if (sending->lost) {
		code = judge(sending, code, doc);
	} else if (code == MPIJOB_ERR_UNSUPPORTED && !sending->options.field_validation &&
		   !sending->plain) {
		mpijob_diag_clear(sending->said);
		sending->plain = 1;
		return send_job(sending);
	} else if (mpijob__client_jobs_outcome_unknown(task, code)) {
		code = after_lost_answer(sending, code);
	} else if (code == 0 && sending->plain) {
		code = say_not_strict(sending->said);
	}
	if (code != MPIJOB__CLIENT_TASK_WAITS)
		code = finish(sending, code, doc);
	mpijob_doc_free(doc);
	return code;
}

/* ---- what is sent ---- */

static int refuse(const mpijob *job, const char *id, const char *reason, const char *field,
    const char *message, mpijob_diag *diag)
{
	const mpijob_node *node = mpijob_node_find(mpijob__job_node(job), field);
	struct mpijob__core_place place = { .source = mpijob__job_source(job) };

	mpijob_node_place(node, &place.line, &place.column);
	if (mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, id, reason, field, &place, "%s",
		message))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_SPEC;
}

static int aim(struct sending *sending)
{
	mpijob_diag *diag = sending->task.diag;
	const mpijob_node *root = mpijob__job_node(sending->job);
	const char *namespace_ = mpijob_namespace(sending->job),
		   *wanted = sending->options.namespace_;
	const char *generate = mpijob_node_string(mpijob_node_find(root, "metadata.generateName"));
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	sending->name = mpijob_name(sending->job);
	if (sending->name && !*sending->name)
		sending->name = NULL;
	if (namespace_ && !*namespace_)
		namespace_ = NULL;
	if (!sending->name && (sending->options.apply || !generate || !*generate))
		return refuse(sending->job, "missing", "Required", "metadata.name",
		    sending->options.apply ? "give the job a name to apply it"
					   : "give the job a name, or generateName",
		    diag);
	if (namespace_ && wanted && strcmp(namespace_, wanted) != 0)
		return refuse(sending->job, "other-namespace", "Invalid", "metadata.namespace",
		    "the job names another namespace than the one that it is sent to", diag);
	target.api_version = mpijob_node_string(mpijob_node_get(root, "apiVersion"));
	if (!target.api_version)
		target.api_version = MPIJOB__CLIENT_JOBS_VERSION;
	target.kind = MPIJOB__CLIENT_JOBS_KIND;
	target.namespace_ = namespace_ ? namespace_ : wanted ? wanted : "default";
	sending->target = target;
	return 0;
}

static int make_body(struct sending *sending)
{
	sending->body = mpijob_doc_from_node(mpijob__job_node(sending->job), NULL);
	if (!sending->body)
		return MPIJOB_ERR_NOMEM;
	mpijob_node_remove(mpijob_doc_edit(sending->body, ""), "status");
	return mpijob_doc_error(sending->body);
}

static void release(mpijob_task *task)
{
	struct sending *sending = (struct sending *)task;

	mpijob_doc_free(sending->body);
	mpijob_diag_free(sending->said);
}

int mpijob__client_jobs_copy_options(mpijob_task *task, const struct mpijob_submit_options *from,
    struct mpijob_submit_options *to)
{
	int rc = 0;

	*to = *from;
	to->namespace_ = mpijob__client_task_copy(task, from->namespace_, &rc);
	to->field_manager = mpijob__client_task_copy(task,
	    from->field_manager ? from->field_manager : "mpijob", &rc);
	to->field_validation = mpijob__client_task_copy(task, from->field_validation, &rc);
	return rc;
}

int mpijob__client_jobs_check_options(const struct mpijob_submit_options *given,
    struct mpijob_submit_options *known)
{
	int rc = mpijob__base_struct_check(known, sizeof(*known), given);

	if (rc == 0 && !(mpijob__base_struct_is_flag(known->apply) &&
			   mpijob__base_struct_is_flag(known->force) &&
			   mpijob__base_struct_is_flag(known->dry_run)))
		rc = MPIJOB_ERR_USAGE;
	return rc;
}

static int begin(struct sending *sending, const struct mpijob_submit_options *options)
{
	int rc = mpijob__client_jobs_copy_options(&sending->task, options, &sending->options);

	sending->said = mpijob_diag_new();
	if (rc == 0 && !sending->said)
		rc = MPIJOB_ERR_NOMEM;
	if (rc == 0)
		rc = aim(sending);
	if (rc == 0)
		rc = make_body(sending);
	return rc ? rc : send_job(sending);
}

int mpijob_client_submit_start(mpijob_client *client, const mpijob *job,
    const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	struct mpijob_submit_options known;
	struct sending *sending;
	mpijob_task *task = NULL;
	int rc =
	    client && job ? mpijob__client_jobs_check_options(options, &known) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__client_task_new(sizeof(*sending), client, callbacks, out, diag, &task);
	if (rc)
		return rc;
	sending = (struct sending *)task;
	task->step = answered;
	task->release = release;
	sending->job = job;
	sending->sent_ms = client->clock();
	return mpijob__client_task_started(task, begin(sending, &known));
}

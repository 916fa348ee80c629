/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the response to each request of an action means for its plan and for the facts.
 *
 * A write whose outcome is unknown (no response, or a server error) is never repeated: the object
 * is read first. The result is in the cache at once, so the next plan does not repeat it. The
 * states of an action are in reconcile.c.
 */
#include "operator/answer.h"

#include "operator/cache_children.h"
#include "operator/read.h"
#include "operator/write.h"
#include "operator/write_update.h"

#include <string.h>

#define AWAIT_END_MS 30000 /* for the watch event of a deleted job */

/* The verb of the request that was answered. */
static int32_t verb_of(const struct mpijob__operator_write *write)
{
	return mpijob__operator_write_is_read(write) ? MPIJOB__OPERATOR_ACTION_GET
						     : write->action.verb;
}

static void fail(const struct mpijob__operator_write *write)
{
	mpijob__operator_reconcile_set_state(write->job, MPIJOB__OPERATOR_PLAN_FAILED);
}

/* Read the object now. 1 when that request was sent. */
static int verify(struct mpijob__operator_write *write, enum mpijob__operator_action_state state)
{
	return mpijob__operator_write_read(write, state) == 0;
}

/* ---- failures ---- */

static const char *message_of(const struct mpijob_answer *answer)
{
	return answer->message ? answer->message : mpijob_error_text(answer->code);
}

static const char *reason_of(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	return answer->status == 403 && write->forbidden ? write->forbidden : message_of(answer);
}

/* Report with an Event that a child cannot be created, or that the operator lacks a right. */
static void emit_event(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	static const char *const done[] = { "read", "created", "changed", "changed", "deleted",
		"" };
	const struct mpijob_action *action = &write->action;
	int creates = verb_of(write) == MPIJOB_ACTION_CREATE;
	mpijob_text text = { 0 };

	if (answer->status != 403 &&
	    (!creates || (answer->code != MPIJOB_ERR_AUTH && answer->code != MPIJOB_ERR_REJECTED &&
			     answer->code != MPIJOB_ERR_NOT_FOUND)))
		return;
	if (mpijob__base_text_printf(&text, "%s %s cannot be %s: %s", action->kind, action->name,
		done[verb_of(write)], reason_of(write, answer)) == 0)
		mpijob__operator_events_emit(write->operator_, write->job, "Warning",
		    creates ? "FailedCreate" : "Forbidden", mpijob_text_data(&text));
	mpijob__base_text_release(&text);
}

static void log_failure(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	static const char *const verbs[] = { "get", "create", "patch", "patch the status of",
		"delete", "" };
	const struct mpijob_action *action = &write->action;

	mpijob__operator_log(write->operator_, MPIJOB_SEVERITY_WARNING, "request-failed",
	    "cannot %s %s %s/%s: %s", verbs[verb_of(write)], action->kind, write->job->namespace_,
	    action->name, reason_of(write, answer));
}

/* Only another client can change the cause: a right, a quota, a kind that is not installed, a
 * namespace that is deleted. */
static int is_refusal(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	return answer->code == MPIJOB_ERR_AUTH ||
	       (answer->code == MPIJOB_ERR_NOT_FOUND && verb_of(write) == MPIJOB_ACTION_CREATE);
}

static void note_failure(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	struct mpijob__operator_reconcile *reconcile = &write->job->reconcile;
	int64_t wait = mpijob__operator_retry_after(write->operator_, answer);
	int refused = is_refusal(write, answer);

	mpijob__operator_reconcile_set_state(write->job,
	    refused ? MPIJOB__OPERATOR_PLAN_REFUSED : MPIJOB__OPERATOR_PLAN_FAILED);
	if (wait > reconcile->retry_after_ms)
		reconcile->retry_after_ms = wait;
	if (!refused || !mpijob__operator_rights_missing(write->operator_, write->job->namespace_,
			    verb_of(write), write->action.kind, reason_of(write, answer)))
		log_failure(write, answer);
	emit_event(write, answer);
}

static void note_code(struct mpijob__operator_write *write, int rc)
{
	if (rc == 0)
		return;
	fail(write);
	if (rc == MPIJOB_ERR_NOMEM)
		write->operator_->nomem = 1;
}

/* ---- writes ---- */

/* The job itself was deleted: wait for its last event. */
static void await_end(struct mpijob__operator_write *write)
{
	if (!write->action.role)
		write->job->backoff.hold_until_ms = write->operator_->now_ms + AWAIT_END_MS;
}

/* The response to a DELETE: the object while it is deleting, or its last version, or a Status when
 * it is deleted. */
static int deleted(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	const struct mpijob_observed *observed;
	int rc = mpijob_observe(operator_->cache.observation, answer->body, answer->body_len,
	    &observed, NULL);

	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_SYNTAX;
	if (!observed->kind)
		return MPIJOB_ERR_SYNTAX;
	await_end(write);
	if (observed->deleting && observed->uid && strcmp(observed->uid, write->action.uid) == 0 &&
	    !mpijob__operator_children_is_deleted(operator_, observed->uid, 0))
		return mpijob__operator_children_answer(operator_, write->job, answer->body,
		    answer->body_len);
	mpijob__operator_children_deleted(operator_, write->job, write->action.uid);
	return 0;
}

/* The kind was listed while the request was in flight. */
static int was_listed(const struct mpijob__operator_write *write)
{
	return write->action.role &&
	       write->generation !=
		   mpijob__operator_informer_generation(write->operator_, write->action.kind);
}

/* The action is done: report its Event, once. */
static void report_done(struct mpijob__operator_write *write)
{
	struct mpijob_action *action = &write->action;

	mpijob__operator_events_emit(write->operator_, write->job, action->event_type,
	    action->event_reason, action->event_message);
	action->event_type = NULL;
}

/* The request succeeded. 1 when a read follows: the response cannot be parsed, or the object may be
 * deleted since. */
static int succeeded(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	struct mpijob__operator_job *job = write->job;
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	const struct mpijob_action *action = &write->action;
	int rc;

	mpijob__operator_rights_granted(operator_, job->namespace_, action->verb, action->kind);
	operator_->metrics.actions[action->verb][mpijob__operator_metrics_kind(action->kind)]++;
	report_done(write);
	reconcile->wrote = 1;
	reconcile->status_written |= action->verb == MPIJOB_ACTION_PATCH_STATUS && !action->role;
	/* slow start: twice as many creates each time round */
	reconcile->window += reconcile->window < operator_->options.max_writes;
	job->fresh.read_ms[action->role] = operator_->now_ms;
	if (action->role == MPIJOB_ROLE_WORKER && action->verb == MPIJOB_ACTION_CREATE)
		job->fresh.worker_created_ms = operator_->now_ms;
	/* A job without a status that had no Service until now is new: no other client began it. */
	if (action->role == MPIJOB_ROLE_SERVICE && action->verb == MPIJOB_ACTION_CREATE &&
	    !mpijob__operator_job_has_status(job))
		job->fresh.job_ms = operator_->now_ms;
	if (was_listed(write) && verify(write, MPIJOB__OPERATOR_ACTION_VERIFYING))
		return 1;
	rc = action->verb == MPIJOB_ACTION_DELETE
		 ? deleted(write, answer)
		 : mpijob__operator_children_answer(operator_, job, answer->body, answer->body_len);
	if (rc == MPIJOB_ERR_SYNTAX && verify(write, MPIJOB__OPERATOR_ACTION_VERIFYING_FAILURE))
		return 1;
	note_code(write, rc);
	return 0;
}

/* Whether the outcome of the write is unknown. */
static int is_unknown(const struct mpijob_answer *answer)
{
	if (answer->code == MPIJOB_ERR_IO || answer->code == MPIJOB_ERR_TIMEOUT ||
	    answer->code == MPIJOB_ERR_NOMEM || answer->code == MPIJOB_ERR_SYNTAX)
		return 1;
	return answer->code == MPIJOB_ERR_SERVER && answer->status != 429;
}

/* The request failed, or may have. 1 when another one was sent. */
static int failed(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	enum mpijob__operator_action_state state = MPIJOB__OPERATOR_ACTION_VERIFYING;
	int is_delete = write->action.verb == MPIJOB_ACTION_DELETE;

	if (answer->status == 403 && mpijob__operator_write_fall_back(write, message_of(answer)))
		return 1;
	if (!is_unknown(answer))
		mpijob__operator_write_not_executed(write);
	if (is_delete && answer->code == MPIJOB_ERR_NOT_FOUND) {
		write->job->reconcile.wrote = 1;
		await_end(write);
		mpijob__operator_children_deleted(write->operator_, write->job, write->action.uid);
		return 0;
	}
	if (answer->status == 422 && write->action.uid && !is_delete) {
		/* For the server a patch of an object that was recreated is not a conflict: the
		 * patch would change its UID. */
		write->rejection = strdup(message_of(answer));
	} else if (answer->code != MPIJOB_ERR_CONFLICT) {
		/* A conflict is not a failure: another client was faster, or the cache is stale. */
		note_failure(write, answer);
		if (!is_unknown(answer) && (answer->code != MPIJOB_ERR_NOT_FOUND ||
					       write->action.verb == MPIJOB_ACTION_CREATE))
			return 0;
		state = MPIJOB__OPERATOR_ACTION_VERIFYING_FAILURE;
	}
	if (verify(write, state))
		return 1;
	fail(write);
	return 0;
}

/* ---- reads ---- */

/* Another object has the name of the one that the write was for. */
static int is_another(const struct mpijob__operator_write *write)
{
	const struct mpijob_observed *observed = write->operator_->cache.observed;

	return observed && observed->uid && write->action.uid &&
	       strcmp(observed->uid, write->action.uid) != 0;
}

/* A read found the object of a write. */
static void found(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	int rc =
	    mpijob__operator_children_answer(operator_, write->job, answer->body, answer->body_len);

	if (is_another(write)) {
		if (write->action.role)
			mpijob__operator_children_deleted(operator_, write->job, write->action.uid);
		else
			fail(write); /* the job is deleted: its event follows */
		note_code(write, rc == MPIJOB_ERR_NOMEM ? rc : 0);
		return;
	}
	if (!operator_->cache.observed || !operator_->cache.observed->deleting)
		mpijob__operator_write_not_executed(write);
	else if (write->action.verb == MPIJOB_ACTION_DELETE)
		report_done(write);
	note_code(write, rc);
	if (!write->rejection)
		return;
	fail(write);
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "request-failed",
	    "cannot patch %s %s/%s: %s", write->action.kind, write->job->namespace_,
	    write->action.name, write->rejection);
}

/* A read showed whether the object exists. */
static void verified(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	struct mpijob__operator_job *job = write->job;
	int32_t role = write->action.role;

	mpijob__operator_rights_granted(write->operator_, job->namespace_,
	    MPIJOB__OPERATOR_ACTION_GET, write->action.kind);
	job->fresh.read_ms[role] = write->operator_->now_ms;
	if (answer->code == 0 || role) {
		job->fresh.verified |= job->reconcile.verified | MPIJOB__OPERATOR_ROLE_BIT(role);
		job->fresh.verified_ms = write->operator_->now_ms;
	}
	if (answer->code == 0)
		found(write, answer);
	else if (!role)
		fail(write); /* the job is deleted: its event follows */
	else if (write->action.uid) {
		mpijob__operator_children_deleted(write->operator_, job, write->action.uid);
		if (write->action.verb == MPIJOB_ACTION_DELETE)
			report_done(write);
	}
}

/* A read was answered. 1 when another request was sent. */
static int read_answered(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_write *write = user;

	if (answer->status == 403 && mpijob__operator_write_fall_back(write, message_of(answer)))
		return 1;
	if (write->state == MPIJOB__OPERATOR_ACTION_MERGING && answer->code == 0) {
		if (mpijob__operator_write_update(write, answer) == 0)
			return 1;
		write->state = MPIJOB__OPERATOR_ACTION_VERIFYING_FAILURE;
	}
	mpijob__operator_reconcile_set_state(write->job, MPIJOB__OPERATOR_PLAN_STALE);
	if (answer->code == 0 && was_listed(write) && verify(write, write->state))
		return 1;
	if (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND)
		verified(write, answer);
	else
		note_failure(write, answer);
	if (write->state == MPIJOB__OPERATOR_ACTION_VERIFYING_FAILURE)
		fail(write);
	return 0;
}

void mpijob__operator_answer_handle(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_write *write = user;
	struct mpijob__operator_job *job = write->job;
	mpijob_operator *operator_ = write->operator_;
	int more;

	write->call = NULL;
	if (mpijob__operator_write_is_read(write))
		more = mpijob__operator_read_answer(write->action.api_version, write->action.kind,
		    write->is_list, answer, read_answered, write);
	else
		more = answer->code == 0 ? succeeded(write, answer) : failed(write, answer);
	if (more)
		return;
	mpijob__operator_write_end(write);
	mpijob__operator_reconcile_advance(operator_, job);
}

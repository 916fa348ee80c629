/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each answer to a write means for the rest of its plan.
 *
 * A write whose outcome is not known (no answer, or a server error) is never repeated blindly: the
 * object is looked at first. Whatever is learned goes into the facts at once, so that the next plan
 * does not ask for it again.
 */
#include "operator/write.h"

#include <string.h>

#define AWAIT_END_MS 30000

static const char *message_of(const struct mpijob_answer *answer)
{
	return answer->message ? answer->message : mpijob_error_text(answer->code);
}

static const char *reason_of(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	return answer->status == 403 && write->forbidden ? write->forbidden : message_of(answer);
}

/* The job gets an Event when a child cannot be created, or the operator lacks a right: the server's
 * words name it. */
static void tell_user(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	static const char *const done[] = { "read", "created", "changed", "changed", "deleted",
		"" };
	const struct mpijob_action *action = &write->action;
	int creates = !write->looking && action->verb == MPIJOB_ACTION_CREATE;
	mpijob_text text = { 0 };

	if (answer->status != 403 &&
	    (!creates || (answer->code != MPIJOB_ERR_AUTH && answer->code != MPIJOB_ERR_REJECTED &&
			     answer->code != MPIJOB_ERR_NOT_FOUND)))
		return;
	if (mpijob__base_text_printf(&text, "%s %s cannot be %s: %s", action->kind, action->name,
		done[write->looking ? 0 : action->verb], reason_of(write, answer)) == 0)
		mpijob__operator_events_emit(write->operator_, write->record, "Warning",
		    creates ? "FailedCreate" : "Forbidden", mpijob_text_data(&text));
	mpijob__base_text_release(&text);
}

static void log_failure(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	static const char *const verbs[] = { "", "create", "patch", "patch the status of", "delete",
		"" };
	const struct mpijob_action *action = &write->action;

	mpijob__operator_log(write->operator_, MPIJOB_SEVERITY_WARNING, "request-failed",
	    "cannot %s %s %s/%s: %s", write->looking ? "get" : verbs[action->verb], action->kind,
	    write->record->namespace_, action->name, reason_of(write, answer));
	tell_user(write, answer);
}

/* Something that only another can change: a right, a quota, a kind that is not installed, a
 * namespace that goes. */
static int is_refusal(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	return answer->code == MPIJOB_ERR_AUTH ||
	       (answer->code == MPIJOB_ERR_NOT_FOUND && !write->looking &&
		   write->action.verb == MPIJOB_ACTION_CREATE);
}

static void note_failure(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	struct mpijob__operator_reconcile *act = &write->record->act;
	int64_t wait = mpijob__operator_retry_after(write->operator_, answer);

	act->failed = 1;
	if (wait > act->retry_after_ms)
		act->retry_after_ms = wait;
	if (!is_refusal(write, answer)) {
		log_failure(write, answer);
		return;
	}
	act->refused = 1;
	if (!mpijob__operator_rights_missing(write->operator_, write->record->namespace_,
		write->looking ? 0 : write->action.verb, write->action.kind,
		reason_of(write, answer)))
		log_failure(write, answer);
	else
		tell_user(write, answer);
}

static void note_code(struct mpijob__operator_write *write, int code)
{
	if (code == 0)
		return;
	write->record->act.failed = 1;
	if (code == MPIJOB_ERR_NOMEM)
		write->operator_->nomem = 1;
}

/* The job itself was deleted: its last event is on its way, and until then there is nothing to
 * do. */
static void await_end(struct mpijob__operator_write *write)
{
	if (!write->action.role)
		write->record->hold_ms = write->operator_->now_ms + AWAIT_END_MS;
}

/* What a DELETE answered: the object that is going, or as it was last, or a Status: then it is
 * gone. */
static int take_deleted(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	const struct mpijob_observed *observed;
	int rc = mpijob_observe(operator_->observation, answer->body, answer->body_len, NULL);

	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_SYNTAX;
	observed = mpijob_observation_view(operator_->observation);
	if (!observed->kind)
		return MPIJOB_ERR_SYNTAX;
	await_end(write);
	if (observed->deleting && observed->uid && strcmp(observed->uid, write->action.uid) == 0 &&
	    !mpijob__operator_children_is_deleted(operator_, observed->uid, 0))
		return mpijob__operator_children_answer(operator_, write->record, answer->body,
		    answer->body_len);
	mpijob__operator_children_deleted(operator_, write->record, write->action.uid);
	return 0;
}

/* Its kind was listed anew while the request was under way. */
static int is_overtaken(const struct mpijob__operator_write *write)
{
	return write->action.role &&
	       write->generation !=
		   mpijob__operator_informer_generation(write->operator_, write->action.kind);
}

/* 1 when it goes on with a GET: the answer cannot be understood, or tells of what may be gone. */
static int succeeded(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	struct mpijob__operator_reconcile *act = &write->record->act;
	int code;

	mpijob__operator_rights_granted(write->operator_, write->record->namespace_,
	    write->action.verb, write->action.kind);
	act->wrote = 1;
	act->status_told |= write->action.verb == MPIJOB_ACTION_PATCH_STATUS && !write->action.role;
	/* twice as many each time round */
	act->window += act->window < write->operator_->max_writes;
	write->record->known_ms[write->action.role] = write->operator_->now_ms;
	if (write->action.role == MPIJOB_ROLE_WORKER && write->action.verb == MPIJOB_ACTION_CREATE)
		write->record->made_ms = write->operator_->now_ms;
	/* A job without a status that had no Service until now was begun by nobody. */
	if (write->action.role == MPIJOB_ROLE_SERVICE &&
	    write->action.verb == MPIJOB_ACTION_CREATE &&
	    !mpijob__operator_job_has_status(write->record))
		write->record->fresh_ms = write->operator_->now_ms;
	if (is_overtaken(write) && mpijob__operator_write_verify(write, 0) == 0)
		return 1;
	code = write->action.verb == MPIJOB_ACTION_DELETE
		   ? take_deleted(write, answer)
		   : mpijob__operator_children_answer(write->operator_, write->record, answer->body,
			 answer->body_len);
	if (code == MPIJOB_ERR_SYNTAX && mpijob__operator_write_verify(write, 1) == 0)
		return 1;
	note_code(write, code);
	return 0;
}

/* The object of that name is another one than the write was meant for. */
static int is_another(const struct mpijob__operator_write *write)
{
	const char *uid = mpijob_observation_view(write->operator_->observation)->uid;

	return uid && write->action.uid && strcmp(uid, write->action.uid) != 0;
}

/* The object of a write is there. */
static void found(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	int rc = mpijob__operator_children_answer(operator_, write->record, answer->body,
	    answer->body_len);

	if (is_another(write)) {
		if (write->action.role)
			mpijob__operator_children_deleted(operator_, write->record,
			    write->action.uid);
		else
			/* the job itself is gone: news of that is on its way */
			write->record->act.failed = 1;
		note_code(write, rc == MPIJOB_ERR_NOMEM ? rc : 0);
		return;
	}
	note_code(write, rc);
	if (!write->rejection)
		return;
	write->record->act.failed = 1;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "request-failed",
	    "cannot patch %s %s/%s: %s", write->action.kind, write->record->namespace_,
	    write->action.name, write->rejection);
}

/* The answer to a read of the object. 1 when another request was sent. */
static int looked(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	struct mpijob__operator_job *record = write->record;
	struct mpijob__operator_reconcile *act = &record->act;

	if (answer->status == 403 && mpijob__operator_write_fall_back(write, message_of(answer)))
		return 1;
	if (write->updating && answer->code == 0) {
		if (mpijob__operator_write_update(write, answer) == 0)
			return 1;
		act->failed = 1;
	}
	act->replan = 1;
	if (answer->code == 0 && is_overtaken(write) &&
	    mpijob__operator_write_verify(write, write->failed) == 0)
		return 1;
	if (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND) {
		mpijob__operator_rights_granted(write->operator_, record->namespace_, 0,
		    write->action.kind);
		record->known_ms[write->action.role] = write->operator_->now_ms;
		/* Not of a job that is not there, which nothing is to be done about. */
		if (answer->code == 0 || write->action.role)
			record->sure |= act->sure | MPIJOB__OPERATOR_ROLE_BIT(write->action.role);
	}
	if (answer->code == 0)
		found(write, answer);
	else if (answer->code == MPIJOB_ERR_NOT_FOUND && write->action.role && write->action.uid)
		mpijob__operator_children_deleted(write->operator_, record, write->action.uid);
	else if (answer->code != MPIJOB_ERR_NOT_FOUND)
		note_failure(write, answer);
	/* A job that is not there: news of that is on its way. */
	if (write->failed || (answer->code == MPIJOB_ERR_NOT_FOUND && !write->action.role))
		act->failed = 1;
	return 0;
}

/* Does this answer leave open whether the write happened? */
static int unclear(const struct mpijob_answer *answer)
{
	if (answer->code == MPIJOB_ERR_IO || answer->code == MPIJOB_ERR_TIMEOUT ||
	    answer->code == MPIJOB_ERR_NOMEM || answer->code == MPIJOB_ERR_SYNTAX)
		return 1;
	return answer->code == MPIJOB_ERR_SERVER && answer->status != 429;
}

/* What to do about a write that did not simply succeed. 1 when it goes on with a GET. */
static int not_done(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	int is_delete = write->action.verb == MPIJOB_ACTION_DELETE;
	int failed;

	if (answer->status == 403 && mpijob__operator_write_fall_back(write, message_of(answer)))
		return 1;
	if (is_delete && answer->code == MPIJOB_ERR_NOT_FOUND) {
		write->record->act.wrote = 1;
		await_end(write);
		mpijob__operator_children_deleted(write->operator_, write->record,
		    write->action.uid);
		return 0;
	}
	if (answer->code == MPIJOB_ERR_CONFLICT) {
		/* Somebody was there before us. After a conflict about a job in motion that is
		 * nothing special. */
		failed = 0;
	} else if (answer->status == 422 && write->action.uid && !is_delete) {
		/* A patch for one that is gone, and was made again, is no conflict for the server:
		 * its uid would change. */
		write->rejection = strdup(message_of(answer));
		failed = 0;
	} else if (unclear(answer) || (answer->code == MPIJOB_ERR_NOT_FOUND &&
					  write->action.verb != MPIJOB_ACTION_CREATE)) {
		note_failure(write, answer);
		failed = 1;
	} else {
		note_failure(write, answer);
		return 0;
	}
	if (mpijob__operator_write_verify(write, failed) == 0)
		return 1;
	write->record->act.failed = 1;
	return 0;
}

/* Handle a list of one object as that object, or as its absence. 1 when another request was
 * sent. */
static int listed(struct mpijob__operator_write *write, const struct mpijob_answer *answer)
{
	struct mpijob_answer object = *answer;
	mpijob_text text = { 0 };
	int more;

	mpijob__operator_read_object(write->action.api_version, write->action.kind, &object, &text);
	more = looked(write, &object);
	mpijob__operator_read_release(&text);
	return more;
}

void mpijob__operator_answer_handle(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_write *write = user;
	struct mpijob__operator_job *record = write->record;
	mpijob_operator *operator_ = write->operator_;
	int more;

	write->call = NULL;
	if (write->looking)
		more = write->listing ? listed(write, answer) : looked(write, answer);
	else
		more = answer->code == 0 ? succeeded(write, answer) : not_done(write, answer);
	if (more)
		return;
	mpijob__operator_write_end(write);
	mpijob__operator_reconcile_advance(operator_, record);
}

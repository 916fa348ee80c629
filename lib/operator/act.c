/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a plan is carried out, and what each answer means for the rest of it.
 *
 * The actions of a stage are started one turn at a time, creates in a window that grows with success. A
 * write whose outcome is not known (no answer, or a server error) is never repeated blindly: the object
 * is looked at first. Whatever is learned goes into the facts at once, so that the next plan does not ask
 * for it again. Events are handed over when the rest of their stage has succeeded.
 */
#include "operator/operator.h"

#include "base/secret.h"
#include "cluster/client.h"
#include "cluster/clock.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 12          /* plans in a row without news from outside, then something goes in circles */
#define REST 10                 /* planning one job takes at most one part in so many of the time */
#define IDLE_LOOK_MS 1000       /* a plan that wants to be asked again at once is not: it said all that it had to say */
#define FRESH_MS 10000          /* what the server said of a job so lately is true */
#define RETRY_AFTER_MOST_MS 300000
#define REFUSED_MS 30000        /* no news tell that a right is back: it is tried */
#define REFUSED_EACH_MS 100     /* and ten times a second by all jobs together */

struct mpijob__write {
	struct mpijob__write *prev, *next; /* of the record */
	mpijob_operator *operator_;
	struct mpijob__record *record;
	mpijob_call *call;
	struct mpijob_action action;       /* strings borrowed from the plan, which outlives this */
	int looking;                       /* this is the GET after an outcome that was not clear */
	int failed;                        /* and the write did fail, or may have */
	char *rejection;                   /* why the server did not take it, unless it was meant for another object */
};

static void forget_write(struct mpijob__write *write)
{
	struct mpijob__act *act = &write->record->act;

	if (write->prev)
		write->prev->next = write->next;
	else
		act->writes = write->next;
	if (write->next)
		write->next->prev = write->prev;
	act->in_flight--;
	write->operator_->writes--;
	free(write->rejection);
	free(write);
}

static void end_plan(struct mpijob__act *act)
{
	mpijob_plan_free(act->plan);
	memset(act, 0, sizeof(*act));
}

static void finish(mpijob_operator *operator_, struct mpijob__record *record);

void mpijob__act_stop(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;

	if (!act->plan)
		return;
	act->replan = 1;
	if (act->in_flight == 0)
		finish(operator_, record);
}

void mpijob__act_job_news(struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;

	if (!act->plan)
		return;
	/* A watch may be faster than the answer. Behind its status there are only Events, which nobody would tell again. */
	for (const struct mpijob__write *write = act->writes; write; write = write->next)
		if (write->action.verb == MPIJOB_ACTION_PATCH_STATUS && strcmp(write->action.kind, "MPIJob") == 0)
			return;
	act->replan = 1;
}

void mpijob__act_cancel(mpijob_operator *operator_, struct mpijob__record *record)
{
	(void)operator_;
	while (record->act.writes) {
		if (record->act.writes->call)
			mpijob_call_cancel(record->act.writes->call);
		forget_write(record->act.writes);
	}
	end_plan(&record->act);
}

/* --- the end of a plan --- */

static void look_again(mpijob_operator *operator_, struct mpijob__record *record, int64_t next_ms, int64_t planned_ms)
{
	int64_t wait = next_ms - mpijob__client_server_ms(operator_->client);

	if (next_ms == 0)
		return;
	if (next_ms <= planned_ms)
		wait = IDLE_LOOK_MS;
	mpijob__queue_add_at(&operator_->queue, &record->item, mpijob__clock_monotonic_ms() + (wait < 1 ? 1 : wait));
}

/* Note whether a job waits for a right; tell how long at most. */
static int64_t note_refused(mpijob_operator *operator_, struct mpijob__record *record, int refused)
{
	int64_t each_ms;

	operator_->refused -= record->refused;
	record->refused = refused != 0;
	operator_->refused += record->refused;
	each_ms = (int64_t)operator_->refused * REFUSED_EACH_MS;
	return !refused ? 0 : each_ms > REFUSED_MS ? each_ms : REFUSED_MS;
}

/* Nothing of the plan is under way any more, and nothing will be started. */
static void finish(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;
	int64_t next_ms = mpijob_plan_next_ms(act->plan);
	int64_t retry_after_ms = act->retry_after_ms;
	int64_t planned_ms = act->planned_ms;
	int again = act->wrote || act->replan;
	int64_t at_most_ms = note_refused(operator_, record, act->refused);
	int failed = act->failed;

	end_plan(act);
	if (again && !failed && ++record->rounds > MOST_ROUNDS) {
		failed = 1;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "does-not-settle",
				     "MPIJob %s/%s does not settle: %d plans were carried out without news from the cluster",
				     record->namespace_, record->name, record->rounds);
	}
	if (failed) {
		mpijob__queue_failed(&operator_->queue, &record->item, mpijob__clock_monotonic_ms(), retry_after_ms,
				     at_most_ms);
		return;
	}
	mpijob__queue_done(&operator_->queue, &record->item, record->rest_until_ms);
	if (again)
		mpijob__queue_add(&operator_->queue, &record->item);
	else
		look_again(operator_, record, next_ms, planned_ms);
}

static int only_events_left(const struct mpijob__act *act)
{
	for (size_t i = act->next; i < mpijob_plan_count(act->plan); i++)
		if (mpijob_plan_at(act->plan, i)->verb != MPIJOB_ACTION_EVENT)
			return 0;
	return 1;
}

/* A stage is done, well: its Events can be told. */
static void tell_events(mpijob_operator *operator_, struct mpijob__record *record)
{
	const struct mpijob__act *act = &record->act;

	for (size_t i = 0; i < act->next; i++) {
		const struct mpijob_action *action = mpijob_plan_at(act->plan, i);

		if (action->stage == act->stage && action->verb == MPIJOB_ACTION_EVENT)
			mpijob__events_emit(operator_, record, action->event_type, action->event_reason,
					    action->event_message);
	}
}

/*
 * See how far the plan is: pass over Events, close stages, end it, or get in line for the next action.
 */
static void advance(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;

	for (;;) {
		const struct mpijob_action *action = mpijob_plan_at(act->plan, act->next);
		int stop = act->failed || act->replan;

		if (!stop && action && action->stage == act->stage) {
			if (action->verb == MPIJOB_ACTION_EVENT) {
				act->next++;
				continue;
			}
			if (action->verb != MPIJOB_ACTION_CREATE || act->in_flight < act->window)
				mpijob__queue_again(&operator_->queue, &record->item);
			return;
		}
		if (act->in_flight)
			return;
		if (!stop) {
			tell_events(operator_, record);
			/* What changed meanwhile is taken into account before the next stage. */
			if (action && record->item.dirty && !only_events_left(act)) {
				act->replan = 1;
				continue;
			}
			if (action) {
				act->stage = action->stage;
				continue;
			}
		}
		finish(operator_, record);
		return;
	}
}

/* --- answers --- */

static const char *message_of(const struct mpijob_answer *answer)
{
	return answer->message ? answer->message : mpijob_error_text(answer->code);
}

/* Whose job it is gets an Event when a child cannot be made. */
static void tell_user(const struct mpijob__write *write, const struct mpijob_answer *answer)
{
	const struct mpijob_action *action = &write->action;
	mpijob_text text = { 0 };

	if (!write->looking && action->verb == MPIJOB_ACTION_CREATE &&
	    (answer->code == MPIJOB_ERR_AUTH || answer->code == MPIJOB_ERR_REJECTED || answer->code == MPIJOB_ERR_NOT_FOUND) &&
	    mpijob__text_printf(&text, "%s %s cannot be created: %s", action->kind, action->name, message_of(answer)) == 0)
		mpijob__events_emit(write->operator_, write->record, "Warning", "FailedCreate", mpijob_text_data(&text));
	mpijob__text_release(&text);
}

static void log_failure(const struct mpijob__write *write, const struct mpijob_answer *answer)
{
	static const char *const verbs[] = { "", "create", "patch", "patch the status of", "delete", "" };
	const struct mpijob_action *action = &write->action;

	mpijob__operator_log(write->operator_, MPIJOB_SEVERITY_WARNING, "request-failed", "cannot %s %s %s/%s: %s",
			     write->looking ? "get" : verbs[action->verb], action->kind, write->record->namespace_,
			     action->name, message_of(answer));
	tell_user(write, answer);
}

/* Something that only another can change: a right, a quota, a kind that is not installed, a namespace that goes. */
static int is_refusal(const struct mpijob__write *write, const struct mpijob_answer *answer)
{
	return answer->code == MPIJOB_ERR_AUTH ||
	       (answer->code == MPIJOB_ERR_NOT_FOUND && !write->looking && write->action.verb == MPIJOB_ACTION_CREATE);
}

static void note_failure(struct mpijob__write *write, const struct mpijob_answer *answer)
{
	struct mpijob__act *act = &write->record->act;
	int64_t wait = answer->retry_after_ms > RETRY_AFTER_MOST_MS ? RETRY_AFTER_MOST_MS : answer->retry_after_ms;

	act->failed = 1;
	if (wait > act->retry_after_ms)
		act->retry_after_ms = wait;
	/* Too many requests are not the fault of one job. */
	if (wait > 0 && (answer->status == 429 || answer->status == 503) &&
	    write->operator_->hold_until_ms < mpijob__clock_monotonic_ms() + wait)
		write->operator_->hold_until_ms = mpijob__clock_monotonic_ms() + wait;
	if (!is_refusal(write, answer)) {
		log_failure(write, answer);
		return;
	}
	act->refused = 1;
	if (!mpijob__rights_missing(write->operator_, write->record->namespace_, write->looking ? 0 : write->action.verb,
				    write->action.kind, message_of(answer)))
		log_failure(write, answer);
	else
		tell_user(write, answer);
}

static void note_code(struct mpijob__write *write, int code)
{
	if (code == 0)
		return;
	write->record->act.failed = 1;
	if (code == MPIJOB_ERR_NOMEM)
		write->operator_->nomem = 1;
}

static void when_done(void *user, const struct mpijob_answer *answer);

static void fill_target(const struct mpijob__write *write, struct mpijob_target *target)
{
	target->api_version = write->action.api_version;
	target->kind = write->action.kind;
	target->namespace_ = write->record->namespace_;
	target->name = write->action.name;
}

/* Ask for the object as it is. 0, or the write is still its caller's. */
static int look(struct mpijob__write *write, int failed)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, when_done, write };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	write->looking = 1;
	write->failed = failed;
	fill_target(write, &target);
	return mpijob__request_start(write->operator_->client, "GET", &target, NULL, NULL, &callbacks, &write->call);
}

/* What a DELETE answered: the object that is going, or as it was last, or a Status: then it is gone. */
static int take_deleted(struct mpijob__write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	const struct mpijob_observed *observed;
	int rc = mpijob_observe(operator_->observation, answer->body, answer->body_len, NULL);

	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_SYNTAX;
	observed = mpijob_observation_view(operator_->observation);
	if (!observed->kind)
		return MPIJOB_ERR_SYNTAX;
	mpijob__route_going(operator_, write->action.uid);
	if (observed->deleting && observed->uid && strcmp(observed->uid, write->action.uid) == 0 &&
	    !mpijob__route_is_gone(operator_, observed->uid, 0))
		return mpijob__route_answer(operator_, write->record, answer->body, answer->body_len);
	mpijob__route_gone(operator_, write->record, write->action.uid);
	return 0;
}

/* 1 when it goes on with a GET: the answer cannot be understood. */
static int succeeded(struct mpijob__write *write, const struct mpijob_answer *answer)
{
	struct mpijob__act *act = &write->record->act;
	int code;

	mpijob__rights_back(write->operator_, write->record->namespace_, write->action.verb, write->action.kind);
	act->wrote = 1;
	act->window += act->window < write->operator_->max_writes; /* twice as many each time round */
	if (write->action.role == MPIJOB_ROLE_SECRET)
		write->record->secret_known = 1;
	if (write->action.role == MPIJOB_ROLE_WORKER && write->action.verb == MPIJOB_ACTION_CREATE)
		write->record->made_ms = write->operator_->now_ms;
	code = write->action.verb == MPIJOB_ACTION_DELETE
		       ? take_deleted(write, answer)
		       : mpijob__route_answer(write->operator_, write->record, answer->body, answer->body_len);
	if (code == MPIJOB_ERR_SYNTAX && look(write, 1) == 0)
		return 1;
	note_code(write, code);
	return 0;
}

/* The object of that name is another one than the write was meant for. */
static int is_another(const struct mpijob__write *write)
{
	const char *uid = mpijob_observation_view(write->operator_->observation)->uid;

	return uid && write->action.uid && strcmp(uid, write->action.uid) != 0;
}

/* The object of a write is there. */
static void found(struct mpijob__write *write, const struct mpijob_answer *answer)
{
	mpijob_operator *operator_ = write->operator_;
	int rc = mpijob__route_answer(operator_, write->record, answer->body, answer->body_len);

	if (is_another(write)) {
		if (write->action.role)
			mpijob__route_gone(operator_, write->record, write->action.uid);
		else
			write->record->act.failed = 1; /* the job itself is gone: news of that is on its way */
		note_code(write, rc == MPIJOB_ERR_NOMEM ? rc : 0);
		return;
	}
	note_code(write, rc);
	if (!write->rejection)
		return;
	write->record->act.failed = 1;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "request-failed", "cannot patch %s %s/%s: %s",
			     write->action.kind, write->record->namespace_, write->action.name, write->rejection);
}

/* The object was looked at. */
static void looked(struct mpijob__write *write, const struct mpijob_answer *answer)
{
	struct mpijob__record *record = write->record;
	struct mpijob__act *act = &record->act;

	act->replan = 1;
	if (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND)
		mpijob__rights_back(write->operator_, record->namespace_, 0, write->action.kind);
	if (write->action.role == MPIJOB_ROLE_SECRET && (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND))
		record->secret_known = 1;
	if (answer->code == 0)
		found(write, answer);
	else if (answer->code == MPIJOB_ERR_NOT_FOUND && write->action.role && write->action.uid)
		mpijob__route_gone(write->operator_, record, write->action.uid);
	else if (answer->code != MPIJOB_ERR_NOT_FOUND)
		note_failure(write, answer);
	/* A job that is not there: news of that is on its way. */
	if (write->failed || (answer->code == MPIJOB_ERR_NOT_FOUND && !write->action.role))
		act->failed = 1;
}

/* Does this answer leave open whether the write happened? */
static int unclear(const struct mpijob_answer *answer)
{
	if (answer->code == MPIJOB_ERR_IO || answer->code == MPIJOB_ERR_TIMEOUT || answer->code == MPIJOB_ERR_NOMEM ||
	    answer->code == MPIJOB_ERR_SYNTAX)
		return 1;
	return answer->code == MPIJOB_ERR_SERVER && answer->status != 429;
}

/* What to do about a write that did not simply succeed. 1 when it goes on with a GET. */
static int not_done(struct mpijob__write *write, const struct mpijob_answer *answer)
{
	int is_delete = write->action.verb == MPIJOB_ACTION_DELETE;
	int failed;

	if (is_delete && answer->code == MPIJOB_ERR_NOT_FOUND) {
		write->record->act.wrote = 1;
		mpijob__route_gone(write->operator_, write->record, write->action.uid);
		return 0;
	}
	if (answer->code == MPIJOB_ERR_CONFLICT) {
		/* Somebody was there before us. After a conflict about a job in motion that is nothing special. */
		failed = 0;
	} else if (answer->status == 422 && write->action.uid && !is_delete) {
		/* A patch for one that is gone, and was made again, is no conflict for the server: its uid would change. */
		write->rejection = strdup(message_of(answer));
		failed = 0;
	} else if (unclear(answer) || (answer->code == MPIJOB_ERR_NOT_FOUND && write->action.verb != MPIJOB_ACTION_CREATE)) {
		note_failure(write, answer);
		failed = 1;
	} else {
		note_failure(write, answer);
		return 0;
	}
	if (look(write, failed) == 0)
		return 1;
	write->record->act.failed = 1;
	return 0;
}

static void when_done(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__write *write = user;
	struct mpijob__record *record = write->record;
	mpijob_operator *operator_ = write->operator_;

	write->call = NULL;
	if (write->looking)
		looked(write, answer);
	else if (answer->code == 0 ? succeeded(write, answer) : not_done(write, answer))
		return;
	forget_write(write);
	advance(operator_, record);
}

/* --- starting --- */

static int write_body(struct mpijob__record *record, size_t index, int with_entropy, mpijob_text *body)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	int rc = with_entropy ? mpijob__entropy_fill(entropy, sizeof(entropy)) : 0;

	if (rc == 0)
		rc = mpijob_plan_write_body(record->act.plan, index, with_entropy ? entropy : NULL,
					    with_entropy ? sizeof(entropy) : 0, mpijob_text_write, body);
	if (with_entropy)
		mpijob__secret_wipe(entropy, sizeof(entropy));
	return rc;
}

/*
 * A server ignores the uid in a patch of a status. The version that the object must have keeps the status of one that is
 * gone from another one of its name.
 */
static int pin_version(const struct mpijob__record *record, mpijob_text *body)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	const mpijob_node *job = mpijob_doc_root(mpijob_document(record->job));
	const char *version = mpijob_node_string(mpijob_node_find(job, "metadata.resourceVersion"));
	mpijob_doc *doc = NULL;
	int rc;

	if (!version)
		return 0;
	options.format = MPIJOB_FORMAT_JSON;
	rc = mpijob_doc_parse(mpijob_text_data(body), mpijob_text_len(body), &options, &doc, NULL);
	if (rc)
		return rc;
	mpijob_node_put_string(doc, mpijob_doc_find(doc, "metadata"), "resourceVersion", version);
	rc = mpijob_doc_error(doc);
	body->len = 0;
	if (rc == 0)
		rc = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, body);
	mpijob_doc_free(doc);
	return rc;
}

static int send(struct mpijob__write *write, size_t index)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, when_done, write };
	const struct mpijob_action *action = &write->action;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *method = "PATCH", *type = "application/merge-patch+json";
	mpijob_text body = { 0 };
	int rc;

	fill_target(write, &target);
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS)
		target.subresource = "status";
	if (action->verb == MPIJOB_ACTION_DELETE) {
		method = "DELETE";
		type = "application/json";
		rc = mpijob__request_delete_options(action->uid, "Background", NULL, &body);
	} else {
		rc = write_body(write->record, index, action->role == MPIJOB_ROLE_SECRET, &body);
		if (rc == 0 && action->verb == MPIJOB_ACTION_PATCH_STATUS && action->role == 0)
			rc = pin_version(write->record, &body);
	}
	if (action->verb == MPIJOB_ACTION_CREATE) {
		method = "POST";
		type = "application/json";
		target.name = NULL;
	}
	if (rc == 0)
		rc = mpijob__request_start(write->operator_->client, method, &target, type, &body, &callbacks,
					   &write->call);
	mpijob__text_release(&body);
	return rc;
}

/* A job that began its life under another operator may have its Secret already; that is never listed. */
static int wants_secret_first(const struct mpijob__record *record, const struct mpijob_action *action)
{
	return action->role == MPIJOB_ROLE_SECRET && action->verb == MPIJOB_ACTION_CREATE && !record->secret_known &&
	       mpijob__jobs_has_status(record);
}

/*
 * News may be old, and a launcher must not run again, nor a worker go that is wanted by now: unless we wrote to their job
 * just now, we ask how that stands.
 */
static int wants_job_first(struct mpijob__write *write)
{
	struct mpijob_action *action = &write->action;
	const struct mpijob__record *record = write->record;

	if (write->operator_->now_ms - record->fresh_ms < FRESH_MS)
		return 0;
	if (action->verb != MPIJOB_ACTION_DELETE &&
	    (action->verb != MPIJOB_ACTION_CREATE || action->role != MPIJOB_ROLE_LAUNCHER))
		return 0;
	action->verb = MPIJOB_ACTION_PATCH_STATUS;
	action->role = 0;
	action->api_version = "kubeflow.org/v2beta1";
	action->kind = "MPIJob";
	action->name = record->name;
	action->uid = record->uid;
	return 1;
}

static int start(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;
	struct mpijob__write *write = calloc(1, sizeof(*write));
	size_t index = act->next;
	int rc;

	if (!write)
		return MPIJOB_ERR_NOMEM;
	write->operator_ = operator_;
	write->record = record;
	write->action = *mpijob_plan_at(act->plan, index);
	write->next = act->writes;
	if (act->writes)
		act->writes->prev = write;
	act->writes = write;
	act->in_flight++;
	operator_->writes++;
	act->next++;
	if (wants_job_first(write) || wants_secret_first(record, &write->action))
		rc = look(write, 0);
	else
		rc = send(write, index);
	if (rc)
		forget_write(write);
	return rc;
}

static int make_plan(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	struct mpijob__act *act = &record->act;
	int64_t from_us = mpijob__clock_monotonic_us(), took_us;
	int rc;

	options.now_ms = mpijob__client_server_ms(operator_->client);
	rc = mpijob__configure_plan(operator_, record, &options, &act->plan);
	if (rc)
		return rc;
	act->window = 1;
	act->planned_ms = options.now_ms;
	/* A plan of ten thousand workers takes its time: not one for each pod that begins to run. */
	took_us = mpijob__clock_monotonic_us() - from_us;
	mpijob__histogram_add(&operator_->metrics.planned, took_us);
	record->rest_until_ms = (from_us + took_us * REST) / 1000;
	return 0;
}

static void note_launcher(struct mpijob__record *record)
{
	const struct mpijob_launcher_facts *launcher = mpijob_facts_launcher(record->facts);

	if (launcher && launcher->owner_uid && strcmp(launcher->owner_uid, record->uid) == 0)
		record->had_launcher = 1;
}

/* A shadow only takes note of its plan. */
static int imagine(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;
	int64_t next_ms = mpijob_plan_next_ms(act->plan), planned_ms = act->planned_ms, due_ms;
	int rc = mpijob__shadow_plan(operator_, record, act->plan, &due_ms);

	end_plan(act);
	if (rc) {
		mpijob__queue_failed(&operator_->queue, &record->item, operator_->now_ms, 0, 0);
		return rc;
	}
	mpijob__queue_done(&operator_->queue, &record->item, record->rest_until_ms);
	look_again(operator_, record, next_ms, planned_ms);
	if (due_ms != INT64_MAX)
		mpijob__queue_add_at(&operator_->queue, &record->item, due_ms);
	return 0;
}

/* It cannot be read, or not be planned for: nothing is done about it until it is another. */
static void leave_aside(mpijob_operator *operator_, struct mpijob__record *record)
{
	if (record->aside)
		mpijob__events_emit(operator_, record, "Warning", "ValidationError", record->aside);
	free(record->aside);
	record->aside = NULL;
	mpijob__queue_done(&operator_->queue, &record->item, INT64_MIN);
}

static int begin(mpijob_operator *operator_, struct mpijob__record *record)
{
	int rc;

	if (operator_->now_ms < record->hold_ms) {
		mpijob__queue_done(&operator_->queue, &record->item, record->hold_ms);
		mpijob__queue_add(&operator_->queue, &record->item);
		return 0;
	}
	mpijob__histogram_add(&operator_->metrics.waited, (operator_->now_ms - record->item.since_ms) * 1000);
	if (!record->job) {
		leave_aside(operator_, record);
		return 0;
	}
	note_launcher(record);
	if (record->strangers_ms && operator_->now_ms >= record->strangers_ms)
		mpijob__route_forget_strangers(operator_, record);
	rc = make_plan(operator_, record);
	if (rc == 0 && operator_->shadow.on)
		return imagine(operator_, record);
	if (rc == 0) {
		advance(operator_, record);
		return 0;
	}
	if (rc == MPIJOB_ERR_NOMEM) {
		mpijob__queue_failed(&operator_->queue, &record->item, operator_->now_ms, 0, 0);
		return rc;
	}
	operator_->metrics.set_aside[mpijob__metrics_kind("MPIJob")]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside", "MPIJob %s/%s is set aside: %s",
			     record->namespace_, record->name, mpijob_error_text(rc));
	leave_aside(operator_, record);
	return 0;
}

int mpijob__act_turn(mpijob_operator *operator_, struct mpijob__record *record)
{
	struct mpijob__act *act = &record->act;
	const struct mpijob_action *action;
	int rc;

	if (!act->plan)
		return begin(operator_, record);
	action = mpijob_plan_at(act->plan, act->next);
	/* Since it got in line something may have failed, or the window be full. */
	if (act->failed || act->replan || !action || action->stage != act->stage || action->verb == MPIJOB_ACTION_EVENT) {
		advance(operator_, record);
		return 0;
	}
	rc = start(operator_, record);
	if (rc) {
		act->failed = 1;
		if (rc != MPIJOB_ERR_NOMEM)
			mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "request-failed",
					     "cannot ask for %s %s/%s: %s", action->kind, record->namespace_,
					     action->name, mpijob_error_text(rc));
	}
	advance(operator_, record);
	return rc == MPIJOB_ERR_NOMEM ? rc : 0;
}

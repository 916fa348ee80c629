/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course of a job: when it is planned, how far its plan is, and when it comes again.
 *
 * The actions of a stage are started one turn at a time, creates in a window that grows with
 * success. Events are handed over when the rest of their stage has succeeded. What changes
 * meanwhile is taken into account before the next stage, by a new plan.
 */
#include "operator/write.h"

#include "client/client.h"
#include "client/clock.h"

#include <stdlib.h>
#include <string.h>

/* plans in a row without news from outside, then something goes in circles */
#define MOST_ROUNDS 12
#define REST        10   /* planning one job takes at most one part in so many of the time */
#define LONG_US     5000 /* reading or validation that took longer is a turn of its own */
/* a plan that wants to be asked again at once is not: it said all that it had to say */
#define IDLE_LOOK_MS 1000
#define REFUSED_MS   30000 /* no news tell that a right is back: it is tried */
/* and ten times a second by all jobs together, of which each namespace has its part */
#define REFUSED_EACH_MS 100

void mpijob__operator_write_end(struct mpijob__operator_write *write)
{
	struct mpijob__operator_reconcile *act = &write->record->act;

	if (write->prev)
		write->prev->next = write->next;
	else
		act->writes = write->next;
	if (write->next)
		write->next->prev = write->prev;
	act->in_flight--;
	write->operator_->writes--;
	mpijob__operator_queue_answered(&write->operator_->queue, &write->record->item);
	free(write->forbidden);
	free(write->rejection);
	free(write);
}

static void give_up(struct mpijob__operator_write *write)
{
	if (write->call)
		mpijob_call_cancel(write->call);
	mpijob__operator_write_end(write);
}

static void end_plan(struct mpijob__operator_reconcile *act)
{
	mpijob_plan_free(act->plan);
	memset(act, 0, sizeof(*act));
}

static void finish(mpijob_operator *operator_, struct mpijob__operator_job *record);

void mpijob__operator_reconcile_stop(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;
	struct mpijob__operator_write *next;

	if (!act->plan)
		return;
	act->replan = 1;
	for (struct mpijob__operator_write *write = act->writes; write; write = next) {
		next = write->next;
		if (write->call && mpijob__client_call_waits(write->call))
			give_up(write);
	}
	if (act->in_flight == 0)
		finish(operator_, record);
}

void mpijob__operator_reconcile_job_changed(struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;

	if (!act->plan)
		return;
	/* A watch may be faster than the answer. Behind its status there are only Events, which
	 * nobody would tell again. */
	for (const struct mpijob__operator_write *write = act->writes; write; write = write->next)
		if (write->action.verb == MPIJOB_ACTION_PATCH_STATUS &&
		    strcmp(write->action.kind, "MPIJob") == 0)
			return;
	act->replan = 1;
}

void mpijob__operator_reconcile_cancel(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	(void)operator_;
	while (record->act.writes)
		give_up(record->act.writes);
	end_plan(&record->act);
}

/* --- the end of a plan --- */

static void look_again(mpijob_operator *operator_, struct mpijob__operator_job *record,
    int64_t next_ms, int64_t planned_ms)
{
	int64_t wait = next_ms - mpijob__client_server_ms(operator_->client);

	if (next_ms == 0)
		return;
	if (next_ms <= planned_ms)
		wait = IDLE_LOOK_MS;
	mpijob__operator_queue_add_at(&operator_->queue, &record->item,
	    mpijob__client_clock_monotonic_ms() + (wait < 1 ? 1 : wait));
}

/* How long one whose plan was refused waits at most; 0: as after any failure. */
static int64_t refused_ms(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	int64_t each_ms;

	if (!record->act.refused)
		return 0;
	mpijob__operator_rights_set_waiting(operator_, record, 1);
	each_ms = (int64_t)mpijob__operator_queue_share(&operator_->queue, &record->item) *
		  REFUSED_EACH_MS;
	return each_ms > REFUSED_MS ? each_ms : REFUSED_MS;
}

/* Nothing of the plan is under way any more, and nothing will be started. */
static void finish(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;
	int64_t next_ms = mpijob_plan_next_ms(act->plan);
	int64_t retry_after_ms = act->retry_after_ms;
	int64_t planned_ms = act->planned_ms;
	int again = act->wrote || act->replan;
	int64_t at_most_ms = refused_ms(operator_, record);
	int failed = act->failed;

	end_plan(act);
	if (again && !failed && ++record->rounds > MOST_ROUNDS) {
		failed = 1;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "does-not-settle",
		    "MPIJob %s/%s does not settle: %d plans were carried out without news from the "
		    "cluster",
		    record->namespace_, record->name, record->rounds);
	}
	if (failed) {
		mpijob__operator_queue_failed(&operator_->queue, &record->item,
		    mpijob__client_clock_monotonic_ms(), retry_after_ms, at_most_ms);
		return;
	}
	mpijob__operator_queue_done(&operator_->queue, &record->item, record->rest_until_ms);
	if (again) {
		mpijob__operator_queue_add(&operator_->queue, &record->item);
		return;
	}
	mpijob__operator_rights_set_waiting(operator_, record, 0);
	look_again(operator_, record, next_ms, planned_ms);
	mpijob__operator_names_schedule(operator_, record);
	if (record->strangers_ms)
		mpijob__operator_queue_add_at(&operator_->queue, &record->item,
		    record->strangers_ms);
}

static int only_events_left(const struct mpijob__operator_reconcile *act)
{
	for (size_t i = act->next; i < mpijob_plan_count(act->plan); i++)
		if (mpijob_plan_at(act->plan, i)->verb != MPIJOB_ACTION_EVENT)
			return 0;
	return 1;
}

/* A stage is done, well, or the status says by now what they tell, and no later plan will tell it
 * again. */
static void tell_events(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	const struct mpijob__operator_reconcile *act = &record->act;

	for (size_t i = 0; i < mpijob_plan_count(act->plan); i++) {
		const struct mpijob_action *action = mpijob_plan_at(act->plan, i);

		if (action->stage == act->stage && action->verb == MPIJOB_ACTION_EVENT)
			mpijob__operator_events_emit(operator_, record, action->event_type,
			    action->event_reason, action->event_message);
	}
}

void mpijob__operator_reconcile_advance(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;

	for (;;) {
		const struct mpijob_action *action = mpijob_plan_at(act->plan, act->next);
		int stop = act->failed || act->replan;

		if (!stop && action && action->stage == act->stage) {
			if (action->verb == MPIJOB_ACTION_EVENT) {
				act->next++;
				continue;
			}
			if (action->verb != MPIJOB_ACTION_CREATE || act->in_flight < act->window)
				mpijob__operator_queue_continue(&operator_->queue, &record->item);
			return;
		}
		if (act->in_flight)
			return;
		if (!stop || act->status_told)
			tell_events(operator_, record);
		act->status_told = 0;
		if (!stop) {
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

static int make_plan(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	struct mpijob__operator_reconcile *act = &record->act;
	int64_t from_us = mpijob__client_clock_monotonic_us(), took_us;
	int rc;

	options.now_ms = mpijob__client_server_ms(operator_->client);
	mpijob__operator_names_fill_options(operator_, record, &options);
	rc = mpijob__operator_configure_plan(operator_, record, &options, &act->plan);
	if (rc)
		return rc;
	mpijob__operator_names_planned(operator_, record, act->plan, &options);
	act->window = 1;
	act->planned_ms = options.now_ms;
	act->begun_ms = operator_->now_ms;
	act->sure = record->sure;
	record->sure = 0;
	/* A plan of ten thousand workers takes its time: not one for each pod that begins to
	 * run. */
	took_us = mpijob__client_clock_monotonic_us() - from_us;
	mpijob__operator_histogram_add(&operator_->metrics.planned, took_us);
	record->rest_until_ms = (from_us + took_us * REST) / 1000;
	return 0;
}

static void note_launcher(struct mpijob__operator_job *record)
{
	const struct mpijob_launcher_facts *launcher = mpijob_facts_launcher(record->facts);

	if (launcher && launcher->owner_uid && strcmp(launcher->owner_uid, record->uid) == 0)
		record->had_launcher = 1;
}

/* A shadow only takes note of its plan. */
static int imagine(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;
	int64_t next_ms = mpijob_plan_next_ms(act->plan), planned_ms = act->planned_ms, due_ms;
	int rc = mpijob__operator_shadow_record(operator_, record, act->plan, &due_ms);

	end_plan(act);
	if (rc) {
		mpijob__operator_queue_failed(&operator_->queue, &record->item, operator_->now_ms,
		    0, 0);
		return rc;
	}
	mpijob__operator_queue_done(&operator_->queue, &record->item, record->rest_until_ms);
	look_again(operator_, record, next_ms, planned_ms);
	if (due_ms != INT64_MAX)
		mpijob__operator_queue_add_at(&operator_->queue, &record->item, due_ms);
	return 0;
}

/* It cannot be read, or not be planned for: nothing is done about it until it is another. */
static void leave_aside(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	if (record->aside)
		mpijob__operator_events_emit(operator_, record, "Warning", "ValidationError",
		    record->aside);
	free(record->aside);
	record->aside = NULL;
	mpijob__operator_rights_set_waiting(operator_, record, 0);
	mpijob__operator_queue_done(&operator_->queue, &record->item, INT64_MIN);
}

static int begin(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	int64_t from_us = mpijob__client_clock_cpu_us();
	int is_unread = record->unread != NULL;
	int rc = mpijob__operator_job_parse(operator_, record);

	if (rc) {
		mpijob__operator_queue_failed(&operator_->queue, &record->item, operator_->now_ms,
		    0, 0);
		return rc;
	}
	/* All that a large job needs is done in turns: reading, validating, planning. */
	if (is_unread && mpijob__client_clock_cpu_us() - from_us > LONG_US) {
		mpijob__operator_queue_continue(&operator_->queue, &record->item);
		return 0;
	}
	if (!operator_->acting && !operator_->shadow.on) {
		mpijob__operator_queue_done(&operator_->queue, &record->item, INT64_MIN);
		return 0;
	}
	if (operator_->now_ms < record->hold_ms) {
		mpijob__operator_queue_done(&operator_->queue, &record->item, record->hold_ms);
		mpijob__operator_queue_add(&operator_->queue, &record->item);
		return 0;
	}
	mpijob__operator_histogram_add(&operator_->metrics.waited,
	    (operator_->now_ms - record->item.since_ms) * 1000);
	if (!record->job) {
		leave_aside(operator_, record);
		return 0;
	}
	note_launcher(record);
	if (record->strangers_ms && operator_->now_ms >= record->strangers_ms)
		mpijob__operator_children_forget_foreign(operator_, record);
	if (!record->findings) {
		rc = mpijob__operator_configure_validate(operator_, record);
		if (rc == 0 && mpijob__client_clock_cpu_us() - from_us > LONG_US) {
			mpijob__operator_queue_continue(&operator_->queue, &record->item);
			return 0;
		}
	}
	if (rc == 0)
		rc = make_plan(operator_, record);
	if (rc == 0 && operator_->shadow.on)
		return imagine(operator_, record);
	if (rc == 0) {
		mpijob__operator_reconcile_advance(operator_, record);
		return 0;
	}
	if (rc == MPIJOB_ERR_NOMEM) {
		mpijob__operator_queue_failed(&operator_->queue, &record->item, operator_->now_ms,
		    0, 0);
		return rc;
	}
	operator_->metrics.set_aside[mpijob__operator_metrics_kind("MPIJob")]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside",
	    "MPIJob %s/%s is set aside: %s", record->namespace_, record->name,
	    mpijob_error_text(rc));
	leave_aside(operator_, record);
	return 0;
}

int mpijob__operator_reconcile_run(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;
	const struct mpijob_action *action;
	int rc;

	if (!act->plan)
		return begin(operator_, record);
	action = mpijob_plan_at(act->plan, act->next);
	/* Since it got in line something may have failed, or the window be full. */
	if (act->failed || act->replan || !action || action->stage != act->stage ||
	    action->verb == MPIJOB_ACTION_EVENT) {
		mpijob__operator_reconcile_advance(operator_, record);
		return 0;
	}
	rc = mpijob__operator_write_start(operator_, record);
	if (rc) {
		act->failed = 1;
		if (rc != MPIJOB_ERR_NOMEM)
			mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "request-failed",
			    "cannot ask for %s %s/%s: %s", action->kind, record->namespace_,
			    action->name, mpijob_error_text(rc));
	}
	mpijob__operator_reconcile_advance(operator_, record);
	return rc == MPIJOB_ERR_NOMEM ? rc : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a job is planned, how far its plan is, and when the job gets its next turn.
 *
 * The actions of a stage are started one turn at a time, creates in a window that grows with
 * success. Events are sent when the other actions of their stage have succeeded. A change of the
 * job stops the plan at once. A change of a child is noticed when the stage ends: a new plan then
 * replaces the later stages.
 *
 * A plan (enum mpijob__operator_plan_state):
 *
 *   EXECUTING -> all actions are done                        -> next turn when the plan says so
 *             -> STALE: see above, or a fresh read ended     -> next turn at once
 *             -> FAILED: an action failed                    -> next turn after a back-off
 *             -> REFUSED: a right is missing                 -> the same, with a bounded rate
 *
 * In all states but EXECUTING no action starts; the plan ends when none is in flight.
 *
 * An action (enum mpijob__operator_action_state; `struct mpijob__operator_write` from its start):
 *
 *   PENDING -> IN_FLIGHT                           the request is started
 *           -> VERIFYING                           it needs a fresh read (write.c)
 *           -> MERGING -> UPDATE_IN_FLIGHT         `patch` is forbidden (write_update.c)
 *   IN_FLIGHT, UPDATE_IN_FLIGHT
 *           -> done
 *           -> VERIFYING                           conflict, or its kind was listed meanwhile
 *           -> VERIFYING_FAILURE                   the outcome is unknown
 *           -> MERGING                             `patch` is forbidden
 *           -> failed                              the plan becomes FAILED or REFUSED
 *   VERIFYING         -> done                      the plan becomes STALE
 *                     -> VERIFYING                 its kind was listed meanwhile
 *                     -> failed                    the read failed, or the job is deleted
 *   VERIFYING_FAILURE -> failed                    the plan becomes FAILED
 *   MERGING           -> done, failed              nothing to change; the read failed
 *
 * A pending action has no struct of its own: it is behind `next`. One that is done or has failed is
 * freed.
 */
#include "operator/reconcile.h"

#include "base/api.h"
#include "base/clock.h"
#include "operator/cache_children.h"
#include "operator/configure.h"
#include "operator/operator.h"
#include "operator/write.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 12   /* consecutive plans that only react to our own changes */
#define PLAN_SHARE  10   /* planning one job takes at most one part in PLAN_SHARE of the time */
#define LONG_US     5000 /* parsing or validation that took longer is a turn of its own */
/* minimum delay of a plan that asks to be repeated at once and had no actions */
#define IDLE_MS    1000
#define REFUSED_MS 30000 /* no event reports that a right is granted again, so it is tried */
/* and ten times a second by all jobs together, in equal parts for each namespace */
#define REFUSED_EACH_MS 100

static void end_plan(struct mpijob__operator_reconcile *reconcile)
{
	mpijob_plan_free(reconcile->plan);
	memset(reconcile, 0, sizeof(*reconcile));
}

static void cancel(struct mpijob__operator_write *write)
{
	if (write->call && mpijob_call_queued(write->call))
		mpijob__operator_write_not_executed(write);
	if (write->call)
		mpijob_call_cancel(write->call);
	mpijob__operator_write_end(write);
}

void mpijob__operator_reconcile_set_state(struct mpijob__operator_job *job,
    enum mpijob__operator_plan_state state)
{
	if (job->reconcile.state < state)
		job->reconcile.state = state;
}

static void finish(mpijob_operator *operator_, struct mpijob__operator_job *job);

void mpijob__operator_reconcile_stop(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	struct mpijob__base_list *next;

	if (!reconcile->plan)
		return;
	mpijob__operator_reconcile_set_state(job, MPIJOB__OPERATOR_PLAN_STALE);
	for (struct mpijob__base_list *link = reconcile->writes.next; link->owner; link = next) {
		struct mpijob__operator_write *write = link->owner;

		next = link->next;
		if (write->call && mpijob_call_queued(write->call))
			cancel(write);
	}
	if (reconcile->in_flight == 0)
		finish(operator_, job);
}

void mpijob__operator_reconcile_job_changed(struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;

	if (!reconcile->plan)
		return;
	/* The watch event of our status patch may arrive before its response. After that patch the
	 * plan has only Events left, which no later plan would send. */
	for (struct mpijob__base_list *link = reconcile->writes.next; link->owner;
	     link = link->next) {
		const struct mpijob__operator_write *write = link->owner;

		if (write->action.verb == MPIJOB_ACTION_PATCH_STATUS &&
		    strcmp(write->action.kind, MPIJOB__BASE_API_KIND) == 0)
			return;
	}
	mpijob__operator_reconcile_set_state(job, MPIJOB__OPERATOR_PLAN_STALE);
}

void mpijob__operator_reconcile_cancel(struct mpijob__operator_job *job)
{
	struct mpijob__operator_write *write;

	while ((write = mpijob__base_list_first(&job->reconcile.writes)) != NULL)
		cancel(write);
	end_plan(&job->reconcile);
}

/* ---- the end of a plan ---- */

static void schedule(mpijob_operator *operator_, struct mpijob__operator_job *job, int64_t next_ms,
    int64_t planned_ms)
{
	int64_t wait = next_ms - mpijob_client_server_ms(operator_->client);

	if (next_ms == 0)
		return;
	if (next_ms <= planned_ms)
		wait = IDLE_MS;
	mpijob__operator_queue_add_at(&operator_->queue, &job->item,
	    mpijob__base_clock_monotonic_ms() + (wait < 1 ? 1 : wait));
}

/* The longest back-off of a job whose plan was refused; 0: as after any failure. */
static int64_t refused_ms(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	int64_t each_ms;

	if (job->reconcile.state != MPIJOB__OPERATOR_PLAN_REFUSED)
		return 0;
	mpijob__operator_rights_set_waiting(operator_, job, 1);
	each_ms =
	    (int64_t)mpijob__operator_queue_share(&operator_->queue, &job->item) * REFUSED_EACH_MS;
	return each_ms > REFUSED_MS ? each_ms : REFUSED_MS;
}

/* No action is in flight, and none will start. */
static void finish(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	int64_t next_ms = mpijob_plan_get_result(reconcile->plan)->next_ms;
	int64_t retry_after_ms = reconcile->retry_after_ms;
	int64_t planned_ms = reconcile->planned_ms;
	int again = reconcile->wrote || reconcile->state == MPIJOB__OPERATOR_PLAN_STALE;
	int64_t at_most_ms = refused_ms(operator_, job);
	int failed = reconcile->state >= MPIJOB__OPERATOR_PLAN_FAILED;

	end_plan(reconcile);
	if (again && !failed && ++job->backoff.rounds > MOST_ROUNDS) {
		failed = 1;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "does-not-settle",
		    "MPIJob %s/%s does not settle: %d plans were executed without a change in the "
		    "cluster by another client",
		    job->namespace_, job->name, job->backoff.rounds);
	}
	if (failed) {
		mpijob__operator_queue_failed(&operator_->queue, &job->item,
		    mpijob__base_clock_monotonic_ms(), retry_after_ms, at_most_ms);
		return;
	}
	mpijob__operator_queue_done(&operator_->queue, &job->item, job->backoff.plan_after_ms);
	if (again) {
		mpijob__operator_queue_add(&operator_->queue, &job->item);
		return;
	}
	mpijob__operator_rights_set_waiting(operator_, job, 0);
	schedule(operator_, job, next_ms, planned_ms);
	mpijob__operator_names_schedule(operator_, job);
	if (job->backoff.foreign_until_ms)
		mpijob__operator_queue_add_at(&operator_->queue, &job->item,
		    job->backoff.foreign_until_ms);
}

static int only_events_left(const struct mpijob__operator_reconcile *reconcile)
{
	const struct mpijob_action *action;

	for (size_t i = reconcile->next; (action = mpijob_plan_at(reconcile->plan, i)); i++)
		if (action->verb != MPIJOB_ACTION_EVENT)
			return 0;
	return 1;
}

/* Send the Events of a stage that succeeded, or whose status patch did: no later plan would send
 * them. */
static void send_events(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	const struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	const struct mpijob_action *action;

	for (size_t i = 0; (action = mpijob_plan_at(reconcile->plan, i)); i++)
		if (action->stage == reconcile->stage && action->verb == MPIJOB_ACTION_EVENT)
			mpijob__operator_events_emit(operator_, job, action->event_type,
			    action->event_reason, action->event_message);
}

void mpijob__operator_reconcile_advance(mpijob_operator *operator_,
    struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;

	for (;;) {
		const struct mpijob_action *action =
		    mpijob_plan_at(reconcile->plan, reconcile->next);
		int stop = reconcile->state != MPIJOB__OPERATOR_PLAN_EXECUTING;

		if (!stop && action && action->stage == reconcile->stage) {
			if (action->verb == MPIJOB_ACTION_EVENT) {
				reconcile->next++;
				continue;
			}
			if (action->verb != MPIJOB_ACTION_CREATE ||
			    reconcile->in_flight < reconcile->window)
				mpijob__operator_queue_continue(&operator_->queue, &job->item);
			return;
		}
		if (reconcile->in_flight)
			return;
		if (!stop || reconcile->status_written)
			send_events(operator_, job);
		reconcile->status_written = 0;
		if (!stop) {
			/* If facts have changed meanwhile, plan again before the next stage. */
			if (action && job->item.dirty && !only_events_left(reconcile)) {
				mpijob__operator_reconcile_set_state(job,
				    MPIJOB__OPERATOR_PLAN_STALE);
				continue;
			}
			if (action) {
				reconcile->stage = action->stage;
				continue;
			}
		}
		finish(operator_, job);
		return;
	}
}

static int make_plan(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	int64_t from_us = mpijob__base_clock_monotonic_us(), took_us;
	int rc;

	options.now_ms = mpijob_client_server_ms(operator_->client);
	mpijob__operator_names_fill_options(operator_, job, &options);
	rc = mpijob__operator_configure_plan(operator_, job, &options, &reconcile->plan);
	if (rc)
		return rc;
	mpijob__operator_names_planned(operator_, job, reconcile->plan, &options);
	mpijob__base_list_init(&reconcile->writes);
	reconcile->window = 1;
	reconcile->planned_ms = options.now_ms;
	reconcile->started_ms = operator_->now_ms;
	if (operator_->now_ms - job->fresh.verified_ms < MPIJOB__OPERATOR_FRESH_MS)
		reconcile->verified = job->fresh.verified;
	job->fresh.verified = 0;
	/* Planning ten thousand workers takes time: do not plan for each pod that starts. */
	took_us = mpijob__base_clock_monotonic_us() - from_us;
	mpijob__operator_histogram_add(&operator_->metrics.planned, took_us);
	job->backoff.plan_after_ms = (from_us + took_us * PLAN_SHARE) / 1000;
	return 0;
}

static void note_launcher(struct mpijob__operator_job *job)
{
	const struct mpijob_launcher_facts *launcher = mpijob_facts_launcher(job->cache.facts);

	if (launcher && launcher->owner_uid && strcmp(launcher->owner_uid, job->uid) == 0)
		job->cache.had_launcher = 1;
}

/* A shadow only records its plan. */
static int dry_run(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	int64_t next_ms = mpijob_plan_get_result(reconcile->plan)->next_ms;
	int64_t planned_ms = reconcile->planned_ms, due_ms;
	int rc = mpijob__operator_shadow_record(operator_, job, reconcile->plan, &due_ms);

	end_plan(reconcile);
	if (rc) {
		mpijob__operator_queue_failed(&operator_->queue, &job->item, operator_->now_ms, 0,
		    0);
		return rc;
	}
	mpijob__operator_queue_done(&operator_->queue, &job->item, job->backoff.plan_after_ms);
	schedule(operator_, job, next_ms, planned_ms);
	if (due_ms != INT64_MAX)
		mpijob__operator_queue_add_at(&operator_->queue, &job->item, due_ms);
	return 0;
}

/* The job cannot be parsed or planned: it is skipped until it changes. */
static void skip(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	if (job->cache.rejection)
		mpijob__operator_events_emit(operator_, job, "Warning",
		    MPIJOB__BASE_API_REASON_INVALID, job->cache.rejection);
	free(job->cache.rejection);
	job->cache.rejection = NULL;
	mpijob__operator_rights_set_waiting(operator_, job, 0);
	mpijob__operator_queue_done(&operator_->queue, &job->item, INT64_MIN);
}

/* Validate, unless this version was validated, and plan. 1 when validation alone took a whole turn;
 * 0; MPIJOB_ERR_NOMEM; or why the job cannot be planned. */
static int plan(mpijob_operator *operator_, struct mpijob__operator_job *job, int64_t from_us)
{
	int rc = 0;

	note_launcher(job);
	if (job->backoff.foreign_until_ms && operator_->now_ms >= job->backoff.foreign_until_ms)
		mpijob__operator_children_forget_foreign(operator_, job);
	if (!job->cache.findings) {
		rc = mpijob__operator_configure_validate(operator_, job);
		if (rc == 0 && mpijob__base_clock_cpu_us() - from_us > LONG_US)
			return 1;
	}
	return rc ? rc : make_plan(operator_, job);
}

/* Plan a job, and queue its first action. */
static int begin(mpijob_operator *operator_, struct mpijob__operator_job *job, int64_t from_us)
{
	int rc = plan(operator_, job, from_us);

	if (rc == 1) {
		mpijob__operator_queue_continue(&operator_->queue, &job->item);
		return 0;
	}
	if (rc == 0 && operator_->shadow.on)
		return dry_run(operator_, job);
	if (rc == 0) {
		mpijob__operator_reconcile_advance(operator_, job);
		return 0;
	}
	if (rc == MPIJOB_ERR_NOMEM) {
		mpijob__operator_queue_failed(&operator_->queue, &job->item, operator_->now_ms, 0,
		    0);
		return rc;
	}
	operator_->metrics.skipped[mpijob__operator_metrics_kind(MPIJOB__BASE_API_KIND)]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "job-set-aside",
	    "MPIJob %s/%s is skipped: %s", job->namespace_, job->name, mpijob_error_text(rc));
	skip(operator_, job);
	return 0;
}

/* A turn of a job without a plan. */
static int take_turn(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	int64_t from_us = mpijob__base_clock_cpu_us();
	int was_raw = job->cache.raw != NULL;
	int rc = mpijob__operator_job_parse(operator_, job);

	if (rc) {
		mpijob__operator_queue_failed(&operator_->queue, &job->item, operator_->now_ms, 0,
		    0);
		return rc;
	}
	/* A large job is parsed, validated and planned in one turn each. */
	if (was_raw && mpijob__base_clock_cpu_us() - from_us > LONG_US) {
		mpijob__operator_queue_continue(&operator_->queue, &job->item);
		return 0;
	}
	if (!mpijob__operator_is_leading(operator_) && !operator_->shadow.on) {
		mpijob__operator_queue_done(&operator_->queue, &job->item, INT64_MIN);
		return 0;
	}
	if (operator_->now_ms < job->backoff.hold_until_ms) {
		mpijob__operator_queue_done(&operator_->queue, &job->item,
		    job->backoff.hold_until_ms);
		mpijob__operator_queue_add(&operator_->queue, &job->item);
		return 0;
	}
	mpijob__operator_histogram_add(&operator_->metrics.waited,
	    (operator_->now_ms - job->item.since_ms) * 1000);
	if (!job->cache.mpijob) {
		skip(operator_, job);
		return 0;
	}
	return begin(operator_, job, from_us);
}

int mpijob__operator_reconcile_run(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	const struct mpijob_action *action;
	int rc;

	if (!reconcile->plan)
		return take_turn(operator_, job);
	action = mpijob_plan_at(reconcile->plan, reconcile->next);
	/* Since the job was queued an action may have failed, or the window may be full. */
	if (reconcile->state != MPIJOB__OPERATOR_PLAN_EXECUTING || !action ||
	    action->stage != reconcile->stage || action->verb == MPIJOB_ACTION_EVENT) {
		mpijob__operator_reconcile_advance(operator_, job);
		return 0;
	}
	rc = mpijob__operator_write_start(operator_, job);
	if (rc) {
		mpijob__operator_reconcile_set_state(job, MPIJOB__OPERATOR_PLAN_FAILED);
		if (rc != MPIJOB_ERR_NOMEM)
			mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "request-failed",
			    "cannot send a request for %s %s/%s: %s", action->kind, job->namespace_,
			    action->name, mpijob_error_text(rc));
	}
	mpijob__operator_reconcile_advance(operator_, job);
	return rc == MPIJOB_ERR_NOMEM ? rc : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The execution of one job's plan. The state diagrams are in reconcile.c. */
#ifndef MPIJOB__OPERATOR_RECONCILE_H
#define MPIJOB__OPERATOR_RECONCILE_H

#include "base/list.h"

#include <mpijob/operator.h>
#include <mpijob/plan.h>

#include <stddef.h>
#include <stdint.h>

struct mpijob__operator_job;
struct mpijob__operator_write;

/* The state of a plan only moves down this list. */
enum mpijob__operator_plan_state {
	MPIJOB__OPERATOR_PLAN_EXECUTING,
	MPIJOB__OPERATOR_PLAN_STALE,   /* start no more actions, then plan again */
	MPIJOB__OPERATOR_PLAN_FAILED,  /* start no more actions, then back off */
	MPIJOB__OPERATOR_PLAN_REFUSED, /* the same, until a right is granted */
};

struct mpijob__operator_reconcile {
	mpijob_plan *plan; /* NULL: none */
	enum mpijob__operator_plan_state state;
	int64_t planned_ms; /* when the plan was made, by the server's clock */
	int64_t started_ms; /* the same, by the monotonic clock */
	int32_t stage;
	size_t next;   /* the action to start next; those behind it are pending */
	size_t window; /* creates that may be in flight: slow start */
	size_t in_flight;
	struct mpijob__base_list writes; /* the actions that are neither pending nor done */
	int wrote;                       /* a request may have changed the cluster */
	int status_written;              /* in this stage, the job's */
	unsigned verified; /* MPIJOB__OPERATOR_ROLE_BIT() of the fresh reads for this plan */
	int64_t retry_after_ms;
};

/* The turn of a job: plan, or start the next action of its plan. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_reconcile_run(mpijob_operator *operator_, struct mpijob__operator_job *job);
/* Advance the plan: skip Events, close stages, finish it, or queue the job for the next action. */
void mpijob__operator_reconcile_advance(mpijob_operator *operator_,
    struct mpijob__operator_job *job);
/* Move the plan to a state, unless it is in that one or a later one. */
void mpijob__operator_reconcile_set_state(struct mpijob__operator_job *job,
    enum mpijob__operator_plan_state state);
/* The job has changed since the plan was made: the plan is stale, unless this may be the event of
 * our own status patch. */
void mpijob__operator_reconcile_job_changed(struct mpijob__operator_job *job);
/* Stop the plan, also the requests in the send queue. */
void mpijob__operator_reconcile_stop(mpijob_operator *operator_, struct mpijob__operator_job *job);
/* Drop the plan and cancel its requests. */
void mpijob__operator_reconcile_cancel(struct mpijob__operator_job *job);

#endif

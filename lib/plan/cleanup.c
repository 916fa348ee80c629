/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left to do about a job that is finished: cleanPodPolicy says which workers go, and a
 * launcher that still runs (a worker was evicted) is stopped. Its Job and the pods that ended stay
 * to be looked at, unless it was asked for that the pods go (clean_launcher), or that the job
 * itself goes after a time (ttl_deletes_job).
 */
#include "plan/plan.h"

#include <string.h>

#define WHY     "the job is finished"
#define SKEW_MS 10000 /* clocks may differ by as much */

static void stamp(struct mpijob_plan *plan)
{
	struct mpijob__plan_draft *draft = &plan->draft;
	const struct mpijob__plan_condition *end = mpijob__plan_conditions_get(draft, "Failed");

	if (draft->has_completion_time)
		return;
	if (!end || end->view.status != MPIJOB_CONDITION_TRUE)
		end = mpijob__plan_conditions_get(draft, "Succeeded");
	draft->has_completion_time = 1;
	draft->completion_time =
	    end->has_transition_time ? end->transition_time : plan->now_ms / 1000;
}

/* The one count that still changes: a launcher that was stopped, ended or went is no longer
 * active. */
static void count_launcher(struct mpijob_plan *plan)
{
	if (!plan->draft.has_launcher)
		return;
	if (!plan->launcher || mpijob__plan_launcher_done(plan) ||
	    mpijob__plan_conditions_has(&plan->draft, "Succeeded"))
		plan->draft.launcher.active = 0;
	else
		plan->draft.launcher.active = mpijob__plan_launcher_running_pods(plan);
}

/* The clock that wrote the end need not be ours: later is harmless, earlier is not. */
static void delete_job(struct mpijob_plan *plan, const struct mpijob_run_policy *policy)
{
	int64_t due_ms;

	if (!plan->features.ttl_deletes_job || !policy || !policy->ttl_seconds_after_finished)
		return;
	due_ms =
	    (plan->draft.completion_time + *policy->ttl_seconds_after_finished) * 1000 + SKEW_MS;
	if (plan->now_ms < due_ms)
		mpijob__plan_look_again(plan, due_ms);
	else
		mpijob__plan_delete_job(plan, MPIJOB__PLAN_STAGE_GONE,
		    "its time after the end is over");
}

void mpijob__plan_cleanup_plan(struct mpijob_plan *plan)
{
	const struct mpijob_run_policy *policy = plan->subject.spec->run_policy;

	stamp(plan);
	/* One that succeeded is not stopped, though news of its Job may be older than those of its
	 * job. */
	if (!mpijob__plan_conditions_has(&plan->draft, "Succeeded"))
		mpijob__plan_launcher_stop(plan, WHY);
	count_launcher(plan);
	delete_job(plan, policy);
	if (!policy || (policy->clean_pod_policy != MPIJOB_CLEAN_POD_ALL &&
			   policy->clean_pod_policy != MPIJOB_CLEAN_POD_RUNNING))
		return;
	mpijob__plan_workers_delete(plan, MPIJOB__PLAN_STAGE_CLEAN, 0, WHY);
	if (plan->features.clean_launcher && policy->clean_pod_policy == MPIJOB_CLEAN_POD_ALL)
		mpijob__plan_launcher_delete_pods(plan, MPIJOB__PLAN_STAGE_CLEAN, WHY);
	mpijob__plan_children_delete_pod_group(plan, MPIJOB__PLAN_STAGE_CLEAN, WHY);
	memset(&plan->draft.worker, 0, sizeof(plan->draft.worker));
	plan->draft.worker.size = sizeof(plan->draft.worker);
	plan->draft.has_worker = 1;
}

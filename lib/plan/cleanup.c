/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the cleanup of a finished job: deletes workers according to cleanPodPolicy, and suspends a
 * launcher that still runs because a worker was evicted. The launcher Job and its finished pods are
 * kept, so that users can read their logs, unless clean_launcher deletes the pods or
 * ttl_deletes_job deletes the job after a time.
 */
#include "plan/plan.h"

#include <string.h>

#define REASON  "the job is finished"
#define SKEW_MS 10000 /* tolerated difference between clocks */

static void set_completion_time(struct mpijob_plan *plan)
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

/* Only this count still changes: a launcher that was suspended, ended or was deleted is not active.
 */
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

/* Another clock may have written the completion time: deleting too late is harmless, too early is
 * not. */
static void delete_job(struct mpijob_plan *plan, const struct mpijob_run_policy *policy)
{
	int64_t due_ms;

	if (!plan->features.ttl_deletes_job || !policy || !policy->ttl_seconds_after_finished)
		return;
	due_ms =
	    (plan->draft.completion_time + *policy->ttl_seconds_after_finished) * 1000 + SKEW_MS;
	if (plan->now_ms < due_ms)
		mpijob__plan_again_at(plan, due_ms);
	else
		mpijob__plan_delete_job(plan, MPIJOB__PLAN_STAGE_DELETE_JOB,
		    "its ttlSecondsAfterFinished is over");
}

void mpijob__plan_cleanup_plan(struct mpijob_plan *plan)
{
	const struct mpijob_run_policy *policy = plan->subject.spec->run_policy;

	set_completion_time(plan);
	/* A succeeded launcher is not suspended, even if the facts about its Job are older than the
	 * status. */
	if (!mpijob__plan_conditions_has(&plan->draft, "Succeeded"))
		mpijob__plan_launcher_stop(plan, REASON);
	count_launcher(plan);
	delete_job(plan, policy);
	if (!policy || (policy->clean_pod_policy != MPIJOB_CLEAN_POD_ALL &&
			   policy->clean_pod_policy != MPIJOB_CLEAN_POD_RUNNING))
		return;
	mpijob__plan_workers_delete(plan, MPIJOB__PLAN_STAGE_CLEAN, 0, REASON);
	if (plan->features.clean_launcher && policy->clean_pod_policy == MPIJOB_CLEAN_POD_ALL)
		mpijob__plan_launcher_delete_pods(plan, MPIJOB__PLAN_STAGE_CLEAN, REASON);
	mpijob__plan_children_delete_pod_group(plan, MPIJOB__PLAN_STAGE_CLEAN, REASON);
	memset(&plan->draft.worker, 0, sizeof(plan->draft.worker));
	plan->draft.worker.size = sizeof(plan->draft.worker);
	plan->draft.has_worker = 1;
}

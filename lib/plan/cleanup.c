/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left to do about a job that is finished: cleanPodPolicy says which workers go, and a launcher
 * that still runs (a worker was evicted) is stopped. Its Job and the pods that ended stay to be looked at.
 */
#include "plan/plan.h"

#include <string.h>

#define WHY "the job is finished"

static void stamp(struct mpijob_plan *plan)
{
	struct mpijob__draft *draft = &plan->draft;
	const struct mpijob__condition *end = mpijob__conditions_get(draft, "Failed");

	if (draft->has_completion_time)
		return;
	if (!end || end->view.status != MPIJOB_CONDITION_TRUE)
		end = mpijob__conditions_get(draft, "Succeeded");
	draft->has_completion_time = 1;
	draft->completion_time = end->has_transition_time ? end->transition_time : plan->now_ms / 1000;
}

void mpijob__cleanup_plan(struct mpijob_plan *plan)
{
	const struct mpijob_run_policy *policy = plan->subject.spec->run_policy;

	stamp(plan);
	mpijob__launcher_stop(plan, WHY);
	/* The one count that still changes: a launcher that was stopped is no longer active. */
	if (plan->launcher && !mpijob__launcher_done(plan))
		plan->draft.launcher.active = mpijob__launcher_running_pods(plan);
	if (!policy ||
	    (policy->clean_pod_policy != MPIJOB_CLEAN_POD_ALL && policy->clean_pod_policy != MPIJOB_CLEAN_POD_RUNNING))
		return;
	mpijob__workers_delete(plan, MPIJOB__STAGE_CLEAN, WHY);
	mpijob__children_delete_pod_group(plan, MPIJOB__STAGE_CLEAN, WHY);
	memset(&plan->draft.worker, 0, sizeof(plan->draft.worker));
	plan->draft.worker.size = sizeof(plan->draft.worker);
	plan->draft.has_worker = 1;
}

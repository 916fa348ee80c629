/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which deliberate difference from the reference makes a plan do what the reference does not.
 *
 * A difference is named only if the job, its children and the action prove it. An action without a
 * name may be a defect, and an administrator should check it.
 */
#include "operator/explain.h"

#include "base/api.h"
#include "plan/facts.h"
#include "render/differences.h"

#include <string.h>

/* The reason of the condition Failed in the status of the plan; "" when there is none. */
static const char *failed_reason(const mpijob_plan *plan)
{
	const struct mpijob_status *status = mpijob_plan_status(plan);

	for (size_t i = 0; i < status->conditions_count; i++) {
		const struct mpijob_condition *one = status->conditions[i];

		if (one->status == MPIJOB_CONDITION_TRUE && one->type &&
		    strcmp(one->type, "Failed") == 0)
			return one->reason ? one->reason : "";
	}
	return "";
}

/* Is a worker deleting? The reference still counts it as running, and lists it. */
static int has_deleting_worker(const struct mpijob__operator_job *job)
{
	const struct mpijob__plan_pods *pods = &job->cache.facts->pods;

	for (size_t i = 0; i < pods->count; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);

		if (pod->role == MPIJOB_ROLE_WORKER && pod->deleting)
			return 1;
	}
	return 0;
}

static const mpijob_node *of_job(const struct mpijob__operator_job *job, const char *path)
{
	return mpijob_node_find(mpijob_doc_root(mpijob_document(job->cache.mpijob)), path);
}

int mpijob__operator_explain_is_scale_down(const struct mpijob__operator_job *job,
    const struct mpijob_action *action)
{
	int64_t replicas = 0;

	return action->role == MPIJOB_ROLE_WORKER && action->verb == MPIJOB_ACTION_DELETE &&
	       mpijob_node_int(of_job(job, "spec.mpiReplicaSpecs.Worker.replicas"), &replicas) &&
	       action->index >= replicas;
}

static enum mpijob__render_difference choose(const struct mpijob__operator_job *job,
    const mpijob_plan *plan, const struct mpijob_action *action)
{
	const char *reason = failed_reason(plan);
	int was_finished = job->cache.phase == MPIJOB__OPERATOR_PHASE_FAILED ||
			   job->cache.phase == MPIJOB__OPERATOR_PHASE_SUCCEEDED;

	if (strcmp(reason, MPIJOB__BASE_API_REASON_EVICTED) == 0)
		return MPIJOB__RENDER_DIFFERENCE_EVICTED_ENDS;
	if (strcmp(reason, MPIJOB__BASE_API_REASON_LAUNCHER_GONE) == 0)
		return MPIJOB__RENDER_DIFFERENCE_LAUNCHER_ONCE;
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS && was_finished &&
	    !of_job(job, "status.completionTime"))
		return MPIJOB__RENDER_DIFFERENCE_TERMINAL_STAYS;
	/* The reference does not look at the name. */
	if (mpijob__operator_explain_is_scale_down(job, action))
		return MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_BY_NAME;
	if ((action->role == MPIJOB_ROLE_CONFIG_MAP || action->role == 0) &&
	    has_deleting_worker(job))
		return MPIJOB__RENDER_DIFFERENCE_STEADY_WORKERS;
	return MPIJOB__RENDER_DIFFERENCE_NONE;
}

const char *mpijob__operator_explain_action(const struct mpijob__operator_job *job,
    const mpijob_plan *plan, const struct mpijob_action *action)
{
	const struct mpijob__render_difference_row *row =
	    mpijob__render_difference_row(choose(job, plan, action));

	return row ? row->id : NULL;
}

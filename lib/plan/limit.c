/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a limit on the number of workers means for a job: one that has not begun is refused, as if
 * its spec were wrong; one that has is given no worker beyond the limit, and loses none that it
 * has; one that is stopped or has ended is left to its course. In the plan's own copy of the job
 * the number becomes the one that holds.
 */
#include "plan/plan.h"

#include "core/diag.h"

#include <string.h>

#define REPLICAS "spec.mpiReplicaSpecs[Worker].replicas"

static const struct mpijob_launcher_facts *launcher_of(const struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = mpijob_facts_launcher(plan->facts);

	return launcher && mpijob__plan_owns(plan, launcher->owner_uid) ? launcher : NULL;
}

/* One more than the highest index of a worker that exists. */
static int32_t highest(const struct mpijob_plan *plan, int32_t wanted)
{
	int32_t found = 0;

	for (size_t i = 0; i < mpijob_facts_pod_count(plan->facts); i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(&plan->facts->pods, i);

		if (pod->role == MPIJOB_ROLE_WORKER && pod->index >= found && pod->index < wanted &&
		    mpijob__plan_owns(plan, pod->owner_uid))
			found = pod->index + 1;
	}
	return found;
}

/* One that was refused has ended too, in a way, but never began. */
static int has_ended(const struct mpijob_plan *plan)
{
	return plan->old.has_start_time && mpijob__plan_conditions_finished(&plan->old);
}

/* Tenants may be able to write a status. Who says that he begins again gets no more than the limit
 * either. */
static int has_begun(const struct mpijob_plan *plan, int32_t workers, int suspended)
{
	const struct mpijob_launcher_facts *launcher = launcher_of(plan);

	return workers > 0 || (launcher && (suspended || !launcher->suspended)) ||
	       mpijob__plan_restart_goes_on(plan);
}

static int set_workers(struct mpijob_plan *plan, const struct mpijob_spec *stands, int32_t workers)
{
	struct mpijob_replica_spec worker = *stands->worker;
	struct mpijob_spec spec = *stands;

	worker.replicas = &workers;
	spec.worker = &worker;
	return mpijob_spec_set(plan->job, &spec, NULL);
}

int mpijob__plan_limit_workers(struct mpijob_plan *plan, mpijob_diag *findings)
{
	const struct mpijob_spec *spec;
	int32_t wanted, there;
	int suspended, code;

	if (!plan->max_workers)
		return 0;
	code = mpijob_spec_get(plan->job, &spec, findings);
	if (code)
		return code;
	wanted = spec->worker && spec->worker->replicas ? *spec->worker->replicas : 0;
	if (wanted <= plan->max_workers || has_ended(plan))
		return 0;
	suspended = spec->run_policy && spec->run_policy->suspend && *spec->run_policy->suspend;
	there = highest(plan, wanted);
	if (!has_begun(plan, there, suspended)) {
		mpijob__core_diag_addf(findings, MPIJOB_SEVERITY_ERROR, "too-many-workers",
		    "Forbidden", REPLICAS, NULL,
		    "%d workers are more than the %d that the operator's configuration allows",
		    (int)wanted, (int)plan->max_workers);
		return MPIJOB_ERR_SPEC;
	}
	if (suspended)
		return 0;
	return set_workers(plan, spec, there > plan->max_workers ? there : plan->max_workers);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the limit on the number of workers. A job that has not started is rejected, as if its
 * spec were invalid. A job that has started keeps its workers, but gets no worker beyond the limit.
 * The limit does not affect a suspended or finished job. The plan's copy of the job gets the
 * resulting number.
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

/* 1 + the highest index of an existing worker. */
static int32_t workers_in_use(const struct mpijob_plan *plan, int32_t wanted)
{
	int32_t found = 0;

	for (size_t i = 0; i < plan->facts->pods.count; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(&plan->facts->pods, i);

		if (pod->role == MPIJOB_ROLE_WORKER && pod->index >= found && pod->index < wanted &&
		    mpijob__plan_owns(plan, pod->owner_uid))
			found = pod->index + 1;
	}
	return found;
}

/* Whether the job has finished. A rejected job may be Failed, but has no startTime. */
static int has_finished(const struct mpijob_plan *plan)
{
	return plan->old.has_start_time && mpijob__plan_conditions_finished(&plan->old);
}

/* Users may be able to write the status. But a status that claims a restart does not exceed the
 * limit either. */
static int has_started(const struct mpijob_plan *plan, int32_t workers, int suspended)
{
	const struct mpijob_launcher_facts *launcher = launcher_of(plan);

	return workers > 0 || (launcher && (suspended || !launcher->suspended)) ||
	       mpijob__plan_restart_in_progress(plan);
}

static int set_workers(struct mpijob_plan *plan, const struct mpijob_spec *current, int32_t workers)
{
	struct mpijob_replica_spec worker = *current->worker;
	struct mpijob_spec spec = *current;

	worker.replicas = &workers;
	spec.worker = &worker;
	return mpijob_spec_set(plan->job, &spec, NULL);
}

int mpijob__plan_limit_workers(struct mpijob_plan *plan, mpijob_diag *findings)
{
	const struct mpijob_spec *spec;
	int32_t wanted, in_use;
	int suspended, code;

	if (!plan->max_workers)
		return 0;
	code = mpijob_spec_get(plan->job, &spec, findings);
	if (code)
		return code;
	wanted = spec->worker && spec->worker->replicas ? *spec->worker->replicas : 0;
	if (wanted <= plan->max_workers || has_finished(plan))
		return 0;
	suspended = spec->run_policy && spec->run_policy->suspend && *spec->run_policy->suspend;
	in_use = workers_in_use(plan, wanted);
	if (!has_started(plan, in_use, suspended)) {
		mpijob__core_diag_addf(findings, MPIJOB_SEVERITY_ERROR, "too-many-workers",
		    "Forbidden", REPLICAS, NULL,
		    "%d workers are more than the %d that the operator's configuration allows",
		    (int)wanted, (int)plan->max_workers);
		return MPIJOB_ERR_SPEC;
	}
	if (suspended)
		return 0;
	return set_workers(plan, spec, in_use > plan->max_workers ? in_use : plan->max_workers);
}

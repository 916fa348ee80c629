/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the launcher's batch/v1 Job: when it is created, suspended and resumed, and when its
 * absence means that it finished without being observed.
 *
 * A suspended MPIJob keeps its launcher Job, suspended: Kubernetes then deletes the pods of the
 * Job. The Job controller handles retries, deadline and ttlSecondsAfterFinished.
 */
#include "plan/plan.h"

#include <string.h>

#define MAX_DELAY_MS 10000 /* maximum delay until a Job is observed */
/* after this time the launcher does not wait for workers that are not ready */
#define START_MS 10000

/* The launcher Job that finished and was deleted before a plan could report it. */
static const struct mpijob_launcher_facts *deleted_launcher(const struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = &plan->facts->launcher.facts;

	return mpijob__plan_owns(plan, launcher->owner_uid) ? launcher : NULL;
}

int mpijob__plan_launcher_find(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = mpijob_facts_launcher(plan->facts);
	const char *name = mpijob__plan_name(plan, MPIJOB_ROLE_LAUNCHER, -1);

	plan->launcher = NULL;
	if (plan->facts->launcher.deleted && !mpijob__plan_conditions_finished(&plan->draft))
		launcher = deleted_launcher(plan);
	if (!launcher || strcmp(launcher->name, name) != 0)
		return 1;
	if (!mpijob__plan_owns(plan, launcher->owner_uid)) {
		if (!mpijob__plan_conditions_finished(&plan->draft))
			mpijob__plan_name_conflict(plan, name, "Job");
		return 0;
	}
	plan->launcher = launcher;
	return 1;
}

int mpijob__plan_launcher_done(const struct mpijob_plan *plan)
{
	return plan->launcher && (plan->launcher->complete || plan->launcher->has_failed);
}

/*
 * With ttlSecondsAfterFinished the Job may be deleted before its end was observed, for example
 * while the operator was down. The status shows that there was a Job. It cannot have finished while
 * the status is Suspended. And the Job may exist but not be observed yet: so the latest event that
 * could have led to its creation must be some seconds old.
 */
int mpijob__plan_launcher_vanished(struct mpijob_plan *plan)
{
	const struct mpijob_run_policy *policy = plan->subject.spec->run_policy;
	int64_t certain_ms = plan->draft.start_time * 1000;

	if (plan->launcher || !policy || !policy->ttl_seconds_after_finished ||
	    !plan->old.has_launcher || mpijob__plan_conditions_has(&plan->old, "Suspended"))
		return 0;
	if (plan->workers.last_ms > certain_ms && plan->workers.last_ms <= plan->now_ms)
		certain_ms = plan->workers.last_ms;
	certain_ms += MAX_DELAY_MS;
	if (plan->now_ms >= certain_ms)
		return 1;
	plan->launcher_unobserved = 1;
	mpijob__plan_again_at(plan, certain_ms);
	return 0;
}

/* Report, as mpi-operator does, that the restart policy of the template has no effect. */
static void warn_restart_policy(struct mpijob_plan *plan)
{
	const mpijob_node *pod_template = plan->subject.spec->launcher->pod_template;
	const char *policy =
	    mpijob_node_string(mpijob_node_find(pod_template, "spec.restartPolicy"));

	if (policy && *policy)
		mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_LAUNCHER, "Warning",
		    "SetPodTemplateRestartPolicy",
		    "Restart policy in pod template overridden by restart policy in replica spec");
}

/* With `reference` any other word than AtStartup is accepted and means to wait. */
static int waits_for_workers(const struct mpijob_plan *plan)
{
	return plan->subject.spec->launcher_creation_policy != MPIJOB_LAUNCHER_AT_STARTUP;
}

static int64_t first_created_ms(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	int64_t first_ms = plan->now_ms;

	for (int32_t i = 0; i < workers->wanted; i++) {
		if (workers->pods[i] && workers->pods[i]->created_ms < first_ms)
			first_ms = workers->pods[i]->created_ms;
	}
	return first_ms;
}

/*
 * A headless Service publishes a pod when it is ready, and DNS returns its name some time later.
 * mpirun fails at the first name that does not resolve. So the launcher starts when the names are
 * known to resolve, at the latest after `launcher_hold_ms`. A gang may need its launcher before any
 * worker can run: then the launcher waits only after all workers are ready.
 */
static int awaits_names(struct mpijob_plan *plan)
{
	int ready = mpijob__plan_workers_ready(plan);
	int64_t until_ms;

	if (!plan->hold_ms || plan->suspended || !plan->workers.wanted)
		return 0;
	if (!ready && mpijob__render_subject_gang(&plan->subject))
		return 0;
	plan->result.awaited_names = ready ? plan->workers.wanted : 0;
	if (ready && plan->names_known)
		return 0;
	if (ready)
		until_ms = (plan->ready_ms ? plan->ready_ms : plan->now_ms) + plan->hold_ms;
	else
		until_ms = first_created_ms(plan) + START_MS;
	if (plan->now_ms >= until_ms)
		return 0;
	mpijob__plan_again_at(plan, until_ms);
	return 1;
}

void mpijob__plan_launcher_create(struct mpijob_plan *plan)
{
	int wait = waits_for_workers(plan);

	if (plan->launcher || plan->launcher_unobserved ||
	    (wait && !plan->suspended && !mpijob__plan_workers_ready(plan)) || awaits_names(plan))
		return;
	mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_LAUNCHER, MPIJOB_ACTION_CREATE,
	    MPIJOB__PLAN_BODY_CREATE, MPIJOB_ROLE_LAUNCHER, -1, NULL,
	    wait && !plan->suspended ? "all workers are ready" : "the launcher Job does not exist");
	warn_restart_policy(plan);
	plan->creates_launcher = 1;
}

void mpijob__plan_launcher_stop(struct mpijob_plan *plan, const char *why)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;

	if (!launcher || launcher->suspended || launcher->deleting ||
	    mpijob__plan_launcher_done(plan))
		return;
	/* With the resourceVersion, the patch fails if the Job finished meanwhile. */
	if (launcher->resource_version && *launcher->resource_version)
		plan->suspend_version = mpijob__plan_text(plan, "%s", launcher->resource_version);
	mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_SUSPEND, MPIJOB_ACTION_PATCH,
	    MPIJOB__PLAN_BODY_SUSPEND, MPIJOB_ROLE_LAUNCHER, -1, launcher->uid, why);
}

static void resume(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;
	uint64_t wanted = 0;
	int same;

	mpijob__plan_fail(plan, mpijob__render_wanted_directives(&plan->subject, &wanted, NULL));
	same = wanted == launcher->directives;
	/* Kubernetes allows changes of the template only while the Job has no startTime. */
	if (!same && launcher->start_ms)
		mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_LAUNCHER,
		    MPIJOB_ACTION_PATCH_STATUS, MPIJOB__PLAN_BODY_CLEAR_START, MPIJOB_ROLE_LAUNCHER,
		    -1, launcher->uid, "the launcher's template has to change");
	if (!same && launcher->node_selector) {
		plan->node_selector = mpijob_doc_from_node(launcher->node_selector, NULL);
		if (!plan->node_selector)
			mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
	}
	mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_SUSPEND, MPIJOB_ACTION_PATCH,
	    same ? MPIJOB__PLAN_BODY_RESUME : MPIJOB__PLAN_BODY_RESUME_CHANGED,
	    MPIJOB_ROLE_LAUNCHER, -1, launcher->uid, "the job is resumed");
}

void mpijob__plan_launcher_switch(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;
	int wait = waits_for_workers(plan);

	if (plan->suspended)
		mpijob__plan_launcher_stop(plan, "the job is suspended");
	else if (launcher && launcher->suspended && !launcher->deleting &&
		 (!wait || mpijob__plan_workers_ready(plan)) && !awaits_names(plan))
		resume(plan);
}

static int is_launcher_pod(const struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	return !plan->launcher ||
	       (pod->owner_uid && strcmp(pod->owner_uid, plan->launcher->uid) == 0);
}

/* When the Job is deleted, its pods are deleted too. */
void mpijob__plan_launcher_delete_pods(struct mpijob_plan *plan, int32_t stage, const char *why)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;

	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_LAUNCHER);
	     plan->launcher && i < pods->count; i++) {
		if (!mpijob__plan_pods_at(pods, i)->deleting &&
		    is_launcher_pod(plan, mpijob__plan_pods_at(pods, i)))
			mpijob__plan_delete_launcher_pod(plan, stage, mpijob__plan_pods_at(pods, i),
			    why);
	}
}

int32_t mpijob__plan_launcher_running_pods(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;
	int32_t running = 0;

	if (!plan->launcher)
		return 0;
	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_LAUNCHER); i < pods->count; i++)
		running += mpijob__plan_pods_at(pods, i)->phase == MPIJOB_POD_RUNNING &&
			   is_launcher_pod(plan, mpijob__plan_pods_at(pods, i));
	return running;
}

const struct mpijob__plan_pod *mpijob__plan_launcher_last_pod(const struct mpijob_plan *plan,
    int32_t phase)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;
	const struct mpijob__plan_pod *last = NULL;

	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_LAUNCHER); i < pods->count; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);

		if (pod->phase == phase && is_launcher_pod(plan, pod) &&
		    (!last || last->created_ms < pod->created_ms))
			last = pod;
	}
	return last;
}

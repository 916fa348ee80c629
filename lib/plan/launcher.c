/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher's batch/v1 Job: when it is made, when it stops and goes on, and when its absence
 * means that it came to its end unseen.
 *
 * While a job is suspended its launcher Job is there, suspended: Kubernetes keeps the Job and
 * deletes its pods. Attempts, deadline and time to live are the Job's own business.
 */
#include "plan/plan.h"

#include <string.h>

#define NEWS_MS 10000 /* news of a Job is not later than this */
/* workers that are not ready after this time do not delay the launcher any longer */
#define START_MS 10000

/* Our launcher Job, which ended and was deleted before any plan could say so. */
static const struct mpijob_launcher_facts *remembered(const struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = &plan->facts->launcher.facts;

	return mpijob__plan_owns(plan, launcher->owner_uid) ? launcher : NULL;
}

int mpijob__plan_launcher_find(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = mpijob_facts_launcher(plan->facts);
	const char *name = mpijob__plan_name(plan, MPIJOB_ROLE_LAUNCHER, -1);

	plan->launcher = NULL;
	if (plan->facts->launcher.gone && !mpijob__plan_conditions_finished(&plan->draft))
		launcher = remembered(plan);
	if (!launcher || strcmp(launcher->name, name) != 0)
		return 1;
	if (!mpijob__plan_owns(plan, launcher->owner_uid)) {
		if (!mpijob__plan_conditions_finished(&plan->draft))
			mpijob__plan_taken(plan, name, "Job");
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
 * The Job is deleted by its time to live, maybe before we saw it end: after that time, or an outage
 * of ours as long. The status tells that there was one. While it says that it is suspended it
 * cannot have ended. News of a Job may also be late: the youngest cause to make one has to be some
 * seconds old.
 */
int mpijob__plan_launcher_vanished(struct mpijob_plan *plan)
{
	const struct mpijob_run_policy *policy = plan->subject.spec->run_policy;
	int64_t sure_ms = plan->draft.start_time * 1000;

	if (plan->launcher || !policy || !policy->ttl_seconds_after_finished ||
	    !plan->old.has_launcher || mpijob__plan_conditions_has(&plan->old, "Suspended"))
		return 0;
	if (plan->workers.last_ms > sure_ms && plan->workers.last_ms <= plan->now_ms)
		sure_ms = plan->workers.last_ms;
	sure_ms += NEWS_MS;
	if (plan->now_ms >= sure_ms)
		return 1;
	plan->launcher_missed = 1;
	mpijob__plan_look_again(plan, sure_ms);
	return 0;
}

/* The user sees that one of two restart policies is not used, as the reference tells. */
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

/* With `reference` any word but AtStartup passes, and means to wait. */
static int waits(const struct mpijob_plan *plan)
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
 * A headless Service names a pod once it is ready, and DNS serves the name some time later. mpirun
 * fails at the first name that does not resolve, so the launcher starts when the names are known to
 * resolve, and at the latest after `launcher_hold_ms`. A gang may need its launcher before any
 * worker can run: it waits only once all workers are ready.
 */
static int awaits_names(struct mpijob_plan *plan)
{
	int ready = mpijob__plan_workers_ready(plan);
	int64_t until_ms;

	if (!plan->hold_ms || plan->suspended || !plan->workers.wanted)
		return 0;
	if (!ready && mpijob__render_subject_gang(&plan->subject))
		return 0;
	plan->awaits_names = ready;
	if (ready && plan->names_known)
		return 0;
	if (ready)
		until_ms = (plan->ready_ms ? plan->ready_ms : plan->now_ms) + plan->hold_ms;
	else
		until_ms = first_created_ms(plan) + START_MS;
	if (plan->now_ms >= until_ms)
		return 0;
	mpijob__plan_look_again(plan, until_ms);
	return 1;
}

void mpijob__plan_launcher_create(struct mpijob_plan *plan)
{
	int wait = waits(plan);

	if (plan->launcher || plan->launcher_missed ||
	    (wait && !plan->suspended && !mpijob__plan_workers_ready(plan)) || awaits_names(plan))
		return;
	mpijob__plan_act(plan, MPIJOB__PLAN_STAGE_LAUNCHER, MPIJOB_ACTION_CREATE,
	    MPIJOB__PLAN_BODY_CREATE, MPIJOB_ROLE_LAUNCHER, -1, NULL,
	    wait && !plan->suspended ? "all workers are ready" : "the launcher is not there");
	warn_restart_policy(plan);
	plan->launcher_made = 1;
}

void mpijob__plan_launcher_stop(struct mpijob_plan *plan, const char *why)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;

	if (!launcher || launcher->suspended || launcher->deleting ||
	    mpijob__plan_launcher_done(plan))
		return;
	/* One that came to its end meanwhile stays as it is. */
	if (launcher->resource_version && *launcher->resource_version)
		plan->stops_version = mpijob__plan_text(plan, "%s", launcher->resource_version);
	mpijob__plan_act(plan, MPIJOB__PLAN_STAGE_SWITCH, MPIJOB_ACTION_PATCH,
	    MPIJOB__PLAN_BODY_STOP, MPIJOB_ROLE_LAUNCHER, -1, launcher->uid, why);
}

static void go_on(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;
	uint64_t wanted = 0;
	int same;

	mpijob__plan_fail(plan, mpijob__render_wanted_directives(&plan->subject, &wanted, NULL));
	same = wanted == launcher->directives;
	/* Kubernetes lets a template change only while the Job has no startTime. */
	if (!same && launcher->start_ms)
		mpijob__plan_act(plan, MPIJOB__PLAN_STAGE_LAUNCHER, MPIJOB_ACTION_PATCH_STATUS,
		    MPIJOB__PLAN_BODY_FORGET_START, MPIJOB_ROLE_LAUNCHER, -1, launcher->uid,
		    "the launcher's template has to change");
	if (!same && launcher->node_selector) {
		plan->node_selector = mpijob_doc_from_node(launcher->node_selector);
		if (!plan->node_selector)
			mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
	}
	mpijob__plan_act(plan, MPIJOB__PLAN_STAGE_SWITCH, MPIJOB_ACTION_PATCH,
	    same ? MPIJOB__PLAN_BODY_GO_ON : MPIJOB__PLAN_BODY_GO_ON_ANEW, MPIJOB_ROLE_LAUNCHER, -1,
	    launcher->uid, "the job goes on");
}

void mpijob__plan_launcher_switch(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;
	int wait = waits(plan);

	if (plan->suspended)
		mpijob__plan_launcher_stop(plan, "the job is suspended");
	else if (launcher && launcher->suspended && !launcher->deleting &&
		 (!wait || mpijob__plan_workers_ready(plan)) && !awaits_names(plan))
		go_on(plan);
}

static int is_launchers(const struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	return !plan->launcher ||
	       (pod->owner_uid && strcmp(pod->owner_uid, plan->launcher->uid) == 0);
}

/* A Job that is gone takes its pods along. */
void mpijob__plan_launcher_delete_pods(struct mpijob_plan *plan, int32_t stage, const char *why)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;

	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_LAUNCHER);
	     plan->launcher && i < pods->count; i++) {
		if (!mpijob__plan_pods_at(pods, i)->deleting &&
		    is_launchers(plan, mpijob__plan_pods_at(pods, i)))
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
			   is_launchers(plan, mpijob__plan_pods_at(pods, i));
	return running;
}

const struct mpijob__plan_pod *mpijob__plan_launcher_last_pod(const struct mpijob_plan *plan,
    int32_t phase)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;
	const struct mpijob__plan_pod *last = NULL;

	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_LAUNCHER); i < pods->count; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);

		if (pod->phase == phase && is_launchers(plan, pod) &&
		    (!last || last->created_ms < pod->created_ms))
			last = pod;
	}
	return last;
}

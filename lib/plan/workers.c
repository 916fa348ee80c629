/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the worker pods: counts them, and creates and deletes pods.
 *
 * A worker is identified by its name. The label with its index is not used, because it is one
 * higher if the launcher runs ranks too. A pod that is being deleted occupies its name until it is
 * deleted.
 */
#include "plan/observe.h"
#include "plan/plan.h"

#include <string.h>

/* All pods of an owner share one interned UID string, so the last comparison is cached. */
struct owner {
	const char *seen;
	int ours;
};

static int is_ours(const struct mpijob_plan *plan, const struct mpijob__plan_pod *pod,
    struct owner *owner)
{
	if (!pod->owner_uid)
		return 0;
	if (pod->owner_uid != owner->seen) {
		owner->seen = pod->owner_uid;
		owner->ours = mpijob__plan_owns(plan, pod->owner_uid);
	}
	return owner->ours;
}

static void count_running(struct mpijob__plan_workers *workers, const struct mpijob__plan_pod *pod)
{
	int64_t since = pod->running_since_ms;

	workers->active++;
	if (pod->deleting)
		return;
	workers->steady++;
	workers->runs[pod->index] = 1;
	if (workers->steady == 1 || since < workers->first_ms)
		workers->first_ms = since;
	if (since > workers->last_ms)
		workers->last_ms = since;
}

static void count_failed(struct mpijob__plan_workers *workers, const struct mpijob__plan_pod *pod)
{
	const char *reason = mpijob__plan_pod_end(pod)->reason;

	workers->failed++;
	if (mpijob__plan_pod_ended_before(pod, workers->first_failed))
		workers->first_failed = pod;
	if (!reason || strcmp(reason, "Evicted") != 0)
		return;
	workers->evicted++;
	if (mpijob__plan_pod_ended_before(pod, workers->first_evicted))
		workers->first_evicted = pod;
}

static void count_pod(struct mpijob__plan_workers *workers, const struct mpijob__plan_pod *pod)
{
	workers->pods[pod->index] = pod;
	workers->present++;
	if (pod->ready && !pod->deleting)
		workers->ready++;
	if (pod->phase == MPIJOB_POD_RUNNING)
		count_running(workers, pod);
	else if (pod->phase == MPIJOB_POD_SUCCEEDED)
		workers->succeeded++;
	else if (pod->phase == MPIJOB_POD_FAILED)
		count_failed(workers, pod);
}

static int allocate(struct mpijob_plan *plan)
{
	struct mpijob__plan_workers *workers = &plan->workers;
	size_t wanted = (size_t)workers->wanted;

	workers->pods =
	    mpijob__base_arena_array(&plan->arena, wanted, sizeof(struct mpijob__plan_pod *));
	workers->runs = mpijob__base_arena_alloc(&plan->arena, wanted);
	if (!workers->pods || !workers->runs) {
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
		return -1;
	}
	memset(workers->pods, 0, wanted * sizeof(struct mpijob__plan_pod *));
	memset(workers->runs, 0, wanted);
	return 0;
}

/* Whether a pod has the name of a worker of this job. */
static int has_its_name(struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	return mpijob__plan_observe_index(mpijob__plan_pod_name(plan, pod), plan->subject.name) ==
	       pod->index;
}

static size_t end_of_workers(const struct mpijob_plan *plan)
{
	return mpijob__plan_pods_first(&plan->facts->pods, MPIJOB_ROLE_WORKER + 1);
}

void mpijob__plan_workers_count(struct mpijob_plan *plan)
{
	struct mpijob__plan_workers *workers = &plan->workers;
	const struct mpijob__plan_pods *pods = &plan->facts->pods;
	size_t end = end_of_workers(plan);
	struct owner owner = { NULL, 0 };

	workers->wanted = mpijob__render_subject_workers(&plan->subject);
	if (allocate(plan)) {
		workers->wanted = 0;
		return;
	}
	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_WORKER); i < end; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);

		if (pod->index < 0 || pod->index >= workers->wanted)
			continue;
		if (is_ours(plan, pod, &owner))
			count_pod(workers, pod);
		else if (!workers->foreign && has_its_name(plan, pod))
			workers->foreign = pod;
	}
}

int mpijob__plan_workers_ready(const struct mpijob_plan *plan)
{
	return plan->workers.ready == plan->workers.wanted;
}

/* No condition shows why the pod is deleted. */
static void delete_one(struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	static const char why[] = "the job has fewer workers now";
	char uid[MPIJOB__BASE_UID_ROOM];
	struct mpijob__plan_action *action = mpijob__plan_add_action(plan,
	    MPIJOB__PLAN_STAGE_WORKERS, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE,
	    MPIJOB_ROLE_WORKER, pod->index, mpijob__base_uid_text(&pod->uid, uid), why);

	if (!action || plan->render.reference)
		return;
	action->view.event_type = "Normal";
	action->view.event_reason = "SuccessfulDelete";
	action->view.event_message =
	    mpijob__plan_text(plan, "Pod %s is deleted: %s", action->view.name, why);
}

static void delete_surplus(struct mpijob_plan *plan)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;
	size_t end = end_of_workers(plan);
	struct owner owner = { NULL, 0 };

	for (size_t i = end; i > 0 && mpijob__plan_pods_at(pods, i - 1)->role == MPIJOB_ROLE_WORKER;
	     i--) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i - 1);

		if (pod->index < plan->workers.wanted)
			break;
		if (!pod->deleting && is_ours(plan, pod, &owner))
			delete_one(plan, pod);
	}
}

int mpijob__plan_workers_plan(struct mpijob_plan *plan)
{
	struct mpijob__plan_workers *workers = &plan->workers;

	if (workers->foreign) {
		mpijob__plan_name_conflict(plan,
		    mpijob__plan_name(plan, MPIJOB_ROLE_WORKER, workers->foreign->index), "Pod");
		return 0;
	}
	delete_surplus(plan);
	if (workers->present == workers->wanted)
		return 1;
	mpijob__plan_reserve(plan, (size_t)(workers->wanted - workers->present) + 16);
	for (int32_t i = 0; i < workers->wanted && !plan->code; i++) {
		if (!workers->pods[i])
			mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_WORKERS,
			    MPIJOB_ACTION_CREATE, MPIJOB__PLAN_BODY_CREATE, MPIJOB_ROLE_WORKER, i,
			    NULL, "the worker pod does not exist");
	}
	return 1;
}

/* With policy Running, finished pods are kept; pending pods are deleted, because they would run
 * later. */
static int is_kept(const struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	const struct mpijob_run_policy *policy = plan->subject.spec->run_policy;

	return policy && policy->clean_pod_policy == MPIJOB_CLEAN_POD_RUNNING &&
	       pod->phase != MPIJOB_POD_RUNNING && pod->phase != MPIJOB_POD_PENDING;
}

void mpijob__plan_workers_delete(struct mpijob_plan *plan, int32_t stage, int all, const char *why)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;
	size_t end = end_of_workers(plan);
	struct owner owner = { NULL, 0 };
	char uid[MPIJOB__BASE_UID_ROOM];

	for (size_t i = mpijob__plan_pods_first(pods, MPIJOB_ROLE_WORKER); i < end; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);

		if (pod->index < 0 || pod->deleting || !is_ours(plan, pod, &owner) ||
		    (!all && is_kept(plan, pod)))
			continue;
		mpijob__plan_add_action(plan, stage, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE,
		    MPIJOB_ROLE_WORKER, pod->index, mpijob__base_uid_text(&pod->uid, uid), why);
	}
}

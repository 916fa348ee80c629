/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of an MPIJob: conditions with reasons and messages, counts, times, and the Events
 * about changes. They are equal to mpi-operator's, because Kueue, Flyte and users' scripts read
 * them; further text is only appended.
 */
#include "base/api.h"
#include "plan/plan.h"

#include "job/job.h"
#include "base/text.h"

#include <string.h>

#define TYPES 8 /* number of condition types that a plan can add */

static const char *copy_text(struct mpijob_plan *plan, const char *text)
{
	return text ? mpijob__plan_text(plan, "%s", text) : NULL;
}

static void load_condition(struct mpijob_plan *plan, size_t index,
    const struct mpijob_condition *given)
{
	struct mpijob__plan_condition *condition = &plan->draft.conditions[index];

	memset(condition, 0, sizeof(*condition));
	condition->view = *given;
	condition->view.type = copy_text(plan, given->type);
	condition->view.reason = copy_text(plan, given->reason);
	condition->view.message = copy_text(plan, given->message);
	condition->has_update_time = given->last_update_time != NULL;
	condition->has_transition_time = given->last_transition_time != NULL;
	if (given->last_update_time)
		condition->update_time = *given->last_update_time;
	if (given->last_transition_time)
		condition->transition_time = *given->last_transition_time;
	condition->origin = index;
}

static struct mpijob__plan_condition *get_conditions(struct mpijob_plan *plan, size_t count)
{
	struct mpijob__plan_condition *conditions =
	    mpijob__base_arena_array(&plan->arena, count, sizeof(*conditions));

	if (!conditions)
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
	return conditions;
}

static void load(struct mpijob_plan *plan, const struct mpijob_status *status)
{
	struct mpijob__plan_draft *draft = &plan->draft;

	draft->has_launcher = status->launcher != NULL;
	draft->has_worker = status->worker != NULL;
	if (status->launcher)
		draft->launcher = *status->launcher;
	if (status->worker)
		draft->worker = *status->worker;
	draft->has_start_time = status->start_time != NULL;
	draft->has_completion_time = status->completion_time != NULL;
	if (status->start_time)
		draft->start_time = *status->start_time;
	if (status->completion_time)
		draft->completion_time = *status->completion_time;
	draft->conditions = get_conditions(plan, status->conditions_count + TYPES);
	if (!draft->conditions)
		return;
	draft->count = status->conditions_count;
	for (size_t i = 0; i < draft->count; i++)
		load_condition(plan, i, status->conditions[i]);
}

void mpijob__plan_status_load(struct mpijob_plan *plan)
{
	static const struct mpijob_status nothing = MPIJOB_STATUS_INIT;
	const struct mpijob_status *status = &nothing;
	int code = mpijob__job_status(plan->job, &status, NULL);

	/* validate() reports a status with wrong types. */
	if (code == MPIJOB_ERR_SPEC)
		status = &nothing;
	else if (code)
		mpijob__plan_fail(plan, code);
	if (plan->code)
		return;
	load(plan, status);
	plan->old = plan->draft;
	plan->old.conditions = get_conditions(plan, plan->draft.count);
	if (plan->old.conditions && plan->draft.count)
		memcpy(plan->old.conditions, plan->draft.conditions,
		    plan->draft.count * sizeof(*plan->old.conditions));
}

static void clear(struct mpijob_replica_status *status, int *has)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	*has = 1;
}

static const char *job_message(struct mpijob_plan *plan, const char *before, const char *after)
{
	return mpijob__plan_text(plan, "%s %s/%s %s", before, plan->subject.namespace_,
	    plan->subject.name, after);
}

static void update_suspended(struct mpijob_plan *plan, int32_t stage)
{
	int changed;

	if (plan->suspended) {
		changed = mpijob__plan_conditions_set(plan, "Suspended", MPIJOB_CONDITION_TRUE,
		    "MPIJobSuspended", "MPIJob suspended");
		if (changed)
			mpijob__plan_event(plan, stage, "Normal", "MPIJobSuspended",
			    "MPIJob suspended");
	} else {
		if (!mpijob__plan_conditions_get(&plan->draft, "Suspended"))
			return;
		changed = mpijob__plan_conditions_set(plan, "Suspended", MPIJOB_CONDITION_FALSE,
		    "MPIJobResumed", "MPIJob resumed");
		if (changed) {
			mpijob__plan_event(plan, stage, "Normal", "MPIJobResumed",
			    "MPIJob resumed");
			plan->draft.start_time = plan->now_ms / 1000;
			plan->draft.has_start_time = 1;
		}
	}
}

static void succeed(struct mpijob_plan *plan, int64_t completion_ms)
{
	const char *message = job_message(plan, MPIJOB__BASE_API_KIND, "successfully completed.");

	plan->draft.launcher.succeeded = 1;
	if (!plan->draft.has_completion_time) {
		plan->draft.has_completion_time = 1;
		plan->draft.completion_time = completion_ms / 1000;
	}
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_FIRST, "Normal", "MPIJobSucceeded", message);
	mpijob__plan_restart_end(plan);
	mpijob__plan_conditions_set(plan, "Succeeded", MPIJOB_CONDITION_TRUE, "MPIJobSucceeded",
	    message);
	plan->result.transitions |= MPIJOB_TRANSITION_SUCCEEDED;
}

static void fail(struct mpijob_plan *plan, const char *reason, const char *message)
{
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_FIRST, "Warning", reason, message);
	if (!plan->draft.has_completion_time) {
		plan->draft.has_completion_time = 1;
		plan->draft.completion_time = plan->now_ms / 1000;
	}
	mpijob__plan_restart_end(plan);
	mpijob__plan_conditions_set(plan, "Failed", MPIJOB_CONDITION_TRUE, reason, message);
	plan->result.transitions |= MPIJOB_TRANSITION_FAILED;
}

/* Append the description of pods to a message; a long message is cut before it. `launcher`
 * describes the launcher pod, or is "". */
static const char *append_pods(struct mpijob_plan *plan, const char *message, const char *launcher,
    const struct mpijob__plan_pod *worker)
{
	const char *pods = launcher;

	if (worker)
		pods = mpijob__plan_text(plan, "%s; %s", launcher,
		    mpijob__plan_message_pod(plan, "worker", worker));
	if (strlen(pods) <= MPIJOB__PLAN_MESSAGE_LIMIT / 4 * 3)
		message = mpijob__plan_message_cut(plan, message,
		    MPIJOB__PLAN_MESSAGE_LIMIT - strlen(pods));
	return mpijob__plan_message_cut(plan, mpijob__plan_text(plan, "%s%s", message, pods),
	    MPIJOB__PLAN_MESSAGE_LIMIT);
}

static void launcher_failed(struct mpijob_plan *plan)
{
	const char *reason = plan->launcher->failed_reason;
	const char *message = copy_text(plan, plan->launcher->failed_message), *named = "";
	const struct mpijob__plan_pod *pod = NULL;

	reason = reason && *reason ? copy_text(plan, reason) : MPIJOB__BASE_API_REASON_FAILED;
	if (!message || !*message)
		message = job_message(plan, MPIJOB__BASE_API_KIND, "has failed");
	if (strcmp(reason, MPIJOB__BASE_API_REASON_BACKOFF) == 0)
		pod = mpijob__plan_launcher_last_pod(plan, MPIJOB_POD_FAILED);
	if (pod) {
		const char *why = mpijob__plan_pod_end(pod)->reason,
			   *words = mpijob__plan_message_termination(plan, pod);

		reason = mpijob__plan_text(plan, "%s/%s", reason, why ? why : "");
		message = mpijob__plan_text(plan, "%s: %s", message, words);
		named = mpijob__plan_text(plan, "%s%s", *words ? "; " : "",
		    mpijob__plan_message_failure(plan, "launcher", pod));
	}
	fail(plan, reason, append_pods(plan, message, named, plan->workers.first_failed));
}

/* Whether a worker was lost during the run: its pod failed or is being deleted, or is younger than
 * the launcher. */
static int is_lost(const struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	int64_t start_ms = plan->launcher->start_ms;

	return !pod || pod->deleting || pod->phase == MPIJOB_POD_FAILED ||
	       (start_ms && pod->created_ms > start_ms);
}

/* The index of the first lost worker; -1: none. */
static int32_t lost_worker(const struct mpijob_plan *plan)
{
	if (!plan->features.fail_lost_worker)
		return -1;
	for (int32_t i = 0; i < plan->workers.wanted; i++) {
		if (is_lost(plan, plan->workers.pods[i]))
			return i;
	}
	return -1;
}

static void launcher_succeeded(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;
	int32_t lost = lost_worker(plan);

	if (lost < 0)
		succeed(plan, launcher->completion_ms ? launcher->completion_ms : plan->now_ms);
	else
		fail(plan, "MPIJobWorkerLost",
		    mpijob__plan_text(plan,
			"the launcher succeeded, but worker pod %s was lost while it ran",
			mpijob__plan_name(plan, MPIJOB_ROLE_WORKER, lost)));
}

static void update_launcher(struct mpijob_plan *plan)
{
	const struct mpijob_launcher_facts *launcher = plan->launcher;

	if (!launcher)
		return;
	clear(&plan->draft.launcher, &plan->draft.has_launcher);
	plan->draft.launcher.failed = launcher->failed;
	if (launcher->complete)
		launcher_succeeded(plan);
	else if (launcher->has_failed)
		launcher_failed(plan);
	else
		plan->draft.launcher.active = mpijob__plan_launcher_running_pods(plan);
}

/* Workers are not counted after the launcher ended, or while the job is suspended. */
static void update_workers(struct mpijob_plan *plan)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	const char *message;

	clear(&plan->draft.worker, &plan->draft.has_worker);
	if (plan->suspended || mpijob__plan_launcher_done(plan))
		return;
	plan->draft.worker.active = workers->active;
	plan->draft.worker.succeeded = workers->succeeded;
	plan->draft.worker.failed = workers->failed;
	if (!workers->evicted)
		return;
	message = mpijob__plan_text(plan, "%d/%d workers are evicted", (int)workers->evicted,
	    (int)workers->wanted);
	fail(plan, MPIJOB__BASE_API_REASON_EVICTED,
	    append_pods(plan, message, "", workers->first_evicted));
}

static void update_running(struct mpijob_plan *plan, int32_t stage)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	const struct mpijob__plan_draft *draft = &plan->draft;

	if (plan->suspended) {
		mpijob__plan_restart_end(plan);
		mpijob__plan_conditions_set(plan, "Running", MPIJOB_CONDITION_FALSE,
		    "MPIJobSuspended", job_message(plan, MPIJOB__BASE_API_KIND, "is suspended."));
	} else if (mpijob__plan_conditions_finished(draft)) {
		if (!mpijob__plan_conditions_get(draft, "Running"))
			mpijob__plan_conditions_append(plan, "Running", MPIJOB_CONDITION_FALSE,
			    "MPIJobRunning",
			    job_message(plan, MPIJOB__BASE_API_KIND,
				"is finished but Running condition was never set."),
			    draft->has_completion_time ? draft->completion_time
						       : plan->now_ms / 1000);
	} else if (workers->steady == workers->wanted &&
		   mpijob__plan_launcher_running_pods(plan) >= 1 && !plan->restart.stopping) {
		mpijob__plan_restart_end(plan);
		if (mpijob__plan_conditions_set(plan, "Running", MPIJOB_CONDITION_TRUE,
			"MPIJobRunning", job_message(plan, MPIJOB__BASE_API_KIND, "is running.")))
			mpijob__plan_event(plan, stage, "Normal", "MPIJobRunning",
			    job_message(plan, MPIJOB__BASE_API_KIND, "is running"));
	}
}

static int suspension_changes(const struct mpijob_plan *plan)
{
	return plan->suspended ? !mpijob__plan_conditions_has(&plan->old, "Suspended")
			       : mpijob__plan_conditions_has(&plan->old, "Suspended");
}

void mpijob__plan_status_update(struct mpijob_plan *plan)
{
	int ends = mpijob__plan_launcher_done(plan) || (plan->workers.evicted && !plan->suspended);

	/*
	 * The status is written last, when it is true. Three changes are written before the actions
	 * that follow from them: the end of a job; a restart, because only the status stores its
	 * count; and the resume of a job, so that the status shows that there was a launcher if its
	 * ttlSecondsAfterFinished deletes it before its end was observed.
	 */
	if (!ends && plan->old.count && !plan->suspended && suspension_changes(plan))
		plan->status_stage = MPIJOB__PLAN_STAGE_RESUME;
	else if (!ends && !plan->restart.is_new && !plan->restart.stopping &&
		 !plan->restart.starting)
		plan->status_stage = MPIJOB__PLAN_STAGE_LAST;
	/* Do not change Suspended while the launcher Job may have finished unobserved. */
	if (!plan->launcher_unobserved)
		update_suspended(plan, plan->status_stage);
	update_launcher(plan);
	update_workers(plan);
	if (!mpijob__plan_conditions_finished(&plan->draft))
		mpijob__plan_restart_report(plan);
	update_running(plan, plan->status_stage);
}

/* The draft keeps its own array of conditions. */
void mpijob__plan_status_reset(struct mpijob_plan *plan)
{
	struct mpijob__plan_condition *conditions = plan->draft.conditions;

	plan->draft = plan->old;
	if (!conditions || !plan->old.conditions)
		return;
	plan->draft.conditions = conditions;
	if (plan->old.count)
		memcpy(conditions, plan->old.conditions, plan->old.count * sizeof(*conditions));
}

#define REJECTED MPIJOB__BASE_API_REASON_INVALID

static int has_started(const struct mpijob_plan *plan)
{
	return plan->old.has_start_time || plan->facts->pods.count > 0;
}

int mpijob__plan_status_is_rejected(const struct mpijob__plan_draft *draft)
{
	const struct mpijob__plan_condition *end = mpijob__plan_conditions_get(draft, "Failed");

	return mpijob__plan_conditions_has(draft, "Failed") && end->view.reason &&
	       strcmp(end->view.reason, REJECTED) == 0;
}

void mpijob__plan_status_reject(struct mpijob_plan *plan, const char *message)
{
	int known = mpijob__plan_status_is_rejected(&plan->old), fails;

	message = mpijob__plan_message_cut(plan, message, MPIJOB__PLAN_MESSAGE_LIMIT);
	fails = plan->features.fail_invalid && !has_started(plan) &&
		(known || !mpijob__plan_conditions_finished(&plan->old));
	if (fails && !mpijob__plan_conditions_set_message(plan, "Failed", MPIJOB_CONDITION_TRUE,
			 REJECTED, message))
		return; /* reported before */
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_FIRST, "Warning", REJECTED, message);
	if (!fails || known)
		return;
	plan->draft.has_completion_time = 1;
	plan->draft.completion_time = plan->now_ms / 1000;
	plan->result.transitions |= MPIJOB_TRANSITION_FAILED;
}

int mpijob__plan_status_accept(struct mpijob_plan *plan)
{
	if (!plan->features.fail_invalid || !mpijob__plan_status_is_rejected(&plan->old) ||
	    has_started(plan))
		return 0;
	mpijob__plan_conditions_remove(&plan->draft, "Failed");
	plan->draft.has_completion_time = 0;
	return 1;
}

void mpijob__plan_status_end_unobserved(struct mpijob_plan *plan)
{
	const struct mpijob__plan_pod *pod =
	    mpijob__plan_launcher_last_pod(plan, MPIJOB_POD_SUCCEEDED);
	const char *message;

	plan->draft.launcher.active = 0;
	clear(&plan->draft.worker, &plan->draft.has_worker);
	if (pod) {
		succeed(plan, plan->now_ms);
	} else {
		message = mpijob__plan_text(plan,
		    "launcher Job %s was deleted (ttlSecondsAfterFinished is %d) before its result "
		    "was observed",
		    mpijob__plan_name(plan, MPIJOB_ROLE_LAUNCHER, -1),
		    (int)*plan->subject.spec->run_policy->ttl_seconds_after_finished);
		pod = mpijob__plan_launcher_last_pod(plan, MPIJOB_POD_FAILED);
		if (pod)
			message = mpijob__plan_text(plan, "%s: %s", message,
			    mpijob__plan_message_pod(plan, "launcher", pod));
		fail(plan, MPIJOB__BASE_API_REASON_LAUNCHER_GONE,
		    append_pods(plan, message, "", plan->workers.first_failed));
	}
	update_running(plan, MPIJOB__PLAN_STAGE_FIRST);
}

static int same_condition(const struct mpijob__plan_condition *a,
    const struct mpijob__plan_condition *b)
{
	return a->view.status == b->view.status && a->has_update_time == b->has_update_time &&
	       a->has_transition_time == b->has_transition_time &&
	       a->update_time == b->update_time && a->transition_time == b->transition_time &&
	       mpijob__base_text_same(a->view.type, b->view.type) &&
	       mpijob__base_text_same(a->view.reason, b->view.reason) &&
	       mpijob__base_text_same(a->view.message, b->view.message);
}

static int same_replicas(const struct mpijob_replica_status *a,
    const struct mpijob_replica_status *b)
{
	return a->active == b->active && a->succeeded == b->succeeded && a->failed == b->failed;
}

static int same_draft(const struct mpijob__plan_draft *a, const struct mpijob__plan_draft *b)
{
	if (a->count != b->count || a->has_launcher != b->has_launcher ||
	    a->has_worker != b->has_worker || a->has_start_time != b->has_start_time ||
	    a->has_completion_time != b->has_completion_time || a->start_time != b->start_time ||
	    a->completion_time != b->completion_time ||
	    !same_replicas(&a->launcher, &b->launcher) || !same_replicas(&a->worker, &b->worker))
		return 0;
	for (size_t i = 0; i < a->count; i++) {
		if (!same_condition(&a->conditions[i], &b->conditions[i]))
			return 0;
	}
	return 1;
}

static void make_view(struct mpijob_plan *plan)
{
	struct mpijob__plan_draft *draft = &plan->draft;
	struct mpijob_status *status = &plan->status;
	const struct mpijob_condition **conditions =
	    mpijob__base_arena_array(&plan->arena, draft->count, sizeof(struct mpijob_condition *));

	*status = (struct mpijob_status)MPIJOB_STATUS_INIT;
	if (!conditions) {
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
		return;
	}
	for (size_t i = 0; i < draft->count; i++) {
		struct mpijob__plan_condition *condition = &draft->conditions[i];

		condition->view.last_update_time =
		    condition->has_update_time ? &condition->update_time : NULL;
		condition->view.last_transition_time =
		    condition->has_transition_time ? &condition->transition_time : NULL;
		conditions[i] = &condition->view;
	}
	status->conditions = conditions;
	status->conditions_count = draft->count;
	status->launcher = draft->has_launcher ? &draft->launcher : NULL;
	status->worker = draft->has_worker ? &draft->worker : NULL;
	status->start_time = draft->has_start_time ? &draft->start_time : NULL;
	status->completion_time = draft->has_completion_time ? &draft->completion_time : NULL;
}

void mpijob__plan_status_finish(struct mpijob_plan *plan)
{
	if (plan->code)
		return;
	if (plan->creates_launcher && !plan->draft.has_launcher)
		clear(&plan->draft.launcher, &plan->draft.has_launcher);
	if (!same_draft(&plan->old, &plan->draft))
		mpijob__plan_add_status_patch(plan, plan->status_stage, MPIJOB__PLAN_BODY_STATUS,
		    "the status of the job changed");
	make_view(plan);
}

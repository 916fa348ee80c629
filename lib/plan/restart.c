/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the reaction to a failed worker pod: replace it (replace_workers), or restart the whole job
 * (restart_gang). The condition Restarting contains the number of replacements or restarts. It is
 * written before anything is deleted, so the count survives a restart of the operator. Nothing is
 * counted twice: the message contains a mark of the UID of each replaced pod, and the reason says
 * that a restart is in progress.
 *
 * Reasons during a restart: MPIJobRestarting (the launcher is suspended and all workers are
 * deleted), then MPIJobRestarted (they are recreated).
 */
#include "base/hex.h"
#include "plan/plan.h"

#include "base/digest.h"

#include <string.h>

#define TYPE      "Restarting"
#define REPLACED  "MPIJobWorkersReplaced"
#define STOPPING  "MPIJobRestarting"
#define RESTARTED "MPIJobRestarted"

#define PAUSE_MS   10000
#define LONGEST_MS 300000

static uint32_t mark_of(const struct mpijob__plan_pod *pod)
{
	char room[MPIJOB__BASE_UID_ROOM];
	const char *uid = mpijob__base_uid_text(&pod->uid, room);
	uint64_t digest = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, uid, strlen(uid));

	return (uint32_t)(digest ^ (digest >> 32));
}

/* "(2 of at most 5)": namespaces and names contain no brackets. */
static int32_t read_count(const char *message)
{
	const char *at = message ? strchr(message, '(') : NULL;
	int32_t count = 0;

	if (!at)
		return 0;
	for (at++; *at >= '0' && *at <= '9' && count < INT32_MAX / 10; at++)
		count = count * 10 + (*at - '0');
	return count;
}

/* The marks "[0123abcd]" before the description of the pod. */
static void read_marks(const char *message, struct mpijob__plan_restart *restart)
{
	static const char digits[] = "0123456789abcdef";
	size_t len = message ? strcspn(message, ":") : 0;

	for (size_t i = 0; i + 9 < len && restart->marks_count < MPIJOB__PLAN_RESTART_MARKS; i++) {
		uint32_t mark = 0;

		if (message[i] != '[' || strspn(message + i + 1, digits) != 8 ||
		    message[i + 9] != ']')
			continue;
		for (size_t j = i + 1; j < i + 9; j++)
			mark = mark << 4 | (uint32_t)mpijob__base_hex_value(message[j]);
		restart->marks[restart->marks_count++] = mark;
	}
}

/*
 * Back off after repeated failures: wait since the last change of the condition. If the clock that
 * wrote it is ahead, do not wait.
 */
static int backs_off(struct mpijob_plan *plan, const struct mpijob__plan_condition *known,
    int64_t pause_ms)
{
	int64_t since_ms;

	if (!plan->restart.count || !known->has_update_time)
		return 0;
	since_ms = known->update_time * 1000;
	if (since_ms > plan->now_ms || plan->now_ms >= since_ms + pause_ms)
		return 0;
	mpijob__plan_again_at(plan, since_ms + pause_ms);
	return 1;
}

static int64_t restart_pause(int32_t count)
{
	int64_t pause_ms = PAUSE_MS;

	while (--count > 0 && pause_ms < LONGEST_MS)
		pause_ms *= 2;
	return pause_ms < LONGEST_MS ? pause_ms : LONGEST_MS;
}

static int is_reason(const struct mpijob__plan_condition *condition, const char *reason)
{
	return condition && condition->view.reason && strcmp(condition->view.reason, reason) == 0;
}

static int has_failed(const struct mpijob__plan_pod *pod)
{
	return pod && pod->phase == MPIJOB_POD_FAILED && !pod->deleting;
}

static int is_evicted(const struct mpijob__plan_pod *pod)
{
	const char *reason = mpijob__plan_pod_end(pod)->reason;

	return reason && strcmp(reason, "Evicted") == 0;
}

static const struct mpijob__plan_pod *first_failed(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	const struct mpijob__plan_pod *first = NULL;

	for (int32_t i = 0; workers->failed && i < workers->wanted; i++) {
		if (has_failed(workers->pods[i]) &&
		    mpijob__plan_pod_ended_before(workers->pods[i], first))
			first = workers->pods[i];
	}
	return first;
}

static int was_counted(const struct mpijob__plan_restart *restart,
    const struct mpijob__plan_pod *pod)
{
	uint32_t mark = mark_of(pod);

	for (size_t i = 0; i < restart->marks_count; i++) {
		if (restart->marks[i] == mark)
			return 1;
	}
	return 0;
}

/* Whether a failed worker was not counted yet. */
static int some_uncounted(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_workers *workers = &plan->workers;

	for (int32_t i = 0; workers->failed && i < workers->wanted; i++) {
		if (has_failed(workers->pods[i]) && !was_counted(&plan->restart, workers->pods[i]))
			return 1;
	}
	return 0;
}

/* Select the workers that are replaced now. An evicted worker that is not replaced ends the job. */
static void select_replaced(struct mpijob_plan *plan, const struct mpijob__plan_condition *known)
{
	struct mpijob__plan_restart *restart = &plan->restart, before = *restart;
	struct mpijob__plan_workers *workers = &plan->workers;
	int32_t most = plan->features.replace_workers;

	if (restart->count < most && some_uncounted(plan) && backs_off(plan, known, PAUSE_MS))
		most = 0;
	restart->marks_count = 0;
	workers->evicted = 0;
	workers->first_evicted = NULL;
	for (int32_t i = 0; i < workers->wanted; i++) {
		const struct mpijob__plan_pod *pod = workers->pods[i];
		int counted;

		if (!has_failed(pod))
			continue;
		counted = was_counted(&before, pod);
		if (restart->marks_count < MPIJOB__PLAN_RESTART_MARKS &&
		    (counted || restart->count < most)) {
			restart->count += !counted;
			restart->is_new |= !counted;
			restart->indices[restart->marks_count] = i;
			restart->marks[restart->marks_count++] = mark_of(pod);
		} else if (is_evicted(pod) && restart->count >= plan->features.replace_workers) {
			workers->evicted++;
			if (mpijob__plan_pod_ended_before(pod, workers->first_evicted))
				workers->first_evicted = pod;
		}
	}
}

/* Whether everything of the last attempt is stopped: its workers are deleted, so their names are
 * free, and no launcher pod runs. */
static int is_stopped(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;

	if (plan->launcher && (!plan->launcher->suspended || plan->launcher->active))
		return 0;
	for (size_t i = 0; i < pods->count; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);
		int runs = pod->phase != MPIJOB_POD_SUCCEEDED && pod->phase != MPIJOB_POD_FAILED;

		if (pod->role == MPIJOB_ROLE_LAUNCHER ? runs
						      : mpijob__plan_owns(plan, pod->owner_uid))
			return 0;
	}
	return 1;
}

static void decide_restart(struct mpijob_plan *plan, const struct mpijob__plan_condition *known)
{
	struct mpijob__plan_restart *restart = &plan->restart;
	int stopping = is_reason(known, STOPPING) && known->view.status == MPIJOB_CONDITION_TRUE;

	restart->pod = first_failed(plan);
	if (!stopping && restart->pod && restart->count < plan->features.restart_gang) {
		plan->workers.evicted = 0;
		if (backs_off(plan, known, restart_pause(restart->count)))
			return;
		restart->count++;
		restart->is_new = restart->stopping = 1;
	} else if (stopping) {
		restart->starting = is_stopped(plan);
		restart->stopping = !restart->starting;
	}
	if (stopping)
		plan->workers.evicted = 0;
}

int mpijob__plan_restart_in_progress(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_condition *known = mpijob__plan_conditions_get(&plan->old, TYPE);

	return plan->features.restart_gang != 0 &&
	       (is_reason(known, STOPPING) || is_reason(known, RESTARTED)) &&
	       known->view.status == MPIJOB_CONDITION_TRUE;
}

void mpijob__plan_restart_decide(struct mpijob_plan *plan)
{
	const struct mpijob__plan_condition *known = mpijob__plan_conditions_get(&plan->old, TYPE);
	int gang = plan->features.restart_gang != 0;

	if ((!gang && !plan->features.replace_workers) || plan->suspended ||
	    mpijob__plan_launcher_done(plan) ||
	    mpijob__plan_conditions_has(&plan->old, "Suspended"))
		return;
	if (gang ? is_reason(known, STOPPING) || is_reason(known, RESTARTED)
		 : is_reason(known, REPLACED)) {
		plan->restart.count = read_count(known->view.message);
		if (!gang)
			read_marks(known->view.message, &plan->restart);
	}
	if (gang)
		decide_restart(plan, known);
	else
		select_replaced(plan, known);
}

static const struct mpijob__plan_pod *first_replaced(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_restart *restart = &plan->restart;
	const struct mpijob__plan_pod *first = NULL;

	for (size_t i = 0; i < restart->marks_count; i++) {
		const struct mpijob__plan_pod *pod = plan->workers.pods[restart->indices[i]];

		if (mpijob__plan_pod_ended_before(pod, first))
			first = pod;
	}
	return first;
}

static const char *replaced_message(struct mpijob_plan *plan)
{
	const struct mpijob__plan_restart *restart = &plan->restart;
	char marks[MPIJOB__PLAN_RESTART_MARKS * 11 + 1] = "", *at = marks;

	for (size_t i = 0; i < restart->marks_count; i++) {
		*at++ = ' ';
		*at++ = '[';
		mpijob__base_hex_write(restart->marks[i], 8, at);
		at += 8;
		*at++ = ']';
		*at = 0;
	}
	return mpijob__plan_text(plan,
	    "failed workers of MPIJob %s/%s were replaced (%d of at most %d), now%s: %s",
	    plan->subject.namespace_, plan->subject.name, (int)restart->count,
	    (int)plan->features.replace_workers, marks,
	    mpijob__plan_message_pod(plan, "worker", first_replaced(plan)));
}

void mpijob__plan_restart_replace(struct mpijob_plan *plan)
{
	const struct mpijob__plan_restart *restart = &plan->restart;
	char uid[MPIJOB__BASE_UID_ROOM];

	for (size_t i = 0; i < restart->marks_count && plan->features.replace_workers &&
			   !plan->features.restart_gang;
	     i++)
		mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_WORKERS, MPIJOB_ACTION_DELETE,
		    MPIJOB__PLAN_BODY_NONE, MPIJOB_ROLE_WORKER, restart->indices[i],
		    mpijob__base_uid_text(&plan->workers.pods[restart->indices[i]]->uid, uid),
		    "it failed and is replaced");
}

void mpijob__plan_restart_stop(struct mpijob_plan *plan)
{
	static const char why[] = "a worker failed, and the job is restarted";

	mpijob__plan_launcher_stop(plan, why);
	mpijob__plan_workers_delete(plan, MPIJOB__PLAN_STAGE_CLEAN, 1, why);
}

/* The cause in the message of a restart in progress. */
static const char *cause_of(const struct mpijob__plan_condition *known)
{
	const char *cause = known && known->view.message ? strchr(known->view.message, ':') : NULL;

	return cause ? cause : "";
}

static void report(struct mpijob_plan *plan, const char *reason, const char *message, int event)
{
	message = mpijob__plan_message_cut(plan, message, MPIJOB__PLAN_MESSAGE_LIMIT);
	mpijob__plan_conditions_set_message(plan, TYPE, MPIJOB_CONDITION_TRUE, reason, message);
	if (mpijob__plan_conditions_has(&plan->draft, "Running"))
		mpijob__plan_conditions_set(plan, "Running", MPIJOB_CONDITION_FALSE, STOPPING,
		    mpijob__plan_text(plan, "MPIJob %s/%s is restarting.", plan->subject.namespace_,
			plan->subject.name));
	if (event)
		mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_FIRST, "Warning", reason, message);
}

void mpijob__plan_restart_report(struct mpijob_plan *plan)
{
	const struct mpijob__plan_restart *restart = &plan->restart;
	const char *cause = NULL;

	if (restart->is_new && !restart->stopping)
		report(plan, REPLACED, replaced_message(plan), 1);
	if (restart->is_new && restart->stopping)
		cause = mpijob__plan_text(plan, ": %s",
		    mpijob__plan_message_pod(plan, "worker", restart->pod));
	else if (restart->starting)
		cause = cause_of(mpijob__plan_conditions_get(&plan->old, TYPE));
	if (cause)
		report(plan, restart->starting ? RESTARTED : STOPPING,
		    mpijob__plan_text(plan, "MPIJob %s/%s is restarted (%d of at most %d)%s",
			plan->subject.namespace_, plan->subject.name, (int)restart->count,
			(int)plan->features.restart_gang, cause),
		    restart->is_new);
}

void mpijob__plan_restart_end(struct mpijob_plan *plan)
{
	const struct mpijob__plan_condition *known =
	    mpijob__plan_conditions_get(&plan->draft, TYPE);

	if (!is_reason(known, REPLACED) && !is_reason(known, STOPPING) &&
	    !is_reason(known, RESTARTED))
		return; /* no condition, or one of another controller */
	if (known->view.status == MPIJOB_CONDITION_TRUE)
		mpijob__plan_conditions_set(plan, TYPE, MPIJOB_CONDITION_FALSE, known->view.reason,
		    known->view.message);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two notes on each action of a plan: which objects to read before it, and which deliberate
 * difference from the reference it follows from.
 *
 * An action that cannot be undone needs a fresh read, because the facts may be stale. Creating the
 * launcher and deleting an object follow from the job alone. A job that fails because its launcher
 * is missing depends on the launcher, which another leader may have created. Pods cannot start
 * without the Secret and the NetworkPolicy, which a controller may not be able to watch.
 *
 * A difference is named only if the job, its children and the action prove it.
 */
#include "plan/plan.h"

#include "base/api.h"
#include "render/differences.h"

#include <string.h>

/* ---- fresh reads ---- */

static struct mpijob_fresh_read read_of(int32_t role, const char *name, const char *uid)
{
	struct mpijob_fresh_read read = { sizeof(read), role, MPIJOB__BASE_API_VERSION,
		MPIJOB__BASE_API_KIND, name, uid };

	if (role) {
		read.api_version = mpijob__render_api_version(role, 0);
		read.kind = mpijob__render_kind(role);
	}
	return read;
}

/* Our child that pods cannot start without, if it is known. */
static void add_mount(struct mpijob_plan *plan, int32_t role)
{
	const struct mpijob_child_facts *child = mpijob_facts_child(plan->facts, role);
	struct mpijob__plan_notes *notes = &plan->notes;
	struct mpijob_fresh_read *read = &notes->mounts[notes->mounts_count];

	if (!child || !mpijob__plan_owns(plan, child->owner_uid))
		return;
	*read = read_of(role, mpijob__plan_text(plan, "%s", child->name),
	    mpijob__plan_text(plan, "%s", child->uid));
	notes->before_launcher[++notes->mounts_count] = read;
}

static void collect(struct mpijob_plan *plan)
{
	struct mpijob__plan_notes *notes = &plan->notes;

	notes->job = read_of(0, mpijob_name(plan->job), mpijob_uid(plan->job));
	notes->before_launcher[0] = &notes->job;
	add_mount(plan, MPIJOB_ROLE_SECRET);
	add_mount(plan, MPIJOB_ROLE_NETWORK_POLICY);
	if (plan->unseen)
		notes->launcher = read_of(MPIJOB_ROLE_LAUNCHER,
		    mpijob__plan_name(plan, MPIJOB_ROLE_LAUNCHER, -1), NULL);
	notes->before_status[0] = &notes->launcher;
}

static void note_reads(const struct mpijob_plan *plan, struct mpijob_action *action)
{
	const struct mpijob__plan_notes *notes = &plan->notes;

	if (action->verb == MPIJOB_ACTION_DELETE) {
		action->fresh_reads = notes->before_launcher;
		action->fresh_reads_count = 1;
	} else if (action->verb == MPIJOB_ACTION_CREATE && action->role == MPIJOB_ROLE_LAUNCHER) {
		action->fresh_reads = notes->before_launcher;
		action->fresh_reads_count = 1 + notes->mounts_count;
	} else if (action->verb == MPIJOB_ACTION_CREATE && action->role == MPIJOB_ROLE_WORKER) {
		action->fresh_reads = notes->before_launcher + 1;
		action->fresh_reads_count = notes->mounts_count;
	} else if (action->verb == MPIJOB_ACTION_PATCH_STATUS && !action->role && plan->unseen) {
		action->fresh_reads = notes->before_status;
		action->fresh_reads_count = 1;
	}
}

/* ---- differences ---- */

/* The reason of the condition Failed in the status of the plan; "" when there is none. */
static const char *failed_reason(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_condition *failed =
	    mpijob__plan_conditions_get(&plan->draft, "Failed");

	return failed && failed->view.status == MPIJOB_CONDITION_TRUE && failed->view.reason
		   ? failed->view.reason
		   : "";
}

/* Is a worker deleting? The reference still counts it as running, and lists it. */
static int has_deleting_worker(const struct mpijob_plan *plan)
{
	const struct mpijob__plan_pods *pods = &plan->facts->pods;

	for (size_t i = 0; i < pods->count; i++) {
		const struct mpijob__plan_pod *pod = mpijob__plan_pods_at(pods, i);

		if (pod->role == MPIJOB_ROLE_WORKER && pod->deleting)
			return 1;
	}
	return 0;
}

/* The difference that all actions follow from. */
static enum mpijob__render_difference of_plan(const struct mpijob_plan *plan)
{
	const char *reason = failed_reason(plan);

	if (strcmp(reason, MPIJOB__BASE_API_REASON_EVICTED) == 0)
		return MPIJOB__RENDER_DIFFERENCE_EVICTED_ENDS;
	if (strcmp(reason, MPIJOB__BASE_API_REASON_LAUNCHER_GONE) == 0)
		return MPIJOB__RENDER_DIFFERENCE_LAUNCHER_ONCE;
	return MPIJOB__RENDER_DIFFERENCE_NONE;
}

static enum mpijob__render_difference of_action(const struct mpijob_plan *plan,
    const struct mpijob_action *action)
{
	if (action->verb == MPIJOB_ACTION_EVENT)
		return MPIJOB__RENDER_DIFFERENCE_NONE;
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS &&
	    mpijob__plan_conditions_finished(&plan->old) && !plan->old.has_completion_time)
		return MPIJOB__RENDER_DIFFERENCE_TERMINAL_STAYS;
	/* The reference does not look at the name. */
	if (action->verb == MPIJOB_ACTION_DELETE && action->role == MPIJOB_ROLE_WORKER &&
	    action->index >= plan->workers.wanted)
		return MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_BY_NAME;
	if ((action->role == MPIJOB_ROLE_CONFIG_MAP || action->role == 0) &&
	    has_deleting_worker(plan))
		return MPIJOB__RENDER_DIFFERENCE_STEADY_WORKERS;
	return MPIJOB__RENDER_DIFFERENCE_NONE;
}

void mpijob__plan_notes_add(struct mpijob_plan *plan)
{
	enum mpijob__render_difference whole = of_plan(plan), difference;

	if (!plan->count)
		return;
	collect(plan);
	for (size_t i = 0; i < plan->count; i++) {
		struct mpijob_action *action = &plan->actions[i].view;

		note_reads(plan, action);
		difference = whole ? whole : of_action(plan, action);
		if (difference)
			action->difference = mpijob__render_difference_row(difference)->id;
	}
}

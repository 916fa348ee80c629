/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules for conditions, as in mpi-operator: one of each type; a new status or reason moves a
 * condition to the end of the list; lastTransitionTime is the time of the last change of the
 * status; when a job ends, Running becomes False. Conditions of unknown types keep their index.
 */
#include "plan/plan.h"

#include <string.h>

static struct mpijob__plan_condition *find(const struct mpijob__plan_draft *draft, const char *type)
{
	for (size_t i = 0; i < draft->count; i++) {
		if (draft->conditions[i].view.type &&
		    strcmp(draft->conditions[i].view.type, type) == 0)
			return &draft->conditions[i];
	}
	return NULL;
}

const struct mpijob__plan_condition *
mpijob__plan_conditions_get(const struct mpijob__plan_draft *draft, const char *type)
{
	return find(draft, type);
}

int mpijob__plan_conditions_has(const struct mpijob__plan_draft *draft, const char *type)
{
	const struct mpijob__plan_condition *condition = find(draft, type);

	return condition && condition->view.status == MPIJOB_CONDITION_TRUE;
}

int mpijob__plan_conditions_finished(const struct mpijob__plan_draft *draft)
{
	return mpijob__plan_conditions_has(draft, "Succeeded") ||
	       mpijob__plan_conditions_has(draft, "Failed");
}

static int same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Remove the old condition of this type. When the job ends, Running and an earlier Failed become
 * False. */
static void remove_old(struct mpijob__plan_draft *draft, const char *type)
{
	int end = same(type, "Failed") || same(type, "Succeeded");
	size_t kept = 0;

	for (size_t i = 0; i < draft->count; i++) {
		struct mpijob__plan_condition *condition = &draft->conditions[i];

		if (same(condition->view.type, type))
			continue;
		if (end &&
		    (same(condition->view.type, "Running") ||
			same(condition->view.type, "Failed")) &&
		    condition->view.status != MPIJOB_CONDITION_FALSE) {
			condition->view.status = MPIJOB_CONDITION_FALSE;
			condition->origin = SIZE_MAX;
		}
		if (kept != i)
			draft->conditions[kept] = *condition;
		kept++;
	}
	draft->count = kept;
}

/* There is always memory: mpijob__plan_status_load() allocated some for each type. */
static void append(struct mpijob__plan_draft *draft, const struct mpijob__plan_condition *condition)
{
	draft->conditions[draft->count++] = *condition;
}

static struct mpijob__plan_condition make(const char *type, int32_t status, const char *reason,
    const char *message, int64_t seconds)
{
	struct mpijob__plan_condition condition = { .view = MPIJOB_CONDITION_INIT };

	condition.view.type = type;
	condition.view.status = status;
	condition.view.reason = reason;
	condition.view.message = message;
	condition.update_time = condition.transition_time = seconds;
	condition.has_update_time = condition.has_transition_time = 1;
	condition.origin = SIZE_MAX;
	return condition;
}

static int set_condition(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message, int by_message)
{
	struct mpijob__plan_draft *draft = &plan->draft;
	struct mpijob__plan_condition condition =
	    make(type, status, reason, message, plan->now_ms / 1000);
	const struct mpijob__plan_condition *known = find(draft, type);

	if (!draft->conditions)
		return 0;
	if (known && known->view.status == status && same(known->view.reason, reason) &&
	    (!by_message || same(known->view.message, message)))
		return 0;
	if (known && known->view.status == status && known->has_transition_time)
		condition.transition_time = known->transition_time;
	remove_old(draft, type);
	append(draft, &condition);
	return 1;
}

int mpijob__plan_conditions_set(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message)
{
	return set_condition(plan, type, status, reason, message, 0);
}

int mpijob__plan_conditions_set_message(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message)
{
	return set_condition(plan, type, status, reason, message, 1);
}

void mpijob__plan_conditions_remove(struct mpijob__plan_draft *draft, const char *type)
{
	struct mpijob__plan_condition *condition = find(draft, type);
	size_t behind;

	if (!condition)
		return;
	behind = draft->count - (size_t)(condition - draft->conditions) - 1;
	memmove(condition, condition + 1, behind * sizeof(*condition));
	draft->count--;
}

void mpijob__plan_conditions_append(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message, int64_t seconds)
{
	struct mpijob__plan_condition condition = make(type, status, reason, message, seconds);

	if (plan->draft.conditions)
		append(&plan->draft, &condition);
}

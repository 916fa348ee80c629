/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children besides pods and the launcher: which of them are there, whose they are, and whether
 * the fields that are ours still stand as rendered. Fields of others, and defaults of the server,
 * are not looked at; a child that is going is made again once it is gone.
 */
#include "plan/host_lines.h"
#include "plan/hosts.h"
#include "plan/observe.h"
#include "plan/plan.h"

#include <string.h>

#define ABSENT 0
#define OURS   1
#define TAKEN  2

static int look(struct mpijob_plan *plan, int32_t role, const struct mpijob_child_facts **out)
{
	const struct mpijob_child_facts *child = mpijob_facts_child(plan->facts, role);
	const char *name = mpijob__plan_name(plan, role, -1);

	if (!child || strcmp(child->name, name) != 0)
		return ABSENT;
	*out = child;
	return mpijob__plan_owns(plan, child->owner_uid) ? OURS : TAKEN;
}

/* 1 and the child to be compared, or NULL when there is nothing to compare; 0 when the plan has to
 * stop. */
static int provide(struct mpijob_plan *plan, int32_t role, const struct mpijob_child_facts **out)
{
	const struct mpijob_child_facts *child = NULL;
	int found = look(plan, role, &child);

	*out = NULL;
	if (found == TAKEN) {
		mpijob__plan_taken(plan, child->name, mpijob__render_kind(role));
		return 0;
	}
	if (found == ABSENT)
		mpijob__plan_act(plan, MPIJOB__PLAN_STAGE_FIRST, MPIJOB_ACTION_CREATE,
		    MPIJOB__PLAN_BODY_CREATE, role, -1, NULL, "it is not there");
	else if (!child->deleting)
		*out = child;
	return 1;
}

static void patch(struct mpijob_plan *plan, const struct mpijob_child_facts *child, int32_t body,
    const char *why)
{
	mpijob__plan_act(plan, MPIJOB__PLAN_STAGE_FIRST, MPIJOB_ACTION_PATCH, body, child->role, -1,
	    child->uid, why);
}

/* Keep a map whose superfluous keys the patch removes. */
static void keep(struct mpijob_plan *plan, const mpijob_node *node, mpijob_doc **out)
{
	if (!node)
		return;
	*out = mpijob_doc_from_node(node);
	if (!*out)
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
}

static int plan_service(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;

	if (!provide(plan, MPIJOB_ROLE_SERVICE, &child))
		return 0;
	if (child && child->digest != mpijob__render_wanted_service(&plan->subject)) {
		keep(plan, child->owned, &plan->selector);
		patch(plan, child, MPIJOB__PLAN_BODY_SERVICE, "its selector is not the job's");
	}
	return 1;
}

static int plan_network_policy(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;
	uint64_t wanted = 0;

	if (!plan->features.network_policy)
		return 1;
	if (!provide(plan, MPIJOB_ROLE_NETWORK_POLICY, &child))
		return 0;
	if (!child)
		return 1;
	mpijob__plan_fail(plan, mpijob__render_wanted_network_policy(&plan->subject, &wanted));
	if (child->digest != wanted) {
		keep(plan, child->owned, &plan->match_labels);
		patch(plan, child, MPIJOB__PLAN_BODY_NETWORK_POLICY,
		    "it lets others reach the pods, or keeps the job's away");
	}
	return 1;
}

static int plan_config_map(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;
	size_t before = plan->count;
	int fresh;
	int64_t due_ms = 0;

	if (!provide(plan, MPIJOB_ROLE_CONFIG_MAP, &child))
		return 0;
	fresh = plan->count > before ||
		(child && child->digest != mpijob__plan_host_lines_wanted(&plan->subject));
	if (child && fresh)
		patch(plan, child, MPIJOB__PLAN_BODY_CONFIG_MAP, "the hosts of the job changed");
	else if (child && mpijob__plan_hosts_changed(plan, child, &due_ms))
		patch(plan, child, MPIJOB__PLAN_BODY_CONFIG_MAP,
		    "other workers run than those that are listed");
	if (due_ms)
		mpijob__plan_look_again(plan, due_ms);
	/* One that would be too large is refused before any worker is made, not when all run. */
	return !fresh || mpijob__plan_bodies_check(plan);
}

static int plan_secret(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;

	if (!provide(plan, MPIJOB_ROLE_SECRET, &child))
		return 0;
	if (child && child->digest != MPIJOB__PLAN_SECRET_COMPLETE)
		patch(plan, child, MPIJOB__PLAN_BODY_SECRET, "it lacks a key");
	return 1;
}

/* A PodGroup that the reference made counts resources in its way, and stays so while nothing else
 * changes. */
static int is_of_reference(struct mpijob_plan *plan, const struct mpijob_child_facts *child)
{
	struct mpijob__render_subject subject = plan->subject;
	uint64_t wanted = 0;
	int code;

	subject.options.reference = 1;
	code = mpijob__render_wanted_pod_group(&subject, &wanted, NULL);
	if (code == MPIJOB_ERR_NOMEM)
		mpijob__plan_fail(plan, code);
	return !code && mpijob__render_pod_group_same(wanted, child->digest);
}

static int plan_pod_group(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;
	uint64_t wanted = 0;

	if (mpijob__render_subject_gang(&plan->subject) == MPIJOB__RENDER_GANG_NONE ||
	    plan->suspended)
		return 1;
	if (!provide(plan, MPIJOB_ROLE_POD_GROUP, &child))
		return 0;
	if (!child)
		return 1;
	mpijob__plan_fail(plan, mpijob__render_wanted_pod_group(&plan->subject, &wanted, NULL));
	if (!mpijob__render_pod_group_same(wanted, child->digest) &&
	    !is_of_reference(plan, child)) {
		keep(plan, child->owned, &plan->min_resources);
		patch(plan, child, MPIJOB__PLAN_BODY_POD_GROUP, "the gang changed");
	}
	return 1;
}

int mpijob__plan_children_plan(struct mpijob_plan *plan)
{
	return plan_service(plan) && plan_network_policy(plan) && plan_config_map(plan) &&
	       plan_secret(plan) && plan_pod_group(plan);
}

void mpijob__plan_children_delete_pod_group(struct mpijob_plan *plan, int32_t stage,
    const char *why)
{
	const struct mpijob_child_facts *child = NULL;

	if (mpijob__render_subject_gang(&plan->subject) == MPIJOB__RENDER_GANG_NONE ||
	    look(plan, MPIJOB_ROLE_POD_GROUP, &child) != OURS || child->deleting)
		return;
	mpijob__plan_act(plan, stage, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE,
	    MPIJOB_ROLE_POD_GROUP, -1, child->uid, why);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the children other than pods and the launcher: whether they exist, who owns them, and
 * whether the fields that the operator sets are unchanged. Fields of others and defaults of the
 * server are ignored. A child that is being deleted is recreated after it was deleted.
 */
#include "plan/host_lines.h"
#include "plan/hosts.h"
#include "plan/observe.h"
#include "plan/plan.h"

#include <string.h>

#define ABSENT  0
#define OURS    1
#define FOREIGN 2

static int find_child(struct mpijob_plan *plan, int32_t role, const struct mpijob_child_facts **out)
{
	const struct mpijob_child_facts *child = mpijob_facts_child(plan->facts, role);
	const char *name = mpijob__plan_name(plan, role, -1);

	if (!child || strcmp(child->name, name) != 0)
		return ABSENT;
	*out = child;
	return mpijob__plan_owns(plan, child->owner_uid) ? OURS : FOREIGN;
}

/* Create a child if it does not exist. Returns 1 and the child to compare (NULL if there is nothing
 * to compare), or 0 to stop planning. */
static int ensure(struct mpijob_plan *plan, int32_t role, const struct mpijob_child_facts **out)
{
	const struct mpijob_child_facts *child = NULL;
	int found = find_child(plan, role, &child);

	*out = NULL;
	if (found == FOREIGN) {
		mpijob__plan_name_conflict(plan, child->name, mpijob__render_kind(role));
		return 0;
	}
	if (found == ABSENT)
		mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_FIRST, MPIJOB_ACTION_CREATE,
		    MPIJOB__PLAN_BODY_CREATE, role, -1, NULL, "it does not exist");
	else if (!child->deleting)
		*out = child;
	return 1;
}

static void patch(struct mpijob_plan *plan, const struct mpijob_child_facts *child, int32_t body,
    const char *why)
{
	mpijob__plan_add_action(plan, MPIJOB__PLAN_STAGE_FIRST, MPIJOB_ACTION_PATCH, body,
	    child->role, -1, child->uid, why);
}

/* Copy a map whose unexpected keys the patch removes. */
static void copy_map(struct mpijob_plan *plan, const mpijob_node *node, mpijob_doc **out)
{
	if (!node)
		return;
	*out = mpijob_doc_from_node(node, NULL);
	if (!*out)
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
}

static int plan_service(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;

	if (!ensure(plan, MPIJOB_ROLE_SERVICE, &child))
		return 0;
	if (child && child->digest != mpijob__render_wanted_service(&plan->subject)) {
		copy_map(plan, child->owned, &plan->selector);
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
	if (!ensure(plan, MPIJOB_ROLE_NETWORK_POLICY, &child))
		return 0;
	if (!child)
		return 1;
	mpijob__plan_fail(plan, mpijob__render_wanted_network_policy(&plan->subject, &wanted));
	if (child->digest != wanted) {
		copy_map(plan, child->owned, &plan->match_labels);
		patch(plan, child, MPIJOB__PLAN_BODY_NETWORK_POLICY,
		    "its rules are not those of the job");
	}
	return 1;
}

static int plan_config_map(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;
	size_t before = plan->count;
	int fresh;
	int64_t due_ms = 0;

	if (!ensure(plan, MPIJOB_ROLE_CONFIG_MAP, &child))
		return 0;
	fresh = plan->count > before ||
		(child && child->digest != mpijob__plan_host_lines_wanted(&plan->subject));
	if (child && fresh)
		patch(plan, child, MPIJOB__PLAN_BODY_CONFIG_MAP, "the hosts of the job changed");
	else if (child && mpijob__plan_hosts_changed(plan, child, &due_ms))
		patch(plan, child, MPIJOB__PLAN_BODY_CONFIG_MAP,
		    "the running workers differ from the listed ones");
	if (due_ms)
		mpijob__plan_again_at(plan, due_ms);
	/* A ConfigMap that would be too large is rejected before the first worker is created. */
	return !fresh || mpijob__plan_bodies_check(plan);
}

static int plan_secret(struct mpijob_plan *plan)
{
	const struct mpijob_child_facts *child;

	if (!ensure(plan, MPIJOB_ROLE_SECRET, &child))
		return 0;
	if (child && child->digest != MPIJOB__PLAN_SECRET_COMPLETE)
		patch(plan, child, MPIJOB__PLAN_BODY_SECRET, "a key is missing");
	return 1;
}

/* A PodGroup that mpi-operator created has a different sum of resources. It is kept as long as
 * nothing else changes. */
static int made_by_reference(struct mpijob_plan *plan, const struct mpijob_child_facts *child)
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
	if (!ensure(plan, MPIJOB_ROLE_POD_GROUP, &child))
		return 0;
	if (!child)
		return 1;
	mpijob__plan_fail(plan, mpijob__render_wanted_pod_group(&plan->subject, &wanted, NULL));
	if (!mpijob__render_pod_group_same(wanted, child->digest) &&
	    !made_by_reference(plan, child)) {
		copy_map(plan, child->owned, &plan->min_resources);
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
	    find_child(plan, MPIJOB_ROLE_POD_GROUP, &child) != OURS || child->deleting)
		return;
	mpijob__plan_add_action(plan, stage, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE,
	    MPIJOB_ROLE_POD_GROUP, -1, child->uid, why);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about one job's children, for the plan. */
#ifndef MPIJOB__PLAN_FACTS_H
#define MPIJOB__PLAN_FACTS_H

#include "base/arena.h"
#include "plan/pods.h"

#include <mpijob/plan.h>

/* by role; slot 0 is for the NetworkPolicy */
#define MPIJOB__PLAN_CHILD_SLOTS (MPIJOB_ROLE_POD_GROUP + 1)

struct mpijob__plan_child {
	struct mpijob_child_facts facts; /* name NULL: not known */
	struct mpijob__base_arena arena;
	mpijob_doc *doc; /* facts.owned is in it */
};

struct mpijob__plan_launcher {
	struct mpijob_launcher_facts facts; /* name NULL: not known */
	struct mpijob__base_arena arena;
	mpijob_doc *doc; /* facts.node_selector is in it */
	int deleted;     /* the Job finished and was deleted */
};

struct mpijob_facts {
	struct mpijob__plan_pods pods;
	struct mpijob__plan_launcher launcher;
	struct mpijob__plan_child children[MPIJOB__PLAN_CHILD_SLOTS];
};

#endif

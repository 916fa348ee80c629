/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about one job's children, for the plan. */
#ifndef MPIJOB__PLAN_FACTS_H
#define MPIJOB__PLAN_FACTS_H

#include "base/arena.h"
#include "plan/pods.h"

#include <mpijob/plan.h>

/* by role, but slot 0 is the NetworkPolicy's */
#define MPIJOB__PLAN_CHILD_SLOTS (MPIJOB_ROLE_POD_GROUP + 1)

struct mpijob__plan_child {
	struct mpijob_child_facts facts; /* name NULL: there is none */
	struct mpijob__base_arena arena;
	mpijob_doc *doc; /* behind facts.owned */
};

struct mpijob__plan_launcher {
	struct mpijob_launcher_facts facts; /* name NULL: there is none */
	struct mpijob__base_arena arena;
	mpijob_doc *doc; /* behind facts.node_selector */
	int gone;        /* it ended, and is deleted since */
};

struct mpijob_facts {
	struct mpijob__plan_pods pods;
	struct mpijob__plan_launcher launcher;
	struct mpijob__plan_child children[MPIJOB__PLAN_CHILD_SLOTS];
};

#endif

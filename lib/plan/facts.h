/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about one job's children, for the plan. */
#ifndef MPIJOB__PLAN_FACTS_H
#define MPIJOB__PLAN_FACTS_H

#include "base/arena.h"
#include "plan/pods.h"

#include <mpijob/plan.h>

#define MPIJOB__CHILD_ROLES (MPIJOB_ROLE_POD_GROUP + 1) /* roles of struct mpijob_child_facts, 0 left free */

struct mpijob__child {
	struct mpijob_child_facts facts; /* name NULL: there is none */
	struct mpijob__arena arena;
	mpijob_doc *doc; /* behind facts.owned */
};

struct mpijob__launcher {
	struct mpijob_launcher_facts facts; /* name NULL: there is none */
	struct mpijob__arena arena;
	mpijob_doc *doc; /* behind facts.node_selector */
	int gone;        /* it ended, and is deleted since */
};

struct mpijob_facts {
	struct mpijob__pods pods;
	struct mpijob__launcher launcher;
	struct mpijob__child children[MPIJOB__CHILD_ROLES];
};

#endif

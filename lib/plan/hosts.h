/* SPDX-License-Identifier: Apache-2.0 */
/* When discover_hosts.sh is written anew. */
#ifndef MPIJOB__PLAN_HOSTS_H
#define MPIJOB__PLAN_HOSTS_H

#include "plan/plan.h"

/*
 * 1 when the workers that run are not those that the ConfigMap lists, and it is time to write that.
 * Else 0, and `*due_ms` is set when it will be time though nothing else happens.
 */
int mpijob__plan_hosts_changed(struct mpijob_plan *plan,
    const struct mpijob_child_facts *config_map, int64_t *due_ms);

#endif

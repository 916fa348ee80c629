/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when discover_hosts.sh is updated. */
#ifndef MPIJOB__PLAN_HOSTS_H
#define MPIJOB__PLAN_HOSTS_H

#include "plan/plan.h"

/*
 * Returns 1 if the running workers differ from those that the ConfigMap lists and the update is
 * due. Otherwise 0; if the update becomes due later, `*due_ms` is set to that time.
 */
int mpijob__plan_hosts_changed(struct mpijob_plan *plan,
    const struct mpijob_child_facts *config_map, int64_t *due_ms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Actions that follow from a deliberate difference from the reference. */
#ifndef MPIJOB__OPERATOR_EXPLAIN_H
#define MPIJOB__OPERATOR_EXPLAIN_H

#include "operator/cache_jobs.h"

/* The identifier in docs/differences.md of the difference that an action follows from, a constant;
 * NULL when none is known. */
const char *mpijob__operator_explain_action(const struct mpijob__operator_job *job,
    const mpijob_plan *plan, const struct mpijob_action *action);

/* 1 when an action deletes a worker whose index is beyond the number of workers. */
int mpijob__operator_explain_is_scale_down(const struct mpijob__operator_job *job,
    const struct mpijob_action *action);

#endif

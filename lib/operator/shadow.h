/* SPDX-License-Identifier: Apache-2.0 */
/* The dry run of a shadow operator. */
#ifndef MPIJOB__OPERATOR_SHADOW_H
#define MPIJOB__OPERATOR_SHADOW_H

#include "base/table.h"

#include <mpijob/client.h>
#include <mpijob/operator.h>
#include <mpijob/plan.h>

struct mpijob__operator_job;
struct mpijob__operator_shadow_want;
struct mpijob__operator_shadow_entry;

/* The dry run of one job. */
struct mpijob__operator_shadow_job {
	struct mpijob__operator_shadow_want *wants; /* the actions of its last plan */
	mpijob_call *secret_call;                   /* reads its Secret */
	int secret_forbidden;                       /* that read was forbidden */
};

struct mpijob__operator_shadow {
	int on;
	int64_t grace_ms;
	struct mpijob__base_table wants;
	struct mpijob__operator_shadow_entry *first, *last; /* the report */
	size_t count;
};

/* Record the actions of a plan. 0, and when to plan again, INT64_MAX for never; or
 * MPIJOB_ERR_NOMEM. */
int mpijob__operator_shadow_record(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob_plan *plan, int64_t *due_ms);
void mpijob__operator_shadow_forget(mpijob_operator *operator_, struct mpijob__operator_job *job);
void mpijob__operator_shadow_release(mpijob_operator *operator_);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Plan jobs with the administrator's configuration. */
#ifndef MPIJOB__OPERATOR_CONFIGURE_H
#define MPIJOB__OPERATOR_CONFIGURE_H

#include "operator/cache_jobs.h"

/* Validate a job with its effective values, unless this version was validated. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__operator_configure_validate(mpijob_operator *operator_,
    struct mpijob__operator_job *job);
/* Forget the findings of validation. */
void mpijob__operator_configure_forget_findings(struct mpijob__operator_job *job);
/* Validate, then plan with the effective values. `options` without `render`. 0, or what
 * mpijob_plan_new() returned. */
int mpijob__operator_configure_plan(mpijob_operator *operator_, struct mpijob__operator_job *job,
    struct mpijob_plan_options *options, mpijob_plan **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules over several fields, or inside the pod templates. */
#ifndef MPIJOB__JOB_RULES_H
#define MPIJOB__JOB_RULES_H

#include "job/report.h"

/* All rules; values of a wrong type count as absent. */
void mpijob__job_rules_check(struct mpijob__job_report *report, const mpijob_node *root);

/* The place of a row's value, or of the nearest object around it. */
struct mpijob__core_place mpijob__job_rules_place(const struct mpijob__job_report *report,
    const mpijob_node *root, int id);

#endif

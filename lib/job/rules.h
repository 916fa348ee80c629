/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for several fields together. */
#ifndef MPIJOB__JOB_RULES_H
#define MPIJOB__JOB_RULES_H

#include "job/report.h"

/* Check all rules. Values of a wrong type count as absent. */
void mpijob__job_rules_check(struct mpijob__job_report *report, const mpijob_node *root);

/* The place of a row's value; if it has none, of its nearest parent that has one. */
struct mpijob__core_place mpijob__job_rules_place(const struct mpijob__job_report *report,
    const mpijob_node *root, int id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Types inside a pod template. */
#ifndef MPIJOB__JOB_TEMPLATE_H
#define MPIJOB__JOB_TEMPLATE_H

#include "job/report.h"

/* Complain of wrong types in the template of row `id`, as far as this library knows them; NULL is fine. */
void mpijob__template_check_types(struct mpijob__report *report, int id, const mpijob_node *pod_template);

#endif

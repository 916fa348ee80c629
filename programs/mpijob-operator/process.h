/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process costs.
 */
#ifndef MPIJOB_OPERATOR_PROCESS_H
#define MPIJOB_OPERATOR_PROCESS_H

#include <mpijob/base.h>

/* Write the metrics process_* in the text format of Prometheus. 0 or MPIJOB_ERR_NOMEM. What cannot
 * be found out is left out. */
int process_write(mpijob_text *out);

#endif

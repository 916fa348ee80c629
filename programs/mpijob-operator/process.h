/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of this process.
 */
#ifndef MPIJOB_OPERATOR_PROCESS_H
#define MPIJOB_OPERATOR_PROCESS_H

#include <mpijob/base.h>

/* Write the metrics process_* in the text format of Prometheus. Unavailable ones are omitted. 0 or
 * MPIJOB_ERR_NOMEM. */
int process_write(mpijob_text *out);

#endif

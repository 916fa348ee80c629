/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resource usage of this process.
 */
#ifndef MPIJOB_OPERATOR_PROCESS_H
#define MPIJOB_OPERATOR_PROCESS_H

#include <mpijob/base.h>

/* Write the metrics process_* in the text format of Prometheus. 0 or MPIJOB_ERR_NOMEM. What is
 * not available is omitted. */
int process_write(mpijob_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of the operator's options and configuration. */
#ifndef MPIJOB__OPERATOR_REPORT_H
#define MPIJOB__OPERATOR_REPORT_H

#include "base/text.h"

#include <mpijob/diag.h>

/* Add a finding whose message is formatted. `finding` has everything else; `diag` may be NULL. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__operator_report(mpijob_diag *diag, const struct mpijob_finding *finding,
    const char *format, ...) MPIJOB__BASE_PRINTF(3, 4);
int mpijob__operator_report_args(mpijob_diag *diag, const struct mpijob_finding *finding,
    const char *format, va_list args) MPIJOB__BASE_PRINTF(3, 0);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: lines on standard error.
 */
#ifndef MPIJOB_OPERATOR_LOG_H
#define MPIJOB_OPERATOR_LOG_H

#include <mpijob/diag.h>

/* 1: JSON from now on. */
void log_set_json(int on);

/* One line. */
void log_line(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line for a finding; has the type of the callbacks for findings. */
void log_finding(void *user, const struct mpijob_finding *finding);

/* Log all findings of a list and clear it. */
void log_findings(mpijob_diag *diag);

#endif

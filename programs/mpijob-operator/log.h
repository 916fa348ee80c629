/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line on standard error for each message.
 */
#ifndef MPIJOB_OPERATOR_LOG_H
#define MPIJOB_OPERATOR_LOG_H

#include <mpijob/diag.h>

/* 1: write JSON lines from now on. */
void log_set_json(int on);

/* Log one line. */
void log_line(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Log a finding as one line. The signature is that of callbacks for findings. */
void log_finding(void *user, const struct mpijob_finding *finding);

/* Log all findings of a list, and clear it. */
void log_findings(mpijob_diag *diag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line on standard error for each message.
 */
#ifndef MPIJOB_OPERATOR_LOG_H
#define MPIJOB_OPERATOR_LOG_H

#include <mpijob/diag.h>

/* 1: JSON from now on. */
void log_set_json(int on);

/* One line. */
void log_line(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line for a finding; fits the callbacks that get findings. */
void log_finding(void *user, const struct mpijob_finding *finding);

/* All findings of a list, which is cleared. */
void log_findings(mpijob_diag *diag);

#endif

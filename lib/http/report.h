/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about a configuration. */
#ifndef MPIJOB__HTTP_REPORT_H
#define MPIJOB__HTTP_REPORT_H

#include <mpijob/diag.h>
#include <mpijob/doc.h>

/* Collects findings. `code` is the code of the first error; MPIJOB_ERR_NOMEM replaces it. */
struct mpijob__http_report {
	mpijob_diag *diag; /* may be NULL */
	int code;
};

/* The location of a finding; all members may be NULL. */
struct mpijob__http_report_location {
	const char *source;
	const char *field;
	const mpijob_node *node; /* gives line and column */
};

/*
 * Add a finding: an error when `code` is negative, a warning when it is 0. `location` may be NULL.
 * The message must not contain values that may be secret.
 */
void mpijob__http_report_add(struct mpijob__http_report *report, int code, const char *id,
    const char *reason, const struct mpijob__http_report_location *location, const char *format,
    ...) __attribute__((format(printf, 6, 7)));
/* Record that memory ran out. */
void mpijob__http_report_nomem(struct mpijob__http_report *report);

/* The text of a system error, independent of the locale. */
const char *mpijob__http_report_errno(int number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about a configuration, collected while it is read. */
#ifndef MPIJOB__HTTP_REPORT_H
#define MPIJOB__HTTP_REPORT_H

#include <mpijob/diag.h>
#include <mpijob/doc.h>

/* Where all that is wrong goes. `code` is that of the first error; MPIJOB_ERR_NOMEM replaces any
 * other. */
struct mpijob__http_report {
	mpijob_diag *diag; /* may be NULL */
	int code;
};

/* What a finding is about; all may be NULL. */
struct mpijob__http_report_place {
	const char *source;
	const char *field;
	const mpijob_node *node; /* gives line and column */
};

/*
 * Tell a finding: an error when `code` is negative, a warning when it is 0. `place` may be NULL.
 * Never give it a value that may be secret.
 */
void mpijob__http_report_say(struct mpijob__http_report *report, int code, const char *id,
    const char *reason, const struct mpijob__http_report_place *place, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Memory ran out. */
void mpijob__http_report_nomem(struct mpijob__http_report *report);

/* Why a system call failed, in words that do not depend on the locale. */
const char *mpijob__http_report_errno(int number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How the library itself adds findings. */
#ifndef MPIJOB__CORE_DIAG_H
#define MPIJOB__CORE_DIAG_H

#include "base/text.h"

#include <mpijob/diag.h>

#include <stdarg.h>

/* Where something stood; all zeros when it stood nowhere. */
struct mpijob__core_place {
	const char *source; /* may be NULL */
	int32_t line;
	int32_t column;
};

/*
 * Add a finding with a formatted message of any length. All strings are copied.
 *
 * diag    may be NULL: nothing happens.
 * id      not NULL.   reason, field: may be NULL.
 * place   may be NULL.
 *
 * Returns 0 or MPIJOB_ERR_NOMEM; even then the finding is counted (severity and dropped),
 * so callers may ignore the result where a count is all that they look at.
 */
int mpijob__core_diag_addf(mpijob_diag *diag, int32_t severity, const char *id, const char *reason,
    const char *field, const struct mpijob__core_place *place, const char *format, ...)
    MPIJOB__BASE_PRINTF(7, 8);
int mpijob__core_diag_vaddf(mpijob_diag *diag, int32_t severity, const char *id, const char *reason,
    const char *field, const struct mpijob__core_place *place, const char *format, va_list args)
    MPIJOB__BASE_PRINTF(7, 0);

/* Count a finding that is not kept. `diag` may be NULL. */
void mpijob__core_diag_leave_out(mpijob_diag *diag, int32_t severity, const char *id);

/* How severe a finding is after mpijob_diag_set_severity(); 0 when it is silenced. `diag` may be
 * NULL. */
int32_t mpijob__core_diag_severity(const mpijob_diag *diag, int32_t severity, const char *id);

/* Whether a warning or note of this kind counts as an error. */
int mpijob__core_diag_raised(const mpijob_diag *diag, const char *id);

#endif

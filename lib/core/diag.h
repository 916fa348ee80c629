/* SPDX-License-Identifier: Apache-2.0 */
/* Adds findings inside the library. */
#ifndef MPIJOB__CORE_DIAG_H
#define MPIJOB__CORE_DIAG_H

#include "base/text.h"

#include <mpijob/diag.h>

#include <stdarg.h>

/* A position in a source; all zeros if unknown. */
struct mpijob__core_place {
	const char *source; /* may be NULL */
	int32_t line;
	int32_t column;
};

/*
 * Add a finding with a formatted message of any length. All strings are copied.
 *
 * diag may be NULL: no effect. id      not NULL.   reason, field: may be NULL. place   may be NULL.
 *
 * Returns 0 or MPIJOB_ERR_NOMEM; the finding is then still counted (severity and dropped), so
 * callers that need only the counts may ignore the result.
 */
int mpijob__core_diag_addf(mpijob_diag *diag, int32_t severity, const char *id, const char *reason,
    const char *field, const struct mpijob__core_place *place, const char *format, ...)
    MPIJOB__BASE_PRINTF(7, 8);
int mpijob__core_diag_vaddf(mpijob_diag *diag, int32_t severity, const char *id, const char *reason,
    const char *field, const struct mpijob__core_place *place, const char *format, va_list args)
    MPIJOB__BASE_PRINTF(7, 0);

/* Count a finding that is dropped. `diag` may be NULL. */
void mpijob__core_diag_leave_out(mpijob_diag *diag, int32_t severity, const char *id);

/* The severity of a finding after mpijob_diag_set_severity(); 0 when it is silenced. `diag` may be
 * NULL. */
int32_t mpijob__core_diag_severity(const mpijob_diag *diag, int32_t severity, const char *id);

/* Whether a warning or note of this kind counts as an error. */
int mpijob__core_diag_raised(const mpijob_diag *diag, const char *id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds findings with formatted messages. mpijob_diag_add() takes the message as it is, because the
 * public interface has no functions with a variable number of arguments.
 */
#include "operator/report.h"

#include <stdlib.h>

int mpijob__operator_report_args(mpijob_diag *diag, const struct mpijob_finding *finding,
    const char *format, va_list args)
{
	struct mpijob_finding complete = *finding;
	char *message;
	int rc;

	if (!diag)
		return 0;
	message = mpijob__base_text_vformat(format, args);
	if (!message)
		return MPIJOB_ERR_NOMEM;
	complete.message = message;
	rc = mpijob_diag_add(diag, &complete);
	free(message);
	return rc;
}

int mpijob__operator_report(mpijob_diag *diag, const struct mpijob_finding *finding,
    const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = mpijob__operator_report_args(diag, finding, format, args);
	va_end(args);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How this room reports: errors are counted here and not read back from the diag, because a caller
 * may pass none, one that is full, or one that already holds findings of something else.
 */
#include "job/report.h"

struct mpijob__place mpijob__report_place(const struct mpijob__report *report, const mpijob_node *node,
					  const struct mpijob__place *around)
{
	struct mpijob__place place = { report->source, mpijob_node_line(node), mpijob_node_column(node) };

	return place.line || !around ? place : *around;
}

void mpijob__report_verror(struct mpijob__report *report, const struct mpijob__spot *spot, const char *id,
			   const char *reason, const char *format, va_list args)
{
	report->errors++;
	if (mpijob__diag_vaddf(report->diag, MPIJOB_SEVERITY_ERROR, id, reason, spot->path, &spot->place, format, args))
		report->code = MPIJOB_ERR_NOMEM;
}

void mpijob__report_error(struct mpijob__report *report, const struct mpijob__spot *spot, const char *id,
			  const char *reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	mpijob__report_verror(report, spot, id, reason, format, args);
	va_end(args);
}

void mpijob__report_loose(struct mpijob__report *report, const struct mpijob__spot *spot, const char *id,
			  const char *format, ...)
{
	int32_t severity = report->strict ? MPIJOB_SEVERITY_ERROR : MPIJOB_SEVERITY_WARNING;
	va_list args;

	report->errors += report->strict || mpijob__diag_raised(report->diag, id);
	va_start(args, format);
	if (mpijob__diag_vaddf(report->diag, severity, id, report->strict ? "Invalid" : NULL, spot->path, &spot->place,
			       format, args))
		report->code = MPIJOB_ERR_NOMEM;
	va_end(args);
}

void mpijob__report_warning(struct mpijob__report *report, const struct mpijob__spot *spot, const char *id,
			    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report->errors += (size_t)mpijob__diag_raised(report->diag, id);
	if (mpijob__diag_vaddf(report->diag, MPIJOB_SEVERITY_WARNING, id, NULL, spot->path, &spot->place, format, args))
		report->code = MPIJOB_ERR_NOMEM;
	va_end(args);
}

void mpijob__report_note(struct mpijob__report *report, const struct mpijob__spot *spot, const char *id,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report->errors += (size_t)mpijob__diag_raised(report->diag, id);
	if (mpijob__diag_vaddf(report->diag, MPIJOB_SEVERITY_INFO, id, NULL, spot->path, &spot->place, format, args))
		report->code = MPIJOB_ERR_NOMEM;
	va_end(args);
}

int mpijob__report_result(const struct mpijob__report *report)
{
	if (report->code)
		return report->code;
	return report->errors ? MPIJOB_ERR_SPEC : 0;
}

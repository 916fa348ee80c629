/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports findings for lib/job. It counts errors itself and does not read them from the diag,
 * because the caller may pass no diag, a full one, or one that already contains other findings.
 */
#include "job/report.h"

#include <string.h>

#define KIND(id, severity, summary, advice, example) id
static const char kinds[MPIJOB__JOB_REPORT_KINDS][28] = {
#include "job/findings.inc"
};
#undef KIND

struct mpijob__core_place mpijob__job_report_place(const struct mpijob__job_report *report,
    const mpijob_node *node, const struct mpijob__core_place *around)
{
	struct mpijob__core_place place = { .source = report->source };

	mpijob_node_place(node, &place.line, &place.column);
	return place.line || !around ? place : *around;
}

/* The counter for findings of a kind; NULL for a kind of another directory. */
static uint8_t *counter_of(struct mpijob__job_report *report, const char *id)
{
	for (size_t i = 0; i < MPIJOB__JOB_REPORT_KINDS && kinds[i][0]; i++)
		if (strcmp(kinds[i], id) == 0)
			return &report->counts[i];
	return NULL;
}

/* Whether the limit for a kind is reached: then count the finding as dropped. */
static int is_full(struct mpijob__job_report *report, int32_t severity, const char *id)
{
	uint8_t *count = counter_of(report, id);

	if (!count || *count < MPIJOB__JOB_REPORT_MOST)
		return 0;
	report->errors +=
	    mpijob__core_diag_severity(report->diag, severity, id) == MPIJOB_SEVERITY_ERROR;
	mpijob__core_diag_leave_out(report->diag, severity, id);
	return 1;
}

static int32_t strict_severity(const struct mpijob__job_report *report)
{
	return report->strict ? MPIJOB_SEVERITY_ERROR : MPIJOB_SEVERITY_WARNING;
}

int mpijob__job_report_is_full(struct mpijob__job_report *report, const char *id)
{
	return is_full(report, MPIJOB_SEVERITY_ERROR, id);
}

int mpijob__job_report_strict_is_full(struct mpijob__job_report *report, const char *id)
{
	return is_full(report, strict_severity(report), id);
}

static void add(struct mpijob__job_report *report, int32_t severity,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    va_list args) MPIJOB__BASE_PRINTF(6, 0);

static void add(struct mpijob__job_report *report, int32_t severity,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    va_list args)
{
	uint8_t *count;

	if (is_full(report, severity, id))
		return;
	count = counter_of(report, id);
	if (count)
		++*count;
	report->errors +=
	    mpijob__core_diag_severity(report->diag, severity, id) == MPIJOB_SEVERITY_ERROR;
	if (mpijob__core_diag_vaddf(report->diag, severity, id, reason, spot->path, &spot->place,
		format, args))
		report->code = MPIJOB_ERR_NOMEM;
}

void mpijob__job_report_verror(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    va_list args)
{
	add(report, MPIJOB_SEVERITY_ERROR, spot, id, reason, format, args);
}

void mpijob__job_report_error(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    ...)
{
	va_list args;

	va_start(args, format);
	add(report, MPIJOB_SEVERITY_ERROR, spot, id, reason, format, args);
	va_end(args);
}

void mpijob__job_report_strict(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(report, strict_severity(report), spot, id, report->strict ? "Invalid" : NULL, format,
	    args);
	va_end(args);
}

void mpijob__job_report_warning(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(report, MPIJOB_SEVERITY_WARNING, spot, id, NULL, format, args);
	va_end(args);
}

void mpijob__job_report_note(struct mpijob__job_report *report, const struct mpijob__job_spot *spot,
    const char *id, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(report, MPIJOB_SEVERITY_INFO, spot, id, NULL, format, args);
	va_end(args);
}

int mpijob__job_report_result(const struct mpijob__job_report *report)
{
	if (report->code)
		return report->code;
	return report->errors ? MPIJOB_ERR_SPEC : 0;
}

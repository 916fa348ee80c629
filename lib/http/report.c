/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the findings of this library, and contains the texts of system errors. strerror() is not
 * used, because it depends on the locale of the host.
 */
#include "http/report.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

void mpijob__http_report_nomem(struct mpijob__http_report *report)
{
	report->code = MPIJOB_ERR_NOMEM;
}

void mpijob__http_report_add(struct mpijob__http_report *report, int code, const char *id,
    const char *reason, const struct mpijob__http_report_location *location, const char *format,
    ...)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	va_list args;
	char *message;

	if (code < 0 && report->code == 0)
		report->code = code;
	if (!report->diag)
		return;
	va_start(args, format);
	message = mpijob__base_text_vformat(format, args);
	va_end(args);
	if (!message) {
		mpijob__http_report_nomem(report);
		return;
	}
	finding.severity = code < 0 ? MPIJOB_SEVERITY_ERROR : MPIJOB_SEVERITY_WARNING;
	finding.id = id;
	finding.reason = reason;
	finding.message = message;
	if (location) {
		finding.source = location->source;
		finding.field = location->field;
		mpijob_node_place(location->node, &finding.line, &finding.column);
	}
	if (mpijob_diag_add(report->diag, &finding))
		mpijob__http_report_nomem(report);
	free(message);
}

const char *mpijob__http_report_errno(int number)
{
	switch (number) {
	case ENOENT: return "the file does not exist";
	case ENOTDIR: return "a component of its path is not a directory";
	case EACCES:
	case EPERM: return "permission denied";
	case EISDIR: return "it is a directory";
	case EFBIG: return "it is larger than 16 MiB";
	case ELOOP: return "too many links";
	case ENAMETOOLONG: return "the name is too long";
	case EMFILE:
	case ENFILE: return "too many files are open";
	case ENOMEM: return "the system is out of memory";
	case ENOEXEC: return "it is not a program; the first line of a script must begin with #!";
	case E2BIG: return "arguments and environment are too large";
	case EAGAIN: return "no further process can be started";
	case EIO: return "input/output error";
	case ETXTBSY: return "it is being written";
	default: return "the system refused it";
	}
}

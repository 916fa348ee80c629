/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the findings of this library are put together, and the words for what the system refuses.
 * strerror() is not used: it answers in the language of the host's locale.
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

void mpijob__http_report_say(struct mpijob__http_report *report, int code, const char *id,
    const char *reason, const struct mpijob__http_report_place *place, const char *format, ...)
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
	if (place) {
		finding.source = place->source;
		finding.field = place->field;
		finding.line = mpijob_node_line(place->node);
		finding.column = mpijob_node_column(place->node);
	}
	if (mpijob_diag_add(report->diag, &finding))
		mpijob__http_report_nomem(report);
	free(message);
}

const char *mpijob__http_report_errno(int number)
{
	switch (number) {
	case ENOENT: return "there is no such file";
	case ENOTDIR: return "a part of its path is no folder";
	case EACCES:
	case EPERM: return "permission denied";
	case EISDIR: return "it is a folder";
	case EFBIG: return "it is larger than 16 MiB";
	case ELOOP: return "too many links";
	case ENAMETOOLONG: return "the name is too long";
	case EMFILE:
	case ENFILE: return "too many files are open";
	case ENOMEM: return "the system is out of memory";
	case ENOEXEC: return "it is no program; does a script lack its first line, #!?";
	case E2BIG: return "arguments and environment are too large";
	case EAGAIN: return "no further process can be started";
	case EIO: return "input/output error";
	case ETXTBSY: return "it is being written";
	default: return "the system refuses it";
	}
}

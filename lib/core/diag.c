/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of findings, and the caller's severities of their kinds.
 *
 * Each finding and its strings are one block of memory. A finding that is dropped, because of the
 * limit or a failed allocation, is still counted by its severity, so that the number of errors is
 * always correct.
 */
#include "core/diag.h"

#include "base/struct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 1000

/* A severity set by mpijob_diag_set_severity(). */
struct choice {
	char *id;
	int32_t severity;
};

struct mpijob_diag {
	struct mpijob_finding **findings;
	size_t count;
	size_t cap;
	size_t limit;
	size_t dropped;
	size_t by_severity[MPIJOB_SEVERITY_INFO + 1];
	struct choice *choices;
	size_t choices_count;
};

mpijob_diag *mpijob_diag_new(void)
{
	mpijob_diag *diag = calloc(1, sizeof(*diag));

	if (diag)
		diag->limit = DEFAULT_LIMIT;
	return diag;
}

void mpijob_diag_clear(mpijob_diag *diag)
{
	if (!diag)
		return;
	for (size_t i = 0; i < diag->count; i++)
		free(diag->findings[i]);
	diag->count = 0;
	diag->dropped = 0;
	memset(diag->by_severity, 0, sizeof(diag->by_severity));
}

void mpijob_diag_free(mpijob_diag *diag)
{
	if (!diag)
		return;
	mpijob_diag_clear(diag);
	free(diag->findings);
	for (size_t i = 0; i < diag->choices_count; i++)
		free(diag->choices[i].id);
	free(diag->choices);
	free(diag);
}

void mpijob_diag_set_limit(mpijob_diag *diag, size_t limit)
{
	if (diag)
		diag->limit = limit ? limit : DEFAULT_LIMIT;
}

static struct choice *choice_of(const mpijob_diag *diag, const char *id)
{
	for (size_t i = 0; i < diag->choices_count; i++)
		if (strcmp(diag->choices[i].id, id) == 0)
			return &diag->choices[i];
	return NULL;
}

static struct choice *choice_new(mpijob_diag *diag, const char *id)
{
	struct choice *choices =
	    realloc(diag->choices, (diag->choices_count + 1) * sizeof(*choices));
	char *copy = strdup(id);

	if (choices)
		diag->choices = choices;
	if (!choices || !copy) {
		free(copy);
		return NULL;
	}
	choices[diag->choices_count].id = copy;
	return &choices[diag->choices_count++];
}

int mpijob_diag_set_severity(mpijob_diag *diag, const char *id, int32_t severity)
{
	struct choice *choice;

	if (!diag || !id || severity < 0 || severity > MPIJOB_SEVERITY_INFO)
		return MPIJOB_ERR_USAGE;
	choice = choice_of(diag, id);
	if (!choice)
		choice = choice_new(diag, id);
	if (!choice)
		return MPIJOB_ERR_NOMEM;
	choice->severity = severity;
	return 0;
}

int32_t mpijob__core_diag_severity(const mpijob_diag *diag, int32_t severity, const char *id)
{
	const struct choice *choice =
	    diag && severity != MPIJOB_SEVERITY_ERROR ? choice_of(diag, id) : NULL;

	return choice ? choice->severity : severity;
}

int mpijob__core_diag_raised(const mpijob_diag *diag, const char *id)
{
	return mpijob__core_diag_severity(diag, MPIJOB_SEVERITY_WARNING, id) ==
	       MPIJOB_SEVERITY_ERROR;
}

size_t mpijob_diag_count(const mpijob_diag *diag, int32_t severity)
{
	if (!diag || severity < 0 || severity > MPIJOB_SEVERITY_INFO)
		return 0;
	return severity ? diag->by_severity[severity] : diag->count + diag->dropped;
}

size_t mpijob_diag_dropped(const mpijob_diag *diag)
{
	return diag ? diag->dropped : 0;
}

const struct mpijob_finding *mpijob_diag_at(const mpijob_diag *diag, size_t index)
{
	return diag && index < diag->count ? diag->findings[index] : NULL;
}

static size_t string_size(const char *string)
{
	return string ? strlen(string) + 1 : 0;
}

static const char *string_copy(char **at, const char *string)
{
	char *copy = *at;
	size_t size = string_size(string);

	if (!string)
		return NULL;
	memcpy(copy, string, size);
	*at += size;
	return copy;
}

static struct mpijob_finding *finding_copy(const struct mpijob_finding *from)
{
	struct mpijob_finding *copy;
	char *at;

	copy = malloc(sizeof(*copy) + string_size(from->id) + string_size(from->reason) +
		      string_size(from->field) + string_size(from->message) +
		      string_size(from->source));
	if (!copy)
		return NULL;
	*copy = *from;
	at = (char *)(copy + 1);
	copy->id = string_copy(&at, from->id);
	copy->reason = string_copy(&at, from->reason);
	copy->field = string_copy(&at, from->field);
	copy->message = string_copy(&at, from->message);
	copy->source = string_copy(&at, from->source);
	return copy;
}

static int grow(mpijob_diag *diag)
{
	size_t cap = diag->cap ? diag->cap * 2 : 8;
	struct mpijob_finding **findings;

	if (diag->count < diag->cap)
		return 0;
	findings = realloc(diag->findings, cap * sizeof(*findings));
	if (!findings)
		return MPIJOB_ERR_NOMEM;
	diag->findings = findings;
	diag->cap = cap;
	return 0;
}

static int keep(mpijob_diag *diag, struct mpijob_finding *finding)
{
	struct mpijob_finding *copy = NULL;

	finding->severity = mpijob__core_diag_severity(diag, finding->severity, finding->id);
	if (finding->severity == 0)
		return 0;
	diag->by_severity[finding->severity]++;
	if (diag->count >= diag->limit) {
		diag->dropped++;
		return 0;
	}
	if (grow(diag) == 0)
		copy = finding_copy(finding);
	if (!copy) {
		diag->dropped++;
		return MPIJOB_ERR_NOMEM;
	}
	diag->findings[diag->count++] = copy;
	return 0;
}

int mpijob_diag_add(mpijob_diag *diag, const struct mpijob_finding *finding)
{
	struct mpijob_finding known;
	int rc;

	if (!diag)
		return 0;
	if (!finding)
		return MPIJOB_ERR_USAGE;
	rc = mpijob__base_struct_check(&known, sizeof(known), finding);
	if (rc)
		return rc;
	if (!known.message || !known.id || known.severity < MPIJOB_SEVERITY_ERROR ||
	    known.severity > MPIJOB_SEVERITY_INFO)
		return MPIJOB_ERR_USAGE;
	return keep(diag, &known);
}

void mpijob__core_diag_leave_out(mpijob_diag *diag, int32_t severity, const char *id)
{
	severity = mpijob__core_diag_severity(diag, severity, id);
	if (!diag || severity == 0)
		return;
	diag->by_severity[severity]++;
	diag->dropped++;
}

int mpijob__core_diag_vaddf(mpijob_diag *diag, int32_t severity, const char *id, const char *reason,
    const char *field, const struct mpijob__core_place *place, const char *format, va_list args)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	struct mpijob_text message = { 0 };
	int rc;

	if (!diag)
		return 0;
	finding.severity = severity;
	finding.id = id;
	finding.reason = reason;
	finding.field = field;
	if (place) {
		finding.source = place->source;
		finding.line = place->line;
		finding.column = place->column;
	}
	if (mpijob__base_text_vprintf(&message, format, args)) {
		mpijob__core_diag_leave_out(diag, severity, id);
		return MPIJOB_ERR_NOMEM;
	}
	finding.message = mpijob_text_data(&message);
	rc = keep(diag, &finding);
	mpijob__base_text_release(&message);
	return rc;
}

int mpijob__core_diag_addf(mpijob_diag *diag, int32_t severity, const char *id, const char *reason,
    const char *field, const struct mpijob__core_place *place, const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = mpijob__core_diag_vaddf(diag, severity, id, reason, field, place, format, args);
	va_end(args);
	return rc;
}

static int write_escaped(const char *string, mpijob_write_fn write, void *user)
{
	return mpijob_escaped_write(string, strlen(string), write, user);
}

static int write_number(int32_t number, mpijob_write_fn write, void *user)
{
	char digits[16];
	int len = snprintf(digits, sizeof(digits), "%ld:", (long)number);

	return write(user, digits, (size_t)len);
}

int mpijob_finding_write(const struct mpijob_finding *given, mpijob_write_fn write, void *user)
{
	struct mpijob_finding finding;
	int rc;

	rc = given && write ? mpijob__base_struct_check(&finding, sizeof(finding), given)
			    : MPIJOB_ERR_USAGE;
	if (rc == 0 &&
	    (!finding.message || finding.severity < 0 || finding.severity > MPIJOB_SEVERITY_INFO))
		rc = MPIJOB_ERR_USAGE;
	if (rc)
		return rc;
	if (finding.source) {
		rc = write_escaped(finding.source, write, user);
		if (rc == 0)
			rc = write(user, ":", 1);
	}
	if (rc == 0 && finding.line > 0)
		rc = write_number(finding.line, write, user);
	if (rc == 0 && finding.line > 0 && finding.column > 0)
		rc = write_number(finding.column, write, user);
	if (rc == 0 && (finding.source || finding.line > 0))
		rc = write(user, " ", 1);
	if (rc == 0 && finding.severity == MPIJOB_SEVERITY_WARNING)
		rc = write(user, "warning: ", 9);
	if (rc == 0 && finding.severity == MPIJOB_SEVERITY_INFO)
		rc = write(user, "note: ", 6);
	if (rc == 0 && finding.field && *finding.field) {
		rc = write_escaped(finding.field, write, user);
		if (rc == 0)
			rc = write(user, ": ", 2);
	}
	return rc ? rc : write_escaped(finding.message, write, user);
}

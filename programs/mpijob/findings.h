/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print findings, as lines or as JSON.
 */
#ifndef MPIJOB_PROGRAM_FINDINGS_H
#define MPIJOB_PROGRAM_FINDINGS_H

#include <stdarg.h>
#include <stdio.h>

#include <mpijob/mpijob.h>

#include "command.h"

/* Add an error of this program about a file; returns `code`. */
int findings_add(mpijob_diag *diag, int code, const char *source, const char *id,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Add an error that has its identifier and place already; returns `code`, or MPIJOB_ERR_NOMEM. */
int findings_vadd(mpijob_diag *diag, int code, struct mpijob_finding *finding, const char *format,
    va_list values) __attribute__((format(printf, 4, 0)));

/* A kind of finding, with its explanation. */
struct finding_kind {
	const char *id;
	int32_t severity;
	const char *summary; /* one sentence: what is wrong */
	const char *advice;
	const char *example; /* a printed finding */
};

/* Find a kind of finding in all libraries and programs; NULL when there is
 * none. */
const struct finding_kind *finding_kind_find(const char *id);

/* Apply --silence and --error. Returns 0, or prints an error and returns EXIT_USAGE. */
int findings_choose(mpijob_diag *diag, const struct arguments *arguments);

/* Print what a kind of finding means; returns 0 when there is none of that identifier. */
int finding_explain(const char *id);

/* Print one finding as a line, with its severity unless it is an error. */
void finding_print(const struct mpijob_finding *finding, FILE *stream);

/* Print all findings, one line each, and how many were left out. */
void findings_print(const mpijob_diag *diag, FILE *stream);

/* The same for a command that has --silence: a finding that can be silenced ends with its
 * identifier in brackets. */
void findings_print_named(const mpijob_diag *diag, FILE *stream);

/* Print all findings to standard output as a JSON array; returns 0 or a code. */
int findings_print_json(const mpijob_diag *diag);

/* Print on standard error why a command failed, unless a finding says it. */
void failure_print(const mpijob_diag *diag, int code);

/* A mpijob_write_fn that writes to the FILE * it is given. */
int file_write(void *stream, const char *data, size_t len);

#endif

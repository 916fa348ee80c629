/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the findings about one document: counts them, also without a diag, and adds their line
 * and column. */
#ifndef MPIJOB__JOB_REPORT_H
#define MPIJOB__JOB_REPORT_H

#include "core/diag.h"

#include <mpijob/doc.h>

/* Findings of one kind that are kept; further findings are only counted. */
#define MPIJOB__JOB_REPORT_MOST  100
#define MPIJOB__JOB_REPORT_KINDS 64 /* More than findings.inc has. */

struct mpijob__job_report {
	mpijob_diag *diag;  /* May be NULL. */
	const char *source; /* Of the document; may be NULL. */
	int reference;      /* 1: checks and messages of mpi-operator v0.8.2. */
	int strict;         /* 1: fields that the server silently drops are errors. */
	size_t errors;
	/* Of these, objects that are not maps, so that their fields cannot be defaulted. */
	size_t broken;
	int code; /* 0, or MPIJOB_ERR_NOMEM: findings were lost. */
	/* Number of findings of each kind, up to MPIJOB__JOB_REPORT_MOST. */
	uint8_t counts[MPIJOB__JOB_REPORT_KINDS];
};

/* The field of a finding: its path, and its line and column. */
struct mpijob__job_spot {
	const char *path;
	struct mpijob__core_place place;
};

/* The place of a node; if it has none, `around`, the place of its parent. */
struct mpijob__core_place mpijob__job_report_place(const struct mpijob__job_report *report,
    const mpijob_node *node, const struct mpijob__core_place *around);

void mpijob__job_report_error(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    ...) MPIJOB__BASE_PRINTF(5, 6);
void mpijob__job_report_verror(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    va_list args) MPIJOB__BASE_PRINTF(5, 0);
/* A warning; an error in strict mode. */
void mpijob__job_report_strict(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *format, ...)
    MPIJOB__BASE_PRINTF(4, 5);
void mpijob__job_report_warning(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *format, ...)
    MPIJOB__BASE_PRINTF(4, 5);
void mpijob__job_report_note(struct mpijob__job_report *report, const struct mpijob__job_spot *spot,
    const char *id, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

/*
 * Whether the limit for findings of a kind is reached. If so, return 1 and count one more finding
 * as dropped: an error, or one of mpijob__job_report_strict(). Call it before building an
 * expensive message.
 */
int mpijob__job_report_is_full(struct mpijob__job_report *report, const char *id);
int mpijob__job_report_strict_is_full(struct mpijob__job_report *report, const char *id);

/* The result code of a call after this report. */
int mpijob__job_report_result(const struct mpijob__job_report *report);

#endif

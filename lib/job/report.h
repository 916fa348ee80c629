/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about one document: counted, so that no error is lost when there is no diag, and
 * placed. */
#ifndef MPIJOB__JOB_REPORT_H
#define MPIJOB__JOB_REPORT_H

#include "core/diag.h"

#include <mpijob/doc.h>

/* Findings of one kind that are kept; further ones are only counted. */
#define MPIJOB__JOB_REPORT_MOST  100
#define MPIJOB__JOB_REPORT_KINDS 64 /* More than findings.inc has. */

struct mpijob__job_report {
	mpijob_diag *diag;  /* May be NULL. */
	const char *source; /* Of the document; may be NULL. */
	int reference;      /* Speak and judge as mpi-operator v0.8.2. */
	int strict;         /* What is dropped in silence is an error. */
	size_t errors;
	size_t broken; /* Of these: objects that are no map, so that nothing can be filled in. */
	int code;      /* 0, or MPIJOB_ERR_NOMEM: not everything could be said. */
	/* Findings of each kind, up to MPIJOB__JOB_REPORT_MOST. */
	uint8_t said[MPIJOB__JOB_REPORT_KINDS];
};

/* What is needed to say something about one field. */
struct mpijob__job_spot {
	const char *path;
	struct mpijob__core_place place;
};

/* Where a node stands; where it has no place of its own, where its surroundings do. */
struct mpijob__core_place mpijob__job_report_place(const struct mpijob__job_report *report,
    const mpijob_node *node, const struct mpijob__core_place *around);

void mpijob__job_report_error(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    ...) MPIJOB__BASE_PRINTF(5, 6);
void mpijob__job_report_verror(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *reason, const char *format,
    va_list args) MPIJOB__BASE_PRINTF(5, 0);
/* A warning, or an error where the report is strict. */
void mpijob__job_report_loose(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *format, ...)
    MPIJOB__BASE_PRINTF(4, 5);
void mpijob__job_report_warning(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *id, const char *format, ...)
    MPIJOB__BASE_PRINTF(4, 5);
void mpijob__job_report_note(struct mpijob__job_report *report, const struct mpijob__job_spot *spot,
    const char *id, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

/*
 * Whether as many findings of a kind are kept as may be: 1, and the finding that was to be made is
 * counted as one that was left out, an error or one that mpijob__job_report_loose() makes. Saves
 * the caller from making its text.
 */
int mpijob__job_report_is_full(struct mpijob__job_report *report, const char *id);
int mpijob__job_report_loose_is_full(struct mpijob__job_report *report, const char *id);

/* 0, or the code that a call returns after this report. */
int mpijob__job_report_result(const struct mpijob__job_report *report);

#endif

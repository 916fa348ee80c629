/* SPDX-License-Identifier: Apache-2.0 */
/* What a job is made of, for the files of this room only. */
#ifndef MPIJOB__JOB_STATE_H
#define MPIJOB__JOB_STATE_H

#include "base/arena.h"
#include "job/job.h"
#include "job/report.h"

/* Typed views that were asked for; dropped when the job changes. */
struct mpijob__job_views {
	struct mpijob__base_arena memory;
	const struct mpijob_spec *spec;
	const struct mpijob_status *status;
};

struct mpijob {
	mpijob_doc *doc;
	char *source; /* For findings; a draft's document need not know it. */
	/* Behind a pointer, so that looking leaves the job const. */
	struct mpijob__job_views *views;
};

/*
 * A change is made on a draft, a copy of the document, and then put in the place of the document:
 * so a failure changes nothing, and what is borrowed from the job may be part of the change.
 */
mpijob_doc *mpijob__job_state_draft(const mpijob *job); /* NULL when memory ran out. */
void mpijob__job_state_commit(mpijob *job, mpijob_doc *draft);

struct mpijob__job_report mpijob__job_state_report(const mpijob *job, mpijob_diag *diag,
    int reference);

/* Write a spec into the document of a job, as mpijob_spec_set() does; after a failure the document
 * is of no use. */
int mpijob__job_store_spec(mpijob_doc *doc, const struct mpijob_spec *spec, mpijob_diag *diag);

#endif

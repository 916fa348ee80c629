/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a job, for the files of lib/job only. */
#ifndef MPIJOB__JOB_STATE_H
#define MPIJOB__JOB_STATE_H

#include "base/arena.h"
#include "job/job.h"
#include "job/report.h"

/* The typed views that exist; discarded when the job changes. */
struct mpijob__job_views {
	struct mpijob__base_arena memory;
	const struct mpijob_spec *spec;
	const struct mpijob_status *status;
};

struct mpijob {
	mpijob_doc *doc;
	char *source; /* Name for findings; the document of a draft may not have it. */
	/* A pointer, so that views can be created for a const job. */
	struct mpijob__job_views *views;
};

/*
 * A change is made in a draft, a copy of the document, which then replaces the document. So a
 * failure changes nothing, and values that are borrowed from the job may be stored in it.
 */
mpijob_doc *mpijob__job_state_draft(const mpijob *job); /* NULL when memory ran out. */
void mpijob__job_state_commit(mpijob *job, mpijob_doc *draft);

/* Whether a value is an MPIJob of our version: 0, or MPIJOB_ERR_UNSUPPORTED and a finding. */
int mpijob__job_check_identity(const mpijob_node *root, const char *source, mpijob_diag *diag);

struct mpijob__job_report mpijob__job_state_report(const mpijob *job, mpijob_diag *diag,
    int reference);

/* Write a spec into the document of a job, as mpijob_spec_set() does; after a failure discard the
 * document. */
int mpijob__job_store_spec(mpijob_doc *doc, const struct mpijob_spec *spec, mpijob_diag *diag);

#endif

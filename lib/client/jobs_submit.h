/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a write has succeeded whose answer was lost. */
#ifndef MPIJOB__CLIENT_JOBS_SUBMIT_H
#define MPIJOB__CLIENT_JOBS_SUBMIT_H

#include <mpijob/jobs.h>
#include <mpijob/tasks.h>

/*
 * 1 when a write of the task may have been done although it failed with `code`: its answer was
 * lost, or it was cancelled in flight, or a gateway may have answered, now or before a retry. Else
 * 0.
 */
int mpijob__client_jobs_outcome_unknown(const mpijob_task *task, int code);
/* Report an unknown outcome; `what` completes "the job may have been". 0 or MPIJOB_ERR_NOMEM. */
int mpijob__client_jobs_report_unknown(const char *what, mpijob_diag *diag);
/*
 * 1 when `stored` contains all of `sent`: a server may add to maps, and drop null. Else 0.
 */
int mpijob__client_jobs_holds(const mpijob_node *stored, const mpijob_node *sent);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a write has succeeded whose answer was lost. */
#ifndef MPIJOB__CLIENT_JOBS_SUBMIT_H
#define MPIJOB__CLIENT_JOBS_SUBMIT_H

#include <mpijob/jobs.h>

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

/* Check the options and take them over; `given` may be NULL. 0 or MPIJOB_ERR_*. */
int mpijob__client_jobs_check_options(const struct mpijob_submit_options *given,
    struct mpijob_submit_options *known);
/* Copy them for the lifetime of the task. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__client_jobs_copy_options(mpijob_task *task, const struct mpijob_submit_options *from,
    struct mpijob_submit_options *to);
/*
 * Send an object as the options say; `to` is its collection, `name` is for an apply. `plain` 1: the
 * server does not know strict validation. Returns as mpijob__client_task_request().
 */
int mpijob__client_jobs_send(mpijob_task *task, const struct mpijob_submit_options *options,
    const struct mpijob_target *to, const char *name, const mpijob_node *body, int plain,
    mpijob_diag *said);

#endif

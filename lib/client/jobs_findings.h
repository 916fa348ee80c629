/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of a server about a job. */
#ifndef MPIJOB__CLIENT_JOBS_FINDINGS_H
#define MPIJOB__CLIENT_JOBS_FINDINGS_H

#include <mpijob/jobs.h>

/*
 * Copy a server's findings. One that names a field gets its position in the job's document. `job`
 * and both diags may be NULL. 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__client_jobs_place_findings(const mpijob *job, const mpijob_diag *from, mpijob_diag *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_JOB_STATUS_H
#define MPIJOB_LOCAL_JOB_STATUS_H

#include "local.h"

/* What the controller found out about a Job. */
struct job_verdict {
	int64_t active;
	int64_t ready;
	int64_t terminating;
	int64_t failed;
	int64_t succeeded;
	int suspended;
	int complete;
	/* it has failed, or is going to when its pods are gone; borrowed */
	const char *failed_reason;
	const char *failed_message;
};

/* The condition of a type in the status of a Job or pod, or NULL; and whether it is True. */
const mpijob_node *mpijob__local_job_status_condition(const struct object *object,
    const char *type);
int mpijob__local_job_status_is_true(const struct object *object, const char *type);

/* Whether a Job has come to its end. */
int mpijob__local_job_status_finished(const struct object *job);

/* Whether it was said before that a Job fails: 1 and why, else 0. */
int mpijob__local_job_status_failing(const struct object *job, struct job_verdict *verdict);

/* Write counts, times and conditions. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__local_job_status_write(struct mpijob_local *local, struct object *job,
    const struct job_verdict *verdict);

#endif

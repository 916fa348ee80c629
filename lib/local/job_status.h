/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_JOB_STATUS_H
#define MPIJOB_LOCAL_JOB_STATUS_H

#include "local/local.h"

/* The state of a Job as the controller determined it. */
struct mpijob__local_job_summary {
	int64_t active;
	int64_t ready;
	int64_t terminating;
	int64_t failed;
	int64_t succeeded;
	int suspended;
	int complete;
	/* NULL, or why the Job fails, also while its pods still terminate; borrowed */
	const char *failed_reason;
	const char *failed_message;
};

/* Find a condition in the status of a Job or pod, or NULL; and whether it is True. */
const mpijob_node *mpijob__local_job_status_condition(const struct mpijob__local_object *object,
    const char *type);
int mpijob__local_job_status_is_true(const struct mpijob__local_object *object, const char *type);

/* Whether a Job is Complete or Failed. */
int mpijob__local_job_status_finished(const struct mpijob__local_object *job);

/* Whether a Job has the condition FailureTarget: 1 and its reason and message, else 0. */
int mpijob__local_job_status_failing(const struct mpijob__local_object *job,
    struct mpijob__local_job_summary *summary);

/* Write counts, times and conditions. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__local_job_status_write(struct mpijob_local *local, struct mpijob__local_object *job,
    const struct mpijob__local_job_summary *summary);

#endif

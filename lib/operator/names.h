/* SPDX-License-Identifier: Apache-2.0 */
/* The DNS names of a job's workers, while its launcher waits for them. */
#ifndef MPIJOB__OPERATOR_NAMES_H
#define MPIJOB__OPERATOR_NAMES_H

#include <mpijob/operator.h>
#include <mpijob/plan.h>

#include <stdint.h>

struct mpijob__operator_job;

/* Zeroed when the launcher does not wait. */
struct mpijob__operator_names {
	int64_t ready_ms; /* when all workers were first ready, by the server's clock */
	/* until the answers are read again; 0: there is no resolver, or all names resolve */
	int64_t wait_ms;
	int32_t workers, known; /* the number of names, and of those that resolve, by index */
};

/* Fill in how many names resolve. */
void mpijob__operator_names_fill_options(mpijob_operator *operator_,
    struct mpijob__operator_job *job, struct mpijob_plan_options *options);
/* Note whether a plan waits for names, and send queries for them. */
void mpijob__operator_names_planned(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob_plan *plan, const struct mpijob_plan_options *options);
/* A plan that waits for names is executed: schedule the next one. */
void mpijob__operator_names_schedule(mpijob_operator *operator_, struct mpijob__operator_job *job);

#endif

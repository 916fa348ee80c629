/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about jobs that are accepted and then cost a night; for lib/job/advice*.c, and one call
 * for rules.c. */
#ifndef MPIJOB__JOB_ADVICE_H
#define MPIJOB__JOB_ADVICE_H

#include "job/report.h"

/* A job as the rules look at it; what is absent or of a wrong type has its default. */
struct mpijob__job_advice {
	struct mpijob__job_report *report;
	const mpijob_node *root;
	int64_t workers; /* 0 without a Worker */
	int64_t slots;
	int32_t mpi; /* MPIJOB_OPENMPI, ... */
	int launcher_works;
};

/* One role. */
struct mpijob__job_advised {
	int template;           /* FIELD_*_TEMPLATE */
	const char *name;       /* "launcher", "worker" */
	const mpijob_node *pod; /* the template's spec; NULL when there is none */
	const mpijob_node *containers;
	const mpijob_node *main; /* the first container; NULL when there is none */
	int64_t replicas;
	int is_worker;
};

/* All rules. */
void mpijob__job_advice_check(struct mpijob__job_report *report, const mpijob_node *root);

/*
 * Say something about the row `field`, or what is `below` it ("" or NULL: itself). The place is
 * that of `node`; where it has none, that of the row's value, or of what is around it.
 */
void mpijob__job_advice_warn(const struct mpijob__job_advice *a, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, ...) MPIJOB__BASE_PRINTF(6, 7);
void mpijob__job_advice_note(const struct mpijob__job_advice *a, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, ...) MPIJOB__BASE_PRINTF(6, 7);

/* advice_launch.c: how many ranks the launcher asks for. */
void mpijob__job_advice_launch(const struct mpijob__job_advice *a,
    const struct mpijob__job_advised *launcher);
/* Whether a command line of a container starts ranks. */
int mpijob__job_advice_launches(const mpijob_node *container);
/* Whether a word occurs in command or args, alone or as the last part of a path. */
int mpijob__job_advice_runs(const mpijob_node *container, const char *program);

/* advice_devices.c */
void mpijob__job_advice_devices(const struct mpijob__job_advice *a,
    const struct mpijob__job_advised *launcher, const struct mpijob__job_advised *worker);
/* Whether a container asks for GPUs or alike. */
int mpijob__job_advice_has_device(const mpijob_node *container);

/* advice_pod.c: which container is the main one, and where pods meet. */
void mpijob__job_advice_pod(const struct mpijob__job_advice *a,
    const struct mpijob__job_advised *role);

/* advice_environment.c: variables that are set twice, or not expanded. */
void mpijob__job_advice_environment(const struct mpijob__job_advice *a,
    const struct mpijob__job_advised *role);

#endif

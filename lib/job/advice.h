/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about valid jobs that will probably not work as intended. For lib/job/advice*.c; rules.c
 * calls mpijob__job_advice_check(). */
#ifndef MPIJOB__JOB_ADVICE_H
#define MPIJOB__JOB_ADVICE_H

#include "job/report.h"

/* The fields of a job that the rules use. Absent fields, and fields of a wrong type, have their
 * default. */
struct mpijob__job_advice {
	struct mpijob__job_report *report;
	const mpijob_node *root;
	int64_t workers; /* 0 without a Worker */
	int64_t slots;
	int32_t mpi; /* MPIJOB_OPENMPI, ... */
	int launcher_has_ranks;
};

/* One role of the job. */
struct mpijob__job_advice_role {
	int template;           /* FIELD_*_TEMPLATE */
	const char *name;       /* "launcher", "worker" */
	const mpijob_node *pod; /* the template's spec; NULL if absent */
	const mpijob_node *containers;
	const mpijob_node *main; /* the first container; NULL if absent */
	int64_t replicas;
	int is_worker;
};

/* All rules. */
void mpijob__job_advice_check(struct mpijob__job_report *report, const mpijob_node *root);

/*
 * Report a finding about the row `field`, or about the path `below` it ("" or NULL: the row
 * itself). The place is that of `node`; if it has none, that of the row's value or of its nearest
 * parent.
 */
void mpijob__job_advice_warn(const struct mpijob__job_advice *a, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, ...) MPIJOB__BASE_PRINTF(6, 7);
void mpijob__job_advice_note(const struct mpijob__job_advice *a, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, ...) MPIJOB__BASE_PRINTF(6, 7);

/* advice_launch.c: how many ranks the launcher starts. */
void mpijob__job_advice_launch(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *launcher);
/* Whether the command of a container starts ranks. */
int mpijob__job_advice_starts_ranks(const mpijob_node *container);
/* Whether `program` occurs in command or args, alone or as the last part of a path. */
int mpijob__job_advice_runs_program(const mpijob_node *container, const char *program);

/* advice_devices.c */
void mpijob__job_advice_devices(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *launcher, const struct mpijob__job_advice_role *worker);
/* Whether a container requests GPUs or similar devices. */
int mpijob__job_advice_has_device(const mpijob_node *container);

/* advice_pod.c: the main container, and hostNetwork. */
void mpijob__job_advice_pod(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role);

/* advice_environment.c: variables that are set twice, or not expanded. */
void mpijob__job_advice_environment(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables that the operator adds to the first container of each role. */
#ifndef MPIJOB__JOB_INJECTED_H
#define MPIJOB__JOB_INJECTED_H

#include <mpijob/doc.h>

#include <stdint.h>

#define MPIJOB__JOB_CONFIG_PATH   "/etc/mpi" /* where the launcher has the ConfigMap's files */
#define MPIJOB__JOB_HOSTFILE_PATH MPIJOB__JOB_CONFIG_PATH "/hostfile"

enum mpijob__job_injected_origin {
	/* set by mpi-operator v0.8.2, after the user's variables: it overrides them */
	INJECTED_BY_REFERENCE,
	INJECTED_FOR_OPENMPI5, /* set by this library, unless the user sets it */
	INJECTED_FOR_HYDRA
};

enum mpijob__job_injected_value { INJECTED_TEXT, INJECTED_SSH, INJECTED_EMPTY, INJECTED_SLOTS };

struct mpijob__job_injected {
	const char *name;
	enum mpijob__job_injected_value kind;
	const char *text;  /* value for INJECTED_TEXT; arguments of ssh for INJECTED_SSH */
	int32_t mpi;       /* MPIJOB_OPENMPI, ...; 0 for every MPI */
	int worker;        /* 1: for workers; 0: for the launcher */
	int idle_launcher; /* only for a launcher without ranks */
	enum mpijob__job_injected_origin origin;
};

/* The rows, in the order in which the variables are added; NULL after the last. */
const struct mpijob__job_injected *mpijob__job_injected_at(size_t index);

/* Whether a row applies to the pods of a role; `mpi` is MPIJOB_OPENMPI, .... */
int mpijob__job_injected_applies(const struct mpijob__job_injected *row, int worker, int32_t mpi,
    int launcher_has_ranks);

/* The user's entry with a name among the first `count` entries of a container's env; NULL if
 * not found. */
const mpijob_node *mpijob__job_injected_in_env(const mpijob_node *env, size_t count,
    const char *name);

/* The user's ConfigMap or Secret in a container's envFrom that may contain a name; NULL if not
 * found. */
const mpijob_node *mpijob__job_injected_in_source(const mpijob_node *sources, const char *name);

#endif

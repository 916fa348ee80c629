/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables that the operator adds to the first container of each role. */
#ifndef MPIJOB__JOB_INJECTED_H
#define MPIJOB__JOB_INJECTED_H

#include <mpijob/doc.h>

#include <stdint.h>

#define MPIJOB__JOB_CONFIG_PATH   "/etc/mpi" /* where the launcher has the ConfigMap's files */
#define MPIJOB__JOB_HOSTFILE_PATH MPIJOB__JOB_CONFIG_PATH "/hostfile"

enum mpijob__job_injected_origin {
	INJECTED_BY_REFERENCE, /* by mpi-operator v0.8.2, behind the user's: it wins */
	INJECTED_FOR_OPENMPI5, /* by us, where the user does not give it */
	INJECTED_FOR_HYDRA
};

enum mpijob__job_injected_value { INJECTED_TEXT, INJECTED_SSH, INJECTED_NONE, INJECTED_SLOTS };

struct mpijob__job_injected {
	const char *name;
	enum mpijob__job_injected_value kind;
	const char *text;  /* of INJECTED_TEXT, and INJECTED_SSH: arguments of ssh */
	int32_t mpi;       /* MPIJOB_OPENMPI, ...; 0 for every MPI */
	int worker;        /* for workers, not for the launcher */
	int idle_launcher; /* only for a launcher that is no worker */
	enum mpijob__job_injected_origin origin;
};

/* The rows, in the order in which they are added; NULL behind the last. */
const struct mpijob__job_injected *mpijob__job_injected_at(size_t index);

/* Whether a row is for the pods of a role; `mpi` is MPIJOB_OPENMPI, .... */
int mpijob__job_injected_applies(const struct mpijob__job_injected *row, int worker, int32_t mpi,
    int launcher_works);

/* The user's own entry of a name among the first `count` of a container's env; NULL when there is
 * none. */
const mpijob_node *mpijob__job_injected_in_env(const mpijob_node *env, size_t count,
    const char *name);

/* The user's ConfigMap or Secret in a container's envFrom that may hold a name; NULL when there is
 * none. */
const mpijob_node *mpijob__job_injected_in_source(const mpijob_node *sources, const char *name);

#endif

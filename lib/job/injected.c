/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of environment variables that give each MPI its hostfile, slots and ssh arguments.
 * Rendering adds them, and validation warns about variables of the user with the same names. The
 * variables of mpi-operator v0.8.2 come after the user's and override them. The others are for
 * newer MPIs, which v0.8.2 does not support: Open MPI 5 ignores the OMPI_MCA_orte_ variables and
 * would start all ranks on the launcher; Hydra does not know HYDRA_LAUNCH_EXTRA_ARGS. They are not
 * set if the user's environment may set them. Open MPI 5 gets no variable to keep fully qualified
 * names: it passes them to ssh anyway, and with it would not recognize the launcher by its own
 * name.
 */
#include "job/injected.h"

#include <mpijob/spec.h>

#include <string.h>

#define LAUNCHER 0
#define WORKER   1

#define TEXT(text) INJECTED_TEXT, text
#define SSH        INJECTED_SSH, "-o ConnectionAttempts=10"
#define SLOTS      INJECTED_SLOTS, NULL
#define NOTHING    INJECTED_EMPTY, NULL

static const struct mpijob__job_injected rows[] = {
	{ "K_MPI_JOB_ROLE", TEXT("launcher"), 0, LAUNCHER, 0, INJECTED_BY_REFERENCE },
	{ "K_MPI_JOB_ROLE", TEXT("worker"), 0, WORKER, 0, INJECTED_BY_REFERENCE },
	{ "OMPI_MCA_orte_keep_fqdn_hostnames", TEXT("true"), MPIJOB_OPENMPI, LAUNCHER, 0,
	    INJECTED_BY_REFERENCE },
	{ "OMPI_MCA_orte_default_hostfile", TEXT(MPIJOB__JOB_HOSTFILE_PATH), MPIJOB_OPENMPI,
	    LAUNCHER, 0, INJECTED_BY_REFERENCE },
	{ "OMPI_MCA_plm_rsh_args", SSH, MPIJOB_OPENMPI, LAUNCHER, 0, INJECTED_BY_REFERENCE },
	{ "OMPI_MCA_orte_set_default_slots", SLOTS, MPIJOB_OPENMPI, LAUNCHER, 0,
	    INJECTED_BY_REFERENCE },
	{ "I_MPI_HYDRA_HOST_FILE", TEXT(MPIJOB__JOB_HOSTFILE_PATH), MPIJOB_INTEL, LAUNCHER, 0,
	    INJECTED_BY_REFERENCE },
	{ "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SSH, MPIJOB_INTEL, LAUNCHER, 0,
	    INJECTED_BY_REFERENCE },
	{ "I_MPI_PERHOST", SLOTS, MPIJOB_INTEL, LAUNCHER, 0, INJECTED_BY_REFERENCE },
	{ "HYDRA_HOST_FILE", TEXT(MPIJOB__JOB_HOSTFILE_PATH), MPIJOB_MPICH, LAUNCHER, 0,
	    INJECTED_BY_REFERENCE },
	{ "HYDRA_LAUNCH_EXTRA_ARGS", SSH, MPIJOB_MPICH, LAUNCHER, 0, INJECTED_BY_REFERENCE },
	/* Empty, so that a launcher without ranks uses no GPU. */
	{ "NVIDIA_VISIBLE_DEVICES", NOTHING, 0, LAUNCHER, 1, INJECTED_BY_REFERENCE },
	{ "NVIDIA_DRIVER_CAPABILITIES", NOTHING, 0, LAUNCHER, 1, INJECTED_BY_REFERENCE },
	{ "PRTE_MCA_prte_default_hostfile", TEXT(MPIJOB__JOB_HOSTFILE_PATH), MPIJOB_OPENMPI,
	    LAUNCHER, 0, INJECTED_FOR_OPENMPI5 },
	{ "PRTE_MCA_plm_ssh_args", SSH, MPIJOB_OPENMPI, LAUNCHER, 0, INJECTED_FOR_OPENMPI5 },
	{ "PRTE_MCA_prte_set_default_slots", SLOTS, MPIJOB_OPENMPI, LAUNCHER, 0,
	    INJECTED_FOR_OPENMPI5 },
	{ "HYDRA_LAUNCHER_EXTRA_ARGS", SSH, MPIJOB_MPICH, LAUNCHER, 0, INJECTED_FOR_HYDRA },
};

const struct mpijob__job_injected *mpijob__job_injected_at(size_t index)
{
	return index < sizeof(rows) / sizeof(rows[0]) ? &rows[index] : NULL;
}

int mpijob__job_injected_applies(const struct mpijob__job_injected *row, int worker, int32_t mpi,
    int launcher_has_ranks)
{
	if (row->worker != worker || (row->mpi != 0 && row->mpi != mpi))
		return 0;
	return !row->idle_launcher || !launcher_has_ranks;
}

const mpijob_node *mpijob__job_injected_in_env(const mpijob_node *env, size_t count,
    const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const mpijob_node *entry = mpijob_node_at(env, i);
		const char *given = mpijob_node_string(mpijob_node_get(entry, "name"));

		if (given && strcmp(given, name) == 0)
			return entry;
	}
	return NULL;
}

/* A source may contain any name that begins with its prefix. */
const mpijob_node *mpijob__job_injected_in_source(const mpijob_node *sources, const char *name)
{
	for (size_t i = 0; i < mpijob_node_count(sources); i++) {
		const mpijob_node *entry = mpijob_node_at(sources, i);
		const char *prefix = mpijob_node_string(mpijob_node_get(entry, "prefix"));

		if (!prefix || strncmp(name, prefix, strlen(prefix)) == 0)
			return entry;
	}
	return NULL;
}

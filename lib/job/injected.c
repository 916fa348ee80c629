/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which environment variables each MPI is told its hostfile, slots and ssh arguments by: THE table,
 * which rendering adds and validation warns by. The reference's variables come behind the user's,
 * so that they win. Ours are those that newer MPIs read and the reference does not set (Open MPI 5
 * reads none of the OMPI_MCA_orte_ ones and would start all ranks on the launcher; Hydra does not
 * know HYDRA_LAUNCH_EXTRA_ARGS): they are left out where the user's own environment may give them
 * already. Open MPI 5 is not told to keep whole names: it gives them to ssh all the same, and would
 * not know the launcher by its own.
 */
#include "job/injected.h"

#include <mpijob/spec.h>

#include <string.h>

#define LAUNCHER 0
#define WORKER   1

#define TEXT(text) INJECTED_TEXT, text
#define SSH        INJECTED_SSH, "-o ConnectionAttempts=10"
#define SLOTS      INJECTED_SLOTS, NULL
#define NOTHING    INJECTED_NONE, NULL

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
	/* Empty, so that a launcher that computes nothing takes no GPU. */
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
    int launcher_works)
{
	if (row->worker != worker || (row->mpi != 0 && row->mpi != mpi))
		return 0;
	return !row->idle_launcher || !launcher_works;
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

/* Every source may hold the names that begin with its prefix. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every deliberate difference from mpi-operator v0.8.2: what, why, whether it is on by default, and its switch. The
 * rule behind the list: on by default is only what no job that works today can notice by breaking.
 */
#include "render/differences.h"

#define REFERENCE "`reference = 1` in the options, `--reference`"

static const struct mpijob__difference_row rows[MPIJOB__DIFFERENCE_COUNT] = {
	[MPIJOB__DIFFERENCE_DUPLICATE_KEYS] = {
		"duplicate-keys",
		"A key that occurs twice in a map of a YAML or JSON file is an error. kubectl takes the last one.",
		"One of the two values is silently lost, and it is rarely the one that was meant.",
		MPIJOB__DIFFERENCE_ALWAYS, "no job that was stored in a cluster has such keys",
	},
	[MPIJOB__DIFFERENCE_WORKER_REPLICAS] = {
		"worker-replicas",
		"`spec.mpiReplicaSpecs[Worker].replicas` is 1 when absent. The reference makes it 0 and then refuses it.",
		"Its documentation says 1, and 0 can never have worked.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_LAUNCHER_CREATION_POLICY] = {
		"launcher-creation-policy",
		"`spec.launcherCreationPolicy` must be `AtStartup` or `WaitForWorkersReady`. The reference takes any other word "
		"for the latter.",
		"A mistyped word changes when the launcher starts, without any message.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_OPENMPI5_VARIABLES] = {
		"openmpi5-variables",
		"A launcher of Open MPI also gets `PRTE_MCA_prte_default_hostfile`, `PRTE_MCA_plm_ssh_args`, "
		"`PRTE_MCA_prte_keep_fqdn_hostnames` and `PRTE_MCA_prte_set_default_slots`, each unless the user's env or envFrom "
		"may give it already (a finding tells).",
		"Open MPI 5 reads none of the reference's variables: all ranks run on the launcher, and the job succeeds.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_MPICH_LAUNCHER_ARGS] = {
		"mpich-launcher-args",
		"A launcher of MPICH also gets `HYDRA_LAUNCHER_EXTRA_ARGS`, unless the user's env or envFrom may give it already "
		"(a finding tells).",
		"Hydra does not know the reference's `HYDRA_LAUNCH_EXTRA_ARGS`, so ssh does not wait for workers that start late.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_SEARCH_DOMAIN] = {
		"search-domain",
		"The workers' DNS search domain ends in the cluster domain when one is given. The reference always writes "
		"`cluster.local`, and so do we when none is given.",
		"In a cluster with another domain, workers of Intel MPI and MPICH do not find the launcher.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_DISCOVER_HOSTS_ORDER] = {
		"discover-hosts-order",
		"`discover_hosts.sh` lists the workers by number. The reference sorts them as text: worker 10 before worker 2.",
		"Ranks should stand in the order of the hostfile.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_GANG_PRIORITY] = {
		"gang-priority",
		"When workers have a higher priority class than the launcher and `minAvailable` is below the number of pods, the "
		"PodGroup's `minResources` count the workers first. The reference counts the launcher several times instead.",
		"The gang scheduler reserves the wrong amount.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_GANG_INIT_CONTAINERS] = {
		"gang-init-containers",
		"A PodGroup's `minResources` count init containers and pod overhead, as the scheduler does. The reference counts "
		"neither.",
		"A gang is admitted that then does not fit.",
		MPIJOB__DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__DIFFERENCE_CONFIG_MAP_SIZE] = {
		"config-map-size",
		"A hostfile and `discover_hosts.sh` of more than 1 MiB together are an error before anything is created. The "
		"reference tries for ever.",
		"No API server accepts such a ConfigMap.",
		MPIJOB__DIFFERENCE_ALWAYS, "such a job has no chance",
	},
	[MPIJOB__DIFFERENCE_UNKNOWN_FIELDS] = {
		"unknown-fields",
		"Fields of a pod template that we do not know reach the pod. The reference drops those that its own version of "
		"Kubernetes does not have.",
		"A newer cluster knows them, and the CRD of its MPIJob decides what is stored.",
		MPIJOB__DIFFERENCE_ALWAYS, "the API server drops what its schema does not have",
	},
};

const struct mpijob__difference_row *mpijob__difference_row(enum mpijob__difference difference)
{
	return difference > MPIJOB__DIFFERENCE_NONE && difference < MPIJOB__DIFFERENCE_COUNT ? &rows[difference] : NULL;
}

int mpijob__difference_holds(enum mpijob__difference difference, int reference)
{
	const struct mpijob__difference_row *row = mpijob__difference_row(difference);

	return row == NULL || row->mode == MPIJOB__DIFFERENCE_ALWAYS ||
	       (row->mode == MPIJOB__DIFFERENCE_DEFAULT && !reference);
}

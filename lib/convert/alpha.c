/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two first versions of MPIJob, and where each of their fields moves in v2beta1. They are not converted: what
 * they mean hangs on flags of their operators, such as the number of GPUs of a node.
 */
#include "convert/conversion.h"

#include <string.h>

#define TO_RUN_POLICY "moves to spec.runPolicy."

struct alpha_move {
	const char *field;
	const char *note;
};

static const struct alpha_move moves_v1alpha1[] = {
	{ "spec.template", "becomes two: spec.mpiReplicaSpecs[Launcher].template without the resources of its containers, and "
			   "spec.mpiReplicaSpecs[Worker].template with a limit on GPUs (or the other processing resource) and no command, "
			   "so that it runs /usr/sbin/sshd -De; kubectl exec gives way to SSH, which both images must have" },
	{ "spec.replicas", "moves to spec.mpiReplicaSpecs[Worker].replicas" },
	{ "spec.gpus", "becomes spec.mpiReplicaSpecs[Worker].replicas, which is gpus / gpusPerNode, and a limit of gpusPerNode of "
		       "nvidia.com/gpu on each worker; 1 worker with all of them when gpus is less than gpusPerNode" },
	{ "spec.gpusPerNode", "becomes the limit on nvidia.com/gpu of each worker's container, and slotsPerWorker where that is absent" },
	{ "spec.processingUnits", "becomes spec.mpiReplicaSpecs[Worker].replicas, which is processingUnits / processingUnitsPerNode, and a "
				  "limit on each worker's container" },
	{ "spec.processingUnitsPerNode", "becomes the limit of each worker's container, and slotsPerWorker where that is absent" },
	{ "spec.processingResourceType", "becomes the name of the limit of each worker's container: cpu, or nvidia.com/gpu" },
	{ "spec.slotsPerWorker", "stays spec.slotsPerWorker" },
	{ "spec.launcherOnMaster", "becomes a toleration and a required node affinity in spec.mpiReplicaSpecs[Launcher].template, on "
				   "node-role.kubernetes.io/control-plane" },
	{ "spec.backoffLimit", TO_RUN_POLICY "backoffLimit; absent is 6 in both" },
	{ "spec.activeDeadlineSeconds", TO_RUN_POLICY "activeDeadlineSeconds" },
	{ "spec.template.spec.restartPolicy", "moves to spec.mpiReplicaSpecs[Launcher].restartPolicy: Never when it is Never, else OnFailure" },
	{ "status.launcherStatus", "becomes the conditions Running, Succeeded and Failed" },
	{ "status.workerReplicas", "moves to status.replicaStatuses[Worker].active" },
	{ "spec", "lacks one thing to say: spec.launcherCreationPolicy is WaitForWorkersReady, as v1alpha1 creates the launcher when all workers "
		  "are ready" },
	{ NULL, NULL },
};

static const struct alpha_move moves_v1alpha2[] = {
	{ "spec.slotsPerWorker", "stays spec.slotsPerWorker" },
	{ "spec.backoffLimit", TO_RUN_POLICY "backoffLimit, which counts where both are given" },
	{ "spec.activeDeadlineSeconds", TO_RUN_POLICY "activeDeadlineSeconds, which counts where both are given" },
	{ "spec.cleanPodPolicy", TO_RUN_POLICY "cleanPodPolicy" },
	{ "spec.mainContainer", "has no field: the container that ranks run in must be the first one of spec.mpiReplicaSpecs[Worker]" },
	{ "spec.mpiDistribution", "moves to spec.mpiImplementation: OpenMPI, Intel for IntelMPI, MPICH" },
	{ "spec.mpiReplicaSpecs[Launcher].restartPolicy", "stays; all but Never is OnFailure" },
	{ "spec.mpiReplicaSpecs[Launcher].template", "stays, without words that name /etc/mpi/kubexec.sh" },
	{ "spec.mpiReplicaSpecs[Worker].restartPolicy", "stays; Always, as v1alpha2 does, becomes OnFailure" },
	{ "spec.mpiReplicaSpecs[Worker].template", "stays, without a command that sleeps: a worker runs /usr/sbin/sshd -De, which its image must have" },
	{ "spec.runPolicy", "stays spec.runPolicy" },
	{ "status.replicaStatuses", "stays status.replicaStatuses" },
	{ NULL, NULL },
};

static const struct {
	const char *version;
	const struct alpha_move *moves;
} versions[] = { { "kubeflow.org/v1alpha1", moves_v1alpha1 }, { "kubeflow.org/v1alpha2", moves_v1alpha2 } };

static int explain(mpijob_diag *diag, const char *source, const mpijob_node *root, const struct alpha_move *moves)
{
	for (const struct alpha_move *move = moves; move->field; move++) {
		const mpijob_node *value = mpijob_node_find(root, move->field);
		const struct mpijob__place place = { source, mpijob_node_line(value), mpijob_node_column(value) };

		if (value && mpijob__diag_addf(diag, MPIJOB_SEVERITY_INFO, "conversion-change", NULL, move->field, &place, "%s", move->note))
			return MPIJOB_ERR_NOMEM;
	}
	return MPIJOB_ERR_UNSUPPORTED;
}

int mpijob__alpha_explain(mpijob_diag *diag, const char *source, const char *version, const mpijob_node *root, int *code)
{
	const mpijob_node *value = mpijob_node_get(root, "apiVersion");
	const struct mpijob__place place = { source, mpijob_node_line(value), mpijob_node_column(value) };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (strcmp(version, versions[i].version) != 0)
			continue;
		if (mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-version", "NotSupported", "apiVersion", &place,
				      "%s cannot be converted; write the job for " MPIJOB__V2BETA1 ", where its fields move as follows", version))
			*code = MPIJOB_ERR_NOMEM;
		else
			*code = explain(diag, source, root, versions[i].moves);
		return 1;
	}
	return 0;
}

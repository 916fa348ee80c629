/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of deliberate differences from mpi-operator v0.8.2: what, why, whether it is on by
 * default, and how to turn it off. Only differences that cannot break a working job are on by
 * default. All others are features: rows of features.c, off by default.
 */
#include "render/differences.h"

#define PLANNED   "the objects of such a job are the same"
#define REFERENCE "`reference = 1` in the options, `--reference`"

static const struct mpijob__render_difference_row rows[MPIJOB__RENDER_DIFFERENCE_COUNT] = {
	[MPIJOB__RENDER_DIFFERENCE_DUPLICATE_KEYS] = {
		"duplicate-keys",
		"A key that occurs twice in a map of a YAML or JSON file is an error. kubectl "
		"takes the last one.",
		"One of the two values would be lost silently, and it is often the intended one.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, "no job in a cluster has such keys",
	},
	[MPIJOB__RENDER_DIFFERENCE_WORKER_REPLICAS] = {
		"worker-replicas",
		"`spec.mpiReplicaSpecs[Worker].replicas` is 1 if absent. The reference sets it "
		"to 0 and then rejects it.",
		"Its documentation says 1, and 0 never worked.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_CREATION_POLICY] = {
		"launcher-creation-policy",
		"`spec.launcherCreationPolicy` must be `AtStartup` or `WaitForWorkersReady`. "
		"The reference treats any other word as the latter.",
		"A misspelled word changes the start of the launcher without any message.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_OPENMPI5_VARIABLES] = {
		"openmpi5-variables",
		"A launcher of Open MPI also gets `PRTE_MCA_prte_default_hostfile`, "
		"`PRTE_MCA_plm_ssh_args` and `PRTE_MCA_prte_set_default_slots`. A variable "
		"that the user's env or envFrom may already set is not added, and there is a "
		"finding.",
		"Open MPI 5 does not read the reference's variables: all ranks run on the "
		"launcher, and the job succeeds.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_MPICH_LAUNCHER_ARGS] = {
		"mpich-launcher-args",
		"A launcher of MPICH also gets `HYDRA_LAUNCHER_EXTRA_ARGS`. If the user's env "
		"or envFrom may already set it, it is not added, and there is a finding.",
		"Hydra does not read the reference's `HYDRA_LAUNCH_EXTRA_ARGS`, so ssh does "
		"not wait for workers that start late.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_INTEL_LAUNCHER_NAME] = {
		"intel-launcher-name",
		"With `runLauncherAsWorker` and Intel MPI the hostfile contains only the host "
		"name of the launcher, unless a cluster domain is given. The reference writes "
		"the name up to `.svc`.",
		"Intel MPI recognizes its own host by the host name and by the name with the "
		"cluster domain. It uses ssh for every other name, and a launcher runs no sshd.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_SEARCH_DOMAIN] = {
		"search-domain",
		"The workers' DNS search domain ends with the cluster domain if one is given, "
		"otherwise with `cluster.local`. The reference always writes `cluster.local`.",
		"In a cluster with another domain, workers of Intel MPI and MPICH do not find the "
		"launcher.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_DISCOVER_HOSTS_ORDER] = {
		"discover-hosts-order",
		"`discover_hosts.sh` lists the workers by number. The reference sorts them as "
		"text: worker 10 before worker 2.",
		"Ranks should be in the order of the hostfile.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_GANG_PRIORITY] = {
		"gang-priority",
		"If workers have a higher priority class than the launcher, and `minAvailable` "
		"is below the number of pods, the PodGroup's `minResources` count the workers "
		"first. The reference counts the launcher several times instead. A PodGroup of "
		"the reference is kept until the job changes.",
		"The gang scheduler reserves the wrong amount.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_GANG_INIT_CONTAINERS] = {
		"gang-init-containers",
		"A PodGroup's `minResources` include init containers and pod overhead, as in "
		"the scheduler. The reference includes neither. A PodGroup of the reference is "
		"kept until the job changes.",
		"A gang is admitted although it does not fit.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_CONFIG_MAP_SIZE] = {
		"config-map-size",
		"If hostfile and `discover_hosts.sh` together exceed 1 MiB, there is an error "
		"before anything is created. The reference retries forever.",
		"No API server accepts such a ConfigMap.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, "such a job cannot run",
	},
	[MPIJOB__RENDER_DIFFERENCE_UNKNOWN_FIELDS] = {
		"unknown-fields",
		"Unknown fields of a pod template are copied to the pod. The reference drops "
		"fields that its own version of Kubernetes does not have.",
		"A newer cluster supports them, and its CRD of the MPIJob decides what is stored.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS,
		    "the API server drops fields that its schema does not have",
	},
	[MPIJOB__RENDER_DIFFERENCE_RESUME_WAITS] = {
		"resume-waits-for-workers",
		"When a suspended job with `WaitForWorkersReady` is resumed, the launcher "
		"starts only when all workers are ready. The reference starts it at once: "
		"without workers, no worker is unready.",
		"Otherwise the launcher runs before any worker exists.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_EVICTED_ENDS] = {
		"evicted-job-ends",
		"A job with an evicted worker is Failed, with a completion time. "
		"cleanPodPolicy is applied, the launcher Job is suspended so that its pods "
		"stop, and the job is counted as failed. The reference leaves the launcher "
		"running, cleans nothing up, and may change the job to Succeeded later.",
		"Otherwise a failed job keeps its nodes forever, or does not stay failed.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_EVENTS_ONCE] = {
		"events-once",
		"The Events MPIJobRunning and MPIJobEvicted are sent when their condition "
		"becomes true, SetPodTemplateRestartPolicy when the launcher is created. The "
		"reference sends the former in every sync and the latter also when a job is "
		"resumed. It sends the Event of an end again after a conflict in the status "
		"write, and writes the status of a finished job in every sync.",
		"Repeated Events hide new ones.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_HOSTS_GATHERED] = {
		"hosts-gathered",
		"While workers start, `discover_hosts.sh` is written when all workers run, "
		"when twice as many run as are listed, or when no worker has started for as "
		"long as the starts took so far (at least a second, at most half a minute). A "
		"stopped worker is removed at once. The reference writes the file for every "
		"start.",
		"Each write is sent to every node that mounts the file. Ten thousand workers "
		"would cause ten thousand writes.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_SAME_HOSTS_STAY] = {
		"same-hosts-stay",
		"A ConfigMap that lists the correct workers is not changed, whatever the order "
		"in `discover_hosts.sh` and the domain of the names are. The reference "
		"compares the text.",
		"The files of a job that another operator started do not change while its "
		"launcher runs.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_STEADY_WORKERS] = {
		"leaving-workers",
		"A worker pod that is being deleted does not count as running or ready, and "
		"`discover_hosts.sh` no longer lists it. The reference checks only the phase.",
		"A job that is resumed quickly is not running just because its old workers "
		"still are.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_BY_NAME] = {
		"scale-down-by-name",
		"Scaling down deletes the workers whose index in the name is not below the "
		"number of replicas, also if the job is suspended, has ended, or has no "
		"workers any more. The reference reads the label `replica-index`, which is one "
		"higher with `runLauncherAsWorker`. So it deletes one worker too many, and a "
		"launcher that does not exist yet waits for its replacement. A pod without "
		"that label stops the sync of the reference. The reference deletes only while "
		"there are more pods than replicas, and its cleanup does not delete pods "
		"beyond the number.",
		"Otherwise a worker is lost that the job needs.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_EVENT] = {
		"scale-down-event",
		"An Event `SuccessfulDelete` names each worker pod that is deleted because the job "
		"has fewer workers now. The reference reports nothing.",
		"Users see why their pod was deleted.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_OWN_FIELDS] = {
		"own-fields-only",
		"Service, Secret and PodGroup are updated if a field that we set differs. The "
		"reference compares whole specs. So it repeatedly reverts a default that the "
		"server or the scheduler fills in. We do not remove a queue or priority class "
		"that the job does not request.",
		"Otherwise two controllers overwrite each other.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_STAGES] = {
		"stages-in-order",
		"A status that ends a job, counts a restart, or resumes a suspended job is "
		"written before the actions that follow from it. Any other status is written "
		"last, once in each sync, as in the reference.",
		"The count and the end must not be lost if the operator stops in between.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_HOLD] = {
		"launcher-awaits-names",
		"`mpijob-operator` creates or resumes a launcher when the DNS names of all "
		"workers resolve. It does so at the latest `--launcher-hold` (4 s) after all "
		"workers are ready, or 10 s after the first worker was created if they are not "
		"ready. With a gang scheduler it delays the launcher only after all workers "
		"are ready. The reference creates the launcher together with the workers.",
		"mpirun fails at the first name that does not resolve. Then the launcher "
		"restarts, or with `restartPolicy: Never` the job fails.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, "`--launcher-hold=0`, `launcher_hold_ms = 0` in "
		"the options, " REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_SECRET] = {
		"secret-when-needed",
		"A deleted Secret is recreated before the next pod of its job is created. The "
		"reference watches all Secrets of the cluster, and recreates it at once.",
		"The right to list Secrets is the right to read all of them.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_ONCE] = {
		"launcher-not-made-twice",
		"With `ttlSecondsAfterFinished`, a launcher Job that existed and was deleted "
		"is not recreated. The job is Succeeded if a launcher pod is known to have "
		"succeeded, otherwise it is Failed with reason MPIJobLauncherGone. The "
		"reference runs the job a second time. Our operator does so only if it stopped "
		"between creating the launcher and writing that into the status, and started "
		"again after the launcher had ended and was removed.",
		"A job that finished while no operator was running must not run again.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_TERMINAL_STAYS] = {
		"finished-stays-finished",
		"A condition Succeeded or Failed that is True stays True. A job that an older "
		"operator left Failed without a completion time gets one. If a job is "
		"suspended at the moment when its launcher Job ends, it is cleaned up "
		"according to its cleanPodPolicy, and the launcher Job does not change.",
		"A client that waits for a job uses the first end that it observes.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_FAILURE_NAMES_PODS] = {
		"failure-names-pods",
		"The message of a failure is that of the reference, followed by the launcher "
		"pod that failed last and the worker pod that failed first, each with pod, "
		"node, reason and exit code. The last message of each, or of its container if "
		"the pod has none, is added with at most 512 bytes. The reason after "
		"`BackoffLimitExceeded/` is determined in the same way.",
		"The launcher only knows that a connection was lost.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_TAKEN_NAMES] = {
		"taken-names",
		"A name conflict of a child is reported with the kind of the object, and "
		"checked again within a minute. Before that, the known facts are written into "
		"the status of the job. While the name of a worker is taken, no worker is "
		"created, and none is deleted by scaling down. A name conflict does not "
		"prevent the end of a job, except a conflict of the launcher's name. A "
		"conflict of a worker's or PodGroup's name does not prevent a suspension. The "
		"reference leaves the kind empty except for the PodGroup, retries faster at "
		"first and counts the job as created each time, creates the workers before the "
		"conflict, and never completes the cleanup.",
		"The status shows that the operator has processed the job.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_START_TIME] = {
		"launcher-start-time",
		"When a job is resumed, `status.startTime` of its launcher Job is cleared only "
		"if the scheduling directives of its pod template must change. The reference "
		"clears it each time.",
		"Kubernetes requires it only then, and sets the new time itself.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_MESSAGES_CUT] = {
		"messages-cut",
		"The message of a failure is cut at 1024 bytes, between two characters. The "
		"reference cuts only the message of BackoffLimitExceeded, possibly inside a "
		"character.",
		"An API server rejects a longer event, and text that is not UTF-8.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_VALIDATION_WORDS] = {
		"validation-words",
		"The Event ValidationError names the same fields with the text of our findings.",
		"They name the accepted values.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
};

const struct mpijob__render_difference_row *mpijob__render_difference_row(
    enum mpijob__render_difference difference)
{
	return difference > MPIJOB__RENDER_DIFFERENCE_NONE &&
		       difference < MPIJOB__RENDER_DIFFERENCE_COUNT
		   ? &rows[difference]
		   : NULL;
}

int mpijob__render_difference_holds(enum mpijob__render_difference difference, int reference)
{
	const struct mpijob__render_difference_row *row = mpijob__render_difference_row(difference);

	return row == NULL || row->mode == MPIJOB__RENDER_DIFFERENCE_ALWAYS ||
	       (row->mode == MPIJOB__RENDER_DIFFERENCE_DEFAULT && !reference);
}

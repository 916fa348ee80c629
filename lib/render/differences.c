/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every deliberate difference from mpi-operator v0.8.2: what, why, whether it is on by default, and
 * its switch. The rule behind the list: on by default is only what no job that works today can
 * notice by breaking. What a job of today could notice is a feature, off by default, and a row of
 * features.c.
 */
#include "render/differences.h"

#define PLANNED   "what the objects of such a job look like is the same"
#define REFERENCE "`reference = 1` in the options, `--reference`"

static const struct mpijob__render_difference_row rows[MPIJOB__RENDER_DIFFERENCE_COUNT] = {
	[MPIJOB__RENDER_DIFFERENCE_DUPLICATE_KEYS] = {
		"duplicate-keys",
		"A key that occurs twice in a map of a YAML or JSON file is an error. kubectl "
		"takes the last one.",
		"One of the two values is silently lost, and it is rarely the one that was meant.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, "no job that was stored in a cluster has such "
		"keys",
	},
	[MPIJOB__RENDER_DIFFERENCE_WORKER_REPLICAS] = {
		"worker-replicas",
		"`spec.mpiReplicaSpecs[Worker].replicas` is 1 when absent. The reference makes it "
		"0 and then refuses it.",
		"Its documentation says 1, and 0 can never have worked.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_CREATION_POLICY] = {
		"launcher-creation-policy",
		"`spec.launcherCreationPolicy` must be `AtStartup` or `WaitForWorkersReady`. The "
		"reference takes any other word "
		"for the latter.",
		"A mistyped word changes when the launcher starts, without any message.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_OPENMPI5_VARIABLES] = {
		"openmpi5-variables",
		"A launcher of Open MPI also gets `PRTE_MCA_prte_default_hostfile`, "
		"`PRTE_MCA_plm_ssh_args` and "
		"`PRTE_MCA_prte_set_default_slots`, each unless the user's env or envFrom may give "
		"it already (a finding tells).",
		"Open MPI 5 reads none of the reference's variables: all ranks run on the "
		"launcher, and the job succeeds.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_MPICH_LAUNCHER_ARGS] = {
		"mpich-launcher-args",
		"A launcher of MPICH also gets `HYDRA_LAUNCHER_EXTRA_ARGS`, unless the user's env "
		"or envFrom may give it already "
		"(a finding tells).",
		"Hydra does not know the reference's `HYDRA_LAUNCH_EXTRA_ARGS`, so ssh does not "
		"wait for workers that start late.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_INTEL_LAUNCHER_NAME] = {
		"intel-launcher-name",
		"With `runLauncherAsWorker` and Intel MPI the hostfile calls the launcher by its "
		"host name alone, unless a cluster "
		"domain is given. The reference writes its name up to `.svc`.",
		"Intel MPI knows itself by its host name and by its name with the cluster domain; "
		"by any other it is a stranger, "
		"reached over ssh, and a launcher runs no sshd.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_SEARCH_DOMAIN] = {
		"search-domain",
		"The workers' DNS search domain ends in the cluster domain when one is given. The "
		"reference always writes "
		"`cluster.local`, and so do we when none is given.",
		"In a cluster with another domain, workers of Intel MPI and MPICH do not find the "
		"launcher.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_DISCOVER_HOSTS_ORDER] = {
		"discover-hosts-order",
		"`discover_hosts.sh` lists the workers by number. The reference sorts them as "
		"text: worker 10 before worker 2.",
		"Ranks should stand in the order of the hostfile.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_GANG_PRIORITY] = {
		"gang-priority",
		"When workers have a higher priority class than the launcher and `minAvailable` is "
		"below the number of pods, the "
		"PodGroup's `minResources` count the workers first. The reference counts the "
		"launcher several times instead. What "
		"it made stays until the job changes.",
		"The gang scheduler reserves the wrong amount.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_GANG_INIT_CONTAINERS] = {
		"gang-init-containers",
		"A PodGroup's `minResources` count init containers and pod overhead, as the "
		"scheduler does. The reference counts "
		"neither; what it made stays until the job changes.",
		"A gang is admitted that then does not fit.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_CONFIG_MAP_SIZE] = {
		"config-map-size",
		"A hostfile and `discover_hosts.sh` of more than 1 MiB together are an error "
		"before anything is created. The "
		"reference tries for ever.",
		"No API server accepts such a ConfigMap.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, "such a job has no chance",
	},
	[MPIJOB__RENDER_DIFFERENCE_UNKNOWN_FIELDS] = {
		"unknown-fields",
		"Fields of a pod template that we do not know reach the pod. The reference drops "
		"those that its own version of "
		"Kubernetes does not have.",
		"A newer cluster knows them, and the CRD of its MPIJob decides what is stored.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, "the API server drops what its schema does not "
		"have",
	},
	[MPIJOB__RENDER_DIFFERENCE_RESUME_WAITS] = {
		"resume-waits-for-workers",
		"A suspended job with `WaitForWorkersReady` starts its launcher again only when "
		"all workers are ready. The "
		"reference starts it at once: no worker is there, and none is not ready.",
		"The launcher runs before there is anything to reach.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_EVICTED_ENDS] = {
		"evicted-job-ends",
		"A job with an evicted worker is Failed with a completion time: cleanPodPolicy is "
		"followed, the launcher Job is "
		"suspended so that its pods stop, and the job is counted as failed. The reference "
		"leaves the launcher running, "
		"cleans nothing up, and may turn the job into a success.",
		"A failed job held its nodes for ever, or was not failed in the end.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_EVENTS_ONCE] = {
		"events-once",
		"MPIJobRunning and MPIJobEvicted are reported when they become true, "
		"SetPodTemplateRestartPolicy when the launcher "
		"is made. The reference reports the former on every sync and the latter also when "
		"a job goes on, tells of an end "
		"again when the write of the status met a conflict, and writes the status of a "
		"finished job on every sync.",
		"Repeated news hides news.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_HOSTS_GATHERED] = {
		"hosts-gathered",
		"While workers start, `discover_hosts.sh` is written when all run, when twice as "
		"many run as are listed, or when "
		"none started for as long as the starts took (a second at least, half a minute at "
		"most). One that stopped is "
		"taken out at once. The reference writes it for every start.",
		"Each write goes to every node that mounts it; ten thousand workers cost ten "
		"thousand writes.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_SAME_HOSTS_STAY] = {
		"same-hosts-stay",
		"A ConfigMap that lists the right workers is left as it is, whatever the order in "
		"`discover_hosts.sh` and the "
		"domain behind the names. The reference compares the text.",
		"A job that another operator began is not rewritten under its launcher.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_STEADY_WORKERS] = {
		"leaving-workers",
		"A worker pod that is being deleted does not count as running or ready, and "
		"`discover_hosts.sh` no longer lists "
		"it. The reference looks at its phase alone.",
		"A job that is resumed quickly is not running because its former workers still "
		"are.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_BY_NAME] = {
		"scale-down-by-name",
		"Scaling down deletes the workers whose names are beyond the number, also in a job "
		"that is suspended or has ended, "
		"or has no workers any more. The reference reads the label `replica-index`, which "
		"is one higher with "
		"`runLauncherAsWorker`, and deletes one worker too many, whose successor a "
		"launcher that is yet to be made then "
		"waits for; a pod without that label stops its sync; it deletes only while there "
		"are more pods than wanted, and "
		"then not those beyond the number when it cleans up.",
		"A worker that is needed is lost.",
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
		"Service, Secret and PodGroup are updated when a field that we set differs. The "
		"reference compares whole specs, "
		"so a default that the server or the scheduler fills in is written back for ever; "
		"a queue or priority class that "
		"is there and not wanted is left alone.",
		"Two controllers write in turns.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_STAGES] = {
		"stages-in-order",
		"A status that ends a job, counts a restart, or says that a suspended job goes on "
		"is written before what follows "
		"from it. Any other status is written last, once a sync, as the reference does.",
		"The count and the end must survive an operator that stops halfway.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_HOLD] = {
		"launcher-awaits-names",
		"`mpijob-operator` creates a launcher, or resumes it, once the DNS names of all "
		"workers resolve; at the latest "
		"`--launcher-hold` (4 s) after all workers are ready, and 10 s after the first "
		"worker was created if they are not. "
		"With a gang scheduler it waits only once all workers are ready. The reference "
		"creates it together with the workers.",
		"mpirun fails at the first name that does not resolve: the launcher restarts, or "
		"with `restartPolicy: Never` the "
		"job fails.",
		MPIJOB__RENDER_DIFFERENCE_DEFAULT, "`--launcher-hold=0`, `launcher_hold_ms = 0` in "
		"the options, " REFERENCE,
	},
	[MPIJOB__RENDER_DIFFERENCE_SECRET] = {
		"secret-when-needed",
		"A Secret that somebody deletes is made again before the next pod of its job is "
		"made. The reference watches all "
		"Secrets of the cluster, and makes it again at once.",
		"Who may list Secrets may read them all.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_ONCE] = {
		"launcher-not-made-twice",
		"With `ttlSecondsAfterFinished`, a launcher Job that was there and is gone is not "
		"made again: the job succeeds if "
		"a launcher pod is known to have succeeded, else it is Failed with reason "
		"MPIJobLauncherGone. The reference runs "
		"the job a second time; so does ours when it died between making the launcher and "
		"writing that into the status, and "
		"stayed away until the launcher had ended and was removed.",
		"A job that was done while the operator was away must not run again.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_TERMINAL_STAYS] = {
		"finished-stays-finished",
		"A condition Succeeded or Failed that is True stays so. A job that an older "
		"operator left Failed without a "
		"completion time gets one. Once the launcher Job has ended, a job that is "
		"suspended in the same moment is cleaned up "
		"by its cleanPodPolicy, and the launcher Job stays as it is.",
		"Who waits for a job acts on the first end that it sees.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_FAILURE_NAMES_PODS] = {
		"failure-names-pods",
		"The message of a failure says what the reference says, then names the launcher "
		"pod that failed last and the worker "
		"pod that failed first: pod, node, reason and exit code. Of the last words of "
		"each, or of its container's where the "
		"pod has none, at most 512 bytes are kept; the reason behind "
		"`BackoffLimitExceeded/` is found in the same way.",
		"The launcher only knows that a connection was lost.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_TAKEN_NAMES] = {
		"taken-names",
		"A child's name that is taken is reported with the kind of the object, and looked "
		"at again within a minute; "
		"what is known of the job is written into its status before. While a worker's name "
		"is taken no worker is "
		"made, and none deleted for a smaller number. No name that is taken, but the "
		"launcher's, keeps a job from "
		"ending, and that of a worker or of the PodGroup none from being suspended. The "
		"reference leaves the kind "
		"empty but for the PodGroup, retries faster at first and counts the job as created "
		"each time, makes the "
		"workers before the name that is taken, and never finishes cleaning up.",
		"The job says that it was seen.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_LAUNCHER_START_TIME] = {
		"launcher-start-time",
		"When a job goes on, its launcher Job's `status.startTime` is cleared only if the "
		"scheduling directives of its pod "
		"template have to change. The reference clears it each time.",
		"Kubernetes asks for it only then, and sets the time anew itself.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_MESSAGES_CUT] = {
		"messages-cut",
		"What is said of a failure is cut at 1024 bytes, between two characters. The "
		"reference cuts only what it says of "
		"BackoffLimitExceeded, inside of a character if need be.",
		"An API server refuses the longer event, and text that is not UTF-8.",
		MPIJOB__RENDER_DIFFERENCE_ALWAYS, PLANNED,
	},
	[MPIJOB__RENDER_DIFFERENCE_VALIDATION_WORDS] = {
		"validation-words",
		"The event ValidationError names the same fields in the words of our findings.",
		"They say what would be accepted.",
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

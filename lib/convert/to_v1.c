/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of v2beta1 to v1 of the training operator, whose defaults, retries and launcher
 * differ: with restartPolicy Never a launcher is never restarted, without a backoffLimit there is
 * no limit, and the launcher runs ranks if it has GPU limits.
 */
#include "base/api.h"
#include "convert/replicas.h"

#include <string.h>

#define DEFAULT_BACKOFF  6 /* batch/v1's */
#define QUEUE_ANNOTATION MPIJOB__BASE_API_VOLCANO_QUEUE

static const struct mpijob__convert_word managers[] = {
	{ MPIJOB__BASE_API_MANAGER, MPIJOB__BASE_API_TRAINING_MANAGER },
	{ NULL, NULL },
};

static void carry_launcher_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *policy = mpijob__convert_find(conversion, move->field);
	const char *word = mpijob_node_string(policy);
	int64_t limit = DEFAULT_BACKOFF;
	int given = mpijob__convert_replicas_number(conversion, BACKOFF_LIMIT, &limit);

	if (!mpijob__convert_replicas_has(conversion, LAUNCHER_PATH) || (policy && !word))
		return;
	if (word && strcmp(word, "Never") == 0 && limit != 0) {
		mpijob__convert_change(conversion, move->field, policy,
		    "written as OnFailure: with Never v1 does not retry a failed launcher; it now "
		    "restarts inside its pod");
		mpijob__convert_replicas_put_text(conversion, LAUNCHER_PATH, "restartPolicy",
		    "OnFailure");
	} else if (!word || *word == '\0') {
		mpijob__convert_replicas_put_text(conversion, LAUNCHER_PATH, "restartPolicy",
		    "OnFailure");
	}
	/* With Never v1 ignores the limit, so its absence means the same there. */
	if (!given && !mpijob__convert_find(conversion, BACKOFF_LIMIT)) {
		mpijob__convert_change(conversion, BACKOFF_LIMIT, NULL,
		    "written as %d, the default of v2beta1; in v1 absent means no limit",
		    DEFAULT_BACKOFF);
		mpijob__convert_replicas_put_number(conversion, "spec.runPolicy", "backoffLimit",
		    DEFAULT_BACKOFF);
	}
}

static void carry_launcher_as_worker(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	int wanted = 0;
	int implied = mpijob__convert_replicas_gpu_launcher(conversion);

	mpijob_node_bool(value, &wanted);
	if (wanted && !implied)
		mpijob__convert_loss(conversion, move->field, value,
		    "v1 gives the launcher ranks only when it has a GPU limit; this launcher gets "
		    "none");
	else if (!wanted && implied)
		mpijob__convert_loss(conversion, move->field, value,
		    "v1 always gives ranks to a launcher with a GPU limit");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), "runLauncherAsWorker");
}

static void carry_implementation(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	const char *word = mpijob_node_string(value);

	if (word && strcmp(word, "Intel") == 0)
		mpijob__convert_loss(conversion, move->field, value,
		    "the hostfile of v1 is always Open MPI's: 'host slots=n'");
	else if (word && strcmp(word, "MPICH") == 0)
		mpijob__convert_loss(conversion, move->field, value,
		    "the hostfile of v1 is always Open MPI's, and MPICH does not get it: give "
		    "mpirun -f and -launcher-exec /etc/mpi/kubexec.sh");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), "mpiImplementation");
}

static void carry_queue(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *annotations = mpijob_doc_edit(conversion->doc, "metadata.annotations");
	const char *queue = mpijob_node_string(mpijob_node_get(annotations, QUEUE_ANNOTATION));
	const char *given = mpijob__convert_text(conversion, move->field);

	if (!queue || *queue == '\0' || (given && *given))
		return;
	mpijob__convert_change(conversion, move->field, NULL,
	    "written from the annotation " QUEUE_ANNOTATION ", which v1 does not read");
	mpijob__convert_replicas_put_text(conversion, "spec.runPolicy.schedulingPolicy", "queue",
	    queue);
}

static void carry_worker_count(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);

	if (!mpijob__convert_replicas_has(conversion, WORKER_PATH))
		return;
	mpijob__convert_change(conversion, move->field, value,
	    "in v1 a failed worker fails the job; in v2beta1 only the launcher does");
	if (value)
		return;
	mpijob__convert_change(conversion, move->field, NULL,
	    "written as 1: in v1 absent means none");
	mpijob__convert_replicas_put_number(conversion, WORKER_PATH, "replicas", 1);
}

static void carry_worker_template(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *containers = mpijob__convert_find(conversion, WORKER_PATH CONTAINERS);
	const mpijob_node *first = mpijob_node_at(containers, 0);

	(void)move;
	if (mpijob_node_count(mpijob_node_get(first, "command")) == 0 &&
	    mpijob_node_count(mpijob_node_get(first, "args")) > 0)
		mpijob__convert_loss(conversion, WORKER_PATH CONTAINERS "[0].args",
		    mpijob_node_get(first, "args"),
		    "v1 does not use the arguments of a worker without a command: it sleeps");
}

static void carry_reasons(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	mpijob_node *conditions = mpijob__convert_find(conversion, move->field);

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		mpijob_node *condition = mpijob_node_edit_at(conditions, i);
		const char *reason = mpijob_node_string(mpijob_node_get(condition, "reason"));

		if (reason && strcmp(reason, MPIJOB__BASE_API_REASON_FAILED) == 0)
			mpijob_node_put_string(conversion->doc, condition, "reason",
			    "MPIJobMPIJobFailed");
	}
}

const struct mpijob__convert_move mpijob__convert_moves_to_v1[] = {
	{ .field = "spec.slotsPerWorker" },
	{ .field = "spec.runLauncherAsWorker", .carry = carry_launcher_as_worker },
	{ .field = LAUNCHER_POLICY, .carry = carry_launcher_policy },
	{ .field = LAUNCHER_PATH ".replicas" },
	{ .field = LAUNCHER_PATH ".template" },
	{ .field = WORKER_PATH ".restartPolicy" },
	{ .field = WORKER_PATH ".replicas", .carry = carry_worker_count },
	{ .field = WORKER_PATH ".template", .carry = carry_worker_template },
	{ .field = "spec.runPolicy.cleanPodPolicy",
	    .harmless = "None",
	    .note = "in v1 the policy applies to the launcher's pod too; in v2beta1 only workers" },
	{ .field = "spec.runPolicy.ttlSecondsAfterFinished",
	    .note =
		"v1 deletes the MPIJob itself after that time; v2beta1 only the launcher's Job" },
	{ .field = "spec.runPolicy.activeDeadlineSeconds",
	    .note = "v1 counts from the job's startTime; v2beta1 from the start of the launcher's "
		    "Job" },
	{ .field = BACKOFF_LIMIT },
	{ .field = "spec.runPolicy.suspend" },
	{ .field = "spec.runPolicy.managedBy", .words = managers },
	{ .field = "spec.runPolicy.schedulingPolicy.minAvailable" },
	{ .field = "spec.runPolicy.schedulingPolicy.queue", .carry = carry_queue },
	{ .field = "spec.runPolicy.schedulingPolicy.minResources" },
	{ .field = "spec.runPolicy.schedulingPolicy.priorityClass" },
	{ .field = "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds" },
	{ .field = "spec.sshAuthMountPath",
	    .what = MOVE_DROP,
	    .harmless = "/root/.ssh",
	    .note = "v1 has no SSH keys: it reaches workers with kubectl exec" },
	{ .field = "spec.launcherCreationPolicy",
	    .what = MOVE_DROP,
	    .loss = 1,
	    .harmless = "AtStartup",
	    .note = "v1 creates the launcher at once; it cannot wait for workers" },
	{ .field = "spec.mpiImplementation", .carry = carry_implementation },
	{ .field = "status.conditions", .carry = carry_reasons },
	{ .field = NULL },
};

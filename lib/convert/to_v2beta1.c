/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of v1 of the training operator to v2beta1. It makes implicit behaviour of that
 * operator explicit in the job: workers that sleep, arguments that are ignored, a launcher with
 * GPUs that runs ranks. It reports variables that ranks had with kubectl exec but do not have with
 * SSH. The container in which mpirun starts ranks must now be the first one and run sshd.
 */
#include "convert/to_v2beta1.h"

#include "base/api.h"
#include "base/text.h"

#include <string.h>

#define KUBEXEC  "/etc/mpi/kubexec.sh"
#define NO_LIMIT INT32_MAX

static const struct mpijob__convert_word managers[] = {
	{ MPIJOB__BASE_API_TRAINING_MANAGER, MPIJOB__BASE_API_MANAGER },
	{ NULL, NULL },
};

/* ---- policies ---- */

static void carry_clean_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *top = mpijob__convert_find(conversion, move->field);
	const mpijob_node *inner =
	    mpijob__convert_find(conversion, "spec.runPolicy.cleanPodPolicy");
	const mpijob_node *used = inner ? inner : top;

	if (top && inner && !mpijob_node_equal(top, inner))
		mpijob__convert_change(conversion, move->field, top,
		    "left out: spec.runPolicy.cleanPodPolicy is used");
	if (top && !inner)
		mpijob_node_put_copy(conversion->doc,
		    mpijob_doc_make(conversion->doc, "spec.runPolicy"), "cleanPodPolicy", top);
	if (used && !mpijob__base_text_is(mpijob_node_string(used), "None"))
		mpijob__convert_change(conversion,
		    inner ? "spec.runPolicy.cleanPodPolicy" : move->field, used,
		    "v2beta1 deletes workers only, v1 the launcher's pod too");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), "cleanPodPolicy");
}

/* With Never and ExitCode, v1 does not restart a launcher. */
static void carry_never(struct mpijob__convert_conversion *conversion, const char *word,
    const mpijob_node *policy)
{
	int64_t limit = 0;
	int given = mpijob__convert_replicas_number(conversion, BACKOFF_LIMIT, &limit);

	if (mpijob__base_text_is(word, "ExitCode"))
		mpijob__convert_loss(conversion, LAUNCHER_POLICY, policy,
		    "written as Never: v2beta1 has no ExitCode, and v1 does not restart a launcher "
		    "with it");
	if (given && limit != 0)
		mpijob__convert_change(conversion, BACKOFF_LIMIT,
		    mpijob__convert_find(conversion, BACKOFF_LIMIT),
		    "written as 0: v1 does not retry this launcher, v2beta1 would %lld times",
		    (long long)limit);
	mpijob__convert_replicas_put_text(conversion, LAUNCHER_PATH, "restartPolicy", "Never");
	if (!given && mpijob__convert_find(conversion, BACKOFF_LIMIT))
		return;
	mpijob__convert_replicas_put_number(conversion, "spec.runPolicy", "backoffLimit", 0);
}

static void carry_launcher_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *policy = mpijob__convert_find(conversion, move->field);
	const char *word = mpijob_node_string(policy);

	if (!mpijob__convert_replicas_has(conversion, LAUNCHER_PATH) || (policy && !word))
		return;
	if (!word || *word == '\0' || mpijob__base_text_is(word, "Never") ||
	    mpijob__base_text_is(word, "ExitCode")) {
		carry_never(conversion, word, policy);
		return;
	}
	if (mpijob__base_text_is(word, "Always")) {
		mpijob__convert_loss(conversion, move->field, policy,
		    "written as OnFailure: v2beta1 does not restart a container that succeeded");
		mpijob__convert_replicas_put_text(conversion, LAUNCHER_PATH, "restartPolicy",
		    "OnFailure");
	}
	if (!mpijob__convert_find(conversion, BACKOFF_LIMIT)) {
		mpijob__convert_change(conversion, BACKOFF_LIMIT, NULL,
		    "written as %d: in v1 absent means no limit, in v2beta1 6", NO_LIMIT);
		mpijob__convert_replicas_put_number(conversion, "spec.runPolicy", "backoffLimit",
		    NO_LIMIT);
	}
}

void mpijob__convert_to_v2beta1_worker_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *policy = mpijob__convert_find(conversion, move->field);
	const char *word = mpijob_node_string(policy);

	if (mpijob__base_text_is(word, "Always")) {
		mpijob__convert_loss(conversion, move->field, policy,
		    "written as OnFailure: v2beta1 has no Always");
		mpijob__convert_replicas_put_text(conversion, WORKER_PATH, "restartPolicy",
		    "OnFailure");
	} else if (mpijob__base_text_is(word, "ExitCode")) {
		mpijob__convert_loss(conversion, move->field, policy,
		    "written as Never: v2beta1 has no ExitCode");
		mpijob__convert_replicas_put_text(conversion, WORKER_PATH, "restartPolicy",
		    "Never");
	} else if (mpijob__base_text_is(word, "")) {
		mpijob_node_remove(mpijob_doc_edit(conversion->doc, WORKER_PATH), "restartPolicy");
	}
}

static void carry_worker_count(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	int64_t count = 0;

	if (!mpijob__convert_replicas_has(conversion, WORKER_PATH) ||
	    (value && !mpijob_node_int(value, &count)))
		return;
	if (count == 0) {
		mpijob__convert_loss(conversion, WORKER_PATH,
		    mpijob_doc_edit(conversion->doc, WORKER_PATH),
		    "left out: v2beta1 rejects a job with a Worker replica of 0 workers");
		mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec.mpiReplicaSpecs"),
		    "Worker");
		return;
	}
	mpijob__convert_change(conversion, move->field, value,
	    "in v1 a failed worker fails the job; in v2beta1 only the launcher does");
}

/* ---- pods ---- */

void mpijob__convert_to_v2beta1_strip_restart_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *policy = mpijob__convert_find(conversion, move->field);

	if (!policy)
		return;
	mpijob__convert_change(conversion, move->field, policy,
	    "left out: the replica's restartPolicy is used, and this one gives a Warning Event");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc,
			       strncmp(move->field, WORKER_PATH, strlen(WORKER_PATH)) == 0
				   ? WORKER_PATH ".template.spec"
				   : LAUNCHER_PATH ".template.spec"),
	    "restartPolicy");
}

/* Move the container in which kubectl exec ran to the front; the previous first one still sleeps.
 */
void mpijob__convert_to_v2beta1_main_container(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	const char *name = mpijob_node_string(value);
	mpijob_node *containers = mpijob__convert_find(conversion, WORKER_PATH CONTAINERS);
	size_t count = mpijob_node_count(containers), at = 0;
	mpijob_node *ordered;

	while (name && at < count &&
	       !mpijob__base_text_is(mpijob_node_string(
					 mpijob_node_get(mpijob_node_at(containers, at), "name")),
		   name))
		at++;
	if (name && *name && at > 0 && at < count) {
		mpijob_node *first = mpijob_node_edit_at(containers, 0);

		int sleeps = mpijob_node_count(mpijob_node_get(first, "command")) == 0;

		mpijob__convert_change(conversion, WORKER_PATH CONTAINERS "[0]", first,
		    "comes second now%s",
		    sleeps
			? ", with a sleep command, as in v1 for a first container without a command"
			: "");
		if (sleeps) {
			mpijob_node_append_string(conversion->doc,
			    mpijob_node_put_list(conversion->doc, first, "command"), "sleep");
			mpijob_node_append_string(conversion->doc,
			    mpijob_node_put_list(conversion->doc, first, "args"), "365d");
		}
		ordered = mpijob_node_new(conversion->doc, MPIJOB_NODE_LIST);
		mpijob_node_append(conversion->doc, ordered,
		    mpijob_node_copy(conversion->doc, mpijob_node_at(containers, at)));
		for (size_t i = 0; i < count; i++) {
			if (i != at)
				mpijob_node_append(conversion->doc, ordered,
				    mpijob_node_copy(conversion->doc,
					mpijob_node_at(containers, i)));
		}
		mpijob_node_put(conversion->doc,
		    mpijob_doc_edit(conversion->doc, WORKER_PATH ".template.spec"), "containers",
		    ordered);
		mpijob__convert_change(conversion, move->field, value,
		    "left out: container '%s' comes first among the workers' now, where v2beta1 "
		    "starts ranks",
		    name);
	}
	if (name && *name && at == count && count > 0)
		mpijob__convert_loss(conversion, move->field, value,
		    "left out: no container of the workers has this name");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), "mainContainer");
}

void mpijob__convert_to_v2beta1_worker_command(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	mpijob_node *containers = mpijob__convert_find(conversion, move->field);
	mpijob_node *first = mpijob_node_edit_at(containers, 0);
	const mpijob_node *command = mpijob_node_get(first, "command");
	const mpijob_node *args = mpijob_node_get(first, "args");

	if (mpijob_node_kind(first) != MPIJOB_NODE_MAP)
		return;
	if (mpijob_node_count(mpijob_node_get(first, "env")) +
		mpijob_node_count(mpijob_node_get(first, "envFrom")) >
	    0)
		mpijob__convert_loss(conversion, WORKER_PATH CONTAINERS "[0].env",
		    mpijob_node_get(first, "env"),
		    "ranks do not get these over SSH as they did over kubectl exec: pass them with "
		    "mpirun -x");
	if (mpijob_node_count(command) > 0 && mpijob__convert_replicas_has_word(first, "sshd"))
		return;
	if (mpijob_node_count(command) > 0)
		mpijob__convert_change(conversion, WORKER_PATH CONTAINERS "[0].command", command,
		    "left out: a worker of v2beta1 runs /usr/sbin/sshd -De, which its image must "
		    "have");
	if (mpijob_node_count(args) > 0)
		mpijob__convert_change(conversion, WORKER_PATH CONTAINERS "[0].args", args, "%s",
		    mpijob_node_count(command) > 0
			? "left out, as the command is"
			: "left out: older versions do not use them, v2beta1 would, in place of "
			  "/usr/sbin/sshd -De");
	mpijob_node_remove(first, "command");
	mpijob_node_remove(first, "args");
}

/* ---- references to kubexec.sh ---- */

static int is_variable_of_kubexec(const mpijob_node *variable, int has_exec)
{
	const char *name = mpijob_node_string(mpijob_node_get(variable, "name"));
	const char *value = mpijob_node_string(mpijob_node_get(variable, "value"));

	if (mpijob__base_text_is(name, "OMPI_MCA_plm_rsh_agent") ||
	    mpijob__base_text_is(name, "I_MPI_HYDRA_BOOTSTRAP_EXEC"))
		return mpijob__base_text_is(value, KUBEXEC);
	return has_exec && mpijob__base_text_is(name, "I_MPI_HYDRA_BOOTSTRAP");
}

static void strip_variables(struct mpijob__convert_conversion *conversion, mpijob_node *container)
{
	mpijob_node *env = mpijob__convert_get(container, "env");
	int has_exec = 0, stripped = 0;

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const mpijob_node *variable = mpijob_node_at(env, i);

		has_exec |=
		    mpijob__base_text_is(mpijob_node_string(mpijob_node_get(variable, "name")),
			"I_MPI_HYDRA_BOOTSTRAP_EXEC") &&
		    is_variable_of_kubexec(variable, 0);
	}
	for (size_t i = mpijob_node_count(env); i-- > 0;) {
		const mpijob_node *variable = mpijob_node_at(env, i);

		if (!is_variable_of_kubexec(variable, has_exec))
			continue;
		mpijob__convert_change(conversion, LAUNCHER_PATH CONTAINERS "[0].env", variable,
		    "%s left out: v2beta1 has no " KUBEXEC,
		    mpijob_node_string(mpijob_node_get(variable, "name")));
		mpijob_node_remove_at(env, i);
		stripped = 1;
	}
	if (stripped && mpijob_node_count(env) == 0)
		mpijob_node_remove(container, "env");
}

static int is_mca(const char *word)
{
	return mpijob__base_text_is(word, "-mca") || mpijob__base_text_is(word, "--mca");
}

/* Remove `-mca plm_rsh_agent kubexec.sh` and `-launcher-exec kubexec.sh`. Returns 1 if there was
 * one. */
static int strip_words(mpijob_node *list)
{
	static const char *const before[] = { "-launcher-exec", "--launcher-exec",
		"-bootstrap-exec", "--bootstrap-exec" };
	int found = 0;

	for (size_t i = mpijob_node_count(list); i-- > 1;) {
		const char *word = mpijob_node_string(mpijob_node_at(list, i - 1));
		size_t gone = 0;

		if (!mpijob__base_text_is(mpijob_node_string(mpijob_node_at(list, i)), KUBEXEC))
			continue;
		for (size_t k = 0; k < sizeof(before) / sizeof(before[0]); k++)
			gone = mpijob__base_text_is(word, before[k]) ? 2 : gone;
		if (i >= 2 && mpijob__base_text_is(word, "plm_rsh_agent") &&
		    is_mca(mpijob_node_string(mpijob_node_at(list, i - 2))))
			gone = 3;
		for (size_t k = 0; k < gone; k++)
			mpijob_node_remove_at(list, i - k);
		i -= gone ? gone - 1 : 0;
		found |= gone > 0;
	}
	return found;
}

void mpijob__convert_to_v2beta1_launcher(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	mpijob_node *containers = mpijob__convert_find(conversion, move->field);
	mpijob_node *first = mpijob_node_edit_at(containers, 0);

	strip_variables(conversion, first);
	if (strip_words(mpijob_node_edit(first, "command")) |
	    strip_words(mpijob_node_edit(first, "args")))
		mpijob__convert_change(conversion, LAUNCHER_PATH CONTAINERS "[0]", first,
		    "the words that name " KUBEXEC " left out: v2beta1 has no such file");
	if (mpijob__convert_replicas_has_word(first, KUBEXEC))
		mpijob__convert_loss(conversion, LAUNCHER_PATH CONTAINERS "[0]", first,
		    "v2beta1 has no " KUBEXEC "; take it out of the command");
	if (mpijob__convert_replicas_has_word(first, "discover_hosts.sh"))
		mpijob__convert_loss(conversion, LAUNCHER_PATH CONTAINERS "[0]", first,
		    "discover_hosts.sh of v2beta1 prints hosts without ':slots'; set them with "
		    "--slots-per-host");
	if (mpijob__convert_replicas_has_word(first, "/etc/mpi/hostfile"))
		mpijob__convert_change(conversion, LAUNCHER_PATH CONTAINERS "[0]", first,
		    "the hostfile of v2beta1 has fully qualified names, that of older versions has "
		    "pods' names");
}

static void carry_account(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);

	if (value)
		mpijob__convert_change(conversion, move->field, value,
		    "v1 created this ServiceAccount and a Role for it if they were absent; v2beta1 "
		    "does not");
}

/* ---- implicit behaviour of v1 ---- */

static void carry_gpu_launcher(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	(void)move;
	if (!mpijob__convert_replicas_gpu_launcher(conversion))
		return;
	mpijob__convert_change(conversion, LAUNCHER_PATH,
	    mpijob_doc_edit(conversion->doc, LAUNCHER_PATH),
	    "spec.runLauncherAsWorker set, as this launcher has a GPU limit; its label "
	    "replica-index is 0, those of the workers begin at 1");
	mpijob_node_put_bool(conversion->doc, mpijob_doc_make(conversion->doc, "spec"),
	    "runLauncherAsWorker", 1);
}

void mpijob__convert_to_v2beta1_implementation(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *env = mpijob__convert_find(conversion, move->field);

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "name"));

		if (!name || strncmp(name, "I_MPI_", 6) != 0)
			continue;
		mpijob__convert_change(conversion, move->field, mpijob_node_at(env, i),
		    "spec.mpiImplementation set to Intel because %s is set", name);
		mpijob__convert_replicas_put_text(conversion, "spec", "mpiImplementation", "Intel");
		return;
	}
}

void mpijob__convert_to_v2beta1_user(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *user = mpijob__convert_find(conversion, move->field);
	int64_t id = 0;

	if (mpijob_node_int(user, &id) && id != 0)
		mpijob__convert_loss(conversion, move->field, user,
		    "spec.sshAuthMountPath must name .ssh in this user's home, which only the "
		    "image knows");
}

static void carry_queue(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const char *given = mpijob__convert_text(conversion, move->field);

	if (!mpijob__convert_replicas_has(conversion, "spec.runPolicy.schedulingPolicy") ||
	    (given && *given))
		return;
	mpijob__convert_change(conversion, move->field, NULL,
	    "written as 'default', the default of v1; v2beta1 has none");
	mpijob__convert_replicas_put_text(conversion, "spec.runPolicy.schedulingPolicy", "queue",
	    "default");
}

static void carry_reasons(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	mpijob_node *conditions = mpijob__convert_find(conversion, move->field);

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		mpijob_node *condition = mpijob_node_edit_at(conditions, i);

		if (mpijob__base_text_is(mpijob_node_string(mpijob_node_get(condition, "reason")),
			"MPIJobMPIJobFailed"))
			mpijob_node_put_string(conversion->doc, condition, "reason",
			    MPIJOB__BASE_API_REASON_FAILED);
		if (mpijob__base_text_is(mpijob_node_string(mpijob_node_get(condition, "type")),
			"Restarting"))
			mpijob__convert_loss(conversion, move->field, condition,
			    "v2beta1 has no condition Restarting");
	}
}

/* Rows that read the launcher come before rows that change it, because its variables determine the
 * implementation. */
const struct mpijob__convert_move mpijob__convert_moves_to_v2beta1[] = {
	{ .field = "spec.slotsPerWorker" },
	{ .field = "spec.cleanPodPolicy", .carry = carry_clean_policy },
	{ .field = "spec.runPolicy.cleanPodPolicy" },
	{ .field = "spec.runPolicy.ttlSecondsAfterFinished",
	    .note =
		"v2beta1 deletes only the launcher's Job after that time, v1 the MPIJob itself" },
	{ .field = "spec.runPolicy.activeDeadlineSeconds",
	    .note = "v2beta1 counts from the start of the launcher's Job, v1 from the job's "
		    "startTime" },
	{ .field = LAUNCHER_POLICY, .carry = carry_launcher_policy },
	{ .field = LAUNCHER_PATH ".replicas" },
	{ .field = LAUNCHER_PATH CONTAINERS "[0].env",
	    .carry = mpijob__convert_to_v2beta1_implementation },
	{ .field = LAUNCHER_PATH, .carry = carry_gpu_launcher },
	{ .field = LAUNCHER_PATH CONTAINERS, .carry = mpijob__convert_to_v2beta1_launcher },
	{ .field = LAUNCHER_PATH ".template.spec.restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_strip_restart_policy },
	{ .field = LAUNCHER_PATH ".template.spec.serviceAccountName", .carry = carry_account },
	{ .field = LAUNCHER_PATH ".template.spec.securityContext.runAsUser",
	    .carry = mpijob__convert_to_v2beta1_user },
	{ .field = WORKER_PATH ".replicas", .carry = carry_worker_count },
	{ .field = WORKER_PATH ".restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_worker_policy },
	{ .field = "spec.mainContainer", .carry = mpijob__convert_to_v2beta1_main_container },
	{ .field = WORKER_PATH CONTAINERS, .carry = mpijob__convert_to_v2beta1_worker_command },
	{ .field = WORKER_PATH ".template.spec.restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_strip_restart_policy },
	{ .field = WORKER_PATH ".template.spec.securityContext.runAsUser",
	    .carry = mpijob__convert_to_v2beta1_user },
	{ .field = BACKOFF_LIMIT },
	{ .field = "spec.runPolicy.suspend" },
	{ .field = "spec.runPolicy.managedBy", .words = managers },
	{ .field = "spec.runPolicy.schedulingPolicy.minAvailable" },
	{ .field = "spec.runPolicy.schedulingPolicy.queue", .carry = carry_queue },
	{ .field = "spec.runPolicy.schedulingPolicy.minResources" },
	{ .field = "spec.runPolicy.schedulingPolicy.priorityClass" },
	{ .field = "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds" },
	{ .field = "status.conditions", .carry = carry_reasons },
	{ .field = NULL },
};

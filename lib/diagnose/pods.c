/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how the kubelet and the scheduler say in a pod's status why it does not start, why it
 * ended, and who ended it: the reasons of waiting and terminated containers, exit codes, the pod's
 * own reasons, and the scheduler's sentence, whose pieces ("Insufficient cpu", "untolerated taint")
 * are all that tells what is missing.
 */
#include "diagnose/diagnose.h"

#include <string.h>

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING

#define PENDING_S 10 /* every pod takes some time to start */
#define LONG_S    60 /* a worker that is not ready for so long is worth a word */

static const struct {
	const char *id;
	const char *piece;
	const char *message;
} unschedulable[] = {
	{ "gang-waiting", "pod group is not ready",
	    "the gang scheduler holds the pod back until its whole group fits" },
	{ "gang-waiting", "in gang unschedulable",
	    "the gang scheduler holds the pod back until its whole group fits" },
	{ "gang-waiting", "PodGroup", "the gang scheduler holds the pod back" },
	{ "gang-waiting", "pod group", "the gang scheduler holds the pod back" },
	{ "gang-waiting", "optimistic rejection in PostFilter",
	    "the gang scheduler holds the pod back until its whole group fits" },
	{ "volume-missing", "persistentvolumeclaim", "a volume that the pod needs is not there" },
	{ "volume-missing", "PersistentVolumeClaim", "a volume that the pod needs is not there" },
	{ "unschedulable-resources", "Insufficient ", "no node has room for it" },
	{ "unschedulable-resources", "Too many pods", "no node has room for it" },
	{ "unschedulable-nodes", "taint", "no node may take it" },
	{ "unschedulable-nodes", "", "no node fits it" },
};

void mpijob__diagnose_case_unschedulable(struct mpijob__diagnose_case *this, const char *pod,
    const char *message)
{
	for (size_t i = 0; i < sizeof(unschedulable) / sizeof(unschedulable[0]); i++) {
		if (!strstr(message, unschedulable[i].piece))
			continue;
		mpijob__diagnose_case_add(this, unschedulable[i].id, ERROR, RANK_NOT_PLACED, pod,
		    NULL, "pod %s waits for a node: %s%s%s", pod, unschedulable[i].message,
		    *message ? ": " : "", message);
		return;
	}
}

static const struct {
	const char *id;
	const char *reason;
	const char *message;
} waits[] = {
	{ "image-not-pulled", "ErrImagePull", "its image cannot be pulled" },
	{ "image-not-pulled", "ImagePullBackOff", "its image cannot be pulled" },
	{ "image-not-pulled", "InvalidImageName", "the name of its image is none" },
	{ "image-not-pulled", "ErrImageNeverPull",
	    "its image is not on the node, and imagePullPolicy is Never" },
	{ "image-not-pulled", "ImageInspectError", "its image cannot be looked at" },
	{ "image-not-pulled", "RegistryUnavailable", "the registry of its image does not answer" },
	{ "object-missing", "CreateContainerConfigError",
	    "something that it refers to is missing" },
	{ "container-not-started", "CreateContainerError", "it cannot be created" },
	{ "container-not-started", "RunContainerError", "it cannot be started" },
	{ "container-not-started", "StartError", "it cannot be started" },
};

struct look {
	struct mpijob__diagnose_case *this;
	const mpijob_node *pod;
	const char *name;
	int role;
};

int mpijob__diagnose_case_no_program(const char *message)
{
	return strstr(message, "executable file not found") ||
	       strstr(message, "o such file or directory");
}

static void not_started(const struct look *look, const char *container, const char *message)
{
	if (mpijob__diagnose_case_no_program(message))
		mpijob__diagnose_case_add(look->this, "program-not-found", ERROR, RANK_NOT_STARTED,
		    look->name, NULL,
		    "container %s of pod %s cannot be started: its command is not in the image: %s",
		    container, look->name, message);
	else
		mpijob__diagnose_case_add(look->this, "container-not-started", ERROR,
		    RANK_NOT_STARTED, look->name, NULL,
		    "container %s of pod %s cannot be started: %s", container, look->name, message);
}

static void look_waiting(const struct look *look, const char *container, const mpijob_node *waiting)
{
	const char *reason = mpijob__diagnose_case_text(waiting, "reason"),
		   *message = mpijob__diagnose_case_text(waiting, "message");

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (strcmp(waits[i].reason, reason) != 0)
			continue;
		if (strcmp(waits[i].id, "container-not-started") == 0)
			not_started(look, container, message);
		else
			mpijob__diagnose_case_add(look->this, waits[i].id, ERROR, RANK_NOT_STARTED,
			    look->name, NULL, "container %s of pod %s waits: %s%s%s", container,
			    look->name, waits[i].message, *message ? ": " : "", message);
	}
}

static const struct {
	const char *id;
	int64_t code;
	const char *message;
} exits[] = {
	{ "container-killed", 137, "was killed (SIGKILL), but not for its memory limit" },
	{ "container-stopped", 143, "was stopped from outside (SIGTERM)" },
	{ "program-crashed", 139, "crashed (SIGSEGV)" },
	{ "program-crashed", 134, "crashed (SIGABRT)" },
	{ "program-crashed", 135, "crashed (SIGBUS)" },
	{ "program-crashed", 132, "crashed (SIGILL)" },
	{ "program-crashed", 136, "crashed (SIGFPE)" },
	{ "program-not-found", 127, "found no such program" },
	{ "program-not-found", 126, "cannot execute its program" },
};

/* The launcher ends when anything fails, and its log may say what. */
static int rank_of(const struct look *look)
{
	return look->role == MPIJOB__DIAGNOSE_WORKER_POD ? RANK_DIED + 5 : RANK_SYMPTOM + 1;
}

static void look_exit(const struct look *look, const char *container, const mpijob_node *ended,
    int32_t severity, int in_loop)
{
	const char *message = mpijob__diagnose_case_text(ended, "message"),
		   *reason = mpijob__diagnose_case_text(ended, "reason");
	/* The launcher's code is often that of a rank, as mpirun makes it. */
	int rank = look->role == MPIJOB__DIAGNOSE_WORKER_POD ? RANK_DIED : RANK_SYMPTOM + 1;
	int64_t code = 0;

	mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code);
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		if (exits[i].code != code)
			continue;
		mpijob__diagnose_case_add(look->this, exits[i].id, severity, rank, look->name, NULL,
		    "container %s of pod %s %s: exit code %lld%s%s", container, look->name,
		    exits[i].message, (long long)code, *message ? ": " : "", message);
		return;
	}
	/* Told in a loop's message. */
	if (in_loop)
		return;
	mpijob__diagnose_case_add(look->this, "container-failed", severity, rank_of(look),
	    look->name, NULL, "container %s of pod %s ended with exit code %lld%s%s%s%s", container,
	    look->name, (long long)code, *reason && strcmp(reason, "Error") != 0 ? " " : "",
	    strcmp(reason, "Error") != 0 ? reason : "", *message ? ": " : "", message);
}

static void look_terminated(const struct look *look, const char *container,
    const mpijob_node *ended, int32_t severity, int in_loop)
{
	const char *reason = mpijob__diagnose_case_text(ended, "reason"),
		   *message = mpijob__diagnose_case_text(ended, "message");
	int64_t code = 0;

	mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code);
	if (strcmp(reason, "OOMKilled") == 0)
		mpijob__diagnose_case_add(look->this, "out-of-memory", severity, RANK_DIED,
		    look->name, NULL,
		    "container %s of pod %s was killed: it took more memory than its limit "
		    "(OOMKilled, exit code %lld)",
		    container, look->name, (long long)code);
	else if (strcmp(reason, "StartError") == 0 || strcmp(reason, "ContainerCannotRun") == 0)
		not_started(look, container, message);
	else if (code != 0)
		look_exit(look, container, ended, severity, in_loop);
	else if (look->role == MPIJOB__DIAGNOSE_WORKER_POD &&
		 strcmp(mpijob__diagnose_case_text(look->pod, "status.phase"), "Succeeded") == 0)
		mpijob__diagnose_case_add(look->this, "worker-ended", ERROR, RANK_DIED, look->name,
		    NULL,
		    "container %s of worker %s ended by itself with exit code 0; a worker has to "
		    "stay",
		    container, look->name);
}

static void look_loop(const struct look *look, const char *container, const mpijob_node *status)
{
	int64_t restarts = 0, code = 0;

	mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	mpijob_node_int(mpijob_node_find(status, "lastState.terminated.exitCode"), &code);
	mpijob__diagnose_case_add(look->this, "crash-loop", ERROR, rank_of(look), look->name, NULL,
	    "container %s of pod %s ends again and again, last with exit code %lld: restarted %lld "
	    "times",
	    container, look->name, (long long)code, (long long)restarts);
}

static void look_container(const struct look *look, const mpijob_node *status)
{
	const char *name = mpijob__diagnose_case_text(status, "name");
	const mpijob_node *waiting = mpijob_node_find(status, "state.waiting");
	const mpijob_node *ended = mpijob_node_find(status, "state.terminated");
	const mpijob_node *before = mpijob_node_find(status, "lastState.terminated");
	int loops = strcmp(mpijob__diagnose_case_text(waiting, "reason"), "CrashLoopBackOff") == 0;

	if (loops)
		look_loop(look, name, status);
	else if (waiting)
		look_waiting(look, name, waiting);
	if (ended)
		look_terminated(look, name, ended, ERROR, 0);
	if (before)
		look_terminated(look, name, before, waiting ? ERROR : WARNING, loops);
}

static void look_containers(const struct look *look, const char *path)
{
	const mpijob_node *statuses = mpijob_node_find(look->pod, path);

	for (size_t i = 0; i < mpijob_node_count(statuses); i++)
		look_container(look, mpijob_node_at(statuses, i));
}

/* A second container that goes on keeps the launcher's Job from ending. */
static void look_sidecar(const struct look *look)
{
	const mpijob_node *statuses = mpijob_node_find(look->pod, "status.containerStatuses");
	const char *first = mpijob__diagnose_case_text(look->pod, "spec.containers[0].name"),
		   *running = NULL;
	int64_t code = -1;

	for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
		const mpijob_node *status = mpijob_node_at(statuses, i);
		if (strcmp(mpijob__diagnose_case_text(status, "name"), first) == 0)
			mpijob_node_int(mpijob_node_find(status, "state.terminated.exitCode"),
			    &code);
		else if (mpijob_node_find(status, "state.running"))
			running = mpijob__diagnose_case_text(status, "name");
	}
	if (look->role == MPIJOB__DIAGNOSE_LAUNCHER_POD && code == 0 && running)
		mpijob__diagnose_case_add(look->this, "sidecar-keeps-launcher", ERROR, RANK_PROGRAM,
		    look->name, NULL,
		    "container %s of pod %s has ended, but %s goes on, so the job never ends",
		    first, look->name, running);
}

static void look_evicted(const struct look *look, const char *message)
{
	if (strstr(message, "ephemeral"))
		mpijob__diagnose_case_add(look->this, "ephemeral-storage", ERROR, RANK_DIED,
		    look->name, NULL, "pod %s was evicted, it took too much of its node's disk: %s",
		    look->name, message);
	else
		mpijob__diagnose_case_add(look->this, "pod-evicted", ERROR, RANK_DIED, look->name,
		    NULL, "pod %s was evicted from node %s%s%s", look->name,
		    mpijob__diagnose_case_text(look->pod, "spec.nodeName"), *message ? ": " : "",
		    message);
}

static void look_reason(const struct look *look)
{
	static const char *const refusals[] = { "OutOf", "UnexpectedAdmissionError", "NodeAffinity",
		"Topology", "NodePorts", "NodeShutdown", "Terminated" };
	const char *reason = mpijob__diagnose_case_text(look->pod, "status.reason");
	const char *message = mpijob__diagnose_case_text(look->pod, "status.message");
	const char *node = mpijob__diagnose_case_text(look->pod, "spec.nodeName");
	const mpijob_node *disrupted = mpijob_condition_find(look->pod, "DisruptionTarget", "True");
	const char *why = mpijob__diagnose_case_text(disrupted, "reason");

	if (strcmp(reason, "Evicted") == 0 || strcmp(why, "TerminationByKubelet") == 0 ||
	    strcmp(why, "EvictionByEvictionAPI") == 0)
		look_evicted(look,
		    *message ? message : mpijob__diagnose_case_text(disrupted, "message"));
	else if (strcmp(why, "PreemptionByScheduler") == 0)
		mpijob__diagnose_case_add(look->this, "pod-preempted", ERROR, RANK_DIED, look->name,
		    NULL, "pod %s had to make room for a pod of higher priority: %s", look->name,
		    mpijob__diagnose_case_text(disrupted, "message"));
	else if (strcmp(reason, "NodeLost") == 0 || strcmp(why, "DeletionByTaintManager") == 0 ||
		 strcmp(mpijob__diagnose_case_text(look->pod, "status.phase"), "Unknown") == 0)
		mpijob__diagnose_case_add(look->this, "node-lost", ERROR, RANK_DIED, look->name,
		    NULL, "pod %s was lost with node %s", look->name, node);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strncmp(reason, refusals[i], strlen(refusals[i])) == 0)
			mpijob__diagnose_case_add(look->this, "node-refused", ERROR, RANK_DIED,
			    look->name, NULL,
			    "node %s did not take, or did not keep, pod %s: %s: %s", node,
			    look->name, reason, message);
}

/* A node that cannot run a pod at all says so in the pod's own reason, and starts no container. */
static void look_never_ran(const struct look *look)
{
	const char *reason = mpijob__diagnose_case_text(look->pod, "status.reason");
	const char *message = mpijob__diagnose_case_text(look->pod, "status.message");
	const mpijob_node *first = mpijob_node_find(look->pod, "status.containerStatuses[0]");

	if (strcmp(mpijob__diagnose_case_text(look->pod, "status.phase"), "Failed") != 0 ||
	    !*reason || !*message || mpijob_node_find(first, "state.terminated") ||
	    mpijob_node_find(first, "lastState.terminated") ||
	    mpijob__diagnose_case_has(look->this, "node-refused") ||
	    mpijob__diagnose_case_has(look->this, "pod-evicted") ||
	    mpijob__diagnose_case_has(look->this, "ephemeral-storage") ||
	    mpijob__diagnose_case_has(look->this, "node-lost"))
		return;
	mpijob__diagnose_case_add(look->this, "pod-failed", ERROR, RANK_NOT_STARTED, look->name,
	    NULL, "pod %s cannot run: %s: %s", look->name, reason, message);
}

static void look_scheduled(const struct look *look)
{
	const mpijob_node *condition = mpijob_condition_find(look->pod, "PodScheduled", "False");
	const char *reason = mpijob__diagnose_case_text(condition, "reason");

	if (strcmp(reason, "SchedulingGated") == 0)
		mpijob__diagnose_case_add(look->this, "scheduling-gated", WARNING, RANK_NOT_PLACED,
		    look->name, NULL,
		    "pod %s is held back by the gates in its spec.schedulingGates", look->name);
	else if (strcmp(reason, "Unschedulable") == 0)
		mpijob__diagnose_case_unschedulable(look->this, look->name,
		    mpijob__diagnose_case_text(condition, "message"));
}

static const char *first_waiting(const struct look *look, const char *path)
{
	const mpijob_node *statuses = mpijob_node_find(look->pod, path);

	for (size_t i = 0; i < mpijob_node_count(statuses); i++)
		if (mpijob_node_find(mpijob_node_at(statuses, i), "state.waiting"))
			return mpijob__diagnose_case_text(mpijob_node_at(statuses, i),
			    "state.waiting.reason");
	return "";
}

static const char *running_init(const struct look *look)
{
	const mpijob_node *statuses = mpijob_node_find(look->pod, "status.initContainerStatuses");

	for (size_t i = 0; i < mpijob_node_count(statuses); i++)
		if (mpijob_node_find(mpijob_node_at(statuses, i), "state.running"))
			return mpijob__diagnose_case_text(mpijob_node_at(statuses, i), "name");
	return NULL;
}

static void add_pending(const struct look *look, const mpijob_node *timed, const char *path,
    const char *what, const char *detail)
{
	int64_t age = mpijob__diagnose_case_age(look->this, timed, path);

	if (age >= PENDING_S)
		mpijob__diagnose_case_add(look->this, "pod-pending", MPIJOB_SEVERITY_INFO,
		    RANK_NOT_STARTED + 5, look->name, NULL,
		    "pod %s has been waiting for %lld s, since %s: %s%s", look->name,
		    (long long)age, mpijob__diagnose_case_text(timed, path), what, detail);
}

/* What a pod that does not run yet waits for; an error that is known is reported elsewhere. */
static void look_pending(const struct look *look)
{
	const mpijob_node *scheduled = mpijob_condition_find(look->pod, "PodScheduled", "True");
	const char *reason = first_waiting(look, "status.containerStatuses"),
		   *init = running_init(look);
	const mpijob_node *doing;

	if (look->this->failed ||
	    strcmp(mpijob__diagnose_case_text(look->pod, "status.phase"), "Pending") != 0 ||
	    (*reason && strcmp(reason, "ContainerCreating") != 0 &&
		strcmp(reason, "PodInitializing") != 0))
		return;
	doing = mpijob__diagnose_events_doing(look->this, look->name);
	if (!*mpijob__diagnose_case_text(look->pod, "spec.nodeName"))
		add_pending(look, look->pod, "metadata.creationTimestamp",
		    "no node has been chosen for it", "");
	else if (doing && strcmp(mpijob__diagnose_case_text(doing, "reason"), "Pulling") == 0)
		add_pending(look, doing, mpijob__diagnose_event_time(doing), "",
		    mpijob__diagnose_case_text(doing, "message"));
	else if (init)
		add_pending(look, look->pod, "status.startTime", "its init container runs: ", init);
	else
		add_pending(look, scheduled ? scheduled : look->pod,
		    scheduled ? "lastTransitionTime" : "status.startTime",
		    "its volumes, network and containers are being set up on node ",
		    mpijob__diagnose_case_text(look->pod, "spec.nodeName"));
}

static void look_pod(const struct look *look)
{
	/* Who is being deleted was ended on purpose. */
	if (!mpijob_node_find(look->pod, "metadata.deletionTimestamp") ||
	    mpijob_condition_find(look->pod, "DisruptionTarget", "True"))
		look_reason(look);
	if (mpijob_node_find(look->pod, "metadata.deletionTimestamp"))
		return;
	look_never_ran(look);
	look_scheduled(look);
	look_pending(look);
	/* An evicted pod's containers were killed with it. */
	if (strcmp(mpijob__diagnose_case_text(look->pod, "status.reason"), "Evicted") == 0)
		return;
	look_containers(look, "status.initContainerStatuses");
	look_containers(look, "status.containerStatuses");
	look_sidecar(look);
}

/* With WaitForWorkersReady a single worker that does not become ready holds everything. */
static void look_waiting_launcher(struct mpijob__diagnose_case *this, size_t launchers)
{
	if (launchers || this->suspended || this->failed ||
	    strcmp(mpijob__diagnose_case_text(this->root, "spec.launcherCreationPolicy"),
		"WaitForWorkersReady") != 0)
		return;
	for (size_t i = 0; i < mpijob_node_count(this->pods); i++) {
		const mpijob_node *pod = mpijob_node_at(this->pods, i);
		const char *name = mpijob__diagnose_case_text(pod, "metadata.name");
		if (mpijob__diagnose_case_role(this, name) == MPIJOB__DIAGNOSE_WORKER_POD &&
		    mpijob_condition_find(pod, "Ready", "False") &&
		    strcmp(mpijob__diagnose_case_text(pod, "status.phase"), "Running") == 0 &&
		    mpijob__diagnose_case_age(this, pod, "status.startTime") >= LONG_S)
			mpijob__diagnose_case_add(this, "launcher-waits", ERROR, RANK_NOT_STARTED,
			    name, "spec.launcherCreationPolicy",
			    "the launcher is made when all workers are ready, but %s runs and does "
			    "not become ready",
			    name);
	}
	if (mpijob__diagnose_case_has(this, "gang-waiting"))
		mpijob__diagnose_case_add(this, "gang-waits-for-launcher", ERROR,
		    RANK_NOT_PLACED - 1, NULL, "spec.launcherCreationPolicy",
		    "the gang scheduler waits for the launcher too, and the launcher is made when "
		    "all workers are ready");
}

void mpijob__diagnose_pods_look(struct mpijob__diagnose_case *this)
{
	size_t launchers = 0;

	for (size_t i = 0; i < mpijob_node_count(this->pods) && this->code == 0; i++) {
		const mpijob_node *pod = mpijob_node_at(this->pods, i);
		struct look look = { this, pod, mpijob__diagnose_case_text(pod, "metadata.name"),
			0 };
		look.role = mpijob__diagnose_case_role(this, look.name);
		launchers += look.role == MPIJOB__DIAGNOSE_LAUNCHER_POD;
		look_pod(&look);
	}
	look_waiting_launcher(this, launchers);
}

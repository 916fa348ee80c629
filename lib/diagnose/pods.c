/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds causes in the status of pods: why a pod does not start, why it ended, and which component
 * ended it. Knows the reasons of waiting and terminated containers, exit codes, the pod's reasons,
 * and the parts of the scheduler's message ("Insufficient cpu", "untolerated taint"), which are the
 * only information on what is missing.
 */
#include "diagnose/diagnose.h"

#include <string.h>

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING

#define PENDING_S 10 /* every pod needs some time to start */
#define LONG_S    60 /* a worker that is not ready after this time is reported */

static const struct {
	const char *id;
	const char *piece;
	const char *message;
} unschedulable[] = {
	{ "gang-waiting", "pod group is not ready",
	    "the gang scheduler does not schedule the pod until its whole group fits" },
	{ "gang-waiting", "in gang unschedulable",
	    "the gang scheduler does not schedule the pod until its whole group fits" },
	{ "gang-waiting", "PodGroup", "the gang scheduler does not schedule the pod" },
	{ "gang-waiting", "pod group", "the gang scheduler does not schedule the pod" },
	{ "gang-waiting", "optimistic rejection in PostFilter",
	    "the gang scheduler does not schedule the pod until its whole group fits" },
	{ "volume-missing", "persistentvolumeclaim", "a volume that the pod needs does not exist" },
	{ "volume-missing", "PersistentVolumeClaim", "a volume that the pod needs does not exist" },
	{ "unschedulable-resources", "Insufficient ", "no node has room for it" },
	{ "unschedulable-resources", "Too many pods", "no node has room for it" },
	{ "unschedulable-nodes", "taint", "no node allows it" },
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
	{ "image-not-pulled", "InvalidImageName", "its image name is invalid" },
	{ "image-not-pulled", "ErrImageNeverPull",
	    "its image is not on the node, and imagePullPolicy is Never" },
	{ "image-not-pulled", "ImageInspectError", "its image cannot be inspected" },
	{ "image-not-pulled", "RegistryUnavailable", "the registry of its image does not answer" },
	{ "object-missing", "CreateContainerConfigError",
	    "something that it refers to is missing" },
	{ "container-not-started", "CreateContainerError", "it cannot be created" },
	{ "container-not-started", "RunContainerError", "it cannot be started" },
	{ "container-not-started", "StartError", "it cannot be started" },
};

struct check {
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

static void not_started(const struct check *check, const char *container, const char *message)
{
	if (mpijob__diagnose_case_no_program(message))
		mpijob__diagnose_case_add(check->this, "program-not-found", ERROR, RANK_NOT_STARTED,
		    check->name, NULL,
		    "container %s of pod %s cannot be started: its command is not in the image: %s",
		    container, check->name, message);
	else
		mpijob__diagnose_case_add(check->this, "container-not-started", ERROR,
		    RANK_NOT_STARTED, check->name, NULL,
		    "container %s of pod %s cannot be started: %s", container, check->name,
		    message);
}

static void check_waiting(const struct check *check, const char *container,
    const mpijob_node *waiting)
{
	const char *reason = mpijob__diagnose_case_text(waiting, "reason"),
		   *message = mpijob__diagnose_case_text(waiting, "message");

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (strcmp(waits[i].reason, reason) != 0)
			continue;
		if (strcmp(waits[i].id, "container-not-started") == 0)
			not_started(check, container, message);
		else
			mpijob__diagnose_case_add(check->this, waits[i].id, ERROR, RANK_NOT_STARTED,
			    check->name, NULL, "container %s of pod %s is waiting: %s%s%s",
			    container, check->name, waits[i].message, *message ? ": " : "",
			    message);
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

/* The launcher ends after any failure, and its log may say why. */
static int rank_of(const struct check *check)
{
	return check->role == MPIJOB__DIAGNOSE_WORKER_POD ? RANK_DIED + 5 : RANK_SYMPTOM + 1;
}

static void check_exit(const struct check *check, const char *container, const mpijob_node *ended,
    int32_t severity, int in_loop)
{
	const char *message = mpijob__diagnose_case_text(ended, "message"),
		   *reason = mpijob__diagnose_case_text(ended, "reason");
	/* The exit code of the launcher is often that of a rank, passed on by mpirun. */
	int rank = check->role == MPIJOB__DIAGNOSE_WORKER_POD ? RANK_DIED : RANK_SYMPTOM + 1;
	int64_t code = 0;

	mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code);
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		if (exits[i].code != code)
			continue;
		mpijob__diagnose_case_add(check->this, exits[i].id, severity, rank, check->name,
		    NULL, "container %s of pod %s %s: exit code %lld%s%s", container, check->name,
		    exits[i].message, (long long)code, *message ? ": " : "", message);
		return;
	}
	/* The finding about the crash loop reports it. */
	if (in_loop)
		return;
	mpijob__diagnose_case_add(check->this, "container-failed", severity, rank_of(check),
	    check->name, NULL, "container %s of pod %s ended with exit code %lld%s%s%s%s",
	    container, check->name, (long long)code,
	    *reason && strcmp(reason, "Error") != 0 ? " " : "",
	    strcmp(reason, "Error") != 0 ? reason : "", *message ? ": " : "", message);
}

static void check_terminated(const struct check *check, const char *container,
    const mpijob_node *ended, int32_t severity, int in_loop)
{
	const char *reason = mpijob__diagnose_case_text(ended, "reason"),
		   *message = mpijob__diagnose_case_text(ended, "message");
	int64_t code = 0;

	mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code);
	if (strcmp(reason, "OOMKilled") == 0)
		mpijob__diagnose_case_add(check->this, "out-of-memory", severity, RANK_DIED,
		    check->name, NULL,
		    "container %s of pod %s was killed: it used more memory than its limit "
		    "(OOMKilled, exit code %lld)",
		    container, check->name, (long long)code);
	else if (strcmp(reason, "StartError") == 0 || strcmp(reason, "ContainerCannotRun") == 0)
		not_started(check, container, message);
	else if (code != 0)
		check_exit(check, container, ended, severity, in_loop);
	else if (check->role == MPIJOB__DIAGNOSE_WORKER_POD &&
		 strcmp(mpijob__diagnose_case_text(check->pod, "status.phase"), "Succeeded") == 0)
		mpijob__diagnose_case_add(check->this, "worker-ended", ERROR, RANK_DIED,
		    check->name, NULL,
		    "container %s of worker %s ended with exit code 0; a worker must keep running",
		    container, check->name);
}

static void check_restart_loop(const struct check *check, const char *container,
    const mpijob_node *status)
{
	int64_t restarts = 0, code = 0;

	mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	mpijob_node_int(mpijob_node_find(status, "lastState.terminated.exitCode"), &code);
	mpijob__diagnose_case_add(check->this, "crash-loop", ERROR, rank_of(check), check->name,
	    NULL,
	    "container %s of pod %s keeps ending, last with exit code %lld: restarted %lld times",
	    container, check->name, (long long)code, (long long)restarts);
}

static void check_container(const struct check *check, const mpijob_node *status)
{
	const char *name = mpijob__diagnose_case_text(status, "name");
	const mpijob_node *waiting = mpijob_node_find(status, "state.waiting");
	const mpijob_node *ended = mpijob_node_find(status, "state.terminated");
	const mpijob_node *before = mpijob_node_find(status, "lastState.terminated");
	int loops = strcmp(mpijob__diagnose_case_text(waiting, "reason"), "CrashLoopBackOff") == 0;

	if (loops)
		check_restart_loop(check, name, status);
	else if (waiting)
		check_waiting(check, name, waiting);
	if (ended)
		check_terminated(check, name, ended, ERROR, 0);
	if (before)
		check_terminated(check, name, before, waiting ? ERROR : WARNING, loops);
}

static void check_containers(const struct check *check, const char *path)
{
	const mpijob_node *statuses = mpijob_node_find(check->pod, path);

	for (size_t i = 0; i < mpijob_node_count(statuses); i++)
		check_container(check, mpijob_node_at(statuses, i));
}

/* A second container that keeps running prevents the end of the launcher's Job. */
static void check_sidecar(const struct check *check)
{
	const mpijob_node *statuses = mpijob_node_find(check->pod, "status.containerStatuses");
	const char *first = mpijob__diagnose_case_text(check->pod, "spec.containers[0].name"),
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
	if (check->role == MPIJOB__DIAGNOSE_LAUNCHER_POD && code == 0 && running)
		mpijob__diagnose_case_add(check->this, "sidecar-keeps-launcher", ERROR,
		    RANK_PROGRAM, check->name, NULL,
		    "container %s of pod %s has ended, but %s continues, so the job never ends",
		    first, check->name, running);
}

static void check_evicted(const struct check *check, const char *message)
{
	if (strstr(message, "ephemeral"))
		mpijob__diagnose_case_add(check->this, "ephemeral-storage", ERROR, RANK_DIED,
		    check->name, NULL,
		    "pod %s was evicted, it used too much disk space of its node: %s", check->name,
		    message);
	else
		mpijob__diagnose_case_add(check->this, "pod-evicted", ERROR, RANK_DIED, check->name,
		    NULL, "pod %s was evicted from node %s%s%s", check->name,
		    mpijob__diagnose_case_text(check->pod, "spec.nodeName"), *message ? ": " : "",
		    message);
}

static void check_reason(const struct check *check)
{
	static const char *const refusals[] = { "OutOf", "UnexpectedAdmissionError", "NodeAffinity",
		"Topology", "NodePorts", "NodeShutdown", "Terminated" };
	const char *reason = mpijob__diagnose_case_text(check->pod, "status.reason");
	const char *message = mpijob__diagnose_case_text(check->pod, "status.message");
	const char *node = mpijob__diagnose_case_text(check->pod, "spec.nodeName");
	const mpijob_node *disrupted =
	    mpijob_condition_find(check->pod, "DisruptionTarget", "True");
	const char *why = mpijob__diagnose_case_text(disrupted, "reason");

	if (strcmp(reason, "Evicted") == 0 || strcmp(why, "TerminationByKubelet") == 0 ||
	    strcmp(why, "EvictionByEvictionAPI") == 0)
		check_evicted(check,
		    *message ? message : mpijob__diagnose_case_text(disrupted, "message"));
	else if (strcmp(why, "PreemptionByScheduler") == 0)
		mpijob__diagnose_case_add(check->this, "pod-preempted", ERROR, RANK_DIED,
		    check->name, NULL, "pod %s was preempted by a pod of higher priority: %s",
		    check->name, mpijob__diagnose_case_text(disrupted, "message"));
	else if (strcmp(reason, "NodeLost") == 0 || strcmp(why, "DeletionByTaintManager") == 0 ||
		 strcmp(mpijob__diagnose_case_text(check->pod, "status.phase"), "Unknown") == 0)
		mpijob__diagnose_case_add(check->this, "node-lost", ERROR, RANK_DIED, check->name,
		    NULL, "pod %s was lost with node %s", check->name, node);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strncmp(reason, refusals[i], strlen(refusals[i])) == 0)
			mpijob__diagnose_case_add(check->this, "node-refused", ERROR, RANK_DIED,
			    check->name, NULL, "node %s rejected or removed pod %s: %s: %s", node,
			    check->name, reason, message);
}

/* A node that cannot run a pod sets the pod's reason and starts no container. */
static void check_never_ran(const struct check *check)
{
	const char *reason = mpijob__diagnose_case_text(check->pod, "status.reason");
	const char *message = mpijob__diagnose_case_text(check->pod, "status.message");
	const mpijob_node *first = mpijob_node_find(check->pod, "status.containerStatuses[0]");

	if (strcmp(mpijob__diagnose_case_text(check->pod, "status.phase"), "Failed") != 0 ||
	    !*reason || !*message || mpijob_node_find(first, "state.terminated") ||
	    mpijob_node_find(first, "lastState.terminated") ||
	    mpijob__diagnose_case_has(check->this, "node-refused") ||
	    mpijob__diagnose_case_has(check->this, "pod-evicted") ||
	    mpijob__diagnose_case_has(check->this, "ephemeral-storage") ||
	    mpijob__diagnose_case_has(check->this, "node-lost"))
		return;
	mpijob__diagnose_case_add(check->this, "pod-failed", ERROR, RANK_NOT_STARTED, check->name,
	    NULL, "pod %s cannot run: %s: %s", check->name, reason, message);
}

static void check_scheduled(const struct check *check)
{
	const mpijob_node *condition = mpijob_condition_find(check->pod, "PodScheduled", "False");
	const char *reason = mpijob__diagnose_case_text(condition, "reason");

	if (strcmp(reason, "SchedulingGated") == 0)
		mpijob__diagnose_case_add(check->this, "scheduling-gated", WARNING, RANK_NOT_PLACED,
		    check->name, NULL,
		    "pod %s is not scheduled because of its spec.schedulingGates", check->name);
	else if (strcmp(reason, "Unschedulable") == 0)
		mpijob__diagnose_case_unschedulable(check->this, check->name,
		    mpijob__diagnose_case_text(condition, "message"));
}

static const char *first_waiting(const struct check *check, const char *path)
{
	const mpijob_node *statuses = mpijob_node_find(check->pod, path);

	for (size_t i = 0; i < mpijob_node_count(statuses); i++)
		if (mpijob_node_find(mpijob_node_at(statuses, i), "state.waiting"))
			return mpijob__diagnose_case_text(mpijob_node_at(statuses, i),
			    "state.waiting.reason");
	return "";
}

static const char *running_init(const struct check *check)
{
	const mpijob_node *statuses = mpijob_node_find(check->pod, "status.initContainerStatuses");

	for (size_t i = 0; i < mpijob_node_count(statuses); i++)
		if (mpijob_node_find(mpijob_node_at(statuses, i), "state.running"))
			return mpijob__diagnose_case_text(mpijob_node_at(statuses, i), "name");
	return NULL;
}

static void add_pending(const struct check *check, const mpijob_node *timed, const char *path,
    const char *what, const char *detail)
{
	int64_t age = mpijob__diagnose_case_age(check->this, timed, path);

	if (age >= PENDING_S)
		mpijob__diagnose_case_add(check->this, "pod-pending", MPIJOB_SEVERITY_INFO,
		    RANK_NOT_STARTED + 5, check->name, NULL,
		    "pod %s has been waiting for %lld s, since %s: %s%s", check->name,
		    (long long)age, mpijob__diagnose_case_text(timed, path), what, detail);
}

/* Report what a pending pod waits for; known errors are reported elsewhere. */
static void check_pending(const struct check *check)
{
	const mpijob_node *scheduled = mpijob_condition_find(check->pod, "PodScheduled", "True");
	const char *reason = first_waiting(check, "status.containerStatuses"),
		   *init = running_init(check);
	const mpijob_node *doing;

	if (check->this->failed ||
	    strcmp(mpijob__diagnose_case_text(check->pod, "status.phase"), "Pending") != 0 ||
	    (*reason && strcmp(reason, "ContainerCreating") != 0 &&
		strcmp(reason, "PodInitializing") != 0))
		return;
	doing = mpijob__diagnose_events_activity(check->this, check->name);
	if (!*mpijob__diagnose_case_text(check->pod, "spec.nodeName"))
		add_pending(check, check->pod, "metadata.creationTimestamp",
		    "no node has been chosen for it", "");
	else if (doing && strcmp(mpijob__diagnose_case_text(doing, "reason"), "Pulling") == 0)
		add_pending(check, doing, mpijob__diagnose_event_time(doing), "",
		    mpijob__diagnose_case_text(doing, "message"));
	else if (init)
		add_pending(check, check->pod, "status.startTime",
		    "its init container runs: ", init);
	else
		add_pending(check, scheduled ? scheduled : check->pod,
		    scheduled ? "lastTransitionTime" : "status.startTime",
		    "its volumes, network and containers are being set up on node ",
		    mpijob__diagnose_case_text(check->pod, "spec.nodeName"));
}

static void check_pod(const struct check *check)
{
	/* A pod that is being deleted was ended on purpose. */
	if (!mpijob_node_find(check->pod, "metadata.deletionTimestamp") ||
	    mpijob_condition_find(check->pod, "DisruptionTarget", "True"))
		check_reason(check);
	if (mpijob_node_find(check->pod, "metadata.deletionTimestamp"))
		return;
	check_never_ran(check);
	check_scheduled(check);
	check_pending(check);
	/* The containers of an evicted pod were killed by the eviction. */
	if (strcmp(mpijob__diagnose_case_text(check->pod, "status.reason"), "Evicted") == 0)
		return;
	check_containers(check, "status.initContainerStatuses");
	check_containers(check, "status.containerStatuses");
	check_sidecar(check);
}

/* With WaitForWorkersReady a single worker that does not become ready blocks the job. */
static void check_waiting_launcher(struct mpijob__diagnose_case *this, size_t launchers)
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
			    "the launcher is created when all workers are ready, but %s runs and "
			    "does not become ready",
			    name);
	}
	if (mpijob__diagnose_case_has(this, "gang-waiting"))
		mpijob__diagnose_case_add(this, "gang-waits-for-launcher", ERROR,
		    RANK_NOT_PLACED - 1, NULL, "spec.launcherCreationPolicy",
		    "the gang scheduler waits for the launcher too, but the launcher is created "
		    "only when all workers are ready");
}

void mpijob__diagnose_check_pods(struct mpijob__diagnose_case *this)
{
	size_t launchers = 0;

	for (size_t i = 0; i < mpijob_node_count(this->pods) && this->code == 0; i++) {
		const mpijob_node *pod = mpijob_node_at(this->pods, i);
		struct check check = { this, pod, mpijob__diagnose_case_text(pod, "metadata.name"),
			0 };
		check.role = mpijob__diagnose_case_role(this, check.name);
		launchers += check.role == MPIJOB__DIAGNOSE_LAUNCHER_POD;
		check_pod(&check);
	}
	check_waiting_launcher(this, launchers);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life cycle of a pod: first sandbox, volumes and hosts file; then the init containers in
 * sequence; then all containers. This file decides when containers restart, how a deletion respects
 * the grace period, and when the pod is terminated.
 */
#include "local/pod.h"
#include "base/api.h"
#include "base/clock.h"
#include "base/text.h"
#include "local/deletion.h"
#include "local/verbs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BACKOFF_MS  (5 * 60 * 1000)
#define DEFAULT_GRACE_S 30
#define START_RETRY_MS  1000

/* ---- create ---- */

static int init_containers(struct mpijob__local_pod *pod)
{
	const mpijob_node *lists[] = { mpijob_node_get(pod->spec, "initContainers"),
		mpijob_node_get(pod->spec, "containers") };

	pod->init_count = mpijob_node_count(lists[0]);
	pod->count = pod->init_count + mpijob_node_count(lists[1]);
	pod->containers = calloc(pod->count + 1, sizeof(*pod->containers));
	if (!pod->containers)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < pod->count; i++) {
		struct mpijob__local_container *container = &pod->containers[i];
		int init = i < pod->init_count;

		container->source.fd = -1;
		container->pod = pod;
		container->spec = mpijob_node_at(lists[!init], init ? i : i - pod->init_count);
		container->name = mpijob_node_string(mpijob_node_get(container->spec, "name"));
		container->init = init;
		container->waiting = pod->init_count > 0 ? "PodInitializing" : "ContainerCreating";
		container->readiness.next_ms = -1;
	}
	return 0;
}

static int copy_identity(struct mpijob__local_pod *pod, const struct mpijob__local_object *object)
{
	const char *hostname;

	pod->doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
	pod->uid = strdup(object->uid);
	pod->namespace_ = strdup(object->namespace_);
	pod->name = strdup(object->name);
	if (!pod->doc || !pod->uid || !pod->namespace_ || !pod->name)
		return MPIJOB_ERR_NOMEM;
	pod->spec = mpijob_node_get(mpijob_doc_root(pod->doc), "spec");
	pod->subdomain = mpijob_node_string(mpijob_node_get(pod->spec, "subdomain"));
	if (pod->subdomain && !*pod->subdomain)
		pod->subdomain = NULL;
	mpijob_node_bool(mpijob_node_get(pod->spec, "hostNetwork"), &pod->host_network);
	hostname = mpijob_node_string(mpijob_node_get(pod->spec, "hostname"));
	/* A host name is a label: at most 63 bytes, no dots, no '-' at the end. */
	pod->hostname =
	    mpijob__base_text_format("%.63s", hostname && *hostname ? hostname : object->name);
	if (!pod->hostname)
		return MPIJOB_ERR_NOMEM;
	pod->hostname[strcspn(pod->hostname, ".")] = 0;
	for (size_t len = strlen(pod->hostname); len > 1 && pod->hostname[len - 1] == '-'; len--)
		pod->hostname[len - 1] = 0;
	return 0;
}

struct mpijob__local_pod *mpijob__local_pod_new(struct mpijob__local_kubelet *kubelet,
    struct mpijob_local *local, const struct mpijob__local_object *object, uint64_t id)
{
	struct mpijob__local_pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;
	pod->kubelet = kubelet;
	pod->local = local;
	pod->id = id;
	pod->due_ms = -1;
	pod->dirty = 1;
	pod->started_ms = mpijob__base_clock_wall_ms();
	if (copy_identity(pod, object) || init_containers(pod) ||
	    mpijob__local_pod_volumes_set_up(pod)) {
		mpijob__local_pod_free(pod);
		return NULL;
	}
	return pod;
}

void mpijob__local_pod_free(struct mpijob__local_pod *pod)
{
	if (!pod)
		return;
	for (size_t i = 0; pod->containers && i < pod->count; i++)
		mpijob__local_container_clear(&pod->containers[i]);
	free(pod->containers);
	free(pod->volumes);
	free(pod->message);
	free(pod->hostname);
	free(pod->uid);
	free(pod->namespace_);
	free(pod->name);
	mpijob_doc_free(pod->doc);
	free(pod);
}

int mpijob__local_pod_is_worker(const struct mpijob__local_pod *pod)
{
	const char *role = mpijob_node_string(mpijob_node_find(mpijob_doc_root(pod->doc),
	    "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_ROLE "]"));

	return role && strcmp(role, "worker") == 0;
}

int mpijob__local_pod_is_terminated(const struct mpijob__local_pod *pod)
{
	return pod->stage == MPIJOB__LOCAL_POD_TERMINATED;
}

struct mpijob__local_container *mpijob__local_pod_find_container(struct mpijob__local_pod *pod,
    const char *name)
{
	for (size_t i = 0; i < pod->count; i++) {
		struct mpijob__local_container *container = &pod->containers[i];

		if (name ? container->name && strcmp(container->name, name) == 0 : !container->init)
			return container;
	}
	return NULL;
}

/* ---- start ---- */

static int assign_node(struct mpijob__local_pod *pod)
{
	struct mpijob__local_object *object =
	    mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	mpijob_doc *doc = object ? mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL) : NULL;

	if (!object)
		return 0;
	mpijob_node_put_string(doc, mpijob_doc_make(doc, "spec"), "nodeName",
	    MPIJOB__LOCAL_NODE_NAME);
	return mpijob__local_verbs_store(pod->local, object, doc);
}

static int create_sandbox(struct mpijob__local_pod *pod)
{
	struct node_sandbox request = { 0 };
	uint64_t number = 0;
	int rc = mpijob__local_kubelet_hosts_group(pod->kubelet, pod->namespace_, &request.group);

	request.id = pod->id;
	request.hostname = pod->hostname;
	request.address = pod->host_network ? NULL : pod->address;
	request.host_network = pod->host_network;
	if (!rc)
		rc = mpijob__local_node_client_sandbox_create(mpijob__local_kubelet_node(
								  pod->kubelet),
		    &request, &number);
	return rc ? rc
		  : mpijob__local_kubelet_await(pod->kubelet, number, MPIJOB__LOCAL_REQUEST_SANDBOX,
			pod->id, 0);
}

int mpijob__local_pod_start(struct mpijob__local_pod *pod)
{
	int rc = assign_node(pod);

	mpijob__local_pod_fields_check(pod);
	if (rc || pod->reason)
		return rc;
	return create_sandbox(pod);
}

void mpijob__local_pod_fail(struct mpijob__local_pod *pod, const char *reason, char *message)
{
	if (pod->reason) {
		free(message);
		return;
	}
	pod->reason = reason;
	pod->message = message;
	pod->dirty = 1;
	mpijob__local_notice(pod->local, MPIJOB_SEVERITY_ERROR, "pod-failed", NULL,
	    mpijob__base_text_format("pod %s cannot run: %s", pod->name,
		message ? message : reason));
}

/* ---- run ---- */

static const char *restart_policy(const struct mpijob__local_pod *pod)
{
	const char *policy = mpijob_node_string(mpijob_node_get(pod->spec, "restartPolicy"));

	return policy && *policy ? policy : "Always";
}

static int will_restart(const struct mpijob__local_container *container)
{
	const char *policy = restart_policy(container->pod);

	if (container->terminated.code == 0 && (container->init || strcmp(policy, "Always") != 0))
		return 0;
	return strcmp(policy, "Never") != 0;
}

/* The first restart is immediate, the second after the base delay, which then doubles. */
static int64_t restart_delay(const struct mpijob__local_container *container)
{
	int64_t wait = container->pod->local->backoff_ms;

	if (container->restarts == 0)
		return 0;
	for (int64_t i = 1; i < container->restarts && wait < MAX_BACKOFF_MS; i++)
		wait *= 2;
	return wait < MAX_BACKOFF_MS ? wait : MAX_BACKOFF_MS;
}

/*
 * The first call only sets due_ms, so that the status with the terminated state is written first:
 * the Job controller may have to count the end and delete the pod before the container waits again.
 */
static void schedule_restart(struct mpijob__local_container *container, int64_t clock_ms)
{
	int64_t delay = restart_delay(container);

	if (container->due_ms == 0) {
		container->due_ms = clock_ms + (delay > 0 ? delay : 1);
		return;
	}
	if (delay == 0 && clock_ms < container->due_ms)
		return;
	free(container->last_terminated.message);
	container->last_terminated = container->terminated;
	memset(&container->terminated, 0, sizeof(container->terminated));
	container->state = MPIJOB__LOCAL_CONTAINER_WAITING;
	mpijob__local_container_set_waiting(container, "CrashLoopBackOff", NULL);
}

static int start_due(struct mpijob__local_container *container, int64_t clock_ms)
{
	int rc;

	if (container->state != MPIJOB__LOCAL_CONTAINER_WAITING || clock_ms < container->due_ms)
		return 0;
	container->due_ms = 0;
	rc = mpijob__local_container_start(container);
	if (rc != MPIJOB_ERR_IO)
		return rc;
	/* For example, no descriptors are left. If the node has ended, its socket reports that. */
	mpijob__local_container_set_waiting(container, "CreateContainerError",
	    strdup("its output pipe cannot be created"));
	container->due_ms = clock_ms + START_RETRY_MS;
	return 0;
}

/* Restart and start one container if it is due. */
static int run_container(struct mpijob__local_container *container, int64_t clock_ms)
{
	struct mpijob__local_pod *pod = container->pod;
	int rc;

	if (container->state == MPIJOB__LOCAL_CONTAINER_TERMINATED && will_restart(container))
		schedule_restart(container, clock_ms);
	rc = start_due(container, clock_ms);
	if (container->due_ms > clock_ms)
		pod->due_ms = mpijob__base_clock_earlier(pod->due_ms, container->due_ms);
	return rc;
}

static int has_succeeded(const struct mpijob__local_container *container)
{
	return container->state == MPIJOB__LOCAL_CONTAINER_TERMINATED &&
	       container->terminated.code == 0;
}

static int is_finally_terminated(const struct mpijob__local_container *container)
{
	return container->state == MPIJOB__LOCAL_CONTAINER_TERMINATED && !will_restart(container);
}

/* 1 when all init containers have succeeded. */
static int run_init_containers(struct mpijob__local_pod *pod, int64_t clock_ms, int *error)
{
	for (size_t i = 0; i < pod->init_count; i++) {
		struct mpijob__local_container *container = &pod->containers[i];

		if (has_succeeded(container))
			continue;
		*error = run_container(container, clock_ms);
		return 0;
	}
	return 1;
}

static int init_failed(const struct mpijob__local_pod *pod)
{
	for (size_t i = 0; i < pod->init_count; i++) {
		if (is_finally_terminated(&pod->containers[i]) &&
		    !has_succeeded(&pod->containers[i]))
			return 1;
	}
	return 0;
}

static int all_terminated(const struct mpijob__local_pod *pod)
{
	for (size_t i = pod->init_count; i < pod->count; i++) {
		if (!is_finally_terminated(&pod->containers[i]))
			return 0;
	}
	return 1;
}

static int deadline_exceeded(struct mpijob__local_pod *pod, int64_t clock_ms)
{
	int64_t seconds = -1;
	int64_t left;

	if (!mpijob_node_int(mpijob_node_get(pod->spec, "activeDeadlineSeconds"), &seconds))
		return 0;
	left = pod->started_ms + seconds * 1000 - mpijob__base_clock_wall_ms();
	if (left <= 0)
		return 1;
	pod->due_ms = mpijob__base_clock_earlier(pod->due_ms, clock_ms + left);
	return 0;
}

static int run_containers(struct mpijob__local_pod *pod, int64_t clock_ms)
{
	int rc = 0;

	for (size_t i = pod->init_count; i < pod->count && !rc; i++) {
		struct mpijob__local_container *container = &pod->containers[i];

		rc = run_container(container, clock_ms);
		if (!rc)
			rc = mpijob__local_pod_probe_run(container, clock_ms, &pod->due_ms);
	}
	return rc;
}

/* ---- termination ---- */

static int has_running_containers(const struct mpijob__local_pod *pod)
{
	for (size_t i = 0; i < pod->count; i++) {
		if (pod->containers[i].state == MPIJOB__LOCAL_CONTAINER_STARTING ||
		    pod->containers[i].state == MPIJOB__LOCAL_CONTAINER_RUNNING)
			return 1;
	}
	return 0;
}

static int signal_all(struct mpijob__local_pod *pod, int signo)
{
	int rc = 0;

	for (size_t i = 0; i < pod->count && !rc; i++) {
		if (pod->containers[i].signalled != signo)
			rc = mpijob__local_container_signal(&pod->containers[i], signo);
	}
	return rc;
}

static int64_t grace_ms(const struct mpijob__local_pod *pod)
{
	const struct mpijob__local_object *object =
	    mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	int64_t seconds = DEFAULT_GRACE_S;

	mpijob_node_int(mpijob_node_get(pod->spec, "terminationGracePeriodSeconds"), &seconds);
	if (object)
		mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc),
				    "metadata.deletionGracePeriodSeconds"),
		    &seconds);
	return pod->object_deleted ? 0 : seconds * 1000;
}

static void start_termination(struct mpijob__local_pod *pod, int64_t clock_ms)
{
	pod->stage = MPIJOB__LOCAL_POD_TERMINATING;
	pod->kill_ms = clock_ms + grace_ms(pod);
}

/* Free the sandbox and the volumes. No container starts after this. */
static int release_resources(struct mpijob__local_pod *pod)
{
	uint64_t number = 0;
	struct node_client *node = mpijob__local_kubelet_node(pod->kubelet);
	int rc = 0;

	if (pod->sandbox_released)
		return 0;
	pod->sandbox_released = 1;
	rc = mpijob__local_node_client_sandbox_destroy(node, pod->id, &number);
	if (!rc)
		rc = mpijob__local_kubelet_await(pod->kubelet, number,
		    MPIJOB__LOCAL_REQUEST_IGNORED, 0, 0);
	for (size_t i = 0; i < pod->volume_count && !rc; i++) {
		if (!pod->volumes[i].requested)
			continue;
		rc = mpijob__local_node_client_volume_remove(node, pod->volumes[i].id, &number);
		if (!rc)
			rc = mpijob__local_kubelet_await(pod->kubelet, number,
			    MPIJOB__LOCAL_REQUEST_IGNORED, 0, 0);
	}
	return rc;
}

static int terminate_containers(struct mpijob__local_pod *pod, int64_t clock_ms)
{
	int rc;

	if (!has_running_containers(pod)) {
		pod->stage = MPIJOB__LOCAL_POD_TERMINATED;
		return 0;
	}
	if (pod->kill_ms >= 0 && clock_ms >= pod->kill_ms)
		rc = signal_all(pod, SIGKILL);
	else
		rc = signal_all(pod, SIGTERM);
	if (pod->kill_ms > clock_ms)
		pod->due_ms = mpijob__base_clock_earlier(pod->due_ms, pod->kill_ms);
	return rc;
}

/* Release the resources, write the final status, and remove the object if it is being deleted. */
static int finish_termination(struct mpijob__local_pod *pod)
{
	struct mpijob__local_object *object =
	    mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	int rc = release_resources(pod);

	if (rc || !object)
		return rc;
	rc = mpijob__local_pod_status_write(pod);
	if (rc || !pod->deleting)
		return rc;
	return mpijob__local_deletion_run(pod->local, object, MPIJOB__LOCAL_DELETE_BACKGROUND, 0);
}

/* ---- sync ---- */

static int is_set_up(struct mpijob__local_pod *pod)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		if (!pod->volumes[i].written)
			return 0;
	}
	return pod->sandbox_ready && mpijob__local_kubelet_hosts_written(pod->kubelet,
					 pod->namespace_) >= pod->hosts_version;
}

static int set_up(struct mpijob__local_pod *pod)
{
	char *missing = NULL;
	int rc = mpijob__local_pod_volumes_write(pod, &missing);

	if (!rc && missing && pod->stage == MPIJOB__LOCAL_POD_SETUP) {
		for (size_t i = 0; i < pod->count; i++)
			mpijob__local_container_set_waiting(&pod->containers[i],
			    "ContainerCreating", strdup(missing));
	}
	free(missing);
	if (!rc && pod->stage == MPIJOB__LOCAL_POD_SETUP && is_set_up(pod))
		pod->stage = MPIJOB__LOCAL_POD_RUNNING;
	return rc;
}

static int run(struct mpijob__local_pod *pod, int64_t clock_ms)
{
	int rc = 0;

	if (run_init_containers(pod, clock_ms, &rc))
		rc = run_containers(pod, clock_ms);
	if (rc)
		return rc;
	if (deadline_exceeded(pod, clock_ms)) {
		mpijob__local_pod_fail(pod, MPIJOB__BASE_API_REASON_DEADLINE,
		    mpijob__base_text_format(
			"Pod was active on the node longer than the specified deadline"));
		start_termination(pod, clock_ms);
	} else if (init_failed(pod) || all_terminated(pod)) {
		start_termination(pod, clock_ms);
	}
	return 0;
}

int mpijob__local_pod_sync(struct mpijob__local_pod *pod, int64_t clock_ms)
{
	int rc = 0;

	pod->dirty = 0;
	pod->due_ms = -1;
	if (pod->stage != MPIJOB__LOCAL_POD_TERMINATED &&
	    (pod->deleting || pod->object_deleted || pod->reason) &&
	    pod->stage != MPIJOB__LOCAL_POD_TERMINATING)
		start_termination(pod, clock_ms);
	if (pod->object_deleted && pod->kill_ms > clock_ms)
		pod->kill_ms = clock_ms;
	if (pod->stage == MPIJOB__LOCAL_POD_SETUP || pod->stage == MPIJOB__LOCAL_POD_RUNNING)
		rc = set_up(pod);
	if (!rc && pod->stage == MPIJOB__LOCAL_POD_RUNNING)
		rc = run(pod, clock_ms);
	if (rc == MPIJOB_ERR_USAGE) {
		mpijob__local_pod_fail(pod, "TooLarge",
		    mpijob__base_text_format("a volume or a command is larger than 16 MiB"));
		return 0;
	}
	if (!rc && pod->stage == MPIJOB__LOCAL_POD_TERMINATING)
		rc = terminate_containers(pod, clock_ms);
	if (rc)
		return rc;
	return pod->stage == MPIJOB__LOCAL_POD_TERMINATED ? finish_termination(pod)
							  : mpijob__local_pod_status_write(pod);
}

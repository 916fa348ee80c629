/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a pod: sandbox, volumes and names first, then its init containers one after the
 * other, then its containers at once; who starts again and when; how a deletion gives them time to
 * end; and when nothing is left to be run.
 */
#include "pod.h"
#include "base/clock.h"
#include "base/text.h"
#include "deletion.h"
#include "verbs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BACKOFF_MS  (5 * 60 * 1000)
#define DEFAULT_GRACE_S 30
#define START_AGAIN_MS  1000

/* Making. */

static int make_containers(struct pod *pod)
{
	const mpijob_node *lists[] = { mpijob_node_get(pod->spec, "initContainers"),
		mpijob_node_get(pod->spec, "containers") };

	pod->init_count = mpijob_node_count(lists[0]);
	pod->count = pod->init_count + mpijob_node_count(lists[1]);
	pod->containers = calloc(pod->count + 1, sizeof(*pod->containers));
	if (!pod->containers)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < pod->count; i++) {
		struct container *container = &pod->containers[i];
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

static int copy_identity(struct pod *pod, const struct object *object)
{
	const char *hostname;

	pod->doc = mpijob_doc_clone(object->doc);
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
	/* A host name is a label: no dots, at most 63 bytes. */
	pod->hostname =
	    mpijob__base_text_format("%.63s", hostname && *hostname ? hostname : object->name);
	if (!pod->hostname)
		return MPIJOB_ERR_NOMEM;
	pod->hostname[strcspn(pod->hostname, ".")] = 0;
	/* Nor does it end in a dash, as a long name that was cut may. */
	for (size_t len = strlen(pod->hostname); len > 1 && pod->hostname[len - 1] == '-'; len--)
		pod->hostname[len - 1] = 0;
	return 0;
}

struct pod *mpijob__local_pod_new(struct kubelet *kubelet, struct mpijob_local *local,
    const struct object *object, uint64_t id)
{
	struct pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;
	pod->kubelet = kubelet;
	pod->local = local;
	pod->id = id;
	pod->due_ms = -1;
	pod->dirty = 1;
	pod->started_ms = mpijob__base_clock_wall_ms();
	if (copy_identity(pod, object) || make_containers(pod) ||
	    mpijob__local_pod_volumes_set_up(pod)) {
		mpijob__local_pod_free(pod);
		return NULL;
	}
	return pod;
}

void mpijob__local_pod_free(struct pod *pod)
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

int mpijob__local_pod_is_worker(const struct pod *pod)
{
	const char *role = mpijob_node_string(mpijob_node_find(mpijob_doc_root(pod->doc),
	    "metadata.labels[training.kubeflow.org/job-role]"));

	return role && strcmp(role, "worker") == 0;
}

int mpijob__local_pod_is_over(const struct pod *pod)
{
	return pod->stage == POD_OVER;
}

struct container *mpijob__local_pod_find_container(struct pod *pod, const char *name)
{
	for (size_t i = 0; i < pod->count; i++) {
		struct container *container = &pod->containers[i];

		if (name ? container->name && strcmp(container->name, name) == 0 : !container->init)
			return container;
	}
	return NULL;
}

/* Beginning. */

static int assign_node(struct pod *pod)
{
	struct object *object = mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	mpijob_doc *doc = object ? mpijob_doc_clone(object->doc) : NULL;

	if (!object)
		return 0;
	mpijob_node_put_string(doc, mpijob_doc_make(doc, "spec"), "nodeName", NODE_NAME);
	return mpijob__local_verbs_store(pod->local, object, doc);
}

static int ask_sandbox(struct pod *pod)
{
	struct node_sandbox request = { 0 };
	uint64_t number = 0;
	int error = mpijob__local_kubelet_group(pod->kubelet, pod->namespace_, &request.group);

	request.id = pod->id;
	request.hostname = pod->hostname;
	request.address = pod->host_network ? NULL : pod->address;
	request.host_network = pod->host_network;
	if (!error)
		error = mpijob__local_node_client_sandbox_create(mpijob__local_kubelet_node(
								     pod->kubelet),
		    &request, &number);
	return error ? error
		     : mpijob__local_kubelet_expect(pod->kubelet, number, ASK_SANDBOX, pod->id, 0);
}

int mpijob__local_pod_begin(struct pod *pod)
{
	int error = assign_node(pod);

	mpijob__local_pod_fields_check(pod);
	if (error || pod->reason)
		return error;
	return ask_sandbox(pod);
}

void mpijob__local_pod_fail(struct pod *pod, const char *reason, char *message)
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

/* Running. */

static const char *restart_policy(const struct pod *pod)
{
	const char *policy = mpijob_node_string(mpijob_node_get(pod->spec, "restartPolicy"));

	return policy && *policy ? policy : "Always";
}

static int starts_again(const struct container *container)
{
	const char *policy = restart_policy(container->pod);

	if (container->ending.code == 0 && (container->init || strcmp(policy, "Always") != 0))
		return 0;
	return strcmp(policy, "Never") != 0;
}

/* The first restart comes at once, the next after the base, then doubling. */
static int64_t restart_delay(const struct container *container)
{
	int64_t wait = container->pod->local->backoff_ms;

	if (container->restarts == 0)
		return 0;
	for (int64_t i = 1; i < container->restarts && wait < MAX_BACKOFF_MS; i++)
		wait *= 2;
	return wait < MAX_BACKOFF_MS ? wait : MAX_BACKOFF_MS;
}

/*
 * An end is first told as it is; only the next round makes a waiting container of it, so that the
 * Job controller can say before that it was one end too many.
 */
static void schedule_restart(struct container *container, int64_t clock_ms)
{
	int64_t delay = restart_delay(container);

	if (container->due_ms == 0) {
		container->due_ms = clock_ms + (delay > 0 ? delay : 1);
		return;
	}
	if (delay == 0 && clock_ms < container->due_ms)
		return;
	free(container->last.message);
	container->last = container->ending;
	memset(&container->ending, 0, sizeof(container->ending));
	container->state = CONTAINER_WAITING;
	mpijob__local_container_wait(container, "CrashLoopBackOff", NULL);
}

static int start_due(struct container *container, int64_t clock_ms)
{
	int error;

	if (container->state != CONTAINER_WAITING || clock_ms < container->due_ms)
		return 0;
	container->due_ms = 0;
	error = mpijob__local_container_start(container);
	if (error != MPIJOB_ERR_IO)
		return error;
	/* No descriptors left, for example; should the node be gone, its socket tells. */
	mpijob__local_container_wait(container, "CreateContainerError",
	    strdup("its output cannot be connected"));
	container->due_ms = clock_ms + START_AGAIN_MS;
	return 0;
}

/* One container's turn. */
static int run_container(struct container *container, int64_t clock_ms)
{
	struct pod *pod = container->pod;
	int error;

	if (container->state == CONTAINER_ENDED && starts_again(container))
		schedule_restart(container, clock_ms);
	error = start_due(container, clock_ms);
	if (container->due_ms > clock_ms)
		pod->due_ms = mpijob__local_sooner(pod->due_ms, container->due_ms);
	return error;
}

static int has_ended_well(const struct container *container)
{
	return container->state == CONTAINER_ENDED && container->ending.code == 0;
}

static int is_done(const struct container *container)
{
	return container->state == CONTAINER_ENDED && !starts_again(container);
}

/* 1 when all init containers have succeeded. */
static int run_init(struct pod *pod, int64_t clock_ms, int *error)
{
	for (size_t i = 0; i < pod->init_count; i++) {
		struct container *container = &pod->containers[i];

		if (has_ended_well(container))
			continue;
		*error = run_container(container, clock_ms);
		return 0;
	}
	return 1;
}

static int is_hopeless(const struct pod *pod)
{
	for (size_t i = 0; i < pod->init_count; i++) {
		if (is_done(&pod->containers[i]) && !has_ended_well(&pod->containers[i]))
			return 1;
	}
	return 0;
}

static int is_finished(const struct pod *pod)
{
	for (size_t i = pod->init_count; i < pod->count; i++) {
		if (!is_done(&pod->containers[i]))
			return 0;
	}
	return 1;
}

static int past_deadline(struct pod *pod, int64_t clock_ms)
{
	int64_t seconds = -1;
	int64_t left;

	if (!mpijob_node_int(mpijob_node_get(pod->spec, "activeDeadlineSeconds"), &seconds))
		return 0;
	left = pod->started_ms + seconds * 1000 - mpijob__base_clock_wall_ms();
	if (left <= 0)
		return 1;
	pod->due_ms = mpijob__local_sooner(pod->due_ms, clock_ms + left);
	return 0;
}

static int run_main(struct pod *pod, int64_t clock_ms)
{
	int error = 0;

	for (size_t i = pod->init_count; i < pod->count && !error; i++) {
		struct container *container = &pod->containers[i];

		error = run_container(container, clock_ms);
		if (!error)
			error = mpijob__local_pod_probe_run(container, clock_ms, &pod->due_ms);
	}
	return error;
}

/* Ending. */

static int still_runs(const struct pod *pod)
{
	for (size_t i = 0; i < pod->count; i++) {
		if (pod->containers[i].state == CONTAINER_STARTING ||
		    pod->containers[i].state == CONTAINER_RUNNING)
			return 1;
	}
	return 0;
}

static int signal_all(struct pod *pod, int signo)
{
	int error = 0;

	for (size_t i = 0; i < pod->count && !error; i++) {
		if (pod->containers[i].signalled != signo)
			error = mpijob__local_container_signal(&pod->containers[i], signo);
	}
	return error;
}

static int64_t grace_ms(const struct pod *pod)
{
	const struct object *object = mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	int64_t seconds = DEFAULT_GRACE_S;

	mpijob_node_int(mpijob_node_get(pod->spec, "terminationGracePeriodSeconds"), &seconds);
	if (object)
		mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc),
				    "metadata.deletionGracePeriodSeconds"),
		    &seconds);
	return pod->gone ? 0 : seconds * 1000;
}

static void begin_end(struct pod *pod, int64_t clock_ms)
{
	pod->stage = POD_ENDING;
	pod->kill_ms = clock_ms + grace_ms(pod);
}

/* What has not begun by now never will. */
static int release(struct pod *pod)
{
	uint64_t number = 0;
	struct node_client *node = mpijob__local_kubelet_node(pod->kubelet);
	int error = 0;

	if (pod->sandbox_gone)
		return 0;
	pod->sandbox_gone = 1;
	error = mpijob__local_node_client_sandbox_destroy(node, pod->id, &number);
	if (!error)
		error = mpijob__local_kubelet_expect(pod->kubelet, number, ASK_NOTHING, 0, 0);
	for (size_t i = 0; i < pod->volume_count && !error; i++) {
		if (!pod->volumes[i].asked)
			continue;
		error = mpijob__local_node_client_volume_remove(node, pod->volumes[i].id, &number);
		if (!error)
			error =
			    mpijob__local_kubelet_expect(pod->kubelet, number, ASK_NOTHING, 0, 0);
	}
	return error;
}

static int end_pod(struct pod *pod, int64_t clock_ms)
{
	int error;

	if (!still_runs(pod)) {
		pod->stage = POD_OVER;
		return 0;
	}
	if (pod->kill_ms >= 0 && clock_ms >= pod->kill_ms)
		error = signal_all(pod, SIGKILL);
	else
		error = signal_all(pod, SIGTERM);
	if (pod->kill_ms > clock_ms)
		pod->due_ms = mpijob__local_sooner(pod->due_ms, pod->kill_ms);
	return error;
}

/* The object may go when nothing of the pod is left. */
static int conclude(struct pod *pod)
{
	struct object *object = mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	int error = release(pod);

	if (error || !object)
		return error;
	error = mpijob__local_pod_status_write(pod);
	if (error || !pod->deleting)
		return error;
	return mpijob__local_deletion_run(pod->local, object, DELETE_BACKGROUND, 0);
}

/* The whole. */

static int is_set_up(struct pod *pod)
{
	for (size_t i = 0; i < pod->volume_count; i++) {
		if (!pod->volumes[i].written)
			return 0;
	}
	return pod->sandbox_ready && mpijob__local_kubelet_hosts_written(pod->kubelet,
					 pod->namespace_) >= pod->hosts_version;
}

static int set_up(struct pod *pod)
{
	char *missing = NULL;
	int error = mpijob__local_pod_volumes_write(pod, &missing);

	if (!error && missing && pod->stage == POD_SETUP) {
		for (size_t i = 0; i < pod->count; i++)
			mpijob__local_container_wait(&pod->containers[i], "ContainerCreating",
			    strdup(missing));
	}
	free(missing);
	if (!error && pod->stage == POD_SETUP && is_set_up(pod))
		pod->stage = POD_RUNNING;
	return error;
}

static int run(struct pod *pod, int64_t clock_ms)
{
	int error = 0;

	if (run_init(pod, clock_ms, &error))
		error = run_main(pod, clock_ms);
	if (error)
		return error;
	if (past_deadline(pod, clock_ms)) {
		mpijob__local_pod_fail(pod, "DeadlineExceeded",
		    mpijob__base_text_format(
			"Pod was active on the node longer than the specified deadline"));
		begin_end(pod, clock_ms);
	} else if (is_hopeless(pod) || is_finished(pod)) {
		begin_end(pod, clock_ms);
	}
	return 0;
}

int mpijob__local_pod_sync(struct pod *pod, int64_t clock_ms)
{
	int error = 0;

	pod->dirty = 0;
	pod->due_ms = -1;
	if (pod->stage != POD_OVER && (pod->deleting || pod->gone || pod->reason) &&
	    pod->stage != POD_ENDING)
		begin_end(pod, clock_ms);
	if (pod->gone && pod->kill_ms > clock_ms)
		pod->kill_ms = clock_ms;
	if (pod->stage == POD_SETUP || pod->stage == POD_RUNNING)
		error = set_up(pod);
	if (!error && pod->stage == POD_RUNNING)
		error = run(pod, clock_ms);
	if (error == MPIJOB_ERR_USAGE) {
		mpijob__local_pod_fail(pod, "TooLarge",
		    mpijob__base_text_format("a volume or a command is too long for the node"));
		return 0;
	}
	if (!error && pod->stage == POD_ENDING)
		error = end_pod(pod, clock_ms);
	if (error)
		return error;
	return pod->stage == POD_OVER ? conclude(pod) : mpijob__local_pod_status_write(pod);
}

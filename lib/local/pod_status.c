/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a pod as a kubelet writes it: phase, conditions with their transition times, and
 * the state, last state and restart count of each container.
 */
#include "base/clock.h"
#include "base/text.h"
#include "base/time.h"
#include "local/job_status.h"
#include "local/pod.h"
#include "local/verbs.h"

#include <stdlib.h>
#include <string.h>

static int all_terminated(const struct mpijob__local_pod *pod, int only_success)
{
	for (size_t i = pod->init_count; i < pod->count; i++) {
		const struct mpijob__local_container *container = &pod->containers[i];

		if (container->state != MPIJOB__LOCAL_CONTAINER_TERMINATED ||
		    (only_success && container->terminated.code != 0))
			return 0;
	}
	return 1;
}

static int is_initialized(const struct mpijob__local_pod *pod)
{
	for (size_t i = 0; i < pod->init_count; i++) {
		if (pod->containers[i].state != MPIJOB__LOCAL_CONTAINER_TERMINATED ||
		    pod->containers[i].terminated.code != 0)
			return 0;
	}
	return pod->stage != MPIJOB__LOCAL_POD_SETUP;
}

static int has_run(const struct mpijob__local_pod *pod)
{
	for (size_t i = pod->init_count; i < pod->count; i++) {
		if (pod->containers[i].state == MPIJOB__LOCAL_CONTAINER_RUNNING ||
		    pod->containers[i].state == MPIJOB__LOCAL_CONTAINER_TERMINATED ||
		    pod->containers[i].last_terminated.known)
			return 1;
	}
	return 0;
}

const char *mpijob__local_pod_status_phase(const struct mpijob__local_pod *pod)
{
	if (pod->stage == MPIJOB__LOCAL_POD_TERMINATED)
		return !pod->reason && all_terminated(pod, 1) ? "Succeeded" : "Failed";
	return has_run(pod) ? "Running" : "Pending";
}

static int is_ready(const struct mpijob__local_pod *pod)
{
	for (size_t i = pod->init_count; i < pod->count; i++) {
		if (pod->containers[i].state != MPIJOB__LOCAL_CONTAINER_RUNNING ||
		    !pod->containers[i].readiness.ready)
			return 0;
	}
	return pod->stage == MPIJOB__LOCAL_POD_RUNNING;
}

static void put_time(mpijob_doc *doc, mpijob_node *map, const char *key, int64_t ms)
{
	char text[MPIJOB__BASE_TIME_SIZE];

	(void)mpijob__base_time_format(ms / 1000, text);
	mpijob_node_put_string(doc, map, key, text);
}

/* ---- conditions ---- */

static const char *old_transition_time(const struct mpijob__local_object *object, const char *type,
    const char *status)
{
	const mpijob_node *condition = mpijob__local_job_status_condition(object, type);
	const char *old_status = mpijob_node_string(mpijob_node_get(condition, "status"));

	if (!old_status || strcmp(old_status, status) != 0)
		return NULL;
	return mpijob_node_string(mpijob_node_get(condition, "lastTransitionTime"));
}

static void put_condition(mpijob_doc *doc, mpijob_node *list,
    const struct mpijob__local_object *object, const char *type, int on, const char *reason)
{
	mpijob_node *condition = mpijob_node_append_map(doc, list);
	const char *time = old_transition_time(object, type, on ? "True" : "False");

	mpijob_node_put_string(doc, condition, "type", type);
	mpijob_node_put_string(doc, condition, "status", on ? "True" : "False");
	if (time)
		mpijob_node_put_string(doc, condition, "lastTransitionTime", time);
	else
		put_time(doc, condition, "lastTransitionTime", mpijob__base_clock_wall_ms());
	if (!on)
		mpijob_node_put_string(doc, condition, "reason", reason);
}

static void put_conditions(mpijob_doc *doc, mpijob_node *status,
    const struct mpijob__local_object *object, const struct mpijob__local_pod *pod)
{
	mpijob_node *list = mpijob_node_put_list(doc, status, "conditions");
	const char *phase = mpijob__local_pod_status_phase(pod);
	const char *not_ready = strcmp(phase, "Succeeded") == 0 ? "PodCompleted"
				: strcmp(phase, "Failed") == 0  ? "PodFailed"
								: "ContainersNotReady";

	put_condition(doc, list, object, "PodScheduled", 1, NULL);
	put_condition(doc, list, object, "PodReadyToStartContainers",
	    pod->sandbox_ready && !pod->sandbox_released, NULL);
	put_condition(doc, list, object, "Initialized", is_initialized(pod),
	    "ContainersNotInitialized");
	put_condition(doc, list, object, "Ready", is_ready(pod), not_ready);
	put_condition(doc, list, object, "ContainersReady", is_ready(pod), not_ready);
}

/* ---- containers ---- */

static void put_terminated(mpijob_doc *doc, mpijob_node *state,
    const struct mpijob__local_terminated_state *run)
{
	mpijob_node *terminated = mpijob_node_put_map(doc, state, "terminated");
	char *id = mpijob__base_text_format("local://%llu", (unsigned long long)run->id);

	mpijob_node_put_int(doc, terminated, "exitCode", run->code);
	mpijob_node_put_string(doc, terminated, "reason", run->reason);
	mpijob_node_put_lossy(doc, terminated, "message", run->message);
	put_time(doc, terminated, "startedAt", run->started_ms);
	put_time(doc, terminated, "finishedAt", run->finished_ms);
	mpijob_node_put_string(doc, terminated, "containerID", id);
	free(id);
}

static void put_state(mpijob_doc *doc, mpijob_node *status,
    const struct mpijob__local_container *container)
{
	mpijob_node *state = mpijob_node_put_map(doc, status, "state");
	mpijob_node *waiting;

	if (container->state == MPIJOB__LOCAL_CONTAINER_TERMINATED) {
		put_terminated(doc, state, &container->terminated);
	} else if (container->state == MPIJOB__LOCAL_CONTAINER_RUNNING) {
		put_time(doc, mpijob_node_put_map(doc, state, "running"), "startedAt",
		    container->started_ms);
	} else {
		waiting = mpijob_node_put_map(doc, state, "waiting");
		mpijob_node_put_string(doc, waiting, "reason", container->waiting);
		mpijob_node_put_lossy(doc, waiting, "message", container->waiting_message);
	}
}

static void put_container(mpijob_doc *doc, mpijob_node *list,
    const struct mpijob__local_container *container)
{
	mpijob_node *status = mpijob_node_append_map(doc, list);
	const char *image = mpijob_node_string(mpijob_node_get(container->spec, "image"));
	int running = container->state == MPIJOB__LOCAL_CONTAINER_RUNNING;
	char *id = container->id
		       ? mpijob__base_text_format("local://%llu", (unsigned long long)container->id)
		       : NULL;

	mpijob_node_put_string(doc, status, "name", container->name);
	put_state(doc, status, container);
	mpijob_node_put_map(doc, status, "lastState");
	if (container->last_terminated.known)
		put_terminated(doc, mpijob_node_edit(status, "lastState"),
		    &container->last_terminated);
	mpijob_node_put_bool(doc, status, "ready",
	    container->init ? container->state == MPIJOB__LOCAL_CONTAINER_TERMINATED &&
				  container->terminated.code == 0
			    : running && container->readiness.ready);
	mpijob_node_put_int(doc, status, "restartCount", container->restarts);
	mpijob_node_put_string(doc, status, "image", image ? image : "");
	mpijob_node_put_string(doc, status, "imageID", "");
	mpijob_node_put_string(doc, status, "containerID", id);
	mpijob_node_put_bool(doc, status, "started", running);
	free(id);
}

static void put_containers(mpijob_doc *doc, mpijob_node *status,
    const struct mpijob__local_pod *pod)
{
	mpijob_node *list = NULL;

	if (pod->init_count)
		list = mpijob_node_put_list(doc, status, "initContainerStatuses");
	for (size_t i = 0; i < pod->init_count; i++)
		put_container(doc, list, &pod->containers[i]);
	list = mpijob_node_put_list(doc, status, "containerStatuses");
	for (size_t i = pod->init_count; i < pod->count; i++)
		put_container(doc, list, &pod->containers[i]);
}

int mpijob__local_pod_status_write(struct mpijob__local_pod *pod)
{
	struct mpijob__local_object *object =
	    mpijob__local_store_by_uid(&pod->local->store, pod->uid);
	mpijob_doc *doc;
	mpijob_node *status;

	if (!object)
		return 0;
	doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
	status = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "status");
	mpijob_node_put_string(doc, status, "phase", mpijob__local_pod_status_phase(pod));
	put_conditions(doc, status, object, pod);
	if (pod->reason) {
		mpijob_node_put_string(doc, status, "reason", pod->reason);
		mpijob_node_put_lossy(doc, status, "message", pod->message);
	}
	mpijob_node_put_string(doc, status, "hostIP", MPIJOB__LOCAL_NODE_ADDRESS);
	mpijob_node_put_string(doc, status, "podIP", pod->address);
	mpijob_node_put_string(doc,
	    mpijob_node_append_map(doc, mpijob_node_put_list(doc, status, "podIPs")), "ip",
	    pod->address);
	put_time(doc, status, "startTime", pod->started_ms);
	put_containers(doc, status, pod);
	return mpijob__local_verbs_store(pod->local, object, doc);
}

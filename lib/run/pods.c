/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the pods of a run's job.
 *
 * Only this file knows how the status of a pod is read: when the output of its containers can be
 * followed, which exit code counts, and what the user wants to know. A run of a container that was
 * ended from outside, because its pod is being deleted, does not count. Pods are found by UID and
 * counted when they change, so the cost of an event does not depend on their number.
 */
#include "run/run.h"

#include "run/hopeless.h"
#include "run/objects.h"

#include <stdlib.h>

/* ---- the table ---- */

static void free_pod(struct mpijob__run_pod *pod)
{
	while (pod->containers) {
		struct mpijob__run_container *container = pod->containers;

		pod->containers = container->next;
		mpijob__run_output_free(container);
	}
	free(pod->name);
	free(pod->uid);
	free(pod->created);
	free(pod->never);
	free(pod->waits_for);
	free(pod);
}

static char *copy_text(const mpijob_node *node, const char *path)
{
	return mpijob__base_text_format("%s", mpijob__run_text(node, path));
}

static struct mpijob__run_pod *new_pod(struct mpijob_run *run, const mpijob_node *object)
{
	struct mpijob__run_pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;
	pod->run = run;
	pod->uid = copy_text(object, "metadata.uid");
	pod->name = copy_text(object, "metadata.name");
	pod->created = copy_text(object, "metadata.creationTimestamp");
	pod->is_launcher = mpijob__run_pod_has_role(object, "launcher");
	if (pod->uid && pod->name && pod->created)
		return pod;
	free_pod(pod);
	return NULL;
}

/* There are few launchers. */
static void insert_launcher(struct mpijob_run *run, struct mpijob__run_pod *pod)
{
	struct mpijob__run_pod **at = &run->pods.launchers;

	while (*at && strcmp((*at)->created, pod->created) > 0)
		at = &(*at)->launcher;
	pod->launcher = *at;
	*at = pod;
	run->pods.launchers_left++;
	run->pods.launchers_going++;
}

static struct mpijob__run_pod *find_pod(struct mpijob_run *run, const mpijob_node *object)
{
	struct mpijob__run_pods *pods = &run->pods;
	const char *uid = mpijob__run_text(object, "metadata.uid");
	uint64_t hash = mpijob__base_table_hash(&pods->table, uid, "");
	struct mpijob__base_table_link *link = NULL;
	struct mpijob__run_pod *pod;

	if (!*uid || !*mpijob__run_text(object, "metadata.name"))
		return NULL;
	while ((link = mpijob__base_table_next(&pods->table, hash, link)) != NULL) {
		pod = (struct mpijob__run_pod *)(void *)link;
		if (strcmp(pod->uid, uid) == 0)
			return pod;
	}
	pod = new_pod(run, object);
	if (!pod || mpijob__base_table_add(&pods->table, &pod->link, hash)) {
		if (pod)
			free_pod(pod);
		mpijob__run_fail(run, MPIJOB_ERR_NOMEM);
		return NULL;
	}
	pod->next = pods->all;
	pods->all = pod;
	if (pod->is_launcher)
		insert_launcher(run, pod);
	return pod;
}

/* ---- containers ---- */

static struct mpijob__run_container *find_container(struct mpijob__run_pod *pod, const char *name,
    int is_init)
{
	struct mpijob__run_container *container = pod->containers;

	while (container && strcmp(container->name, name) != 0)
		container = container->next;
	if (container)
		return container;
	container = calloc(1, sizeof(*container));
	if (container) {
		container->pod = pod;
		container->name = mpijob__base_text_format("%s", name);
		container->line = mpijob_text_new();
		container->is_init = is_init;
	}
	if (!container || !container->name || !container->line) {
		if (container)
			mpijob__run_output_free(container);
		mpijob__run_fail(pod->run, MPIJOB_ERR_NOMEM);
		return NULL;
	}
	container->next = pod->containers;
	return pod->containers = container;
}

/* The first of these containers that ended with another code than 0; NULL: none did. */
static const mpijob_node *first_failed(const mpijob_node *statuses, int64_t *code)
{
	for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
		const mpijob_node *status = mpijob_node_at(statuses, i);

		if (mpijob_node_int(mpijob_node_find(status, "state.terminated.exitCode"), code) &&
		    *code != 0)
			return status;
	}
	return NULL;
}

/* Run `number` of a launcher's container has ended. Of containers that run side by side, the exit
 * code of the one that failed counts. */
static void run_ended(struct mpijob__run_container *container, int64_t number,
    const mpijob_node *terminated, const mpijob_node *statuses)
{
	struct mpijob_run *run = container->pod->run;
	int64_t code = 0, other = 0;

	if (run->result.given_up || number < container->ended ||
	    !mpijob_node_int(mpijob_node_get(terminated, "exitCode"), &code))
		return;
	container->ended = number + 1;
	if (container->is_init && code == 0)
		return;
	run->result.launcher_ended_ms = mpijob__run_now_ms(run);
	if (container->pod->deleting)
		return;
	if (code != 0)
		mpijob__run_notice(run, container->pod->name, container->name, (int32_t)code,
		    "%s %s of pod %s ended with exit code %lld",
		    container->is_init ? "init container" : "container", container->name,
		    container->pod->name, (long long)code);
	else if (first_failed(statuses, &other))
		code = other;
	run->result.has_exit_code = 1;
	run->result.exit_code = (int32_t)code;
}

static void launcher_changed(struct mpijob__run_container *container, const mpijob_node *status,
    const mpijob_node *statuses)
{
	const mpijob_node *terminated = mpijob_node_find(status, "state.terminated");
	const mpijob_node *before = mpijob_node_find(status, "lastState.terminated");
	const mpijob_node *running = mpijob_node_find(status, "state.running");
	struct mpijob_run *run = container->pod->run;
	int64_t restarts = 0;

	mpijob_node_int(mpijob_node_get(status, "restartCount"), &restarts);
	if (before && restarts > 0)
		run_ended(container, restarts - 1, before, statuses);
	if (running && !container->is_init && run->result.launcher_started_ms == 0)
		run->result.launcher_started_ms = mpijob__run_now_ms(run);
	if (terminated)
		run_ended(container, restarts, terminated, statuses);
	mpijob__run_output_follow(container, restarts + (running || terminated ? 1 : 0));
}

/* Report once why a container does not start yet. A back-off is not reported: the end of each run
 * is. */
static void report_waiting(struct mpijob__run_container *container, const mpijob_node *status)
{
	const char *message = mpijob__run_hopeless_waits(status);

	if (!message || (container->waits_for && strcmp(container->waits_for, message) == 0))
		return;
	free(container->waits_for);
	container->waits_for = mpijob__base_text_format("%s", message);
	mpijob__run_notice(container->pod->run, container->pod->name, container->name, 0,
	    "container %s of pod %s waits: %s", container->name, container->pod->name, message);
}

static void containers_changed(struct mpijob__run_pod *pod, const mpijob_node *object,
    const char *list, int is_init)
{
	const mpijob_node *statuses = mpijob_node_find(object, list);
	const char *first = mpijob__run_text(object, "spec.containers[0].name");

	for (size_t i = 0; i < mpijob_node_count(statuses); i++) {
		const mpijob_node *status = mpijob_node_at(statuses, i);
		const char *name = mpijob__run_text(status, "name");
		struct mpijob__run_container *container =
		    *name ? find_container(pod, name, is_init) : NULL;

		if (!container)
			continue;
		container->is_main = pod->is_launcher && !is_init && strcmp(name, first) == 0;
		pod->active |= mpijob_node_find(status, "state.running") != NULL;
		if (pod->is_launcher)
			launcher_changed(container, status, statuses);
		report_waiting(container, status);
	}
}

/* ---- workers ---- */

/* Report once that a worker failed that is not being deleted. */
static void worker_failed(struct mpijob__run_pod *pod, const mpijob_node *object)
{
	int64_t code = 0;
	const mpijob_node *failed =
	    first_failed(mpijob_node_find(object, "status.initContainerStatuses"), &code);
	const char *name;

	if (!failed)
		failed = first_failed(mpijob_node_find(object, "status.containerStatuses"), &code);
	if (!failed || pod->deleting || pod->failed)
		return;
	pod->failed = 1;
	name = mpijob__run_text(failed, "name");
	mpijob__run_notice(pod->run, pod->name, name, (int32_t)code,
	    "pod %s failed: container %s ended with exit code %lld", pod->name, name,
	    (long long)code);
	for (struct mpijob__run_container *container = pod->containers;
	     container && pod->run->local; container = container->next)
		if (strcmp(container->name, name) == 0)
			mpijob__run_output_show_worker(container);
}

/* The log of a container begins when it runs. */
static void read_login(struct mpijob__run_pod *pod, const mpijob_node *object)
{
	const char *container = mpijob__run_text(object, "spec.containers[0].name");

	if (pod->reads_login || pod->deleting || !*container ||
	    !mpijob_node_find(object, "status.containerStatuses[0].state.running"))
		return;
	pod->reads_login = 1;
	mpijob__run_sshd_read(pod->run, pod->name, container);
}

/* ---- changes ---- */

/* Add (`by` 1) or take back (`by` -1) what the pod counts for. */
static void count_pod(const struct mpijob__run_pod *pod, int by)
{
	struct mpijob__run_pods *pods = &pod->run->pods;

	if (!pod->is_launcher) {
		pods->ready_workers += pod->ready ? by : 0;
		return;
	}
	pods->launchers_left += pod->deleted ? 0 : by;
	pods->launchers_going += pod->deleted || pod->ended ? 0 : by;
}

static void read_status(struct mpijob__run_pod *pod, const mpijob_node *object, int deleted)
{
	const char *phase = mpijob__run_text(object, "status.phase");

	count_pod(pod, -1);
	/* The last state of a pod may come together with its deletion. */
	pod->deleting |= mpijob_node_find(object, "metadata.deletionTimestamp") != NULL;
	pod->ready = !deleted && mpijob_condition_find(object, "Ready", "True") != NULL;
	pod->ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
	pod->active = 0;
	containers_changed(pod, object, "status.initContainerStatuses", 1);
	containers_changed(pod, object, "status.containerStatuses", 0);
	if (!pod->is_launcher && strcmp(phase, "Failed") == 0)
		worker_failed(pod, object);
	if (!pod->is_launcher && !deleted && strcmp(phase, "Running") == 0)
		read_login(pod, object);
	pod->deleted = deleted;
	count_pod(pod, 1);
}

void mpijob__run_pod_changed(struct mpijob_run *run, mpijob_doc *doc, int deleted)
{
	const mpijob_node *object = mpijob_doc_root(doc);
	struct mpijob__run_pod *pod =
	    mpijob__run_pod_is_of(object, run->uid, run->created) ? find_pod(run, object) : NULL;

	if (pod) {
		read_status(pod, object, deleted);
		if (run->local)
			mpijob__run_hopeless_read(pod, object);
	}
	if (pod && pod->is_launcher && !pod->deleting) {
		mpijob_doc_free(run->pods.launcher);
		run->pods.launcher = doc;
		doc = NULL;
	}
	mpijob_doc_free(doc);
	mpijob__run_wake(run);
}

void mpijob__run_pods_free(struct mpijob_run *run)
{
	struct mpijob__run_pods *pods = &run->pods;

	mpijob_logs_free(pods->tail.logs);
	while (pods->all) {
		struct mpijob__run_pod *pod = pods->all;

		pods->all = pod->next;
		free_pod(pod);
	}
	mpijob__base_table_release(&pods->table);
	free(pods->last.data);
	mpijob_doc_free(pods->launcher);
}

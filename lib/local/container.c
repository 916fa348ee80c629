/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container: how its template becomes a start request for the node (command, environment, ids,
 * mounts), how its output becomes its log, and how its exit becomes a terminated state. pod.c
 * decides when a container starts and whether it restarts.
 */
#define _GNU_SOURCE /* pipe2 */

#include "base/clock.h"
#include "base/secret.h"
#include "base/text.h"
#include "local/pod.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK      (64u << 10)
#define MAX_CHUNKS 16
#define TAIL_LINES 80
#define TAIL_BYTES 2048

/* ---- output ---- */

static void close_output(struct mpijob__local_container *container)
{
	if (container->source.fd < 0)
		return;
	mpijob__local_remove_fd(container->pod->local, &container->source);
	close(container->source.fd);
	container->source.fd = -1;
}

/* 1: there may be more; 0: nothing available now; -1: end of the output. */
static int read_chunk(struct mpijob__local_container *container)
{
	char buffer[CHUNK];
	ssize_t len = read(container->source.fd, buffer, sizeof(buffer));

	if (len < 0 && errno == EINTR)
		return 1;
	if (len < 0)
		return errno == EAGAIN ? 0 : -1;
	if (len == 0)
		return -1;
	/* If memory runs out, the log records the gap. */
	(void)mpijob__local_logs_write(container->log, buffer, (size_t)len);
	return 1;
}

static void run_output(struct mpijob__local_event_source *source)
{
	struct mpijob__local_container *container = (struct mpijob__local_container *)source;
	int more = 1;

	for (int i = 0; i < MAX_CHUNKS && more == 1; i++) {
		if (mpijob__local_logs_is_full(container->log)) {
			mpijob__local_modify_fd(container->pod->local, source, 0, 0);
			return;
		}
		more = read_chunk(container);
	}
	if (more < 0) {
		close_output(container);
		mpijob__local_logs_finish(container->log);
	}
}

static void resume_output(void *user)
{
	struct mpijob__local_container *container = user;

	if (container->source.fd >= 0)
		mpijob__local_modify_fd(container->pod->local, &container->source, 1, 0);
}

static void finish_output(struct mpijob__local_container *container)
{
	if (container->source.fd < 0)
		return;
	while (read_chunk(container) == 1)
		;
	close_output(container);
	mpijob__local_logs_finish(container->log);
}

/* Create the output pipe. *out is the write end for the node; the caller closes it. */
static int open_output(struct mpijob__local_container *container, int *out)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return MPIJOB_ERR_IO;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		close(ends[0]);
		close(ends[1]);
		return MPIJOB_ERR_IO;
	}
	container->source.fd = ends[0];
	container->source.run = run_output;
	if (mpijob__local_add_fd(container->pod->local, &container->source, 0)) {
		close(ends[0]);
		close(ends[1]);
		container->source.fd = -1;
		return MPIJOB_ERR_IO;
	}
	*out = ends[1];
	return 0;
}

static int rotate_log(struct mpijob__local_container *container)
{
	struct mpijob__local_log *log =
	    mpijob__local_logs_new(container->pod->local, resume_output, container);

	if (!log)
		return MPIJOB_ERR_NOMEM;
	mpijob__local_logs_detach(container->log);
	mpijob__local_logs_unref(container->previous_log);
	container->previous_log = container->log;
	container->log = log;
	return 0;
}

/* ---- start ---- */

static void free_argv(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		mpijob__base_secret_free_text(argv[i]);
	free(argv);
}

/* Expand command and args. NULL when memory ran out. */
static char **make_argv(const struct mpijob__local_container *container,
    const struct mpijob__local_environment *environment)
{
	const mpijob_node *lists[] = { mpijob_node_get(container->spec, "command"),
		mpijob_node_get(container->spec, "args") };
	char **argv =
	    calloc(mpijob_node_count(lists[0]) + mpijob_node_count(lists[1]) + 1, sizeof(*argv));
	size_t count = 0;

	for (size_t l = 0; argv && l < 2; l++) {
		for (size_t i = 0; i < mpijob_node_count(lists[l]); i++) {
			const char *text = mpijob_node_text(mpijob_node_at(lists[l], i));

			argv[count] =
			    mpijob__local_environment_expand(environment, text ? text : "");
			if (!argv[count]) {
				free_argv(argv);
				return NULL;
			}
			count++;
		}
	}
	return argv;
}

static int64_t security_id(const struct mpijob__local_container *container, const char *key)
{
	int64_t id = -1;

	if (!mpijob_node_int(mpijob_node_get(mpijob_node_get(container->spec, "securityContext"),
				 key),
		&id))
		mpijob_node_int(mpijob_node_get(mpijob_node_get(container->pod->spec,
						    "securityContext"),
				    key),
		    &id);
	return id;
}

/* supplementalGroups and fsGroup. NULL when memory ran out. */
static uint32_t *make_groups(const struct mpijob__local_pod *pod, size_t *count)
{
	const mpijob_node *context = mpijob_node_get(pod->spec, "securityContext");
	const mpijob_node *list = mpijob_node_get(context, "supplementalGroups");
	uint32_t *groups = calloc(mpijob_node_count(list) + 1, sizeof(*groups));
	int64_t id;

	*count = 0;
	for (size_t i = 0; groups && i < mpijob_node_count(list); i++) {
		if (mpijob_node_int(mpijob_node_at(list, i), &id))
			groups[(*count)++] = (uint32_t)id;
	}
	if (groups && mpijob_node_int(mpijob_node_get(context, "fsGroup"), &id))
		groups[(*count)++] = (uint32_t)id;
	return groups;
}

static int send_start(struct mpijob__local_container *container,
    const struct mpijob__local_environment *environment, struct mpijob__local_mounts *mounts,
    int out)
{
	struct mpijob__local_pod *pod = container->pod;
	char **argv = make_argv(container, environment);
	const char *cwd = mpijob_node_string(mpijob_node_get(container->spec, "workingDir"));
	struct node_container request = { 0 };
	uint64_t number = 0;
	uint32_t *groups = make_groups(pod, &request.group_count);
	int rc = argv && groups ? 0 : MPIJOB_ERR_NOMEM;

	container->id = mpijob__local_kubelet_new_id(pod->kubelet);
	request.id = container->id;
	request.sandbox = pod->id;
	request.argv = (const char *const *)argv;
	request.envp = (const char *const *)environment->entries;
	request.cwd = cwd && *cwd ? cwd : NULL;
	request.uid = security_id(container, "runAsUser");
	request.gid = security_id(container, "runAsGroup");
	request.groups = groups;
	request.mounts = mounts->list;
	request.mount_count = mounts->count;
	request.ssh_auth_path = mounts->ssh_path;
	mpijob_node_bool(mpijob_node_find(container->spec,
			     "securityContext.readOnlyRootFilesystem"),
	    &request.read_only_root);
	request.capabilities = mpijob__local_pod_security_capabilities(container, NULL);
	request.confine = mpijob__local_pod_security_confine(container);
	request.fds[0] = -1;
	request.fds[1] = out;
	request.fds[2] = out;
	if (!rc)
		rc = mpijob__local_node_client_container_start(mpijob__local_kubelet_node(
								   pod->kubelet),
		    &request, &number);
	free_argv(argv);
	free(groups);
	return rc ? rc
		  : mpijob__local_kubelet_await(pod->kubelet, number, MPIJOB__LOCAL_REQUEST_START,
			pod->id, container->id);
}

void mpijob__local_container_set_waiting(struct mpijob__local_container *container,
    const char *reason, char *message)
{
	free(container->waiting_message);
	container->waiting = reason;
	container->waiting_message = message;
}

static int start_with_environment(struct mpijob__local_container *container,
    struct mpijob__local_environment *environment)
{
	struct mpijob__local_mounts mounts;
	int out = -1;
	int rc;

	if (environment->missing) {
		char *message = environment->missing;

		environment->missing = NULL;
		mpijob__local_container_set_waiting(container, "CreateContainerConfigError",
		    message);
		return 0;
	}
	rc = mpijob__local_pod_volumes_mounts(container, environment, &mounts);
	if (rc)
		return rc;
	rc = rotate_log(container);
	if (!rc)
		rc = open_output(container, &out);
	if (!rc)
		rc = send_start(container, environment, &mounts, out);
	if (out >= 0)
		close(out);
	mpijob__local_pod_volumes_mounts_clear(&mounts);
	if (rc) {
		close_output(container);
		return rc;
	}
	container->state = MPIJOB__LOCAL_CONTAINER_STARTING;
	container->signalled = 0;
	mpijob__local_container_set_waiting(container, "ContainerCreating", NULL);
	return 0;
}

int mpijob__local_container_start(struct mpijob__local_container *container)
{
	struct mpijob__local_environment environment;
	int rc = mpijob__local_environment_make(&environment, container);

	if (rc)
		return rc;
	rc = start_with_environment(container, &environment);
	mpijob__local_environment_clear(&environment);
	return rc;
}

/* ---- events of the node ---- */

static void set_terminated(struct mpijob__local_container *container, int64_t code,
    const char *reason, char *message)
{
	struct mpijob__local_terminated_state *terminated = &container->terminated;

	finish_output(container);
	free(terminated->message);
	terminated->known = 1;
	terminated->code = code;
	terminated->reason = reason;
	terminated->message = message;
	terminated->id = container->id;
	terminated->finished_ms = mpijob__base_clock_wall_ms();
	terminated->started_ms =
	    container->started_ms ? container->started_ms : terminated->finished_ms;
	container->state = MPIJOB__LOCAL_CONTAINER_TERMINATED;
	container->readiness.ready = 0;
	container->readiness.next_ms = -1;
	container->pod->dirty = 1;
}

void mpijob__local_container_started(struct mpijob__local_container *container,
    const struct node_event *event)
{
	struct mpijob__local_pod *pod = container->pod;

	pod->dirty = 1;
	/* Count the restart only now: while the container waits, restartCount must still be that of
	 * the run that ended. */
	container->restarts += container->last_terminated.known;
	if (event->type == NODE_ANS_OK) {
		container->state = MPIJOB__LOCAL_CONTAINER_RUNNING;
		container->started_ms = mpijob__base_clock_wall_ms();
		mpijob__local_pod_probe_set_up(container);
		return;
	}
	mpijob__local_notice(pod->local, MPIJOB_SEVERITY_ERROR, "container-start", NULL,
	    mpijob__base_text_format("container %s of pod %s cannot start: %s", container->name,
		pod->name, event->text ? event->text : "unknown error"));
	container->started_ms = 0;
	set_terminated(container, event->error == MPIJOB_ERR_NOT_FOUND ? 127 : 126, "StartError",
	    event->text ? strdup(event->text) : NULL);
}

static char *termination_message(const struct mpijob__local_container *container, int64_t code)
{
	const char *policy =
	    mpijob_node_string(mpijob_node_get(container->spec, "terminationMessagePolicy"));

	if (code == 0 || !policy || strcmp(policy, "FallbackToLogsOnError") != 0)
		return NULL;
	return mpijob__local_logs_tail(container->log, TAIL_LINES, TAIL_BYTES);
}

void mpijob__local_container_exited(struct mpijob__local_container *container,
    const struct node_event *event)
{
	int64_t code = event->code;

	finish_output(container);
	set_terminated(container, code, code == 0 ? "Completed" : "Error",
	    termination_message(container, code));
}

int mpijob__local_container_signal(struct mpijob__local_container *container, int signo)
{
	uint64_t number = 0;
	int rc;

	if (container->state != MPIJOB__LOCAL_CONTAINER_RUNNING)
		return 0;
	container->signalled = signo;
	rc = mpijob__local_node_client_container_signal(mpijob__local_kubelet_node(
							    container->pod->kubelet),
	    container->id, signo, &number);
	return rc ? rc
		  : mpijob__local_kubelet_await(container->pod->kubelet, number,
			MPIJOB__LOCAL_REQUEST_IGNORED, 0, 0);
}

void mpijob__local_container_clear(struct mpijob__local_container *container)
{
	close_output(container);
	if (container->log) {
		mpijob__local_logs_detach(container->log);
		mpijob__local_logs_finish(container->log);
	}
	mpijob__local_logs_unref(container->log);
	mpijob__local_logs_unref(container->previous_log);
	free(container->waiting_message);
	free(container->last_terminated.message);
	free(container->terminated.message);
}

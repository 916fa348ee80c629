/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container: how its template becomes a command with variables, ids and mounts, what it writes
 * becomes its log, and how its end is put into Kubernetes' words. When it starts and whether it
 * starts again is decided in pod.c.
 */
#define _GNU_SOURCE /* pipe2 */

#include "base/clock.h"
#include "base/secret.h"
#include "base/text.h"
#include "pod.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE          (64u << 10)
#define PIECES_AT_ONCE 16
#define TAIL_LINES     80
#define TAIL_BYTES     2048

/* Output. */

static void close_output(struct container *container)
{
	if (container->source.fd < 0)
		return;
	mpijob__local_forget_fd(container->pod->local, &container->source);
	close(container->source.fd);
	container->source.fd = -1;
}

/* 1: there may be more, 0: not now, -1: never again. */
static int read_piece(struct container *container)
{
	char buffer[PIECE];
	ssize_t len = read(container->source.fd, buffer, sizeof(buffer));

	if (len < 0 && errno == EINTR)
		return 1;
	if (len < 0)
		return errno == EAGAIN ? 0 : -1;
	if (len == 0)
		return -1;
	/* What finds no memory is lost, and the log says so. */
	(void)mpijob__local_logs_write(container->log, buffer, (size_t)len);
	return 1;
}

static void run_output(struct mpijob__local_source *source)
{
	struct container *container = (struct container *)source;
	int more = 1;

	for (int i = 0; i < PIECES_AT_ONCE && more == 1; i++) {
		if (mpijob__local_logs_is_full(container->log)) {
			mpijob__local_change_fd(container->pod->local, source, 0, 0);
			return;
		}
		more = read_piece(container);
	}
	if (more < 0) {
		close_output(container);
		mpijob__local_logs_finish(container->log);
	}
}

static void output_drained(void *user)
{
	struct container *container = user;

	if (container->source.fd >= 0)
		mpijob__local_change_fd(container->pod->local, &container->source, 1, 0);
}

static void finish_output(struct container *container)
{
	if (container->source.fd < 0)
		return;
	while (read_piece(container) == 1)
		;
	close_output(container);
	mpijob__local_logs_finish(container->log);
}

/* The other end of the pipe, for the node. */
static int open_output(struct container *container, int *out)
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
	if (mpijob__local_watch_fd(container->pod->local, &container->source, 0)) {
		close(ends[0]);
		close(ends[1]);
		container->source.fd = -1;
		return MPIJOB_ERR_IO;
	}
	*out = ends[1];
	return 0;
}

static int turn_log(struct container *container)
{
	struct log *log = mpijob__local_logs_new(container->pod->local, output_drained, container);

	if (!log)
		return MPIJOB_ERR_NOMEM;
	mpijob__local_logs_leave(container->log);
	mpijob__local_logs_drop(container->previous_log);
	container->previous_log = container->log;
	container->log = log;
	return 0;
}

/* Starting. */

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		mpijob__base_secret_free_text(words[i]);
	free(words);
}

/* command and args, expanded; NULL without memory. */
static char **make_words(const struct container *container, const struct environment *environment)
{
	const mpijob_node *lists[] = { mpijob_node_get(container->spec, "command"),
		mpijob_node_get(container->spec, "args") };
	char **words =
	    calloc(mpijob_node_count(lists[0]) + mpijob_node_count(lists[1]) + 1, sizeof(*words));
	size_t count = 0;

	for (size_t l = 0; words && l < 2; l++) {
		for (size_t i = 0; i < mpijob_node_count(lists[l]); i++) {
			const char *text = mpijob_node_text(mpijob_node_at(lists[l], i));

			words[count] =
			    mpijob__local_environment_expand(environment, text ? text : "");
			if (!words[count]) {
				free_words(words);
				return NULL;
			}
			count++;
		}
	}
	return words;
}

static int64_t security(const struct container *container, const char *key)
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

/* supplementalGroups and fsGroup; NULL without memory. */
static uint32_t *make_groups(const struct pod *pod, size_t *count)
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

static int send_start(struct container *container, const struct environment *environment,
    struct mounts *mounts, int out)
{
	struct pod *pod = container->pod;
	char **words = make_words(container, environment);
	const char *cwd = mpijob_node_string(mpijob_node_get(container->spec, "workingDir"));
	struct node_container request = { 0 };
	uint64_t number = 0;
	uint32_t *groups = make_groups(pod, &request.group_count);
	int error = words && groups ? 0 : MPIJOB_ERR_NOMEM;

	container->id = mpijob__local_kubelet_number(pod->kubelet);
	request.id = container->id;
	request.sandbox = pod->id;
	request.argv = (const char *const *)words;
	request.envp = (const char *const *)environment->entries;
	request.cwd = cwd && *cwd ? cwd : NULL;
	request.uid = security(container, "runAsUser");
	request.gid = security(container, "runAsGroup");
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
	if (!error)
		error = mpijob__local_node_client_container_start(mpijob__local_kubelet_node(
								      pod->kubelet),
		    &request, &number);
	free_words(words);
	free(groups);
	return error ? error
		     : mpijob__local_kubelet_expect(pod->kubelet, number, ASK_START, pod->id,
			   container->id);
}

void mpijob__local_container_wait(struct container *container, const char *reason, char *message)
{
	free(container->waiting_message);
	container->waiting = reason;
	container->waiting_message = message;
}

static int start_with(struct container *container, struct environment *environment)
{
	struct mounts mounts;
	int out = -1;
	int error;

	if (environment->missing) {
		char *message = environment->missing;

		environment->missing = NULL;
		mpijob__local_container_wait(container, "CreateContainerConfigError", message);
		return 0;
	}
	error = mpijob__local_pod_volumes_mounts(container, environment, &mounts);
	if (error)
		return error;
	error = turn_log(container);
	if (!error)
		error = open_output(container, &out);
	if (!error)
		error = send_start(container, environment, &mounts, out);
	if (out >= 0)
		close(out);
	mpijob__local_pod_volumes_mounts_clear(&mounts);
	if (error) {
		close_output(container);
		return error;
	}
	container->state = CONTAINER_STARTING;
	container->signalled = 0;
	mpijob__local_container_wait(container, "ContainerCreating", NULL);
	return 0;
}

int mpijob__local_container_start(struct container *container)
{
	struct environment environment;
	int error = mpijob__local_environment_make(&environment, container);

	if (error)
		return error;
	error = start_with(container, &environment);
	mpijob__local_environment_clear(&environment);
	return error;
}

/* Answers. */

static void end_run(struct container *container, int64_t code, const char *reason, char *message)
{
	struct ending *ending = &container->ending;

	finish_output(container);
	free(ending->message);
	ending->known = 1;
	ending->code = code;
	ending->reason = reason;
	ending->message = message;
	ending->id = container->id;
	ending->finished_ms = mpijob__base_clock_wall_ms();
	ending->started_ms = container->started_ms ? container->started_ms : ending->finished_ms;
	container->state = CONTAINER_ENDED;
	container->readiness.ready = 0;
	container->readiness.next_ms = -1;
	container->pod->dirty = 1;
}

void mpijob__local_container_started(struct container *container, const struct node_event *event)
{
	struct pod *pod = container->pod;

	pod->dirty = 1;
	/* Counted now and not before: a run that waits and one that began are then never the same
	 * in number. */
	container->restarts += container->last.known;
	if (event->type == NODE_ANS_OK) {
		container->state = CONTAINER_RUNNING;
		container->started_ms = mpijob__base_clock_wall_ms();
		mpijob__local_pod_probe_set_up(container);
		return;
	}
	mpijob__local_notice(pod->local, MPIJOB_SEVERITY_ERROR, "container-start", NULL,
	    mpijob__base_text_format("container %s of pod %s cannot start: %s", container->name,
		pod->name, event->text ? event->text : "for an unknown reason"));
	container->started_ms = 0;
	end_run(container, event->error == MPIJOB_ERR_NOT_FOUND ? 127 : 126, "StartError",
	    event->text ? strdup(event->text) : NULL);
}

static char *last_words(const struct container *container, int64_t code)
{
	const char *policy =
	    mpijob_node_string(mpijob_node_get(container->spec, "terminationMessagePolicy"));

	if (code == 0 || !policy || strcmp(policy, "FallbackToLogsOnError") != 0)
		return NULL;
	return mpijob__local_logs_tail(container->log, TAIL_LINES, TAIL_BYTES);
}

void mpijob__local_container_exited(struct container *container, const struct node_event *event)
{
	int64_t code = event->code;

	finish_output(container);
	end_run(container, code, code == 0 ? "Completed" : "Error", last_words(container, code));
}

int mpijob__local_container_signal(struct container *container, int signo)
{
	uint64_t number = 0;
	int error;

	if (container->state != CONTAINER_RUNNING)
		return 0;
	container->signalled = signo;
	error = mpijob__local_node_client_container_signal(mpijob__local_kubelet_node(
							       container->pod->kubelet),
	    container->id, signo, &number);
	return error ? error
		     : mpijob__local_kubelet_expect(container->pod->kubelet, number, ASK_NOTHING, 0,
			   0);
}

void mpijob__local_container_clear(struct container *container)
{
	close_output(container);
	if (container->log) {
		mpijob__local_logs_leave(container->log);
		mpijob__local_logs_finish(container->log);
	}
	mpijob__local_logs_drop(container->log);
	mpijob__local_logs_drop(container->previous_log);
	free(container->waiting_message);
	free(container->last.message);
	free(container->ending.message);
}

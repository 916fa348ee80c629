/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a container is ready: according to its readinessProbe (tcpSocket, exec); for a worker that
 * runs the default sshd, when sshd listens, so that the launcher does not connect to a closed port;
 * otherwise when it runs.
 */
#include "base/clock.h"
#include "base/number.h"
#include "local/pod.h"
#include "base/text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_RETRY_MS   5
#define LISTEN_TIMEOUT_MS 60000
#define LISTEN_PERIOD_MS  1000
#define KILL_RETRY_MS     1000

static const mpijob_node *probe_of(const struct mpijob__local_container *container)
{
	return mpijob_node_get(container->spec, "readinessProbe");
}

static int64_t probe_number(const struct mpijob__local_container *container, const char *key,
    int64_t absent)
{
	int64_t value = absent;

	mpijob_node_int(mpijob_node_get(probe_of(container), key), &value);
	return value > 0 ? value : absent;
}

int mpijob__local_pod_probe_port(const struct mpijob__local_container *container,
    const mpijob_node *port, uint16_t *out)
{
	const mpijob_node *ports = mpijob_node_get(container->spec, "ports");
	const char *name = mpijob_node_string(port);
	int64_t value = 0;
	int found = mpijob_node_int(port, &value);

	for (size_t i = 0; name && !found && i < mpijob_node_count(ports); i++) {
		const mpijob_node *entry = mpijob_node_at(ports, i);
		const char *other = mpijob_node_string(mpijob_node_get(entry, "name"));

		if (other && strcmp(other, name) == 0)
			found = mpijob_node_int(mpijob_node_get(entry, "containerPort"), &value);
	}
	if (!found || value < 1 || value > 65535)
		return 0;
	*out = (uint16_t)value;
	return 1;
}

static int is_sshd(const char *word)
{
	return mpijob__base_text_is(mpijob__base_text_file_name(word), "sshd");
}

/* The ports on which sshd may listen: that of "-p N", "-pN" or "-oPort=N", else 22. With "-f" also
 * 2222, which the configuration files of the usual images set. */
static void sshd_ports(const struct mpijob__local_container *container, uint16_t ports[2])
{
	static const char *const lists[] = { "command", "args" };
	const char *before = "";
	uint64_t port = 0;

	ports[0] = 22;
	ports[1] = 0;
	for (size_t l = 0; l < 2; l++) {
		const mpijob_node *list = mpijob_node_get(container->spec, lists[l]);

		for (size_t i = 0; i < mpijob_node_count(list); i++) {
			const char *word = mpijob_node_text(mpijob_node_at(list, i));

			word = word ? word : "";
			if (strncmp(word, "-f", 2) == 0)
				ports[1] = 2222;
			if ((strcmp(before, "-p") == 0 && mpijob__base_number_parse(word, &port)) ||
			    (strncmp(word, "-p", 2) == 0 &&
				mpijob__base_number_parse(word + 2, &port)) ||
			    (strncmp(word, "-oPort=", 7) == 0 &&
				mpijob__base_number_parse(word + 7, &port)))
				ports[0] = (uint16_t)port;
			before = word;
		}
	}
}

static int runs_default_sshd(const struct mpijob__local_container *container)
{
	const mpijob_node *command = mpijob_node_get(container->spec, "command");
	const mpijob_node *args = mpijob_node_get(container->spec, "args");
	const mpijob_node *list = mpijob_node_count(command) ? command : args;

	return mpijob__local_pod_is_worker(container->pod) &&
	       container == mpijob__local_pod_find_container(container->pod, NULL) &&
	       is_sshd(mpijob_node_string(mpijob_node_at(list, 0)));
}

void mpijob__local_pod_probe_set_up(struct mpijob__local_container *container)
{
	struct mpijob__local_readiness *readiness = &container->readiness;
	const mpijob_node *probe = probe_of(container);

	memset(readiness, 0, sizeof(*readiness));
	readiness->next_ms = -1;
	if (container->init)
		return;
	if (mpijob__local_pod_probe_port(container, mpijob_node_find(probe, "tcpSocket.port"),
		&readiness->ports[0]))
		readiness->kind = MPIJOB__LOCAL_READY_TCP;
	else if (mpijob_node_count(mpijob_node_find(probe, "exec.command")) > 0)
		readiness->kind = MPIJOB__LOCAL_READY_EXEC;
	else if (runs_default_sshd(container))
		readiness->kind = MPIJOB__LOCAL_READY_LISTEN;
	if (readiness->kind == MPIJOB__LOCAL_READY_LISTEN)
		sshd_ports(container, readiness->ports);
	if (readiness->kind == MPIJOB__LOCAL_READY_RUNNING)
		readiness->ready = 1;
	else
		readiness->next_ms =
		    mpijob__base_clock_monotonic_ms() +
		    (readiness->kind == MPIJOB__LOCAL_READY_LISTEN
			    ? 0
			    : probe_number(container, "initialDelaySeconds", 0) * 1000);
}

static int probe_port(struct mpijob__local_container *container, uint16_t port, int listen)
{
	struct mpijob__local_pod *pod = container->pod;
	struct node_probe request = { 0 };
	uint64_t request_id = 0;
	int rc;

	request.sandbox = pod->id;
	request.port = port;
	request.timeout_ms = listen
				 ? LISTEN_TIMEOUT_MS
				 : (int32_t)(probe_number(container, "timeoutSeconds", 1) * 1000);
	request.retry_ms = listen ? LISTEN_RETRY_MS : 0;
	request.listen_only = listen;
	rc = mpijob__local_node_client_probe(mpijob__local_kubelet_node(pod->kubelet), &request,
	    &request_id);
	if (rc)
		return rc;
	container->readiness.pending++;
	return mpijob__local_kubelet_await(pod->kubelet, request_id, MPIJOB__LOCAL_REQUEST_PROBE,
	    pod->id, container->id);
}

static int probe_exec(struct mpijob__local_container *container)
{
	const mpijob_node *command = mpijob_node_find(probe_of(container), "exec.command");
	size_t count = mpijob_node_count(command);
	const char **argv = calloc(count + 1, sizeof(*argv));
	struct node_exec request = { 0 };
	uint64_t request_id = 0;
	int rc;

	if (!argv)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		argv[i] = mpijob_node_text(mpijob_node_at(command, i));
		argv[i] = argv[i] ? argv[i] : "";
	}
	request.container = container->id;
	request.argv = argv;
	request.fds[0] = request.fds[1] = request.fds[2] = -1;
	rc = mpijob__local_node_client_exec(mpijob__local_kubelet_node(container->pod->kubelet),
	    &request, &request_id);
	free(argv);
	if (rc)
		return rc;
	container->readiness.pending++;
	container->readiness.request = request_id;
	container->readiness.end_ms =
	    mpijob__base_clock_monotonic_ms() + probe_number(container, "timeoutSeconds", 1) * 1000;
	return mpijob__local_kubelet_await(container->pod->kubelet, request_id,
	    MPIJOB__LOCAL_REQUEST_PROBE, container->pod->id, container->id);
}

/* Kill a probe command after its timeout. The answer of the node then counts as a failure. */
static int enforce_exec_timeout(struct mpijob__local_container *container, int64_t clock_ms,
    int64_t *next_ms)
{
	struct mpijob__local_readiness *readiness = &container->readiness;
	uint64_t request_id = 0;

	if (readiness->request == 0)
		return 0;
	if (readiness->end_ms > clock_ms) {
		*next_ms = mpijob__base_clock_earlier(*next_ms, readiness->end_ms);
		return 0;
	}
	/* Retry: on a busy machine the node may not have started the process yet. */
	readiness->end_ms = clock_ms + KILL_RETRY_MS;
	*next_ms = mpijob__base_clock_earlier(*next_ms, readiness->end_ms);
	return mpijob__local_node_client_exec_signal(mpijob__local_kubelet_node(
							 container->pod->kubelet),
	    readiness->request, SIGKILL, &request_id);
}

int mpijob__local_pod_probe_run(struct mpijob__local_container *container, int64_t clock_ms,
    int64_t *next_ms)
{
	struct mpijob__local_readiness *readiness = &container->readiness;
	int rc = 0;

	if (container->state == MPIJOB__LOCAL_CONTAINER_RUNNING && readiness->next_ms < 0)
		return enforce_exec_timeout(container, clock_ms, next_ms);
	if (container->state != MPIJOB__LOCAL_CONTAINER_RUNNING)
		return 0;
	if (readiness->next_ms > clock_ms) {
		*next_ms = mpijob__base_clock_earlier(*next_ms, readiness->next_ms);
		return 0;
	}
	readiness->next_ms = -1;
	if (readiness->kind == MPIJOB__LOCAL_READY_EXEC) {
		rc = probe_exec(container);
		return rc ? rc : enforce_exec_timeout(container, clock_ms, next_ms);
	}
	rc = probe_port(container, readiness->ports[0],
	    readiness->kind == MPIJOB__LOCAL_READY_LISTEN);
	if (!rc && readiness->kind == MPIJOB__LOCAL_READY_LISTEN && readiness->ports[1])
		rc = probe_port(container, readiness->ports[1], 1);
	return rc;
}

static void count_result(struct mpijob__local_container *container, int success)
{
	struct mpijob__local_readiness *readiness = &container->readiness;

	readiness->successes = success ? readiness->successes + 1 : 0;
	readiness->failures = success ? 0 : readiness->failures + 1;
	if (readiness->successes >= probe_number(container, "successThreshold", 1))
		readiness->ready = 1;
	if (readiness->failures >= probe_number(container, "failureThreshold", 3))
		readiness->ready = 0;
	readiness->next_ms =
	    mpijob__base_clock_monotonic_ms() + probe_number(container, "periodSeconds", 10) * 1000;
}

void mpijob__local_pod_probe_answer(struct mpijob__local_container *container,
    const struct node_event *event)
{
	struct mpijob__local_readiness *readiness = &container->readiness;
	int success = event->type == NODE_ANS_OK
			  ? event->code == NODE_PROBE_OK
			  : event->type == NODE_ANS_EXITED && event->code == 0;

	readiness->pending--;
	readiness->request = 0;
	container->pod->dirty = 1;
	if (container->state != MPIJOB__LOCAL_CONTAINER_RUNNING)
		return;
	if (readiness->kind != MPIJOB__LOCAL_READY_LISTEN)
		count_result(container, success);
	else if (success)
		readiness->ready = 1;
	else if (readiness->pending == 0 && !readiness->ready)
		readiness->next_ms = mpijob__base_clock_monotonic_ms() + LISTEN_PERIOD_MS;
}

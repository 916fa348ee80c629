/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP probes without a process: a socket belongs to the network namespace in which it was created,
 * so the node enters the sandbox for one system call and connects from its own loop. A probe for a
 * listening socket reads the kernel's socket table, because sshd logs connections.
 */
#include "base/clock.h"
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATE_LISTEN 0x0A

static void enter_network(const struct sandbox *s)
{
	if (s->net >= 0 && setns(s->net, CLONE_NEWNET))
		die(MPIJOB_ERR_IO, "cannot enter a pod's network: %m");
}

static void leave_network(const struct node *node)
{
	if (setns(node->net, CLONE_NEWNET))
		die(MPIJOB_ERR_IO, "cannot return to the node's own network: %m");
}

static bool has_listener(FILE *table, unsigned port)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (!found && getline(&line, &size, table) > 0) {
		unsigned local;
		unsigned state;

		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &local, &state) ==
		    2)
			found = local == port && state == STATE_LISTEN;
	}
	free(line);
	return found;
}

static bool is_listening(const struct node *node, const struct sandbox *s, unsigned port)
{
	static const char *const tables[] = { "/proc/self/net/tcp", "/proc/self/net/tcp6" };
	FILE *files[2];
	bool found = false;

	enter_network(s);
	for (int i = 0; i < 2; i++)
		files[i] = fopen(tables[i], "re");
	leave_network(node);
	for (int i = 0; i < 2; i++) {
		if (files[i]) {
			found = found || has_listener(files[i], port);
			fclose(files[i]);
		}
	}
	return found;
}

static void finish(struct node *node, struct probe *probe, int code)
{
	for (struct probe **at = &node->probes; *at; at = &(*at)->next) {
		if (*at != probe)
			continue;
		*at = probe->next;
		answer_number(node, probe->request, NODE_F_CODE, (uint64_t)code);
		if (probe->fd >= 0)
			close(probe->fd);
		free(probe);
		return;
	}
}

static void retry_or_fail(struct node *node, struct probe *probe, int64_t now)
{
	if (probe->fd >= 0)
		close(probe->fd);
	probe->fd = -1;
	probe->at = now + probe->retry;
	if (!probe->retry || probe->at > probe->deadline)
		finish(node, probe, NODE_PROBE_REFUSED);
}

static void start_connect(struct node *node, struct probe *probe, const struct sandbox *s,
    int64_t now)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(probe->port),
		.sin_addr = s->address };

	enter_network(s);
	probe->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	leave_network(node);
	if (probe->fd < 0) {
		retry_or_fail(node, probe, now);
		return;
	}
	probe->at = 0;
	if (connect(probe->fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		finish(node, probe, NODE_PROBE_OK);
	else if (errno != EINPROGRESS)
		retry_or_fail(node, probe, now);
}

static void attempt(struct node *node, struct probe *probe, int64_t now)
{
	const struct sandbox *s = sandbox_find(node, probe->sandbox);

	if (!s)
		finish(node, probe, NODE_PROBE_REFUSED);
	else if (!probe->listen)
		start_connect(node, probe, s, now);
	else if (is_listening(node, s, probe->port))
		finish(node, probe, NODE_PROBE_OK);
	else
		retry_or_fail(node, probe, now);
}

void probe_start(struct node *node, const struct probe *wanted)
{
	struct probe *probe;
	int64_t now = mpijob__base_clock_monotonic_ms();

	if (!sandbox_find(node, wanted->sandbox)) {
		answer_error(node, wanted->request, MPIJOB_ERR_NOT_FOUND, 0,
		    "there is no such sandbox");
		return;
	}
	probe = must_alloc(sizeof(*probe));
	*probe = *wanted;
	probe->fd = -1;
	probe->deadline += now;
	probe->next = node->probes;
	node->probes = probe;
	attempt(node, probe, now);
}

/* `ready`: poll() reports that connecting has ended. */
void probe_step(struct node *node, struct probe *probe, int64_t now, bool ready)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (ready) {
		if (getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0)
			finish(node, probe, NODE_PROBE_OK);
		else
			retry_or_fail(node, probe, now);
	} else if (now >= probe->deadline) {
		finish(node, probe, probe->fd >= 0 ? NODE_PROBE_TIMEOUT : NODE_PROBE_REFUSED);
	} else if (probe->fd < 0 && now >= probe->at) {
		attempt(node, probe, now);
	}
}

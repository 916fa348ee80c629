/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exec server of a running cluster: an abstract Unix socket on which other processes of the
 * same user request to run a program in a pod. An abstract socket leaves no file behind. The kernel
 * reports the user of each client, and connections of other users are closed. When a client
 * disconnects, its program is killed.
 */
#define _GNU_SOURCE /* accept4, struct ucred */

#include "base/list.h"
#include "local/exec_socket.h"
#include "base/random.h"
#include "base/text.h"
#include "local/kubelet.h"
#include "local/node_client.h"
#include "local/pod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct exec_client {
	struct mpijob__local_event_source source; /* first */
	struct mpijob__base_list link;
	struct mpijob__local_exec_socket *socket;
	uint64_t request; /* exec request to the node; 0: none */
};

struct mpijob__local_exec_socket {
	struct mpijob__local_event_source source; /* first: listens */
	struct mpijob_local *local;
	struct mpijob__base_list clients;
};

char *mpijob__local_exec_socket_prefix(void)
{
	return mpijob__base_text_format("mpijob/%lu/", (unsigned long)geteuid());
}

const char *mpijob__local_exec_socket_text(const char **at, const char *end)
{
	const char *text = *at;
	const char *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

/* ---- clients ---- */

static void client_free(struct exec_client *exec_client)
{
	struct mpijob__local_exec_socket *sock = exec_client->socket;

	if (exec_client->request)
		mpijob__local_kubelet_exec_cancel(sock->local->kubelet, exec_client->request);
	mpijob__base_list_remove(&exec_client->link);
	mpijob__local_remove_fd(sock->local, &exec_client->source);
	close(exec_client->source.fd);
	free(exec_client);
}

static void answer(struct exec_client *exec_client, int error, int code, const char *text)
{
	struct mpijob__local_exec_head head = { MPIJOB__LOCAL_EXEC_VERSION, error, code, 1 };
	struct iovec parts[2];
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	text = text ? text : "";
	parts[0].iov_base = &head;
	parts[0].iov_len = sizeof(head);
	parts[1].iov_base = (void *)(uintptr_t)text;
	parts[1].iov_len = strlen(text) + 1;
	/* Errors do not matter: a client that disconnected needs no answer. */
	(void)!sendmsg(exec_client->source.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void exec_done(void *user, const struct node_event *event)
{
	struct exec_client *exec_client = user;

	exec_client->request = 0;
	if (event->type == NODE_ANS_EXITED)
		answer(exec_client, 0, event->code, event->text);
	else
		answer(exec_client, event->error ? event->error : MPIJOB_ERR_IO, 0, event->text);
}

/* Answer whether the container runs here; the text tells several clusters apart. */
static void answer_query(struct exec_client *exec_client, const char *namespace_, const char *pod,
    const char *container)
{
	struct mpijob_local *local = exec_client->socket->local;
	struct mpijob__local_object *object =
	    mpijob__local_store_find(&local->store, MPIJOB__LOCAL_KIND_POD, namespace_, pod);
	struct mpijob__local_container *found =
	    object && object->pod
		? mpijob__local_pod_find_container(object->pod, *container ? container : NULL)
		: NULL;
	char *text = mpijob__base_text_format("pod %s in namespace %s of process %ld", pod,
	    namespace_, (long)getpid());

	answer(exec_client,
	    found && found->state == MPIJOB__LOCAL_CONTAINER_RUNNING ? 0 : MPIJOB_ERR_NOT_FOUND, 0,
	    text);
	free(text);
}

static void start_exec(struct exec_client *exec_client,
    const struct mpijob__local_kubelet_exec *wanted)
{
	struct mpijob__local_kubelet_exec exec = *wanted;
	int rc;

	exec.done = exec_done;
	exec.user = exec_client;
	rc = mpijob__local_kubelet_exec(exec_client->socket->local->kubelet, &exec,
	    &exec_client->request);
	if (rc) {
		exec_client->request = 0;
		answer(exec_client, rc, 0,
		    rc == MPIJOB_ERR_NOT_FOUND ? "the container does not run"
					       : mpijob_error_text(rc));
	}
}

static void read_request(struct exec_client *exec_client, const char *packet, size_t len,
    const int fds[3])
{
	struct mpijob__local_kubelet_exec exec = { .fds = { fds[0], fds[1], fds[2] } };
	struct mpijob__local_exec_head head;
	const char *at = packet + sizeof(head);
	const char *end = packet + len;
	const char **argv;

	memcpy(&head, packet, sizeof(head));
	exec.namespace_ = mpijob__local_exec_socket_text(&at, end);
	exec.pod = mpijob__local_exec_socket_text(&at, end);
	exec.container = mpijob__local_exec_socket_text(&at, end);
	if (head.version != MPIJOB__LOCAL_EXEC_VERSION || !exec.container || head.count < 3 ||
	    head.count > len || exec_client->request) {
		answer(exec_client, MPIJOB_ERR_UNSUPPORTED, 0,
		    "this cluster uses another version of the exec protocol");
		return;
	}
	if (head.what == MPIJOB__LOCAL_EXEC_QUERY) {
		answer_query(exec_client, exec.namespace_, exec.pod, exec.container);
		return;
	}
	argv = calloc(head.count, sizeof(*argv));
	for (size_t i = 0; argv && i + 3 < head.count; i++)
		argv[i] = mpijob__local_exec_socket_text(&at, end);
	exec.argv = argv;
	exec.container = *exec.container ? exec.container : NULL;
	if (!argv || !argv[0] || fds[2] < 0)
		answer(exec_client, argv ? MPIJOB_ERR_USAGE : MPIJOB_ERR_NOMEM, 0, NULL);
	else
		start_exec(exec_client, &exec);
	free(argv);
}

static void receive_fds(struct msghdr *message, int fds[3])
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
			if (i < 3 && fds[i] < 0)
				fds[i] = fd;
			else
				close(fd);
		}
	}
}

static void receive(struct exec_client *exec_client, char *packet)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * 3)];
	} control = { 0 };
	struct iovec part = { packet, MPIJOB__LOCAL_EXEC_MAX_PACKET };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space };
	int fds[3] = { -1, -1, -1 };
	ssize_t len;

	message.msg_controllen = sizeof(control.space);
	len = recvmsg(exec_client->source.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0)
		receive_fds(&message, fds);
	if (len < (ssize_t)sizeof(struct mpijob__local_exec_head) ||
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		client_free(exec_client);
	else
		read_request(exec_client, packet, (size_t)len, fds);
	for (int i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static void run_client(struct mpijob__local_event_source *source)
{
	struct exec_client *exec_client = (struct exec_client *)source;
	char *packet = malloc(MPIJOB__LOCAL_EXEC_MAX_PACKET);

	if (packet)
		receive(exec_client, packet);
	else
		client_free(exec_client);
	free(packet);
}

/* ---- listener ---- */

static int is_own_user(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static void run_listener(struct mpijob__local_event_source *source)
{
	struct mpijob__local_exec_socket *sock = (struct mpijob__local_exec_socket *)source;
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct exec_client *exec_client =
	    fd >= 0 && is_own_user(fd) ? calloc(1, sizeof(*exec_client)) : NULL;

	if (!exec_client) {
		if (fd >= 0)
			close(fd);
		return;
	}
	exec_client->source.fd = fd;
	exec_client->source.run = run_client;
	exec_client->socket = sock;
	mpijob__base_list_insert(sock->clients.next, &exec_client->link, exec_client);
	if (mpijob__local_add_fd(sock->local, &exec_client->source, 0))
		client_free(exec_client);
}

static int bind_name(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char suffix[6] = "";
	char *prefix = mpijob__local_exec_socket_prefix();
	char *name = prefix && !mpijob__base_random_suffix(suffix, 5)
			 ? mpijob__base_text_format("%s%ld-%s", prefix, (long)getpid(), suffix)
			 : NULL;
	size_t len = name ? strlen(name) : 0;
	int rc = name && len < sizeof(address.sun_path) ? 0 : MPIJOB_ERR_NOMEM;

	if (!rc) {
		memcpy(address.sun_path + 1, name, len);
		if (bind(fd, (struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) ||
		    listen(fd, 16))
			rc = MPIJOB_ERR_IO;
	}
	free(prefix);
	free(name);
	return rc;
}

int mpijob__local_exec_socket_new(struct mpijob_local *local,
    struct mpijob__local_exec_socket **out)
{
	struct mpijob__local_exec_socket *sock = calloc(1, sizeof(*sock));
	int rc;

	if (!sock)
		return MPIJOB_ERR_NOMEM;
	mpijob__base_list_init(&sock->clients);
	sock->local = local;
	sock->source.run = run_listener;
	sock->source.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = sock->source.fd < 0 ? MPIJOB_ERR_IO : bind_name(sock->source.fd);
	if (!rc)
		rc = mpijob__local_add_fd(local, &sock->source, 0);
	if (rc) {
		mpijob__local_exec_socket_free(sock);
		return rc;
	}
	*out = sock;
	return 0;
}

void mpijob__local_exec_socket_free(struct mpijob__local_exec_socket *sock)
{
	if (!sock)
		return;
	while (sock->clients.next->owner)
		client_free(sock->clients.next->owner);
	if (sock->source.fd >= 0) {
		mpijob__local_remove_fd(sock->local, &sock->source);
		close(sock->source.fd);
	}
	free(sock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door of a running cluster: an abstract Unix socket on which other processes of the same user
 * ask to run a program in a pod. It has no file, so nothing stays; who asks is known from the
 * kernel, and anybody else is not heard. When an asker goes away, what it started is killed.
 */
#define _GNU_SOURCE /* accept4, struct ucred */

#include "exec_socket.h"
#include "base/list.h"
#include "base/random.h"
#include "base/text.h"
#include "kubelet.h"
#include "node_client.h"
#include "pod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct visitor {
	struct mpijob__local_source source; /* first */
	struct mpijob__base_list link;
	struct exec_socket *socket;
	uint64_t request; /* what runs for it; 0: nothing */
};

struct exec_socket {
	struct mpijob__local_source source; /* first: listens */
	struct mpijob_local *local;
	struct mpijob__base_list visitors;
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

/* Visitors. */

static void visitor_free(struct visitor *visitor)
{
	struct exec_socket *sock = visitor->socket;

	if (visitor->request)
		mpijob__local_kubelet_exec_drop(sock->local->kubelet, visitor->request);
	mpijob__base_list_remove(&visitor->link);
	mpijob__local_forget_fd(sock->local, &visitor->source);
	close(visitor->source.fd);
	free(visitor);
}

static void answer(struct visitor *visitor, int error, int code, const char *text)
{
	struct exec_head head = { EXEC_VERSION, error, code, 1 };
	struct iovec parts[2];
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	text = text ? text : "";
	parts[0].iov_base = &head;
	parts[0].iov_len = sizeof(head);
	parts[1].iov_base = (void *)(uintptr_t)text;
	parts[1].iov_len = strlen(text) + 1;
	/* A visitor that is gone needs no answer. */
	(void)!sendmsg(visitor->source.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void ended(void *user, const struct node_event *event)
{
	struct visitor *visitor = user;

	visitor->request = 0;
	if (event->type == NODE_ANS_EXITED)
		answer(visitor, 0, event->code, event->text);
	else
		answer(visitor, event->error ? event->error : MPIJOB_ERR_IO, 0, event->text);
}

/* "pod pi-launcher-x1y2z of process 123", for a choice between several. */
static void answer_where(struct visitor *visitor, const char *namespace_, const char *pod,
    const char *container)
{
	struct mpijob_local *local = visitor->socket->local;
	struct object *object = mpijob__local_store_find(&local->store, KIND_POD, namespace_, pod);
	struct container *found =
	    object && object->pod
		? mpijob__local_pod_find_container(object->pod, *container ? container : NULL)
		: NULL;
	char *text = mpijob__base_text_format("pod %s in namespace %s of process %ld", pod,
	    namespace_, (long)getpid());

	answer(visitor, found && found->state == CONTAINER_RUNNING ? 0 : MPIJOB_ERR_NOT_FOUND, 0,
	    text);
	free(text);
}

static void run_for(struct visitor *visitor, const struct kubelet_exec *wanted)
{
	struct kubelet_exec exec = *wanted;
	int error;

	exec.done = ended;
	exec.user = visitor;
	error =
	    mpijob__local_kubelet_exec(visitor->socket->local->kubelet, &exec, &visitor->request);
	if (error) {
		visitor->request = 0;
		answer(visitor, error, 0,
		    error == MPIJOB_ERR_NOT_FOUND ? "no such container runs"
						  : mpijob_error_text(error));
	}
}

static void read_request(struct visitor *visitor, const char *packet, size_t len, const int fds[3])
{
	struct kubelet_exec exec = { .fds = { fds[0], fds[1], fds[2] } };
	struct exec_head head;
	const char *at = packet + sizeof(head);
	const char *end = packet + len;
	const char **argv;

	memcpy(&head, packet, sizeof(head));
	exec.namespace_ = mpijob__local_exec_socket_text(&at, end);
	exec.pod = mpijob__local_exec_socket_text(&at, end);
	exec.container = mpijob__local_exec_socket_text(&at, end);
	if (head.version != EXEC_VERSION || !exec.container || head.count < 3 || head.count > len ||
	    visitor->request) {
		answer(visitor, MPIJOB_ERR_UNSUPPORTED, 0, "this cluster speaks another language");
		return;
	}
	if (head.what == EXEC_ASK) {
		answer_where(visitor, exec.namespace_, exec.pod, exec.container);
		return;
	}
	argv = calloc(head.count, sizeof(*argv));
	for (size_t i = 0; argv && i + 3 < head.count; i++)
		argv[i] = mpijob__local_exec_socket_text(&at, end);
	exec.argv = argv;
	exec.container = *exec.container ? exec.container : NULL;
	if (!argv || !argv[0] || fds[2] < 0)
		answer(visitor, argv ? MPIJOB_ERR_USAGE : MPIJOB_ERR_NOMEM, 0, NULL);
	else
		run_for(visitor, &exec);
	free(argv);
}

static void take_fds(struct msghdr *message, int fds[3])
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

static void receive(struct visitor *visitor, char *packet)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * 3)];
	} control = { 0 };
	struct iovec part = { packet, EXEC_MAX_PACKET };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space };
	int fds[3] = { -1, -1, -1 };
	ssize_t len;

	message.msg_controllen = sizeof(control.space);
	len = recvmsg(visitor->source.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0)
		take_fds(&message, fds);
	if (len < (ssize_t)sizeof(struct exec_head) ||
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		visitor_free(visitor);
	else
		read_request(visitor, packet, (size_t)len, fds);
	for (int i = 0; i < 3; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static void run_visitor(struct mpijob__local_source *source)
{
	struct visitor *visitor = (struct visitor *)source;
	char *packet = malloc(EXEC_MAX_PACKET);

	if (packet)
		receive(visitor, packet);
	else
		visitor_free(visitor);
	free(packet);
}

/* Listening. */

static int is_own_user(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static void run_listener(struct mpijob__local_source *source)
{
	struct exec_socket *sock = (struct exec_socket *)source;
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct visitor *visitor = fd >= 0 && is_own_user(fd) ? calloc(1, sizeof(*visitor)) : NULL;

	if (!visitor) {
		if (fd >= 0)
			close(fd);
		return;
	}
	visitor->source.fd = fd;
	visitor->source.run = run_visitor;
	visitor->socket = sock;
	mpijob__base_list_insert(sock->visitors.next, &visitor->link, visitor);
	if (mpijob__local_watch_fd(sock->local, &visitor->source, 0))
		visitor_free(visitor);
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
	int error = name && len < sizeof(address.sun_path) ? 0 : MPIJOB_ERR_NOMEM;

	if (!error) {
		memcpy(address.sun_path + 1, name, len);
		if (bind(fd, (struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) ||
		    listen(fd, 16))
			error = MPIJOB_ERR_IO;
	}
	free(prefix);
	free(name);
	return error;
}

int mpijob__local_exec_socket_new(struct mpijob_local *local, struct exec_socket **out)
{
	struct exec_socket *sock = calloc(1, sizeof(*sock));
	int error;

	if (!sock)
		return MPIJOB_ERR_NOMEM;
	mpijob__base_list_init(&sock->visitors);
	sock->local = local;
	sock->source.run = run_listener;
	sock->source.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	error = sock->source.fd < 0 ? MPIJOB_ERR_IO : bind_name(sock->source.fd);
	if (!error)
		error = mpijob__local_watch_fd(local, &sock->source, 0);
	if (error) {
		mpijob__local_exec_socket_free(sock);
		return error;
	}
	*out = sock;
	return 0;
}

void mpijob__local_exec_socket_free(struct exec_socket *sock)
{
	if (!sock)
		return;
	while (sock->visitors.next->owner)
		visitor_free(sock->visitors.next->owner);
	if (sock->source.fd >= 0) {
		mpijob__local_forget_fd(sock->local, &sock->source);
		close(sock->source.fd);
	}
	free(sock);
}

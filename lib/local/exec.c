/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program in a pod of a cluster in another process (`mpijob exec`). The clusters of this
 * user are found in the kernel's list of Unix sockets. Each is asked whether the pod runs there.
 * The one that has the pod receives the command and our descriptors, and answers when the program
 * ends.
 */
#define _GNU_SOURCE /* struct ucred */

#include "base/text.h"
#include "local/exec_socket.h"

#include <mpijob/local.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Add a finding and return `error`. Takes ownership of `message`. */
static int report(mpijob_diag *diag, int error, int32_t severity, const char *id, char *message)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	if (!message)
		return MPIJOB_ERR_NOMEM;
	finding.severity = severity;
	finding.id = id;
	finding.message = message;
	mpijob_diag_add(diag, &finding);
	free(message);
	return error;
}

/* ---- sockets ---- */

struct socket_names {
	char **list;
	size_t count;
};

static void clear_names(struct socket_names *socket_names)
{
	for (size_t i = 0; i < socket_names->count; i++)
		free(socket_names->list[i]);
	free(socket_names->list);
}

static int add_name(struct socket_names *socket_names, const char *name)
{
	char **list;

	/* A listener and its connections have the same name. */
	for (size_t i = 0; i < socket_names->count; i++) {
		if (strcmp(socket_names->list[i], name) == 0)
			return 0;
	}
	list = realloc(socket_names->list, (socket_names->count + 1) * sizeof(*list));
	if (!list)
		return MPIJOB_ERR_NOMEM;
	socket_names->list = list;
	list[socket_names->count] = strdup(name);
	if (!list[socket_names->count])
		return MPIJOB_ERR_NOMEM;
	socket_names->count++;
	return 0;
}

static int find_names(struct socket_names *socket_names, const char *prefix)
{
	FILE *table = fopen("/proc/net/unix", "re");
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	while (table && !rc && getline(&line, &size, table) > 0) {
		char *at = strchr(line, '@');

		line[strcspn(line, "\n")] = 0;
		if (at && strncmp(at + 1, prefix, strlen(prefix)) == 0)
			rc = add_name(socket_names, at + 1);
	}
	free(line);
	if (table)
		fclose(table);
	return rc;
}

/* Connect to a socket of this user. -1: it does not exist, or belongs to another user. */
static int connect_to(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd =
	    len < sizeof(address.sun_path) ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
	struct ucred peer;
	socklen_t peer_len = sizeof(peer);

	if (fd < 0)
		return -1;
	memcpy(address.sun_path + 1, name, len);
	if (connect(fd, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) || peer.uid != geteuid()) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- packets ---- */

static int send_packet(int fd, const mpijob_text *packet, const int *fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * 3)];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)mpijob_text_data(packet),
		mpijob_text_len(packet) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (fds) {
		struct cmsghdr *header;

		message.msg_control = control.space;
		message.msg_controllen = sizeof(control.space);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * 3);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * 3);
	}
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? MPIJOB_ERR_IO : 0;
}

/* Receive an answer. The caller frees *text. */
static int receive_answer(int fd, struct mpijob__local_exec_head *head, char **text)
{
	char *packet = malloc(MPIJOB__LOCAL_EXEC_MAX_PACKET);
	const char *at;
	const char *found;
	ssize_t len;

	if (!packet)
		return MPIJOB_ERR_NOMEM;
	do
		len = recv(fd, packet, MPIJOB__LOCAL_EXEC_MAX_PACKET, 0);
	while (len < 0 && errno == EINTR);
	if (len < (ssize_t)sizeof(*head)) {
		free(packet);
		return MPIJOB_ERR_IO;
	}
	memcpy(head, packet, sizeof(*head));
	at = packet + sizeof(*head);
	found = mpijob__local_exec_socket_text(&at, packet + len);
	*text = strdup(found ? found : "");
	free(packet);
	return *text ? 0 : MPIJOB_ERR_NOMEM;
}

static int put_text(mpijob_text *packet, const char *text)
{
	return mpijob_text_write(packet, text, strlen(text) + 1);
}

static mpijob_text *make_packet(const struct mpijob_local_exec_options *exec, int what)
{
	struct mpijob__local_exec_head head = { MPIJOB__LOCAL_EXEC_VERSION, what, 0, 3 };
	mpijob_text *packet = mpijob_text_new();
	int rc = packet ? 0 : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; what == MPIJOB__LOCAL_EXEC_RUN && exec->argv[i]; i++)
		head.count++;
	if (!rc)
		rc = mpijob_text_write(packet, (const char *)&head, sizeof(head));
	if (!rc)
		rc = put_text(packet, exec->namespace_ ? exec->namespace_ : "default");
	if (!rc)
		rc = put_text(packet, exec->pod);
	if (!rc)
		rc = put_text(packet, exec->container ? exec->container : "");
	for (size_t i = 0; !rc && i + 3 < head.count; i++)
		rc = put_text(packet, exec->argv[i]);
	if (!rc)
		return packet;
	mpijob_text_free(packet);
	return NULL;
}

/* ---- find the pod ---- */

struct match {
	int fd; /* connection to the first cluster that has the pod; -1: none has it */
	size_t count;
	mpijob_text *locations;
};

static int query(const struct mpijob_local_exec_options *exec, const char *name,
    struct match *match)
{
	mpijob_text *packet = make_packet(exec, MPIJOB__LOCAL_EXEC_QUERY);
	struct mpijob__local_exec_head head;
	char *text = NULL;
	int fd = connect_to(name);
	int rc = 0;

	if (!packet)
		rc = MPIJOB_ERR_NOMEM;
	/* A cluster that ends meanwhile has no pods. */
	if (!rc && fd >= 0 && send_packet(fd, packet, NULL) == 0 &&
	    receive_answer(fd, &head, &text) == 0 && head.what == 0) {
		if (match->count++ > 0)
			rc = mpijob_text_write(match->locations, "; ", 2);
		if (!rc)
			rc = mpijob_text_write(match->locations, text, strlen(text));
		if (match->fd < 0) {
			match->fd = fd;
			fd = -1;
		}
	}
	if (fd >= 0)
		close(fd);
	free(text);
	mpijob_text_free(packet);
	return rc;
}

static int find_pod(const struct mpijob_local_exec_options *exec, struct match *match,
    mpijob_diag *diag)
{
	char *prefix = mpijob__local_exec_socket_prefix();
	struct socket_names socket_names = { NULL, 0 };
	int rc = prefix ? find_names(&socket_names, prefix) : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; i < socket_names.count && !rc; i++)
		rc = query(exec, socket_names.list[i], match);
	free(prefix);
	clear_names(&socket_names);
	if (rc || match->count == 1)
		return rc;
	if (match->count > 1)
		return report(diag, MPIJOB_ERR_NOT_FOUND, MPIJOB_SEVERITY_ERROR, "several-pods",
		    mpijob__base_text_format("several pods match: %s",
			mpijob_text_data(match->locations)));
	return report(diag, MPIJOB_ERR_NOT_FOUND, MPIJOB_SEVERITY_ERROR, "no-pod",
	    mpijob__base_text_format(
		"no pod %s%s%s runs in namespace %s of any local cluster of this user", exec->pod,
		exec->container ? " with a container " : "", exec->container ? exec->container : "",
		exec->namespace_ ? exec->namespace_ : "default"));
}

/* ---- run ---- */

/* Replace descriptors below 0 by /dev/null. */
static int fill_fds(const struct mpijob_local_exec_options *exec, int fds[3], int *null)
{
	*null = -1;
	for (int i = 0; i < 3; i++) {
		fds[i] = exec->fds[i];
		if (fds[i] >= 0)
			continue;
		if (*null < 0)
			*null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (*null < 0)
			return MPIJOB_ERR_IO;
		fds[i] = *null;
	}
	return 0;
}

/* Set the exit code, or report the error. Takes ownership of `text`. */
static int read_result(const struct mpijob__local_exec_head *head, char *text, int *exit_code,
    mpijob_diag *diag)
{
	if (*text || head->what)
		report(diag, 0, MPIJOB_SEVERITY_ERROR, "exec-failed",
		    mpijob__base_text_format("%s", *text ? text : mpijob_error_text(head->what)));
	free(text);
	if (head->what)
		return head->what;
	*exit_code = head->code;
	return 0;
}

static int run_in_pod(const struct mpijob_local_exec_options *exec, int fd, int *exit_code,
    mpijob_diag *diag)
{
	mpijob_text *packet = make_packet(exec, MPIJOB__LOCAL_EXEC_RUN);
	struct mpijob__local_exec_head head;
	char *text = NULL;
	int fds[3];
	int null = -1;
	int rc = packet ? fill_fds(exec, fds, &null) : MPIJOB_ERR_NOMEM;

	if (!rc && mpijob_text_len(packet) > MPIJOB__LOCAL_EXEC_MAX_PACKET)
		rc = report(diag, MPIJOB_ERR_USAGE, MPIJOB_SEVERITY_ERROR, "too-long",
		    mpijob__base_text_format("the command is longer than %u bytes",
			MPIJOB__LOCAL_EXEC_MAX_PACKET));
	if (!rc)
		rc = send_packet(fd, packet, fds);
	if (!rc)
		rc = receive_answer(fd, &head, &text);
	if (null >= 0)
		close(null);
	mpijob_text_free(packet);
	if (rc == MPIJOB_ERR_IO)
		return report(diag, rc, MPIJOB_SEVERITY_ERROR, "exec-failed",
		    mpijob__base_text_format("the local cluster ended before the program did"));
	return rc ? rc : read_result(&head, text, exit_code, diag);
}

static int read_options(const struct mpijob_local_exec_options *given,
    struct mpijob_local_exec_options *exec)
{
	const unsigned char *bytes = (const unsigned char *)given;

	if (!given || given->size < sizeof(*exec))
		return MPIJOB_ERR_USAGE;
	for (size_t i = sizeof(*exec); i < given->size; i++) {
		if (bytes[i])
			return MPIJOB_ERR_UNSUPPORTED;
	}
	*exec = *given;
	return exec->pod && exec->argv && exec->argv[0] ? 0 : MPIJOB_ERR_USAGE;
}

int mpijob_local_exec(const struct mpijob_local_exec_options *given, int *exit_code,
    mpijob_diag *diag)
{
	struct mpijob_local_exec_options exec;
	struct match match = { -1, 0, NULL };
	int rc = exit_code ? read_options(given, &exec) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	match.locations = mpijob_text_new();
	rc = match.locations ? find_pod(&exec, &match, diag) : MPIJOB_ERR_NOMEM;
	if (!rc)
		rc = run_in_pod(&exec, match.fd, exit_code, diag);
	if (match.fd >= 0)
		close(match.fd);
	mpijob_text_free(match.locations);
	return rc;
}

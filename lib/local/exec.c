/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a program in a pod from another process: which clusters of this user there are is read
 * from the kernel's list of sockets; each is asked whether the pod runs there; the one that says
 * yes gets the command and our descriptors, and answers when it ended.
 */
#define _GNU_SOURCE /* struct ucred */

#include "base/text.h"
#include "exec_socket.h"

#include <mpijob/local.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* `message` is taken. */
static int refuse(mpijob_diag *diag, int error, int32_t severity, const char *id, char *message)
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

/* Sockets. */

struct names {
	char **list;
	size_t count;
};

static void clear_names(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static int add_name(struct names *names, const char *name)
{
	char **list;

	/* A listener and its connections carry the same name. */
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->list[i], name) == 0)
			return 0;
	}
	list = realloc(names->list, (names->count + 1) * sizeof(*list));
	if (!list)
		return MPIJOB_ERR_NOMEM;
	names->list = list;
	list[names->count] = strdup(name);
	if (!list[names->count])
		return MPIJOB_ERR_NOMEM;
	names->count++;
	return 0;
}

static int find_names(struct names *names, const char *prefix)
{
	FILE *table = fopen("/proc/net/unix", "re");
	char *line = NULL;
	size_t size = 0;
	int error = 0;

	while (table && !error && getline(&line, &size, table) > 0) {
		char *at = strchr(line, '@');

		line[strcspn(line, "\n")] = 0;
		if (at && strncmp(at + 1, prefix, strlen(prefix)) == 0)
			error = add_name(names, at + 1);
	}
	free(line);
	if (table)
		fclose(table);
	return error;
}

/* -1 when nobody, or somebody else, is there. */
static int reach(const char *name)
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

/* Packets. */

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

/* The answer's text is malloc'ed. */
static int receive_answer(int fd, struct exec_head *head, char **text)
{
	char *packet = malloc(EXEC_MAX_PACKET);
	const char *at;
	const char *found;
	ssize_t len;

	if (!packet)
		return MPIJOB_ERR_NOMEM;
	do
		len = recv(fd, packet, EXEC_MAX_PACKET, 0);
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
	struct exec_head head = { EXEC_VERSION, what, 0, 3 };
	mpijob_text *packet = mpijob_text_new();
	int error = packet ? 0 : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; what == EXEC_RUN && exec->argv[i]; i++)
		head.count++;
	if (!error)
		error = mpijob_text_write(packet, (const char *)&head, sizeof(head));
	if (!error)
		error = put_text(packet, exec->namespace_ ? exec->namespace_ : "default");
	if (!error)
		error = put_text(packet, exec->pod);
	if (!error)
		error = put_text(packet, exec->container ? exec->container : "");
	for (size_t i = 0; !error && i + 3 < head.count; i++)
		error = put_text(packet, exec->argv[i]);
	if (!error)
		return packet;
	mpijob_text_free(packet);
	return NULL;
}

/* Choosing. */

struct choice {
	int fd; /* of the cluster that has the pod; -1: none */
	size_t count;
	mpijob_text *where;
};

static int ask(const struct mpijob_local_exec_options *exec, const char *name,
    struct choice *choice)
{
	mpijob_text *packet = make_packet(exec, EXEC_ASK);
	struct exec_head head;
	char *text = NULL;
	int fd = reach(name);
	int error = 0;

	if (!packet)
		error = MPIJOB_ERR_NOMEM;
	/* One that goes away while we ask has no pods. */
	if (!error && fd >= 0 && send_packet(fd, packet, NULL) == 0 &&
	    receive_answer(fd, &head, &text) == 0 && head.what == 0) {
		if (choice->count++ > 0)
			error = mpijob_text_write(choice->where, "; ", 2);
		if (!error)
			error = mpijob_text_write(choice->where, text, strlen(text));
		if (choice->fd < 0) {
			choice->fd = fd;
			fd = -1;
		}
	}
	if (fd >= 0)
		close(fd);
	free(text);
	mpijob_text_free(packet);
	return error;
}

static int choose(const struct mpijob_local_exec_options *exec, struct choice *choice,
    mpijob_diag *diag)
{
	char *prefix = mpijob__local_exec_socket_prefix();
	struct names names = { NULL, 0 };
	int error = prefix ? find_names(&names, prefix) : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; i < names.count && !error; i++)
		error = ask(exec, names.list[i], choice);
	free(prefix);
	clear_names(&names);
	if (error || choice->count == 1)
		return error;
	if (choice->count > 1)
		return refuse(diag, MPIJOB_ERR_NOT_FOUND, MPIJOB_SEVERITY_ERROR, "several-pods",
		    mpijob__base_text_format("several such pods run: %s",
			mpijob_text_data(choice->where)));
	return refuse(diag, MPIJOB_ERR_NOT_FOUND, MPIJOB_SEVERITY_ERROR, "no-pod",
	    mpijob__base_text_format(
		"no pod %s%s%s runs in namespace %s of any local cluster of this user", exec->pod,
		exec->container ? " with a container " : "", exec->container ? exec->container : "",
		exec->namespace_ ? exec->namespace_ : "default"));
}

/* Running. */

/* A descriptor that is not given is /dev/null. */
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

/* `text` is taken. */
static int read_end(const struct exec_head *head, char *text, int *exit_code, mpijob_diag *diag)
{
	if (*text || head->what)
		refuse(diag, 0, MPIJOB_SEVERITY_ERROR, "exec-failed",
		    mpijob__base_text_format("%s", *text ? text : mpijob_error_text(head->what)));
	free(text);
	if (head->what)
		return head->what;
	*exit_code = head->code;
	return 0;
}

static int run_there(const struct mpijob_local_exec_options *exec, int fd, int *exit_code,
    mpijob_diag *diag)
{
	mpijob_text *packet = make_packet(exec, EXEC_RUN);
	struct exec_head head;
	char *text = NULL;
	int fds[3];
	int null = -1;
	int error = packet ? fill_fds(exec, fds, &null) : MPIJOB_ERR_NOMEM;

	if (!error && mpijob_text_len(packet) > EXEC_MAX_PACKET)
		error = refuse(diag, MPIJOB_ERR_USAGE, MPIJOB_SEVERITY_ERROR, "too-long",
		    mpijob__base_text_format("the command is longer than %u bytes",
			EXEC_MAX_PACKET));
	if (!error)
		error = send_packet(fd, packet, fds);
	if (!error)
		error = receive_answer(fd, &head, &text);
	if (null >= 0)
		close(null);
	mpijob_text_free(packet);
	if (error == MPIJOB_ERR_IO)
		return refuse(diag, error, MPIJOB_SEVERITY_ERROR, "exec-failed",
		    mpijob__base_text_format("the local cluster ended before the program did"));
	return error ? error : read_end(&head, text, exit_code, diag);
}

static int read_exec(const struct mpijob_local_exec_options *given,
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
	struct choice choice = { -1, 0, NULL };
	int error = exit_code ? read_exec(given, &exec) : MPIJOB_ERR_USAGE;

	if (error)
		return error;
	choice.where = mpijob_text_new();
	error = choice.where ? choose(&exec, &choice, diag) : MPIJOB_ERR_NOMEM;
	if (!error)
		error = run_there(&exec, choice.fd, exit_code, diag);
	if (choice.fd >= 0)
		close(choice.fd);
	mpijob_text_free(choice.where);
	return error;
}

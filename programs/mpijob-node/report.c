/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fatal errors. The node reports its last message to the parent; a child reports to the node.
 * Running out of memory is fatal in each process of this program.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_TEXT 32768

static struct {
	int fd;
	bool parent;
} target = { -1, false }; /* where this process reports; set after each fork */

void report_to_parent(int fd)
{
	target.fd = fd;
	target.parent = true;
}

void report_to_node(int fd)
{
	target.fd = fd;
	target.parent = false;
}

void report_move(int fd)
{
	if (target.fd == fd)
		return;
	if (dup3(target.fd, fd, O_CLOEXEC) < 0)
		die(MPIJOB_ERR_IO, "cannot move a descriptor: %m");
	close(target.fd);
	target.fd = fd;
}

static void send_to_parent(int error, int number, const char *text)
{
	struct node_channel channel;
	struct node_writer w;

	mpijob__local_node_message_begin(&w, NODE_EVT_FATAL, 0);
	mpijob__local_node_message_put_number(&w, NODE_F_ERROR, (uint64_t)-error);
	mpijob__local_node_message_put_number(&w, NODE_F_ERRNO, (uint64_t)number);
	mpijob__local_node_message_put_text(&w, NODE_F_TEXT, text);
	mpijob__local_node_message_channel_init(&channel, target.fd);
	if (mpijob__local_node_message_send(&channel, &w) == 0)
		mpijob__local_node_message_flush(&channel);
}

static void send_to_node(int error, int number, pid_t pid, const char *text)
{
	struct child_report report = { error, number, pid };
	struct iovec parts[2] = { { &report, sizeof(report) },
		{ (char *)(uintptr_t)text, strlen(text) + 1 } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };

	if (parts[1].iov_len > MAX_TEXT)
		parts[1].iov_len = MAX_TEXT; /* the receiver adds a NUL */
	while (sendmsg(target.fd, &msg, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

_Noreturn static void fail(int error, int number, const char *text)
{
	if (target.parent)
		send_to_parent(error, number, text);
	else if (target.fd >= 0)
		send_to_node(error, number, 0, text);
	_exit(target.parent ? 1 : 127);
}

_Noreturn static void die_list(int error, int number, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		fail(MPIJOB_ERR_NOMEM, ENOMEM, "out of memory");
	fail(error, number, text);
}

_Noreturn void die(int error, const char *format, ...)
{
	int number = errno;
	va_list args;

	va_start(args, format);
	die_list(error, number, format, args);
}

_Noreturn void die_errno(int number, int error, const char *format, ...)
{
	va_list args;

	errno = number;
	va_start(args, format);
	die_list(error, number, format, args);
}

char *format_text(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		fail(MPIJOB_ERR_NOMEM, ENOMEM, "out of memory");
	va_end(args);
	return text;
}

void *must_alloc(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		fail(MPIJOB_ERR_NOMEM, ENOMEM, "out of memory");
	return memory;
}

void *must_grow(void *list, size_t count, size_t size)
{
	/* Double the capacity when the count is a power of two. */
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * count : 1) * size);
	if (!list)
		fail(MPIJOB_ERR_NOMEM, ENOMEM, "out of memory");
	return list;
}

char *must_copy(const char *text)
{
	return format_text("%s", text);
}

void report_pid(pid_t pid)
{
	send_to_node(0, 0, pid, "");
}

struct child_report *report_receive(int fd)
{
	struct child_report *report = must_alloc(sizeof(*report) + MAX_TEXT + 1);
	ssize_t n;

	do {
		n = recv(fd, report, sizeof(*report) + MAX_TEXT, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n > (ssize_t)sizeof(*report))
		return report;
	free(report);
	errno = n < 0 ? errno : 0;
	return NULL;
}

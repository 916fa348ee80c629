/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs another command in a container. setns() into a PID namespace affects only later children, so
 * a helper process joins the namespaces, clones the command's process as a child of the node
 * (CLONE_PARENT), reports its pid to the node, and exits. The process continues only then; so the
 * node knows the pid before it reaps the process.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_namespace(pid_t pid, const char *name)
{
	char *path = format_text("/proc/%ld/ns/%s", (long)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "the container is ending");
	free(path);
	return fd;
}

_Noreturn static void run_helper(const struct node *node, const struct container *container,
    const struct spec *spec, int control)
{
	int user, mounts, pids, go[2];
	char byte;
	pid_t pid;

	/* First: from here on errors, for example because the container is ending, are errors of
	 * this exec. */
	report_to_node(control);
	user = open_namespace(container->pid, "user");
	mounts = open_namespace(container->pid, "mnt");
	pids = open_namespace(container->pid, "pid");
	sandbox_enter(container->sandbox);
	if (setns(pids, CLONE_NEWPID) || setns(mounts, CLONE_NEWNS) || pipe2(go, O_CLOEXEC))
		die(MPIJOB_ERR_IO, "cannot enter the container: %m");
	pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (pid < 0)
		die(MPIJOB_ERR_IO, "cannot start a process in the container: %m");
	if (pid > 0) {
		report_pid(pid);
		_exit(0);
	}
	close(go[1]);
	(void)!read(go[0], &byte, 1);
	if (node->identity.kind == NODE_IDENTITY_SINGLE && setns(user, CLONE_NEWUSER))
		die(MPIJOB_ERR_IO, "cannot enter the container's user namespace: %m");
	container_run_command(node, container, spec);
}

static void remove_exec(struct node *node, struct exec *exec)
{
	for (struct exec **at = &node->execs; *at; at = &(*at)->next) {
		if (*at != exec)
			continue;
		*at = exec->next;
		if (exec->control >= 0)
			close(exec->control);
		free(exec->failure);
		free(exec);
		return;
	}
}

static void start_helper(struct node *node, uint64_t request, const struct container *container,
    const struct spec *spec)
{
	struct exec *exec;
	int pair[2];
	pid_t pid;

	confine_prepare(&node->filter, container->spec.capabilities);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		answer_error(node, request, MPIJOB_ERR_IO, errno, "cannot run a command: %s",
		    strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		run_helper(node, container, spec, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		answer_error(node, request, MPIJOB_ERR_IO, errno, "cannot run a command: %s",
		    strerror(errno));
		return;
	}
	exec = must_alloc(sizeof(*exec));
	exec->request = request;
	exec->control = pair[0];
	exec->next = node->execs;
	node->execs = exec;
}

void exec_start(struct node *node, struct node_incoming *in)
{
	struct spec spec;
	bool valid = spec_read(&spec, in);
	uint64_t request = spec.message.frame.request;
	const struct container *container = container_find(node, spec.id);

	if (!valid)
		answer_error(node, request, MPIJOB_ERR_USAGE, 0, "an exec needs a command");
	else if (!container || !container->sandbox || container->failed || container->control >= 0)
		answer_error(node, request, MPIJOB_ERR_NOT_FOUND, 0, "the container does not run");
	else
		start_helper(node, request, container, &spec);
	spec_free(&spec);
}

static void answer_failure(struct node *node, const struct exec *exec)
{
	struct node_writer w;

	mpijob__local_node_message_begin(&w, NODE_ANS_EXITED, exec->request);
	mpijob__local_node_message_put_number(&w, NODE_F_CODE,
	    exec->failure->error == MPIJOB_ERR_NOT_FOUND ? 127 : 126);
	mpijob__local_node_message_put_text(&w, NODE_F_TEXT, exec->failure->text);
	answer(node, &w);
}

/* Read one report; true: there may be more. */
static bool read_report(struct exec *exec)
{
	struct child_report *report = report_receive(exec->control);

	if (!report) {
		if (errno != EAGAIN) {
			close(exec->control);
			exec->control = -1;
		}
		return false;
	}
	if (report->error == 0) {
		exec->pid = report->pid;
		free(report);
	} else {
		free(exec->failure);
		exec->failure = report;
	}
	return true;
}

void exec_read_reports(struct node *node, struct exec *exec)
{
	while (read_report(exec))
		;
	if (exec->pid != 0 || exec->control >= 0)
		return;
	/* The helper ended before it created the process. */
	if (exec->failure)
		answer_failure(node, exec);
	else
		answer_error(node, exec->request, MPIJOB_ERR_IO, 0, "the container ended");
	remove_exec(node, exec);
}

static struct exec *find_process(const struct node *node, pid_t pid)
{
	for (struct exec *exec = node->execs; exec; exec = exec->next) {
		while (exec->control >= 0 && read_report(exec))
			;
		if (exec->pid == pid)
			return exec;
	}
	return NULL;
}

bool exec_reaped(struct node *node, pid_t pid, int status)
{
	struct exec *exec = find_process(node, pid);

	if (!exec)
		return false;
	if (exec->failure)
		answer_failure(node, exec);
	else
		answer_exited(node, NODE_ANS_EXITED, exec->request, 0, status);
	remove_exec(node, exec);
	return true;
}

void exec_signal(struct node *node, uint64_t request, uint64_t exec_request, int signo)
{
	for (const struct exec *exec = node->execs; exec; exec = exec->next) {
		if (exec->request != exec_request || exec->pid == 0)
			continue;
		if (kill(exec->pid, signo))
			break;
		answer_ok(node, request);
		return;
	}
	answer_error(node, request, MPIJOB_ERR_NOT_FOUND, 0, "the command does not run");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor creates the node's namespaces, maps ids for the node of an unprivileged user, and
 * waits. When the parent closes the socket, or dies, it kills PID 1 of the node, and the kernel
 * removes everything else. If the supervisor itself is killed, the parent-death signal of the node
 * does the same. This file knows which user namespaces are possible, and what to advise when none
 * is.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP)

/* fork() into new namespaces. */
static pid_t clone_process(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0UL);
}

static bool setting_is(const char *path, char value)
{
	char c = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, &c, 1) == 1 && c == value;

	if (fd >= 0)
		close(fd);
	return is;
}

_Noreturn static void die_no_user_namespace(int number)
{
	const char *how = "run as root, or allow user namespaces (in a container: start it with "
			  "--privileged, or with a seccomp profile that allows them)";

	if (setting_is("/proc/sys/kernel/unprivileged_userns_clone", '0'))
		how = "allow them: sysctl -w kernel.unprivileged_userns_clone=1";
	else if (number == EAGAIN)
		how = "this user has too many processes: end some, or raise 'ulimit -u'";
	else if (number == ENOSPC)
		how = "raise the limit: sysctl -w user.max_user_namespaces=65536";
	else if (setting_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'))
		how = "allow them: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or "
		      "give mpijob-node an AppArmor profile with 'userns,'";
	else if (number == EINVAL)
		how = "this kernel is built without one of the namespaces user, mnt, net, pid, "
		      "uts, ipc, cgroup";
	die_errno(number, MPIJOB_ERR_UNSUPPORTED, "cannot create a user namespace: %s; %s",
	    strerror(number), how);
}

/* Run a program; 0 if it exits with 0, else -1. */
static int run(char *const argv[])
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return pid > 0 && status == 0 ? 0 : -1;
}

/* Find the first range of this user in a file such as /etc/subuid. */
static bool subordinate(const char *file, const char *name, struct id_range *range)
{
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;
	char *number = format_text("%lu", (unsigned long)getuid());
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0) {
		char *first = strchr(line, ':');
		char *count = first ? strchr(first + 1, ':') : NULL;

		if (!count)
			continue;
		*first = 0;
		range->first = (uint32_t)strtoul(first + 1, NULL, 10);
		range->count = (uint32_t)strtoul(count + 1, NULL, 10);
		found =
		    range->count > 0 && (!strcmp(line, number) || (name && !strcmp(line, name)));
	}
	free(line);
	free(number);
	if (f)
		fclose(f);
	return found;
}

static int map_range(const char *tool, pid_t pid, uint32_t own, const struct id_range *range)
{
	char name[32];
	char *numbers[7];
	char *argv[9] = { name };
	int result;

	snprintf(name, sizeof(name), "%s", tool);
	numbers[0] = format_text("%ld", (long)pid);
	numbers[1] = format_text("0");
	numbers[2] = format_text("%lu", (unsigned long)own);
	numbers[3] = format_text("1");
	numbers[4] = format_text("1");
	numbers[5] = format_text("%lu", (unsigned long)range->first);
	numbers[6] = format_text("%lu", (unsigned long)range->count);
	memcpy(argv + 1, numbers, sizeof(numbers));
	result = run(argv);
	for (int i = 0; i < 7; i++)
		free(numbers[i]);
	return result;
}

static bool map_subordinate(pid_t pid)
{
	const struct passwd *user = getpwuid(getuid());
	const char *name = user ? user->pw_name : NULL;
	struct id_range uids;
	struct id_range gids;

	if (!subordinate("/etc/subuid", name, &uids) || !subordinate("/etc/subgid", name, &gids) ||
	    map_range("newuidmap", pid, getuid(), &uids))
		return false;
	/* The uid map is written and cannot be changed, so there is no fallback to a single id. */
	if (map_range("newgidmap", pid, getgid(), &gids))
		die_errno(0, MPIJOB_ERR_UNSUPPORTED,
		    "newuidmap works for this user and newgidmap does not; check the line of this "
		    "user in /etc/subgid, and that newgidmap is installed as in the package "
		    "uidmap");
	return true;
}

static bool write_file(pid_t pid, const char *name, const char *text)
{
	char *path = format_text("/proc/%ld/%s", (long)pid, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	free(path);
	return ok;
}

static bool map_single(pid_t pid)
{
	char *uid = format_text("0 %lu 1", (unsigned long)geteuid());
	char *gid = format_text("0 %lu 1", (unsigned long)getegid());
	bool ok = write_file(pid, "setgroups", "deny") && write_file(pid, "uid_map", uid) &&
		  write_file(pid, "gid_map", gid);

	free(uid);
	free(gid);
	return ok;
}

/* Write the id maps of the node; returns its NODE_IDENTITY_*. */
static int map_ids(pid_t pid, int wanted)
{
	if (wanted != NODE_IDENTITY_SINGLE && map_subordinate(pid))
		return NODE_IDENTITY_SUBORDINATE;
	if (wanted == NODE_IDENTITY_SUBORDINATE)
		die_errno(0, MPIJOB_ERR_UNSUPPORTED,
		    "no subordinate ids for this user; install newuidmap (package uidmap) and add "
		    "a line such as '%lu:100000:65536' to /etc/subuid and to /etc/subgid",
		    (unsigned long)getuid());
	if (map_single(pid))
		return NODE_IDENTITY_SINGLE;
	die(MPIJOB_ERR_UNSUPPORTED, "cannot map this user's id into a user namespace: %m; run as "
				    "an unprivileged user, or in a container with --privileged");
}

/* Wait until the parent closes the socket (true) or the node exits (false). */
static bool wait_for_parent_or_node(int pidfd)
{
	struct pollfd fds[2] = { { .fd = NODE_FD, .events = POLLRDHUP },
		{ .fd = pidfd, .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[0].revents != 0;
}

_Noreturn static void supervise(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool killed = wait_for_parent_or_node(pidfd);
	int status = 0;

	if (killed)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!killed && WIFSIGNALED(status))
		die_errno(0, MPIJOB_ERR_IO, "the node was killed by signal %d", WTERMSIG(status));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static pid_t clone_node(int wanted, int *kind)
{
	pid_t pid = -1;

	*kind = NODE_IDENTITY_ROOT;
	if (wanted == NODE_IDENTITY_ROOT || (wanted == NODE_IDENTITY_AUTO && geteuid() == 0))
		pid = clone_process(NAMESPACES);
	if (pid < 0 && wanted == NODE_IDENTITY_ROOT)
		die(MPIJOB_ERR_UNSUPPORTED, "cannot create namespaces as root: %m");
	if (pid >= 0)
		return pid;
	*kind = wanted;
	pid = clone_process(NAMESPACES | CLONE_NEWUSER);
	if (pid < 0)
		die_no_user_namespace(errno);
	return pid;
}

/* In the node: wait for the id maps, become root of the namespace, and die with the supervisor. */
static int node_enter(int lifeline, int *identity)
{
	unsigned char kind;

	if (read(lifeline, &kind, 1) != 1)
		_exit(1);
	*identity = kind;
	if (kind != NODE_IDENTITY_ROOT && (setresgid(0, 0, 0) || setresuid(0, 0, 0)))
		die(MPIJOB_ERR_IO, "cannot become root of the user namespace: %m");
	if (kind == NODE_IDENTITY_SUBORDINATE)
		syscall(SYS_setgroups, 0, NULL);
	/* its memory contains keys; execve() makes a container's command dumpable again */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the ids: changing them clears it */
	return lifeline;
}

int supervisor_run(int wanted, int *identity)
{
	unsigned char kind;
	int lifeline[2];
	int kind_found;
	pid_t pid;

	if (pipe2(lifeline, O_CLOEXEC))
		die(MPIJOB_ERR_IO, "cannot create a pipe: %m");
	pid = clone_node(wanted, &kind_found);
	if (pid == 0) {
		close(lifeline[1]);
		return node_enter(lifeline[0], identity);
	}
	close(lifeline[0]);
	if (kind_found != NODE_IDENTITY_ROOT)
		kind_found = map_ids(pid, wanted);
	kind = (unsigned char)kind_found;
	if (write(lifeline[1], &kind, 1) != 1)
		die(MPIJOB_ERR_IO, "cannot start the node: %m");
	supervise(pid);
}

static void read_ranges(const char *file, struct id_range **list, size_t *count)
{
	FILE *f = fopen(file, "re");
	unsigned long first;
	unsigned long outside;
	unsigned long n;

	while (f && fscanf(f, "%lu %lu %lu", &first, &outside, &n) == 3) {
		*list = must_grow(*list, *count, sizeof(**list));
		(*list)[(*count)++] = (struct id_range){ (uint32_t)first, (uint32_t)n };
	}
	if (f)
		fclose(f);
}

void identity_read(struct identity *identity, int kind)
{
	identity->kind = kind;
	read_ranges("/proc/self/uid_map", &identity->uids, &identity->uid_count);
	read_ranges("/proc/self/gid_map", &identity->gids, &identity->gid_count);
	/* In the user namespace of another program, such as a rootless container, root has only the
	 * ids of that namespace. */
	if (kind == NODE_IDENTITY_ROOT &&
	    !(identity->uid_count == 1 && identity->uids[0].count == UINT32_MAX))
		identity->kind = identity_has_uid(identity, 1) ? NODE_IDENTITY_SUBORDINATE
							       : NODE_IDENTITY_SINGLE;
}

static bool is_in_ranges(const struct id_range *list, size_t count, uint32_t id)
{
	for (size_t i = 0; i < count; i++) {
		if (id >= list[i].first && id - list[i].first < list[i].count)
			return true;
	}
	return false;
}

bool identity_has_uid(const struct identity *identity, uint32_t uid)
{
	return is_in_ranges(identity->uids, identity->uid_count, uid);
}

bool identity_has_gid(const struct identity *identity, uint32_t gid)
{
	return is_in_ranges(identity->gids, identity->gid_count, gid);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container is a child of the node: PID 1 of its own PID namespace, with its own root, in the
 * other namespaces of the sandbox. When it ends, the kernel kills the processes that it started.
 * This file knows what happens between clone() and execve(), and in which order ids and
 * capabilities are dropped. An exec uses the second half of it, container_run_command().
 */
#include "node.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct container *container_find(const struct node *node, uint64_t id)
{
	for (struct container *c = node->containers; c; c = c->next) {
		if (c->spec.id == id)
			return c;
	}
	return NULL;
}

static void write_map(const char *name, const char *text)
{
	char *path = format_text("/proc/self/%s", name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(MPIJOB_ERR_IO, "cannot map the user's id: %m");
	close(fd);
	free(path);
}

/* With a single id: a nested user namespace maps it to the requested uid and gid. */
static void map_single_id(const struct image_user *user)
{
	char *uids = format_text("%lu 0 1", (unsigned long)user->uid);
	char *gids = format_text("%lu 0 1", (unsigned long)user->gid);

	prctl(PR_SET_DUMPABLE, 1); /* otherwise root of the outer namespace owns /proc/self */
	if (unshare(CLONE_NEWUSER))
		die(MPIJOB_ERR_IO, "cannot create the container's user namespace: %m");
	write_map("uid_map", uids);
	write_map("setgroups", "deny");
	write_map("gid_map", gids);
	free(uids);
	free(gids);
}

static void change_ids(const struct spec *spec, const struct image_user *user)
{
	if (setgroups(spec->group_count, spec->groups))
		die(MPIJOB_ERR_UNSUPPORTED, "cannot set the supplementary groups: %m");
	if (setresgid(user->gid, user->gid, user->gid))
		die(MPIJOB_ERR_UNSUPPORTED, "cannot become group %lu: %m",
		    (unsigned long)user->gid);
	if (setresuid(user->uid, user->uid, user->uid))
		die(MPIJOB_ERR_UNSUPPORTED, "cannot become user %lu: %m", (unsigned long)user->uid);
}

static void connect_stdio(const struct spec *spec, uid_t uid, gid_t gid)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++) {
		int fd = spec->fds[i] >= 0 ? spec->fds[i] : null;
		struct stat st;

		/* The command can open /dev/stdout only if it owns the pipe. */
		if (spec->fds[i] >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
			(void)!fchown(fd, uid, gid);
		if (dup2(fd, i) < 0)
			die(MPIJOB_ERR_IO, "cannot set up standard input and output: %m");
	}
}

/*
 * Close all descriptors except the standard ones and the control socket: a descriptor of a
 * directory outside the root would allow the command to leave the root through /proc/self/fd.
 */
static void close_others(void)
{
	report_move(3);
	if (syscall(SYS_close_range, 4, ~0U, 0))
		die(MPIJOB_ERR_IO, "cannot close descriptors: %m");
}

static void restore_limit(__rlimit_resource_t which, rlim_t soft)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) == 0) {
		limit.rlim_cur = soft;
		setrlimit(which, &limit);
	}
}

static void restore_process(const struct node *node)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	restore_limit(RLIMIT_NOFILE, node->file_limit);
	restore_limit(RLIMIT_CORE, node->core_limit);
	umask(022);
	setsid();
}

static void enter_working_directory(const struct node *node, const struct spec *spec,
    const struct spec *extra)
{
	const char *cwd = extra && extra->cwd ? extra->cwd : spec->cwd;

	if (cwd) {
		if (chdir(cwd))
			die(MPIJOB_ERR_IO, "cannot enter the working directory %s: %m", cwd);
	} else if (chdir(node->cwd) && chdir("/")) {
		die(MPIJOB_ERR_IO, "cannot enter /: %m");
	}
}

_Noreturn static void execute(const char *const *argv, char **env)
{
	const char *name = argv[0];

	environ = env;
	execvp(name, (char *const *)(uintptr_t)argv);
	if (errno == ENOENT && strcmp(mpijob__base_text_file_name(name), "sshd") == 0)
		die(MPIJOB_ERR_NOT_FOUND,
		    "%s is not on this machine, and a worker needs it; install it, for example: "
		    "apt-get install openssh-server",
		    name);
	die(errno == ENOENT ? MPIJOB_ERR_NOT_FOUND : MPIJOB_ERR_IO, "cannot run %s: %m", name);
}

_Noreturn void container_run_command(const struct node *node, const struct container *container,
    const struct spec *extra)
{
	const struct spec *spec = &container->spec;
	const struct spec *command = extra ? extra : spec;
	const struct image_user *user = &container->user;
	bool single = node->identity.kind == NODE_IDENTITY_SINGLE;
	char **env = spec_environment(spec, extra, user->home, container->sandbox->hostname);

	restore_process(node);
	connect_stdio(command, single ? 0 : user->uid, single ? 0 : user->gid);
	close_others();
	if (single && !extra)
		map_single_id(user);
	confine_capabilities(spec->capabilities); /* a new user namespace starts with all */
	if (!(spec->confine & NODE_CONFINE_NO_FILTER))
		confine_calls(&node->filter);
	if (!single)
		change_ids(spec, user);
	if (spec->confine & NODE_CONFINE_NO_NEW_PRIVILEGES)
		confine_privileges();
	enter_working_directory(node, spec, extra);
	execute((const char *const *)command->argv, env);
}

_Noreturn static void run_child(const struct node *node, const struct container *container,
    int control)
{
	report_to_node(control);
	sandbox_enter(container->sandbox);
	rootfs_enter(node, container);
	container_run_command(node, container, NULL);
}

static void remove_container(struct node *node, struct container *container)
{
	for (struct container **at = &node->containers; *at; at = &(*at)->next) {
		if (*at != container)
			continue;
		*at = container->next;
		if (container->control >= 0)
			close(container->control);
		spec_free(&container->spec);
		free(container->user.name);
		free(container->user.home);
		free(container);
		return;
	}
}

/* Check that the node can use the requested ids; answer the request if not. */
static bool ids_available(struct node *node, uint64_t request, const struct spec *spec)
{
	const struct identity *identity = &node->identity;

	if (identity->kind != NODE_IDENTITY_SUBORDINATE)
		return true;
	if (spec->uid >= 0 && !identity_has_uid(identity, (uint32_t)spec->uid)) {
		answer_error(node, request, MPIJOB_ERR_UNSUPPORTED, 0,
		    "runAsUser %lld is not available: this user's subordinate ids end at %lu; add "
		    "a longer range to /etc/subuid",
		    (long long)spec->uid,
		    (unsigned long)(identity->uids[identity->uid_count - 1].first +
				    identity->uids[identity->uid_count - 1].count - 1));
		return false;
	}
	if (spec->gid >= 0 && !identity_has_gid(identity, (uint32_t)spec->gid)) {
		answer_error(node, request, MPIJOB_ERR_UNSUPPORTED, 0,
		    "runAsGroup %lld is not available; add a longer range to /etc/subgid",
		    (long long)spec->gid);
		return false;
	}
	return true;
}

static bool check_request(struct node *node, uint64_t request, const struct spec *spec, bool valid)
{
	if (!valid) {
		answer_error(node, request, MPIJOB_ERR_USAGE, 0,
		    "a container needs a command; mount paths and the working directory must be "
		    "absolute");
		return false;
	}
	if (!sandbox_find(node, spec->sandbox) || !spec->id || container_find(node, spec->id)) {
		answer_error(node, request, MPIJOB_ERR_CONFLICT, 0,
		    "a container needs a sandbox and an unused id");
		return false;
	}
	return ids_available(node, request, spec);
}

static void clone_child(struct node *node, struct container *c)
{
	int pair[2];

	confine_prepare(&node->filter, c->spec.capabilities);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		answer_error(node, c->request, MPIJOB_ERR_IO, errno, "cannot start a container: %s",
		    strerror(errno));
		remove_container(node, c);
		return;
	}
	c->control = pair[0];
	c->pid =
	    (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (c->pid == 0)
		run_child(node, c, pair[1]);
	close(pair[1]);
	if (c->pid < 0) {
		answer_error(node, c->request, MPIJOB_ERR_IO, errno, "cannot start a container: %s",
		    strerror(errno));
		remove_container(node, c);
		return;
	}
	for (int i = 0; i < NODE_MAX_FDS; i++) { /* the pipes must close when the child ends */
		if (c->spec.message.fds[i] >= 0)
			close(c->spec.message.fds[i]);
		c->spec.message.fds[i] = -1;
	}
}

void container_start(struct node *node, struct node_incoming *in)
{
	struct container *c = must_alloc(sizeof(*c));
	bool valid = spec_read(&c->spec, in);

	c->request = c->spec.message.frame.request;
	c->control = -1;
	if (!check_request(node, c->request, &c->spec, valid)) {
		spec_free(&c->spec);
		free(c);
		return;
	}
	c->sandbox = sandbox_find(node, c->spec.sandbox);
	c->user = image_user(node, &c->spec);
	c->next = node->containers;
	node->containers = c;
	clone_child(node, c);
}

/* The control socket is readable: the child has failed, or execve() closed the socket. */
void container_read_report(struct node *node, struct container *c)
{
	struct child_report *report = report_receive(c->control);

	close(c->control);
	c->control = -1;
	if (report) {
		answer_error(node, c->request, report->error, report->number, "%s", report->text);
		c->failed = true;
		/* the id may be reused although the process may still exist */
		c->spec.id = 0;
		free(report);
		return;
	}
	answer_number(node, c->request, NODE_F_PID, (uint64_t)c->pid);
}

bool container_reaped(struct node *node, pid_t pid, int status)
{
	for (struct container *c = node->containers; c; c = c->next) {
		if (c->pid != pid)
			continue;
		if (c->control >= 0)
			container_read_report(node, c);
		if (!c->failed)
			answer_exited(node, NODE_EVT_EXITED, 0, c->spec.id, status);
		remove_container(node, c);
		return true;
	}
	return false;
}

void container_signal(struct node *node, uint64_t request, uint64_t id, int signo)
{
	const struct container *c = container_find(node, id);

	if (!c)
		answer_error(node, request, MPIJOB_ERR_NOT_FOUND, 0, "the container does not run");
	else if (kill(c->pid, signo))
		answer_error(node, request, MPIJOB_ERR_IO, errno, "cannot signal the container: %s",
		    strerror(errno));
	else
		answer_ok(node, request);
}

void container_kill_in_sandbox(struct node *node, const struct sandbox *sandbox)
{
	for (struct container *c = node->containers; c; c = c->next) {
		if (c->sandbox != sandbox)
			continue;
		kill(c->pid, SIGKILL);
		c->sandbox = NULL;
	}
}

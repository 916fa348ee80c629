/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PID 1 of the node: it sets up the node's file system and network, and runs the poll loop for
 * requests, exits of processes, reports of children, and probes. It exits when the parent closes
 * its socket or the supervisor ends; the kernel then kills all other processes of the PID
 * namespace.
 */
#include "node.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTAINER_FILES 65536

#define ADDRESS "198.18.0.1"
#define BRIDGE  "pods"
#define MAX_UNSENT \
	(1u << 20) /* back-pressure: no request is read while more bytes wait to be sent */

/* Ubuntu allows user namespaces for all users, but without capabilities in them. */
static bool limited_by_apparmor(void)
{
	int fd =
	    open("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", O_RDONLY | O_CLOEXEC);
	char c = '0';
	bool limited = fd >= 0 && read(fd, &c, 1) == 1 && c == '1';

	if (fd >= 0)
		close(fd);
	return limited;
}

static void must_mount(const char *source, const char *target, const char *type,
    unsigned long flags, const char *data)
{
	const char *hint = "in a container: start that one with --privileged";
	int number;

	if (mount(source, target, type, flags, data) == 0)
		return;
	number = errno;
	if (limited_by_apparmor())
		hint = "AppArmor limits user namespaces here: sysctl -w "
		       "kernel.apparmor_restrict_unprivileged_userns=0, or give mpijob-node a "
		       "profile with 'userns,'";
	die_errno(number, MPIJOB_ERR_UNSUPPORTED, "cannot mount %s for the node: %s; %s", target,
	    strerror(number), hint);
}

static void must_mkdir(const char *path)
{
	if (mkdir(path, 0755))
		die(MPIJOB_ERR_IO, "cannot create %s: %m", path);
}

static const char *find_mount_point(void)
{
	struct stat st;

	return stat("/tmp", &st) == 0 && S_ISDIR(st.st_mode) ? "/tmp" : "/proc";
}

/* Make a tmpfs the root, with the machine's root as /host. Mounts are private: the machine does not
 * see them. */
static void make_root(void)
{
	const char *mount_point = find_mount_point();

	must_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	must_mount("tmpfs", mount_point, "tmpfs", MS_NODEV, "mode=0755");
	if (chdir(mount_point) || mkdir("host", 0755) || syscall(SYS_pivot_root, ".", "host") ||
	    chdir("/"))
		die(MPIJOB_ERR_UNSUPPORTED, "cannot change the root of the node: %m");
	must_mkdir("/proc");
	must_mkdir("/stage");
	must_mkdir("/pods");
	must_mkdir("/volumes");
	must_mkdir("/groups");
	must_mkdir("/key");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		die(MPIJOB_ERR_UNSUPPORTED,
		    "cannot mount a fresh /proc: %m; parts of /proc are hidden here, as in a "
		    "container: start that one with --privileged, or --security-opt "
		    "systempaths=unconfined");
}

static void make_network(struct node *node)
{
	struct in_addr address;
	int rc;

	inet_pton(AF_INET, ADDRESS, &address);
	node->netlink = netlink_open();
	if (node->netlink < 0)
		die(MPIJOB_ERR_UNSUPPORTED, "cannot open a netlink socket: %m");
	image_network();
	rc = netlink_loopback(node->netlink);
	if (!rc)
		rc = netlink_bridge(node->netlink, BRIDGE, address);
	if (rc)
		die_errno(rc, MPIJOB_ERR_UNSUPPORTED,
		    "cannot create a bridge for the pods: %s; as root: modprobe bridge veth",
		    strerror(rc));
}

static int must_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", path);
	return fd;
}

static void open_signalfd(struct node *node)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	node->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (node->signals < 0)
		die(MPIJOB_ERR_IO, "cannot watch processes: %m");
}

/*
 * The node needs three descriptors per pod: it raises its own limit to the maximum. Containers get
 * a high limit, as from container runtimes: Open MPI 4 closes all descriptors in a child before it
 * executes ssh; with a low limit the child is faster than its parent, whose setpgid() then fails
 * with a warning.
 */
static void raise_limits(struct node *node)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	node->file_limit = limit.rlim_max < CONTAINER_FILES ? limit.rlim_max : CONTAINER_FILES;
	if (node->file_limit < limit.rlim_cur)
		node->file_limit = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_CORE, &limit))
		return;
	node->core_limit = limit.rlim_cur;
	limit.rlim_cur = 0; /* keys are in this memory */
	setrlimit(RLIMIT_CORE, &limit);
}

static char *working_directory(void)
{
	char *cwd = getcwd(NULL, 0);

	if (!cwd)
		die(MPIJOB_ERR_IO, "the working directory does not exist: %m");
	return cwd;
}

static void send_ready(struct node *node)
{
	uint64_t features = (access(HOST "/usr/sbin/sshd", X_OK) == 0 ? NODE_FEATURE_SSHD : 0) |
			    (node->layers.overlay ? NODE_FEATURE_OVERLAY : 0);
	struct node_writer w;
	struct utsname name;

	uname(&name);
	mpijob__local_node_message_begin(&w, NODE_EVT_READY, 0);
	mpijob__local_node_message_put_number(&w, NODE_F_VERSION, NODE_PROTOCOL_VERSION);
	mpijob__local_node_message_put_number(&w, NODE_F_IDENTITY, (uint64_t)node->identity.kind);
	mpijob__local_node_message_put_text(&w, NODE_F_KERNEL, name.release);
	mpijob__local_node_message_put_number(&w, NODE_F_FEATURES, features);
	answer(node, &w);
}

static void set_up(struct node *node, int lifeline, int identity)
{
	const char *home = getenv("HOME");

	mpijob__local_node_message_channel_init(&node->parent, NODE_FD);
	node->lifeline = lifeline;
	node->home = must_copy(home && *home == '/' ? home : "/root");
	node->cwd = working_directory();
	umask(022);
	open_signalfd(node);
	raise_limits(node);
	make_root();
	node->host_key = image_host_key();
	identity_read(&node->identity, identity);
	make_network(node);
	node->net = must_open("/proc/self/ns/net");
	node->ipc = must_open("/proc/self/ns/ipc");
	node->uts = must_open("/proc/self/ns/uts");
	if (sethostname("mpijob-node", strlen("mpijob-node")))
		die(MPIJOB_ERR_IO, "cannot name the node: %m");
	layers_plan(&node->layers, &node->identity, node->cwd);
	send_ready(node);
}

static void reap(struct node *node)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(node->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (!container_reaped(node, pid, status))
			exec_reaped(node, pid, status);
	}
}

static void read_requests(struct node *node)
{
	struct node_incoming in;
	int r;

	while (node->parent.out_bytes < MAX_UNSENT) {
		r = mpijob__local_node_message_receive(&node->parent, &in);
		if (r == MPIJOB_ERR_NOMEM)
			die_errno(0, MPIJOB_ERR_NOMEM, "out of memory");
		if (r < 0)
			_exit(0);
		if (r == 0)
			return;
		request_handle(node, &in);
	}
}

struct poll_set {
	struct pollfd *fds;
	nfds_t count;
};

static void poll_set_add(struct poll_set *poll_set, int fd, short events)
{
	poll_set->fds = must_grow(poll_set->fds, poll_set->count, sizeof(*poll_set->fds));
	poll_set->fds[poll_set->count++] = (struct pollfd){ .fd = fd, .events = events };
}

/* In the order in which run_once() and serve_children() read the results. poll() skips -1. */
static void fill_poll_set(const struct node *node, struct poll_set *poll_set)
{
	short parent = node->parent.out_count ? POLLOUT : 0;

	if (node->parent.out_bytes < MAX_UNSENT)
		parent |= POLLIN;
	poll_set_add(poll_set, node->parent.fd, parent);
	poll_set_add(poll_set, node->lifeline, POLLIN);
	poll_set_add(poll_set, node->signals, POLLIN);
	for (const struct container *c = node->containers; c; c = c->next)
		poll_set_add(poll_set, c->control, POLLIN);
	for (const struct exec *rc = node->execs; rc; rc = rc->next)
		poll_set_add(poll_set, rc->control, POLLIN);
	for (const struct probe *p = node->probes; p; p = p->next)
		poll_set_add(poll_set, p->fd, POLLOUT);
}

static int next_timeout(const struct node *node)
{
	int64_t now = mpijob__base_clock_monotonic_ms();
	int64_t next = INT64_MAX;

	for (const struct probe *p = node->probes; p; p = p->next) {
		int64_t at = p->fd >= 0 || p->at > p->deadline ? p->deadline : p->at;

		if (at < next)
			next = at;
	}
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

static void serve_children(struct node *node, const struct pollfd *fds)
{
	struct container *next_container;
	struct exec *next_exec;
	struct probe *next_probe;
	int64_t now = mpijob__base_clock_monotonic_ms();

	for (struct container *c = node->containers; c; c = next_container) {
		next_container = c->next;
		if (fds++->revents)
			container_read_report(node, c);
	}
	for (struct exec *rc = node->execs; rc; rc = next_exec) {
		next_exec = rc->next;
		if (fds++->revents)
			exec_read_reports(node, rc);
	}
	for (struct probe *p = node->probes; p; p = next_probe) {
		next_probe = p->next;
		probe_step(node, p, now, fds++->revents != 0);
	}
}

static void run_once(struct node *node)
{
	struct poll_set poll_set = { NULL, 0 };
	int ready;

	fill_poll_set(node, &poll_set);
	ready = poll(poll_set.fds, poll_set.count, next_timeout(node));
	if (ready < 0 && errno != EINTR)
		die(MPIJOB_ERR_IO, "cannot poll: %m");
	if (ready >= 0) {
		if (poll_set.fds[1].revents)
			_exit(0);
		serve_children(node, poll_set.fds + 3);
		if (poll_set.fds[2].revents)
			reap(node);
		if (poll_set.fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			read_requests(node);
	}
	free(poll_set.fds);
	if (mpijob__local_node_message_flush(&node->parent))
		_exit(0); /* the parent has ended */
}

_Noreturn void node_run(int lifeline, int identity)
{
	struct node node = { 0 };

	set_up(&node, lifeline, identity);
	for (;;)
		run_once(&node);
}

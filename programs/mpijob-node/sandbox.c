/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox is three namespaces (network, IPC, UTS) held by three descriptors of the node: no pause
 * process is needed. The node, which has one thread, steps into the new namespaces, sets them up
 * and steps back; a failure to step back would leave it in the wrong place, so it is fatal.
 */
#include "node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BRIDGE "pods"

struct sandbox *sandbox_find(const struct node *node, uint64_t id)
{
	for (struct sandbox *s = node->sandboxes; s; s = s->next) {
		if (s->id == id)
			return s;
	}
	return NULL;
}

static char *folder_of(uint64_t id)
{
	return format_text("/pods/%llu", (unsigned long long)id);
}

static void step_back(const struct node *node)
{
	if (setns(node->net, CLONE_NEWNET) || setns(node->ipc, CLONE_NEWIPC) ||
	    setns(node->uts, CLONE_NEWUTS))
		die(MPIJOB_ERR_IO, "cannot return to the node's own namespaces: %m");
}

static int open_space(const char *name)
{
	char *path = format_text("/proc/self/ns/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

/* In the pod's namespaces: all but the pair of interfaces. Returns an errno. */
static int set_up_inside(struct sandbox *s)
{
	s->ipc = open_space("ipc");
	s->uts = open_space("uts");
	if (s->ipc < 0 || s->uts < 0 || sethostname(s->hostname, strlen(s->hostname)))
		return errno;
	if (s->host_network)
		return 0;
	s->net = open_space("net");
	if (s->net < 0)
		return errno;
	image_network();
	return 0;
}

/* In the pod's network, once eth0 is there. */
static int raise_inside(const struct sandbox *s)
{
	int fd = netlink_open();
	int e = fd < 0 ? errno : netlink_loopback(fd);

	if (!e)
		e = netlink_eth0(fd, s->address);
	if (fd >= 0)
		close(fd);
	return e;
}

static int connect_bridge(struct node *node, struct sandbox *s)
{
	char *name = format_text("pod%u", ++node->veths);
	int e = netlink_veth(node->netlink, name, BRIDGE, s->net, s->address);

	free(name);
	return e;
}

static int set_up(struct node *node, struct sandbox *s)
{
	int e;

	if (unshare(CLONE_NEWIPC | CLONE_NEWUTS | (s->host_network ? 0 : CLONE_NEWNET)))
		return errno;
	e = set_up_inside(s);
	step_back(node);
	if (e || s->host_network)
		return e;
	e = connect_bridge(node, s);
	if (e)
		return e;
	if (setns(s->net, CLONE_NEWNET))
		return errno;
	e = raise_inside(s);
	step_back(node);
	return e;
}

static void close_space(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void drop(struct sandbox *s)
{
	close_space(s->net);
	close_space(s->ipc);
	close_space(s->uts);
	free(s->hostname);
	free(s);
}

static bool make_shared(const struct sandbox *s)
{
	char *folder = folder_of(s->id);
	char *shm = format_text("%s/shm", folder);
	char *group = format_text("/groups/%llu", (unsigned long long)s->group);
	bool ok = mkdir(folder, 0755) == 0 && mkdir(shm, 0700) == 0 && chmod(shm, 01777) == 0 &&
		  (mkdir(group, 0755) == 0 || errno == EEXIST);

	free(folder);
	free(shm);
	free(group);
	return ok;
}

void sandbox_create(struct node *node, uint64_t request, struct sandbox *wanted,
    const char *hostname, const char *address)
{
	struct sandbox *s;
	int e;

	if (!wanted->id || !hostname || sandbox_find(node, wanted->id)) {
		answer_error(node, request, MPIJOB_ERR_CONFLICT, 0,
		    "a sandbox needs a new number and a hostname");
		return;
	}
	if (!wanted->host_network &&
	    (!address || inet_pton(AF_INET, address, &wanted->address) != 1)) {
		answer_error(node, request, MPIJOB_ERR_USAGE, 0, "a sandbox needs an IPv4 address");
		return;
	}
	s = must_alloc(sizeof(*s));
	*s = *wanted;
	s->hostname = must_copy(hostname);
	s->net = s->ipc = s->uts = -1;
	e = set_up(node, s);
	if (!e && !make_shared(s))
		e = errno;
	if (e) {
		answer_error(node, request, e == ENOMEM ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO, e,
		    "cannot make the namespaces and network of %s: %s", hostname, strerror(e));
		drop(s);
		return;
	}
	s->next = node->sandboxes;
	node->sandboxes = s;
	answer_ok(node, request);
}

void sandbox_destroy(struct node *node, uint64_t request, uint64_t id)
{
	char *folder;

	for (struct sandbox **at = &node->sandboxes; *at; at = &(*at)->next) {
		struct sandbox *s = *at;

		if (s->id != id)
			continue;
		container_leave_sandbox(node, s);
		folder = folder_of(s->id);
		remove_tree(AT_FDCWD, folder);
		free(folder);
		*at = s->next;
		drop(s);
		answer_ok(node, request);
		return;
	}
	answer_error(node, request, MPIJOB_ERR_NOT_FOUND, 0, "there is no such sandbox");
}

void sandbox_enter(const struct sandbox *sandbox)
{
	if ((sandbox->net >= 0 && setns(sandbox->net, CLONE_NEWNET)) ||
	    setns(sandbox->ipc, CLONE_NEWIPC) || setns(sandbox->uts, CLONE_NEWUTS))
		die(MPIJOB_ERR_IO, "cannot enter the sandbox: %m");
}

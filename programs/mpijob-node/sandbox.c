/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox consists of three namespaces (network, IPC, UTS), which descriptors of the node keep
 * alive without a pause process. The node, which has one thread, enters the new namespaces, sets
 * them up, and returns to its own. A failure to return is fatal.
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

static char *directory_of(uint64_t id)
{
	return format_text("/pods/%llu", (unsigned long long)id);
}

static void return_to_node(const struct node *node)
{
	if (setns(node->net, CLONE_NEWNET) || setns(node->ipc, CLONE_NEWIPC) ||
	    setns(node->uts, CLONE_NEWUTS))
		die(MPIJOB_ERR_IO, "cannot return to the node's own namespaces: %m");
}

static int open_namespace(const char *name)
{
	char *path = format_text("/proc/self/ns/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

/* In the pod's namespaces: set up everything except eth0. 0 or an errno. */
static int set_up_namespaces(struct sandbox *s)
{
	s->ipc = open_namespace("ipc");
	s->uts = open_namespace("uts");
	if (s->ipc < 0 || s->uts < 0 || sethostname(s->hostname, strlen(s->hostname)))
		return errno;
	if (s->host_network)
		return 0;
	s->net = open_namespace("net");
	if (s->net < 0)
		return errno;
	image_network();
	return 0;
}

/* In the pod's network namespace, when eth0 exists. 0 or an errno. */
static int configure_network(const struct sandbox *s)
{
	int fd = netlink_open();
	int rc = fd < 0 ? errno : netlink_loopback(fd);

	if (!rc)
		rc = netlink_eth0(fd, s->address);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int connect_bridge(struct node *node, struct sandbox *s)
{
	char *name = format_text("pod%u", ++node->veths);
	int rc = netlink_veth(node->netlink, name, BRIDGE, s->net, s->address);

	free(name);
	return rc;
}

static int set_up(struct node *node, struct sandbox *s)
{
	int rc;

	if (unshare(CLONE_NEWIPC | CLONE_NEWUTS | (s->host_network ? 0 : CLONE_NEWNET)))
		return errno;
	rc = set_up_namespaces(s);
	return_to_node(node);
	if (rc || s->host_network)
		return rc;
	rc = connect_bridge(node, s);
	if (rc)
		return rc;
	if (setns(s->net, CLONE_NEWNET))
		return errno;
	rc = configure_network(s);
	return_to_node(node);
	return rc;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void sandbox_free(struct sandbox *s)
{
	close_fd(s->net);
	close_fd(s->ipc);
	close_fd(s->uts);
	free(s->hostname);
	free(s);
}

static bool make_shared_directories(const struct sandbox *s)
{
	char *directory = directory_of(s->id);
	char *shm = format_text("%s/shm", directory);
	char *group = format_text("/groups/%llu", (unsigned long long)s->group);
	bool ok = mkdir(directory, 0755) == 0 && mkdir(shm, 0700) == 0 && chmod(shm, 01777) == 0 &&
		  (mkdir(group, 0755) == 0 || errno == EEXIST);

	free(directory);
	free(shm);
	free(group);
	return ok;
}

void sandbox_create(struct node *node, uint64_t request, struct sandbox *wanted,
    const char *hostname, const char *address)
{
	struct sandbox *s;
	int rc;

	if (!wanted->id || !hostname || sandbox_find(node, wanted->id)) {
		answer_error(node, request, MPIJOB_ERR_CONFLICT, 0,
		    "a sandbox needs an unused id and a hostname");
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
	rc = set_up(node, s);
	if (!rc && !make_shared_directories(s))
		rc = errno;
	if (rc) {
		answer_error(node, request, rc == ENOMEM ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO, rc,
		    "cannot create the namespaces and network of %s: %s", hostname, strerror(rc));
		sandbox_free(s);
		return;
	}
	s->next = node->sandboxes;
	node->sandboxes = s;
	answer_ok(node, request);
}

void sandbox_destroy(struct node *node, uint64_t request, uint64_t id)
{
	char *directory;

	for (struct sandbox **at = &node->sandboxes; *at; at = &(*at)->next) {
		struct sandbox *s = *at;

		if (s->id != id)
			continue;
		container_kill_in_sandbox(node, s);
		directory = directory_of(s->id);
		remove_tree(AT_FDCWD, directory);
		free(directory);
		*at = s->next;
		sandbox_free(s);
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

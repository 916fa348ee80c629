/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob-node: the interfaces between its files.
 *
 * Three kinds of processes run this program. The *supervisor* (supervisor.c) is the child of the
 * process that uses lib/local (the *parent*); it creates the namespaces and waits. The *node*
 * (node.c) is PID 1 in them: one thread with one poll loop. Its *children* (rootfs.c, mounts.c,
 * container.c, exec.c) build a root file system and execute the command of a container. Only the
 * node uses the socket to the parent. A child has a control socket on which it reports its failure;
 * execve() closes it.
 *
 * The file system of the node, a tmpfs:
 *   /host     the machine's files, with the mounts at the start of the node
 *   /pods     per sandbox what its containers share: shm
 *   /volumes  per volume its files
 *   /groups   per group its hosts file
 *   /key      the host key for sshd
 *   /stage    where a child builds its root (in its own mount namespace)
 */
#ifndef MPIJOB_NODE_H
#define MPIJOB_NODE_H

#include "local/node_message.h"

#include <mpijob/base.h>

#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#define HOST  "/host"
#define STAGE "/stage"
#define ROOT  STAGE "/root" /* the root of a container while it is built */

/* The uid of root in a container when the node has only one id: see docs/image-contract.md. */
#define SINGLE_ROOT_ID 1500

/* report.c: fatal errors. The must_ functions die when memory runs out. */

#define PRINTF_LIKE(string, first) __attribute__((format(printf, string, first)))

void report_to_parent(int fd); /* from here on an error ends the node */
void report_to_node(int fd);   /* from here on an error ends only this child */
void report_move(int fd);      /* move the descriptor for reports to this number */
/* Report an error, with errno, and exit. */
_Noreturn void die(int error, const char *format, ...) PRINTF_LIKE(2, 3);
_Noreturn void die_errno(int number, int error, const char *format, ...) PRINTF_LIKE(3, 4);
char *format_text(const char *format, ...) PRINTF_LIKE(1, 2); /* the caller frees it */
/* zeroed */
void *must_alloc(size_t size);
void *must_grow(void *list, size_t count, size_t size); /* room for one more */
char *must_copy(const char *text);

struct child_report { /* a message of a child to the node */
	int error;    /* an MPIJOB_ERR_*; 0: the message contains a pid */
	int number;   /* errno */
	pid_t pid;
	char text[]; /* the rest of the packet; NUL-terminated */
};
void report_pid(pid_t pid);
/* The caller frees it. NULL: nothing available (errno EAGAIN), or the child closed the socket. */
struct child_report *report_receive(int fd);

/* supervisor.c: namespaces and identity */

struct id_range {
	uint32_t first;
	uint32_t count;
};

struct identity {
	int kind; /* NODE_IDENTITY_* */
	struct id_range *uids;
	size_t uid_count;
	struct id_range *gids;
	size_t gid_count;
};

/* Returns only in the node: the read end of a pipe that closes when the supervisor ends, and the
 * identity of the node. */
int supervisor_run(int wanted, int *identity);
void identity_read(struct identity *identity, int kind);
bool identity_has_uid(const struct identity *identity, uint32_t uid);
bool identity_has_gid(const struct identity *identity, uint32_t gid);

/* netlink.c: network interfaces; the functions return 0 or an errno */

int netlink_open(void); /* in the network namespace of the caller; -1 with errno */
int netlink_loopback(int fd);
int netlink_bridge(int fd, const char *name, struct in_addr address);
int netlink_veth(int fd, const char *name, const char *bridge, int peer_namespace,
    struct in_addr peer_address);
int netlink_eth0(int fd, struct in_addr address);

/* layers.c: the plan of a container's root file system */

enum part_kind {
	PART_OVERLAY,   /* a directory of the machine below a private writable layer */
	PART_BIND,      /* a directory or file of the machine, read-only */
	PART_DIRECTORY, /* a new directory whose entries are parts, too */
	PART_COPY,      /* a new directory with copies of the machine's files */
	PART_LINK,      /* a symbolic link */
};

struct part {
	char *path;
	char *link; /* target of a PART_LINK */
	enum part_kind kind;
	bool file;
};

struct layers {
	struct part *part; /* parents before their entries */
	size_t count;
	bool overlay;   /* the kernel supports PART_OVERLAY */
	bool userxattr; /* overlayfs needs this mount option */
};

void layers_plan(struct layers *layers, const struct identity *identity, const char *cwd);
bool path_below(const char *path, const char *directory); /* or equal */

/* tree.c: directory trees */

void remove_tree(int at, const char *name);
void copy_tree(int from, int to, const char *name); /* skips what cannot be read; closes both */

/* inroot.c: paths that are resolved inside a directory; -1 with errno */

int inroot_open(int top, const char *path, int flags);
/* Open the directory of a path; *name is its last component. */
int inroot_open_parent(int top, const char *path, const char **name);
/* Open a path; create it and its parents if necessary. */
int inroot_create(int top, const char *path, bool directory);
char *fd_path(int fd); /* its path in /proc; the caller frees it */

/* sandbox.c, volume.c, container.c, exec.c, probe.c: the objects of the node */

struct sandbox {
	struct sandbox *next;
	uint64_t id;
	uint64_t group;
	char *hostname;
	struct in_addr address;
	bool host_network;
	int net; /* these descriptors keep the namespaces alive */
	int ipc;
	int uts;
};

struct mount_spec {
	uint64_t volume;
	const char *host_path;
	const char *path;
	const char *sub_path;
	bool read_only;
};

struct spec { /* a request for a container or an exec; texts are borrowed from `message` */
	struct node_incoming message;
	uint64_t id;
	uint64_t sandbox;
	char **argv;
	size_t argc;
	char **env;
	size_t env_count;
	const char *cwd;
	int64_t uid;
	int64_t gid;
	gid_t *groups;
	size_t group_count;
	struct mount_spec *mounts;
	size_t mount_count;
	const char *ssh_path;
	bool read_only;
	uint64_t capabilities; /* bounding set: bit N is capability N */
	uint64_t confine;      /* NODE_CONFINE_* */
	int fds[3];            /* borrowed from `message` */
};

struct image_user {
	uid_t uid; /* inside the container */
	gid_t gid;
	char *name;
	char *home;
	bool is_root; /* root, although its uid is not 0: see SINGLE_ROOT_ID */
};

struct container {
	struct container *next;
	struct image_user user;
	struct sandbox *sandbox; /* NULL after the sandbox was destroyed */
	struct spec spec;
	uint64_t request;
	pid_t pid;
	int control; /* -1 when the command runs */
	bool failed; /* before the command ran */
};

struct exec {
	struct exec *next;
	uint64_t request;
	uint64_t container;
	pid_t pid;   /* 0 until the helper reports it */
	int control; /* -1 when the command runs */
	struct child_report *failure;
};

struct probe {
	struct probe *next;
	uint64_t request;
	uint64_t sandbox;
	uint16_t port;
	int64_t deadline;
	int64_t retry;
	int64_t at; /* time of the next attempt; 0 while `fd` connects */
	bool listen;
	int fd;
};

struct filter { /* the seccomp filter for one bounding set */
	uint64_t bounding;
	void *program; /* BPF */
	size_t size;
};

struct node {
	struct node_channel parent;
	struct identity identity;
	struct filter filter;
	struct layers layers;
	char *cwd;
	char *home;
	struct sandbox *sandboxes;
	struct container *containers;
	struct exec *execs;
	struct probe *probes;
	int lifeline; /* a pipe that closes when the supervisor ends */
	int signals;  /* signalfd */
	int netlink;
	int net; /* the node's own namespaces */
	int ipc;
	int uts;
	int host_key;   /* a pipe that closes when the host key exists; -1: there is none */
	unsigned veths; /* counters for unique names */
	unsigned contents;
	uint64_t file_limit; /* soft limit of containers */
	uint64_t core_limit; /* the inherited soft limit */
};

_Noreturn void node_run(int lifeline, int identity);
void answer(struct node *node, struct node_writer *w); /* takes over the content of w */
void answer_ok(struct node *node, uint64_t request);
void answer_number(struct node *node, uint64_t request, uint16_t tag, uint64_t value);
void answer_error(struct node *node, uint64_t request, int error, int number, const char *format,
    ...) PRINTF_LIKE(5, 6);
void answer_exited(struct node *node, uint16_t type, uint64_t request, uint64_t id, int status);

void request_handle(struct node *node, struct node_incoming *in); /* takes over the message */

void sandbox_create(struct node *node, uint64_t request, struct sandbox *wanted,
    const char *hostname, const char *address);
void sandbox_destroy(struct node *node, uint64_t request, uint64_t id);
struct sandbox *sandbox_find(const struct node *node, uint64_t id);
void sandbox_enter(const struct sandbox *sandbox); /* for children: dies on failure */

void volume_write(struct node *node, uint64_t request, struct node_reader *fields);
void volume_remove(struct node *node, uint64_t request, uint64_t id);
void hosts_write(struct node *node, uint64_t request, uint64_t group, const void *data, size_t len);

bool spec_read(struct spec *spec,
    struct node_incoming *in); /* takes over the message; false: invalid */
void spec_free(struct spec *spec);
char **spec_environment(const struct spec *spec, const struct spec *extra, const char *home,
    const char *hostname);

void container_start(struct node *node, struct node_incoming *in);
void container_signal(struct node *node, uint64_t request, uint64_t id, int signo);
/* kill its containers */
void container_kill_in_sandbox(struct node *node, const struct sandbox *sandbox);
struct container *container_find(const struct node *node, uint64_t id);
void container_read_report(struct node *node, struct container *container);
bool container_reaped(struct node *node, pid_t pid, int status);
_Noreturn void container_run_command(const struct node *node, const struct container *container,
    const struct spec *extra);

void exec_start(struct node *node, struct node_incoming *in);
void exec_signal(struct node *node, uint64_t request, uint64_t exec_request, int signo);
void exec_read_reports(struct node *node, struct exec *exec);
bool exec_reaped(struct node *node, pid_t pid, int status);

void probe_start(struct node *node, const struct probe *wanted);
void probe_step(struct node *node, struct probe *probe, int64_t now,
    bool ready); /* may free the probe */

/* rootfs.c: build the root of a container and make it the root of this process */

struct root;

struct file_attributes {
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

void rootfs_enter(const struct node *node, const struct container *container);
void rootfs_directory(const struct root *root, const char *path,
    const struct file_attributes *look);
void rootfs_file(const struct root *root, const char *path, const struct file_attributes *look,
    const char *text, size_t len);
void rootfs_link(const struct root *root, const char *path, const char *target);
/* open a file of the machine; NULL: it cannot be read */
FILE *rootfs_host_file(const struct root *root, const char *path);

/* confine.c: capabilities and system calls; the functions die on failure */

void confine_capabilities(uint64_t bounding);
/* build the filter, which takes 20 ms, unless `filter` is for this set already */
void confine_prepare(struct filter *filter, uint64_t bounding);
void confine_calls(const struct filter *filter); /* needs CAP_SYS_ADMIN */
void confine_privileges(void);

/* mounts.c: all other mounts; the functions die on failure */

void mounts_must(const char *source, const char *target, const char *type, unsigned long flags,
    const char *data);
int mounts_clone(int fd, const char *name); /* a detached copy, with all mounts below it */
void mounts_read_only(int fd, const char *name);
void mounts_attach(int tree, int target, const char *name); /* closes the tree */
void mounts_read_only_root(void);
void mounts_directory(const char *path, mode_t mode);
void mounts_stage(void);
void mounts_shm(const struct container *container);
void mounts_devices(void);
void mounts_system(const struct identity *identity, bool unmasked);
/* mount an empty directory over it; closes it */
void mounts_hide(int target, const char *name);
void mounts_hosts_file(const struct container *container);
int mounts_open_volume(const struct mount_spec *mount_spec); /* a detached mount */
bool mounts_is_directory(int fd);
void mounts_attach_volume(const struct mount_spec *mount_spec, int source); /* closes it */
void mounts_pivot_root(void);

/* image_contract.c: what sshd, ssh and MPI need in an image */

struct image_user image_user(const struct node *node, const struct spec *spec);
void image_files(const struct root *root, const struct node *node,
    const struct container *container);
void image_network(void); /* in the network namespace of a pod */
size_t image_environment(const char *const **list);
/* start to create it; a pipe that closes when it exists; -1: not possible */
int image_host_key(void);

#endif

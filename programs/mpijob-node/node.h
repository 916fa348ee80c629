/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob-node: what its files know of each other.
 *
 * Three kinds of processes run this program. The *outer* process (outer.c) is the child of whoever
 * uses lib/local; it makes the namespaces and waits. The *node* (node.c) is PID 1 in them: one
 * thread around one poll loop. Its *children* (rootfs.c, mounts.c, container.c, exec.c) compose a
 * root and become the command of a container. Only the node has the socket to the parent; a child
 * has a control socket on which it reports why it failed, and which closes by itself when the
 * command runs.
 *
 * The node's own file system, in memory:
 *   /host     the machine's files, as they were when the node started
 *   /pods     per sandbox what its containers share: shm
 *   /volumes  per volume its files
 *   /groups   per group its hosts file
 *   /key      the host key for sshd
 *   /stage    where a child composes its root (in its own mount namespace)
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
#define ROOT  STAGE "/root" /* where a container's root comes to be */

/* The image's user where root is wanted and only one id is to be had: see
 * docs/image-contract.md. */
#define SINGLE_ROOT_ID 1500

/* report.c: failing */

#define PRINTF_LIKE(string, first) __attribute__((format(printf, string, first)))

void report_to_parent(int fd); /* what fails from here on is fatal for the node */
void report_to_node(int fd);   /* what fails from here on is one child's failure */
void report_move(int fd);      /* the descriptor of the reports becomes this one */
_Noreturn void die(int error, const char *format, ...) PRINTF_LIKE(2, 3); /* errno goes along */
_Noreturn void die_errno(int number, int error, const char *format, ...) PRINTF_LIKE(3, 4);
char *format_text(const char *format, ...) PRINTF_LIKE(1, 2); /* yours; dies when memory runs out */
/* zeroed; dies when memory runs out */
void *must_alloc(size_t size);
void *must_grow(void *list, size_t count, size_t size); /* room for one more */
char *must_copy(const char *text);

struct child_report { /* what a child tells the node */
	int error;    /* a MPIJOB_ERR_*; 0: the report is a pid */
	int number;   /* errno */
	pid_t pid;
	char text[]; /* the rest of the packet; NUL-terminated */
};
void report_pid(pid_t pid);
/* yours; NULL: nothing there (errno EAGAIN), or the other end closed */
struct child_report *report_receive(int fd);

/* outer.c: namespaces and identity */

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

/* Returns only in the node, with the pipe that closes when the outer process ends and the identity
 * it became. */
int outer_run(int wanted, int *identity);
void identity_read(struct identity *identity, int kind);
bool identity_has_uid(const struct identity *identity, uint32_t uid);
bool identity_has_gid(const struct identity *identity, uint32_t gid);

/* netlink.c: interfaces; all return 0 or an errno */

int netlink_open(void); /* in the network namespace of the caller; -1 and errno */
int netlink_loopback(int fd);
int netlink_bridge(int fd, const char *name, struct in_addr address);
int netlink_veth(int fd, const char *name, const char *bridge, int peer_namespace,
    struct in_addr peer_address);
int netlink_eth0(int fd, struct in_addr address);

/* layers.c: of which pieces a container's root is put together */

enum leaf_kind {
	LEAF_LAYER,     /* a directory of the machine under a private writable layer */
	LEAF_BIND,      /* a directory or file of the machine, read-only */
	LEAF_DIRECTORY, /* a new directory whose entries are leaves of their own */
	LEAF_COPY,      /* a new directory with copies of the machine's files */
	LEAF_LINK,      /* a symbolic link */
};

struct leaf {
	char *path;
	char *link;
	enum leaf_kind kind;
	bool file;
};

struct layers {
	struct leaf *leaf; /* parents before what is in them */
	size_t count;
	bool overlay;   /* the kernel can do LEAF_LAYER */
	bool userxattr; /* and needs this option for it */
};

void layers_plan(struct layers *layers, const struct identity *identity, const char *cwd);
bool path_below(const char *path, const char *folder); /* or the same */

/* tree.c: whole directories */

void remove_tree(int at, const char *name);
void copy_tree(int from, int to, const char *name); /* what can be read of it; closes both */

/* below.c: paths that the kernel keeps inside of a directory; -1 and errno */

int below_open(int top, const char *path, int flags);
/* the last name of the path is stored */
int below_parent(int top, const char *path, const char **name);
/* opens it; creates what is missing */
int below_make(int top, const char *path, bool folder);
char *fd_path(int fd); /* as a path in /proc; yours */

/* sandbox.c, volume.c, container.c, exec.c, probe.c: what the node keeps */

struct sandbox {
	struct sandbox *next;
	uint64_t id;
	uint64_t group;
	char *hostname;
	struct in_addr address;
	bool host_network;
	int net; /* the namespaces live as long as these */
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

struct spec { /* of a container or an exec; the texts are borrowed from `message` */
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
	uint64_t capabilities; /* the bounding set, a bit for each */
	uint64_t confine;      /* NODE_CONFINE_* */
	int fds[3];            /* borrowed from `message` */
};

struct image_user {
	uid_t uid; /* as the command sees itself */
	gid_t gid;
	char *name;
	char *home;
	bool is_root; /* though its number is not 0 */
};

struct container {
	struct container *next;
	struct image_user user;
	struct sandbox *sandbox; /* NULL when that was destroyed meanwhile */
	struct spec spec;
	uint64_t request;
	pid_t pid;
	int control; /* -1 once it runs */
	bool failed; /* before its command ran */
};

struct exec {
	struct exec *next;
	uint64_t request;
	uint64_t container;
	pid_t pid;   /* 0 until the child told it */
	int control; /* -1 once it runs */
	struct child_report *failure;
};

struct probe {
	struct probe *next;
	uint64_t request;
	uint64_t sandbox;
	uint16_t port;
	int64_t deadline;
	int64_t retry;
	int64_t at; /* when to try again; 0 while `fd` is on its way */
	bool listen;
	int fd;
};

struct filter { /* of system calls, for one bounding set */
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
	int life;    /* closes when the outer process ends */
	int signals; /* signalfd */
	int netlink;
	int net; /* the node's own namespaces */
	int ipc;
	int uts;
	int host_key;   /* closes when the host key is there; -1 when there is none */
	unsigned veths; /* counters for names */
	unsigned contents;
	uint64_t file_limit; /* soft, of containers */
	uint64_t core_limit; /* soft, as it was */
};

_Noreturn void node_run(int life, int identity);
void answer(struct node *node, struct node_writer *w); /* takes what is in w */
void answer_ok(struct node *node, uint64_t request);
void answer_number(struct node *node, uint64_t request, uint16_t tag, uint64_t value);
void answer_error(struct node *node, uint64_t request, int error, int number, const char *format,
    ...) PRINTF_LIKE(5, 6);
void answer_exited(struct node *node, uint16_t type, uint64_t request, uint64_t id, int status);

void request_handle(struct node *node, struct node_incoming *in); /* takes the message */

void sandbox_create(struct node *node, uint64_t request, struct sandbox *wanted,
    const char *hostname, const char *address);
void sandbox_destroy(struct node *node, uint64_t request, uint64_t id);
struct sandbox *sandbox_find(const struct node *node, uint64_t id);
void sandbox_enter(const struct sandbox *sandbox); /* dies when refused: for children */

void volume_write(struct node *node, uint64_t request, struct node_reader *fields);
void volume_remove(struct node *node, uint64_t request, uint64_t id);
void hosts_write(struct node *node, uint64_t request, uint64_t group, const void *data, size_t len);

bool spec_read(struct spec *spec, struct node_incoming *in); /* takes the message if true */
void spec_free(struct spec *spec);
char **spec_environment(const struct spec *spec, const struct spec *extra, const char *home,
    const char *hostname);

void container_start(struct node *node, struct node_incoming *in);
void container_signal(struct node *node, uint64_t request, uint64_t id, int signo);
/* kill what runs in it */
void container_leave_sandbox(struct node *node, const struct sandbox *sandbox);
struct container *container_find(const struct node *node, uint64_t id);
void container_control(struct node *node, struct container *container);
bool container_reaped(struct node *node, pid_t pid, int status);
_Noreturn void container_become(const struct node *node, const struct container *container,
    const struct spec *extra);

void exec_start(struct node *node, struct node_incoming *in);
void exec_signal(struct node *node, uint64_t request, uint64_t exec_request, int signo);
void exec_control(struct node *node, struct exec *exec);
bool exec_reaped(struct node *node, pid_t pid, int status);

void probe_start(struct node *node, const struct probe *wanted);
void probe_step(struct node *node, struct probe *probe, int64_t now, bool ready); /* may free it */

/* rootfs.c: compose a container's root and move into it */

struct root;

struct file_look {
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

void rootfs_enter(const struct node *node, const struct container *container);
void rootfs_folder(const struct root *root, const char *path, const struct file_look *look);
void rootfs_file(const struct root *root, const char *path, const struct file_look *look,
    const char *text, size_t len);
void rootfs_link(const struct root *root, const char *path, const char *target);
/* one of the machine; NULL: it cannot be read */
FILE *rootfs_host_file(const struct root *root, const char *path);

/* confine.c: capabilities and system calls; all die when refused */

void confine_capabilities(uint64_t bounding);
/* 20 ms of computing, unless it is the last one */
void confine_prepare(struct filter *filter, uint64_t bounding);
void confine_calls(const struct filter *filter); /* needs CAP_SYS_ADMIN */
void confine_privileges(void);

/* mounts.c: what is mounted beside layers; all die when refused */

void mounts_must(const char *source, const char *target, const char *type, unsigned long flags,
    const char *data);
int mounts_tree(int fd, const char *name); /* a detached copy with all mounts below it */
void mounts_read_only(int fd, const char *name);
void mounts_attach(int tree, int target, const char *name); /* closes the tree */
void mounts_read_only_root(void);
void mounts_folder(const char *path, mode_t mode);
void mounts_stage(void);
void mounts_shm(const struct container *container);
void mounts_devices(void);
void mounts_system(const struct identity *identity, bool unmasked);
/* an empty directory of that name over it; closes it */
void mounts_hide(int target, const char *name);
void mounts_shared(const struct container *container);
int mounts_source(const struct mount_spec *mount_spec); /* a detached mount */
bool mounts_is_folder(int fd);
void mounts_volume(const struct mount_spec *mount_spec, int source); /* closes it */
void mounts_move_in(void);

/* image_contract.c: what sshd, ssh and MPI need in an image */

struct image_user image_user(const struct node *node, const struct spec *spec);
void image_files(const struct root *root, const struct node *node,
    const struct container *container);
void image_network(void); /* in the network namespace of a pod */
size_t image_environment(const char *const **list);
/* starts making it: a pipe that closes when it is there; -1: it cannot be made */
int image_host_key(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of the node protocol: start mpijob-node, request sandboxes, volumes and
 * containers, and receive answers and events.
 *
 * Only mpijob__local_node_client_step() blocks, up to its timeout. Each request function queues one
 * request and returns its number; mpijob__local_node_client_next() later returns exactly one answer
 * with that number. Requests may be queued before NODE_EVT_READY. A client is used by one thread.
 *
 * Freeing the client, or the death of this process, ends the node: when
 * mpijob__local_node_client_free() returns, the kernel has removed every process, mount, interface
 * and namespace of the node.
 */
#ifndef MPIJOB_LOCAL_NODE_CLIENT_H
#define MPIJOB_LOCAL_NODE_CLIENT_H

#include "local/node_protocol.h"

#include <mpijob/base.h>
#include <mpijob/diag.h>

struct node_client;

struct node_options {
	const char *program; /* path of mpijob-node; not NULL */
	/* default working directory of containers; NULL: that of the caller */
	const char *cwd;
	int32_t identity; /* NODE_IDENTITY_AUTO, or the required NODE_IDENTITY_* */
};

struct node_sandbox {
	uint64_t id;
	const char *hostname; /* not NULL */
	/* "198.18.1.2"; 198.18.0.1 is the node itself; NULL with host_network */
	const char *address;
	/* shares the node's own network namespace and its address 198.18.0.1 */
	int host_network;
	/* the group whose hosts file is /etc/hosts; may be written later; 0: none */
	uint64_t group;
};

struct node_file {
	const char *path; /* relative, without ".."; may contain directories */
	const void *data; /* copied into buffers that are wiped */
	size_t len;
	uint32_t mode; /* permission bits */
	uint32_t uid;
	uint32_t gid;
};

struct node_volume {
	uint64_t id;
	int32_t kind; /* NODE_VOLUME_EMPTY or NODE_VOLUME_FILES */
	/* the pod's fsGroup, or -1; the node sets group permissions as Kubernetes does */
	int64_t fs_group;
	const struct node_file *files;
	size_t file_count;
};

struct node_mount {
	uint64_t volume; /* id of a written volume, or 0 */
	/* when volume is 0: an absolute path of this machine; the caller checks that it is allowed
	 */
	const char *host_path;
	const char *path; /* absolute path in the container */
	/* path in the volume, created as a directory if absent; NULL: the whole volume */
	const char *sub_path;
	int read_only;
};

struct node_container {
	uint64_t id; /* may be reused after NODE_EVT_EXITED */
	uint64_t sandbox;
	const char *const *argv; /* ends with NULL; argv[0] is searched in the container's PATH */
	/* "NAME=value", ends with NULL; overrides the image's; NULL: only the image's */
	const char *const *envp;
	const char *cwd; /* NULL: the node's working directory */
	int64_t uid;     /* runAsUser, or -1: root */
	/* runAsGroup, or -1: the user's group in /etc/passwd of the image, else 0 */
	int64_t gid;
	const uint32_t *groups; /* supplementalGroups and fsGroup */
	size_t group_count;
	const struct node_mount *mounts;
	size_t mount_count;
	int read_only_root;
	uint64_t capabilities; /* bounding set: bit N is capability N */
	uint64_t confine;      /* NODE_CONFINE_* */
	/* spec.sshAuthMountPath, where sshd and ssh also search keys; NULL: /root/.ssh */
	const char *ssh_auth_path;
	/* stdin, stdout, stderr; -1: /dev/null. Duplicated: the caller still owns its own */
	int fds[3];
};

struct node_exec {
	uint64_t container;
	const char *const *argv;
	const char *const *envp; /* added to the container's; may be NULL */
	const char *cwd;         /* NULL: the container's */
	int fds[3];              /* as in struct node_container */
};

struct node_probe {
	uint64_t sandbox;
	uint16_t port;
	int32_t timeout_ms;
	/* above 0: the node retries at this interval until the probe succeeds or times out */
	int32_t retry_ms;
	/* check for a listening socket without connecting, which sshd would log */
	int listen_only;
};

struct node_event {
	uint64_t request;    /* the answered request, or 0 */
	int32_t type;        /* NODE_ANS_* or NODE_EVT_* */
	int32_t error;       /* ERROR and FATAL: a MPIJOB_ERR_* */
	int32_t errno_value; /* ERROR and FATAL: the system's errno, or 0 */
	uint64_t id;         /* EVT_EXITED: the container */
	int64_t pid;         /* of a started container, in the pid namespace of the node */
	int32_t code;        /* EXITED: exit code, or 128 + signal; OK of a probe: NODE_PROBE_* */
	int32_t signo;       /* EXITED: the signal that ended it, or 0 */
	int32_t identity;    /* READY */
	uint32_t features;   /* READY */
	/* ERROR, FATAL, EXITED: the error, a sentence in lower case; READY: the kernel; else NULL
	 */
	const char *text;
};

/* Start a node. 0, MPIJOB_ERR_USAGE, MPIJOB_ERR_NOMEM, or MPIJOB_ERR_IO with a finding when the
 * program cannot be started. The node itself reports errors as NODE_EVT_FATAL. */
int mpijob__local_node_client_start(const struct node_options *options, struct node_client **out,
    mpijob_diag *diag);

/* Close the connection and wait until the node has exited (some milliseconds). NULL does nothing.
 */
void mpijob__local_node_client_free(struct node_client *client);

/* For the caller's event loop: the descriptor to poll for reading, and whether to poll it for
 * writing, too. */
int mpijob__local_node_client_fd(const struct node_client *client);
int mpijob__local_node_client_wants_write(const struct node_client *client);

/*
 * Wait up to timeout_ms milliseconds (-1: no limit) until the socket is ready, and send what is
 * possible. 0; MPIJOB_ERR_IO: the node has ended (mpijob__local_node_client_next() still returns
 * its last messages); MPIJOB_ERR_NOMEM.
 */
int mpijob__local_node_client_step(struct node_client *client, int timeout_ms);

/* Receive the next answer or event: 1, or 0 when there is none. Its text is valid until the next
 * call with this client. */
int mpijob__local_node_client_next(struct node_client *client, struct node_event *event);

/*
 * Requests. `request` may be NULL. Each returns 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_USAGE (longer than
 * a frame, 16 MiB), MPIJOB_ERR_IO (a descriptor cannot be duplicated, or the node has ended).
 */
int mpijob__local_node_client_sandbox_create(struct node_client *client,
    const struct node_sandbox *sandbox, uint64_t *request);
int mpijob__local_node_client_sandbox_destroy(struct node_client *client, uint64_t sandbox,
    uint64_t *request);
int mpijob__local_node_client_volume_write(struct node_client *client,
    const struct node_volume *volume, uint64_t *request);
int mpijob__local_node_client_volume_remove(struct node_client *client, uint64_t volume,
    uint64_t *request);
int mpijob__local_node_client_hosts_write(struct node_client *client, uint64_t group,
    const char *text, size_t len, uint64_t *request);
int mpijob__local_node_client_container_start(struct node_client *client,
    const struct node_container *container, uint64_t *request);
int mpijob__local_node_client_container_signal(struct node_client *client, uint64_t container,
    int signo, uint64_t *request);
int mpijob__local_node_client_exec(struct node_client *client, const struct node_exec *exec,
    uint64_t *request);
int mpijob__local_node_client_exec_signal(struct node_client *client, uint64_t exec_request,
    int signo, uint64_t *request);
int mpijob__local_node_client_probe(struct node_client *client, const struct node_probe *probe,
    uint64_t *request);

#endif

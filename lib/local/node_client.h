/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of the node: start mpijob-node, ask it for sandboxes, volumes and containers,
 * and collect its answers and events.
 *
 * Nothing here blocks except mpijob__local_node_client_step() for as long as it is told. Each
 * request function queues one request, gives its number, and its one answer comes out of
 * mpijob__local_node_client_next() later; requests may be sent at once, before NODE_EVT_READY came.
 * One client, one thread.
 *
 * Closing the client (or dying) ends the node: every process, mount, interface and namespace that
 * it made is gone when mpijob__local_node_client_free() returns.
 */
#ifndef MPIJOB_LOCAL_NODE_CLIENT_H
#define MPIJOB_LOCAL_NODE_CLIENT_H

#include "node_protocol.h"

#include <mpijob/base.h>
#include <mpijob/diag.h>

struct node_client;

struct node_options {
	const char *program; /* path of mpijob-node; not NULL */
	/* the working directory of containers that name none; NULL: that of the caller */
	const char *cwd;
	int32_t identity; /* NODE_IDENTITY_AUTO, or one of the others to insist on it */
};

struct node_sandbox {
	uint64_t id;
	const char *hostname; /* not NULL */
	/* "198.18.1.2", not 198.18.0.1 (the node's own); NULL with host_network */
	const char *address;
	/* shares the node's own network namespace and its address 198.18.0.1 */
	int host_network;
	/* whose hosts file it sees as /etc/hosts; may be written later; 0: none */
	uint64_t group;
};

struct node_file {
	const char *path; /* relative, no ".." in it; may have directories */
	const void *data; /* copied into buffers that are wiped */
	size_t len;
	uint32_t mode; /* permission bits */
	uint32_t uid;
	uint32_t gid;
};

struct node_volume {
	uint64_t id;
	int32_t kind; /* NODE_VOLUME_EMPTY or NODE_VOLUME_FILES */
	/* the pod's fsGroup, or -1; the node then also sets the group bits as Kubernetes does */
	int64_t fs_group;
	const struct node_file *files;
	size_t file_count;
};

struct node_mount {
	uint64_t volume; /* a volume that was written, or 0 */
	/* when volume is 0: an absolute path of this machine (whether that is allowed is not asked
	 * here) */
	const char *host_path;
	const char *path; /* where in the container; absolute */
	/* below the volume; NULL: the volume itself. An absent one is made as a directory */
	const char *sub_path;
	int read_only;
};

struct node_container {
	uint64_t id; /* may be used again after NODE_EVT_EXITED */
	uint64_t sandbox;
	const char *const *argv; /* ends in NULL; argv[0] is looked up in the container's PATH */
	/* ends in NULL; "NAME=value"; wins over the image's. NULL: only the image's */
	const char *const *envp;
	const char *cwd; /* NULL: the node's working directory */
	int64_t uid;     /* runAsUser, or -1: the image's, root */
	/* runAsGroup, or -1: the user's own group by the image's passwd, else 0 */
	int64_t gid;
	const uint32_t *groups; /* supplementalGroups and fsGroup */
	size_t group_count;
	const struct node_mount *mounts;
	size_t mount_count;
	int read_only_root;
	uint64_t capabilities; /* the bounding set, a bit for each */
	uint64_t confine;      /* NODE_CONFINE_* */
	/* spec.sshAuthMountPath; sshd and ssh look for keys there too; NULL: /root/.ssh */
	const char *ssh_auth_path;
	/* stdin, stdout, stderr of the command; -1: /dev/null. Duplicated: close yours after the
	 * call */
	int fds[3];
};

struct node_exec {
	uint64_t container;
	const char *const *argv;
	const char *const *envp; /* added to the container's; may be NULL */
	const char *cwd;         /* NULL: the container's */
	int fds[3];              /* as above */
};

struct node_probe {
	uint64_t sandbox;
	uint16_t port;
	int32_t timeout_ms;
	/* above 0: the node itself tries again at this interval until it works or the timeout is
	 * over */
	int32_t retry_ms;
	/* look whether something listens instead of connecting: leaves no noise in sshd's log */
	int listen_only;
};

struct node_event {
	uint64_t request;    /* the answered request, or 0 */
	int32_t type;        /* NODE_ANS_* or NODE_EVT_* */
	int32_t error;       /* ERROR and FATAL: a MPIJOB_ERR_* */
	int32_t errno_value; /* ERROR and FATAL: the system's errno, or 0 */
	uint64_t id;         /* EVT_EXITED: the container */
	int64_t pid;         /* of a started container, seen from inside the node */
	int32_t code;        /* EXITED: exit code, or 128 + signal; OK of a probe: NODE_PROBE_* */
	int32_t signo;       /* EXITED: the signal that ended it, or 0 */
	int32_t identity;    /* READY */
	uint32_t features;   /* READY */
	const char *
	    /* ERROR, FATAL, EXITED: what went wrong, one lower case sentence; READY: the
	     * kernel; else NULL */
	    text;
};

/* Start a node. The findings say why it could not be started at all; what the node itself finds out
 * comes as NODE_EVT_FATAL. */
int mpijob__local_node_client_start(const struct node_options *options, struct node_client **out,
    mpijob_diag *diag);

/* Close the connection and wait until the node is gone (some milliseconds). NULL does nothing. */
void mpijob__local_node_client_free(struct node_client *client);

/* For a loop of one's own: poll this descriptor for reading, and for writing when the second says
 * 1. */
int mpijob__local_node_client_fd(const struct node_client *client);
int mpijob__local_node_client_wants_write(const struct node_client *client);

/*
 * Send and receive what is possible, after waiting up to timeout_ms (-1: for ever) for anything to
 * do. 0; MPIJOB_ERR_IO: the node is gone (what it said before is still to be had by _next);
 * MPIJOB_ERR_NOMEM.
 */
int mpijob__local_node_client_step(struct node_client *client, int timeout_ms);

/* Take the next answer or event: 1, or 0 when there is none. Its text lives until the next call
 * with this client. */
int mpijob__local_node_client_next(struct node_client *client, struct node_event *event);

/*
 * Requests. `request` may be NULL. Each returns 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_USAGE (too long for
 * one frame: 16 MiB), MPIJOB_ERR_IO (a descriptor could not be duplicated, or the node is gone).
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

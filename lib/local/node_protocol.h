/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between lib/local (the parent) and the program mpijob-node (the node).
 *
 * The transport is one stream socket pair. Each message is a frame: a header of 16 bytes, then
 * fields. A field is a header of 8 bytes (tag, zero, length) and its bytes, which may be fields
 * again. Texts end with NUL, so that they can be read in place; numbers are 8 bytes in host byte
 * order. The format is binary because messages carry keys: every buffer has a known size and is
 * wiped, and file contents need no encoding. File descriptors are attached to the first byte of
 * their frame.
 *
 * The parent chooses a number above 0 for each request, and gets exactly one answer with that
 * number, in any order. Events have the number 0. The parent also chooses the ids, above 0, of
 * sandboxes, containers, volumes and groups. The pods of a group share one hosts file.
 */
#ifndef MPIJOB_LOCAL_NODE_PROTOCOL_H
#define MPIJOB_LOCAL_NODE_PROTOCOL_H

#include <stdint.h>

#define NODE_PROTOCOL_VERSION 1

#define NODE_FD          3           /* the node's end of the socket pair */
#define NODE_MAX_PAYLOAD (16u << 20) /* bytes of fields in one frame */
#define NODE_MAX_FDS     3           /* stdin, stdout, stderr */

struct node_frame {
	uint32_t length; /* bytes of fields that follow */
	uint16_t type;   /* NODE_REQ_*, NODE_ANS_* or NODE_EVT_* */
	uint16_t fds;    /* descriptors attached to this frame */
	uint64_t request;
};

struct node_field_header {
	uint16_t tag;
	uint16_t zero;
	uint32_t length;
};

/* Parent to node. Comments list the fields (* repeated, + at least once, ? optional) and the
 * answer. */
enum {
	/* ID HOSTNAME ADDRESS HOST_NETWORK GROUP? -> OK when its network is up */
	NODE_REQ_SANDBOX_CREATE = 1,
	NODE_REQ_SANDBOX_DESTROY, /* ID; kills its processes -> OK */
	/* ID KIND FS_GROUP? FILE* -> OK when readers see the new content */
	NODE_REQ_VOLUME_WRITE,
	NODE_REQ_VOLUME_REMOVE, /* ID -> OK; no container may have it mounted */
	NODE_REQ_HOSTS_WRITE,   /* GROUP DATA -> OK when every pod of the group sees it */
	/* ID SANDBOX ARG+ ENV* CWD? UID? GID? SUPPLEMENTARY* MOUNT* READ_ONLY? SSH_PATH?
	 * CAPABILITIES CONFINE? STDIO with descriptors -> OK with PID when the command runs */
	NODE_REQ_CONTAINER_START,
	NODE_REQ_CONTAINER_SIGNAL, /* ID SIGNAL; signals the first process -> OK */
	/* ID(container) ARG+ ENV* CWD? STDIO with descriptors -> EXITED when it ends */
	NODE_REQ_EXEC,
	NODE_REQ_EXEC_SIGNAL, /* REQUEST(of the exec) SIGNAL -> OK */
	/* SANDBOX PORT TIMEOUT RETRY? LISTEN? -> OK with CODE = NODE_PROBE_* */
	NODE_REQ_PROBE,
};

/* Node to parent. */
enum {
	NODE_ANS_OK = 64, /* PID? CODE? */
	NODE_ANS_ERROR,   /* ERROR(an MPIJOB_ERR_*) ERRNO? TEXT */
	/* CODE SIGNAL; CODE 127 or 126 with TEXT: the exec could not start */
	NODE_ANS_EXITED,
	NODE_EVT_READY = 128, /* VERSION IDENTITY KERNEL FEATURES */
	NODE_EVT_FATAL,       /* ERROR ERRNO? TEXT; the last message of the node */
	NODE_EVT_EXITED,      /* ID(container) CODE SIGNAL */
};

/* Fields. */
enum {
	NODE_F_ID = 1,
	NODE_F_SANDBOX,
	NODE_F_GROUP,
	NODE_F_VOLUME,
	NODE_F_REQUEST,
	NODE_F_HOSTNAME,
	NODE_F_ADDRESS,
	NODE_F_HOST_NETWORK,
	NODE_F_KIND,
	NODE_F_FS_GROUP,
	NODE_F_FILE, /* fields: PATH MODE UID? GID? DATA */
	NODE_F_PATH,
	NODE_F_MODE,
	NODE_F_UID,
	NODE_F_GID,
	NODE_F_DATA,
	NODE_F_ARG,
	NODE_F_ENV,
	NODE_F_CWD,
	NODE_F_SUPPLEMENTARY,
	NODE_F_MOUNT, /* fields: VOLUME or HOST_PATH, PATH, SUB_PATH?, READ_ONLY? */
	NODE_F_HOST_PATH,
	NODE_F_SUB_PATH,
	NODE_F_READ_ONLY,
	NODE_F_SSH_PATH,
	/* bits 1, 2, 4: descriptor 0, 1, 2 is attached; the others are /dev/null */
	NODE_F_STDIO,
	NODE_F_SIGNAL,
	NODE_F_PORT,
	NODE_F_TIMEOUT, /* ms */
	NODE_F_RETRY,   /* ms between attempts until TIMEOUT; 0 or absent: one attempt */
	NODE_F_LISTEN,  /* 1: check for a listening socket without connecting */
	NODE_F_PID,
	NODE_F_CODE,
	NODE_F_ERROR, /* negated: a number above 0 */
	NODE_F_ERRNO,
	NODE_F_TEXT,
	NODE_F_VERSION,
	NODE_F_IDENTITY,
	NODE_F_KERNEL,
	NODE_F_FEATURES,
	NODE_F_CAPABILITIES, /* the bounding set: bit N is capability N */
	NODE_F_CONFINE,      /* NODE_CONFINE_* */
};

/* NODE_F_KIND. */
#define NODE_VOLUME_EMPTY 1 /* a writable directory */
/* exactly these files, replaced atomically: configMap, secret, projected, downwardAPI */
#define NODE_VOLUME_FILES 2

/* NODE_F_IDENTITY: the user and ids of the node. */
#define NODE_IDENTITY_AUTO        0 /* only in requests: use the best one */
#define NODE_IDENTITY_ROOT        1 /* root on this machine */
#define NODE_IDENTITY_SUBORDINATE 2 /* an unprivileged user with a range of subordinate ids */
#define NODE_IDENTITY_SINGLE      3 /* an unprivileged user with one id */

/* NODE_F_CONFINE: bits. */
#define NODE_CONFINE_NO_FILTER         1u /* no seccomp filter */
#define NODE_CONFINE_NO_MASKS          2u /* no masked paths in /proc and /sys */
#define NODE_CONFINE_NO_NEW_PRIVILEGES 4u /* set no_new_privs */

/* NODE_F_CODE of a probe. */
#define NODE_PROBE_OK      0
#define NODE_PROBE_REFUSED 1
#define NODE_PROBE_TIMEOUT 2

/* NODE_F_FEATURES: bits. */
#define NODE_FEATURE_SSHD    1u /* /usr/sbin/sshd exists */
#define NODE_FEATURE_OVERLAY 2u /* overlayfs works: directories get a private writable layer */

#endif

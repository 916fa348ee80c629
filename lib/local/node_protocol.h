/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between lib/local (the parent) and the program mpijob-node (the node).
 *
 * One stream socket pair. Each message is a frame: 16 bytes of header, then fields. A field is 8
 * bytes of header (tag, zero, length) and its bytes; a field may hold fields in turn. Texts end in
 * NUL on the wire, so that they can be read in place; numbers are 8 bytes in the byte order of the
 * machine. It is no JSON because keys travel here: every buffer is of known size and wiped, and the
 * bytes of a file need no encoding. File descriptors ride on the first byte of their frame.
 *
 * A request has a number above 0 chosen by the parent and gets exactly one answer with that number;
 * answers come in any order. Events have the number 0. Sandboxes, containers, volumes and groups
 * are named by numbers above 0 that the parent chooses.
 */
#ifndef MPIJOB_LOCAL_NODE_PROTOCOL_H
#define MPIJOB_LOCAL_NODE_PROTOCOL_H

#include <stdint.h>

#define NODE_PROTOCOL_VERSION 1

#define NODE_FD          3           /* where the node finds its end of the socket pair */
#define NODE_MAX_PAYLOAD (16u << 20) /* bytes of fields in one frame */
#define NODE_MAX_FDS     3           /* stdin, stdout, stderr */

struct node_frame {
	uint32_t length; /* bytes of fields that follow */
	uint16_t type;   /* NODE_REQ_*, NODE_ANS_* or NODE_EVT_* */
	uint16_t fds;    /* descriptors that ride on this frame */
	uint64_t request;
};

struct node_field_header {
	uint16_t tag;
	uint16_t zero;
	uint32_t length;
};

/* Parent to node. In brackets: the fields; * may repeat, ? may be absent. */
enum {
	/* ID HOSTNAME ADDRESS HOST_NETWORK GROUP? -> OK once its network is up */
	NODE_REQ_SANDBOX_CREATE = 1,
	NODE_REQ_SANDBOX_DESTROY, /* ID; kills what still runs in it -> OK */
	/* ID KIND FS_GROUP? FILE* -> OK once readers see the new content */
	NODE_REQ_VOLUME_WRITE,
	NODE_REQ_VOLUME_REMOVE, /* ID -> OK; for when no container has it mounted any more */
	NODE_REQ_HOSTS_WRITE,   /* GROUP DATA -> OK once every pod of the group sees it */
	/* ID SANDBOX ARG+ ENV* CWD? UID? GID? SUPPLEMENTARY* MOUNT* READ_ONLY? SSH_PATH? *
	 * CAPABILITIES CONFINE? * STDIO and its descriptors -> OK with PID once the command runs */
	NODE_REQ_CONTAINER_START,
	NODE_REQ_CONTAINER_SIGNAL, /* ID SIGNAL; to the first process -> OK */
	/* ID(container) ARG+ ENV* CWD? STDIO and its descriptors -> EXITED when it ended */
	NODE_REQ_EXEC,
	NODE_REQ_EXEC_SIGNAL, /* REQUEST(of the exec) SIGNAL -> OK */
	/* SANDBOX PORT TIMEOUT RETRY? LISTEN? -> OK with CODE = NODE_PROBE_* */
	NODE_REQ_PROBE,
};

/* Node to parent. */
enum {
	NODE_ANS_OK = 64, /* PID? CODE? */
	NODE_ANS_ERROR,   /* ERROR(an MPIJOB_ERR_*) ERRNO? TEXT */
	/* CODE SIGNAL; an exec that could not start is CODE 127 or 126, with TEXT */
	NODE_ANS_EXITED,
	NODE_EVT_READY = 128, /* VERSION IDENTITY KERNEL FEATURES */
	NODE_EVT_FATAL,       /* ERROR ERRNO? TEXT; the node ends after this */
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
	/* which of the descriptors 0, 1, 2 ride along: bits 1, 2, 4; the others are /dev/null */
	NODE_F_STDIO,
	NODE_F_SIGNAL,
	NODE_F_PORT,
	NODE_F_TIMEOUT, /* ms */
	NODE_F_RETRY,   /* ms between tries until TIMEOUT; 0 or absent: one try */
	NODE_F_LISTEN,  /* 1: only look whether something listens, do not connect */
	NODE_F_PID,
	NODE_F_CODE,
	NODE_F_ERROR, /* negated, so that it is a number above 0 */
	NODE_F_ERRNO,
	NODE_F_TEXT,
	NODE_F_VERSION,
	NODE_F_IDENTITY,
	NODE_F_KERNEL,
	NODE_F_FEATURES,
	NODE_F_CAPABILITIES, /* the bounding set: bit N is capability N */
	NODE_F_CONFINE,      /* NODE_CONFINE_* */
};

/* NODE_F_KIND: what a volume is. */
#define NODE_VOLUME_EMPTY 1 /* a writable directory */
/* exactly these files, replaced as a whole: configMap, secret, projected, downwardAPI */
#define NODE_VOLUME_FILES 2

/* NODE_F_IDENTITY: whose rights the node has. */
#define NODE_IDENTITY_AUTO        0 /* only asked for, never answered */
#define NODE_IDENTITY_ROOT        1 /* root on this machine */
#define NODE_IDENTITY_SUBORDINATE 2 /* an ordinary user with a range of subordinate ids */
#define NODE_IDENTITY_SINGLE      3 /* an ordinary user with no other id */

/* NODE_F_CONFINE: bits. */
#define NODE_CONFINE_NO_FILTER         1u /* all system calls */
#define NODE_CONFINE_NO_MASKS          2u /* all of /proc and /sys */
#define NODE_CONFINE_NO_NEW_PRIVILEGES 4u /* no set-user-id programs */

/* NODE_F_CODE of a probe. */
#define NODE_PROBE_OK      0
#define NODE_PROBE_REFUSED 1
#define NODE_PROBE_TIMEOUT 2

/* NODE_F_FEATURES: bits. */
#define NODE_FEATURE_SSHD    1u /* /usr/sbin/sshd is there */
#define NODE_FEATURE_OVERLAY 2u /* directories have a private writable layer */

#endif

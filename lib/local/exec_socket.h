/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_EXEC_SOCKET_H
#define MPIJOB_LOCAL_EXEC_SOCKET_H

#include "local/local.h"

/* The server for exec requests of other processes of this user. */
struct mpijob__local_exec_socket;

int mpijob__local_exec_socket_new(struct mpijob_local *local,
    struct mpijob__local_exec_socket **out);
void mpijob__local_exec_socket_free(struct mpijob__local_exec_socket *sock);

/*
 * The protocol: packets that begin with struct mpijob__local_exec_head, followed by texts that end
 * with NUL. A request contains namespace, pod, container ("": the first) and, for
 * MPIJOB__LOCAL_EXEC_RUN, argv and three descriptors. An answer contains one text: a message, or
 * "".
 */
#define MPIJOB__LOCAL_EXEC_VERSION 1
/* does this pod run here? the answer describes the cluster */
#define MPIJOB__LOCAL_EXEC_QUERY      1
#define MPIJOB__LOCAL_EXEC_RUN        2
#define MPIJOB__LOCAL_EXEC_MAX_PACKET (128u << 10)

struct mpijob__local_exec_head {
	uint32_t version;
	int32_t what;   /* request: EXEC_*; answer: 0 or an MPIJOB_ERR_* */
	int32_t code;   /* answer: the exit code */
	uint32_t count; /* texts that follow */
};

/* The prefix of the names of all such sockets of this user, without the leading NUL of abstract
 * names. The caller frees it; NULL when memory ran out. */
char *mpijob__local_exec_socket_prefix(void);

/* Read the next text of a packet; NULL: there is none, or its NUL is missing. */
const char *mpijob__local_exec_socket_text(const char **at, const char *end);

#endif

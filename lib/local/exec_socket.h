/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_EXEC_SOCKET_H
#define MPIJOB_LOCAL_EXEC_SOCKET_H

#include "local.h"

/* Where other processes of this user ask to run programs in our pods. */
struct exec_socket;

int mpijob__local_exec_socket_new(struct mpijob_local *local, struct exec_socket **out);
void mpijob__local_exec_socket_free(struct exec_socket *sock);

/*
 * What crosses the socket, one packet each way per connection. Packets begin with this head; the
 * texts after it end in NUL. A request: namespace, pod, container ("": the first), argv...; with
 * the three descriptors. An answer: a text for people, "" for none.
 */
#define EXEC_VERSION    1
#define EXEC_ASK        1 /* does this pod run here? answered with EXEC_OK and who we are */
#define EXEC_RUN        2
#define EXEC_MAX_PACKET (128u << 10)

struct exec_head {
	uint32_t version;
	int32_t what;   /* request: EXEC_*; answer: 0 or an MPIJOB_ERR_* */
	int32_t code;   /* answer: the exit code */
	uint32_t count; /* texts that follow */
};

/* The beginning of the names of all such sockets of a user; abstract, so the first byte (NUL) is
 * left out. Yours. */
char *mpijob__local_exec_socket_prefix(void);

/* The next text of a packet; NULL when there is none, or it is not closed. */
const char *mpijob__local_exec_socket_text(const char **at, const char *end);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_EXEC_SOCKET_H
#define MPIJOB_LOCAL_EXEC_SOCKET_H

#include "local.h"

/* Where other processes of this user ask to run programs in our pods. */
struct exec_socket;

int mpijob__exec_socket_new(struct mpijob_local *local, struct exec_socket **out);
void mpijob__exec_socket_free(struct exec_socket *socket);

#endif

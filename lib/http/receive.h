/* SPDX-License-Identifier: Apache-2.0 */
/* What curl calls while an answer comes in. `user` is the call. */
#ifndef MPIJOB__HTTP_RECEIVE_H
#define MPIJOB__HTTP_RECEIVE_H

#include "http/transport.h"

int mpijob__http_receive_begin(void *user, char *ip, char *local_ip, int port, int local_port);
size_t mpijob__http_receive_header(char *line, size_t size, size_t count, void *user);
size_t mpijob__http_receive_data(char *data, size_t size, size_t count, void *user);
/* Tell what was kept during a pause, until it is empty or the next pause. */
void mpijob__http_receive_kept(struct mpijob__http_call *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Curl's callbacks for one answer. `user` is the call. */
#ifndef MPIJOB__HTTP_RECEIVE_H
#define MPIJOB__HTTP_RECEIVE_H

#include "http/transport.h"

int mpijob__http_receive_before_send(void *user, char *ip, char *local_ip, int port,
    int local_port);
size_t mpijob__http_receive_header(char *line, size_t size, size_t count, void *user);
size_t mpijob__http_receive_data(char *data, size_t size, size_t count, void *user);
/* Report the data that was buffered during a pause, until all is reported or the reader pauses. */
void mpijob__http_receive_report_kept(struct mpijob__http_call *call);

#endif

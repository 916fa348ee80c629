/* SPDX-License-Identifier: Apache-2.0 */
/* When curl gets an exchange. */
#ifndef MPIJOB__HTTP_ADMISSION_H
#define MPIJOB__HTTP_ADMISSION_H

#include "http/transport.h"

/* The number of the credentials' descriptor in epoll events; sockets of curl have other numbers,
 * see pool.c. */
#define MPIJOB__HTTP_ADMISSION_EVENT (UINT64_MAX - 1)

/*
 * Call this after every function that may have changed the credentials' descriptor; at once, before
 * another descriptor gets its number. A descriptor that cannot be watched is checked when the
 * plugin is due.
 */
void mpijob__http_admission_follow_plugin(struct mpijob_http *http);
/* Check whether a plugin has output, or is late. */
void mpijob__http_admission_step_plugin(struct mpijob_http *http, int64_t now_ms);
/* Send the calls that may be sent. Callbacks may add more, which wait for the next time. */
void mpijob__http_admission_send_calls(struct mpijob_http *http);
/* 1 when queued calls have room. There is none while a plugin runs. */
int mpijob__http_admission_has_room(const struct mpijob_http *http);

#endif

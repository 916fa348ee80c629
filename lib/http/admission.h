/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes to curl, and when. */
#ifndef MPIJOB__HTTP_ADMISSION_H
#define MPIJOB__HTTP_ADMISSION_H

#include "http/transport.h"

/* The event by which the credentials are watched; sockets of curl have other numbers, see
 * pool.c. */
#define MPIJOB__HTTP_ADMISSION_EVENT (UINT64_MAX - 1)

/*
 * After every call that may have changed the credentials' descriptor; at once, before another one
 * gets its number. One that cannot be watched is looked at when the plugin is due.
 */
void mpijob__http_admission_follow_plugin(struct mpijob_http *http);
/* Look whether a plugin has something to say, or is late. */
void mpijob__http_admission_step_plugin(struct mpijob_http *http, int64_t now_ms);
/* Send what may go. Those that wait when this begins; callbacks may add more. */
void mpijob__http_admission_send_calls(struct mpijob_http *http);
/* Whether there are some whose turn has come. While a plugin runs nobody's has. */
int mpijob__http_admission_has_room(const struct mpijob_http *http);

#endif

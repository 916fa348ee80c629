/* SPDX-License-Identifier: Apache-2.0 */
/* When a call is given to curl. */
#ifndef MPIJOB__HTTP_ADMISSION_H
#define MPIJOB__HTTP_ADMISSION_H

#include "http/transport.h"

/* Marks an event of the plugin's descriptor in epoll; pool.c marks sockets of curl in another way.
 */
#define MPIJOB__HTTP_ADMISSION_PLUGIN_EVENT (UINT64_MAX - 1)

/*
 * Update epoll after a function that may have changed the descriptor of the credentials. Call this
 * at once, before another file can get the same descriptor number. When epoll rejects the
 * descriptor, the plugin is checked at its due time.
 */
void mpijob__http_admission_watch_plugin(struct mpijob_http *http);
/* Let a running plugin continue: read its output, check its timeout. */
void mpijob__http_admission_step_plugin(struct mpijob_http *http, int64_t now_ms);
/* Give calls to curl that have credentials and a slot. Calls that callbacks add meanwhile wait for
 * the next call of this function. */
void mpijob__http_admission_send_calls(struct mpijob_http *http);
/* 1 when a queued call can get a slot; always 0 while a plugin runs. */
int mpijob__http_admission_has_room(const struct mpijob_http *http);

#endif

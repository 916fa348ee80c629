/* SPDX-License-Identifier: Apache-2.0 */
/* Connection pools, one per TLS identity, and the transfers over them. */
#ifndef MPIJOB__HTTP_POOL_H
#define MPIJOB__HTTP_POOL_H

#include "http/transport.h"

/* Find or create the pool of an identity's TLS generation. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_AUTH,
 * MPIJOB_ERR_UNSUPPORTED; the caller frees *message. */
int mpijob__http_pool_find(struct mpijob_http *http, const struct mpijob__http_identity *identity,
    struct mpijob__http_pool **out, char **message);
/* Give a call to curl, which does not copy body and headers: the call must live until
 * mpijob__http_pool_stop(). 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_UNSUPPORTED. */
int mpijob__http_pool_start(struct mpijob__http_pool *pool, struct mpijob__http_call *call,
    struct curl_slist *headers);
/* Take a call back from curl, completed or not. Must not be called inside a callback of curl. */
void mpijob__http_pool_stop(struct mpijob__http_call *call);
/* Note that curl has opened a socket for a call. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_IO. */
int mpijob__http_pool_socket_opened(const struct mpijob__http_call *call, int fd);
/* Process an epoll event of a socket of curl. */
void mpijob__http_pool_event(struct mpijob_http *http, uint64_t data, uint32_t events);
/* Run the timers that are due. */
void mpijob__http_pool_timers(struct mpijob_http *http, int64_t now_ms);
/* When the next timer is due, in monotonic milliseconds; -1: there is no timer. */
int64_t mpijob__http_pool_due(const struct mpijob_http *http);
/* The next call that curl has completed, and its result; NULL: there are no more. */
struct mpijob__http_call *mpijob__http_pool_done(struct mpijob_http *http, CURLcode *code);
/* Whether the multi handle of the call is broken, so that the call cannot complete: 0,
 * MPIJOB_ERR_NOMEM, MPIJOB_ERR_IO. */
int mpijob__http_pool_broken(const struct mpijob__http_call *call);
/* The server speaks HTTP/1.1 only: remove the limit of connections for streams, because each stream
 * needs its own. */
void mpijob__http_pool_use_http1(struct mpijob_http *http);
/* Free the pools of older TLS generations that have no calls. */
void mpijob__http_pool_free_old(struct mpijob_http *http);
/* Free all pools. No call may be in flight. */
void mpijob__http_pool_free_all(struct mpijob_http *http);

#endif

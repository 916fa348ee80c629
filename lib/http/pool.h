/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that were opened with one TLS identity, and the transfers over them. */
#ifndef MPIJOB__HTTP_POOL_H
#define MPIJOB__HTTP_POOL_H

#include "http/transport.h"

/* Find the pool of an identity's TLS generation, or make it. 0; MPIJOB_ERR_NOMEM, MPIJOB_ERR_AUTH,
 * MPIJOB_ERR_UNSUPPORTED; *message yours. */
int mpijob__http_pool_find(struct mpijob_http *http, const struct mpijob__http_identity *identity,
    struct mpijob__http_pool **out, char **message);
/* Give a call to curl; its URL, body and headers stay where they are. 0, MPIJOB_ERR_NOMEM,
 * MPIJOB_ERR_UNSUPPORTED. */
int mpijob__http_pool_start(struct mpijob__http_pool *pool, struct mpijob__http_call *call,
    struct curl_slist *headers);
/* Take it back, finished or not. Not while curl is calling us. */
void mpijob__http_pool_stop(struct mpijob__http_call *call);
/* A call's connection has a new socket. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_IO. */
int mpijob__http_pool_opened(const struct mpijob__http_call *call, int fd);
/* Something happened on a descriptor that mpijob__http_pool_start and its like gave to the epoll
 * set. */
void mpijob__http_pool_event(struct mpijob_http *http, uint64_t data, uint32_t events);
/* Do what is due. */
void mpijob__http_pool_timers(struct mpijob_http *http, int64_t now_ms);
/* When that is next; -1: never. */
int64_t mpijob__http_pool_due(const struct mpijob_http *http);
/* A call that curl is done with, and how that went; NULL: none. */
struct mpijob__http_call *mpijob__http_pool_done(struct mpijob_http *http, CURLcode *code);
/* Whether the call is lost because its sockets are: 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_IO. */
int mpijob__http_pool_broken(const struct mpijob__http_call *call);
/* HTTP/1.1 was seen: a stream needs a connection of its own from now on. */
void mpijob__http_pool_unbind(struct mpijob_http *http);
/* Close the connections of older identities that nothing uses any more. */
void mpijob__http_pool_retire(struct mpijob_http *http);
/* Close all. No call may be under way. */
void mpijob__http_pool_free_all(struct mpijob_http *http);

#endif

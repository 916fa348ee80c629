/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a proxy. */
#ifndef MPIJOB__HTTP_PROXY_H
#define MPIJOB__HTTP_PROXY_H

#include "http/server.h"

/*
 * Choose the proxy for a server: `given`, the proxy of the configuration, or, when it is NULL, that
 * of the environment. `variable` reads an environment variable; NULL: it is not set. Sets *out to a
 * URL, which the caller frees, or to NULL for a direct connection. 0, MPIJOB_ERR_UNSUPPORTED (a
 * scheme other than http and https), MPIJOB_ERR_NOMEM.
 */
int mpijob__http_proxy_choose(const char *given, const struct mpijob__http_server *server,
    const char *(*variable)(const char *name), char **out);
/* Host and port of the proxy, without user name and password, for messages. The caller frees it;
 * NULL when memory ran out. */
char *mpijob__http_proxy_shown(const char *proxy);

#endif

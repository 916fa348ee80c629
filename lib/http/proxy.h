/* SPDX-License-Identifier: Apache-2.0 */
/* Which proxy leads to a server. */
#ifndef MPIJOB__HTTP_PROXY_H
#define MPIJOB__HTTP_PROXY_H

#include "http/server.h"

/*
 * `given` is the configuration's own proxy, or NULL: the environment decides, asked through
 * `variable` (NULL for one that is not set). *out is set to a URL, yours, or NULL for none. 0,
 * MPIJOB_ERR_UNSUPPORTED (a kind of proxy that is not spoken), MPIJOB_ERR_NOMEM.
 */
int mpijob__http_proxy_choose(const char *given, const struct mpijob__http_server *server,
    const char *(*variable)(const char *name), char **out);
/* The proxy without user name and password, for people; yours, or NULL when memory ran out. */
char *mpijob__http_proxy_shown(const char *proxy);

#endif

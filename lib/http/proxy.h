/* SPDX-License-Identifier: Apache-2.0 */
/* Which proxy a server needs. */
#ifndef MPIJOB__HTTP_PROXY_H
#define MPIJOB__HTTP_PROXY_H

#include "http/server.h"

/*
 * `given` is the proxy of the configuration, or NULL: then the environment decides, through
 * `variable` (NULL for a variable that is not set). Sets *out to a URL, which the caller frees, or
 * NULL for none. 0, MPIJOB_ERR_UNSUPPORTED (an unsupported kind of proxy), MPIJOB_ERR_NOMEM.
 */
int mpijob__http_proxy_choose(const char *given, const struct mpijob__http_server *server,
    const char *(*variable)(const char *name), char **out);
/* The proxy without user name and password, for messages; the caller frees it; NULL when memory ran
 * out. */
char *mpijob__http_proxy_shown(const char *proxy);

#endif

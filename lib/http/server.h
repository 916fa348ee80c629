/* SPDX-License-Identifier: Apache-2.0 */
/* The URL of an API server, in parts. */
#ifndef MPIJOB__HTTP_SERVER_H
#define MPIJOB__HTTP_SERVER_H

#include <mpijob/base.h>

/* All strings are owned. */
struct mpijob__http_server {
	int tls;
	char *host;      /* without the brackets of IPv6 */
	char *port;      /* never NULL: 443 or 80 when the URL has none */
	char *authority; /* host:port for messages and the Host header; IPv6 in brackets */
	/* URL without the path of a request; its host is the TLS name if there is one */
	char *base;
	char *connect; /* "name:port:host:port" for CURLOPT_CONNECT_TO; NULL without a TLS name */
};

/*
 * Parse `url`, "http[s]://host[:port][/prefix]". `tls_name` may be NULL. 0; MPIJOB_ERR_SPEC
 * (invalid; *why is a constant sentence); MPIJOB_ERR_NOMEM. After a failure nothing needs to be
 * cleared.
 */
int mpijob__http_server_init(struct mpijob__http_server *server, const char *url,
    const char *tls_name, const char **why);
void mpijob__http_server_clear(struct mpijob__http_server *server);

#endif

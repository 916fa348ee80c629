/* SPDX-License-Identifier: Apache-2.0 */
/* The URL of an API server, in parts. */
#ifndef MPIJOB__HTTP_SERVER_H
#define MPIJOB__HTTP_SERVER_H

#include <mpijob/base.h>

/* Everything is owned. */
struct mpijob__http_server {
	int tls;
	char *host;      /* without the brackets of IPv6 */
	char *port;      /* always there */
	char *authority; /* host:port for messages and the Host header; IPv6 in brackets */
	/* precedes a path; a TLS name replaces the host in it */
	char *base;
	char *connect; /* "name:port:host:port" for CURLOPT_CONNECT_TO; NULL without a TLS name */
};

/*
 * `url` is "http[s]://host[:port][/prefix]"; `tls_name` may be NULL. 0, MPIJOB_ERR_SPEC (not such a
 * URL; *why explains it), MPIJOB_ERR_NOMEM. On failure nothing needs to be cleared.
 */
int mpijob__http_server_init(struct mpijob__http_server *server, const char *url,
    const char *tls_name, const char **why);
void mpijob__http_server_clear(struct mpijob__http_server *server);

#endif

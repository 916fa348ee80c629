/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of servers and proxies in a configuration. */
#ifndef MPIJOB__HTTP_SERVER_URL_H
#define MPIJOB__HTTP_SERVER_URL_H

/*
 * Normalise a server's address to "https://host:port/prefix" without a slash at the end. An address
 * without scheme gets https when `tls` is set, else http. 0, and the caller frees *out;
 * MPIJOB_ERR_NOMEM; MPIJOB_ERR_SPEC, and *why is a constant that completes a sentence.
 */
int mpijob__http_server_url_normalize(const char *text, int tls, char **out, const char **why);
/* Whether an address begins with https. */
int mpijob__http_server_url_is_tls(const char *url);
/* Check a proxy's address: 0; MPIJOB_ERR_UNSUPPORTED (SOCKS) or MPIJOB_ERR_SPEC, both with *why. */
int mpijob__http_server_url_check_proxy(const char *text, const char **why);

#endif

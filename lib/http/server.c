/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an API server's URL, and how curl is given a tls-server-name: that name replaces the
 * host in the URL, and CURLOPT_CONNECT_TO directs the connection to the real address.
 */
#include "http/server.h"

#include "base/text.h"
#include "http/report.h"

#include <stdlib.h>
#include <string.h>

struct parts {
	const char *host;
	size_t host_len;
	const char *port;
	size_t port_len;
	const char *prefix;
};

static int is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= 0x20 || *text == 0x7f)
			return 0;
	return 1;
}

static int is_port(const char *text, size_t len)
{
	unsigned long number = 0;

	if (!len || len > 5)
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		number = number * 10 + (unsigned long)(text[i] - '0');
	}
	return number > 0 && number < 65536;
}

static const char *split_authority(struct parts *parts, const char *at, size_t len)
{
	const char *end = at + len;
	const char *host_end;

	if (memchr(at, '@', len))
		return "the URL of a server must not contain a user name or password; put them "
		       "into the user's entry";
	if (len && *at == '[') {
		host_end = memchr(at, ']', len);
		if (!host_end)
			return "the closing bracket of the IPv6 address is missing";
		parts->host = at + 1;
		parts->host_len = (size_t)(host_end - at) - 1;
		host_end++;
	} else {
		host_end = memchr(at, ':', len);
		if (!host_end)
			host_end = end;
		parts->host = at;
		parts->host_len = (size_t)(host_end - at);
	}
	if (!parts->host_len)
		return "the URL of the server has no host";
	if (host_end < end && *host_end != ':')
		return "only a port or a path may follow the host";
	parts->port = host_end < end ? host_end + 1 : end;
	parts->port_len = (size_t)(end - parts->port);
	if (host_end < end && !is_port(parts->port, parts->port_len))
		return "the port of the server must be a number from 1 to 65535";
	return NULL;
}

static const char *split_url(struct mpijob__http_server *server, struct parts *parts,
    const char *url)
{
	size_t len;

	if (!is_printable(url))
		return "the URL of the server contains a space or a control character";
	if (strncmp(url, "https://", 8) == 0) {
		server->tls = 1;
		url += 8;
	} else if (strncmp(url, "http://", 7) == 0) {
		url += 7;
	} else {
		return "the URL of the server must begin with https:// or http://";
	}
	len = strcspn(url, "/?#");
	parts->prefix = url + len;
	if (strpbrk(parts->prefix, "?#"))
		return "the URL of the server must not have a query or a fragment";
	return split_authority(parts, url, len);
}

static char *join_host_port(const char *host, size_t len, const char *port)
{
	int is_ipv6 = memchr(host, ':', len) != NULL;

	return mpijob__base_text_format("%s%.*s%s:%s", is_ipv6 ? "[" : "", (int)len, host,
	    is_ipv6 ? "]" : "", port);
}

static int name_is_usable(const char *name)
{
	return *name && is_printable(name) && !strpbrk(name, "/?#@[]%\\");
}

static int fill(struct mpijob__http_server *server, const struct parts *parts, const char *tls_name)
{
	size_t prefix_len = strlen(parts->prefix);
	char *tls_authority = NULL;

	while (prefix_len && parts->prefix[prefix_len - 1] == '/')
		prefix_len--;
	server->host = strndup(parts->host, parts->host_len);
	server->port = parts->port_len ? strndup(parts->port, parts->port_len)
				       : strdup(server->tls ? "443" : "80");
	if (!server->host || !server->port)
		return MPIJOB_ERR_NOMEM;
	server->authority = join_host_port(server->host, parts->host_len, server->port);
	if (server->tls && tls_name) {
		tls_authority = join_host_port(tls_name, strlen(tls_name), server->port);
		if (tls_authority && server->authority)
			server->connect =
			    mpijob__base_text_format("%s:%s", tls_authority, server->authority);
		if (!server->connect) {
			free(tls_authority);
			return MPIJOB_ERR_NOMEM;
		}
	}
	if (server->authority)
		server->base =
		    mpijob__base_text_format("%s://%s%.*s", server->tls ? "https" : "http",
			tls_authority ? tls_authority : server->authority, (int)prefix_len,
			parts->prefix);
	free(tls_authority);
	return server->base ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob__http_server_init(struct mpijob__http_server *server, const char *url,
    const char *tls_name, const char **why)
{
	struct parts parts = { 0 };
	int rc;

	memset(server, 0, sizeof(*server));
	*why = split_url(server, &parts, url);
	if (!*why && tls_name && !name_is_usable(tls_name))
		*why = "the TLS name of the server is not a host name";
	if (*why)
		return MPIJOB_ERR_SPEC;
	rc = fill(server, &parts, tls_name);
	if (rc)
		mpijob__http_server_clear(server);
	return rc;
}

void mpijob__http_server_clear(struct mpijob__http_server *server)
{
	free(server->host);
	free(server->port);
	free(server->authority);
	free(server->base);
	free(server->connect);
	memset(server, 0, sizeof(*server));
}

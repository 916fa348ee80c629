/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an API server is, as its URL says it, and how the URL changes when the name in the server's
 * certificate is another one than the name that leads there: the TLS name goes into the URL, and
 * the true place into a rule that sends the connection there.
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

static int clean(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= 0x20 || *text == 0x7f)
			return 0;
	return 1;
}

static int digits(const char *text, size_t len)
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
		return "a user name or password in the URL of a server is not used; put it into "
		       "the user's entry";
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
		return "the URL of the server names no host";
	if (host_end < end && *host_end != ':')
		return "behind the host comes a port or a path";
	parts->port = host_end < end ? host_end + 1 : end;
	parts->port_len = (size_t)(end - parts->port);
	if (host_end < end && !digits(parts->port, parts->port_len))
		return "the port of the server is a number from 1 to 65535";
	return NULL;
}

static const char *split(struct mpijob__http_server *server, struct parts *parts, const char *url)
{
	size_t len;

	if (!clean(url))
		return "the URL of the server holds a space or a control character";
	if (strncmp(url, "https://", 8) == 0) {
		server->tls = 1;
		url += 8;
	} else if (strncmp(url, "http://", 7) == 0) {
		url += 7;
	} else {
		return "the URL of the server begins with https:// or http://";
	}
	len = strcspn(url, "/?#");
	parts->prefix = url + len;
	if (strpbrk(parts->prefix, "?#"))
		return "the URL of the server has no query and no fragment";
	return split_authority(parts, url, len);
}

static char *bracketed(const char *host, size_t len, const char *port)
{
	int six = memchr(host, ':', len) != NULL;

	return mpijob__base_text_format("%s%.*s%s:%s", six ? "[" : "", (int)len, host,
	    six ? "]" : "", port);
}

static int name_is_usable(const char *name)
{
	return *name && clean(name) && !strpbrk(name, "/?#@[]%\\");
}

static int fill(struct mpijob__http_server *server, const struct parts *parts, const char *tls_name)
{
	size_t prefix_len = strlen(parts->prefix);
	char *named = NULL;

	while (prefix_len && parts->prefix[prefix_len - 1] == '/')
		prefix_len--;
	server->host = strndup(parts->host, parts->host_len);
	server->port = parts->port_len ? strndup(parts->port, parts->port_len)
				       : strdup(server->tls ? "443" : "80");
	if (!server->host || !server->port)
		return MPIJOB_ERR_NOMEM;
	server->authority = bracketed(server->host, parts->host_len, server->port);
	if (server->tls && tls_name) {
		named = bracketed(tls_name, strlen(tls_name), server->port);
		if (named && server->authority)
			server->connect =
			    mpijob__base_text_format("%s:%s", named, server->authority);
		if (!server->connect) {
			free(named);
			return MPIJOB_ERR_NOMEM;
		}
	}
	if (server->authority)
		server->base =
		    mpijob__base_text_format("%s://%s%.*s", server->tls ? "https" : "http",
			named ? named : server->authority, (int)prefix_len, parts->prefix);
	free(named);
	return server->base ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob__http_server_init(struct mpijob__http_server *server, const char *url,
    const char *tls_name, const char **why)
{
	struct parts parts = { 0 };
	int error;

	memset(server, 0, sizeof(*server));
	*why = split(server, &parts, url);
	if (!*why && tls_name && !name_is_usable(tls_name))
		*why = "the TLS name of the server is no host name";
	if (*why)
		return MPIJOB_ERR_SPEC;
	error = fill(server, &parts, tls_name);
	if (error)
		mpijob__http_server_clear(server);
	return error;
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

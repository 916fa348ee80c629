/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of Go's httpproxy package, and so of kubectl, for proxies in the environment:
 * HTTPS_PROXY for https servers and HTTP_PROXY for others, also in lower case; never for localhost.
 * NO_PROXY is a list of "*", host names (their subdomains match, too), ".suffix", addresses and
 * networks such as 10.0.0.0/8; names and addresses may have a port.
 */
#include "http/proxy.h"

#include "base/text.h"
#include "http/report.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct address {
	unsigned char bytes[16]; /* IPv4 as ::ffff:a.b.c.d */
	int is_ipv4;
};

/* Parse an IP address of `len` bytes. */
static int read_address(const char *text, size_t len, struct address *out)
{
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy))
		return 0;
	memcpy(copy, text, len);
	copy[len] = 0;
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, copy, out->bytes + 12) == 1) {
		out->bytes[10] = out->bytes[11] = 0xff;
		out->is_ipv4 = 1;
		return 1;
	}
	if (inet_pton(AF_INET6, copy, out->bytes) != 1)
		return 0;
	out->is_ipv4 = memcmp(out->bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0;
	return 1;
}

static int is_loopback(const struct address *address)
{
	static const unsigned char one[16] = { [15] = 1 };

	return address->is_ipv4 ? address->bytes[12] == 127
				: memcmp(address->bytes, one, sizeof(one)) == 0;
}

static int same_bits(const unsigned char *a, const unsigned char *b, size_t bits)
{
	unsigned char mask = (unsigned char)(0xff00u >> (bits % 8));

	return memcmp(a, b, bits / 8) == 0 &&
	       (bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) & mask) == 0);
}

/* 1: `entry` is a network, and *inside says whether it contains `address`. */
static int read_network(const char *entry, size_t len, const struct address *address, int *inside)
{
	const char *slash = memchr(entry, '/', len);
	struct address network;
	size_t bits = 0;
	size_t most;

	if (!slash || slash + 1 == entry + len ||
	    !read_address(entry, (size_t)(slash - entry), &network))
		return 0;
	for (const char *at = slash + 1; at < entry + len; at++) {
		if (*at < '0' || *at > '9' || bits > 128)
			return 0;
		bits = bits * 10 + (size_t)(*at - '0');
	}
	most = network.is_ipv4 ? 32 : 128;
	if (bits > most)
		return 0;
	*inside = address && address->is_ipv4 == network.is_ipv4 &&
		  same_bits(address->bytes, network.bytes, bits + (network.is_ipv4 ? 96 : 0));
	return 1;
}

/* Split "host:port" or "[host]:port" and return the new length. *port is empty if the text has
 * none, as in an IPv6 address without brackets. */
static size_t cut_port(const char **entry, size_t len, const char **port, size_t *port_len)
{
	const char *text = *entry;
	const char *end = text + len;
	const char *colon;

	*port = end;
	*port_len = 0;
	if (len && *text == '[') {
		colon = memchr(text, ']', len);
		if (!colon)
			return len;
		*entry = text + 1;
		len = (size_t)(colon - text) - 1;
		colon++;
	} else {
		colon = memchr(text, ':', len);
		if (!colon || memchr(colon + 1, ':', (size_t)(end - colon) - 1))
			return len;
		len = (size_t)(colon - text);
	}
	if (colon < end && *colon == ':') {
		*port = colon + 1;
		*port_len = (size_t)(end - colon) - 1;
	}
	return len;
}

static int matches_name(const char *entry, size_t len, const char *host)
{
	size_t host_len = strlen(host);

	if (len >= 2 && entry[0] == '*' && entry[1] == '.') {
		entry++;
		len--;
	}
	if (!len)
		return 0;
	if (*entry != '.' && len == host_len && strncasecmp(entry, host, len) == 0)
		return 1;
	if (host_len <= len || strncasecmp(host + host_len - len, entry, len) != 0)
		return 0;
	return *entry == '.' || host[host_len - len - 1] == '.';
}

static int matches(const char *entry, size_t len, const struct mpijob__http_server *server,
    const struct address *address)
{
	struct address other;
	const char *port;
	size_t port_len;
	int inside = 0;

	if (len == 1 && *entry == '*')
		return 1;
	if (read_network(entry, len, address, &inside))
		return inside;
	len = cut_port(&entry, len, &port, &port_len);
	if (port_len &&
	    (strlen(server->port) != port_len || memcmp(server->port, port, port_len) != 0))
		return 0;
	if (read_address(entry, len, &other))
		return address && memcmp(other.bytes, address->bytes, sizeof(other.bytes)) == 0;
	return matches_name(entry, len, server->host);
}

static int matches_no_proxy(const char *list, const struct mpijob__http_server *server)
{
	struct address address;
	int numeric = read_address(server->host, strlen(server->host), &address);

	if (strcasecmp(server->host, "localhost") == 0 || (numeric && is_loopback(&address)))
		return 1;
	while (list && *list) {
		size_t len = strcspn(list, ",");
		const char *entry = list;
		size_t left = len;

		while (left && (*entry == ' ' || *entry == '\t')) {
			entry++;
			left--;
		}
		while (left && (entry[left - 1] == ' ' || entry[left - 1] == '\t'))
			left--;
		if (left && matches(entry, left, server, numeric ? &address : NULL))
			return 1;
		list += len + (list[len] == ',');
	}
	return 0;
}

static const char *variable_in_either_case(const char *(*variable)(const char *name),
    const char *large, const char *small)
{
	const char *value = variable(large);

	return value && *value ? value : variable(small);
}

static const char *from_environment(const struct mpijob__http_server *server,
    const char *(*variable)(const char *name))
{
	const char *cgi = variable("REQUEST_METHOD");
	const char *proxy;

	if (server->tls)
		proxy = variable_in_either_case(variable, "HTTPS_PROXY", "https_proxy");
	/* In a CGI program HTTP_PROXY contains the "Proxy:" header of the client (httpoxy). */
	else if (cgi && *cgi)
		proxy = NULL;
	else
		proxy = variable_in_either_case(variable, "HTTP_PROXY", "http_proxy");
	if (!proxy || !*proxy ||
	    matches_no_proxy(variable_in_either_case(variable, "NO_PROXY", "no_proxy"), server))
		return NULL;
	return proxy;
}

int mpijob__http_proxy_choose(const char *given, const struct mpijob__http_server *server,
    const char *(*variable)(const char *name), char **out)
{
	const char *proxy = given && *given ? given : from_environment(server, variable);

	*out = NULL;
	if (!proxy)
		return 0;
	if (!strstr(proxy, "://"))
		*out = mpijob__base_text_format("http://%s", proxy);
	else if (strncasecmp(proxy, "http://", 7) == 0 || strncasecmp(proxy, "https://", 8) == 0)
		*out = strdup(proxy);
	else
		return MPIJOB_ERR_UNSUPPORTED;
	return *out ? 0 : MPIJOB_ERR_NOMEM;
}

/* A password may contain unescaped characters that end a host; therefore everything before the last
 * '@' is hidden. */
char *mpijob__http_proxy_shown(const char *proxy)
{
	const char *host = strstr(proxy, "://");
	const char *at = strrchr(proxy, '@');

	host = at ? at + 1 : host ? host + 3 : proxy;
	return mpijob__base_text_format("%.*s", (int)strcspn(host, "/?#"), host);
}

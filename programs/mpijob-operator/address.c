/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax of listen addresses, as in Go: ":8080" means all addresses of IPv4 and IPv6. A host
 * may also have its port in another flag.
 */
#include "address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"

#define BACKLOG 64

struct parts {
	char *host; /* NULL: all */
	char port[12];
};

/* The ":" before the port; NULL without a port. Several colons without brackets are an IPv6
 * address. */
static const char *port_of(const char *address)
{
	const char *colon = strrchr(address, ':');
	const char *bracket = strrchr(address, ']');

	if (!colon || (bracket && bracket > colon))
		return NULL;
	return bracket || strchr(address, ':') == colon ? colon : NULL;
}

int address_has_port(const char *address)
{
	return port_of(address) != NULL;
}

static int split(const char *address, int64_t port, struct parts *parts)
{
	const char *colon = port_of(address);
	size_t len = colon ? (size_t)(colon - address) : strlen(address);

	if (colon) {
		char *end;
		errno = 0;
		port = strtoll(colon + 1, &end, 10);
		if (errno || end == colon + 1 || *end || colon[1] == '-' || colon[1] == '+' ||
		    colon[1] == ' ')
			return -1;
	}
	if (port < 1 || port > 65535)
		return -1;
	(void)snprintf(parts->port, sizeof(parts->port), "%d", (int)port);
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	parts->host = len ? strndup(address, len) : NULL;
	return len && !parts->host ? -1 : 0;
}

/* 0, or an errno. */
static int open_one(const struct addrinfo *info, int *out)
{
	int on = 1, off = 0, number = 0;
	int fd = socket(info->ai_family, info->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    info->ai_protocol);

	if (fd < 0)
		return errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (info->ai_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, BACKLOG)) {
		number = errno;
		(void)close(fd);
		return number;
	}
	*out = fd;
	return 0;
}

/* For all addresses (`both`), try IPv6 first: one such socket also accepts IPv4. 0 or an errno. */
static int open_any(const struct addrinfo *list, int both, int *out)
{
	static const int families[] = { AF_INET6, AF_INET, AF_UNSPEC };
	int number = EADDRNOTAVAIL;

	for (size_t i = both ? 0 : 2; i < 3; i++)
		for (const struct addrinfo *info = list; info; info = info->ai_next) {
			if (families[i] != AF_UNSPEC && info->ai_family != families[i])
				continue;
			number = open_one(info, out);
			if (number == 0 || number == EADDRINUSE || number == EACCES)
				return number;
		}
	return number;
}

int address_listen(const char *address, int64_t port, const char *what)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE },
			*list = NULL;
	struct parts parts = { 0 };
	int fd = -1, number;

	if (split(address, port, &parts)) {
		log_line(MPIJOB_SEVERITY_ERROR,
		    "cannot listen for %s: '%s' is not an address; write HOST:PORT or :PORT", what,
		    address);
		return -1;
	}
	int rc = getaddrinfo(parts.host, parts.port, &hints, &list);
	number = rc ? 0 : open_any(list, !parts.host, &fd);
	const char *host = parts.host ? parts.host : "any address,";
	if (rc || number)
		log_line(MPIJOB_SEVERITY_ERROR, "cannot listen for %s on %s port %s: %s", what,
		    host, parts.port, rc ? gai_strerror(rc) : strerror(number));
	else
		log_line(MPIJOB_SEVERITY_INFO, "listening for %s on %s port %s", what, host,
		    parts.port);
	if (list)
		freeaddrinfo(list);
	free(parts.host);
	return fd;
}

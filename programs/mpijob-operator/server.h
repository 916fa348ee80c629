/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small pages over HTTP/1.1, for probes and metrics, in the daemon's loop.
 */
#ifndef MPIJOB_OPERATOR_SERVER_H
#define MPIJOB_OPERATOR_SERVER_H

#include <stdint.h>

#include <mpijob/base.h>

struct server;

struct server_page {
	const char *path;
	const char *type; /* Content-Type */
	/* 1: an expensive page, with a rate limit */
	int heavy;
	/* Write the page; returns the HTTP status, or a MPIJOB_ERR_*. `verbose`: as in the query.
	 */
	int (*write)(void *user, int verbose, mpijob_text *out);
};

/*
 * Serve pages on a listening socket, which the server owns then. `pages` is borrowed, and
 * terminated by a row without a path. NULL after logging the reason.
 */
struct server *server_new(int fd, const struct server_page *pages, void *user);

/* The descriptor to poll for input. */
int server_fd(const struct server *server);

/* The latest time for server_run(), in milliseconds of CLOCK_MONOTONIC; -1: none. */
int64_t server_due_ms(struct server *server);

/* Process pending input; never waits. */
void server_run(struct server *server);

void server_free(struct server *server);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/1.1 server for small pages, for probes and scrapers, in the event loop.
 */
#ifndef MPIJOB_OPERATOR_SERVER_H
#define MPIJOB_OPERATOR_SERVER_H

#include <stdint.h>

#include <mpijob/base.h>

struct server;

struct server_page {
	const char *path;
	const char *type; /* Content-Type */
	/* 1: the page is expensive, and its rate is limited */
	int heavy;
	/* Write the page. Returns the HTTP status, or an MPIJOB_ERR_*. `verbose`: the query
	 * contains "verbose". */
	int (*write)(void *user, int verbose, mpijob_text *out);
};

/*
 * Serve pages on a listening socket; takes ownership of it. `pages` is borrowed and ends with a row
 * without a path. NULL after logging the reason.
 */
struct server *server_new(int fd, const struct server_page *pages, void *user);

/* The descriptor to poll for input. */
int server_fd(const struct server *server);

/* The latest time for server_run(), in milliseconds of CLOCK_MONOTONIC; -1: no deadline. */
int64_t server_due_ms(struct server *server);

/* Serve without blocking. */
void server_run(struct server *server);

void server_free(struct server *server);

#endif

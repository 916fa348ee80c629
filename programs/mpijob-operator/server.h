/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small pages over HTTP/1.1, for probes and scrapers, in the event loop.
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
	/* Write the page; returns the HTTP status, or a MPIJOB_ERR_*. `verbose`: the query asks for
	 * it. */
	int (*write)(void *user, int verbose, mpijob_text *out);
};

/*
 * Serve pages on a listening socket, which it then owns. `pages` ends with a row without a path,
 * and is borrowed. NULL after having logged the reason.
 */
struct server *server_new(int fd, const struct server_page *pages, void *user);

/* The descriptor to watch for input. */
int server_fd(const struct server *server);

/* When server_run() must be called at the latest, in milliseconds of CLOCK_MONOTONIC; -1: never. */
int64_t server_due_ms(struct server *server);

/* Serve; never waits. */
void server_run(struct server *server);

void server_free(struct server *server);

#endif

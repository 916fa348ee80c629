/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small pages over HTTP/1.1, for probes and scrapers, inside of the one loop.
 */
#ifndef MPIJOB_OPERATOR_SERVER_H
#define MPIJOB_OPERATOR_SERVER_H

#include <stdint.h>

#include <mpijob/base.h>

struct server;

struct server_page {
	const char *path;
	const char *type; /* Content-Type */
	/* 1: it costs so much that it is not written as often as somebody may like */
	int heavy;
	/* Write the page; returns the HTTP status, or a MPIJOB_ERR_*. `verbose`: the query asks for
	 * it. */
	int (*write)(void *user, int verbose, mpijob_text *out);
};

/*
 * Serve pages on a socket that listens, which is taken. `pages` is closed by a row without a path,
 * and borrowed. NULL after having logged why.
 */
struct server *server_new(int fd, const struct server_page *pages, void *user);

/* The descriptor to watch for input. */
int server_fd(const struct server *server);

/* When server_run() has to be called at the latest, in milliseconds of CLOCK_MONOTONIC; -1: no such
 * time. */
int64_t server_due_ms(struct server *server);

/* Do what there is to do; never waits. */
void server_run(struct server *server);

void server_free(struct server *server);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_WATCHES_H
#define MPIJOB_LOCAL_WATCHES_H

#include "local/local.h"
#include "local/selector.h"

struct mpijob__local_watch_options {
	const struct mpijob__local_kind *kind;
	struct mpijob__local_selector selector; /* ownership passes to the watch */
	int from_now;   /* 1: begin with the stored objects (resourceVersion "" or "0") */
	uint64_t since; /* else begin after this version */
	int bookmarks;
	int initial_events; /* sendInitialEvents: send a bookmark after the stored objects */
	int64_t timeout_ms;
};

/* Create the stream of a watch. 0 or MPIJOB_ERR_NOMEM. Takes over the selector, also on failure. */
int mpijob__local_watches_open(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_watch_options *options, struct mpijob__local_stream **out);

/* An object of this kind changed: feed its watches. */
void mpijob__local_watches_changed(struct mpijob_local *local, enum mpijob__local_kind_id kind);

/* Feed the watches that are due for a bookmark or their end. Returns when the next one is due, or
 * -1.
 */
int64_t mpijob__local_watches_run_due(struct mpijob_local *local, int64_t clock_ms);

#endif

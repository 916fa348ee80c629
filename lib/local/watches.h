/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_WATCHES_H
#define MPIJOB_LOCAL_WATCHES_H

#include "local.h"
#include "selector.h"

struct watch_options {
	const struct kind *kind;
	struct selector selector; /* taken */
	int from_now;             /* 1: begin with what there is (resourceVersion "" or "0") */
	uint64_t since;           /* else what happened after this version */
	int bookmarks;
	int initial_events; /* sendInitialEvents: mark the end of what there is */
	int64_t timeout_ms;
};

/* Make the stream of a watch for a call. 0 or MPIJOB_ERR_NOMEM; the selector is taken in any
 * case. */
int mpijob__local_watches_open(struct mpijob_local *local, struct call *call,
    struct watch_options *options, struct stream **out);

/* Something of this kind changed. */
void mpijob__local_watches_changed(struct mpijob_local *local, enum kind_id kind);

/* Have those fed whose time has come; when to look again, or -1. */
int64_t mpijob__local_watches_tick(struct mpijob_local *local, int64_t clock_ms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a watch. */
#ifndef MPIJOB__CLIENT_WATCH_STREAM_H
#define MPIJOB__CLIENT_WATCH_STREAM_H

#include "client/watch.h"

/* Request a stream for LISTING_STREAM or WATCHING. 0 or MPIJOB_ERR_*. */
int mpijob__client_watch_start_stream(mpijob_watch *watch, enum mpijob__client_watch_state state);
/* A stream for LISTING_STREAM has brought no end of the list in time. */
void mpijob__client_watch_streamed_list_timed_out(mpijob_watch *watch);

#endif

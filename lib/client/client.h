/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a client, for the files of this directory. */
#ifndef MPIJOB__CLIENT_CLIENT_H
#define MPIJOB__CLIENT_CLIENT_H

#include "client/exchange.h"
#include "client/send_queue.h"
#include "client/server_clock.h"

#include <mpijob/client.h>
#include <mpijob/watch.h>

#include <stdatomic.h>

struct mpijob_client {
	struct mpijob_transport transport;
	void *self;
	struct mpijob_client_options options;
	int64_t (*clock)(void); /* monotonic milliseconds; tests replace it */
	struct mpijob_client_observer observer;
	struct mpijob__client_server_clock server_clock;
	struct mpijob__base_list calls; /* all, the newest first */
	struct mpijob__base_list queue; /* of exchanges, by time */
	struct mpijob__client_token_bucket bucket;
	struct mpijob__base_list watches;
	struct mpijob__base_list *next_watch; /* to step; adjusted when watches come and go */
	struct mpijob__base_list tasks;       /* all, the newest first */
	struct mpijob__base_list timers;      /* that are set */
	struct mpijob__base_list *next_timer; /* to step; adjusted when timers come and go */
	int polling;                          /* inside of mpijob_client_poll() */
	int reported;         /* this poll has called a callback, so it need not wait */
	int sweep;            /* an exchange was stopped, cancelled or paused meanwhile */
	int whole_lists;      /* the server does not support lists in pages */
	int unreachable;      /* a watch backs off because the server could not be reached */
	atomic_int cancelled; /* set by any thread and by signal handlers */
};

/* Take a request to cancel: 1 when there was one. */
int mpijob__client_take_cancel(mpijob_client *client);
/* A server has answered: watches that wait because it was unreachable retry now. */
void mpijob__client_server_answered(mpijob_client *client);

#endif

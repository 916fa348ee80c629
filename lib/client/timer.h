/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, for the files of this directory: theirs are members of other structs. */
#ifndef MPIJOB__CLIENT_TIMER_H
#define MPIJOB__CLIENT_TIMER_H

#include "base/list.h"

#include <mpijob/client.h>

/* Its address must not change while it is set. A timer of zeros is not set, and can be cleared: a
 * task that fails before it prepares its timer releases it, too. */
struct mpijob_timer {
	mpijob_client *client;
	struct mpijob__base_list link; /* in the list of timers that are set */
	int64_t due_ms;                /* of the client's clock */
	mpijob_timer_fn fire;          /* called after the timer is cleared */
	void *user;
};

/* Not set. */
void mpijob__client_timer_init(mpijob_timer *timer, mpijob_client *client, mpijob_timer_fn fire,
    void *user);

/* For client.c: when the next timer is due, INT64_MAX for none; fire those that are due. */
int64_t mpijob__client_timers_due_ms(const mpijob_client *client);
void mpijob__client_timers_step(mpijob_client *client);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A function that mpijob_client_poll() calls at a given time. */
#ifndef MPIJOB__CLIENT_TIMER_H
#define MPIJOB__CLIENT_TIMER_H

#include <mpijob/client.h>

#include <stdint.h>

/* Zeros, except for `client`, `fire` and `user`. Its address must not change while it is set. */
struct mpijob__client_timer {
	mpijob_client *client;
	struct mpijob__client_timer *prev, *next;
	int64_t due_ms; /* of the client's clock; meaningful while it is set */
	int is_set;
	void (*fire)(
	    void *user); /* called after the timer is cleared: it may set it again, or free it */
	void *user;
};

/* Fire at this time instead of any other. Set inside of `fire`, it fires in the next poll at the
 * earliest. */
void mpijob__client_timer_set(struct mpijob__client_timer *timer, int64_t due_ms);
void mpijob__client_timer_clear(struct mpijob__client_timer *timer);

/* For client.c: when the next timer is due, INT64_MAX for none; fire those that are due. */
int64_t mpijob__client_timers_due_ms(const mpijob_client *client);
void mpijob__client_timers_step(mpijob_client *client);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers of a client, for code that runs inside of its polls.
 *
 * There are few, one for each set of logs or Lease, so a list is searched for the next one. A timer
 * that fires may set or clear any other; the time at which the poll began decides which timers fire
 * in it.
 */
#include "client/timer.h"

#include "client/client.h"

#include <stdlib.h>

static void clear(mpijob_timer *timer)
{
	mpijob_client *client = timer->client;

	if (!timer->is_set)
		return;
	timer->is_set = 0;
	if (client->next_timer == timer)
		client->next_timer = timer->next;
	if (timer->prev)
		timer->prev->next = timer->next;
	else
		client->timers = timer->next;
	if (timer->next)
		timer->next->prev = timer->prev;
}

void mpijob_timer_set(mpijob_timer *timer, int64_t due_ms)
{
	mpijob_client *client = timer ? timer->client : NULL;

	if (!timer)
		return;
	clear(timer);
	if (due_ms == INT64_MAX)
		return;
	timer->is_set = 1;
	timer->due_ms = due_ms;
	/* Insert at the front, which a step in progress has passed already. */
	timer->prev = NULL;
	timer->next = client->timers;
	if (timer->next)
		timer->next->prev = timer;
	client->timers = timer;
}

void mpijob__client_timer_init(mpijob_timer *timer, mpijob_client *client, mpijob_timer_fn fire,
    void *user)
{
	*timer = (mpijob_timer){ .client = client, .fire = fire, .user = user };
}

int mpijob_timer_new(mpijob_client *client, mpijob_timer_fn fire, void *user, mpijob_timer **out)
{
	mpijob_timer *timer;

	if (!client || !fire || !out)
		return MPIJOB_ERR_USAGE;
	timer = malloc(sizeof(*timer));
	if (!timer)
		return MPIJOB_ERR_NOMEM;
	mpijob__client_timer_init(timer, client, fire, user);
	*out = timer;
	return 0;
}

void mpijob_timer_free(mpijob_timer *timer)
{
	if (!timer)
		return;
	clear(timer);
	free(timer);
}

int64_t mpijob__client_timers_due_ms(const mpijob_client *client)
{
	int64_t when = INT64_MAX;

	for (const mpijob_timer *timer = client->timers; timer; timer = timer->next)
		if (timer->due_ms < when)
			when = timer->due_ms;
	return when;
}

void mpijob__client_timers_step(mpijob_client *client)
{
	int64_t now_ms = client->timers ? client->clock() : 0;
	mpijob_timer *timer;

	for (timer = client->timers; timer; timer = client->next_timer) {
		client->next_timer = timer->next;
		if (timer->due_ms > now_ms)
			continue;
		clear(timer);
		client->reported = 1;
		timer->fire(timer->user);
	}
	client->next_timer = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers of a client, for code that runs inside of its polls.
 *
 * There are few, one for each set of logs, so a list is searched for the next one. A timer that
 * fires may set or clear any other; the time at which the poll began decides which timers fire in
 * it.
 */
#include "client/timer.h"

#include "client/client.h"

void mpijob__client_timer_clear(struct mpijob__client_timer *timer)
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

void mpijob__client_timer_set(struct mpijob__client_timer *timer, int64_t due_ms)
{
	mpijob_client *client = timer->client;

	mpijob__client_timer_clear(timer);
	timer->is_set = 1;
	timer->due_ms = due_ms;
	/* Insert at the front, which a step in progress has passed already. */
	timer->prev = NULL;
	timer->next = client->timers;
	if (timer->next)
		timer->next->prev = timer;
	client->timers = timer;
}

int64_t mpijob__client_timers_due_ms(const mpijob_client *client)
{
	int64_t when = INT64_MAX;

	for (const struct mpijob__client_timer *timer = client->timers; timer; timer = timer->next)
		if (timer->due_ms < when)
			when = timer->due_ms;
	return when;
}

void mpijob__client_timers_step(mpijob_client *client)
{
	int64_t now_ms = client->timers ? client->clock() : 0;
	struct mpijob__client_timer *timer;

	for (timer = client->timers; timer; timer = client->next_timer) {
		client->next_timer = timer->next;
		if (timer->due_ms > now_ms)
			continue;
		mpijob__client_timer_clear(timer);
		timer->fire(timer->user);
	}
	client->next_timer = NULL;
}

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
	if (!mpijob__base_list_is_linked(&timer->link))
		return;
	if (timer->client->next_timer == &timer->link)
		timer->client->next_timer = timer->link.next;
	mpijob__base_list_remove(&timer->link);
}

void mpijob_timer_set(mpijob_timer *timer, int64_t due_ms)
{
	mpijob_client *client = timer ? timer->client : NULL;

	if (!timer)
		return;
	clear(timer);
	if (due_ms == INT64_MAX)
		return;
	timer->due_ms = due_ms;
	/* Insert at the front, which a step in progress has passed already. */
	mpijob__base_list_insert(client->timers.next, &timer->link, timer);
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
	int64_t due_ms = INT64_MAX;

	for (struct mpijob__base_list *link = client->timers.next; link->owner; link = link->next) {
		const mpijob_timer *timer = link->owner;

		if (timer->due_ms < due_ms)
			due_ms = timer->due_ms;
	}
	return due_ms;
}

void mpijob__client_timers_step(mpijob_client *client)
{
	struct mpijob__base_list *link = client->timers.next;
	int64_t now_ms = link->owner ? client->clock() : 0;

	for (; link->owner; link = client->next_timer) {
		mpijob_timer *timer = link->owner;

		client->next_timer = link->next;
		if (timer->due_ms > now_ms)
			continue;
		clear(timer);
		client->reported = 1;
		timer->fire(timer->user);
	}
	client->next_timer = NULL;
}

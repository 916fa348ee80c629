/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a client: its options, what a poll does in which order, and how other threads wake
 * and cancel it.
 *
 * A poll does what is due (send queue, timers, watches), then lets the transport report, and then
 * ends the exchanges that were stopped or cancelled meanwhile.
 */
#include "client/client.h"

#include "base/struct.h"
#include "base/clock.h"
#include "client/task.h"
#include "client/timer.h"
#include "client/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define RETRIES             10
#define RETRY_AFTER_MOST_MS 60000

/* The server itself has answered, and not a proxy in front of it. */
void mpijob__client_server_answered(mpijob_client *client)
{
	if (!client->unreachable)
		return;
	client->unreachable = 0;
	for (struct mpijob__base_list *link = client->watches.next; link->owner; link = link->next)
		mpijob__client_watch_retry_now(link->owner);
}

static int is_complete(const struct mpijob_transport *transport)
{
	return transport->start && transport->poll && transport->cancel && transport->wake &&
	       transport->destroy;
}

/* The client owns the transport also when it cannot be created, if the struct is long enough to
 * have a destroy. */
static void destroy_transport(const struct mpijob_transport *transport, void *self)
{
	size_t needed = offsetof(struct mpijob_transport, destroy) + sizeof(transport->destroy);

	if (transport && transport->size >= needed && transport->destroy)
		transport->destroy(self);
}

int mpijob_client_new(const struct mpijob_transport *transport, void *self, mpijob_client **out)
{
	struct mpijob_transport known;
	mpijob_client *client;
	int rc = transport ? mpijob__base_struct_check(&known, sizeof(known), transport)
			   : MPIJOB_ERR_USAGE;

	if (rc == 0 && (!is_complete(&known) || !out))
		rc = MPIJOB_ERR_USAGE;
	client = rc ? NULL : calloc(1, sizeof(*client));
	if (!client) {
		destroy_transport(transport, self);
		return rc ? rc : MPIJOB_ERR_NOMEM;
	}
	client->transport = known;
	client->self = self;
	client->clock = mpijob__base_clock_monotonic_ms;
	mpijob__base_list_init(&client->calls);
	mpijob__base_list_init(&client->queue);
	mpijob__base_list_init(&client->watches);
	mpijob__base_list_init(&client->tasks);
	mpijob__base_list_init(&client->timers);
	atomic_init(&client->cancelled, 0);
	(void)mpijob_client_set_options(client, NULL);
	*out = client;
	return 0;
}

int mpijob_client_set_options(mpijob_client *client, const struct mpijob_client_options *options)
{
	struct mpijob_client_options known;
	int rc =
	    client ? mpijob__base_struct_check(&known, sizeof(known), options) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (known.qps < 0 || known.burst < 0 || known.retry_after_most_ms < 0)
		return MPIJOB_ERR_USAGE;
	if (known.retries == 0)
		known.retries = RETRIES;
	if (known.retry_after_most_ms == 0)
		known.retry_after_most_ms = RETRY_AFTER_MOST_MS;
	client->options = known;
	mpijob__client_send_queue_set_rate(&client->bucket, known.qps,
	    known.burst ? known.burst : (int64_t)known.qps * 2, known.qps ? client->clock() : 0);
	return 0;
}

int mpijob_client_set_observer(mpijob_client *client, const struct mpijob_client_observer *observer)
{
	struct mpijob_client_observer known;
	int rc =
	    client ? mpijob__base_struct_check(&known, sizeof(known), observer) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		client->observer = known;
	return rc;
}

void mpijob_client_free(mpijob_client *client)
{
	if (!client)
		return;
	while (client->tasks.next->owner)
		mpijob_task_cancel(client->tasks.next->owner);
	while (client->watches.next->owner)
		mpijob__client_watch_detach(client->watches.next->owner);
	mpijob__client_exchange_free_all(client);
	client->transport.destroy(client->self);
	free(client);
}

/* ---- polling ---- */

/* When the client has work, even if no event arrives; INT64_MAX: never. */
static int64_t due(const mpijob_client *client)
{
	int64_t when = mpijob__client_send_queue_due_ms(client);

	for (struct mpijob__base_list *link = client->watches.next; link->owner; link = link->next)
		if (mpijob__client_watch_due_ms(link->owner) < when)
			when = mpijob__client_watch_due_ms(link->owner);
	if (mpijob__client_timers_due_ms(client) < when)
		when = mpijob__client_timers_due_ms(client);
	return when;
}

static int wait_limit(const mpijob_client *client, int timeout_ms)
{
	int64_t when = due(client), wait, now_ms;

	if (client->reported || client->sweep)
		return 0;
	if (when == INT64_MAX || timeout_ms == 0)
		return timeout_ms;
	now_ms = client->clock();
	wait = when <= now_ms ? 0 : when - now_ms;
	if (timeout_ms >= 0 && wait > timeout_ms)
		return timeout_ms;
	return wait > INT_MAX ? INT_MAX : (int)wait;
}

int mpijob_client_poll(mpijob_client *client, int timeout_ms)
{
	int rc;

	if (!client || client->polling)
		return MPIJOB_ERR_USAGE;
	client->polling = 1;
	client->reported = 0;
	mpijob__client_send_queue_step(client);
	mpijob__client_timers_step(client);
	for (struct mpijob__base_list *link = client->watches.next; link->owner;
	     link = client->next_watch) {
		client->next_watch = link->next;
		mpijob__client_watch_step(link->owner);
	}
	client->next_watch = NULL;
	rc = client->transport.poll(client->self, wait_limit(client, timeout_ms));
	mpijob__client_exchange_sweep(client);
	client->polling = 0;
	return rc;
}

int mpijob_client_interest(mpijob_client *client, int *fd, int64_t *deadline_ms)
{
	int64_t when;
	int rc;

	if (!client || !fd || !deadline_ms)
		return MPIJOB_ERR_USAGE;
	if (!client->transport.interest)
		return MPIJOB_ERR_UNSUPPORTED;
	rc = client->transport.interest(client->self, fd, deadline_ms);
	if (rc)
		return rc;
	when = due(client);
	if (when != INT64_MAX && (*deadline_ms < 0 || when < *deadline_ms))
		*deadline_ms = when < 0 ? 0 : when;
	return 0;
}

/* Signal handlers may call this, so errno is preserved. */
void mpijob_client_wake(mpijob_client *client)
{
	int kept = errno;

	if (!client)
		return;
	client->transport.wake(client->self);
	errno = kept;
}

void mpijob_client_cancel(mpijob_client *client)
{
	if (!client)
		return;
	atomic_store(&client->cancelled, 1);
	mpijob_client_wake(client);
}

int mpijob__client_take_cancel(mpijob_client *client)
{
	return atomic_exchange(&client->cancelled, 0);
}

int64_t mpijob_client_server_ms(const mpijob_client *client)
{
	return client ? mpijob__client_server_clock_ms(&client->server_clock, client->clock()) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a client and of its calls: which are under way, how each ends, who frees it, and what
 * a poll does in which order.
 *
 * A call is freed when its transport has let go of it and its owner was told (or does not want to
 * be). Giving up a call from inside of a poll, also from a callback, waits until the transport's
 * poll has returned, so no transport is ever entered by `cancel` while it is telling something.
 */
#include "client/client.h"

#include "base/struct.h"
#include "client/clock.h"
#include "client/status.h"
#include "client/task.h"
#include "client/timer.h"
#include "client/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define RETRIES             10
#define RETRY_AFTER_MOST_MS 60000

static void unlink_call(mpijob_exchange *exchange)
{
	mpijob__client_send_queue_remove(exchange);
	if (exchange->prev)
		exchange->prev->next = exchange->next;
	else
		exchange->client->calls = exchange->next;
	if (exchange->next)
		exchange->next->prev = exchange->prev;
}

static void free_call(mpijob_exchange *exchange)
{
	unlink_call(exchange);
	mpijob__base_text_release(&exchange->copy.bytes);
	mpijob__base_text_release(&exchange->end_message);
	mpijob__base_text_release(&exchange->backlog);
	mpijob__base_text_release(&exchange->body);
	mpijob__base_text_release(&exchange->warnings);
	free(exchange);
}

static const char *why_stopped(const mpijob_exchange *exchange, mpijob_text *page)
{
	if (exchange->stopped == MPIJOB_ERR_SYNTAX && exchange->is_page && !exchange->cut &&
	    mpijob__base_text_printf(page,
		"the answer is a page (text/html) and not from a Kubernetes API; check the URL of "
		"the server, and what is in front of it; the page begins: %s",
		mpijob_text_data(&exchange->body)) == 0)
		return mpijob_text_data(page);
	if (exchange->stopped == MPIJOB_ERR_SYNTAX && exchange->cut)
		return "the answer is larger than 64 MiB";
	return mpijob_error_text(exchange->stopped);
}

/* The server has answered, and is no proxy in front of one that does not. */
static void hurry_watches(mpijob_client *client)
{
	client->unreachable = 0;
	for (mpijob_watch *watch = client->watches; watch; watch = mpijob__client_watch_next(watch))
		mpijob__client_watch_retry_now(watch);
}

void mpijob__client_exchange_finish(mpijob_exchange *exchange, int code, const char *message)
{
	struct mpijob_answer answer = { 0 };
	struct mpijob__client_verdict verdict = { 0 };
	mpijob_text page = { 0 };

	answer.size = sizeof(answer);
	answer.status = exchange->status;
	answer.retry_after_ms = exchange->retry_after_ms;
	answer.body = mpijob_text_data(&exchange->body);
	answer.body_len = exchange->body.len;
	if (exchange->stopped) {
		code = exchange->stopped;
		message = why_stopped(exchange, &page);
	} else if (code == 0 && exchange->status == 0) {
		code = MPIJOB_ERR_IO;
		message = "the connection ended without an answer";
	}
	if (exchange->client->unreachable && exchange->status && exchange->status < 500)
		hurry_watches(exchange->client);
	if (code == 0 && !exchange->dead) {
		mpijob__client_verdict_make(&verdict, exchange->status, exchange->is_post,
		    answer.body, answer.body_len);
		answer.code = verdict.code;
		answer.reason = verdict.reason;
		answer.message = verdict.message;
		exchange->doubt |= verdict.vague;
		if (answer.retry_after_ms == 0)
			answer.retry_after_ms = verdict.retry_after_ms;
	} else {
		answer.code = code;
		answer.message = message ? message : mpijob_error_text(code);
	}
	if (!exchange->dead) {
		struct mpijob_client *client = exchange->client;

		exchange->dead = 1;
		client->news = 1;
		if (client->observer.request)
			client->observer.request(client->observer.user, exchange->verb,
			    exchange->status, answer.code, client->clock() - exchange->sent_ms);
		exchange->callbacks.done(exchange->callbacks.user, &answer);
	}
	mpijob__client_verdict_release(&verdict);
	mpijob__base_text_release(&page);
	free_call(exchange);
}

/* Its reader has paused, and is told of the end when everything before it was read. */
static void end_later(mpijob_exchange *exchange, int code, const char *message)
{
	exchange->ended = 1;
	exchange->end_code = code;
	if (message && mpijob__base_text_puts(&exchange->end_message, message))
		mpijob_text_clear(&exchange->end_message); /* the code says it, too */
}

void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message)
{
	if (!exchange || !exchange->held)
		return;
	exchange->held = 0;
	if (code > 0)
		code = MPIJOB_ERR_IO;
	if (exchange->backlog.len && !exchange->dead && !exchange->stopped)
		end_later(exchange, code, message);
	else if (!mpijob__client_send_queue_retry(exchange, code))
		mpijob__client_exchange_finish(exchange, code, message);
}

void mpijob__client_exchange_forward_pause(mpijob_exchange *exchange)
{
	mpijob_client *client = exchange->client;

	exchange->pause_told = exchange->paused;
	if (client->transport.pause)
		client->transport.pause(client->self, exchange, exchange->paused);
}

/* Pausing, too, waits until the transport has told what it had to tell. */
static void tell_pauses(mpijob_client *client)
{
	for (mpijob_exchange *exchange = client->calls; exchange; exchange = exchange->next)
		if (exchange->held && !exchange->dead && exchange->paused != exchange->pause_told)
			mpijob__client_exchange_forward_pause(exchange);
}

/* Give up what was stopped or cancelled while the transport was telling. */
static void sweep(mpijob_client *client)
{
	if (client->sweep && client->transport.pause)
		tell_pauses(client);

	while (client->sweep) {
		mpijob_exchange *next;

		client->sweep = 0;
		/* What an owner does here marks calls, or adds some in front: `next` stays. */
		for (mpijob_exchange *exchange = client->calls; exchange; exchange = next) {
			next = exchange->next;
			if (!exchange->dead && !exchange->stopped)
				continue;
			if (exchange->held)
				client->transport.cancel(client->self, exchange);
			exchange->held = 0;
			mpijob__client_exchange_finish(exchange, MPIJOB_ERR_CANCELLED, NULL);
		}
	}
}

static int complete(const struct mpijob_transport *transport)
{
	return transport->start && transport->poll && transport->cancel && transport->wake &&
	       transport->destroy;
}

/* What was to be taken is freed on failure too, where the struct is long enough to say how. */
static void give_up(const struct mpijob_transport *transport, void *self)
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

	if (rc == 0 && (!complete(&known) || !out))
		rc = MPIJOB_ERR_USAGE;
	client = rc ? NULL : calloc(1, sizeof(*client));
	if (!client) {
		give_up(transport, self);
		return rc ? rc : MPIJOB_ERR_NOMEM;
	}
	client->transport = known;
	client->self = self;
	client->clock = mpijob__client_clock_monotonic_ms;
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

void mpijob_client_free(mpijob_client *client)
{
	if (!client)
		return;
	while (client->tasks)
		mpijob_task_cancel(client->tasks);
	while (client->watches)
		mpijob__client_watch_detach(client->watches);
	while (client->calls) {
		if (client->calls->held)
			client->transport.cancel(client->self, client->calls);
		free_call(client->calls);
	}
	client->transport.destroy(client->self);
	free(client);
}

/* --- polling --- */

/* When there is something to do of our own accord; INT64_MAX: nothing. */
static int64_t due(const mpijob_client *client)
{
	int64_t when = client->line_first ? client->line_first->due_ms : INT64_MAX;

	for (mpijob_watch *watch = client->watches; watch; watch = mpijob__client_watch_next(watch))
		if (mpijob__client_watch_due_ms(watch) < when)
			when = mpijob__client_watch_due_ms(watch);
	if (mpijob__client_timers_due_ms(client) < when)
		when = mpijob__client_timers_due_ms(client);
	return when;
}

static int limit(const mpijob_client *client, int timeout_ms)
{
	int64_t when = due(client), wait, now_ms;

	if (client->news || client->sweep)
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
	client->news = 0;
	mpijob__client_send_queue_step(client);
	mpijob__client_timers_step(client);
	for (mpijob_watch *watch = client->watches; watch; watch = client->next_watch) {
		client->next_watch = mpijob__client_watch_next(watch);
		mpijob__client_watch_step(watch);
	}
	client->next_watch = NULL;
	rc = client->transport.poll(client->self, limit(client, timeout_ms));
	sweep(client);
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

/* Signal handlers must leave errno as it was. */
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

int64_t mpijob__client_server_ms(const mpijob_client *client)
{
	return mpijob__client_server_clock_ms(&client->server_clock, client->clock());
}

/* --- calls --- */

static int check_request(const struct mpijob_request *request, struct mpijob_request *known)
{
	int rc =
	    request ? mpijob__base_struct_check(known, sizeof(*known), request) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (!known->method || !known->path || known->path[0] != '/' ||
	    (known->body_len && !known->body) || !mpijob__base_struct_is_flag(known->streaming) ||
	    !mpijob__base_struct_is_flag(known->fresh))
		return MPIJOB_ERR_USAGE;
	return 0;
}

static const char *put(char **at, const char *from, size_t len)
{
	char *to = *at;

	if (!from)
		return NULL;
	if (len)
		memcpy(to, from, len);
	to[len] = 0;
	*at += len + 1;
	return to;
}

/* Keep a request for later, in one block that is wiped. 0 or MPIJOB_ERR_NOMEM. */
static int copy_request(struct mpijob__client_copied_request *copy,
    const struct mpijob_request *from)
{
	size_t method = strlen(from->method), path = strlen(from->path);
	size_t type = from->content_type ? strlen(from->content_type) : 0;
	char *at;

	if (mpijob__base_text_reserve(&copy->bytes, method + path + type + from->body_len + 4))
		return MPIJOB_ERR_NOMEM;
	copy->request = *from;
	at = copy->bytes.data;
	copy->request.method = put(&at, from->method, method);
	copy->request.path = put(&at, from->path, path);
	copy->request.content_type = put(&at, from->content_type, type);
	copy->request.body = put(&at, from->body, from->body_len);
	copy->bytes.len = (size_t)(at - copy->bytes.data);
	return 0;
}

static const char *verb_of(const struct mpijob_request *request)
{
	static const char *const verbs[] = { "GET", "POST", "PATCH", "PUT", "DELETE" };

	if (request->streaming)
		return "WATCH";
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(request->method, verbs[i]) == 0)
			return verbs[i];
	return "other";
}

static mpijob_call *make_call(mpijob_client *client, const struct mpijob_request *request,
    int flags, const struct mpijob_callbacks *callbacks)
{
	mpijob_call *call = calloc(1, sizeof(*call));
	mpijob_exchange *exchange;
	int kept;

	if (!call)
		return NULL;
	exchange = &call->exchange;
	exchange->client = client;
	exchange->callbacks = *callbacks;
	exchange->is_post = strcmp(request->method, "POST") == 0;
	exchange->is_get = strcmp(request->method, "GET") == 0;
	exchange->streaming = request->streaming != 0;
	exchange->verb = verb_of(request);
	exchange->paid = (flags & MPIJOB__CLIENT_CALL_NO_RATE_LIMIT) != 0;
	if (!(flags & MPIJOB__CLIENT_CALL_NO_RETRY) && client->options.retries > 0)
		exchange->tries = client->options.retries;
	kept = exchange->tries || (client->bucket.qps && !exchange->streaming);
	exchange->copy.request = *request; /* borrowed while it is sent at once */
	if (kept && copy_request(&exchange->copy, request)) {
		free(call);
		return NULL;
	}
	exchange->next = client->calls;
	if (client->calls)
		client->calls->prev = exchange;
	client->calls = exchange;
	return call;
}

int mpijob__client_call_start(mpijob_client *client, const struct mpijob_request *request,
    int flags, const struct mpijob_callbacks *callbacks, mpijob_call **out)
{
	struct mpijob_request known;
	struct mpijob_callbacks called;
	mpijob_call *call;
	int rc = client && callbacks ? check_request(request, &known) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__base_struct_check(&called, sizeof(called), callbacks);
	if (rc)
		return rc;
	if (!called.done)
		return MPIJOB_ERR_USAGE;
	call = make_call(client, &known, flags, &called);
	if (!call)
		return MPIJOB_ERR_NOMEM;
	rc = mpijob__client_send_queue_submit(&call->exchange);
	if (rc) {
		free_call(&call->exchange);
		return rc;
	}
	if (out)
		*out = call;
	return 0;
}

int mpijob_client_start(mpijob_client *client, const struct mpijob_request *request,
    const struct mpijob_callbacks *callbacks, mpijob_call **out)
{
	return mpijob__client_call_start(client, request, 0, callbacks, out);
}

int mpijob__client_call_is_queued(const mpijob_call *call)
{
	return call->exchange.waits == MPIJOB__CLIENT_WAITS_TO_START;
}

void mpijob_call_cancel(mpijob_call *call)
{
	mpijob_exchange *exchange = call ? &call->exchange : NULL;
	mpijob_client *client = exchange ? exchange->client : NULL;

	if (!exchange || exchange->dead)
		return;
	exchange->dead = 1;
	if (client->polling) {
		client->sweep = 1;
		return;
	}
	if (exchange->held)
		client->transport.cancel(client->self, exchange);
	free_call(exchange);
}

void mpijob_call_pause(mpijob_call *call, int on)
{
	mpijob_exchange *exchange = call ? &call->exchange : NULL;
	mpijob_client *client = exchange ? exchange->client : NULL;

	if (!exchange || exchange->dead || exchange->paused == (on != 0))
		return;
	exchange->paused = on != 0;
	if (client->polling)
		client->sweep = 1;
	else if (exchange->held)
		mpijob__client_exchange_forward_pause(exchange);
	if (!exchange->paused && (exchange->backlog.len || exchange->ended))
		mpijob__client_send_queue_flush(exchange);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a client and of its calls: which are under way, how each ends, who frees it.
 *
 * A call is freed when its transport has let go of it and its owner was told (or does not want to be).
 * Giving up a call from inside of the transport's poll, also from a callback, waits until poll has
 * returned, so no transport is ever entered by `cancel` while it is telling something.
 */
#include "cluster/client.h"

#include "base/struct.h"
#include "cluster/status.h"

#include <stdlib.h>
#include <string.h>

static void unlink_call(mpijob_exchange *exchange)
{
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
	mpijob__text_release(&exchange->body);
	mpijob__text_release(&exchange->warnings);
	free(exchange);
}

/* Tell the owner, then free. The transport does not know the exchange any more. */
static void finish(mpijob_exchange *exchange, int code, const char *message)
{
	struct mpijob_answer answer = { 0 };
	struct mpijob__verdict verdict = { 0 };

	answer.size = sizeof(answer);
	answer.status = exchange->status;
	answer.retry_after_ms = exchange->retry_after_ms;
	answer.body = mpijob_text_data(&exchange->body);
	answer.body_len = exchange->body.len;
	if (exchange->stopped == MPIJOB_ERR_SYNTAX && exchange->cut) {
		code = MPIJOB_ERR_SYNTAX;
		message = "the answer is larger than 64 MiB";
	} else if (exchange->stopped) {
		code = exchange->stopped;
		message = mpijob_error_text(code);
	} else if (code == 0 && exchange->status == 0) {
		code = MPIJOB_ERR_IO;
		message = "the connection ended without an answer";
	}
	if (code == 0) {
		mpijob__verdict_make(&verdict, exchange->status, exchange->is_post, answer.body, answer.body_len);
		answer.code = verdict.code;
		answer.reason = verdict.reason;
		answer.message = verdict.message;
		if (answer.retry_after_ms == 0)
			answer.retry_after_ms = verdict.retry_after_ms;
	} else {
		answer.code = code;
		answer.message = message ? message : mpijob_error_text(code);
	}
	if (!exchange->dead) {
		exchange->dead = 1;
		exchange->callbacks.done(exchange->callbacks.user, &answer);
	}
	mpijob__verdict_release(&verdict);
	free_call(exchange);
}

void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message)
{
	if (!exchange || exchange->told)
		return;
	exchange->told = 1;
	finish(exchange, code > 0 ? MPIJOB_ERR_IO : code, message);
}

/* Give up what was stopped or cancelled while the transport was telling. */
static void sweep(mpijob_client *client)
{
	while (client->sweep) {
		mpijob_exchange *next;

		client->sweep = 0;
		for (mpijob_exchange *exchange = client->calls; exchange; exchange = next) {
			next = exchange->next;
			if (exchange->told || (!exchange->dead && !exchange->stopped))
				continue;
			client->transport.cancel(client->self, exchange);
			exchange->told = 1;
			finish(exchange, MPIJOB_ERR_CANCELLED, NULL);
			/* The owner may have changed the list: begin again. */
			client->sweep = 1;
			break;
		}
	}
}

static int complete(const struct mpijob_transport *transport)
{
	return transport->start && transport->poll && transport->cancel && transport->wake && transport->destroy;
}

int mpijob_client_new(const struct mpijob_transport *transport, void *self, mpijob_client **out)
{
	struct mpijob_transport known;
	mpijob_client *client;
	int rc = transport ? mpijob__struct_check(&known, sizeof(known), transport) : MPIJOB_ERR_USAGE;

	if (rc == MPIJOB_ERR_UNSUPPORTED && transport->destroy)
		transport->destroy(self);
	if (rc)
		return rc;
	if (!complete(&known) || !out) {
		rc = MPIJOB_ERR_USAGE;
		goto fail;
	}
	client = calloc(1, sizeof(*client));
	if (!client) {
		rc = MPIJOB_ERR_NOMEM;
		goto fail;
	}
	client->transport = known;
	client->self = self;
	*out = client;
	return 0;
fail:
	if (known.destroy)
		known.destroy(self);
	return rc;
}

void mpijob_client_free(mpijob_client *client)
{
	if (!client)
		return;
	while (client->calls) {
		if (!client->calls->told)
			client->transport.cancel(client->self, client->calls);
		free_call(client->calls);
	}
	client->transport.destroy(client->self);
	free(client);
}

int mpijob_client_poll(mpijob_client *client, int timeout_ms)
{
	int rc;

	if (!client || client->polling)
		return MPIJOB_ERR_USAGE;
	client->polling = 1;
	rc = client->transport.poll(client->self, timeout_ms);
	client->polling = 0;
	sweep(client);
	return rc;
}

int mpijob_client_interest(mpijob_client *client, int *fd, int64_t *deadline_ms)
{
	if (!client || !fd || !deadline_ms)
		return MPIJOB_ERR_USAGE;
	if (!client->transport.interest)
		return MPIJOB_ERR_UNSUPPORTED;
	return client->transport.interest(client->self, fd, deadline_ms);
}

void mpijob_client_wake(mpijob_client *client)
{
	client->transport.wake(client->self);
}

static int check_request(const struct mpijob_request *request, struct mpijob_request *known)
{
	int rc = request ? mpijob__struct_check(known, sizeof(*known), request) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (!known->method || !known->path || known->path[0] != '/' || (known->body_len && !known->body))
		return MPIJOB_ERR_USAGE;
	return 0;
}

int mpijob_client_start(mpijob_client *client, const struct mpijob_request *request,
			const struct mpijob_callbacks *callbacks, mpijob_call **out)
{
	struct mpijob_request known;
	struct mpijob_callbacks called;
	mpijob_call *call;
	int rc = client && callbacks ? check_request(request, &known) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__struct_check(&called, sizeof(called), callbacks);
	if (rc)
		return rc;
	if (!called.done)
		return MPIJOB_ERR_USAGE;
	call = calloc(1, sizeof(*call));
	if (!call)
		return MPIJOB_ERR_NOMEM;
	call->exchange.client = client;
	call->exchange.callbacks = called;
	call->exchange.is_post = strcmp(known.method, "POST") == 0;
	call->exchange.next = client->calls;
	if (client->calls)
		client->calls->prev = &call->exchange;
	client->calls = &call->exchange;
	rc = client->transport.start(client->self, &known, &call->exchange);
	if (rc) {
		free_call(&call->exchange);
		return rc < 0 ? rc : MPIJOB_ERR_IO;
	}
	if (out)
		*out = call;
	return 0;
}

void mpijob_call_cancel(mpijob_call *call)
{
	mpijob_exchange *exchange = &call->exchange;
	mpijob_client *client = exchange->client;

	if (exchange->dead)
		return;
	exchange->dead = 1;
	if (client->polling) {
		client->sweep = 1;
		return;
	}
	if (!exchange->told)
		client->transport.cancel(client->self, exchange);
	free_call(exchange);
}

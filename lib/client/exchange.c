/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of an exchange, from mpijob_client_start() to the end that its caller is notified of.
 *
 *   NEW ---- a token is due later ----> QUEUED ---- token due ---------> SENT
 *   NEW ---- a token is free, or none is needed -----------------------> SENT
 *   SENT --- transport refuses ---> NEW, and the caller is notified or start() fails
 *   SENT --- transport ends it, retry --> BACKOFF ---- due ---> QUEUED or SENT, as from NEW
 *   SENT --- transport ends it, reader has not read all --> DRAINING ---- all is read ---> DONE
 *   SENT --- transport ends it -----------------------------------------------------------> DONE
 *
 *   The client stops it (callback returns a code, limit, HTML page, out of memory):
 *   SENT ---------> STOPPING ---- transport ends it, or sweep cancels it there ----> DONE
 *   DRAINING -----> STOPPED ----- sweep -------------------------------------------> DONE
 *
 *   The caller cancels it:
 *   SENT, STOPPING ----------------------> CANCELLING ---- transport ends it, or sweep ---> freed
 *   QUEUED, BACKOFF, DRAINING, STOPPED --> CANCELLED ----- sweep -------------------------> freed
 *
 * DONE lasts while the caller's callback runs; then the exchange is freed. The sweep follows the
 * transport's poll: the functions that a transport calls only collect and mark, because a transport
 * need not support a cancel while it reports something. Outside of a poll there is no such moment,
 * so a cancel takes effect at once.
 */
#include "client/exchange.h"

#include "base/struct.h"
#include "client/client.h"
#include "client/status.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SHOWN 160 /* bytes of an HTML page that a message quotes */

/* ---- states ---- */

static int transport_has(const mpijob_exchange *exchange)
{
	return exchange->state == MPIJOB__CLIENT_EXCHANGE_SENT ||
	       exchange->state == MPIJOB__CLIENT_EXCHANGE_STOPPING ||
	       exchange->state == MPIJOB__CLIENT_EXCHANGE_CANCELLING;
}

/* The next sweep ends it. */
static int is_ending(const mpijob_exchange *exchange)
{
	return exchange->state >= MPIJOB__CLIENT_EXCHANGE_STOPPING &&
	       exchange->state <= MPIJOB__CLIENT_EXCHANGE_CANCELLED;
}

int mpijob__client_exchange_is_cancelled(const mpijob_exchange *exchange)
{
	return exchange->state == MPIJOB__CLIENT_EXCHANGE_CANCELLING ||
	       exchange->state == MPIJOB__CLIENT_EXCHANGE_CANCELLED;
}

/* A backlog may still wait in the queue when the transport ends the exchange. */
void mpijob__client_exchange_enter(mpijob_exchange *exchange,
    enum mpijob__client_exchange_state state)
{
	if (state != MPIJOB__CLIENT_EXCHANGE_DRAINING)
		mpijob__client_send_queue_remove(exchange);
	exchange->state = state;
	exchange->client->sweep |= is_ending(exchange);
}

/* `message`: a constant, in end.text, or NULL. */
static void stop(mpijob_exchange *exchange, int code, const char *message)
{
	exchange->end.code = code;
	exchange->end.message = message;
	mpijob__client_exchange_enter(exchange, exchange->state == MPIJOB__CLIENT_EXCHANGE_DRAINING
						    ? MPIJOB__CLIENT_EXCHANGE_STOPPED
						    : MPIJOB__CLIENT_EXCHANGE_STOPPING);
}

/* ---- start ---- */

static int check_request(const struct mpijob_request *request, struct mpijob_request *known)
{
	int rc =
	    request ? mpijob__base_struct_check(known, sizeof(*known), request) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (!known->method || (!known->target && (!known->path || known->path[0] != '/')) ||
	    (known->body_len && !known->body) || !mpijob__base_struct_is_flag(known->streaming) ||
	    !mpijob__base_struct_is_flag(known->fresh) ||
	    !mpijob__base_struct_is_flag(known->once) ||
	    !mpijob__base_struct_is_flag(known->urgent))
		return MPIJOB_ERR_USAGE;
	return 0;
}

/* Replace the target by its path, which points into `text`. */
static int resolve_target(struct mpijob_request *request, mpijob_text *text)
{
	int rc;

	if (!request->target)
		return 0;
	rc = mpijob_target_write(request->target, mpijob_text_write, text);
	request->path = mpijob_text_data(text);
	request->target = NULL;
	return rc;
}

static const char *append(char **at, const char *from, size_t len)
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

/* Copy a request into one block, which is wiped. 0 or MPIJOB_ERR_NOMEM. */
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
	copy->request.method = append(&at, from->method, method);
	copy->request.path = append(&at, from->path, path);
	copy->request.content_type = append(&at, from->content_type, type);
	copy->request.body = append(&at, from->body, from->body_len);
	copy->bytes.len = (size_t)(at - copy->bytes.data);
	return 0;
}

static const char *method_name(const char *method)
{
	static const char *const names[] = { "GET", "POST", "PATCH", "PUT", "DELETE" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(method, names[i]) == 0)
			return names[i];
	return "other";
}

static mpijob_call *new_call(mpijob_client *client, const struct mpijob_request *request,
    const struct mpijob_callbacks *callbacks)
{
	mpijob_call *call = calloc(1, sizeof(*call));
	mpijob_exchange *exchange;

	if (!call)
		return NULL;
	exchange = &call->exchange;
	exchange->client = client;
	exchange->callbacks = *callbacks;
	exchange->method = method_name(request->method);
	exchange->streaming = request->streaming != 0;
	exchange->rate_limited = !request->streaming && !request->urgent;
	exchange->answer.retry_after_ms = -1;
	if (!request->once && client->options.retries > 0)
		exchange->retry.left = client->options.retries;
	exchange->copy.request = *request; /* borrowed when it is sent now and only once */
	if ((exchange->retry.left || (client->bucket.qps && exchange->rate_limited)) &&
	    copy_request(&exchange->copy, request)) {
		free(call);
		return NULL;
	}
	exchange->copy.request.once = exchange->copy.request.urgent = 0; /* not the transport's */
	mpijob__base_list_insert(client->calls.next, &exchange->link, exchange);
	return call;
}

static void free_call(mpijob_exchange *exchange)
{
	mpijob__client_send_queue_remove(exchange);
	mpijob__base_list_remove(&exchange->link);
	mpijob__base_text_release(&exchange->copy.bytes);
	mpijob__base_text_release(&exchange->end.text);
	mpijob__base_text_release(&exchange->stream.backlog);
	mpijob__base_text_release(&exchange->answer.body);
	mpijob__base_text_release(&exchange->answer.warnings);
	free(exchange);
}

static int start(mpijob_client *client, const struct mpijob_request *request,
    const struct mpijob_callbacks *callbacks, mpijob_call **out)
{
	mpijob_call *call = new_call(client, request, callbacks);
	int rc;

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
	struct mpijob_request known;
	struct mpijob_callbacks called;
	mpijob_text path = { 0 };
	int rc = client && callbacks ? check_request(request, &known) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__base_struct_check(&called, sizeof(called), callbacks);
	if (rc)
		return rc;
	if (!called.done)
		return MPIJOB_ERR_USAGE;
	rc = resolve_target(&known, &path);
	if (rc == 0)
		rc = start(client, &known, &called, out);
	mpijob__base_text_release(&path);
	return rc;
}

int mpijob_call_queued(const mpijob_call *call)
{
	return call && (call->exchange.state == MPIJOB__CLIENT_EXCHANGE_QUEUED ||
			   call->exchange.state == MPIJOB__CLIENT_EXCHANGE_BACKOFF);
}

static void forward_pause(mpijob_exchange *exchange)
{
	mpijob_client *client = exchange->client;

	exchange->stream.transport_paused = exchange->stream.flow == MPIJOB__CLIENT_FLOW_PAUSED;
	if (client->transport.pause)
		client->transport.pause(client->self, exchange, exchange->stream.transport_paused);
}

int mpijob__client_exchange_send(mpijob_exchange *exchange)
{
	mpijob_client *client = exchange->client;
	int rc;

	mpijob__client_exchange_enter(exchange, MPIJOB__CLIENT_EXCHANGE_SENT);
	exchange->stream.transport_paused = 0;
	exchange->sent_ms = client->clock();
	rc = client->transport.start(client->self, &exchange->copy.request, exchange);
	if (rc) {
		mpijob__client_exchange_enter(exchange, MPIJOB__CLIENT_EXCHANGE_NEW);
		return rc < 0 ? rc : MPIJOB_ERR_IO;
	}
	if (exchange->stream.flow == MPIJOB__CLIENT_FLOW_PAUSED)
		forward_pause(exchange);
	return 0;
}

/* ---- the end ---- */

/* The code and message of a call that ended by itself, or was stopped. */
static void judge(mpijob_exchange *exchange, int code, const char *message,
    struct mpijob__client_verdict *verdict, struct mpijob_answer *answer)
{
	if (code == 0 && exchange->answer.status == 0) {
		code = MPIJOB_ERR_IO;
		message = "the connection ended without an answer";
	}
	answer->code = code;
	answer->message = message ? message : mpijob_error_text(code);
	if (code)
		return;
	mpijob__client_verdict_make(verdict, exchange->answer.status,
	    strcmp(exchange->method, "POST") == 0, answer->body, answer->body_len);
	answer->code = verdict->code;
	answer->reason = verdict->reason;
	answer->message = verdict->message;
	exchange->retry.outcome_unknown |= verdict->vague;
	if (answer->retry_after_ms == 0)
		answer->retry_after_ms = verdict->retry_after_ms;
}

static void observe_end(const mpijob_exchange *exchange, const struct mpijob_answer *answer)
{
	const struct mpijob_client_observer *observer = &exchange->client->observer;
	struct mpijob_request_stats stats = { sizeof(stats), exchange->method, exchange->streaming,
		answer->status, answer->code, exchange->client->clock() - exchange->sent_ms };

	if (observer->ended)
		observer->ended(observer->user, &stats);
}

static void notify(mpijob_exchange *exchange, int code, const char *message)
{
	mpijob_client *client = exchange->client;
	struct mpijob__client_verdict verdict = { 0 };
	struct mpijob_answer answer = { 0 };

	answer.size = sizeof(answer);
	answer.status = exchange->answer.status;
	answer.retry_after_ms =
	    exchange->answer.retry_after_ms < 0 ? 0 : exchange->answer.retry_after_ms;
	answer.body = mpijob_text_data(&exchange->answer.body);
	answer.body_len = exchange->answer.body.len;
	judge(exchange, code, message, &verdict, &answer);
	mpijob__client_exchange_enter(exchange, MPIJOB__CLIENT_EXCHANGE_DONE);
	client->reported = 1;
	observe_end(exchange, &answer);
	exchange->callbacks.done(exchange->callbacks.user, &answer);
	mpijob__client_verdict_release(&verdict);
}

void mpijob__client_exchange_finish(mpijob_exchange *exchange, int code, const char *message)
{
	if (exchange->answer.status && exchange->answer.status < 500)
		mpijob__client_server_answered(exchange->client);
	if (!mpijob__client_exchange_is_cancelled(exchange))
		notify(exchange, code, message);
	free_call(exchange);
}

/* Its reader has paused, and is notified of the end when everything before it was read. */
static void drain(mpijob_exchange *exchange, int code, const char *message)
{
	exchange->end.code = code;
	if (message && mpijob__base_text_puts(&exchange->end.text, message) == 0)
		exchange->end.message = exchange->end.text.data;
	mpijob__client_exchange_enter(exchange, MPIJOB__CLIENT_EXCHANGE_DRAINING);
}

void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message)
{
	if (!exchange || !transport_has(exchange))
		return;
	if (code > 0)
		code = MPIJOB_ERR_IO;
	if (exchange->state != MPIJOB__CLIENT_EXCHANGE_SENT)
		mpijob__client_exchange_finish(exchange, exchange->end.code, exchange->end.message);
	else if (exchange->stream.backlog.len)
		drain(exchange, code, message);
	else if (!mpijob__client_send_queue_retry(exchange, code))
		mpijob__client_exchange_finish(exchange, code, message);
}

static void forward_pauses(mpijob_client *client)
{
	for (struct mpijob__base_list *link = client->calls.next; link->owner; link = link->next) {
		mpijob_exchange *exchange = link->owner;

		if (exchange->state == MPIJOB__CLIENT_EXCHANGE_SENT &&
		    (exchange->stream.flow == MPIJOB__CLIENT_FLOW_PAUSED) !=
			exchange->stream.transport_paused)
			forward_pause(exchange);
	}
}

void mpijob__client_exchange_sweep(mpijob_client *client)
{
	if (client->sweep && client->transport.pause)
		forward_pauses(client);
	while (client->sweep) {
		struct mpijob__base_list *next;

		client->sweep = 0;
		/* A callback may mark calls, or add some at the front: `next` stays valid. */
		for (struct mpijob__base_list *link = client->calls.next; link->owner;
		     link = next) {
			mpijob_exchange *exchange = link->owner;

			next = link->next;
			if (!is_ending(exchange))
				continue;
			if (transport_has(exchange))
				client->transport.cancel(client->self, exchange);
			mpijob__client_exchange_finish(exchange, exchange->end.code,
			    exchange->end.message);
		}
	}
}

void mpijob__client_exchange_free_all(mpijob_client *client)
{
	mpijob_exchange *exchange;

	while ((exchange = mpijob__base_list_first(&client->calls)) != NULL) {
		if (transport_has(exchange))
			client->transport.cancel(client->self, exchange);
		free_call(exchange);
	}
}

/* ---- calls of the caller ---- */

void mpijob_call_cancel(mpijob_call *call)
{
	mpijob_exchange *exchange = call ? &call->exchange : NULL;
	mpijob_client *client = exchange ? exchange->client : NULL;

	if (!exchange || mpijob__client_exchange_is_cancelled(exchange) ||
	    exchange->state == MPIJOB__CLIENT_EXCHANGE_DONE)
		return;
	if (client->polling) {
		mpijob__client_exchange_enter(exchange, transport_has(exchange)
							    ? MPIJOB__CLIENT_EXCHANGE_CANCELLING
							    : MPIJOB__CLIENT_EXCHANGE_CANCELLED);
		return;
	}
	if (transport_has(exchange))
		client->transport.cancel(client->self, exchange);
	free_call(exchange);
}

void mpijob_call_pause(mpijob_call *call, int on)
{
	mpijob_exchange *exchange = call ? &call->exchange : NULL;
	int paused = exchange && exchange->stream.flow == MPIJOB__CLIENT_FLOW_PAUSED;

	if (!exchange || exchange->state >= MPIJOB__CLIENT_EXCHANGE_STOPPING || paused == (on != 0))
		return;
	if (exchange->stream.flow == MPIJOB__CLIENT_FLOW_FLUSHING)
		mpijob__client_send_queue_remove(exchange);
	exchange->stream.flow = on ? MPIJOB__CLIENT_FLOW_PAUSED : MPIJOB__CLIENT_FLOW_READING;
	if (exchange->client->polling)
		exchange->client->sweep = 1;
	else if (exchange->state == MPIJOB__CLIENT_EXCHANGE_SENT)
		forward_pause(exchange);
	if (!on &&
	    (exchange->stream.backlog.len || exchange->state == MPIJOB__CLIENT_EXCHANGE_DRAINING))
		mpijob__client_send_queue_flush(exchange);
}

/* ---- calls of the transport ---- */

void mpijob_exchange_status(mpijob_exchange *exchange, int status)
{
	if (exchange && status >= 100 && status <= 599)
		exchange->answer.status = status;
}

static void collect(mpijob_exchange *exchange, const char *data, size_t len)
{
	int failed = exchange->answer.status < 200 || exchange->answer.status > 299;
	size_t limit = failed ? MPIJOB__CLIENT_ERROR_LIMIT : MPIJOB__CLIENT_BODY_LIMIT;
	size_t room = limit - exchange->answer.body.len;

	if (len > room && !failed)
		stop(exchange, MPIJOB_ERR_SYNTAX, "the answer is larger than 64 MiB");
	else if (mpijob_text_write(&exchange->answer.body, data, len < room ? len : room))
		stop(exchange, MPIJOB_ERR_NOMEM, NULL);
}

/* No API server sends HTML. Quote the beginning in the message, and stop. */
static void refuse_page(mpijob_exchange *exchange, const char *data, size_t len)
{
	mpijob_text *body = &exchange->answer.body;
	const char *message = NULL;

	if (mpijob_text_write(body, data, len < PAGE_SHOWN ? len : PAGE_SHOWN)) {
		stop(exchange, MPIJOB_ERR_NOMEM, NULL);
		return;
	}
	if (mpijob__base_text_printf(&exchange->end.text,
		"the answer is a page (text/html) and not from a Kubernetes API; check the URL of "
		"the server, and what is in front of it; the page begins: %s",
		mpijob_text_data(body)) == 0)
		message = exchange->end.text.data;
	stop(exchange, MPIJOB_ERR_SYNTAX, message);
}

static void deliver(mpijob_exchange *exchange, const char *data, size_t len)
{
	const struct mpijob_client_observer *observer = &exchange->client->observer;
	int code;

	exchange->client->reported = 1;
	if (observer->received)
		observer->received(observer->user, len);
	code = exchange->callbacks.data(exchange->callbacks.user, data, len);
	if (code && !is_ending(exchange))
		stop(exchange, code, NULL);
}

void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len)
{
	if (!exchange || !data || len == 0 || exchange->state != MPIJOB__CLIENT_EXCHANGE_SENT)
		return;
	if (exchange->answer.is_html && exchange->answer.status == 200)
		refuse_page(exchange, data, len);
	else if (!exchange->callbacks.data || exchange->answer.status != 200)
		collect(exchange, data, len);
	else if (exchange->stream.flow == MPIJOB__CLIENT_FLOW_READING)
		deliver(exchange, data, len);
	else if (mpijob_text_write(&exchange->stream.backlog, data, len))
		stop(exchange, MPIJOB_ERR_NOMEM, NULL);
}

void mpijob__client_exchange_flush(mpijob_exchange *exchange)
{
	mpijob_text backlog = exchange->stream.backlog;

	exchange->client->reported = 1;
	memset(&exchange->stream.backlog, 0, sizeof(exchange->stream.backlog));
	if (backlog.len)
		deliver(exchange, backlog.data, backlog.len);
	mpijob__base_text_release(&backlog);
	if (exchange->state == MPIJOB__CLIENT_EXCHANGE_DRAINING ||
	    exchange->state == MPIJOB__CLIENT_EXCHANGE_STOPPED)
		mpijob__client_exchange_finish(exchange, exchange->end.code, exchange->end.message);
}

void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot)
{
	if (exchange)
		exchange->slot = slot;
}

void *mpijob_exchange_slot(const mpijob_exchange *exchange)
{
	return exchange ? exchange->slot : NULL;
}

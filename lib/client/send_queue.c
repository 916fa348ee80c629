/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The send queue and the rate limit: when a request is sent, when it is sent again, and when a
 * backlog is delivered to a reader that had paused.
 *
 * A request is sent when the bucket has a token for it; streams take none. It is sent again when
 * the server says when (429 or 5xx with Retry-After in seconds), and a GET also when the connection
 * broke before a status came. A write is never sent again after that: the server may have done it.
 * A gateway does not know either, so the outcome of a write stays unknown after a 5xx. The client
 * does this, so retries and rates are the same over every transport.
 */
#include "client/send_queue.h"

#include "client/client.h"

#include <string.h>

#define BROKEN_MS 1000 /* back-off of a GET whose connection broke */

/* ---- the queue ---- */

static int64_t due_ms_of(const struct mpijob__base_list *link)
{
	const mpijob_exchange *exchange = link->owner;

	return exchange->queue.due_ms;
}

int64_t mpijob__client_send_queue_due_ms(const mpijob_client *client)
{
	return client->queue.next->owner ? due_ms_of(client->queue.next) : INT64_MAX;
}

static void insert(mpijob_exchange *exchange, int64_t due_ms)
{
	mpijob_client *client = exchange->client;
	struct mpijob__base_list *place = &client->queue;

	while (place->prev->owner && due_ms_of(place->prev) > due_ms)
		place = place->prev;
	exchange->queue.due_ms = due_ms;
	mpijob__base_list_insert(place, &exchange->queue.link, exchange);
}

void mpijob__client_send_queue_remove(mpijob_exchange *exchange)
{
	if (exchange->stream.flow == MPIJOB__CLIENT_FLOW_FLUSHING)
		exchange->stream.flow = MPIJOB__CLIENT_FLOW_READING;
	mpijob__base_list_remove(&exchange->queue.link);
}

void mpijob__client_send_queue_flush(mpijob_exchange *exchange)
{
	exchange->stream.flow = MPIJOB__CLIENT_FLOW_FLUSHING;
	insert(exchange, INT64_MIN);
}

/* ---- the rate ---- */

void mpijob__client_send_queue_set_rate(struct mpijob__client_token_bucket *bucket, int64_t qps,
    int64_t burst, int64_t now_ms)
{
	bucket->qps = qps;
	bucket->burst = burst;
	bucket->tokens = burst * 1000;
	bucket->filled_ms = now_ms;
}

/* Take a token, if necessary a future one. Returns when it is due. */
static int64_t take_token(struct mpijob__client_token_bucket *bucket, int64_t now_ms)
{
	int64_t most = bucket->burst * 1000, passed = now_ms - bucket->filled_ms;

	bucket->filled_ms = now_ms;
	/* A full bucket stays full. This also prevents an overflow of the product. */
	if (passed >= (most - bucket->tokens) / bucket->qps + 1)
		bucket->tokens = most;
	else if (passed > 0)
		bucket->tokens += passed * bucket->qps;
	if (bucket->tokens > most)
		bucket->tokens = most;
	bucket->tokens -= 1000;
	if (bucket->tokens >= 0)
		return now_ms;
	return now_ms + (-bucket->tokens + bucket->qps - 1) / bucket->qps;
}

int mpijob__client_send_queue_submit(mpijob_exchange *exchange)
{
	struct mpijob__client_token_bucket *bucket = &exchange->client->bucket;

	if (exchange->rate_limited && bucket->qps) {
		int64_t now_ms = exchange->client->clock();
		int64_t due_ms = take_token(bucket, now_ms);

		if (due_ms > now_ms) {
			mpijob__client_exchange_enter(exchange, MPIJOB__CLIENT_EXCHANGE_QUEUED);
			insert(exchange, due_ms);
			return 0;
		}
	}
	return mpijob__client_exchange_send(exchange);
}

/* ---- retries ---- */

/* How long to back off; negative: no other attempt. Bytes of a stream come with status 200 only, so
 * nothing was delivered before. */
static int64_t backoff_ms(const mpijob_exchange *exchange, int code)
{
	int status = exchange->answer.status;

	if (code == MPIJOB_ERR_IO && status == 0 && strcmp(exchange->method, "GET") == 0)
		return BROKEN_MS;
	if (code == 0 && (status == 429 || (status >= 500 && status <= 599)) &&
	    exchange->answer.retry_after_ms <= exchange->client->options.retry_after_most_ms)
		return exchange->answer.retry_after_ms;
	return -1;
}

int mpijob__client_send_queue_retry(mpijob_exchange *exchange, int code)
{
	int64_t wait_ms = backoff_ms(exchange, code);

	if (wait_ms < 0 || exchange->retry.left <= 0)
		return 0;
	exchange->retry.left--;
	exchange->retry.outcome_unknown |= exchange->answer.status >= 500;
	exchange->answer.status = exchange->answer.is_html = 0;
	exchange->answer.retry_after_ms = -1;
	exchange->slot = NULL;
	mpijob_text_clear(&exchange->answer.body);
	mpijob__client_exchange_enter(exchange, MPIJOB__CLIENT_EXCHANGE_BACKOFF);
	insert(exchange, exchange->client->clock() + wait_ms);
	return 1;
}

/* ---- what is due ---- */

void mpijob__client_send_queue_step(mpijob_client *client)
{
	mpijob_exchange *exchange;
	int64_t now_ms;

	if (!client->queue.next->owner)
		return;
	now_ms = client->clock();
	while ((exchange = client->queue.next->owner) != NULL && exchange->queue.due_ms <= now_ms) {
		int rc = 0;

		mpijob__client_send_queue_remove(exchange);
		if (exchange->state == MPIJOB__CLIENT_EXCHANGE_QUEUED)
			rc = mpijob__client_exchange_send(exchange);
		else if (exchange->state == MPIJOB__CLIENT_EXCHANGE_BACKOFF)
			rc = mpijob__client_send_queue_submit(exchange);
		else
			mpijob__client_exchange_flush(exchange);
		if (rc)
			mpijob__client_exchange_finish(exchange, rc, NULL);
	}
}

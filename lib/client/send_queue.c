/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait inside of the client: for a token, for a second try, for a reader that had
 * paused.
 *
 * A request leaves when the bucket has a token for it; streams take none. It is sent again when the
 * server says when (429 or 5xx with Retry-After in seconds), and a GET also when the connection
 * broke before a status came. A write is never sent again after that: it may have happened. Nor can
 * a gateway know whether it has, so the doubt stays with what was sent again after a 5xx. The
 * client's timers are here, so retries and rates are the same over every transport.
 */
#include "client/client.h"

#include <string.h>

#define BROKEN_MS 1000 /* before a GET is sent again whose connection broke */

/* --- the line --- */

static void enter(mpijob_exchange *exchange, int waits, int64_t due_ms)
{
	mpijob_client *client = exchange->client;
	mpijob_exchange *before = client->line_last;

	exchange->waits = waits;
	exchange->due_ms = due_ms;
	while (before && before->due_ms > due_ms)
		before = before->line_prev;
	exchange->line_prev = before;
	exchange->line_next = before ? before->line_next : client->line_first;
	if (exchange->line_next)
		exchange->line_next->line_prev = exchange;
	else
		client->line_last = exchange;
	if (before)
		before->line_next = exchange;
	else
		client->line_first = exchange;
}

void mpijob__client_send_queue_remove(mpijob_exchange *exchange)
{
	mpijob_client *client = exchange->client;

	if (exchange->waits == MPIJOB__CLIENT_WAITS_NOT)
		return;
	if (exchange->line_prev)
		exchange->line_prev->line_next = exchange->line_next;
	else
		client->line_first = exchange->line_next;
	if (exchange->line_next)
		exchange->line_next->line_prev = exchange->line_prev;
	else
		client->line_last = exchange->line_prev;
	exchange->line_prev = exchange->line_next = NULL;
	exchange->waits = MPIJOB__CLIENT_WAITS_NOT;
}

void mpijob__client_send_queue_flush(mpijob_exchange *exchange)
{
	if (exchange->waits == MPIJOB__CLIENT_WAITS_NOT)
		enter(exchange, MPIJOB__CLIENT_WAITS_TO_FLUSH, INT64_MIN);
}

/* --- the bucket --- */

void mpijob__client_send_queue_set_rate(struct mpijob__client_token_bucket *bucket, int64_t qps,
    int64_t burst, int64_t now_ms)
{
	bucket->qps = qps;
	bucket->burst = burst;
	bucket->tokens = burst * 1000;
	bucket->filled_ms = now_ms;
}

/* Take a token, of the future if need be; tell when it is there. */
static int64_t take_token(struct mpijob__client_token_bucket *bucket, int64_t now_ms)
{
	int64_t most = bucket->burst * 1000, passed = now_ms - bucket->filled_ms;

	bucket->filled_ms = now_ms;
	/* What is full stays full; this also keeps the product small. */
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

static int start(mpijob_exchange *exchange)
{
	mpijob_client *client = exchange->client;
	int rc;

	exchange->held = 1;
	exchange->pause_told = 0;
	exchange->sent_ms = client->clock();
	rc = client->transport.start(client->self, &exchange->copy.request, exchange);
	if (rc == 0 && exchange->paused)
		mpijob__client_exchange_forward_pause(exchange);
	if (rc == 0)
		return 0;
	exchange->held = 0;
	return rc < 0 ? rc : MPIJOB_ERR_IO;
}

int mpijob__client_send_queue_submit(mpijob_exchange *exchange)
{
	struct mpijob__client_token_bucket *bucket = &exchange->client->bucket;

	if (!exchange->streaming && bucket->qps && !exchange->paid) {
		int64_t now_ms = exchange->client->clock();
		int64_t due_ms = take_token(bucket, now_ms);

		exchange->paid = 1;
		if (due_ms > now_ms) {
			enter(exchange, MPIJOB__CLIENT_WAITS_TO_START, due_ms);
			return 0;
		}
	}
	return start(exchange);
}

/* --- second tries --- */

/* A stream's bytes come with 200 alone, so nothing that is sent again was shown to anybody. */
static int64_t wait_before_retry(const mpijob_exchange *exchange, int code)
{
	int status = exchange->status;

	if (code == MPIJOB_ERR_IO && status == 0 && exchange->is_get)
		return BROKEN_MS;
	if (code == 0 && exchange->asked_to_wait &&
	    (status == 429 || (status >= 500 && status <= 599)) &&
	    exchange->retry_after_ms <= exchange->client->options.retry_after_most_ms)
		return exchange->retry_after_ms;
	return -1;
}

int mpijob__client_send_queue_retry(mpijob_exchange *exchange, int code)
{
	int64_t wait_ms = wait_before_retry(exchange, code);

	if (wait_ms < 0 || exchange->tries <= 0 || exchange->dead || exchange->stopped)
		return 0;
	exchange->tries--;
	exchange->doubt |= exchange->status >= 500;
	exchange->paid = 0;
	exchange->status = exchange->cut = 0;
	exchange->asked_to_wait = 0;
	exchange->retry_after_ms = 0;
	exchange->slot = NULL;
	mpijob_text_clear(&exchange->body);
	enter(exchange, MPIJOB__CLIENT_WAITS_TO_START, exchange->client->clock() + wait_ms);
	return 1;
}

/* --- what is due --- */

static void flush(mpijob_exchange *exchange)
{
	mpijob_text backlog = exchange->backlog;

	if (exchange->dead || exchange->stopped || exchange->paused)
		return;
	memset(&exchange->backlog, 0, sizeof(exchange->backlog));
	if (backlog.len)
		mpijob__client_exchange_deliver(exchange, backlog.data, backlog.len);
	mpijob__base_text_release(&backlog);
	if (exchange->ended && exchange->backlog.len == 0 && !exchange->dead)
		mpijob__client_exchange_finish(exchange, exchange->end_code,
		    exchange->end_message.len ? exchange->end_message.data : NULL);
}

void mpijob__client_send_queue_step(mpijob_client *client)
{
	int64_t now_ms;

	if (!client->line_first)
		return;
	now_ms = client->clock();
	while (client->line_first && client->line_first->due_ms <= now_ms) {
		mpijob_exchange *exchange = client->line_first;
		int waits = exchange->waits;
		int rc;

		mpijob__client_send_queue_remove(exchange);
		if (waits == MPIJOB__CLIENT_WAITS_TO_FLUSH) {
			client->news = 1;
			flush(exchange);
			continue;
		}
		rc = exchange->dead ? 0 : mpijob__client_send_queue_submit(exchange);
		if (rc)
			mpijob__client_exchange_finish(exchange, rc, NULL);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The send queue: exchanges that wait for a token, for their next attempt, or to be flushed. */
#ifndef MPIJOB__CLIENT_SEND_QUEUE_H
#define MPIJOB__CLIENT_SEND_QUEUE_H

#include <mpijob/client.h>

/* The rate limit. */
struct mpijob__client_token_bucket {
	int64_t qps, burst; /* qps 0: no limit */
	int64_t tokens;     /* thousandths; negative: already taken by queued requests */
	int64_t filled_ms;  /* when it was last filled */
};

void mpijob__client_send_queue_set_rate(struct mpijob__client_token_bucket *bucket, int64_t qps,
    int64_t burst, int64_t now_ms);
/* Send a request now, or queue it until it has a token. 0 or what the transport returned. */
int mpijob__client_send_queue_submit(mpijob_exchange *exchange);
/* The transport ended an attempt with this code: 1 when another attempt is queued. */
int mpijob__client_send_queue_retry(mpijob_exchange *exchange, int code);
/* Flush the exchange in the next poll. */
void mpijob__client_send_queue_flush(mpijob_exchange *exchange);
/* Nothing happens when it is not in the queue. */
void mpijob__client_send_queue_remove(mpijob_exchange *exchange);
/* Do what is due. */
void mpijob__client_send_queue_step(mpijob_client *client);
/* When the next request is due; INT64_MAX: the queue is empty. */
int64_t mpijob__client_send_queue_due_ms(const mpijob_client *client);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a client and of its calls, for the files of this room. */
#ifndef MPIJOB__CLIENT_CLIENT_H
#define MPIJOB__CLIENT_CLIENT_H

#include "base/text.h"
#include "client/server_clock.h"

#include <mpijob/client.h>
#include <mpijob/watch.h>

#include <stdatomic.h>

#define MPIJOB__CLIENT_BODY_LIMIT ((size_t)64 << 20) /* of an answer that is not streamed */
/* of the body of a failure: the rest is dropped */
#define MPIJOB__CLIENT_ERROR_LIMIT ((size_t)1 << 20)

/* Flags of mpijob__client_call_start(). */
#define MPIJOB__CLIENT_CALL_NO_RETRY      1 /* its owner tries again by himself, as he sees fit */
#define MPIJOB__CLIENT_CALL_NO_RATE_LIMIT 2 /* it waits for no token */

/* What a call that stands in the client's line waits for. */
enum { MPIJOB__CLIENT_WAITS_NOT, MPIJOB__CLIENT_WAITS_TO_START, MPIJOB__CLIENT_WAITS_TO_FLUSH };

/* A request as it is sent again. `bytes` holds all of it, and is wiped. */
struct mpijob__client_copied_request {
	mpijob_text bytes;
	struct mpijob_request request; /* points into `bytes` */
};

/* One call; an exchange is the same thing seen by the transport. */
struct mpijob_exchange {
	mpijob_client *client;
	struct mpijob_exchange *prev, *next; /* in the client's list of calls */
	struct mpijob_callbacks callbacks;
	/* empty when it can neither wait nor be sent again */
	struct mpijob__client_copied_request copy;
	void *slot; /* the transport's */
	int is_post, is_get;
	const char *verb; /* for who counts requests: a constant */
	int64_t sent_ms;  /* the latest try */
	int streaming;
	int tries;              /* how often it may still be sent again */
	int paid;               /* its token was taken */
	int status;             /* 0 until told */
	int held;               /* the transport knows it */
	int dead;               /* cancelled by its owner: no callback any more */
	int stopped;            /* code that stopped the stream from our side; 0 while it goes on */
	int cut;                /* the body went over a limit */
	int is_page;            /* the server says that it sends HTML, which no API server does */
	int doubt;              /* an answer to a try left open whether a write was done */
	int paused, pause_told; /* as its owner wants it; as the transport knows it */
	int ended; /* the transport ended it, and its owner has not read everything yet */
	int end_code;
	mpijob_text end_message; /* empty: none */
	mpijob_text backlog;     /* what came while it was paused */
	int asked_to_wait;       /* a Retry-After in seconds came */
	int64_t retry_after_ms;
	mpijob_text body;
	mpijob_text warnings; /* texts of Warning headers, each closed by NUL */

	/* In the client's line, ordered by time. */
	int waits; /* MPIJOB__WAITS_* */
	int64_t due_ms;
	struct mpijob_exchange *line_prev, *line_next;
};

/* The public name of the same. */
struct mpijob_call {
	struct mpijob_exchange exchange;
};

/* Requests that may leave. */
struct mpijob__client_token_bucket {
	int64_t qps, burst; /* qps 0: no limit */
	int64_t tokens;     /* thousandths; negative: promised already */
	int64_t filled_ms;  /* when it was filled last */
};

/*
 * Who counts requests: each that ended and was not given up. `verb` is the method, or "WATCH" for a
 * stream; `status` is 0 when none came.
 */
struct mpijob__client_observer {
	void (*request)(void *user, const char *verb, int status, int code, int64_t took_ms);
	void *user;
};

struct mpijob_client {
	struct mpijob_transport transport;
	void *self;
	struct mpijob_client_options options;
	int64_t (*clock)(void); /* monotonic milliseconds; tests put another one here */
	struct mpijob__client_observer observer;
	struct mpijob__client_server_clock server_clock;
	struct mpijob_exchange *calls; /* all, the newest first */
	struct mpijob_exchange *line_first, *line_last;
	struct mpijob__client_token_bucket bucket;
	mpijob_watch *watches;
	/* to be stepped next; kept right while watches come and go */
	mpijob_watch *next_watch;
	struct mpijob_task *tasks; /* all, the newest first */
	struct mpijob__client_timer *timers;
	struct mpijob__client_timer *next_timer; /* kept right while timers come and go */
	int polling;                             /* inside of mpijob_client_poll() */
	int news;                                /* somebody was told something in this poll */
	int sweep;                               /* a call was given up meanwhile */
	int whole_lists;                         /* the server does not do lists in pages */
	int unreachable;      /* a watch waits because the server could not be reached */
	atomic_int cancelled; /* from any thread, from signal handlers */
};

/* client.c */
/* Milliseconds since 1970 by the server's clock, as far as it is known. */
int64_t mpijob__client_server_ms(const mpijob_client *client);
/* As mpijob_client_start(), with MPIJOB__CALL_* flags. */
int mpijob__client_call_start(mpijob_client *client, const struct mpijob_request *request,
    int flags, const struct mpijob_callbacks *callbacks, mpijob_call **out);
/* 1 while it waits to be sent, or sent again: who gives it up now keeps it from leaving. */
int mpijob__client_call_is_queued(const mpijob_call *call);
/* Tell the owner, then free. The transport does not know the exchange any more. */
void mpijob__client_exchange_finish(mpijob_exchange *exchange, int code, const char *message);
/* Tell the transport whether the owner wants data. */
void mpijob__client_exchange_forward_pause(mpijob_exchange *exchange);
/* Take a cancel that was asked for: 1 when there was one. */
int mpijob__client_take_cancel(mpijob_client *client);

/* line.c: calls that wait, for a token, a retry or their reader. */
/* Begin it now, or when its turn comes. 0 or what the transport returned. */
int mpijob__client_send_queue_submit(mpijob_exchange *exchange);
/* The transport ended it: 1 when it will be sent again. */
int mpijob__client_send_queue_retry(mpijob_exchange *exchange, int code);
/* Give it what came while it was paused, at the next poll. */
void mpijob__client_send_queue_flush(mpijob_exchange *exchange);
void mpijob__client_send_queue_remove(mpijob_exchange *exchange);
/* Do what is due. */
void mpijob__client_send_queue_step(mpijob_client *client);
void mpijob__client_send_queue_set_rate(struct mpijob__client_token_bucket *bucket, int64_t qps,
    int64_t burst, int64_t now_ms);

/* exchange.c: give bytes of a stream to its owner. */
void mpijob__client_exchange_deliver(mpijob_exchange *exchange, const char *data, size_t len);

/* target.c: 0 when mpijob_target_write() could name it, else what that would return. */
int mpijob__client_target_check(const struct mpijob_target *target);

/* call.c: requests about targets. */
/*
 * Send a request to a target, for who tries again by himself. `method` and `content_type` as in
 * struct mpijob_request; `body` may be NULL. Returns as mpijob_client_start(), and MPIJOB_ERR_USAGE
 * for a bad target.
 */
int mpijob__client_request_send_once(mpijob_client *client, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    const struct mpijob_callbacks *callbacks, mpijob_call **out);
/* Make findings of an answer that is no success. Its code, or MPIJOB_ERR_NOMEM. */
int mpijob__client_call_report(const mpijob_call *call, const struct mpijob_answer *answer,
    mpijob_diag *diag);
/* As mpijob__client_request_send_once(), with MPIJOB__CALL_* flags. */
int mpijob__client_request_send(mpijob_client *client, const char *method,
    const struct mpijob_target *target, const char *content_type, const mpijob_text *body,
    int flags, const struct mpijob_callbacks *callbacks, mpijob_call **out);

/* delete.c: write the body of a DELETE: what `options` say, and the query of `target`. 0,
 * MPIJOB_ERR_USAGE or MPIJOB_ERR_NOMEM. */
int mpijob__client_delete_write_options(const struct mpijob_delete_options *options,
    const struct mpijob_target *target, mpijob_text *out);

#endif

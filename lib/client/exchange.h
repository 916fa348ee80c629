/* SPDX-License-Identifier: Apache-2.0 */
/* A request and its answer: what a call of the caller and an exchange of a transport consist of. */
#ifndef MPIJOB__CLIENT_EXCHANGE_H
#define MPIJOB__CLIENT_EXCHANGE_H

#include "base/list.h"
#include "base/text.h"

#include <mpijob/client.h>

/* Limit of an answer that is not streamed, and of the body of a failure: the rest is dropped. */
#define MPIJOB__CLIENT_BODY_LIMIT  ((size_t)64 << 20)
#define MPIJOB__CLIENT_ERROR_LIMIT ((size_t)1 << 20)

/* The diagram is in exchange.c. */
enum mpijob__client_exchange_state {
	MPIJOB__CLIENT_EXCHANGE_NEW,
	MPIJOB__CLIENT_EXCHANGE_QUEUED,   /* in the send queue, until its token is due */
	MPIJOB__CLIENT_EXCHANGE_BACKOFF,  /* in the send queue, until the next attempt is due */
	MPIJOB__CLIENT_EXCHANGE_SENT,     /* the transport has it */
	MPIJOB__CLIENT_EXCHANGE_DRAINING, /* the transport ended it; its reader has not read all */
	MPIJOB__CLIENT_EXCHANGE_STOPPING, /* the client stopped it; the transport still has it */
	MPIJOB__CLIENT_EXCHANGE_STOPPED,  /* the client stopped it after the transport ended it */
	MPIJOB__CLIENT_EXCHANGE_CANCELLING, /* the caller cancelled it; the transport still has it
					     */
	MPIJOB__CLIENT_EXCHANGE_CANCELLED,  /* the caller cancelled it; not in the transport */
	MPIJOB__CLIENT_EXCHANGE_DONE        /* the end is reported to the caller */
};

/* Whether the reader of a stream takes data. */
enum mpijob__client_exchange_flow {
	MPIJOB__CLIENT_FLOW_READING, /* bytes are delivered as they arrive; the backlog is empty */
	MPIJOB__CLIENT_FLOW_PAUSED,  /* bytes go to the backlog */
	MPIJOB__CLIENT_FLOW_FLUSHING /* in the send queue: the next poll delivers the backlog */
};

/* A request that can be sent again. `bytes` holds all of it, and is wiped. */
struct mpijob__client_copied_request {
	mpijob_text bytes;
	struct mpijob_request request; /* points into `bytes` */
};

/* One call. A call and an exchange are the same object, seen by the caller and by the transport. */
struct mpijob_exchange {
	mpijob_client *client;
	struct mpijob__base_list link; /* in the client's list of calls */
	enum mpijob__client_exchange_state state;
	struct mpijob_callbacks callbacks;
	struct mpijob__client_copied_request copy; /* empty when it is neither queued nor retried */
	void *slot;                                /* of the transport */
	const char *method;                        /* a constant; "other" for an unknown one */
	int streaming;
	int rate_limited; /* it takes a token */
	int64_t sent_ms;  /* the latest attempt */
	struct {
		int left;            /* attempts that are left */
		int outcome_unknown; /* after an earlier answer: the write may have been done */
	} retry;
	struct {
		enum mpijob__client_exchange_flow flow;
		int transport_paused; /* the last pause or resume sent to the transport */
		mpijob_text backlog;
	} stream;
	struct {
		int status; /* 0: none yet */
		int is_html;
		int64_t retry_after_ms; /* of a header Retry-After in seconds; -1: none */
		mpijob_text body;
		mpijob_text warnings; /* texts of Warning headers, each closed by NUL */
	} answer;
	struct { /* of DRAINING, STOPPING and STOPPED: what will be reported */
		int code;
		const char *message; /* NULL: the text of the code */
		mpijob_text text;
	} end;
	struct { /* in the send queue, ordered by time */
		int64_t due_ms;
		struct mpijob__base_list link;
	} queue;
};

/* The public type of an exchange, for the caller. */
struct mpijob_call {
	struct mpijob_exchange exchange;
};

/* Move to another state. */
void mpijob__client_exchange_enter(mpijob_exchange *exchange,
    enum mpijob__client_exchange_state state);
/* The caller has cancelled it. */
int mpijob__client_exchange_is_cancelled(const mpijob_exchange *exchange);
/* Give it to the transport. 0 or what the transport returned. */
int mpijob__client_exchange_send(mpijob_exchange *exchange);
/* Report the end to the caller, and free. The transport does not have it any more. */
void mpijob__client_exchange_finish(mpijob_exchange *exchange, int code, const char *message);
/* Deliver the backlog, and the end when it has come. The reader takes data again. */
void mpijob__client_exchange_flush(mpijob_exchange *exchange);
/* After the transport's poll: forward pauses, and end what was stopped or cancelled meanwhile. */
void mpijob__client_exchange_sweep(mpijob_client *client);
/* Cancel and free all. The callers are not notified. */
void mpijob__client_exchange_free_all(mpijob_client *client);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a watch, for the files watch*.c and for the client that polls it. */
#ifndef MPIJOB__CLIENT_WATCH_H
#define MPIJOB__CLIENT_WATCH_H

#include "base/list.h"
#include "base/text.h"
#include "client/retry_budget.h"
#include "base/split.h"

#include <mpijob/watch.h>

/* The diagram is in watch.c. */
enum mpijob__client_watch_state {
	MPIJOB__CLIENT_WATCH_WAITING,        /* until `due_ms`; then it enters `upcoming` */
	MPIJOB__CLIENT_WATCH_LISTING,        /* requests a list, or one page of it */
	MPIJOB__CLIENT_WATCH_LISTING_STREAM, /* requests a watch that begins with all objects */
	MPIJOB__CLIENT_WATCH_WATCHING,       /* receives events */
	MPIJOB__CLIENT_WATCH_ENDED,          /* a callback ended it, or the client is freed */
	MPIJOB__CLIENT_WATCH_FREED           /* the caller freed it; a callback still runs */
};

/* How a stream failed. */
enum mpijob__client_watch_failure {
	MPIJOB__CLIENT_WATCH_NO_FAILURE,
	MPIJOB__CLIENT_WATCH_EXPIRED,  /* the version is too old, or too new */
	MPIJOB__CLIENT_WATCH_BUSY,     /* 429 */
	MPIJOB__CLIENT_WATCH_INTERNAL, /* 500, or an ERROR event without a code */
	MPIJOB__CLIENT_WATCH_REJECTED, /* 4xx: the same request would fail again */
	MPIJOB__CLIENT_WATCH_BROKEN    /* another 5xx, or the stream is not JSON */
};

struct mpijob_watch {
	mpijob_client *client;               /* NULL once the client is freed */
	struct mpijob__base_list link;       /* of the client */
	struct mpijob_watch_options options; /* with copies of the strings */
	char *field_selector;                /* NULL: none */
	enum mpijob__client_watch_state state;
	enum mpijob__client_watch_state upcoming; /* LISTING, LISTING_STREAM or WATCHING */
	int64_t due_ms;                           /* when to step; INT64_MAX: after an event */
	mpijob_call *call;
	int64_t started_ms; /* of the request that runs */
	struct mpijob__base_split split;
	mpijob_text version; /* where to resume; empty: nothing was received */
	int callbacks;       /* nested callbacks that run */
	uint64_t random;
	/*
	 * A list was complete once. It never becomes 0 again: while the watch is disconnected, the
	 * caller keeps what it has, and may rely on stale data. mpijob_watch_health_get() says how
	 * old that is.
	 */
	int synced;
	int64_t heard_ms;   /* the last bytes; meaningful once it is synced */
	int new_connection; /* for the next request: the last connection was silent */
	struct mpijob_watch_health health; /* the last view */

	struct {
		int64_t backoff_ms; /* after the next failure */
		int64_t
		    healthy_ms; /* since when requests succeed; INT64_MIN: the last one failed */
		struct mpijob__client_retry_budget budget;
		int hopeless;                           /* the budget is exhausted */
		int32_t code;                           /* of the present failure; 0: none */
		int32_t reported_code, reported_status; /* each failure is reported once */
	} retry;
	struct {                  /* the list that runs */
		mpijob_text page; /* token for the rest */
		int pages;        /* that were read */
		int begun;        /* its beginning was reported */
		int newest;       /* the version is not available: ask for the newest */
		int whole;        /* do not ask for pages */
	} list;
	struct {                        /* the stream that runs */
		int64_t lasts_ms;       /* how long it may stay open */
		int64_t retry_after_ms; /* of an ERROR event */
		enum mpijob__client_watch_failure failure;
		int events;          /* 1 when any came */
		int unordered;       /* the first events have no order: take no version from them */
		int internal_errors; /* streams in a row that ended with INTERNAL */
	} stream;
	struct { /* known properties of the server */
		int no_streamed_lists;
		int pages_from_cache; /* it answers in pages even from its cache */
		int bookmarks;        /* it sends them: no stream is silent for long */
	} server;
};

/* ---- for the client ---- */

/* When to step at the latest; INT64_MAX when only the server can move it on. */
int64_t mpijob__client_watch_due_ms(const mpijob_watch *watch);
/* Start what is due. */
void mpijob__client_watch_step(mpijob_watch *watch);
/* The server answers again: a watch that waits because it was unreachable retries within 0.5 s. */
void mpijob__client_watch_retry_now(mpijob_watch *watch);
/* The client is freed: no callback is called any more. */
void mpijob__client_watch_detach(mpijob_watch *watch);

/* ---- for watch_list.c and watch_stream.c ---- */

/* Move to another state. ENDED and FREED are final. */
void mpijob__client_watch_enter(mpijob_watch *watch, enum mpijob__client_watch_state state,
    int64_t due_ms);
/* 1 in ENDED and FREED. */
int mpijob__client_watch_is_over(const mpijob_watch *watch);
/* Every callback of an exchange is between these two. end: free what was freed meanwhile. */
void mpijob__client_watch_callback_begin(mpijob_watch *watch);
void mpijob__client_watch_callback_end(mpijob_watch *watch);
/* Report that a list begins, once for each. */
void mpijob__client_watch_begin_list(mpijob_watch *watch);
/* Report an object. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_SYNTAX, or MPIJOB_ERR_CANCELLED when the watch
 * is over. */
int mpijob__client_watch_report_object(mpijob_watch *watch, int event,
    const struct mpijob__base_split_object *object, const char *what);
/* Report that a list is complete, and keep its version. Returns as report_object(). */
int mpijob__client_watch_complete_list(mpijob_watch *watch, const char *version);
/* The watch works again: forget the failure. */
void mpijob__client_watch_recovered(mpijob_watch *watch);
/* Report a failure, unless it is the one that was reported last; again when it becomes hopeless. */
void mpijob__client_watch_report_failure(mpijob_watch *watch, const struct mpijob_answer *answer,
    const char *what);
/* The request is over. Wait: not at all; after a failure, and at least so many milliseconds; or
 * shortly, because memory ran out. */
void mpijob__client_watch_continue(mpijob_watch *watch);
void mpijob__client_watch_back_off(mpijob_watch *watch, int64_t at_least_ms);
void mpijob__client_watch_wait_for_memory(mpijob_watch *watch);
uint64_t mpijob__client_watch_random(mpijob_watch *watch);
/* The request that began at `started_ms` succeeded. */
void mpijob__client_watch_mark_healthy(mpijob_watch *watch);
int mpijob__client_watch_set_text(mpijob_text *text, const char *value);
/* Add a pair to a query, which has room for it. Returns the new count of strings. */
size_t mpijob__client_watch_add_query(const char **query, size_t count, const char *name,
    const char *value);
/* Whether the answer says that a version or a list's token is too old, or that a version is too
 * new. */
int mpijob__client_watch_expired(const struct mpijob_answer *answer);
int mpijob__client_watch_too_large(const struct mpijob_answer *answer);
/* Send a GET with these pairs of query and the selectors. 0 or MPIJOB_ERR_*. */
int mpijob__client_watch_send(mpijob_watch *watch, const char *const *query, size_t count,
    int streaming, const struct mpijob_callbacks *callbacks);

#endif

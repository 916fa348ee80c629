/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a watch, for the files watch*.c and for the client that drives it. */
#ifndef MPIJOB__CLIENT_WATCH_H
#define MPIJOB__CLIENT_WATCH_H

#include "base/text.h"
#include "client/retry_budget.h"
#include "client/split.h"

#include <mpijob/watch.h>

enum mpijob__client_watch_state {
	MPIJOB__CLIENT_WATCH_WAITING,        /* until `due_ms` */
	MPIJOB__CLIENT_WATCH_LISTING,        /* a list, or one page of it */
	MPIJOB__CLIENT_WATCH_LISTING_STREAM, /* a watch that begins with what is there */
	MPIJOB__CLIENT_WATCH_WATCHING,
	MPIJOB__CLIENT_WATCH_ENDED /* its owner does not want more */
};

struct mpijob_watch {
	mpijob_client *client;               /* NULL once the client is gone */
	struct mpijob_watch *prev, *next;    /* of the client */
	struct mpijob_watch_options options; /* strings are ours */
	char *field_selector;                /* NULL: none */
	enum mpijob__client_watch_state state;
	mpijob_call *call;
	struct mpijob__client_split split;
	int busy, freed; /* inside of its callbacks; freed there */
	uint64_t dice;

	/* When to go on. */
	int64_t due_ms;
	int64_t started_ms;             /* the request that runs */
	int64_t backoff_ms;             /* of the next failure */
	int64_t healthy_ms;             /* since when all went well; INT64_MIN: it does not */
	int32_t told_code, told_status; /* the failure that was told last; told once */
	int64_t heard_ms;               /* the last sign of life; meaningful once it is synced */
	int32_t trouble; /* the failure that it is recovering from; 0 when all is well */
	struct mpijob__client_retry_budget patience;
	int hopeless; /* the failure that was seen last will hardly get better */

	/* Where to go on. */
	mpijob_text version;
	int need_list;
	int any_version; /* the version cannot be had: ask for the newest */
	int synced;

	/* Lists. */
	mpijob_text page; /* token for the rest of the list that runs */
	int begun;        /* its beginning was told */
	int whole;        /* this list is not asked for in pages */
	int paged;        /* the server answers in pages even from its cache */
	int pages;        /* of the list that runs, so far */

	/* Streamed lists. */
	int streams_refused; /* for good */
	int list_once;       /* the next list is an ordinary one */

	int bookmarks; /* the server sends them: no stream is silent for long */
	/* the next request is not to go over the connection of the last one, which is silent */
	int fresh;

	/* The stream that runs. */
	int64_t lasts_ms;       /* how long it may stay open */
	int64_t retry_after_ms; /* an ERROR event asked to wait */
	int events;             /* 1 when any came */
	int synthetic;          /* what comes first has no order: no version is taken from it */
	int gone;               /* an ERROR event said that the version is too old, or too new */
	int stream_failed;      /* an ERROR event said something else, or the stream is no JSON */
	int relist;             /* ... that going on from here does not cure */
	int internal;           /* ... "internal error" */
	int busy_server;        /* ... "too many requests" */
	int server_errors;      /* streams in a row that ended with "internal error" */
};

/* watch.c */
/* The client's way through its watches. */
mpijob_watch *mpijob__client_watch_next(const mpijob_watch *watch);
/* When to step at the latest; INT64_MAX when only the server can move it on. */
int64_t mpijob__client_watch_due_ms(const mpijob_watch *watch);
/* Start what is due. */
void mpijob__client_watch_step(mpijob_watch *watch);
/*
 * How it is doing, for who reports on it: milliseconds since the server was heard last, or -1
 * before the first list; and the code of the failure that it is recovering from, 0 when all is
 * well.
 */
int64_t mpijob__client_watch_silent_ms(const mpijob_watch *watch);
int mpijob__client_watch_failure_code(const mpijob_watch *watch);
/* The server answers again: who waits because it could not be reached waits no longer. */
void mpijob__client_watch_retry_now(mpijob_watch *watch);
/* The client goes: nothing is told any more. */
void mpijob__client_watch_detach(mpijob_watch *watch);

/* For watch_list.c and watch_stream.c: */
/* Callbacks of the client begin and end so. leave() frees what was freed meanwhile: 1 when it
 * did. */
void mpijob__client_watch_enter(mpijob_watch *watch);
int mpijob__client_watch_leave(mpijob_watch *watch);
/* Tell that a list begins, once for each. */
void mpijob__client_watch_begin_list(mpijob_watch *watch);
/* Tell of an object. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_SYNTAX, or MPIJOB_ERR_CANCELLED when nothing
 * is wanted any more. */
int mpijob__client_watch_report_object(mpijob_watch *watch, int event,
    const struct mpijob__client_split_object *object, const char *what);
/* Tell that a list is complete, and keep its version. Returns as tell(). */
int mpijob__client_watch_complete_list(mpijob_watch *watch, const char *version);
/* It works again: what failed before is forgotten. */
void mpijob__client_watch_recovered(mpijob_watch *watch);
/* A failure is told when it is another one than before, or when hope is lost. */
void mpijob__client_watch_report_failure(mpijob_watch *watch, const struct mpijob_answer *answer,
    const char *what);
/* Nothing runs any more: go on at once; after a failure, and at least so many milliseconds; or
 * shortly. */
void mpijob__client_watch_continue(mpijob_watch *watch);
void mpijob__client_watch_back_off(mpijob_watch *watch, int64_t at_least_ms);
void mpijob__client_watch_wait_for_memory(mpijob_watch *watch);
uint64_t mpijob__client_watch_random(mpijob_watch *watch);
/* What has begun with `started_ms` went well. */
void mpijob__client_watch_mark_healthy(mpijob_watch *watch);
int mpijob__client_watch_set_text(mpijob_text *text, const char *value);
/* Add a pair to a query with room for it; the new count of strings. */
size_t mpijob__client_watch_add_query(const char **query, size_t count, const char *name,
    const char *value);
/* Does the answer say that a version or a list's token is too old, or that a version is too new? */
int mpijob__client_watch_expired(const struct mpijob_answer *answer);
int mpijob__client_watch_too_large(const struct mpijob_answer *answer);
/* Send a GET with these pairs of query and the selectors. 0 or MPIJOB_ERR_*. */
int mpijob__client_watch_send(mpijob_watch *watch, const char *const *query, size_t count,
    int streaming, const struct mpijob_callbacks *callbacks);

/* watch_list.c */
int mpijob__client_watch_start_list(mpijob_watch *watch);

/* watch_stream.c */
/* `initial`: what is there comes first. */
int mpijob__client_watch_start_stream(mpijob_watch *watch, int initial);

#endif

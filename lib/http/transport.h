/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport and its exchanges consist of; shared by the files that move them. */
#ifndef MPIJOB__HTTP_TRANSPORT_H
#define MPIJOB__HTTP_TRANSPORT_H

#include <mpijob/http.h>

#include "http/credentials.h"
#include "http/ring.h"
#include "http/server.h"
#include "http/request_headers.h"

#include <curl/curl.h>

struct mpijob__http_pool;
struct mpijob__http_multi;

/* One exchange. */
struct mpijob__http_call {
	struct mpijob_http *http;
	mpijob_exchange *exchange; /* NULL: nothing may be told any more */
	struct mpijob__http_link all;
	/* among those that wait for credentials, for their turn, or for attention */
	struct mpijob__http_link queue;
	struct mpijob__http_link due; /* among those with a deadline, the soonest first */
	int64_t deadline_ms;
	int64_t limit_ms;
	/* What is asked. */
	char *method;
	char *url;
	char *content_type;
	mpijob__http_secret body;
	int has_body;
	int streaming;
	int fresh;  /* over a new connection */
	int queued; /* waits for its turn */
	struct mpijob__http_request_headers wire;
	/* Under way. */
	struct mpijob__http_multi *lane; /* NULL: not yet, or over */
	CURL *easy;
	uint64_t token_generation;
	uint64_t tls_generation;
	int64_t heard_ms; /* the last bytes, or the start */
	int sent;         /* a request left, or is just leaving */
	int replayed;     /* curl wanted to send a write a second time */
	int packed;       /* the answer may come compressed */
	/* What came. */
	int http2;
	int status;
	int status_told;
	int failure; /* MPIJOB_ERR_* found while curl was calling us */
	const char *failure_text;
	char error[CURL_ERROR_SIZE];
	/* Back-pressure. */
	int paused;
	int stopped;       /* curl was told to stop too */
	mpijob_text *kept; /* what came since; NULL: nothing */
	size_t kept_at;    /* how much of it was told */
	/* Over, but not told while paused. */
	int ended;
	int code;
	char *message;
};

/* Which lane has a socket watched, and for what; lane 0: none. */
struct mpijob__http_watched {
	uint32_t lane;
	uint32_t events;
};

struct mpijob_http {
	mpijob_http_config *config;
	mpijob__http_credentials *credentials;
	struct mpijob__http_server server;
	char *proxy;                   /* NULL: none */
	char *proxy_shown;             /* without its user and password */
	const char *authorities;       /* file of the system's CAs; NULL: libcurl knows it */
	struct curl_slist *connect_to; /* NULL: where the URL says */
	struct curl_slist *headers;
	int64_t connect_timeout_ms;
	int64_t request_timeout_ms;
	int64_t idle_timeout_ms;
	long max_connections;
	int http1;      /* nothing else is offered */
	int http1_met;  /* the server, or something on the way, speaks nothing else */
	int http1_seen; /* and the pools know it */
	int epoll;
	int wake;
	int kicked;    /* our own wake: a call was started */
	int plugin_fd; /* what the credentials are watched by; -1: nothing */
	int polling;
	int woken;
	int broken; /* a lane of some pool is */
	uint64_t told;
	uint32_t last_lane;
	struct mpijob__http_watched *sockets; /* by number */
	size_t socket_count;
	struct mpijob__http_pool *pools; /* the newest first */
	struct mpijob__http_link calls;
	struct mpijob__http_link waiting; /* for credentials */
	struct mpijob__http_link queued;  /* ordinary ones, while curl has as many as it can use */
	size_t ordinary;                  /* how many of those curl has */
	struct mpijob__http_link attention; /* cancelled, or to go on after a pause */
	struct mpijob__http_link deadlines;
};

/* A time as long as curl, and the clock, can count: 24 days at most. */
int64_t mpijob__http_transport_limit(int64_t given_ms);
/* Have a call looked at in this poll, or the next one. */
void mpijob__http_transport_attend(struct mpijob__http_call *call);
/* From now on the time of a call that has a limit counts; nothing happens when it does already. */
void mpijob__http_transport_start_deadline(struct mpijob__http_call *call);

/* Tell that a call has ended, and free it; `message` is taken, or NULL. */
void mpijob__http_transport_end(struct mpijob__http_call *call, int code, char *message);
/* Free a call of which nothing is told any more. */
void mpijob__http_transport_discard(struct mpijob__http_call *call);

/* For open.c: empty rings, the descriptors (0, MPIJOB_ERR_IO), the table of functions. */
void mpijob__http_transport_init(struct mpijob_http *http);
int mpijob__http_transport_watch(struct mpijob_http *http);
void mpijob__http_transport_fill(struct mpijob_transport *transport);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a transport and of its exchanges. */
#ifndef MPIJOB__HTTP_TRANSPORT_H
#define MPIJOB__HTTP_TRANSPORT_H

#include <mpijob/http.h>

#include "base/list.h"
#include "http/credentials.h"
#include "http/server.h"
#include "http/request_headers.h"

#include <curl/curl.h>

struct mpijob__http_pool;
struct mpijob__http_multi;

/* The diagram is in transport.c. */
enum mpijob__http_call_state {
	MPIJOB__HTTP_CALL_CREDENTIALS, /* waits for credentials */
	MPIJOB__HTTP_CALL_QUEUED,      /* waits until curl has fewer ordinary requests */
	MPIJOB__HTTP_CALL_CONNECTING,  /* curl has it */
	MPIJOB__HTTP_CALL_SENT,        /* the request is sent, or is just leaving */
	MPIJOB__HTTP_CALL_RECEIVING,   /* the final status is reported */
	MPIJOB__HTTP_CALL_ENDED,       /* curl is done; its reader has paused */
	MPIJOB__HTTP_CALL_CANCELLED    /* nothing is reported any more; the poll frees it */
};

/* One exchange. */
struct mpijob__http_call {
	struct mpijob_http *http;
	mpijob_exchange *exchange; /* NULL when it is cancelled, and while its end is reported */
	enum mpijob__http_call_state state;
	struct mpijob__base_list all;
	struct mpijob__base_list queue; /* in http->waiting, queued or attention */
	struct mpijob__http_request_headers headers;
	struct {
		char *method;
		char *url;
		char *content_type;
		mpijob__http_secret body;
		int has_body;
		int streaming;
		int new_connection;
		int compressed; /* the answer may be */
	} request;
	struct {
		struct mpijob__base_list link; /* in http->deadlines, the soonest first */
		int64_t at_ms;
		int64_t limit_ms; /* 0: none */
	} deadline;
	struct {                                  /* from CONNECTING on */
		struct mpijob__http_multi *multi; /* NULL when curl does not have the call */
		CURL *easy;
		uint64_t token_generation;
		uint64_t tls_generation;
		int64_t heard_ms; /* the last bytes, or the start */
		int replayed;     /* curl tried to send a write a second time */
		int http2;
		char error[CURL_ERROR_SIZE];
	} transfer;
	int status;
	struct {          /* found while curl called us */
		int code; /* 0 or MPIJOB_ERR_* */
		const char *text;
	} failure;
	struct {
		int paused;
		int curl_paused;
		mpijob_text *kept; /* what came since; NULL: nothing */
		size_t kept_at;    /* how much of it is reported */
	} flow;
	struct { /* of ENDED: what will be reported */
		int code;
		char *message;
	} end;
};

/* Which multi handle waits for a socket, and for what; multi 0: none. */
struct mpijob__http_watched {
	uint32_t multi;
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
	int http1;      /* offer HTTP/1.1 only */
	int http1_met;  /* the server, or a proxy, speaks HTTP/1.1 only */
	int http1_seen; /* and the pools know it */
	int epoll;
	int wake;
	int kicked;    /* the wake is our own: a call was started */
	int plugin_fd; /* the descriptor of the credentials; -1: none */
	int polling;
	int woken;
	int broken;        /* a multi handle of some pool is */
	uint64_t reported; /* counts what was reported to the client */
	uint32_t last_multi;
	struct mpijob__http_watched *sockets; /* by number */
	size_t socket_count;
	struct mpijob__http_pool *pools; /* the newest first */
	struct mpijob__base_list calls;
	struct mpijob__base_list waiting;   /* for credentials */
	struct mpijob__base_list queued;    /* requests that do not stream, while curl has enough */
	size_t ordinary;                    /* how many of those curl has */
	struct mpijob__base_list attention; /* cancelled, or to be resumed after a pause */
	struct mpijob__base_list deadlines;
};

/* A time as long as curl, and the clock, can count: 24 days at most. */
int64_t mpijob__http_transport_limit(int64_t given_ms);
/* Move to another state. */
void mpijob__http_transport_enter(struct mpijob__http_call *call,
    enum mpijob__http_call_state state);
/* Let this poll, or the next one, cancel the call or resume it after a pause. */
void mpijob__http_transport_attend(struct mpijob__http_call *call);
/* Start the clock of a call that has a time limit; nothing happens when it runs already. */
void mpijob__http_transport_start_deadline(struct mpijob__http_call *call);

/* Report the end of a call, and free it. Takes `message`, which may be NULL. */
void mpijob__http_transport_end(struct mpijob__http_call *call, int code, char *message);
/* Free a call without a report. */
void mpijob__http_transport_discard(struct mpijob__http_call *call);

/* For open.c: empty rings, the descriptors (0, MPIJOB_ERR_IO), the table of functions. */
void mpijob__http_transport_init(struct mpijob_http *http);
int mpijob__http_transport_watch(struct mpijob_http *http);
void mpijob__http_transport_fill(struct mpijob_transport *transport);

#endif

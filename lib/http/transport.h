/* SPDX-License-Identifier: Apache-2.0 */
/* The structs of a transport and its exchanges, shared by the files of this directory. */
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
	MPIJOB__HTTP_CALL_QUEUED,      /* waits for a free slot, see admission.c */
	MPIJOB__HTTP_CALL_CONNECTING,  /* curl has it */
	MPIJOB__HTTP_CALL_SENT,        /* curl sends the request, or has sent it */
	MPIJOB__HTTP_CALL_RECEIVING,   /* the final status is reported */
	MPIJOB__HTTP_CALL_ENDED,       /* curl is done; the reader has paused */
	MPIJOB__HTTP_CALL_CANCELLED    /* reports nothing more; the poll frees it */
};

/* One exchange. */
struct mpijob__http_call {
	struct mpijob_http *http;
	mpijob_exchange *exchange; /* NULL after a cancel, and while the end is reported */
	enum mpijob__http_call_state state;
	struct mpijob__base_list all;
	struct mpijob__base_list queue; /* in http->waiting, queued or ready */
	struct mpijob__http_request_headers headers;
	struct {
		char *method;
		char *url;
		char *content_type;
		mpijob__http_secret body;
		int has_body;
		int streaming;
		int new_connection;
		int compressed; /* accept a compressed answer */
	} request;
	struct {
		struct mpijob__base_list link; /* in http->deadlines, the earliest first */
		int64_t at_ms;
		int64_t limit_ms; /* 0: no deadline */
	} deadline;
	struct {                                  /* from CONNECTING on */
		struct mpijob__http_multi *multi; /* NULL when curl does not have the call */
		CURL *easy;
		uint64_t token_generation;
		uint64_t tls_generation;
		int64_t last_data_ms; /* monotonic: when data arrived last, or the start */
		int replayed;         /* curl tried to send a write a second time */
		int http2;
		char error[CURL_ERROR_SIZE];
	} transfer;
	int status;
	struct {          /* set inside a callback of curl */
		int code; /* 0 or MPIJOB_ERR_* */
		const char *text;
	} failure;
	struct {
		int paused;
		int curl_paused;
		mpijob_text *kept; /* data that arrived during the pause; may be NULL */
		size_t kept_at;    /* how many bytes of it are reported */
	} flow;
	struct { /* in ENDED: the result to report */
		int code;
		char *message;
	} end;
};

/* Which multi handle uses a socket, and its epoll events; multi 0: none uses it. */
struct mpijob__http_socket {
	uint32_t multi;
	uint32_t events;
};

struct mpijob_http {
	mpijob_http_config *config;
	mpijob__http_credentials *credentials;
	struct mpijob__http_server server;
	char *proxy;                   /* NULL: none */
	char *proxy_shown;             /* without user and password, for messages */
	const char *ca_bundle;         /* file of the system's CAs; NULL: libcurl knows it */
	struct curl_slist *connect_to; /* NULL: connect to the host of the URL */
	struct curl_slist *headers;
	int64_t connect_timeout_ms;
	int64_t request_timeout_ms;
	int64_t idle_timeout_ms;
	long max_connections;
	int http1;          /* offer HTTP/1.1 only */
	int http1_detected; /* the server, or a proxy, speaks HTTP/1.1 only */
	int http1_applied;  /* the pools are adjusted to it */
	int epoll;
	int wake;
	int woken_by_start; /* `wake` was signalled because a call was started */
	int plugin_fd;      /* the plugin's descriptor that epoll watches, or -1 */
	int polling;
	int woken;
	int broken;        /* a multi handle of some pool is broken */
	uint64_t reported; /* number of reports to the client */
	uint32_t last_multi;
	struct mpijob__http_socket *sockets; /* by descriptor number */
	size_t socket_count;
	struct mpijob__http_pool *pools; /* the newest TLS generation first */
	struct mpijob__base_list calls;
	struct mpijob__base_list waiting; /* for credentials */
	struct mpijob__base_list queued;  /* requests that do not stream, for a free slot */
	size_t non_streaming;             /* how many of these curl has */
	struct mpijob__base_list ready;   /* to free after a cancel, or to resume after a pause */
	struct mpijob__base_list deadlines;
};

/* Limit a time to 24 days, the maximum of curl. */
int64_t mpijob__http_transport_clamp_ms(int64_t given_ms);
/* Change the state of a call. */
void mpijob__http_transport_set_state(struct mpijob__http_call *call,
    enum mpijob__http_call_state state);
/* Let this poll or the next one resume the call after a pause, or free it after a cancel. */
void mpijob__http_transport_mark_ready(struct mpijob__http_call *call);
/* Start the deadline of a call, unless it has none or it is running. */
void mpijob__http_transport_start_deadline(struct mpijob__http_call *call);

/* Report the end of a call and free it. Takes ownership of `message`, which may be NULL. */
void mpijob__http_transport_end_call(struct mpijob__http_call *call, int code, char *message);
/* Free a call without a report. */
void mpijob__http_transport_free_call(struct mpijob__http_call *call);

/* For open.c: initialise the lists; open epoll and the wake descriptor (0, MPIJOB_ERR_IO); fill in
 * the functions. */
void mpijob__http_transport_init(struct mpijob_http *http);
int mpijob__http_transport_open_epoll(struct mpijob_http *http);
void mpijob__http_transport_fill(struct mpijob_transport *transport);

#endif

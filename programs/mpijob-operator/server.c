/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves pages with libmicrohttpd in the event loop of the daemon, without a thread. Limits protect
 * it from slow and hostile clients: connections in total and per address, memory per request, one
 * request per connection, the age of a connection, and the rate of expensive pages.
 */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "base/list.h"
#include "log.h"

#define MAX_CONNECTIONS 64
/* with more connections, a new one closes the oldest, so that probes always connect */
#define CLOSE_OLDEST_ABOVE 48
#define MAX_PER_ADDRESS    16
#define REQUEST_MEMORY     (16 << 10) /* headers included */
#define IDLE_S             10
#define MAX_AGE_MS         30000
#define SWEEP_MS           1000
#define MAX_HEAVY          50 /* expensive pages per second */

/* A connection; the list is ordered by age. `fd` -1: it is being closed. */
struct peer {
	struct mpijob__base_list link;
	struct server *server;
	int fd;
	int64_t end_ms;
};

struct server {
	struct MHD_Daemon *daemon;
	const struct server_page *pages;
	void *user;
	struct mpijob__base_list connections; /* the oldest first */
	size_t peers;
	int64_t second; /* the second to which `heavy` refers */
	unsigned heavy;
	int epoll;
};

/* ---- connections ---- */

static void peer_remove(struct peer *peer)
{
	struct server *server = peer->server;

	mpijob__base_list_remove(&peer->link);
	server->peers--;
	free(peer);
}

static void peer_close(struct peer *peer)
{
	if (peer->fd >= 0)
		(void)shutdown(peer->fd, SHUT_RDWR);
	peer->fd = -1;
}

/* Close the oldest connection that is not being closed. */
static void close_oldest(struct server *server)
{
	const struct mpijob__base_list *link = server->connections.next;

	while (link->owner && ((struct peer *)link->owner)->fd < 0)
		link = link->next;
	if (link->owner)
		peer_close(link->owner);
}

static void peer_add(struct server *server, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = calloc(1, sizeof(*peer));

	*context = peer;
	if (!peer) {
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	if (++server->peers > CLOSE_OLDEST_ABOVE)
		close_oldest(server);
	peer->server = server;
	peer->fd = info ? info->connect_fd : -1;
	peer->end_ms = mpijob__base_clock_monotonic_ms() + MAX_AGE_MS;
	mpijob__base_list_insert(&server->connections, &peer->link, peer);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		peer_add(user, connection, context);
	else if (*context)
		peer_remove(*context);
}

/* Close connections that send too slowly. */
static void close_slow(struct server *server)
{
	const struct mpijob__base_list *link = server->connections.next;
	int64_t now = link->owner ? mpijob__base_clock_monotonic_ms() : 0;

	for (; link->owner && ((struct peer *)link->owner)->end_ms <= now; link = link->next)
		peer_close(link->owner);
}

/* ---- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
    const char *text, size_t len)
{
	/* MUST_COPY does not change the text. */
	struct MHD_Response *response =
	    MHD_create_response_from_buffer(len, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);

	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
    const char *text)
{
	return answer(connection, status, "text/plain; charset=utf-8", text, strlen(text));
}

static int exceeds_rate(struct server *server)
{
	int64_t second = mpijob__base_clock_monotonic_ms() / 1000;

	if (second != server->second)
		server->heavy = 0;
	server->second = second;
	return ++server->heavy > MAX_HEAVY;
}

static enum MHD_Result serve_page(struct server *server, struct MHD_Connection *connection,
    const struct server_page *page)
{
	if (page->heavy && exceeds_rate(server))
		return answer_text(connection, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests\n");

	mpijob_text *text = mpijob_text_new();
	int verbose = MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "verbose", 7,
			  NULL, NULL) == MHD_YES;
	int status = text ? page->write(server->user, verbose, text) : MPIJOB_ERR_NOMEM;
	enum MHD_Result result;

	if (status > 0)
		result = answer(connection, (unsigned)status, page->type, mpijob_text_data(text),
		    mpijob_text_len(text));
	else
		result = answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	mpijob_text_free(text);
	return result;
}

/* The context of the connection is its struct peer; that of the request only marks the first call.
 */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *upload, size_t *upload_len, void **request)
{
	static const char seen;
	struct server *server = user;

	(void)version;
	(void)upload;
	*upload_len = 0;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (!*request) { /* the first call: only the header has arrived */
		*request = (void *)(uintptr_t)&seen;
		return MHD_YES;
	}
	for (const struct server_page *page = server->pages; page->path; page++)
		if (strcmp(page->path, path) == 0)
			return serve_page(server, connection, page);
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "404 page not found\n");
}

/* ---- create and free ---- */

struct server *server_new(int fd, const struct server_page *pages, void *user)
{
	struct server *server = calloc(1, sizeof(*server));
	const union MHD_DaemonInfo *info = NULL;

	if (server) {
		mpijob__base_list_init(&server->connections);
		server->pages = pages;
		server->user = user;
		server->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, server,
		    MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		    (unsigned)MAX_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		    (unsigned)MAX_PER_ADDRESS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		    (size_t)REQUEST_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		    MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		    MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	}
	if (server && server->daemon)
		info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (info) {
		server->epoll = info->epoll_fd;
		return server;
	}
	log_line(MPIJOB_SEVERITY_ERROR, "cannot serve over HTTP");
	if (!server || !server->daemon)
		(void)close(fd);
	server_free(server);
	return NULL;
}

int server_fd(const struct server *server)
{
	return server->epoll;
}

int64_t server_due_ms(struct server *server)
{
	MHD_UNSIGNED_LONG_LONG wait;
	int64_t due = mpijob__base_list_first(&server->connections)
			  ? mpijob__base_clock_monotonic_ms() + SWEEP_MS
			  : -1;

	if (MHD_get_timeout(server->daemon, &wait) == MHD_YES && (due < 0 || wait < SWEEP_MS))
		due = mpijob__base_clock_monotonic_ms() +
		      (int64_t)(wait < SWEEP_MS ? wait : SWEEP_MS);
	return due;
}

void server_run(struct server *server)
{
	close_slow(server);
	(void)MHD_run(server->daemon);
}

void server_free(struct server *server)
{
	if (!server)
		return;
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	free(server);
}

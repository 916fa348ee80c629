/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves pages with libmicrohttpd, in the event loop of the daemon, without a thread. Limits
 * protect it from slow and hostile clients: the connections in total and of one address, the memory
 * of a request, one request per connection, the life of a connection, and the rate of expensive
 * pages.
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

#define MOST_CONNECTIONS 64
/* from here on a new connection closes the oldest, so that probes always connect */
#define CROWDED         48
#define MOST_OF_ADDRESS 16
#define REQUEST_MEMORY  (16 << 10) /* headers included */
#define IDLE_S          10
#define LIFE_MS         30000
#define SWEEP_MS        1000
#define MOST_HEAVY      50 /* heavy pages a second */

/* A connection; the list is ordered by age. */
struct visitor {
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
	size_t visitors;
	int64_t second; /* in which `heavy` pages were written */
	unsigned heavy;
	int epoll;
};

/* ---- connections ---- */

static void leave(struct visitor *visitor)
{
	struct server *server = visitor->server;

	mpijob__base_list_remove(&visitor->link);
	server->visitors--;
	free(visitor);
}

static void show_out(struct visitor *visitor)
{
	if (visitor->fd >= 0)
		(void)shutdown(visitor->fd, SHUT_RDWR);
	visitor->fd = -1;
}

/* The oldest connection that is not being closed. */
static void make_room(struct server *server)
{
	const struct mpijob__base_list *link = server->connections.next;

	while (link->owner && ((struct visitor *)link->owner)->fd < 0)
		link = link->next;
	if (link->owner)
		show_out(link->owner);
}

static void enter(struct server *server, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct visitor *visitor = calloc(1, sizeof(*visitor));

	*context = visitor;
	if (!visitor) {
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	if (++server->visitors > CROWDED)
		make_room(server);
	visitor->server = server;
	visitor->fd = info ? info->connect_fd : -1;
	visitor->end_ms = mpijob__base_clock_monotonic_ms() + LIFE_MS;
	mpijob__base_list_insert(&server->connections, &visitor->link, visitor);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		enter(user, connection, context);
	else if (*context)
		leave(*context);
}

/* Close connections that send too slowly. */
static void sweep(struct server *server)
{
	const struct mpijob__base_list *link = server->connections.next;
	int64_t now = link->owner ? mpijob__base_clock_monotonic_ms() : 0;

	for (; link->owner && ((struct visitor *)link->owner)->end_ms <= now; link = link->next)
		show_out(link->owner);
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

static enum MHD_Result plain(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return answer(connection, status, "text/plain; charset=utf-8", text, strlen(text));
}

static int is_too_much(struct server *server)
{
	int64_t second = mpijob__base_clock_monotonic_ms() / 1000;

	if (second != server->second)
		server->heavy = 0;
	server->second = second;
	return ++server->heavy > MOST_HEAVY;
}

static enum MHD_Result show(struct server *server, struct MHD_Connection *connection,
    const struct server_page *page)
{
	if (page->heavy && is_too_much(server))
		return plain(connection, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests\n");

	mpijob_text *text = mpijob_text_new();
	int verbose = MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "verbose", 7,
			  NULL, NULL) == MHD_YES;
	int status = text ? page->write(server->user, verbose, text) : MPIJOB_ERR_NOMEM;
	enum MHD_Result result;

	if (status > 0)
		result = answer(connection, (unsigned)status, page->type, mpijob_text_data(text),
		    mpijob_text_len(text));
	else
		result = plain(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	mpijob_text_free(text);
	return result;
}

/* The visitor is the context of the connection; that of the request stays unused. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *upload, size_t *upload_len, void **request)
{
	static const char seen;
	struct server *server = user;

	(void)version;
	(void)upload;
	*upload_len = 0;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return plain(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (!*request) { /* with a body it is not over yet */
		*request = (void *)(uintptr_t)&seen;
		return MHD_YES;
	}
	for (const struct server_page *page = server->pages; page->path; page++)
		if (strcmp(page->path, path) == 0)
			return show(server, connection, page);
	return plain(connection, MHD_HTTP_NOT_FOUND, "404 page not found\n");
}

/* ---- life ---- */

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
		    (unsigned)MOST_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		    (unsigned)MOST_OF_ADDRESS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
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
	sweep(server);
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

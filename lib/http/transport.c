/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of exchanges: they wait for credentials, go to curl, are told about in poll, and end once. Nothing is ever
 * told outside of poll, and nothing is given to curl or taken from it while curl is calling us: a callback that starts,
 * pauses or cancels only leaves a mark, and the same poll acts on it. Deadlines are kept here, because curl does not
 * count the time in which a transfer waits for a connection.
 */
#include "http/transport.h"

#include "http/failure.h"
#include "http/open.h"
#include "http/pool.h"
#include "http/proxy.h"
#include "http/receive.h"
#include "http/report.h"
#include "http/ring.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 64
/*
 * A server takes 100 to 250 exchanges at a time over each connection, of which a quarter is for ordinary ones. Curl's
 * work for one exchange grows with the number of those that only wait, and so does memory: so they wait here.
 */
#define ORDINARY_LEAST   ((size_t)512)
#define FOR_A_CONNECTION ((size_t)64)
/* What an event is about; sockets of curl have other numbers, see pool.c. */
#define EVENT_WAKE   UINT64_MAX
#define EVENT_PLUGIN (UINT64_MAX - 1)

int64_t mpijob__transport_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t mpijob__transport_limit(int64_t given_ms)
{
	return given_ms > INT32_MAX ? INT32_MAX : given_ms;
}

static int64_t sooner(int64_t a, int64_t b)
{
	if (a < 0)
		return b;
	return b < 0 || a < b ? a : b;
}

void mpijob__transport_attend(struct call *call)
{
	/* Who waits for credentials is looked at anyway. */
	if (!mpijob__ring_has(&call->queue))
		mpijob__ring_insert(&call->http->attention, &call->queue);
}

/* Calls of one timeout, most of all, come in the order of their deadlines. */
static void set_deadline(struct call *call, int64_t limit_ms)
{
	struct link *place = &call->http->deadlines;

	call->limit_ms = limit_ms;
	call->deadline_ms = mpijob__transport_now() + limit_ms;
	while (place->prev->call && place->prev->call->deadline_ms > call->deadline_ms)
		place = place->prev;
	mpijob__ring_insert(place, &call->due);
}

/* Ends. */

static void discard(struct call *call)
{
	mpijob__ring_leave(&call->all);
	mpijob__ring_leave(&call->queue);
	mpijob__ring_leave(&call->due);
	mpijob__pool_stop(call);
	mpijob__wire_clear(&call->wire);
	mpijob__secret_clear(&call->body);
	mpijob_text_free(call->kept);
	free(call->message);
	free(call->url);
	free(call->content_type);
	free(call->method);
	free(call);
}

static void end(struct call *call, int code, const char *message)
{
	mpijob_exchange *exchange = call->exchange;

	call->exchange = NULL;
	if (exchange) {
		call->http->told++;
		mpijob_exchange_set_slot(exchange, NULL);
		mpijob_exchange_end(exchange, code, message ? message : code ? mpijob_error_text(code) : NULL);
	}
	discard(call);
}

/* `message` is taken. */
static void end_with(struct call *call, int code, char *message)
{
	free(call->message);
	call->message = message;
	end(call, code, message);
}

static void end_failed(struct call *call)
{
	char *message = NULL;
	int code = call->failure;

	if (call->failure_text)
		message = mpijob__report_format("%s: %s", call->http->server.authority, call->failure_text);
	end_with(call, code, message);
}

/* Credentials. */

/*
 * After every call that may have changed the descriptor; at once, before another one gets its number. One that cannot
 * be watched is looked at when the plugin is due.
 */
static void follow_plugin(struct mpijob_http *http)
{
	int fd = mpijob__credentials_fd(http->credentials);
	struct epoll_event event = { 0 };

	if (http->plugin_fd >= 0)
		epoll_ctl(http->epoll, EPOLL_CTL_DEL, http->plugin_fd, &event);
	http->plugin_fd = -1;
	if (fd < 0)
		return;
	event.events = EPOLLIN;
	event.data.u64 = EVENT_PLUGIN;
	if (epoll_ctl(http->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		http->plugin_fd = fd;
}

static void step_plugin(struct mpijob_http *http, int64_t now_ms)
{
	int64_t due = mpijob__credentials_due_ms(http->credentials);

	if (http->plugin_fd < 0 && (due < 0 || due > now_ms))
		return;
	mpijob__credentials_step(http->credentials, now_ms);
	follow_plugin(http);
}

/* 1: go on, with *identity; 0: wait; negative: the error. No credentials go, or are even looked for, over plain HTTP.
 */
static int prepare(struct mpijob_http *http, const struct mpijob__identity **identity, const char **message)
{
	static const struct mpijob__identity nobody = { 0 };
	int ready = 1;

	*identity = &nobody;
	if (!http->server.tls)
		return 1;
	ready = mpijob__credentials_prepare(http->credentials, mpijob__transport_now(), message);
	follow_plugin(http);
	if (ready == 1)
		*identity = mpijob__credentials_identity(http->credentials);
	return ready;
}

/* Beginnings. */

static void send_call(struct call *call, const struct mpijob__identity *identity)
{
	struct mpijob_http *http = call->http;
	struct curl_slist *headers = NULL;
	struct pool *pool = NULL;
	char *message = NULL;
	int error = mpijob__pool_find(http, identity, &pool, &message);

	call->token_generation = identity->token_generation;
	call->tls_generation = identity->tls_generation;
	if (!error)
		error = mpijob__wire_fill(&call->wire, identity->authorization, call->content_type, http->headers,
					  &headers);
	if (!error)
		error = mpijob__pool_start(pool, call, headers);
	if (error)
		end_with(call, error, message);
}

/* How many more ordinary calls curl may have. */
static size_t room_of(const struct mpijob_http *http)
{
	size_t most = FOR_A_CONNECTION * (size_t)http->max_connections;

	if (most < ORDINARY_LEAST)
		most = ORDINARY_LEAST;
	return http->ordinary < most ? most - http->ordinary : 0;
}

/* Whether there are some whose turn has come. While a plugin runs nobody's has. */
static int has_turns(const struct mpijob_http *http)
{
	return http->queued.next->call && room_of(http) && mpijob__credentials_due_ms(http->credentials) < 0;
}

/* As many as there is room for go on, in front of those that came later. */
static void take_turns(struct mpijob_http *http)
{
	struct link *place = http->waiting.next;
	size_t room = has_turns(http) ? room_of(http) : 0;
	struct call *call;

	for (; room > 0 && (call = http->queued.next->call) != NULL; room--) {
		mpijob__ring_leave(&call->queue);
		mpijob__ring_insert(place, &call->queue);
		call->queued = 0;
	}
}

static void wait_for_turn(struct call *call)
{
	mpijob__ring_leave(&call->queue);
	mpijob__ring_insert(&call->http->queued, &call->queue);
	call->queued = 1;
}

/* Those that wait when this begins; callbacks may add more. */
static void admit(struct mpijob_http *http)
{
	const struct mpijob__identity *identity = NULL;
	struct link *last;

	take_turns(http);
	last = http->waiting.prev;

	while (last->call && http->waiting.next->call) {
		struct call *call = http->waiting.next->call;
		int is_last = http->waiting.next == last;
		const char *why = NULL;
		int is_late = call->exchange && !call->streaming && !room_of(http);
		int ready = call->exchange && !is_late ? prepare(http, &identity, &why) : 1;

		if (ready == 0)
			return;
		mpijob__ring_leave(&call->queue);
		if (is_late)
			wait_for_turn(call);
		else if (!call->exchange)
			discard(call);
		else if (ready > 0)
			send_call(call, identity);
		else
			end_with(call, ready, why ? strdup(why) : NULL);
		if (is_last)
			return;
	}
}

/* Answers. */

static void describe(struct call *call, CURLcode code)
{
	struct mpijob_http *http = call->http;
	struct mpijob__failure failure = { 0 };

	failure.code = code;
	failure.text = call->error;
	curl_easy_getinfo(call->easy, CURLINFO_SSL_VERIFYRESULT, &failure.verify_result);
	curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &failure.os_errno);
	curl_easy_getinfo(call->easy, CURLINFO_HTTP_CONNECTCODE, &failure.connect_status);
	failure.server = http->server.authority;
	failure.proxy = http->proxy_shown;
	failure.tls = http->server.tls;
	failure.has_ca = http->config->ca.file || http->config->ca.data.len;
	failure.replayed = call->replayed;
	failure.connect_timeout_ms = http->connect_timeout_ms;
	failure.idle_timeout_ms = http->idle_timeout_ms;
	call->code = mpijob__failure_describe(&failure, &call->message);
	/* One that was made and then reset is worth another try of a read. */
	if (call->code == MPIJOB_ERR_IO && !call->sent && failure.os_errno != ECONNRESET)
		call->code = MPIJOB_ERR_UNREACHABLE;
}

static void finish_call(struct call *call, CURLcode code)
{
	struct mpijob_http *http = call->http;

	if (!call->exchange) {
		discard(call);
		return;
	}
	if (code != CURLE_OK && !call->failure)
		describe(call, code);
	mpijob__pool_stop(call);
	if (call->status == 401) {
		mpijob__credentials_refused(http->credentials, call->token_generation, call->tls_generation);
		follow_plugin(http);
	}
	if (call->failure) {
		end_failed(call);
	} else if (call->paused || call->kept) {
		call->ended = 1;
		mpijob__ring_leave(&call->due);
	} else {
		end(call, call->code, call->message);
	}
}

static void finish(struct mpijob_http *http)
{
	struct call *call;
	CURLcode code = CURLE_OK;

	while ((call = mpijob__pool_done(http, &code)) != NULL)
		finish_call(call, code);
}

/* What curl held back comes at once; if that fails, bytes are lost. */
static void let_go_on(struct call *call)
{
	call->stopped = 0;
	if (call->easy && curl_easy_pause(call->easy, CURLPAUSE_CONT) && call->exchange && !call->failure)
		call->failure = MPIJOB_ERR_NOMEM;
}

static void resume(struct call *call)
{
	mpijob__receive_kept(call);
	if (call->exchange && !call->paused && call->stopped)
		let_go_on(call);
	if (!call->exchange)
		discard(call);
	else if (call->failure)
		end_failed(call);
	else if (call->ended && !call->paused && !call->kept)
		end(call, call->code, call->message);
}

/* Cancelled ones go, paused ones go on. Callbacks may bring one here again: then it comes next. */
static void look_after(struct mpijob_http *http)
{
	struct call *call;

	while ((call = http->attention.next->call) != NULL) {
		mpijob__ring_leave(&call->queue);
		resume(call);
	}
}

static void expire(struct mpijob_http *http, int64_t now_ms)
{
	struct call *call;

	while ((call = http->deadlines.next->call) != NULL && call->deadline_ms <= now_ms) {
		long long limit = (long long)call->limit_ms;
		const char *server = http->server.authority;
		char *message;

		if (mpijob__ring_has(&call->queue) && !call->lane && !call->queued)
			message = mpijob__report_format("%s: the credentials were not there within %lld ms", server,
							limit);
		else if (!call->sent)
			message = mpijob__report_format("%s: no connection was free within %lld ms", server, limit);
		else
			message = mpijob__report_format("%s: no %s within %lld ms", server,
							call->status_told ? "whole answer" : "answer", limit);
		end_with(call, MPIJOB_ERR_TIMEOUT, message);
	}
}

/* Curl cannot go on with them; with a new pool the next calls can. */
static void end_broken(struct mpijob_http *http)
{
	if (!http->broken)
		return;
	http->broken = 0;
	for (struct link *link = http->calls.next; link->call; link = link->next) {
		int error = mpijob__pool_broken(link->call);

		if (!error)
			continue;
		link->call->failure = error;
		if (error == MPIJOB_ERR_IO)
			link->call->failure_text = "no more descriptors can be watched";
		mpijob__transport_attend(link->call);
	}
}

/* Poll. */

static void turn(struct mpijob_http *http)
{
	int64_t now = mpijob__transport_now();

	step_plugin(http, now);
	admit(http);
	look_after(http);
	mpijob__pool_timers(http, now);
	finish(http);
	expire(http, now);
	end_broken(http);
	look_after(http);
	if (http->http1_met && !http->http1_seen)
		mpijob__pool_unbind(http);
	mpijob__pool_retire(http);
}

static int64_t due(const struct mpijob_http *http)
{
	int64_t due = mpijob__pool_due(http);
	int64_t plugin = mpijob__credentials_due_ms(http->credentials);

	/* Calls that wait while a plugin runs are its business. */
	if (http->attention.next->call || (http->waiting.next->call && http->plugin_fd < 0 && plugin < 0) ||
	    has_turns(http))
		return 0;
	due = sooner(due, http->deadlines.next->call ? http->deadlines.next->call->deadline_ms : -1);
	return sooner(due, plugin);
}

static int64_t wait_ms(const struct mpijob_http *http, int64_t end_ms)
{
	int64_t until = sooner(due(http), end_ms);
	int64_t wait;

	if (until < 0)
		return -1;
	wait = until - mpijob__transport_now();
	if (wait < 0)
		return 0;
	return wait > INT_MAX ? INT_MAX : wait;
}

static void drain_wake(struct mpijob_http *http)
{
	uint64_t count = 0;

	if (read(http->wake, &count, sizeof(count)) == (ssize_t)sizeof(count) && count > (http->kicked ? 1u : 0u))
		http->woken = 1;
	http->kicked = 0;
}

static int wait_for_events(struct mpijob_http *http, int64_t timeout_ms)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(http->epoll, events, EVENTS, (int)timeout_ms);

	if (count < 0)
		return errno == EINTR ? 0 : MPIJOB_ERR_IO;
	for (int i = 0; i < count; i++) {
		if (events[i].data.u64 == EVENT_WAKE)
			drain_wake(http);
		else if (events[i].data.u64 != EVENT_PLUGIN)
			mpijob__pool_event(http, events[i].data.u64, events[i].events);
	}
	return 0;
}

static int poll_http(void *self, int timeout_ms)
{
	struct mpijob_http *http = self;
	int64_t end_ms = timeout_ms < 0 ? -1 : mpijob__transport_now() + timeout_ms;
	uint64_t told = http->told;
	int error = 0;

	http->polling = 1;
	http->woken = 0;
	turn(http);
	while (!error) {
		error = wait_for_events(http, http->told != told ? 0 : wait_ms(http, end_ms));
		if (error)
			break;
		turn(http);
		if (http->told != told || http->woken || (end_ms >= 0 && mpijob__transport_now() >= end_ms))
			break;
	}
	http->polling = 0;
	return error;
}

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	const struct mpijob_http *http = self;

	*fd = http->epoll;
	*deadline_ms = due(http);
	return 0;
}

static void ring(struct mpijob_http *http)
{
	uint64_t one = 1;
	ssize_t written;

	do
		written = write(http->wake, &one, sizeof(one));
	while (written < 0 && errno == EINTR);
}

static void wake(void *self)
{
	ring(self);
}

/* For a host whose loop is on its way to wait already. */
static void kick(struct mpijob_http *http)
{
	if (http->polling || http->kicked)
		return;
	http->kicked = 1;
	ring(http);
}

/* Exchanges. */

static int copy_request(struct call *call, const struct mpijob_request *request)
{
	const char *base = call->http->server.base;

	call->method = strdup(request->method);
	call->url = mpijob__report_format("%s%s", base, request->path);
	if (!call->method || !call->url)
		return MPIJOB_ERR_NOMEM;
	if (request->content_type) {
		call->content_type = strdup(request->content_type);
		if (!call->content_type)
			return MPIJOB_ERR_NOMEM;
	}
	call->streaming = request->streaming != 0;
	call->packed = !call->streaming && strcmp(call->method, "GET") == 0;
	call->has_body = request->body != NULL;
	return request->body ? mpijob__secret_set(&call->body, request->body, request->body_len) : 0;
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct mpijob_http *http = self;
	struct call *call;

	if (!request->method || !request->path || !mpijob__wire_path_ok(request->path) ||
	    !mpijob__wire_word_ok(request->method) || (!request->body && request->body_len))
		return MPIJOB_ERR_USAGE;
	call = calloc(1, sizeof(*call));
	if (!call)
		return MPIJOB_ERR_NOMEM;
	call->http = http;
	call->exchange = exchange;
	call->all.call = call->queue.call = call->due.call = call;
	if (copy_request(call, request)) {
		discard(call);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob__ring_insert(&http->calls, &call->all);
	mpijob__ring_insert(&http->waiting, &call->queue);
	if (!call->streaming)
		set_deadline(call, request->timeout_ms > 0 ? mpijob__transport_limit(request->timeout_ms)
							   : http->request_timeout_ms);
	mpijob_exchange_set_slot(exchange, call);
	kick(http);
	return 0;
}

static void pause_call(void *self, mpijob_exchange *exchange, int on)
{
	struct call *call = mpijob_exchange_slot(exchange);

	(void)self;
	if (!call)
		return;
	call->paused = on != 0;
	if (on || (!call->kept && !call->stopped && !call->ended))
		return;
	mpijob__transport_attend(call);
	kick(call->http);
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	struct mpijob_http *http = self;
	struct call *call = mpijob_exchange_slot(exchange);

	if (!call)
		return;
	call->exchange = NULL;
	mpijob_exchange_set_slot(exchange, NULL);
	if (http->polling)
		mpijob__transport_attend(call);
	else
		discard(call);
}

static void destroy(void *self)
{
	struct mpijob_http *http = self;

	if (!http)
		return;
	while (http->calls.next && http->calls.next->call)
		discard(http->calls.next->call);
	mpijob__open_clear(http);
}

void mpijob__transport_init(struct mpijob_http *http)
{
	mpijob__ring_init(&http->calls);
	mpijob__ring_init(&http->waiting);
	mpijob__ring_init(&http->queued);
	mpijob__ring_init(&http->attention);
	mpijob__ring_init(&http->deadlines);
}

int mpijob__transport_watch(struct mpijob_http *http)
{
	struct epoll_event event = { 0 };

	http->epoll = epoll_create1(EPOLL_CLOEXEC);
	http->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (http->epoll < 0 || http->wake < 0)
		return MPIJOB_ERR_IO;
	event.events = EPOLLIN;
	event.data.u64 = EVENT_WAKE;
	return epoll_ctl(http->epoll, EPOLL_CTL_ADD, http->wake, &event) ? MPIJOB_ERR_IO : 0;
}

void mpijob__transport_fill(struct mpijob_transport *transport)
{
	struct mpijob_transport table = MPIJOB_TRANSPORT_INIT;

	table.size = transport->size;
	table.start = start;
	table.poll = poll_http;
	table.interest = interest;
	table.pause = pause_call;
	table.cancel = cancel;
	table.wake = wake;
	table.destroy = destroy;
	memcpy(transport, &table, sizeof(table));
}

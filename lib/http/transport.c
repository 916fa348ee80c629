/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of exchanges: they are admitted (admit.c), go to curl, are told about in poll, and end
 * once. Nothing is ever told outside of poll, and nothing is given to curl or taken from it while
 * curl is calling us: a callback that starts, pauses or cancels only leaves a mark, and the same
 * poll acts on it. Deadlines are kept here, because curl does not count the time in which a
 * transfer waits for a connection.
 */
#include "http/transport.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/admission.h"
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
#include <unistd.h>

#define EVENTS     64
#define EVENT_WAKE UINT64_MAX

int64_t mpijob__http_transport_limit(int64_t given_ms)
{
	return given_ms > INT32_MAX ? INT32_MAX : given_ms;
}

static int64_t sooner(int64_t a, int64_t b)
{
	if (a < 0)
		return b;
	return b < 0 || a < b ? a : b;
}

void mpijob__http_transport_attend(struct mpijob__http_call *call)
{
	/* Who waits for credentials is looked at anyway. */
	if (!mpijob__http_ring_has(&call->queue))
		mpijob__http_ring_insert(&call->http->attention, &call->queue);
}

/* Calls of one timeout, most of all, come in the order of their deadlines. */
void mpijob__http_transport_start_deadline(struct mpijob__http_call *call)
{
	struct mpijob__http_link *place = &call->http->deadlines;

	if (!call->limit_ms || mpijob__http_ring_has(&call->due))
		return;
	call->deadline_ms = mpijob__base_clock_monotonic_ms() + call->limit_ms;
	while (place->prev->call && place->prev->call->deadline_ms > call->deadline_ms)
		place = place->prev;
	mpijob__http_ring_insert(place, &call->due);
}

/* Ends. */

void mpijob__http_transport_discard(struct mpijob__http_call *call)
{
	mpijob__http_ring_leave(&call->all);
	mpijob__http_ring_leave(&call->queue);
	mpijob__http_ring_leave(&call->due);
	mpijob__http_pool_stop(call);
	mpijob__http_request_headers_clear(&call->wire);
	mpijob__http_secret_clear(&call->body);
	mpijob_text_free(call->kept);
	free(call->message);
	free(call->url);
	free(call->content_type);
	free(call->method);
	free(call);
}

static void end(struct mpijob__http_call *call, int code, const char *message)
{
	mpijob_exchange *exchange = call->exchange;

	call->exchange = NULL;
	if (exchange) {
		call->http->told++;
		mpijob_exchange_set_slot(exchange, NULL);
		mpijob_exchange_end(exchange, code,
		    message ? message
		    : code  ? mpijob_error_text(code)
			    : NULL);
	}
	mpijob__http_transport_discard(call);
}

void mpijob__http_transport_end(struct mpijob__http_call *call, int code, char *message)
{
	free(call->message);
	call->message = message;
	end(call, code, message);
}

static void end_failed(struct mpijob__http_call *call)
{
	char *message = NULL;
	int code = call->failure;

	if (call->failure_text)
		message = mpijob__base_text_format("%s: %s", call->http->server.authority,
		    call->failure_text);
	mpijob__http_transport_end(call, code, message);
}

/* Answers. */

static void describe(struct mpijob__http_call *call, CURLcode code)
{
	struct mpijob_http *http = call->http;
	struct mpijob__http_failure failure = { 0 };

	failure.code = code;
	failure.text = call->error;
	curl_easy_getinfo(call->easy, CURLINFO_SSL_VERIFYRESULT, &failure.verify_result);
	curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &failure.os_errno);
	curl_easy_getinfo(call->easy, CURLINFO_HTTP_CONNECTCODE, &failure.connect_status);
	failure.server = http->server.authority;
	failure.proxy = http->proxy_shown;
	failure.tls = http->server.tls;
	failure.has_ca = http->config->ca.file || http->config->ca.data.len;
	failure.answered = call->status_told;
	failure.replayed = call->replayed;
	failure.connect_timeout_ms = http->connect_timeout_ms;
	failure.idle_timeout_ms = http->idle_timeout_ms;
	call->code = mpijob__http_failure_describe(&failure, &call->message);
	/* One that was made and then reset is worth another try of a read. */
	if (call->code == MPIJOB_ERR_IO && !call->sent && failure.os_errno != ECONNRESET)
		call->code = MPIJOB_ERR_UNREACHABLE;
}

static void finish_call(struct mpijob__http_call *call, CURLcode code)
{
	struct mpijob_http *http = call->http;

	if (!call->exchange) {
		mpijob__http_transport_discard(call);
		return;
	}
	if (code != CURLE_OK && !call->failure)
		describe(call, code);
	mpijob__http_pool_stop(call);
	if (call->status == 401) {
		mpijob__http_credentials_refused(http->credentials, call->token_generation,
		    call->tls_generation);
		mpijob__http_admission_follow_plugin(http);
	}
	if (call->failure) {
		end_failed(call);
	} else if (call->paused || call->kept) {
		call->ended = 1;
		mpijob__http_ring_leave(&call->due);
	} else {
		end(call, call->code, call->message);
	}
}

static void finish(struct mpijob_http *http)
{
	struct mpijob__http_call *call;
	CURLcode code = CURLE_OK;

	while ((call = mpijob__http_pool_done(http, &code)) != NULL)
		finish_call(call, code);
}

/* What curl held back comes at once; if that fails, bytes are lost. */
static void let_go_on(struct mpijob__http_call *call)
{
	call->stopped = 0;
	if (call->easy && curl_easy_pause(call->easy, CURLPAUSE_CONT) && call->exchange &&
	    !call->failure)
		call->failure = MPIJOB_ERR_NOMEM;
}

static void resume(struct mpijob__http_call *call)
{
	mpijob__http_receive_kept(call);
	if (call->exchange && !call->paused && call->stopped)
		let_go_on(call);
	if (!call->exchange)
		mpijob__http_transport_discard(call);
	else if (call->failure)
		end_failed(call);
	else if (call->ended && !call->paused && !call->kept)
		end(call, call->code, call->message);
}

/* Cancelled ones go, paused ones go on. Callbacks may bring one here again: then it comes next. */
static void look_after(struct mpijob_http *http)
{
	struct mpijob__http_call *call;

	while ((call = http->attention.next->call) != NULL) {
		mpijob__http_ring_leave(&call->queue);
		resume(call);
	}
}

static void expire(struct mpijob_http *http, int64_t now_ms)
{
	struct mpijob__http_call *call;

	while ((call = http->deadlines.next->call) != NULL && call->deadline_ms <= now_ms) {
		long long limit = (long long)call->limit_ms;
		const char *server = http->server.authority;
		char *message;

		if (mpijob__http_ring_has(&call->queue) && !call->lane && !call->queued)
			message = mpijob__base_text_format(
			    "%s: the credentials were not there within %lld ms", server, limit);
		else if (!call->sent)
			message =
			    mpijob__base_text_format("%s: no connection was free within %lld ms",
				server, limit);
		else
			message = mpijob__base_text_format("%s: no %s within %lld ms", server,
			    call->status_told ? "whole answer" : "answer", limit);
		mpijob__http_transport_end(call, MPIJOB_ERR_TIMEOUT, message);
	}
}

/* Curl cannot go on with them; with a new pool the next calls can. */
static void end_broken(struct mpijob_http *http)
{
	if (!http->broken)
		return;
	http->broken = 0;
	for (struct mpijob__http_link *link = http->calls.next; link->call; link = link->next) {
		int error = mpijob__http_pool_broken(link->call);

		if (!error)
			continue;
		link->call->failure = error;
		if (error == MPIJOB_ERR_IO)
			link->call->failure_text = "no more descriptors can be watched";
		mpijob__http_transport_attend(link->call);
	}
}

/* Poll. */

static void turn(struct mpijob_http *http)
{
	int64_t now = mpijob__base_clock_monotonic_ms();

	mpijob__http_admission_step_plugin(http, now);
	mpijob__http_admission_send_calls(http);
	look_after(http);
	mpijob__http_pool_timers(http, now);
	finish(http);
	expire(http, now);
	end_broken(http);
	look_after(http);
	if (http->http1_met && !http->http1_seen)
		mpijob__http_pool_unbind(http);
	mpijob__http_pool_retire(http);
}

static int64_t due(const struct mpijob_http *http)
{
	int64_t due = mpijob__http_pool_due(http);
	int64_t plugin = mpijob__http_credentials_due_ms(http->credentials);

	/* Calls that wait while a plugin runs are its business. */
	if (http->attention.next->call ||
	    (http->waiting.next->call && http->plugin_fd < 0 && plugin < 0) ||
	    mpijob__http_admission_has_room(http))
		return 0;
	due =
	    sooner(due, http->deadlines.next->call ? http->deadlines.next->call->deadline_ms : -1);
	return sooner(due, plugin);
}

static int64_t wait_ms(const struct mpijob_http *http, int64_t end_ms)
{
	int64_t until = sooner(due(http), end_ms);
	int64_t wait;

	if (until < 0)
		return -1;
	wait = until - mpijob__base_clock_monotonic_ms();
	if (wait < 0)
		return 0;
	return wait > INT_MAX ? INT_MAX : wait;
}

static void drain_wake(struct mpijob_http *http)
{
	uint64_t count = 0;

	if (read(http->wake, &count, sizeof(count)) == (ssize_t)sizeof(count) &&
	    count > (http->kicked ? 1u : 0u))
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
		else if (events[i].data.u64 != MPIJOB__HTTP_ADMISSION_EVENT)
			mpijob__http_pool_event(http, events[i].data.u64, events[i].events);
	}
	return 0;
}

static int poll_http(void *self, int timeout_ms)
{
	struct mpijob_http *http = self;
	int64_t end_ms = timeout_ms < 0 ? -1 : mpijob__base_clock_monotonic_ms() + timeout_ms;
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
		if (http->told != told || http->woken ||
		    (end_ms >= 0 && mpijob__base_clock_monotonic_ms() >= end_ms))
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

static int copy_request(struct mpijob__http_call *call, const struct mpijob_request *request)
{
	const char *base = call->http->server.base;

	call->method = strdup(request->method);
	call->url = mpijob__base_text_format("%s%s", base, request->path);
	if (!call->method || !call->url)
		return MPIJOB_ERR_NOMEM;
	if (request->content_type) {
		call->content_type = strdup(request->content_type);
		if (!call->content_type)
			return MPIJOB_ERR_NOMEM;
	}
	call->streaming = request->streaming != 0;
	call->fresh = request->fresh != 0;
	call->packed = !call->streaming && strcmp(call->method, "GET") == 0;
	call->has_body = request->body != NULL;
	return request->body
		   ? mpijob__http_secret_set(&call->body, request->body, request->body_len)
		   : 0;
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct mpijob_http *http = self;
	struct mpijob__http_call *call;

	if (!request->method || !request->path ||
	    !mpijob__http_request_headers_is_path(request->path) ||
	    !mpijob__http_request_headers_is_method(request->method) ||
	    (!request->body && request->body_len))
		return MPIJOB_ERR_USAGE;
	call = calloc(1, sizeof(*call));
	if (!call)
		return MPIJOB_ERR_NOMEM;
	call->http = http;
	call->exchange = exchange;
	call->all.call = call->queue.call = call->due.call = call;
	if (copy_request(call, request)) {
		mpijob__http_transport_discard(call);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob__http_ring_insert(&http->calls, &call->all);
	mpijob__http_ring_insert(&http->waiting, &call->queue);
	if (!call->streaming)
		call->limit_ms = request->timeout_ms > 0
				     ? mpijob__http_transport_limit(request->timeout_ms)
				     : http->request_timeout_ms;
	mpijob__http_transport_start_deadline(call);
	mpijob_exchange_set_slot(exchange, call);
	kick(http);
	return 0;
}

static void pause_call(void *self, mpijob_exchange *exchange, int on)
{
	struct mpijob__http_call *call = mpijob_exchange_slot(exchange);

	(void)self;
	if (!call)
		return;
	call->paused = on != 0;
	if (on || (!call->kept && !call->stopped && !call->ended))
		return;
	mpijob__http_transport_attend(call);
	kick(call->http);
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	struct mpijob_http *http = self;
	struct mpijob__http_call *call = mpijob_exchange_slot(exchange);

	if (!call)
		return;
	call->exchange = NULL;
	mpijob_exchange_set_slot(exchange, NULL);
	if (http->polling)
		mpijob__http_transport_attend(call);
	else
		mpijob__http_transport_discard(call);
}

static void destroy(void *self)
{
	struct mpijob_http *http = self;

	if (!http)
		return;
	while (http->calls.next && http->calls.next->call)
		mpijob__http_transport_discard(http->calls.next->call);
	mpijob__http_open_clear(http);
}

void mpijob__http_transport_init(struct mpijob_http *http)
{
	mpijob__http_ring_init(&http->calls);
	mpijob__http_ring_init(&http->waiting);
	mpijob__http_ring_init(&http->queued);
	mpijob__http_ring_init(&http->attention);
	mpijob__http_ring_init(&http->deadlines);
}

int mpijob__http_transport_watch(struct mpijob_http *http)
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

void mpijob__http_transport_fill(struct mpijob_transport *transport)
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

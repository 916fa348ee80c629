/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of an exchange over HTTP.
 *
 *   CREDENTIALS --- credentials available, slot free ------> CONNECTING   (admission.c)
 *   CREDENTIALS --- no slot free --------------------------> QUEUED       (admission.c)
 *   QUEUED -------- slot free -----------------------------> CREDENTIALS  (admission.c)
 *   CONNECTING ---- curl is about to send -----------------> SENT         (receive.c)
 *   SENT ---------- final status --------------------------> RECEIVING    (receive.c)
 *   any of these -- curl is done, the reader has paused ---> ENDED, then freed when all is read
 *   any of these -- curl is done, or deadline exceeded ----> freed, after the end is reported
 *   any ----------- cancelled inside a poll ---------------> CANCELLED, then freed by the poll
 *   any ----------- cancelled outside a poll --------------> freed
 *
 * Results are reported only inside a poll. Handles are added to curl or removed from it only
 * outside of curl's callbacks: a callback that pauses or cancels a call puts it into http->ready,
 * and the same poll processes that list. Deadlines are kept here, because curl does not count the
 * time in which a transfer waits for a connection.
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

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS     64
#define EVENT_WAKE UINT64_MAX

int64_t mpijob__http_transport_clamp_ms(int64_t given_ms)
{
	return given_ms > INT32_MAX ? INT32_MAX : given_ms;
}

void mpijob__http_transport_set_state(struct mpijob__http_call *call,
    enum mpijob__http_call_state state)
{
	call->state = state;
	if (state == MPIJOB__HTTP_CALL_ENDED)
		mpijob__base_list_remove(&call->deadline.link);
	if (state == MPIJOB__HTTP_CALL_CANCELLED)
		call->exchange = NULL;
}

void mpijob__http_transport_mark_ready(struct mpijob__http_call *call)
{
	/* Calls in http->waiting and http->queued are checked by each poll. */
	if (!mpijob__base_list_is_linked(&call->queue))
		mpijob__base_list_insert(&call->http->ready, &call->queue, call);
}

static int64_t deadline_of(const struct mpijob__base_list *link)
{
	const struct mpijob__http_call *call = link->owner;

	return call->deadline.at_ms;
}

/* Insert from the end: most calls have the same limit and so arrive in the order of their
 * deadlines.
 */
void mpijob__http_transport_start_deadline(struct mpijob__http_call *call)
{
	struct mpijob__base_list *place = &call->http->deadlines;

	if (!call->deadline.limit_ms || mpijob__base_list_is_linked(&call->deadline.link))
		return;
	call->deadline.at_ms = mpijob__base_clock_monotonic_ms() + call->deadline.limit_ms;
	while (place->prev->owner && deadline_of(place->prev) > call->deadline.at_ms)
		place = place->prev;
	mpijob__base_list_insert(place, &call->deadline.link, call);
}

/* ---- ends ---- */

void mpijob__http_transport_free_call(struct mpijob__http_call *call)
{
	mpijob__base_list_remove(&call->all);
	mpijob__base_list_remove(&call->queue);
	mpijob__base_list_remove(&call->deadline.link);
	mpijob__http_pool_stop(call);
	mpijob__http_request_headers_clear(&call->headers);
	mpijob__http_secret_clear(&call->request.body);
	mpijob_text_free(call->flow.kept);
	free(call->end.message);
	free(call->request.url);
	free(call->request.content_type);
	free(call->request.method);
	free(call);
}

static void end_exchange(struct mpijob__http_call *call, int code, const char *message)
{
	mpijob_exchange *exchange = call->exchange;

	call->exchange = NULL;
	if (exchange) {
		call->http->reported++;
		mpijob_exchange_set_slot(exchange, NULL);
		mpijob_exchange_end(exchange, code,
		    message ? message
		    : code  ? mpijob_error_text(code)
			    : NULL);
	}
	mpijob__http_transport_free_call(call);
}

void mpijob__http_transport_end_call(struct mpijob__http_call *call, int code, char *message)
{
	free(call->end.message);
	call->end.message = message;
	end_exchange(call, code, message);
}

static void end_failed(struct mpijob__http_call *call)
{
	char *message = NULL;
	int rc = call->failure.code;

	if (call->failure.text)
		message = mpijob__base_text_format("%s: %s", call->http->server.authority,
		    call->failure.text);
	mpijob__http_transport_end_call(call, rc, message);
}

/* ---- answers ---- */

static void set_end(struct mpijob__http_call *call, CURLcode code)
{
	struct mpijob_http *http = call->http;
	struct mpijob__http_failure failure = { 0 };

	failure.code = code;
	failure.text = call->transfer.error;
	curl_easy_getinfo(call->transfer.easy, CURLINFO_SSL_VERIFYRESULT, &failure.verify_result);
	curl_easy_getinfo(call->transfer.easy, CURLINFO_OS_ERRNO, &failure.os_errno);
	curl_easy_getinfo(call->transfer.easy, CURLINFO_HTTP_CONNECTCODE, &failure.connect_status);
	failure.server = http->server.authority;
	failure.proxy = http->proxy_shown;
	failure.tls = http->server.tls;
	failure.has_ca = http->config->ca.file || http->config->ca.data.len;
	failure.answered = call->state == MPIJOB__HTTP_CALL_RECEIVING;
	failure.replayed = call->transfer.replayed;
	failure.connect_timeout_ms = http->connect_timeout_ms;
	failure.idle_timeout_ms = http->idle_timeout_ms;
	call->end.code = mpijob__http_failure_describe(&failure, &call->end.message);
	/* UNREACHABLE means that nothing was sent. A reset connection had been established: that
	 * error stays IO, which lets the client retry a read. */
	if (call->end.code == MPIJOB_ERR_IO && call->state == MPIJOB__HTTP_CALL_CONNECTING &&
	    failure.os_errno != ECONNRESET)
		call->end.code = MPIJOB_ERR_UNREACHABLE;
}

static void complete_call(struct mpijob__http_call *call, CURLcode code)
{
	struct mpijob_http *http = call->http;

	if (call->state == MPIJOB__HTTP_CALL_CANCELLED) {
		mpijob__http_transport_free_call(call);
		return;
	}
	if (code != CURLE_OK && !call->failure.code)
		set_end(call, code);
	mpijob__http_pool_stop(call);
	if (call->status == 401) {
		mpijob__http_credentials_refused(http->credentials, call->transfer.token_generation,
		    call->transfer.tls_generation);
		mpijob__http_admission_watch_plugin(http);
	}
	if (call->failure.code) {
		end_failed(call);
	} else if (call->flow.paused || call->flow.kept) {
		mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_ENDED);
	} else {
		end_exchange(call, call->end.code, call->end.message);
	}
}

static void complete_calls(struct mpijob_http *http)
{
	struct mpijob__http_call *call;
	CURLcode code = CURLE_OK;

	while ((call = mpijob__http_pool_done(http, &code)) != NULL)
		complete_call(call, code);
}

/* Curl delivers paused data inside curl_easy_pause(); if that fails, data is lost. */
static void resume_curl(struct mpijob__http_call *call)
{
	call->flow.curl_paused = 0;
	if (call->transfer.easy && curl_easy_pause(call->transfer.easy, CURLPAUSE_CONT) &&
	    call->state != MPIJOB__HTTP_CALL_CANCELLED && !call->failure.code)
		call->failure.code = MPIJOB_ERR_NOMEM;
}

static void resume(struct mpijob__http_call *call)
{
	mpijob__http_receive_report_kept(call);
	if (call->state != MPIJOB__HTTP_CALL_CANCELLED && !call->flow.paused &&
	    call->flow.curl_paused)
		resume_curl(call);
	if (call->state == MPIJOB__HTTP_CALL_CANCELLED)
		mpijob__http_transport_free_call(call);
	else if (call->failure.code)
		end_failed(call);
	else if (call->state == MPIJOB__HTTP_CALL_ENDED && !call->flow.paused && !call->flow.kept)
		end_exchange(call, call->end.code, call->end.message);
}

/* Free cancelled calls and resume paused ones. Callbacks may append calls to the list. */
static void process_ready(struct mpijob_http *http)
{
	struct mpijob__http_call *call;

	while ((call = mpijob__base_list_first(&http->ready)) != NULL) {
		mpijob__base_list_remove(&call->queue);
		resume(call);
	}
}

static void expire(struct mpijob_http *http, int64_t now_ms)
{
	struct mpijob__http_call *call;

	while ((call = mpijob__base_list_first(&http->deadlines)) != NULL &&
	       call->deadline.at_ms <= now_ms) {
		long long limit = (long long)call->deadline.limit_ms;
		const char *server = http->server.authority;
		char *message;

		if (call->state == MPIJOB__HTTP_CALL_CREDENTIALS)
			message = mpijob__base_text_format(
			    "%s: the credentials were not available within %lld ms", server, limit);
		else if (call->state == MPIJOB__HTTP_CALL_QUEUED ||
			 call->state == MPIJOB__HTTP_CALL_CONNECTING)
			message =
			    mpijob__base_text_format("%s: no connection was free within %lld ms",
				server, limit);
		else
			message = mpijob__base_text_format("%s: no %s within %lld ms", server,
			    call->state == MPIJOB__HTTP_CALL_RECEIVING ? "whole answer" : "answer",
			    limit);
		mpijob__http_transport_end_call(call, MPIJOB_ERR_TIMEOUT, message);
	}
}

/* End the calls of broken multi handles. The next calls get a new pool. */
static void end_broken(struct mpijob_http *http)
{
	if (!http->broken)
		return;
	http->broken = 0;
	for (struct mpijob__base_list *link = http->calls.next; link->owner; link = link->next) {
		struct mpijob__http_call *call = link->owner;
		int rc = mpijob__http_pool_broken(call);

		if (!rc)
			continue;
		call->failure.code = rc;
		if (rc == MPIJOB_ERR_IO)
			call->failure.text = "no more descriptors can be watched";
		mpijob__http_transport_mark_ready(call);
	}
}

/* ---- poll ---- */

static void step(struct mpijob_http *http)
{
	int64_t now = mpijob__base_clock_monotonic_ms();

	mpijob__http_admission_step_plugin(http, now);
	mpijob__http_admission_send_calls(http);
	process_ready(http);
	mpijob__http_pool_timers(http, now);
	complete_calls(http);
	expire(http, now);
	end_broken(http);
	process_ready(http);
	if (http->http1_detected && !http->http1_applied)
		mpijob__http_pool_use_http1(http);
	mpijob__http_pool_free_old(http);
}

static int64_t due_ms(const struct mpijob_http *http)
{
	int64_t due_ms = mpijob__http_pool_due(http);
	int64_t plugin = mpijob__http_credentials_due_ms(http->credentials);

	/* Calls that wait for a plugin are due at the same time as the plugin. */
	if (mpijob__base_list_first(&http->ready) ||
	    (mpijob__base_list_first(&http->waiting) && http->plugin_fd < 0 && plugin < 0) ||
	    mpijob__http_admission_has_room(http))
		return 0;
	due_ms = mpijob__base_clock_earlier(due_ms,
	    mpijob__base_list_first(&http->deadlines) ? deadline_of(http->deadlines.next) : -1);
	return mpijob__base_clock_earlier(due_ms, plugin);
}

static int64_t wait_ms(const struct mpijob_http *http, int64_t end_ms)
{
	int64_t until = mpijob__base_clock_earlier(due_ms(http), end_ms);
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
	    count > (http->woken_by_start ? 1u : 0u))
		http->woken = 1;
	http->woken_by_start = 0;
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
		else if (events[i].data.u64 != MPIJOB__HTTP_ADMISSION_PLUGIN_EVENT)
			mpijob__http_pool_event(http, events[i].data.u64, events[i].events);
	}
	return 0;
}

static int poll_http(void *self, int timeout_ms)
{
	struct mpijob_http *http = self;
	int64_t end_ms = timeout_ms < 0 ? -1 : mpijob__base_clock_monotonic_ms() + timeout_ms;
	uint64_t reported = http->reported;
	int rc = 0;

	http->polling = 1;
	http->woken = 0;
	step(http);
	while (!rc) {
		rc = wait_for_events(http, http->reported != reported ? 0 : wait_ms(http, end_ms));
		if (rc)
			break;
		step(http);
		if (http->reported != reported || http->woken ||
		    (end_ms >= 0 && mpijob__base_clock_monotonic_ms() >= end_ms))
			break;
	}
	http->polling = 0;
	return rc;
}

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	const struct mpijob_http *http = self;

	*fd = http->epoll;
	*deadline_ms = due_ms(http);
	return 0;
}

static void signal_wake(struct mpijob_http *http)
{
	uint64_t one = 1;
	ssize_t written;

	do
		written = write(http->wake, &one, sizeof(one));
	while (written < 0 && errno == EINTR);
}

static void wake(void *self)
{
	signal_wake(self);
}

/* Make the descriptor readable, so that a host whose loop waits for it polls and sends new calls.
 */
static void wake_for_start(struct mpijob_http *http)
{
	if (http->polling || http->woken_by_start)
		return;
	http->woken_by_start = 1;
	signal_wake(http);
}

/* ---- exchanges ---- */

static int copy_request(struct mpijob__http_call *call, const struct mpijob_request *request)
{
	const char *base = call->http->server.base;

	call->request.method = strdup(request->method);
	call->request.url = mpijob__base_text_format("%s%s", base, request->path);
	if (!call->request.method || !call->request.url)
		return MPIJOB_ERR_NOMEM;
	if (request->content_type) {
		call->request.content_type = strdup(request->content_type);
		if (!call->request.content_type)
			return MPIJOB_ERR_NOMEM;
	}
	call->request.streaming = request->streaming != 0;
	call->request.new_connection = request->fresh != 0;
	call->request.compressed =
	    !call->request.streaming && strcmp(call->request.method, "GET") == 0;
	call->request.has_body = request->body != NULL;
	return request->body
		   ? mpijob__http_secret_set(&call->request.body, request->body, request->body_len)
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
	if (copy_request(call, request)) {
		mpijob__http_transport_free_call(call);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob__base_list_insert(&http->calls, &call->all, call);
	mpijob__base_list_insert(&http->waiting, &call->queue, call);
	if (!call->request.streaming)
		call->deadline.limit_ms = request->timeout_ms > 0
					      ? mpijob__http_transport_clamp_ms(request->timeout_ms)
					      : http->request_timeout_ms;
	mpijob__http_transport_start_deadline(call);
	mpijob_exchange_set_slot(exchange, call);
	wake_for_start(http);
	return 0;
}

static void pause_call(void *self, mpijob_exchange *exchange, int on)
{
	struct mpijob__http_call *call = mpijob_exchange_slot(exchange);

	(void)self;
	if (!call)
		return;
	call->flow.paused = on != 0;
	if (on ||
	    (!call->flow.kept && !call->flow.curl_paused && call->state != MPIJOB__HTTP_CALL_ENDED))
		return;
	mpijob__http_transport_mark_ready(call);
	wake_for_start(call->http);
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	struct mpijob_http *http = self;
	struct mpijob__http_call *call = mpijob_exchange_slot(exchange);

	if (!call)
		return;
	mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_CANCELLED);
	mpijob_exchange_set_slot(exchange, NULL);
	if (http->polling)
		mpijob__http_transport_mark_ready(call);
	else
		mpijob__http_transport_free_call(call);
}

static void destroy(void *self)
{
	struct mpijob_http *http = self;
	struct mpijob__http_call *call;

	if (!http)
		return;
	while ((call = mpijob__base_list_first(&http->calls)) != NULL)
		mpijob__http_transport_free_call(call);
	mpijob__http_open_free(http);
}

void mpijob__http_transport_init(struct mpijob_http *http)
{
	mpijob__base_list_init(&http->calls);
	mpijob__base_list_init(&http->waiting);
	mpijob__base_list_init(&http->queued);
	mpijob__base_list_init(&http->ready);
	mpijob__base_list_init(&http->deadlines);
}

int mpijob__http_transport_open_epoll(struct mpijob_http *http)
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

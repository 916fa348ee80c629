/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How curl's multi handles are used. Each TLS identity has a pool of two: so no connection and no
 * TLS session of an identity is ever used under another. One of the two is for streams and one for
 * the other requests: so watches and writes use separate connections, and a write never waits for a
 * watch to end. All sockets are in the transport's one epoll set, each marked with its handle: an
 * event that was fetched before its handle or socket was closed is harmless.
 */
#include "http/pool.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/easy.h"
#include "http/report.h"
#include "http/tls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define IDLE_HANDLES      4     /* the next call takes the one that ended last */
#define QUIET_HANDLES     1     /* while no request is in flight; each has tens of KiB */
#define STREAMS_AT_A_TIME 1000L /* the server limits it, mostly to 100 to 250 */

struct mpijob__http_multi {
	struct mpijob__http_pool *pool;
	CURLM *curl; /* NULL: not needed so far */
	uint32_t id;
	int64_t due_ms;
	size_t running;
	int broken; /* MPIJOB_ERR_*: curl lost track of its sockets */
};

struct mpijob__http_pool {
	struct mpijob_http *http;
	struct mpijob__http_pool *next;
	uint64_t generation;
	struct mpijob__http_pool_identity identity;
	CURLSH *share; /* TLS sessions */
	struct mpijob__http_multi requests;
	struct mpijob__http_multi streams;
	CURL *idle[IDLE_HANDLES];
	size_t idle_count;
};

/* ---- sockets and times ---- */

static void mark_broken(struct mpijob__http_multi *multi, int error)
{
	multi->broken = error;
	multi->pool->http->broken = 1;
}

/* When curl could not record which sockets it waits for, its transfers would never end. */
static void run_multi(struct mpijob__http_multi *multi, curl_socket_t fd, int mask)
{
	int running;
	CURLMcode code = curl_multi_socket_action(multi->curl, fd, mask, &running);

	if (code && !multi->broken)
		mark_broken(multi, code == CURLM_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO);
}

/*
 * After a refused connection curl (7.88) has to try the next address of the host, but requests no
 * event and no timer before half of the connection timeout is over. So all transfers are checked at
 * once. The function is deprecated because of its cost; this case is rare.
 */
static void run_whole_multi(struct mpijob__http_multi *multi)
{
	int running;
	CURLMcode code;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	code = curl_multi_socket_all(multi->curl, &running);
#pragma GCC diagnostic pop
	if (code && !multi->broken)
		mark_broken(multi, code == CURLM_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO);
}

/* 0, or MPIJOB_ERR_NOMEM. */
static int make_room(struct mpijob_http *http, int fd)
{
	size_t count = http->socket_count;
	struct mpijob__http_watched *longer;

	if ((size_t)fd < count)
		return 0;
	while (count <= (size_t)fd)
		count = count ? 2 * count : 64;
	longer = realloc(http->sockets, count * sizeof(*longer));
	if (!longer)
		return MPIJOB_ERR_NOMEM;
	memset(longer + http->socket_count, 0, (count - http->socket_count) * sizeof(*longer));
	http->sockets = longer;
	http->socket_count = count;
	return 0;
}

/* `likely`: the operation that succeeds unless curl closed a socket without notice; else the other
 * one does. */
static int watch(struct mpijob_http *http, int fd, int likely)
{
	const struct mpijob__http_watched *watched = &http->sockets[fd];
	int other = likely == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	struct epoll_event event = { 0 };

	event.events = watched->events;
	event.data.u64 = (uint64_t)watched->multi << 32 | (uint32_t)fd;
	return epoll_ctl(http->epoll, likely, fd, &event) &&
	       epoll_ctl(http->epoll, other, fd, &event);
}

static void unwatch(struct mpijob_http *http, int fd)
{
	struct epoll_event event = { 0 };

	epoll_ctl(http->epoll, EPOLL_CTL_DEL, fd, &event);
}

/*
 * Curl (7.88) closes a socket that did not connect without notice, and reports it later, when the
 * number may be another socket's. So the handle that waits for a number is recorded: a late report
 * about a socket of another handle does nothing.
 */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
	struct mpijob__http_multi *multi = user;
	struct mpijob_http *http = multi->pool->http;
	struct mpijob__http_watched *watched;
	int likely;

	(void)easy;
	(void)of_socket;
	if (make_room(http, fd)) {
		mark_broken(multi, MPIJOB_ERR_NOMEM);
		return -1;
	}
	watched = &http->sockets[fd];
	if (what == CURL_POLL_REMOVE) {
		if (watched->multi == multi->id) {
			watched->multi = 0;
			unwatch(http, fd);
		}
		return 0;
	}
	likely = watched->multi ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	watched->multi = multi->id;
	watched->events =
	    (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	if (watch(http, fd, likely) == 0)
		return 0;
	mark_broken(multi, MPIJOB_ERR_IO);
	return -1;
}

/*
 * A new socket has the number of one that was closed without notice: curl assumes that it is
 * watched already, and reports nothing when it wants the same events.
 */
int mpijob__http_pool_opened(const struct mpijob__http_call *call, int fd)
{
	struct mpijob_http *http = call->http;

	if (make_room(http, fd))
		return MPIJOB_ERR_NOMEM;
	if (!http->sockets[fd].multi)
		return 0;
	if (call->transfer.multi && http->sockets[fd].multi == call->transfer.multi->id)
		return watch(http, fd, EPOLL_CTL_ADD) ? MPIJOB_ERR_IO : 0;
	http->sockets[fd].multi = 0;
	return 0;
}

static int set_timer(CURLM *curl, long timeout_ms, void *user)
{
	struct mpijob__http_multi *multi = user;

	(void)curl;
	multi->due_ms = timeout_ms < 0 ? -1 : mpijob__base_clock_monotonic_ms() + timeout_ms;
	return 0;
}

static struct mpijob__http_multi *multi_at(struct mpijob_http *http, size_t index)
{
	for (struct mpijob__http_pool *pool = http->pools; pool; pool = pool->next) {
		if (index < 2)
			return index ? &pool->streams : &pool->requests;
		index -= 2;
	}
	return NULL;
}

void mpijob__http_pool_event(struct mpijob_http *http, uint64_t data, uint32_t events)
{
	int mask = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
		   (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		   (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
	struct mpijob__http_multi *multi;

	for (size_t i = 0; (multi = multi_at(http, i)) != NULL; i++) {
		if (multi->curl && multi->id == data >> 32) {
			run_multi(multi, (curl_socket_t)(data & 0xffffffff), mask);
			if (mask & CURL_CSELECT_ERR)
				run_whole_multi(multi);
			return;
		}
	}
}

void mpijob__http_pool_timers(struct mpijob_http *http, int64_t now_ms)
{
	struct mpijob__http_multi *multi;

	for (size_t i = 0; (multi = multi_at(http, i)) != NULL; i++) {
		if (!multi->curl || multi->due_ms < 0 || multi->due_ms > now_ms)
			continue;
		multi->due_ms = -1;
		run_multi(multi, CURL_SOCKET_TIMEOUT, 0);
	}
}

int64_t mpijob__http_pool_due(const struct mpijob_http *http)
{
	int64_t due = -1;

	for (const struct mpijob__http_pool *pool = http->pools; pool; pool = pool->next) {
		if (pool->requests.due_ms >= 0 && (due < 0 || pool->requests.due_ms < due))
			due = pool->requests.due_ms;
		if (pool->streams.due_ms >= 0 && (due < 0 || pool->streams.due_ms < due))
			due = pool->streams.due_ms;
	}
	return due;
}

/* ---- multi handles ---- */

/* A quarter of the connections is for requests that do not stream. 0: no limit. */
static long connections_of(const struct mpijob__http_pool *pool,
    const struct mpijob__http_multi *multi)
{
	long most = pool->http->max_connections;
	long quarter = most < 4 ? 1 : most / 4;

	if (pool->http->http1_seen)
		return multi == &pool->streams ? 0 : most;
	if (most == 1)
		return 1;
	return multi == &pool->streams ? most - quarter : quarter;
}

static struct mpijob__http_multi *multi_for(struct mpijob__http_pool *pool,
    const struct mpijob__http_call *call)
{
	int apart = pool->http->max_connections > 1 || pool->http->http1_seen;

	return call->request.streaming && apart ? &pool->streams : &pool->requests;
}

static int multi_open(struct mpijob__http_multi *multi)
{
	CURLMcode bad = CURLM_OK;
	CURLM *curl;

	if (multi->curl)
		return 0;
	curl = curl_multi_init();
	if (!curl)
		return MPIJOB_ERR_NOMEM;
	bad |= curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, watch_socket);
	bad |= curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi);
	bad |= curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, set_timer);
	bad |= curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi);
	bad |= curl_multi_setopt(curl, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	bad |= curl_multi_setopt(curl, CURLMOPT_MAX_CONCURRENT_STREAMS, STREAMS_AT_A_TIME);
	bad |= curl_multi_setopt(curl, CURLMOPT_MAX_TOTAL_CONNECTIONS,
	    connections_of(multi->pool, multi));
	bad |= curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, multi->pool->http->max_connections);
	if (bad) {
		curl_multi_cleanup(curl);
		return MPIJOB_ERR_UNSUPPORTED;
	}
	multi->id = ++multi->pool->http->last_multi;
	multi->due_ms = -1;
	multi->curl = curl;
	return 0;
}

static void multi_close(struct mpijob__http_multi *multi)
{
	if (multi->curl)
		curl_multi_cleanup(multi->curl);
	multi->curl = NULL;
}

/* ---- pools ---- */

static void pool_free(struct mpijob__http_pool *pool)
{
	while (pool->idle_count)
		curl_easy_cleanup(pool->idle[--pool->idle_count]);
	multi_close(&pool->requests);
	multi_close(&pool->streams);
	if (pool->share)
		curl_share_cleanup(pool->share);
	mpijob__http_secret_clear(&pool->identity.certificate);
	mpijob__http_secret_clear(&pool->identity.key);
	mpijob__http_secret_clear(&pool->identity.ca);
	free(pool);
}

/* The client's certificate and key were checked when they were read. */
static int check_ca(const struct mpijob__http_identity *identity, char **message)
{
	const char *fault = NULL;
	int error = identity->ca
			? mpijob__http_tls_check_certificate(identity->ca, identity->ca_len, &fault)
			: 0;

	if (error != MPIJOB_ERR_SPEC)
		return error;
	*message = mpijob__base_text_format("certificate-authority %s", fault);
	return *message ? MPIJOB_ERR_AUTH : MPIJOB_ERR_NOMEM;
}

static int copy_identity(struct mpijob__http_pool *pool,
    const struct mpijob__http_identity *identity)
{
	int error = mpijob__http_secret_set(&pool->identity.certificate, identity->certificate,
	    identity->certificate ? identity->certificate_len : 0);

	if (!error)
		error = mpijob__http_secret_set(&pool->identity.key, identity->key,
		    identity->key ? identity->key_len : 0);
	if (!error)
		error = mpijob__http_secret_set(&pool->identity.ca, identity->ca,
		    identity->ca ? identity->ca_len : 0);
	return error;
}

static int pool_new(struct mpijob_http *http, const struct mpijob__http_identity *identity,
    struct mpijob__http_pool **out)
{
	struct mpijob__http_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return MPIJOB_ERR_NOMEM;
	pool->http = http;
	pool->generation = identity->tls_generation;
	pool->requests.pool = pool->streams.pool = pool;
	pool->requests.due_ms = pool->streams.due_ms = -1;
	pool->share = curl_share_init();
	if (!pool->share || copy_identity(pool, identity) ||
	    curl_share_setopt(pool->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION)) {
		pool_free(pool);
		return MPIJOB_ERR_NOMEM;
	}
	*out = pool;
	return 0;
}

int mpijob__http_pool_find(struct mpijob_http *http, const struct mpijob__http_identity *identity,
    struct mpijob__http_pool **out, char **message)
{
	struct mpijob__http_pool *pool = http->pools;
	int error;

	if (pool && pool->generation == identity->tls_generation && !pool->requests.broken &&
	    !pool->streams.broken) {
		*out = pool;
		return 0;
	}
	error = check_ca(identity, message);
	if (!error)
		error = pool_new(http, identity, &pool);
	if (error)
		return error;
	pool->next = http->pools;
	http->pools = pool;
	*out = pool;
	return 0;
}

void mpijob__http_pool_retire(struct mpijob_http *http)
{
	struct mpijob__http_pool **at = http->pools ? &http->pools->next : NULL;

	while (at && *at) {
		struct mpijob__http_pool *pool = *at;

		if (pool->requests.running || pool->streams.running) {
			at = &pool->next;
			continue;
		}
		*at = pool->next;
		pool_free(pool);
	}
}

void mpijob__http_pool_free_all(struct mpijob_http *http)
{
	while (http->pools) {
		struct mpijob__http_pool *pool = http->pools;

		http->pools = pool->next;
		pool_free(pool);
	}
}

/* ---- calls ---- */

int mpijob__http_pool_start(struct mpijob__http_pool *pool, struct mpijob__http_call *call,
    struct curl_slist *headers)
{
	struct mpijob__http_multi *multi = multi_for(pool, call);
	int error = multi_open(multi);
	CURL *easy = NULL;

	if (!error && pool->idle_count)
		easy = pool->idle[--pool->idle_count];
	else if (!error)
		error = mpijob__http_easy_new(pool->http, &pool->identity, pool->share, &easy);
	if (!error)
		error = mpijob__http_easy_prepare(easy, call, headers);
	/* Curl may call the timer function inside of this. */
	if (!error && curl_multi_add_handle(multi->curl, easy))
		error = MPIJOB_ERR_NOMEM;
	if (error) {
		curl_easy_cleanup(easy);
		return error;
	}
	call->transfer.easy = easy;
	call->transfer.multi = multi;
	call->transfer.heard_ms = mpijob__base_clock_monotonic_ms();
	multi->running++;
	pool->http->ordinary += !call->request.streaming;
	return 0;
}

/* A stream was cancelled after a long silence. The next exchange on its connection may wait as
 * long. */
static int is_silent(const struct mpijob__http_call *call)
{
	return call->request.streaming &&
	       mpijob__base_clock_monotonic_ms() - call->transfer.heard_ms >=
		   call->http->idle_timeout_ms;
}

void mpijob__http_pool_stop(struct mpijob__http_call *call)
{
	struct mpijob__http_multi *multi = call->transfer.multi;
	struct mpijob__http_pool *pool;

	if (!multi)
		return;
	pool = multi->pool;
	if (is_silent(call))
		mpijob__http_easy_close_after(call->transfer.easy);
	curl_multi_remove_handle(multi->curl, call->transfer.easy);
	multi->running--;
	pool->http->ordinary -= !call->request.streaming;
	if (pool->idle_count < IDLE_HANDLES && mpijob__http_easy_reset(call->transfer.easy) == 0)
		pool->idle[pool->idle_count++] = call->transfer.easy;
	else
		curl_easy_cleanup(call->transfer.easy);
	while (pool->idle_count > QUIET_HANDLES && !pool->http->ordinary)
		curl_easy_cleanup(pool->idle[--pool->idle_count]);
	call->transfer.easy = NULL;
	call->transfer.multi = NULL;
}

struct mpijob__http_call *mpijob__http_pool_done(struct mpijob_http *http, CURLcode *code)
{
	struct mpijob__http_multi *multi;

	for (size_t i = 0; (multi = multi_at(http, i)) != NULL; i++) {
		CURLMsg *message;
		int left;

		while (
		    multi->curl && (message = curl_multi_info_read(multi->curl, &left)) != NULL) {
			char *call = NULL;

			if (message->msg != CURLMSG_DONE)
				continue;
			*code = message->data.result;
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
			if (call)
				return (struct mpijob__http_call *)(void *)call;
		}
	}
	return NULL;
}

int mpijob__http_pool_broken(const struct mpijob__http_call *call)
{
	return call->transfer.multi ? call->transfer.multi->broken : 0;
}

void mpijob__http_pool_unbind(struct mpijob_http *http)
{
	http->http1_seen = 1;
	for (struct mpijob__http_pool *pool = http->pools; pool; pool = pool->next) {
		if (pool->requests.curl)
			curl_multi_setopt(pool->requests.curl, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			    connections_of(pool, &pool->requests));
		if (pool->streams.curl)
			curl_multi_setopt(pool->streams.curl, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			    connections_of(pool, &pool->streams));
	}
	/* A transfer that waits for a connection checks again only when another transfer of the
	 * handle ends, or when it begins. */
	for (struct mpijob__base_list *link = http->calls.next; link->owner; link = link->next) {
		struct mpijob__http_call *call = link->owner;

		if (call->state != MPIJOB__HTTP_CALL_CONNECTING)
			continue;
		curl_multi_remove_handle(call->transfer.multi->curl, call->transfer.easy);
		mpijob__http_easy_no_pipewait(call->transfer.easy);
		if (curl_multi_add_handle(call->transfer.multi->curl, call->transfer.easy)) {
			call->failure.code = MPIJOB_ERR_NOMEM;
			mpijob__http_transport_attend(call);
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How curl's multi handles are used: one set of them for each TLS identity, so that no connection
 * and no TLS session of an identity is ever used under another; and in a set one for streams beside
 * one for the rest, so that the rest never waits for watches to end. All their sockets are in the
 * transport's one epoll set, each marked with the handle it belongs to: an event that was fetched
 * before its handle or socket went is harmless.
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

#define IDLE_HANDLES      4     /* under load the next call takes the one that ended last */
#define QUIET_HANDLES     1     /* each has tens of KiB */
#define STREAMS_AT_A_TIME 1000L /* the server says how many it allows; mostly 100 to 250 */

struct mpijob__http_multi {
	struct mpijob__http_pool *pool;
	CURLM *multi; /* NULL: not needed so far */
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

/* Sockets and times. */

static void mark_broken(struct mpijob__http_multi *lane, int error)
{
	lane->broken = error;
	lane->pool->http->broken = 1;
}

/* When curl could not note down which sockets it waits for, its transfers would wait for ever. */
static void run_lane(struct mpijob__http_multi *lane, curl_socket_t fd, int mask)
{
	int running;
	CURLMcode code = curl_multi_socket_action(lane->multi, fd, mask, &running);

	if (code && !lane->broken)
		mark_broken(lane, code == CURLM_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO);
}

/*
 * After a refused connection curl (7.88) has the next address of the host still to try, but asks
 * for no event and for no time before half of the connection's time is over. So everything is
 * looked at once. The function is called obsolete for what it costs; this is rare.
 */
static void run_whole_lane(struct mpijob__http_multi *lane)
{
	int running;
	CURLMcode code;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	code = curl_multi_socket_all(lane->multi, &running);
#pragma GCC diagnostic pop
	if (code && !lane->broken)
		mark_broken(lane, code == CURLM_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO);
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

/* `likely`: what will do if a socket was not closed without a word; else the other will. */
static int watch(struct mpijob_http *http, int fd, int likely)
{
	const struct mpijob__http_watched *watched = &http->sockets[fd];
	int other = likely == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	struct epoll_event event = { 0 };

	event.events = watched->events;
	event.data.u64 = (uint64_t)watched->lane << 32 | (uint32_t)fd;
	return epoll_ctl(http->epoll, likely, fd, &event) &&
	       epoll_ctl(http->epoll, other, fd, &event);
}

static void unwatch(struct mpijob_http *http, int fd)
{
	struct epoll_event event = { 0 };

	epoll_ctl(http->epoll, EPOLL_CTL_DEL, fd, &event);
}

/*
 * Curl (7.88) closes a socket that did not connect without a word, and tells later, when the number
 * may be another socket's. So who watches a number is remembered: a late word about another lane's
 * socket does nothing.
 */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
	struct mpijob__http_multi *lane = user;
	struct mpijob_http *http = lane->pool->http;
	struct mpijob__http_watched *watched;
	int likely;

	(void)easy;
	(void)of_socket;
	if (make_room(http, fd)) {
		mark_broken(lane, MPIJOB_ERR_NOMEM);
		return -1;
	}
	watched = &http->sockets[fd];
	if (what == CURL_POLL_REMOVE) {
		if (watched->lane == lane->id) {
			watched->lane = 0;
			unwatch(http, fd);
		}
		return 0;
	}
	likely = watched->lane ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	watched->lane = lane->id;
	watched->events =
	    (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	if (watch(http, fd, likely) == 0)
		return 0;
	mark_broken(lane, MPIJOB_ERR_IO);
	return -1;
}

/*
 * A new socket with the number of one that was closed without a word: curl believes that it is
 * watched, and says nothing when it wants the same of it.
 */
int mpijob__http_pool_opened(const struct mpijob__http_call *call, int fd)
{
	struct mpijob_http *http = call->http;

	if (make_room(http, fd))
		return MPIJOB_ERR_NOMEM;
	if (!http->sockets[fd].lane)
		return 0;
	if (call->lane && http->sockets[fd].lane == call->lane->id)
		return watch(http, fd, EPOLL_CTL_ADD) ? MPIJOB_ERR_IO : 0;
	http->sockets[fd].lane = 0;
	return 0;
}

static int set_timer(CURLM *multi, long timeout_ms, void *user)
{
	struct mpijob__http_multi *lane = user;

	(void)multi;
	lane->due_ms = timeout_ms < 0 ? -1 : mpijob__base_clock_monotonic_ms() + timeout_ms;
	return 0;
}

static struct mpijob__http_multi *lane_at(struct mpijob_http *http, size_t index)
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
	struct mpijob__http_multi *lane;

	for (size_t i = 0; (lane = lane_at(http, i)) != NULL; i++) {
		if (lane->multi && lane->id == data >> 32) {
			run_lane(lane, (curl_socket_t)(data & 0xffffffff), mask);
			if (mask & CURL_CSELECT_ERR)
				run_whole_lane(lane);
			return;
		}
	}
}

void mpijob__http_pool_timers(struct mpijob_http *http, int64_t now_ms)
{
	struct mpijob__http_multi *lane;

	for (size_t i = 0; (lane = lane_at(http, i)) != NULL; i++) {
		if (!lane->multi || lane->due_ms < 0 || lane->due_ms > now_ms)
			continue;
		lane->due_ms = -1;
		run_lane(lane, CURL_SOCKET_TIMEOUT, 0);
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

/* Lanes. */

/* A quarter of the connections is for what does not stream. 0: no limit. */
static long connections_of(const struct mpijob__http_pool *pool,
    const struct mpijob__http_multi *lane)
{
	long most = pool->http->max_connections;
	long quarter = most < 4 ? 1 : most / 4;

	if (pool->http->http1_seen)
		return lane == &pool->streams ? 0 : most;
	if (most == 1)
		return 1;
	return lane == &pool->streams ? most - quarter : quarter;
}

static struct mpijob__http_multi *lane_for(struct mpijob__http_pool *pool,
    const struct mpijob__http_call *call)
{
	int apart = pool->http->max_connections > 1 || pool->http->http1_seen;

	return call->streaming && apart ? &pool->streams : &pool->requests;
}

static int lane_open(struct mpijob__http_multi *lane)
{
	CURLMcode bad = CURLM_OK;
	CURLM *multi;

	if (lane->multi)
		return 0;
	multi = curl_multi_init();
	if (!multi)
		return MPIJOB_ERR_NOMEM;
	bad |= curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	bad |= curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, lane);
	bad |= curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
	bad |= curl_multi_setopt(multi, CURLMOPT_TIMERDATA, lane);
	bad |= curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	bad |= curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, STREAMS_AT_A_TIME);
	bad |= curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
	    connections_of(lane->pool, lane));
	bad |= curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, lane->pool->http->max_connections);
	if (bad) {
		curl_multi_cleanup(multi);
		return MPIJOB_ERR_UNSUPPORTED;
	}
	lane->id = ++lane->pool->http->last_lane;
	lane->due_ms = -1;
	lane->multi = multi;
	return 0;
}

static void lane_close(struct mpijob__http_multi *lane)
{
	if (lane->multi)
		curl_multi_cleanup(lane->multi);
	lane->multi = NULL;
}

/* Pools. */

static void pool_free(struct mpijob__http_pool *pool)
{
	while (pool->idle_count)
		curl_easy_cleanup(pool->idle[--pool->idle_count]);
	lane_close(&pool->requests);
	lane_close(&pool->streams);
	if (pool->share)
		curl_share_cleanup(pool->share);
	mpijob__http_secret_clear(&pool->identity.certificate);
	mpijob__http_secret_clear(&pool->identity.key);
	mpijob__http_secret_clear(&pool->identity.ca);
	free(pool);
}

/* The client's certificate and key were looked at when they were read. */
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

/* Calls. */

int mpijob__http_pool_start(struct mpijob__http_pool *pool, struct mpijob__http_call *call,
    struct curl_slist *headers)
{
	struct mpijob__http_multi *lane = lane_for(pool, call);
	int error = lane_open(lane);
	CURL *easy = NULL;

	if (!error && pool->idle_count)
		easy = pool->idle[--pool->idle_count];
	else if (!error)
		error = mpijob__http_easy_new(pool->http, &pool->identity, pool->share, &easy);
	if (!error)
		error = mpijob__http_easy_prepare(easy, call, headers);
	/* Curl may call the timer from inside. */
	if (!error && curl_multi_add_handle(lane->multi, easy))
		error = MPIJOB_ERR_NOMEM;
	if (error) {
		curl_easy_cleanup(easy);
		return error;
	}
	call->easy = easy;
	call->lane = lane;
	call->heard_ms = mpijob__base_clock_monotonic_ms();
	lane->running++;
	pool->http->ordinary += !call->streaming;
	return 0;
}

/* A stream that was given up after such a silence: who waits for the next one there may wait as
 * long. */
static int is_silent(const struct mpijob__http_call *call)
{
	return call->streaming &&
	       mpijob__base_clock_monotonic_ms() - call->heard_ms >= call->http->idle_timeout_ms;
}

void mpijob__http_pool_stop(struct mpijob__http_call *call)
{
	struct mpijob__http_multi *lane = call->lane;
	struct mpijob__http_pool *pool;

	if (!lane)
		return;
	pool = lane->pool;
	if (is_silent(call))
		mpijob__http_easy_distrust(call->easy);
	curl_multi_remove_handle(lane->multi, call->easy);
	lane->running--;
	pool->http->ordinary -= !call->streaming;
	if (pool->idle_count < IDLE_HANDLES && mpijob__http_easy_forget(call->easy) == 0)
		pool->idle[pool->idle_count++] = call->easy;
	else
		curl_easy_cleanup(call->easy);
	while (pool->idle_count > QUIET_HANDLES && !pool->http->ordinary)
		curl_easy_cleanup(pool->idle[--pool->idle_count]);
	call->easy = NULL;
	call->lane = NULL;
}

struct mpijob__http_call *mpijob__http_pool_done(struct mpijob_http *http, CURLcode *code)
{
	struct mpijob__http_multi *lane;

	for (size_t i = 0; (lane = lane_at(http, i)) != NULL; i++) {
		CURLMsg *message;
		int left;

		while (
		    lane->multi && (message = curl_multi_info_read(lane->multi, &left)) != NULL) {
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
	return call->lane ? call->lane->broken : 0;
}

void mpijob__http_pool_unbind(struct mpijob_http *http)
{
	http->http1_seen = 1;
	for (struct mpijob__http_pool *pool = http->pools; pool; pool = pool->next) {
		if (pool->requests.multi)
			curl_multi_setopt(pool->requests.multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			    connections_of(pool, &pool->requests));
		if (pool->streams.multi)
			curl_multi_setopt(pool->streams.multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			    connections_of(pool, &pool->streams));
	}
	/* Who waits for a connection looks for one again only when another transfer of the handle
	 * ends, or when it begins. */
	for (struct mpijob__http_link *link = http->calls.next; link->call; link = link->next) {
		struct mpijob__http_call *call = link->call;

		if (!call->lane || call->sent)
			continue;
		curl_multi_remove_handle(call->lane->multi, call->easy);
		mpijob__http_easy_hurry(call->easy);
		if (curl_multi_add_handle(call->lane->multi, call->easy)) {
			call->failure = MPIJOB_ERR_NOMEM;
			mpijob__http_transport_attend(call);
		}
	}
}

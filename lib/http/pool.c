/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How curl's multi handles are used. Each TLS identity has a pool with two multi handles, so
 * identities share neither connections nor TLS sessions. One handle is for streams, the other for
 * all other requests: a write never waits until a watch releases a connection. The epoll set of the
 * transport contains all sockets. Each is registered with the id of its handle, so that a stale
 * event, whose handle or socket is closed, is ignored.
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

#define IDLE_HANDLES         4     /* easy handles that are kept for the next calls */
#define IDLE_HANDLES_AT_REST 1     /* while no request is in flight: a handle takes tens of KiB */
#define MAX_STREAMS          1000L /* per connection; servers mostly limit it to 100 to 250 */

struct mpijob__http_multi {
	struct mpijob__http_pool *pool;
	CURLM *curl; /* NULL until the first call needs it */
	uint32_t id;
	int64_t due_ms;
	size_t running;
	int broken; /* 0, or MPIJOB_ERR_*: curl's state and epoll differ; no transfer can end */
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

/* ---- sockets and timers ---- */

static void set_broken(struct mpijob__http_multi *multi, int rc)
{
	multi->broken = rc;
	multi->pool->http->broken = 1;
}

/* After an error curl may not know which sockets it waits for: its transfers would never end. */
static void check_multi(struct mpijob__http_multi *multi, CURLMcode code)
{
	if (code && !multi->broken)
		set_broken(multi, code == CURLM_OUT_OF_MEMORY ? MPIJOB_ERR_NOMEM : MPIJOB_ERR_IO);
}

static void run_multi(struct mpijob__http_multi *multi, curl_socket_t fd, int mask)
{
	int running;

	check_multi(multi, curl_multi_socket_action(multi->curl, fd, mask, &running));
}

/*
 * After a refused connection curl (7.88) tries the next address of the host only when half of the
 * connection timeout is over, because it sets neither an event nor a timer. This call makes it
 * check all transfers at once. The function is deprecated because of its cost, but this case is
 * rare.
 */
static void run_whole_multi(struct mpijob__http_multi *multi)
{
	int running;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	check_multi(multi, curl_multi_socket_all(multi->curl, &running));
#pragma GCC diagnostic pop
}

/* Extend http->sockets to the index `fd`. 0 or MPIJOB_ERR_NOMEM. */
static int grow_sockets(struct mpijob_http *http, int fd)
{
	size_t count = http->socket_count;
	struct mpijob__http_socket *longer;

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

/* Register a socket. `likely` is the operation to try first; the other one is needed when curl has
 * closed a socket without calling watch_socket(). */
static int watch(struct mpijob_http *http, int fd, int likely)
{
	const struct mpijob__http_socket *watched = &http->sockets[fd];
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
 * CURLMOPT_SOCKETFUNCTION. Curl (7.88) closes a socket that did not connect, and calls this
 * function only later, when another socket may have the same number. Therefore http->sockets
 * records the handle of each number, and a late call of another handle does nothing.
 */
static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
	struct mpijob__http_multi *multi = user;
	struct mpijob_http *http = multi->pool->http;
	struct mpijob__http_socket *watched;
	int likely;

	(void)easy;
	(void)of_socket;
	if (grow_sockets(http, fd)) {
		set_broken(multi, MPIJOB_ERR_NOMEM);
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
	set_broken(multi, MPIJOB_ERR_IO);
	return -1;
}

/*
 * A new socket may have the number of one that curl closed without calling watch_socket(). Then
 * curl assumes that the number is registered already, and makes no call if it wants the same
 * events.
 */
int mpijob__http_pool_socket_opened(const struct mpijob__http_call *call, int fd)
{
	struct mpijob_http *http = call->http;

	if (grow_sockets(http, fd))
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

/* The limit of connections: a quarter is for requests that do not stream. 0: no limit. */
static long connections_of(const struct mpijob__http_pool *pool,
    const struct mpijob__http_multi *multi)
{
	long most = pool->http->max_connections;
	long quarter = most < 4 ? 1 : most / 4;

	if (pool->http->http1_applied)
		return multi == &pool->streams ? 0 : most;
	if (most == 1)
		return 1;
	return multi == &pool->streams ? most - quarter : quarter;
}

static struct mpijob__http_multi *multi_for(struct mpijob__http_pool *pool,
    const struct mpijob__http_call *call)
{
	int separate = pool->http->max_connections > 1 || pool->http->http1_applied;

	return call->request.streaming && separate ? &pool->streams : &pool->requests;
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
	bad |= curl_multi_setopt(curl, CURLMOPT_MAX_CONCURRENT_STREAMS, MAX_STREAMS);
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

/* Check the CA; identity_files.c and credentials.c have checked certificate and key. */
static int check_ca(const struct mpijob__http_identity *identity, char **message)
{
	const char *fault = NULL;
	int rc = identity->ca
		     ? mpijob__http_tls_check_certificate(identity->ca, identity->ca_len, &fault)
		     : 0;

	if (rc != MPIJOB_ERR_SPEC)
		return rc;
	*message = mpijob__base_text_format("certificate-authority %s", fault);
	return *message ? MPIJOB_ERR_AUTH : MPIJOB_ERR_NOMEM;
}

static int copy_identity(struct mpijob__http_pool *pool,
    const struct mpijob__http_identity *identity)
{
	int rc = mpijob__http_secret_set(&pool->identity.certificate, identity->certificate,
	    identity->certificate ? identity->certificate_len : 0);

	if (!rc)
		rc = mpijob__http_secret_set(&pool->identity.key, identity->key,
		    identity->key ? identity->key_len : 0);
	if (!rc)
		rc = mpijob__http_secret_set(&pool->identity.ca, identity->ca,
		    identity->ca ? identity->ca_len : 0);
	return rc;
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
	int rc;

	if (pool && pool->generation == identity->tls_generation && !pool->requests.broken &&
	    !pool->streams.broken) {
		*out = pool;
		return 0;
	}
	rc = check_ca(identity, message);
	if (!rc)
		rc = pool_new(http, identity, &pool);
	if (rc)
		return rc;
	pool->next = http->pools;
	http->pools = pool;
	*out = pool;
	return 0;
}

void mpijob__http_pool_free_old(struct mpijob_http *http)
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
	int rc = multi_open(multi);
	CURL *easy = NULL;

	if (!rc && pool->idle_count)
		easy = pool->idle[--pool->idle_count];
	else if (!rc)
		rc = mpijob__http_easy_new(pool->http, &pool->identity, pool->share, &easy);
	if (!rc)
		rc = mpijob__http_easy_prepare(easy, call, headers);
	/* Curl may call set_timer() inside this call. */
	if (!rc && curl_multi_add_handle(multi->curl, easy))
		rc = MPIJOB_ERR_NOMEM;
	if (rc) {
		curl_easy_cleanup(easy);
		return rc;
	}
	call->transfer.easy = easy;
	call->transfer.multi = multi;
	call->transfer.last_data_ms = mpijob__base_clock_monotonic_ms();
	multi->running++;
	pool->http->non_streaming += !call->request.streaming;
	return 0;
}

/* Whether a stream received nothing for the idle timeout: its connection may be dead and must not
 * be used again. */
static int is_silent(const struct mpijob__http_call *call)
{
	return call->request.streaming &&
	       mpijob__base_clock_monotonic_ms() - call->transfer.last_data_ms >=
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
	pool->http->non_streaming -= !call->request.streaming;
	if (pool->idle_count < IDLE_HANDLES && mpijob__http_easy_reset(call->transfer.easy) == 0)
		pool->idle[pool->idle_count++] = call->transfer.easy;
	else
		curl_easy_cleanup(call->transfer.easy);
	while (pool->idle_count > IDLE_HANDLES_AT_REST && !pool->http->non_streaming)
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

void mpijob__http_pool_use_http1(struct mpijob_http *http)
{
	http->http1_applied = 1;
	for (struct mpijob__http_pool *pool = http->pools; pool; pool = pool->next) {
		if (pool->requests.curl)
			curl_multi_setopt(pool->requests.curl, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			    connections_of(pool, &pool->requests));
		if (pool->streams.curl)
			curl_multi_setopt(pool->streams.curl, CURLMOPT_MAX_TOTAL_CONNECTIONS,
			    connections_of(pool, &pool->streams));
	}
	/* Transfers that wait for a connection notice the new limit only when they are added, or
	 * when another transfer ends. Therefore they are added again. */
	for (struct mpijob__base_list *link = http->calls.next; link->owner; link = link->next) {
		struct mpijob__http_call *call = link->owner;

		if (call->state != MPIJOB__HTTP_CALL_CONNECTING)
			continue;
		curl_multi_remove_handle(call->transfer.multi->curl, call->transfer.easy);
		mpijob__http_easy_no_pipewait(call->transfer.easy);
		if (curl_multi_add_handle(call->transfer.multi->curl, call->transfer.easy)) {
			call->failure.code = MPIJOB_ERR_NOMEM;
			mpijob__http_transport_mark_ready(call);
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adapter for calls that block: threads are bounded, everything is told on the polling thread,
 * and a reader that is behind, gives up or goes away is felt by the call. Meant to be run with
 * ThreadSanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include <mpijob/blocking.h>

#include "client/client.h"

#define CHUNK 65536

/* What the calls do: by the path. */
struct server {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int running, most, performed, destroyed;
	mpijob_blocking_answer *held; /* it waits until it is aborted or let go */
	int aborted, let_go, aborts;
	size_t produced; /* bytes that /flood has told */
	int flood_code;
};

static void nap(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

static int hold(struct server *server, mpijob_blocking_answer *answer)
{
	int aborted;

	pthread_mutex_lock(&server->lock);
	server->held = answer;
	server->aborted = 0;
	pthread_cond_broadcast(&server->changed);
	while (!server->aborted && !server->let_go)
		pthread_cond_wait(&server->changed, &server->lock);
	aborted = server->aborted;
	server->held = NULL;
	pthread_mutex_unlock(&server->lock);
	if (aborted)
		assert_true(mpijob_blocking_cancelled(answer));
	return aborted ? MPIJOB_ERR_CANCELLED : 0;
}

static int flood(struct server *server, mpijob_blocking_answer *answer, size_t most)
{
	char *data = calloc(1, CHUNK);
	int code = 0;

	for (size_t i = 0; code == 0 && i < most; i++) {
		code = mpijob_blocking_data(answer, data, CHUNK);
		pthread_mutex_lock(&server->lock);
		server->produced += code == 0 ? CHUNK : 0;
		server->flood_code = code;
		pthread_mutex_unlock(&server->lock);
	}
	free(data);
	return code;
}

/* Until somebody gives up, and then some. */
static int linger(mpijob_blocking_answer *answer, long ms)
{
	while (!mpijob_blocking_cancelled(answer))
		nap(1);
	nap(ms);
	return MPIJOB_ERR_CANCELLED;
}

static int serve(struct server *server, const struct mpijob_request *request,
    mpijob_blocking_answer *answer)
{
	if (strcmp(request->path, "/lost") == 0) {
		mpijob_blocking_message(answer, "no route");
		mpijob_blocking_message(answer, "the line is cut");
		return MPIJOB_ERR_IO;
	}
	mpijob_blocking_header(answer, "Warning", "299 - \"soon gone\"");
	mpijob_blocking_status(answer, strcmp(request->path, "/api/v1/pods") == 0 ? 404 : 200);
	if (strcmp(request->path, "/hold") == 0)
		return hold(server, answer);
	if (strcmp(request->path, "/endless") == 0)
		return flood(server, answer, SIZE_MAX);
	if (strcmp(request->path, "/flood") == 0)
		return flood(server, answer, 160);
	if (strcmp(request->path, "/soon") == 0 || strcmp(request->path, "/late") == 0)
		return linger(answer, strcmp(request->path, "/late") == 0 ? 50 : 0);
	if (strcmp(request->path, "/echo") == 0) {
		assert_string_equal(request->content_type, "text/x");
		return mpijob_blocking_data(answer, request->body, request->body_len);
	}
	nap(2);
	return mpijob_blocking_data(answer, "{}", 2);
}

static int perform(void *self, const struct mpijob_request *request, mpijob_blocking_answer *answer)
{
	struct server *server = self;
	int code;

	pthread_mutex_lock(&server->lock);
	server->performed++;
	if (++server->running > server->most)
		server->most = server->running;
	pthread_mutex_unlock(&server->lock);
	code = serve(server, request, answer);
	pthread_mutex_lock(&server->lock);
	server->running--;
	pthread_mutex_unlock(&server->lock);
	return code;
}

static void abort_it(void *self, mpijob_blocking_answer *answer)
{
	struct server *server = self;

	assert_true(mpijob_blocking_cancelled(answer));
	pthread_mutex_lock(&server->lock);
	server->aborts++;
	if (server->held == answer) {
		server->aborted = 1;
		pthread_cond_broadcast(&server->changed);
	}
	pthread_mutex_unlock(&server->lock);
}

static void destroy(void *self)
{
	struct server *server = self;

	assert_int_equal(server->running, 0);
	server->destroyed++;
}

static mpijob_client *client_of(struct server *server, int32_t threads,
    struct mpijob_transport *transport, void **self)
{
	struct mpijob_blocking blocking = { sizeof(blocking), perform, abort_it, destroy, threads,
		0 };
	mpijob_client *client;

	memset(server, 0, sizeof(*server));
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->changed, NULL);
	memset(transport, 0, sizeof(*transport));
	transport->size = sizeof(*transport);
	assert_int_equal(mpijob_blocking_new(&blocking, server, transport, self), 0);
	assert_int_equal(mpijob_client_new(transport, *self, &client), 0);
	return client;
}

static void end(mpijob_client *client, struct server *server)
{
	mpijob_client_free(client);
	assert_int_equal(server->destroyed, 1);
	assert_int_equal(server->running, 0);
	pthread_cond_destroy(&server->changed);
	pthread_mutex_destroy(&server->lock);
}

struct got {
	pthread_t thread;
	int done, code, status;
	size_t bytes;
	char message[64], body[64];
};

static int got_data(void *user, const char *data, size_t len)
{
	struct got *got = user;

	(void)data;
	assert_true(pthread_equal(got->thread, pthread_self()));
	got->bytes += len;
	return 0;
}

static void got_done(void *user, const struct mpijob_answer *answer)
{
	struct got *got = user;

	assert_true(pthread_equal(got->thread, pthread_self()));
	got->done++;
	got->code = answer->code;
	got->status = answer->status;
	snprintf(got->message, sizeof(got->message), "%s", answer->message ? answer->message : "");
	snprintf(got->body, sizeof(got->body), "%s", answer->body);
}

static mpijob_call *begin(mpijob_client *client, const char *path, int streaming, struct got *got)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = { sizeof(callbacks), streaming ? got_data : NULL,
		got_done, got };
	mpijob_call *call = NULL;

	memset(got, 0, sizeof(*got));
	got->thread = pthread_self();
	request.method = "PUT";
	request.path = path;
	request.streaming = streaming;
	request.content_type = "text/x";
	request.body = "abc";
	request.body_len = 3;
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, &call), 0);
	assert_int_equal(got->done, 0);
	return call;
}

static void until_done(mpijob_client *client, const struct got *got)
{
	for (int i = 0; i < 5000 && !got->done; i++)
		assert_int_equal(mpijob_client_poll(client, 1000), 0);
	assert_int_equal(got->done, 1);
}

static void answers(void **state)
{
	struct mpijob_transport transport;
	struct server server;
	struct got got;
	void *self;
	mpijob_client *client = client_of(&server, 2, &transport, &self);

	(void)state;
	begin(client, "/echo", 0, &got);
	until_done(client, &got);
	assert_int_equal(got.code, 0);
	assert_int_equal(got.status, 200);
	assert_string_equal(got.body, "abc");
	begin(client, "/lost", 0, &got);
	until_done(client, &got);
	assert_int_equal(got.code, MPIJOB_ERR_IO);
	assert_int_equal(got.status, 0);
	assert_string_equal(got.message, "the line is cut");
	end(client, &server);
}

static void headers(void **state)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	struct mpijob_transport transport;
	mpijob_doc *doc = NULL;
	struct server server;
	void *self;
	mpijob_client *client = client_of(&server, 2, &transport, &self);

	(void)state;
	target.api_version = "v1";
	target.kind = "Pod";
	assert_int_equal(mpijob_client_get(client, &target, &doc, diag), MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(mpijob_diag_count(diag, 0), 2);
	assert_string_equal(mpijob_diag_at(diag, 0)->message, "soon gone");
	mpijob_diag_free(diag);
	end(client, &server);
}

static void many_share_few_threads(void **state)
{
	enum { MANY = 200 };
	struct mpijob_transport transport;
	struct server server;
	struct got *got = calloc(MANY, sizeof(*got));
	void *self;
	mpijob_client *client = client_of(&server, 4, &transport, &self);

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		begin(client, "/x", 0, &got[i]);
	for (size_t i = 0; i < MANY; i++)
		until_done(client, &got[i]);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(got[i].code + got[i].done, 1);
	assert_int_equal(server.performed, MANY);
	assert_in_range(server.most, 2, 4);
	free(got);
	end(client, &server);
}

static void wait_held(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	while (!server->held)
		pthread_cond_wait(&server->changed, &server->lock);
	pthread_mutex_unlock(&server->lock);
}

/* The one thread is busy: what waits for it can be given up, and never runs. What runs is aborted,
 * once. */
static void cancel(void **state)
{
	struct mpijob_transport transport;
	struct server server;
	struct got first, second, third;
	void *self;
	mpijob_client *client = client_of(&server, 1, &transport, &self);
	mpijob_call *running = begin(client, "/hold", 0, &first), *waiting;

	(void)state;
	wait_held(&server);
	waiting = begin(client, "/x", 0, &second);
	begin(client, "/echo", 0, &third);
	mpijob_call_cancel(waiting);
	mpijob_call_cancel(running);
	until_done(client, &third);
	assert_int_equal(first.done + second.done, 0);
	assert_int_equal(server.performed, 2);
	assert_int_equal(server.aborts, 1);
	end(client, &server);
	assert_int_equal(first.done + second.done, 0);
}

static void streams_need_no_pool(void **state)
{
	struct mpijob_transport transport;
	struct server server;
	struct got held, stream, other;
	void *self;
	mpijob_client *client = client_of(&server, 1, &transport, &self);
	mpijob_call *call;

	(void)state;
	begin(client, "/hold", 0, &held);
	wait_held(&server);
	call = begin(client, "/endless", 1, &stream);
	begin(client, "/flood", 1, &other);
	until_done(client, &other);
	assert_int_equal(other.bytes, 160 * CHUNK);
	while (stream.bytes < 50 * CHUNK)
		assert_int_equal(mpijob_client_poll(client, 1000), 0);
	mpijob_call_cancel(call);
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&server.lock);
		call = server.flood_code == MPIJOB_ERR_CANCELLED ? NULL : call;
		pthread_mutex_unlock(&server.lock);
		if (!call)
			break;
		nap(1);
	}
	assert_null(call);
	assert_int_equal(stream.done, 0);
	/* The held one ends by being aborted. */
	end(client, &server);
	assert_int_equal(held.done, 0);
	assert_int_equal(server.aborts, 2);
}

/* The older one ends when the newer one is gone already. */
static void streams_end_in_any_order(void **state)
{
	struct mpijob_transport transport;
	struct server server;
	struct got late, soon;
	void *self;
	mpijob_client *client = client_of(&server, 1, &transport, &self);

	(void)state;
	begin(client, "/late", 1, &late);
	begin(client, "/soon", 1, &soon);
	/* So that what they told does not wait for anybody. */
	for (int i = 0; i < 5; i++) {
		nap(5);
		assert_int_equal(mpijob_client_poll(client, 0), 0);
	}
	end(client, &server);
	assert_int_equal(server.performed, 2);
	assert_false(late.done || soon.done);
}

static size_t produced(struct server *server)
{
	size_t bytes;

	pthread_mutex_lock(&server->lock);
	bytes = server->produced;
	pthread_mutex_unlock(&server->lock);
	return bytes;
}

/* A reader that is behind is felt by the call. */
static void back_pressure(void **state)
{
	struct mpijob_transport transport;
	struct server server;
	struct got got;
	void *self;
	mpijob_client *client = client_of(&server, 1, &transport, &self);
	mpijob_call *call = begin(client, "/flood", 1, &got);
	size_t before;

	(void)state;
	transport.pause(self, &call->exchange, 1);
	while (produced(&server) < CHUNK)
		nap(1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(mpijob_client_poll(client, 10), 0);
	assert_int_equal(got.bytes, 0);
	before = produced(&server);
	assert_in_range(before, CHUNK, 10 * CHUNK);
	transport.pause(self, &call->exchange, 0);
	while (got.bytes == 0)
		assert_int_equal(mpijob_client_poll(client, 1000), 0);
	transport.pause(self, &call->exchange, 1);
	before = got.bytes;
	assert_int_equal(mpijob_client_poll(client, 20), 0);
	assert_int_equal(got.bytes, before);
	transport.pause(self, &call->exchange, 0);
	until_done(client, &got);
	assert_int_equal(got.bytes, 160 * CHUNK);
	end(client, &server);
}

static void *wake_later(void *client)
{
	nap(30);
	mpijob_client_wake(client);
	return NULL;
}

static void wake_and_wait(void **state)
{
	struct mpijob_transport transport;
	struct timespec before, after;
	struct server server;
	struct got got;
	pthread_t thread;
	struct pollfd wait = { -1, POLLIN, 0 };
	int64_t deadline;
	void *self;
	mpijob_client *client = client_of(&server, 1, &transport, &self);

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wake_later, client), 0);
	assert_int_equal(mpijob_client_poll(client, -1), 0);
	pthread_join(thread, NULL);
	/* A wake that came before is not lost, and is used up. */
	mpijob_client_wake(client);
	assert_int_equal(mpijob_client_poll(client, -1), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(mpijob_client_poll(client, 30), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(
	    (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >=
	    29);
	/* A host's own loop. */
	assert_int_equal(mpijob_client_interest(client, &wait.fd, &deadline), 0);
	assert_int_equal(poll(&wait, 1, 0), 0);
	begin(client, "/x", 0, &got);
	for (int i = 0; i < 100 && !got.done; i++) {
		assert_int_equal(poll(&wait, 1, 5000), 1);
		assert_int_equal(mpijob_client_poll(client, 0), 0);
	}
	assert_int_equal(got.done, 1);
	end(client, &server);
}

static void chain_done(void *user, const struct mpijob_answer *answer)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, chain_done, user };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct {
		mpijob_client *client;
		int left;
	} *chain = user;

	assert_int_equal(answer->code, 0);
	request.method = "GET";
	request.path = "/x";
	if (--chain->left > 0)
		assert_int_equal(mpijob_client_start(chain->client, &request, &callbacks, NULL), 0);
}

static void calls_start_in_callbacks(void **state)
{
	struct {
		mpijob_client *client;
		int left;
	} chain = { NULL, 20 };
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, chain_done, &chain };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_transport transport;
	struct server server;
	void *self;

	(void)state;
	chain.client = client_of(&server, 0, &transport, &self);
	request.method = "GET";
	request.path = "/x";
	assert_int_equal(mpijob_client_start(chain.client, &request, &callbacks, NULL), 0);
	while (chain.left > 0)
		assert_int_equal(mpijob_client_poll(chain.client, 1000), 0);
	assert_int_equal(server.performed, 20);
	end(chain.client, &server);
}

static void usage(void **state)
{
	struct mpijob_blocking blocking = MPIJOB_BLOCKING_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct server server = { 0 };
	void *self = NULL;

	(void)state;
	assert_int_equal(mpijob_blocking_new(&blocking, &server, &transport, &self),
	    MPIJOB_ERR_USAGE);
	blocking.perform = perform;
	assert_int_equal(mpijob_blocking_new(NULL, &server, &transport, &self), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_blocking_new(&blocking, &server, NULL, &self), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_blocking_new(&blocking, &server, &transport, NULL),
	    MPIJOB_ERR_USAGE);
	blocking.max_threads = -1;
	assert_int_equal(mpijob_blocking_new(&blocking, &server, &transport, &self),
	    MPIJOB_ERR_USAGE);
	blocking.max_threads = 0;
	transport.size = 16;
	assert_int_equal(mpijob_blocking_new(&blocking, &server, &transport, &self),
	    MPIJOB_ERR_USAGE);
	assert_null(self);
	transport.size = sizeof(transport);
	assert_int_equal(mpijob_blocking_new(&blocking, &server, &transport, &self), 0);
	transport.destroy(self);
	assert_int_equal(server.performed + server.destroyed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(headers),
		cmocka_unit_test(many_share_few_threads),
		cmocka_unit_test(cancel),
		cmocka_unit_test(streams_need_no_pool),
		cmocka_unit_test(streams_end_in_any_order),
		cmocka_unit_test(back_pressure),
		cmocka_unit_test(wake_and_wait),
		cmocka_unit_test(calls_start_in_callbacks),
		cmocka_unit_test(usage),
	};

	return cmocka_run_group_tests_name("cluster_blocking", tests, NULL, NULL);
}

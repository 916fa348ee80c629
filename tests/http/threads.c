/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several transports, each on a thread of its own, while other threads wake them: what may be done
 * from another thread, and that transports share nothing. Built by test-threads with
 * ThreadSanitizer. It stands in for the client on the seam, so the order of what is told is checked
 * here too.
 */
#include "expect.h"

#include <mpijob/http.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS   4
#define AT_A_TIME 12
#define EXCHANGES 150

struct mpijob_exchange {
	void *slot;
	struct worker *worker;
	int status;
	size_t bytes;
	int ended;
	int cancelled;
	int code;
};

struct worker {
	struct mpijob_transport transport;
	mpijob_http *http;
	mpijob_exchange exchanges[AT_A_TIME];
	size_t started, ended, cancelled, failed;
	unsigned dice;
	int inside; /* of poll: telling is allowed */
	pthread_t self;
	pthread_t thread;
};

static struct worker workers[THREADS];
static const mpijob_http_config *config;
static atomic_int over;

static void told(mpijob_exchange *exchange)
{
	expect(exchange->worker->inside, "told outside of poll");
	expect(pthread_equal(exchange->worker->self, pthread_self()), "told on another thread");
	expect(!exchange->ended, "told after the end");
	expect(!exchange->cancelled, "told after cancel");
}

void mpijob_exchange_header(mpijob_exchange *exchange, const char *name, const char *value)
{
	told(exchange);
	expect(!exchange->status, "a header after the status");
	expect(*name && value, "a header without a name");
}

void mpijob_exchange_status(mpijob_exchange *exchange, int status)
{
	told(exchange);
	expect(!exchange->status && status >= 200, "one final status");
	exchange->status = status;
}

/* Some are given up here, in the middle of being told. */
void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len)
{
	struct worker *worker = exchange->worker;

	told(exchange);
	expect(exchange->status && data, "data before the status");
	exchange->bytes += len;
	if (rand_r(&worker->dice) % 16 == 0) {
		worker->transport.cancel(worker->http, exchange);
		exchange->cancelled = 1;
		worker->cancelled++;
	} else if (rand_r(&worker->dice) % 4 == 0) {
		worker->transport.pause(worker->http, exchange, 1);
		worker->transport.pause(worker->http, exchange, 0);
	}
}

void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message)
{
	told(exchange);
	expect(code <= 0 && (!code || message), "a failure has words");
	exchange->ended = 1;
	exchange->code = code;
	exchange->worker->ended++;
	exchange->worker->failed += code != 0;
}

void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot)
{
	exchange->slot = slot;
}

void *mpijob_exchange_slot(const mpijob_exchange *exchange)
{
	return exchange->slot;
}

static void start_one(struct worker *worker, mpijob_exchange *exchange)
{
	static const char *const paths[] = { "/echo", "/stream?n=20&ms=1", "/slow?s=0.02",
		"/stream?n=3&size=30000", "/truncated" };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	unsigned which = (unsigned)rand_r(&worker->dice) % 5;

	memset(exchange, 0, sizeof(*exchange));
	exchange->worker = worker;
	request.method = which ? "GET" : "POST";
	request.path = paths[which];
	request.body = which ? NULL : "{}";
	request.body_len = which ? 0 : 2;
	request.streaming = which == 1 || which == 3;
	expect(worker->transport.start(worker->http, &request, exchange) == 0, "a start");
	worker->started++;
}

static int is_free(const mpijob_exchange *exchange)
{
	return !exchange->worker || exchange->ended || exchange->cancelled;
}

static void turn(struct worker *worker)
{
	size_t busy = 0;

	for (size_t i = 0; i < AT_A_TIME; i++) {
		mpijob_exchange *exchange = &worker->exchanges[i];

		if (!is_free(exchange) && rand_r(&worker->dice) % 300 == 0) {
			worker->transport.cancel(worker->http, exchange);
			exchange->cancelled = 1;
			worker->cancelled++;
		}
		if (is_free(exchange) && worker->started < EXCHANGES)
			start_one(worker, exchange);
		busy += !is_free(exchange);
	}
	if (!busy)
		return;
	worker->inside = 1;
	expect(worker->transport.poll(worker->http, 1000) == 0, "a poll");
	worker->inside = 0;
}

static void *run(void *user)
{
	struct worker *worker = user;

	worker->self = pthread_self();
	while (worker->started < EXCHANGES || worker->ended + worker->cancelled < worker->started)
		turn(worker);
	return NULL;
}

static void *wake_all(void *user)
{
	struct timespec pause = { 0, 2000000 };

	(void)user;
	while (!atomic_load(&over)) {
		for (size_t i = 0; i < THREADS; i++)
			workers[i].transport.wake(workers[i].http);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Made on its own thread: several may be the first user of libcurl. */
static void *make(void *user)
{
	struct worker *worker = user;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;

	expect(mpijob_http_new(config, NULL, &transport, &worker->http, NULL) == 0, "a transport");
	worker->transport = transport;
	return NULL;
}

static void on_all_threads(void *(*function)(void *))
{
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&workers[i].thread, NULL, function, &workers[i]);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	mpijob_http_config *loaded = NULL;
	size_t ended = 0, cancelled = 0, failed = 0;
	pthread_t waker;

	wish.server = argc > 1 ? argv[1] : NULL;
	wish.certificate_authority = argc > 2 ? argv[2] : NULL;
	if (mpijob_http_config_load(&wish, &loaded, NULL))
		return 2;
	config = loaded;
	for (size_t i = 0; i < THREADS; i++)
		workers[i].dice = (unsigned)i + 1;
	on_all_threads(make);
	if (pthread_create(&waker, NULL, wake_all, NULL))
		return 2;
	on_all_threads(run);
	atomic_store(&over, 1);
	pthread_join(waker, NULL);
	for (size_t i = 0; i < THREADS; i++) {
		ended += workers[i].ended;
		cancelled += workers[i].cancelled;
		failed += workers[i].failed;
		workers[i].transport.destroy(workers[i].http);
	}
	mpijob_http_config_free(loaded);
	printf("{\"ended\": %zu, \"cancelled\": %zu, \"failed\": %zu, \"wrong\": %d}\n", ended,
	    cancelled, failed, atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}

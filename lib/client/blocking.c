/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only threads of the library: they make blocking calls look like exchanges that do not block.
 *
 * A worker never touches an exchange. It adds pieces to its answer, under the one lock, and writes
 * to the eventfd. The poll takes them on its own thread and reports them without the lock, because
 * a callback may start the next exchange. Only poll and destroy free an answer, after its worker
 * has released it and its exchange has ended.
 */
#include "client/blocking_answer.h"

#include "base/struct.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DEFAULT_THREADS 8
#define MOST_THREADS    1024
#define PIECES_AT_ONCE  64 /* of one answer, before the next answer has its turn */

/* ---- workers ---- */

/* Called with the lock held; releases it while `perform` runs. */
static void perform(struct adapter *adapter, struct mpijob_blocking_answer *answer)
{
	int code = MPIJOB_ERR_CANCELLED;

	if (!answer->cancelled) {
		answer->performing = 1;
		pthread_mutex_unlock(&adapter->lock);
		code = adapter->blocking.perform(adapter->self, &answer->request, answer);
		pthread_mutex_lock(&adapter->lock);
		answer->performing = 0;
	}
	while (answer->aborting)
		pthread_cond_wait(&answer->changed, &adapter->lock);
	answer->code = code > 0 ? MPIJOB_ERR_IO : code;
	answer->over = 1;
	mpijob__client_blocking_push_ready(answer);
}

static void *run_stream(void *user)
{
	struct mpijob_blocking_answer *answer = user;
	struct adapter *adapter = answer->adapter;

	pthread_mutex_lock(&adapter->lock);
	perform(adapter, answer);
	pthread_mutex_unlock(&adapter->lock);
	return NULL;
}

static void *run_pool(void *user)
{
	struct adapter *adapter = user;

	pthread_mutex_lock(&adapter->lock);
	while (!adapter->stopping) {
		if (adapter->waiting) {
			perform(adapter, mpijob__client_blocking_pop_waiting(adapter));
			continue;
		}
		adapter->idle++;
		pthread_cond_wait(&adapter->work, &adapter->lock);
		adapter->idle--;
	}
	pthread_mutex_unlock(&adapter->lock);
	return NULL;
}

/* The threads block all signals: these belong to the host. */
static int start_thread(pthread_t *thread, void *(*run)(void *), void *user)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, user);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed ? MPIJOB_ERR_NOMEM : 0;
}

/* ---- the transport ---- */

/* Called with the lock held. 0, or MPIJOB_ERR_NOMEM when no thread can serve the answer. */
static int start_worker(struct adapter *adapter)
{
	if (adapter->idle >= adapter->waiting_count ||
	    adapter->thread_count == (size_t)adapter->blocking.max_threads)
		return 0;
	if (start_thread(&adapter->threads[adapter->thread_count], run_pool, adapter))
		return adapter->thread_count ? 0 : MPIJOB_ERR_NOMEM;
	adapter->thread_count++;
	return 0;
}

static int start_ordinary(struct mpijob_blocking_answer *answer)
{
	struct adapter *adapter = answer->adapter;
	int rc;

	mpijob__client_blocking_push_waiting(answer);
	rc = start_worker(adapter);
	if (rc)
		mpijob__client_blocking_drop_waiting(answer);
	else
		pthread_cond_signal(&adapter->work);
	return rc;
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct adapter *adapter = self;
	struct mpijob_blocking_answer *answer =
	    mpijob__client_blocking_new(adapter, request, exchange);
	int rc;

	if (!answer)
		return MPIJOB_ERR_NOMEM;
	pthread_mutex_lock(&adapter->lock);
	if (request->streaming) {
		rc = start_thread(&answer->thread, run_stream, answer);
		answer->has_thread = rc == 0;
	} else {
		rc = start_ordinary(answer);
	}
	if (rc == 0)
		mpijob__client_blocking_link(answer);
	pthread_mutex_unlock(&adapter->lock);
	if (rc) {
		mpijob__client_blocking_free(answer);
		return rc;
	}
	mpijob_exchange_set_slot(exchange, answer);
	return 0;
}

/* Called without the lock. */
static void report_piece(mpijob_exchange *exchange, const struct piece *piece)
{
	if (piece->what == PIECE_HEADER)
		mpijob_exchange_header(exchange, piece->text, piece->text + piece->name_len + 1);
	else if (piece->what == PIECE_STATUS)
		mpijob_exchange_status(exchange, piece->status);
	else
		mpijob_exchange_data(exchange, piece->text, piece->len);
}

static struct piece *take_piece(struct mpijob_blocking_answer *answer)
{
	struct piece *piece = answer->first;

	if (!piece || !answer->exchange || (answer->paused && piece->what == PIECE_DATA))
		return NULL;
	answer->first = piece->next;
	if (!answer->first)
		answer->last = NULL;
	answer->queued -= piece->len;
	if (answer->queued < MPIJOB__CLIENT_BLOCKING_FULL)
		pthread_cond_broadcast(&answer->changed);
	return piece;
}

/* Called with the lock held; releases it. */
static void report_end(struct mpijob_blocking_answer *answer)
{
	mpijob_exchange *exchange = answer->exchange;
	int code = answer->broken ? MPIJOB_ERR_NOMEM : answer->code;

	answer->exchange = NULL;
	pthread_mutex_unlock(&answer->adapter->lock);
	mpijob_exchange_end(exchange, code, answer->broken ? NULL : answer->message);
	pthread_mutex_lock(&answer->adapter->lock);
}

/* Called with the lock held, which is released while something is reported. 1 when anything was
 * reported; may free the answer. */
static int serve(struct mpijob_blocking_answer *answer)
{
	struct adapter *adapter = answer->adapter;
	struct piece *piece;
	int reported = 0;

	while (reported < PIECES_AT_ONCE && (piece = take_piece(answer)) != NULL) {
		mpijob_exchange *exchange = answer->exchange;

		pthread_mutex_unlock(&adapter->lock);
		report_piece(exchange, piece);
		mpijob__client_blocking_free_piece(piece);
		pthread_mutex_lock(&adapter->lock);
		reported++;
	}
	if (reported == PIECES_AT_ONCE) {
		mpijob__client_blocking_push_ready(answer);
		return reported;
	}
	if (answer->over && answer->exchange && !answer->first) {
		report_end(answer);
		reported++;
	}
	/* It is ready again, and is reported later. */
	if (answer->over && !answer->exchange && !answer->is_ready) {
		mpijob__client_blocking_unlink(answer);
		pthread_mutex_unlock(&adapter->lock);
		mpijob__client_blocking_free(answer);
		pthread_mutex_lock(&adapter->lock);
	}
	return reported;
}

/* Report what is ready now; what becomes ready meanwhile waits for the next poll. 1 when anything
 * was reported. */
static int serve_ready(struct adapter *adapter)
{
	struct mpijob_blocking_answer *answer;
	size_t left = 0;
	int reported = 0;

	pthread_mutex_lock(&adapter->lock);
	for (answer = adapter->ready; answer; answer = answer->next_ready)
		left++;
	while (left-- > 0 && (answer = mpijob__client_blocking_pop_ready(adapter)) != NULL)
		reported += serve(answer);
	pthread_mutex_unlock(&adapter->lock);
	return reported > 0;
}

static void quiet(struct adapter *adapter)
{
	uint64_t count;

	while (read(adapter->fd, &count, sizeof(count)) < 0 && errno == EINTR)
		;
}

static int poll_adapter(void *self, int timeout_ms)
{
	struct adapter *adapter = self;
	int64_t until = timeout_ms > 0 ? mpijob__base_clock_monotonic_ms() + timeout_ms : 0;

	for (;;) {
		struct pollfd wait = { adapter->fd, POLLIN, 0 };
		int64_t left = timeout_ms;

		quiet(adapter);
		if (serve_ready(adapter) || atomic_exchange(&adapter->woken, 0))
			return 0;
		if (timeout_ms > 0)
			left = until - mpijob__base_clock_monotonic_ms();
		if (timeout_ms == 0 || (timeout_ms > 0 && left <= 0))
			return 0;
		if (poll(&wait, 1, timeout_ms < 0 ? -1 : (int)left) < 0)
			return errno == EINTR ? 0 : MPIJOB_ERR_IO;
	}
}

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	struct adapter *adapter = self;

	/* The eventfd is drained: what a poll left over does not wake the next one. */
	pthread_mutex_lock(&adapter->lock);
	*deadline_ms = adapter->ready ? mpijob__base_clock_monotonic_ms() : -1;
	pthread_mutex_unlock(&adapter->lock);
	*fd = adapter->fd;
	return 0;
}

static void pause_answer(void *self, mpijob_exchange *exchange, int on)
{
	struct adapter *adapter = self;
	struct mpijob_blocking_answer *answer = mpijob_exchange_slot(exchange);

	pthread_mutex_lock(&adapter->lock);
	answer->paused = on;
	if (!on)
		mpijob__client_blocking_push_ready(answer);
	pthread_mutex_unlock(&adapter->lock);
}

/* Called with the lock held, which is released while `abort` runs. The worker waits for that before
 * it releases the answer. */
static void abort_perform(struct mpijob_blocking_answer *answer)
{
	struct adapter *adapter = answer->adapter;

	if (!answer->performing || !adapter->blocking.abort)
		return;
	answer->aborting = 1;
	pthread_mutex_unlock(&adapter->lock);
	adapter->blocking.abort(adapter->self, answer);
	pthread_mutex_lock(&adapter->lock);
	answer->aborting = 0;
	pthread_cond_broadcast(&answer->changed);
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	struct adapter *adapter = self;
	struct mpijob_blocking_answer *answer = mpijob_exchange_slot(exchange);

	pthread_mutex_lock(&adapter->lock);
	answer->exchange = NULL;
	answer->cancelled = 1;
	mpijob__client_blocking_drop_pieces(answer);
	if (answer->is_waiting) {
		mpijob__client_blocking_drop_waiting(answer);
		answer->over = 1;
		mpijob__client_blocking_push_ready(answer);
	} else if (answer->over) {
		mpijob__client_blocking_push_ready(answer);
	} else {
		pthread_cond_broadcast(&answer->changed);
		abort_perform(answer);
	}
	pthread_mutex_unlock(&adapter->lock);
}

static void wake(void *self)
{
	struct adapter *adapter = self;

	atomic_store(&adapter->woken, 1);
	mpijob__client_blocking_ring(adapter);
}

static void free_adapter(struct adapter *adapter)
{
	pthread_cond_destroy(&adapter->work);
	pthread_mutex_destroy(&adapter->lock);
	if (adapter->fd >= 0)
		close(adapter->fd);
	free(adapter->threads);
	free(adapter);
}

static void destroy(void *self)
{
	struct adapter *adapter = self;
	struct mpijob_blocking_answer *answer;

	pthread_mutex_lock(&adapter->lock);
	adapter->stopping = 1;
	pthread_cond_broadcast(&adapter->work);
	pthread_mutex_unlock(&adapter->lock);
	for (size_t i = 0; i < adapter->thread_count; i++)
		pthread_join(adapter->threads[i], NULL);
	/* Abort all before the first one is freed: an answer that ends joins the list of the ready
	 * ones. */
	for (struct mpijob__base_list *link = adapter->answers.next; link->owner; link = link->next)
		mpijob__client_blocking_join(link->owner);
	while ((answer = mpijob__base_list_first(&adapter->answers)) != NULL) {
		mpijob__client_blocking_unlink(answer);
		mpijob__client_blocking_free(answer);
	}
	if (adapter->blocking.destroy)
		adapter->blocking.destroy(adapter->self);
	free_adapter(adapter);
}

static int new_adapter(const struct mpijob_blocking *blocking, void *self, struct adapter **out)
{
	struct adapter *adapter = calloc(1, sizeof(*adapter));

	if (!adapter)
		return MPIJOB_ERR_NOMEM;
	adapter->blocking = *blocking;
	adapter->self = self;
	mpijob__base_list_init(&adapter->answers);
	if (pthread_mutex_init(&adapter->lock, NULL)) {
		free(adapter);
		return MPIJOB_ERR_NOMEM;
	}
	if (pthread_cond_init(&adapter->work, NULL)) {
		pthread_mutex_destroy(&adapter->lock);
		free(adapter);
		return MPIJOB_ERR_NOMEM;
	}
	adapter->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	adapter->threads = calloc((size_t)blocking->max_threads, sizeof(*adapter->threads));
	if (adapter->fd < 0 || !adapter->threads) {
		int rc = adapter->fd < 0 ? MPIJOB_ERR_IO : MPIJOB_ERR_NOMEM;

		free_adapter(adapter);
		return rc;
	}
	*out = adapter;
	return 0;
}

int mpijob_blocking_new(const struct mpijob_blocking *blocking, void *self,
    struct mpijob_transport *transport, void **out)
{
	static const struct mpijob_transport functions = {
		sizeof(functions),
		start,
		poll_adapter,
		interest,
		pause_answer,
		cancel,
		wake,
		destroy,
	};
	struct mpijob_blocking known;
	struct adapter *adapter;
	int rc = blocking && transport && out
		     ? mpijob__base_struct_check(&known, sizeof(known), blocking)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (!known.perform || known.max_threads < 0)
		return MPIJOB_ERR_USAGE;
	/* A transport needs all these functions. */
	if (transport->size < sizeof(functions))
		return MPIJOB_ERR_USAGE;
	if (known.max_threads == 0)
		known.max_threads = DEFAULT_THREADS;
	if (known.max_threads > MOST_THREADS)
		known.max_threads = MOST_THREADS;
	rc = new_adapter(&known, self, &adapter);
	if (rc)
		return rc;
	memcpy((char *)transport + sizeof(transport->size),
	    (const char *)&functions + sizeof(functions.size),
	    sizeof(functions) - sizeof(functions.size));
	*out = adapter;
	return 0;
}

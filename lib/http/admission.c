/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call waits for before it is given to curl: credentials, for which a plugin may need time,
 * and a free slot. Only requests that do not stream need a slot; their number is limited to what
 * curl can use. While a plugin prompts the user, the deadlines of all waiting calls are stopped.
 */
#include "http/admission.h"
#include "base/clock.h"

#include "http/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/*
 * A server accepts 100 to 250 concurrent streams per connection, and a quarter of the connections
 * is for requests that do not stream. Inside curl, waiting transfers cost memory and slow down each
 * other transfer. Therefore calls wait here, in http->queued.
 */
#define MIN_NON_STREAMING ((size_t)512)
#define PER_CONNECTION    ((size_t)64)

void mpijob__http_admission_watch_plugin(struct mpijob_http *http)
{
	int fd = mpijob__http_credentials_fd(http->credentials);
	struct epoll_event event = { 0 };

	if (http->plugin_fd >= 0)
		epoll_ctl(http->epoll, EPOLL_CTL_DEL, http->plugin_fd, &event);
	http->plugin_fd = -1;
	if (fd < 0)
		return;
	event.events = EPOLLIN;
	event.data.u64 = MPIJOB__HTTP_ADMISSION_PLUGIN_EVENT;
	if (epoll_ctl(http->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		http->plugin_fd = fd;
}

void mpijob__http_admission_step_plugin(struct mpijob_http *http, int64_t now_ms)
{
	int64_t due = mpijob__http_credentials_due_ms(http->credentials);

	if (http->plugin_fd < 0 && (due < 0 || due > now_ms))
		return;
	mpijob__http_credentials_step(http->credentials, now_ms);
	mpijob__http_admission_watch_plugin(http);
}

/* 1: *identity is set; 0: a plugin runs; negative: the error. Plain HTTP gets no credentials. */
static int prepare(struct mpijob_http *http, const struct mpijob__http_identity **identity,
    const char **message)
{
	static const struct mpijob__http_identity no_identity = { 0 };
	int ready = 1;

	*identity = &no_identity;
	if (!http->server.tls)
		return 1;
	ready = mpijob__http_credentials_prepare(http->credentials,
	    mpijob__base_clock_monotonic_ms(), message);
	mpijob__http_admission_watch_plugin(http);
	if (ready == 1)
		*identity = mpijob__http_credentials_identity(http->credentials);
	return ready;
}

static void send_call(struct mpijob__http_call *call, const struct mpijob__http_identity *identity)
{
	struct mpijob_http *http = call->http;
	struct curl_slist *headers = NULL;
	struct mpijob__http_pool *pool = NULL;
	char *message = NULL;
	int rc = mpijob__http_pool_find(http, identity, &pool, &message);

	mpijob__http_transport_start_deadline(call);
	call->transfer.token_generation = identity->token_generation;
	call->transfer.tls_generation = identity->tls_generation;
	if (!rc)
		rc = mpijob__http_request_headers_fill(&call->headers, identity->authorization,
		    call->request.content_type, http->headers, &headers);
	if (!rc) {
		mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_CONNECTING);
		rc = mpijob__http_pool_start(pool, call, headers);
	}
	if (rc)
		mpijob__http_transport_end_call(call, rc, message);
}

/* How many more requests that do not stream curl may get. */
static size_t free_slots(const struct mpijob_http *http)
{
	size_t most = PER_CONNECTION * (size_t)http->max_connections;

	if (most < MIN_NON_STREAMING)
		most = MIN_NON_STREAMING;
	return http->non_streaming < most ? most - http->non_streaming : 0;
}

int mpijob__http_admission_has_room(const struct mpijob_http *http)
{
	return mpijob__base_list_first(&http->queued) && free_slots(http) &&
	       mpijob__http_credentials_due_ms(http->credentials) < 0;
}

/* Move queued calls to the head of http->waiting, one for each free slot. */
static void admit_queued(struct mpijob_http *http)
{
	struct mpijob__base_list *place = http->waiting.next;
	size_t room = mpijob__http_admission_has_room(http) ? free_slots(http) : 0;
	struct mpijob__http_call *call;

	for (; room > 0 && (call = mpijob__base_list_first(&http->queued)) != NULL; room--) {
		mpijob__base_list_remove(&call->queue);
		mpijob__base_list_insert(place, &call->queue, call);
		mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_CREDENTIALS);
	}
}

static void queue_call(struct mpijob__http_call *call)
{
	mpijob__base_list_remove(&call->queue);
	mpijob__base_list_insert(&call->http->queued, &call->queue, call);
	mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_QUEUED);
}

static void stop_deadlines(struct mpijob__base_list *calls)
{
	for (struct mpijob__base_list *link = calls->next; link->owner; link = link->next)
		mpijob__base_list_remove(&((struct mpijob__http_call *)link->owner)->deadline.link);
}

static void stop_deadlines_for_prompt(struct mpijob_http *http)
{
	if (!mpijob__http_credentials_may_prompt(http->credentials))
		return;
	stop_deadlines(&http->waiting);
	stop_deadlines(&http->queued);
}

void mpijob__http_admission_send_calls(struct mpijob_http *http)
{
	const struct mpijob__http_identity *identity = NULL;
	struct mpijob__base_list *last;

	admit_queued(http);
	last = http->waiting.prev;

	while (last->owner && http->waiting.next->owner) {
		struct mpijob__http_call *call = http->waiting.next->owner;
		int cancelled = call->state == MPIJOB__HTTP_CALL_CANCELLED;
		int is_last = http->waiting.next == last;
		const char *why = NULL;
		int must_queue = !cancelled && !call->request.streaming && !free_slots(http);
		int ready = !cancelled && !must_queue ? prepare(http, &identity, &why) : 1;

		if (ready == 0) {
			stop_deadlines_for_prompt(http);
			return;
		}
		mpijob__base_list_remove(&call->queue);
		if (must_queue)
			queue_call(call);
		else if (cancelled)
			mpijob__http_transport_free_call(call);
		else if (ready > 0)
			send_call(call, identity);
		else
			mpijob__http_transport_end_call(call, ready, why ? strdup(why) : NULL);
		if (is_last)
			return;
	}
}

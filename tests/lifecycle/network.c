/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated network of one operator: a transport before the embedded cluster that delays
 * responses, loses them before or after the request took effect, holds back events of a kind, and
 * breaks watches.
 */
#include "lifecycle.h"

#include "local/route.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum piece_kind { PIECE_HEADER, PIECE_STATUS, PIECE_DATA, PIECE_END };

struct piece {
	struct piece *next;
	int64_t at_ms;
	enum piece_kind kind;
	int number; /* status or code; of a header: 1 Date, 0 Retry-After */
	size_t len;
	char data[];
};

struct flight {
	struct flight *prev, *next;
	struct network *network;
	mpijob_exchange *exchange; /* NULL: nobody waits for it */
	mpijob_call *inner;        /* NULL: not sent, or answered */
	struct piece *first, *last;
	enum fault fault;
	int kind; /* KIND_*, or MPIJOB__LOCAL_KIND_COUNT */
	int streaming, status_told, over;
	struct mpijob_request late; /* kept when it is sent later */
	int64_t late_ms;
};

static void add_piece(struct flight *flight, enum piece_kind kind, int number, const char *data,
    size_t len, int64_t wait_ms)
{
	struct piece *piece = malloc(sizeof(*piece) + len + 1);

	NEED(piece);
	piece->next = NULL;
	piece->kind = kind;
	piece->number = number;
	piece->len = len;
	piece->at_ms = clock_ms() + wait_ms;
	if (len)
		memcpy(piece->data, data, len);
	piece->data[len] = 0;
	if (flight->last && flight->last->at_ms > piece->at_ms)
		piece->at_ms = flight->last->at_ms;
	if (flight->last)
		flight->last->next = piece;
	else
		flight->first = piece;
	flight->last = piece;
}

static void drop_piece(struct flight *flight)
{
	struct piece *piece = flight->first;

	flight->first = piece->next;
	if (!flight->first)
		flight->last = NULL;
	free(piece);
}

static void flight_free(struct flight *flight)
{
	struct network *network = flight->network;

	if (flight->inner)
		mpijob_call_cancel(flight->inner);
	while (flight->first)
		drop_piece(flight);
	if (flight->prev)
		flight->prev->next = flight->next;
	else
		network->first = flight->next;
	if (flight->next)
		flight->next->prev = flight->prev;
	else
		network->last = flight->prev;
	free((char *)flight->late.method);
	free((char *)flight->late.path);
	free((char *)flight->late.content_type);
	free((char *)flight->late.body);
	free(flight);
}

/* Two operators with caches of different age revert each other's writes until both are up to date.
 * Responses are slow then, so that this ends. */
static int64_t wait_of(const struct flight *flight)
{
	const struct world *world = flight->network->world;
	int64_t wait_ms = world->seats[0].operator_ && world->seats[1].operator_ ? 20 : 0;

	if (flight->streaming)
		return flight->kind < MPIJOB__LOCAL_KIND_COUNT
			   ? flight->network->lag_ms[flight->kind]
			   : 0;
	if (wait_ms < flight->network->latency_ms)
		wait_ms = flight->network->latency_ms;
	return wait_ms + (flight->fault == FAULT_SLOW ? 20000 : 0);
}

/* Servers tell their time, which an operator whose own clock is wrong goes by. */
static void tell_date(struct flight *flight, int64_t wait_ms)
{
	struct timespec now = { 0, 0 };
	struct tm parts;
	char text[40];
	size_t len;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	NEED(gmtime_r(&now.tv_sec, &parts) != NULL);
	len = strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
	add_piece(flight, PIECE_HEADER, 1, text, len, wait_ms);
}

static void answer(struct flight *flight, int status, const char *header, const char *body,
    size_t len)
{
	int64_t wait_ms = wait_of(flight);

	if (header)
		add_piece(flight, PIECE_HEADER, 0, header, strlen(header), wait_ms);
	tell_date(flight, wait_ms);
	add_piece(flight, PIECE_STATUS, status, NULL, 0, wait_ms);
	add_piece(flight, PIECE_DATA, 0, body, len, wait_ms);
	add_piece(flight, PIECE_END, 0, NULL, 0, wait_ms);
}

static void refuse(struct flight *flight, int status, const char *reason, const char *header)
{
	char body[200];
	int len = snprintf(body, sizeof(body),
	    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"%s\","
	    "\"message\":\"%s, says the driver\",\"code\":%d}",
	    reason, reason, status);

	answer(flight, status, header, body, (size_t)len);
}

/* --- the cluster's side --- */

static int take_data(void *user, const char *data, size_t len)
{
	struct flight *flight = user;

	if (!flight->status_told) {
		tell_date(flight, 0);
		add_piece(flight, PIECE_STATUS, 200, NULL, 0, 0);
	}
	flight->status_told = 1;
	add_piece(flight, PIECE_DATA, 0, data, len, wait_of(flight));
	return 0;
}

static void take_answer(void *user, const struct mpijob_answer *given)
{
	struct flight *flight = user;

	flight->inner = NULL;
	switch (flight->fault) {
	case FAULT_ERROR_AFTER: refuse(flight, 500, "InternalError", NULL); return;
	case FAULT_LOST_AFTER: add_piece(flight, PIECE_END, MPIJOB_ERR_IO, NULL, 0, 0); return;
	case FAULT_TIMEOUT_AFTER:
		add_piece(flight, PIECE_END, MPIJOB_ERR_TIMEOUT, NULL, 0, 30000);
		return;
	case FAULT_LATE: flight->over = 1; return;
	default: break;
	}
	if (flight->streaming && flight->status_told)
		add_piece(flight, PIECE_END, 0, NULL, 0, wait_of(flight));
	else if (given->status)
		answer(flight, given->status, given->retry_after_ms ? "1" : NULL, given->body,
		    given->body_len);
	else
		add_piece(flight, PIECE_END, given->code, NULL, 0, 0);
}

static int pass_on(struct flight *flight, const struct mpijob_request *request)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;

	callbacks.data = flight->streaming ? take_data : NULL;
	callbacks.done = take_answer;
	callbacks.user = flight;
	return mpijob_client_start(flight->network->world->driver, request, &callbacks,
	    &flight->inner);
}

static char *copy(const char *text)
{
	char *out = text ? strdup(text) : NULL;

	NEED(!text || out);
	return out;
}

static void keep(struct flight *flight, const struct mpijob_request *request)
{
	flight->late = *request;
	flight->late.method = copy(request->method);
	flight->late.path = copy(request->path);
	flight->late.content_type = copy(request->content_type);
	flight->late.body = NULL;
	if (request->body_len) {
		char *body = malloc(request->body_len);

		NEED(body);
		memcpy(body, request->body, request->body_len);
		flight->late.body = body;
	}
	flight->late_ms = clock_ms() + 2000;
}

static void send_late(struct network *network)
{
	for (struct flight *flight = network->first, *next; flight; flight = next) {
		next = flight->next;
		if (flight->over && !flight->exchange && !flight->first) {
			flight_free(flight);
		} else if (flight->late_ms && flight->late_ms <= clock_ms()) {
			flight->late_ms = 0;
			NEED(pass_on(flight, &flight->late) == 0);
		}
	}
}

/* --- the operator's side --- */

static enum fault next_fault(struct network *network)
{
	enum fault fault;

	if (!network->fault_count)
		return FAULT_NONE;
	fault = network->faults[0];
	network->fault_count--;
	memmove(network->faults, network->faults + 1,
	    network->fault_count * sizeof(network->faults[0]));
	return fault;
}

static int kind_of(const char *path)
{
	struct mpijob__local_route route = { 0 };
	int kind = MPIJOB__LOCAL_KIND_COUNT;

	NEED(mpijob__local_route_parse(&route, path) == 0);
	if (route.kind)
		kind = (int)route.kind->id;
	mpijob__local_route_clear(&route);
	return kind;
}

static int begin_fault(struct flight *flight, const struct mpijob_request *request)
{
	switch (flight->fault) {
	case FAULT_CONFLICT: refuse(flight, 409, "Conflict", NULL); return 0;
	case FAULT_BUSY: refuse(flight, 429, "TooManyRequests", "1"); return 0;
	case FAULT_ERROR: refuse(flight, 500, "InternalError", NULL); return 0;
	case FAULT_LOST_BEFORE: add_piece(flight, PIECE_END, MPIJOB_ERR_IO, NULL, 0, 0); return 0;
	case FAULT_UNREACHABLE:
		add_piece(flight, PIECE_END, MPIJOB_ERR_UNREACHABLE, NULL, 0, 0);
		return 0;
	case FAULT_LATE:
		keep(flight, request);
		add_piece(flight, PIECE_END, MPIJOB_ERR_IO, NULL, 0, 0);
		return 0;
	default: return pass_on(flight, request);
	}
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct network *network = self;
	struct flight *flight = calloc(1, sizeof(*flight));
	int code;

	NEED(flight);
	flight->network = network;
	flight->exchange = exchange;
	flight->streaming = request->streaming;
	flight->kind = kind_of(request->path);
	flight->prev = network->last;
	if (network->last)
		network->last->next = flight;
	else
		network->first = flight;
	network->last = flight;
	mpijob_exchange_set_slot(exchange, flight);
	invariants_request(network->world, request, network->number);
	if (network->world->trace == TRACE_ON)
		fprintf(stderr, "%9lld   operator %d: %s %.120s%s%.*s\n", (long long)clock_ms(),
		    network->number, request->method, request->path, request->body_len ? " " : "",
		    request->body_len > 400 ? 400 : (int)request->body_len,
		    request->body ? request->body : "");
	if (strcmp(request->method, "GET") != 0 && flight->kind != MPIJOB__LOCAL_KIND_EVENT)
		flight->fault = next_fault(network);
	if (flight->streaming && network->refuse_watches > 0) {
		refuse(flight, network->refuse_watches-- & 1 ? 410 : 500, "Expired", NULL);
		return 0;
	}
	code = begin_fault(flight, request);
	if (code)
		flight_free(flight);
	return code;
}

/* Tell one piece; 1 when the flight is over. */
static int tell(struct flight *flight)
{
	struct piece *piece = flight->first;
	mpijob_exchange *exchange = flight->exchange;
	int over = piece->kind == PIECE_END;

	flight->first = piece->next;
	if (!flight->first)
		flight->last = NULL;
	if (over)
		flight->exchange = NULL;
	flight->network->told++;
	if (piece->kind == PIECE_HEADER)
		mpijob_exchange_header(exchange, piece->number ? "Date" : "Retry-After",
		    piece->data);
	else if (piece->kind == PIECE_STATUS)
		mpijob_exchange_status(exchange, piece->number);
	else if (piece->kind == PIECE_DATA)
		mpijob_exchange_data(exchange, piece->data, piece->len);
	else
		mpijob_exchange_end(exchange, piece->number,
		    piece->number ? "says the driver" : NULL);
	free(piece);
	return over;
}

/* 1 when something was told: what it set off may have changed the list. */
static int deliver(struct network *network)
{
	for (struct flight *flight = network->first; flight; flight = flight->next) {
		int over = 0;

		if (!flight->first || flight->first->at_ms > clock_ms())
			continue;
		while (!over && flight->exchange && flight->first &&
		       flight->first->at_ms <= clock_ms())
			over = tell(flight);
		if (flight->exchange)
			return 1;
		/* A request that is still to be sent, or that nobody waits for, stays. */
		if (!flight->late_ms && !flight->inner)
			flight_free(flight);
		return 1;
	}
	return 0;
}

static int poll_front(void *self, int timeout_ms)
{
	struct network *network = self;

	network->told = 0;
	send_late(network);
	NEED(mpijob_client_poll(network->world->driver, 0) == 0);
	while (deliver(network))
		;
	network->wake_ms = INT64_MAX;
	if (network->told || timeout_ms == 0)
		network->wake_ms = clock_ms();
	else if (timeout_ms > 0)
		network->wake_ms = clock_ms() + timeout_ms;
	return 0;
}

/* A write that was given up may happen all the same. */
static void cancel(void *self, mpijob_exchange *exchange)
{
	struct flight *flight = mpijob_exchange_slot(exchange);

	(void)self;
	if (!flight)
		return;
	flight->exchange = NULL;
	flight->over = 1;
	while (flight->first)
		drop_piece(flight);
	if (flight->streaming || (!flight->inner && !flight->late_ms))
		flight_free(flight);
	else
		flight->fault = FAULT_LATE;
}

static void wake(void *self)
{
	struct network *network = self;

	network->wake_ms = clock_ms();
}

static void destroy(void *self)
{
	(void)self;
}

void network_fill(struct mpijob_transport *transport)
{
	*transport = (struct mpijob_transport)MPIJOB_TRANSPORT_INIT;
	transport->start = start;
	transport->poll = poll_front;
	transport->cancel = cancel;
	transport->wake = wake;
	transport->destroy = destroy;
}

/* Forget all that is under way; its operator is gone. */
void network_reset(struct network *network)
{
	while (network->first)
		flight_free(network->first);
	network->wake_ms = INT64_MAX;
}

void network_cut(struct network *network)
{
	for (struct flight *flight = network->first; flight; flight = flight->next) {
		if (!flight->streaming || !flight->exchange)
			continue;
		if (flight->inner)
			mpijob_call_cancel(flight->inner);
		flight->inner = NULL;
		while (flight->first)
			drop_piece(flight);
		add_piece(flight, PIECE_END, MPIJOB_ERR_IO, NULL, 0, 0);
	}
	wake(network);
}

int64_t network_due_ms(const struct network *network)
{
	int64_t due = network->wake_ms;

	for (const struct flight *flight = network->first; flight; flight = flight->next) {
		if (flight->first && flight->first->at_ms < due)
			due = flight->first->at_ms;
		if (flight->late_ms && flight->late_ms < due)
			due = flight->late_ms;
	}
	return due;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of an answer are reported: the final status once, four headers, and the body as it
 * arrives; and which formats are rejected. This file also implements back-pressure for a paused
 * reader. With HTTP/1.1 it soon pauses curl and thereby the connection, which only this answer
 * uses. With HTTP/2 it never pauses curl: up to at least version 7.88 curl would stop reading the
 * connection, and with it all other answers. Instead it buffers the data, up to a limit at which
 * the exchange fails.
 */
#include "http/receive.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAUSE_CURL_AFTER ((size_t)256 << 10)
#define MAX_KEPT         ((size_t)16 << 20)
#define CHUNK            ((size_t)64 << 10)

/* CURLOPT_PREREQFUNCTION. When a reused connection breaks, curl sends the request again and calls
 * this a second time. A write must not be sent again. */
int mpijob__http_receive_before_send(void *user, char *ip, char *local_ip, int port, int local_port)
{
	struct mpijob__http_call *call = user;

	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	if (call->state == MPIJOB__HTTP_CALL_CANCELLED)
		return CURL_PREREQFUNC_ABORT;
	if (call->state != MPIJOB__HTTP_CALL_CONNECTING &&
	    strcmp(call->request.method, "GET") != 0) {
		call->transfer.replayed = 1;
		return CURL_PREREQFUNC_ABORT;
	}
	mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_SENT);
	return CURL_PREREQFUNC_OK;
}

static size_t fail(struct mpijob__http_call *call, int code, const char *text)
{
	call->failure.code = code;
	call->failure.text = text;
	return 0;
}

/* Parse "HTTP/1.1 200 OK" or "HTTP/2 200". */
static void read_status(struct mpijob__http_call *call, const char *line, size_t len)
{
	const char *at = memchr(line, ' ', len);
	const char *end = line + len;

	call->transfer.http2 = line[5] == '2';
	if (!call->transfer.http2)
		call->http->http1_detected = 1;
	call->status = 0;
	while (at && at < end && *at == ' ')
		at++;
	for (int i = 0; at && i < 3 && at < end && *at >= '0' && *at <= '9'; i++)
		call->status = call->status * 10 + (*at++ - '0');
}

static int is_reported(const char *name, size_t len)
{
	static const char *const names[] = { "retry-after", "warning", "content-type", "date" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return 1;
	return 0;
}

/* The error for a content type that API servers know but this library does not; else NULL. */
static const char *format_error(const char *name, const char *type)
{
	static const char *const types[] = { "application/vnd.kubernetes.protobuf",
		"application/cbor" };
	static const char *const errors[] = { "the answer is protobuf; only JSON is supported",
		"the answer is CBOR; only JSON is supported" };

	for (size_t i = 0;
	     strcasecmp(name, "content-type") == 0 && i < sizeof(types) / sizeof(*types); i++)
		if (strncasecmp(type, types[i], strlen(types[i])) == 0)
			return errors[i];
	return NULL;
}

/* 1, or 0 when the exchange fails. */
static size_t report_header(struct mpijob__http_call *call, const char *line, size_t len)
{
	const char *error;
	const char *colon = memchr(line, ':', len);
	const char *value;
	char *copy;
	size_t value_len;

	if (!colon || !is_reported(line, (size_t)(colon - line)))
		return 1;
	value = colon + 1;
	value_len = (size_t)(line + len - value);
	while (value_len && (*value == ' ' || *value == '\t')) {
		value++;
		value_len--;
	}
	while (value_len && strchr(" \t\r\n", value[value_len - 1]))
		value_len--;
	copy = malloc(len + 1);
	if (!copy)
		return fail(call, MPIJOB_ERR_NOMEM, NULL);
	memcpy(copy, line, len);
	copy[colon - line] = 0;
	copy[(size_t)(value - line) + value_len] = 0;
	call->http->reported++;
	mpijob_exchange_header(call->exchange, copy, copy + (value - line));
	error = format_error(copy, copy + (value - line));
	free(copy);
	return error ? fail(call, MPIJOB_ERR_UNSUPPORTED, error) : 1;
}

size_t mpijob__http_receive_header(char *line, size_t size, size_t count, void *user)
{
	struct mpijob__http_call *call = user;
	size_t len = size * count;

	if (call->state == MPIJOB__HTTP_CALL_CANCELLED)
		return 0;
	/* Trailers are ignored. */
	if (call->state == MPIJOB__HTTP_CALL_RECEIVING)
		return len;
	if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
		read_status(call, line, len);
	} else if (call->status < 200) {
		/* A header of an interim answer such as 100 Continue. */
	} else if (*line == '\r' || *line == '\n') {
		mpijob__http_transport_set_state(call, MPIJOB__HTTP_CALL_RECEIVING);
		call->http->reported++;
		mpijob_exchange_status(call->exchange, call->status);
	} else if (!report_header(call, line, len)) {
		return 0;
	}
	return call->state == MPIJOB__HTTP_CALL_CANCELLED ? 0 : len;
}

/* Free the reported part of the buffer when it is at least half of it. */
static int drop_reported(struct mpijob__http_call *call)
{
	size_t have = mpijob_text_len(call->flow.kept) - call->flow.kept_at;
	mpijob_text *rest;

	if (call->flow.kept_at < CHUNK || call->flow.kept_at < have)
		return 0;
	rest = mpijob_text_new();
	if (!rest ||
	    mpijob_text_write(rest, mpijob_text_data(call->flow.kept) + call->flow.kept_at, have)) {
		mpijob_text_free(rest);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob_text_free(call->flow.kept);
	call->flow.kept = rest;
	call->flow.kept_at = 0;
	return 0;
}

static size_t keep(struct mpijob__http_call *call, const char *data, size_t len)
{
	size_t have = call->flow.kept ? mpijob_text_len(call->flow.kept) - call->flow.kept_at : 0;

	if (!call->transfer.http2 && !call->request.compressed && have >= PAUSE_CURL_AFTER) {
		call->flow.curl_paused = 1;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (len > MAX_KEPT - have)
		return fail(call, MPIJOB_ERR_IO,
		    "the reader is more than 16 MiB behind, and other answers share the "
		    "connection");
	if (!call->flow.kept)
		call->flow.kept = mpijob_text_new();
	if (!call->flow.kept || drop_reported(call) ||
	    mpijob_text_write(call->flow.kept, data, len))
		return fail(call, MPIJOB_ERR_NOMEM, NULL);
	return len;
}

size_t mpijob__http_receive_data(char *data, size_t size, size_t count, void *user)
{
	struct mpijob__http_call *call = user;
	size_t len = size * count;

	call->transfer.last_data_ms = mpijob__base_clock_monotonic_ms();
	if (call->state == MPIJOB__HTTP_CALL_CANCELLED)
		return 0;
	if (call->flow.paused || call->flow.kept)
		return keep(call, data, len);
	call->http->reported++;
	mpijob_exchange_data(call->exchange, data, len);
	return call->state == MPIJOB__HTTP_CALL_CANCELLED ? 0 : len;
}

void mpijob__http_receive_report_kept(struct mpijob__http_call *call)
{
	while (
	    call->flow.kept && call->state != MPIJOB__HTTP_CALL_CANCELLED && !call->flow.paused) {
		size_t left = mpijob_text_len(call->flow.kept) - call->flow.kept_at;
		size_t len = left < CHUNK ? left : CHUNK;
		const char *data = mpijob_text_data(call->flow.kept) + call->flow.kept_at;

		if (!left) {
			mpijob_text_free(call->flow.kept);
			call->flow.kept = NULL;
			call->flow.kept_at = 0;
			return;
		}
		call->flow.kept_at += len;
		call->http->reported++;
		mpijob_exchange_data(call->exchange, data, len);
	}
}

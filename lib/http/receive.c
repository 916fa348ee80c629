/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of an answer is told, and when: the final status once, four headers, the body as it comes;
 * and which formats are refused. Knows how far a paused reader may be behind. With HTTP/1.1 curl is
 * stopped soon, and with it the connection, which is this answer's own. With HTTP/2 curl is never
 * stopped: up to at least version 7.88 it would stop reading the whole connection, and with it all
 * other answers on it. So what comes is kept here, up to a limit at which the exchange ends.
 */
#include "http/receive.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT_BEFORE_STOP ((size_t)256 << 10)
#define KEPT_MOST        ((size_t)16 << 20)
#define PIECE            ((size_t)64 << 10)

/* Called before a request leaves. Curl sends one again when a connection that was used before
 * breaks; a write must not be. */
int mpijob__http_receive_begin(void *user, char *ip, char *local_ip, int port, int local_port)
{
	struct mpijob__http_call *call = user;

	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	if (call->sent && strcmp(call->method, "GET") != 0) {
		call->replayed = 1;
		return CURL_PREREQFUNC_ABORT;
	}
	call->sent = 1;
	return CURL_PREREQFUNC_OK;
}

static size_t fail(struct mpijob__http_call *call, int code, const char *text)
{
	call->failure = code;
	call->failure_text = text;
	return 0;
}

/* "HTTP/1.1 200 OK", "HTTP/2 200". */
static void read_status(struct mpijob__http_call *call, const char *line, size_t len)
{
	const char *at = memchr(line, ' ', len);
	const char *end = line + len;

	call->http2 = line[5] == '2';
	if (!call->http2)
		call->http->http1_met = 1;
	call->status = 0;
	while (at && at < end && *at == ' ')
		at++;
	for (int i = 0; at && i < 3 && at < end && *at >= '0' && *at <= '9'; i++)
		call->status = call->status * 10 + (*at++ - '0');
}

static int matters(const char *name, size_t len)
{
	static const char *const names[] = { "retry-after", "warning", "content-type", "date" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return 1;
	return 0;
}

/* Formats of API servers that are not JSON: what to say when one comes; NULL: some other type. */
static const char *refusal_of(const char *name, const char *type)
{
	static const char *const types[] = { "application/vnd.kubernetes.protobuf",
		"application/cbor" };
	static const char *const refusals[] = { "the answer is protobuf; only JSON is read",
		"the answer is CBOR; only JSON is read" };

	for (size_t i = 0;
	     strcasecmp(name, "content-type") == 0 && i < sizeof(types) / sizeof(*types); i++)
		if (strncasecmp(type, types[i], strlen(types[i])) == 0)
			return refusals[i];
	return NULL;
}

/* 0: it failed. */
static size_t tell_header(struct mpijob__http_call *call, const char *line, size_t len)
{
	const char *refusal;
	const char *colon = memchr(line, ':', len);
	const char *value;
	char *copy;
	size_t value_len;

	if (!colon || !matters(line, (size_t)(colon - line)))
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
	call->http->told++;
	mpijob_exchange_header(call->exchange, copy, copy + (value - line));
	refusal = refusal_of(copy, copy + (value - line));
	free(copy);
	return refusal ? fail(call, MPIJOB_ERR_UNSUPPORTED, refusal) : 1;
}

size_t mpijob__http_receive_header(char *line, size_t size, size_t count, void *user)
{
	struct mpijob__http_call *call = user;
	size_t len = size * count;

	if (!call->exchange)
		return 0;
	/* What comes behind the body is of no use. */
	if (call->status_told)
		return len;
	if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
		read_status(call, line, len);
	} else if (call->status < 200) {
		/* 100 Continue and its like: the answer is yet to come. */
	} else if (*line == '\r' || *line == '\n') {
		call->status_told = 1;
		call->http->told++;
		mpijob_exchange_status(call->exchange, call->status);
	} else if (!tell_header(call, line, len)) {
		return 0;
	}
	return call->exchange ? len : 0;
}

/* Let go of what was told, when that is most of it. */
static int drop_told(struct mpijob__http_call *call)
{
	size_t have = mpijob_text_len(call->kept) - call->kept_at;
	mpijob_text *rest;

	if (call->kept_at < PIECE || call->kept_at < have)
		return 0;
	rest = mpijob_text_new();
	if (!rest || mpijob_text_write(rest, mpijob_text_data(call->kept) + call->kept_at, have)) {
		mpijob_text_free(rest);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob_text_free(call->kept);
	call->kept = rest;
	call->kept_at = 0;
	return 0;
}

static size_t keep(struct mpijob__http_call *call, const char *data, size_t len)
{
	size_t have = call->kept ? mpijob_text_len(call->kept) - call->kept_at : 0;

	if (!call->http2 && !call->packed && have >= KEPT_BEFORE_STOP) {
		call->stopped = 1;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (len > KEPT_MOST - have)
		return fail(call, MPIJOB_ERR_IO,
		    "its reader is more than 16 MiB behind, and the connection is shared");
	if (!call->kept)
		call->kept = mpijob_text_new();
	if (!call->kept || drop_told(call) || mpijob_text_write(call->kept, data, len))
		return fail(call, MPIJOB_ERR_NOMEM, NULL);
	return len;
}

size_t mpijob__http_receive_data(char *data, size_t size, size_t count, void *user)
{
	struct mpijob__http_call *call = user;
	size_t len = size * count;

	call->heard_ms = mpijob__base_clock_monotonic_ms();
	if (!call->exchange)
		return 0;
	if (call->paused || call->kept)
		return keep(call, data, len);
	call->http->told++;
	mpijob_exchange_data(call->exchange, data, len);
	return call->exchange ? len : 0;
}

void mpijob__http_receive_kept(struct mpijob__http_call *call)
{
	while (call->kept && call->exchange && !call->paused) {
		size_t left = mpijob_text_len(call->kept) - call->kept_at;
		size_t len = left < PIECE ? left : PIECE;
		const char *data = mpijob_text_data(call->kept) + call->kept_at;

		if (!left) {
			mpijob_text_free(call->kept);
			call->kept = NULL;
			call->kept_at = 0;
			return;
		}
		call->kept_at += len;
		call->http->told++;
		mpijob_exchange_data(call->exchange, data, len);
	}
}

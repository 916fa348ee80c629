/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a transport may tell about an exchange, and what is remembered of it.
 *
 * The transport's calls only collect; nothing here calls back into the transport. A stream that its
 * reader wants to stop is marked, and given up by client.c once the transport's poll has returned:
 * a transport need not bear being cancelled in the middle of telling.
 */
#include "client/client.h"

#include <limits.h>
#include <string.h>

#define PAGE_WORDS    160                /* bytes of a page that a message shows */
#define WARNINGS_MOST ((size_t)32 << 10) /* API servers stop at 4 KiB by themselves */

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int same_name(const char *a, const char *b)
{
	while (*a && lower((unsigned char)*a) == lower((unsigned char)*b)) {
		a++;
		b++;
	}
	return *a == 0 && *b == 0;
}

/* Whole seconds; a date is not understood, as by client-go. A huge number stays huge. 1 when it is
 * a number. */
static int read_retry_after(const char *value, int64_t *ms)
{
	int64_t seconds = 0;

	while (*value == ' ' || *value == '\t')
		value++;
	if (*value < '0' || *value > '9')
		return 0;
	for (; *value >= '0' && *value <= '9'; value++)
		if (seconds < INT32_MAX)
			seconds = seconds * 10 + (*value - '0');
	while (*value == ' ' || *value == '\t' || *value == '\r')
		value++;
	*ms = seconds * 1000;
	return *value == 0;
}

static int known_warning(const mpijob_text *warnings, const char *text)
{
	for (size_t at = 0; at < warnings->len; at += strlen(warnings->data + at) + 1)
		if (strcmp(warnings->data + at, text) == 0)
			return 1;
	return 0;
}

/* Read a quoted string with backslash escapes; NULL when it does not end or memory runs out. */
static const char *read_quoted(const char *at, mpijob_text *out)
{
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		if (mpijob_text_write(out, at, 1))
			return NULL;
	}
	return *at ? at + 1 : NULL;
}

static void keep_warning(mpijob_exchange *exchange, const char *text)
{
	const struct mpijob_client_options *options = &exchange->client->options;
	size_t mark = exchange->warnings.len;

	if (!*text || strlen(text) >= WARNINGS_MOST - mark ||
	    known_warning(&exchange->warnings, text))
		return;
	/* A warning that does not fit into memory is not worth failing for. */
	if (mpijob_text_write(&exchange->warnings, text, strlen(text) + 1)) {
		exchange->warnings.len = mark;
		return;
	}
	if (options->warning && !exchange->dead)
		options->warning(options->warning_user, text);
}

/* The date behind a warning. */
static const char *past_quoted(const char *at)
{
	at = strchr(at + 1, '"');
	return at ? at + 1 : NULL;
}

/* `299 - "text" "date", 299 - "text"`; only code 299 is for people. What cannot be read ends it. */
static void read_warnings(mpijob_exchange *exchange, const char *value)
{
	mpijob_text text = { 0 };

	while (value && *value) {
		int wanted;

		while (*value == ' ' || *value == '\t' || *value == ',')
			value++;
		wanted = strncmp(value, "299 ", 4) == 0;
		value = strchr(value, '"');
		text.len = 0;
		if (value)
			value = read_quoted(value, &text);
		if (value && wanted)
			keep_warning(exchange, mpijob_text_data(&text));
		while (value && *value && *value != ',')
			value = *value == '"' ? past_quoted(value) : value + 1;
	}
	mpijob__base_text_release(&text);
}

void mpijob_exchange_header(mpijob_exchange *exchange, const char *name, const char *value)
{
	if (!exchange || !name || !value)
		return;
	if (same_name(name, "retry-after"))
		exchange->asked_to_wait = read_retry_after(value, &exchange->retry_after_ms);
	else if (same_name(name, "content-type"))
		exchange->is_page = strncmp(value, "text/html", strlen("text/html")) == 0;
	else if (same_name(name, "warning"))
		read_warnings(exchange, value);
	else if (same_name(name, "date"))
		mpijob__client_server_clock_take(&exchange->client->server_clock, value,
		    exchange->sent_ms, exchange->client->clock());
}

void mpijob_exchange_status(mpijob_exchange *exchange, int status)
{
	if (exchange && status >= 100 && status <= 599)
		exchange->status = status;
}

static void stop(mpijob_exchange *exchange, int code)
{
	exchange->stopped = code;
	exchange->client->sweep = 1;
}

static void collect(mpijob_exchange *exchange, const char *data, size_t len)
{
	int failed = exchange->status < 200 || exchange->status > 299;
	size_t limit = failed ? MPIJOB__CLIENT_ERROR_LIMIT : MPIJOB__CLIENT_BODY_LIMIT;

	if (len > limit - exchange->body.len) {
		exchange->cut = 1;
		if (!failed) {
			stop(exchange, MPIJOB_ERR_SYNTAX);
			return;
		}
		len = limit - exchange->body.len;
	}
	if (mpijob_text_write(&exchange->body, data, len))
		stop(exchange, MPIJOB_ERR_NOMEM);
}

void mpijob__client_exchange_deliver(mpijob_exchange *exchange, const char *data, size_t len)
{
	int code;

	exchange->client->news = 1;
	code = exchange->callbacks.data(exchange->callbacks.user, data, len);
	if (code)
		stop(exchange, code);
}

/* Keep the first words of a page, for the message, and stop. */
static void collect_page(mpijob_exchange *exchange, const char *data, size_t len)
{
	collect(exchange, data, len < PAGE_WORDS ? len : PAGE_WORDS);
	if (!exchange->stopped)
		stop(exchange, MPIJOB_ERR_SYNTAX);
}

void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len)
{
	if (!exchange || !data || len == 0 || exchange->dead || exchange->stopped)
		return;
	if (exchange->is_page && exchange->status == 200)
		collect_page(exchange, data, len);
	else if (!exchange->callbacks.data || exchange->status != 200)
		collect(exchange, data, len);
	else if (!exchange->paused && exchange->backlog.len == 0)
		mpijob__client_exchange_deliver(exchange, data, len);
	else if (mpijob_text_write(&exchange->backlog, data, len))
		stop(exchange, MPIJOB_ERR_NOMEM);
}

void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot)
{
	if (exchange)
		exchange->slot = slot;
}

void *mpijob_exchange_slot(const mpijob_exchange *exchange)
{
	return exchange ? exchange->slot : NULL;
}

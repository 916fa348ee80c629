/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of an answer that the client reads: Retry-After, Content-Type, Warning and Date.
 */
#include "client/client.h"
#include "client/exchange.h"

#include <limits.h>
#include <string.h>

#define WARNINGS_MOST ((size_t)32 << 10) /* API servers stop at 4 KiB */

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

/* Milliseconds, or -1 when it is not a number of seconds: like client-go, this ignores a date. A
 * huge number stays huge. */
static int64_t read_retry_after(const char *value)
{
	int64_t seconds = 0;

	while (*value == ' ' || *value == '\t')
		value++;
	if (*value < '0' || *value > '9')
		return -1;
	for (; *value >= '0' && *value <= '9'; value++)
		if (seconds < INT32_MAX)
			seconds = seconds * 10 + (*value - '0');
	while (*value == ' ' || *value == '\t' || *value == '\r')
		value++;
	return *value ? -1 : seconds * 1000;
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
	size_t mark = exchange->answer.warnings.len;

	if (!*text || strlen(text) >= WARNINGS_MOST - mark ||
	    known_warning(&exchange->answer.warnings, text))
		return;
	/* A warning that does not fit into memory is dropped: the request need not fail. */
	if (mpijob_text_write(&exchange->answer.warnings, text, strlen(text) + 1)) {
		exchange->answer.warnings.len = mark;
		return;
	}
	if (options->warning && !mpijob__client_exchange_is_cancelled(exchange))
		options->warning(options->warning_user, text);
}

/* Skip the date after a warning. */
static const char *skip_quoted(const char *at)
{
	at = strchr(at + 1, '"');
	return at ? at + 1 : NULL;
}

/* `299 - "text" "date", 299 - "text"`; only code 299 is for users. Stops at text that it cannot
 * read. */
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
			value = *value == '"' ? skip_quoted(value) : value + 1;
	}
	mpijob__base_text_release(&text);
}

void mpijob_exchange_header(mpijob_exchange *exchange, const char *name, const char *value)
{
	if (!exchange || !name || !value)
		return;
	if (same_name(name, "retry-after"))
		exchange->answer.retry_after_ms = read_retry_after(value);
	else if (same_name(name, "content-type"))
		exchange->answer.is_html = strncmp(value, "text/html", strlen("text/html")) == 0;
	else if (same_name(name, "warning"))
		read_warnings(exchange, value);
	else if (same_name(name, "date"))
		mpijob__client_server_clock_take(&exchange->client->server_clock, value,
		    exchange->sent_ms, exchange->client->clock());
}

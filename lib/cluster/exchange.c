/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a transport may tell about an exchange, and what is remembered of it.
 *
 * The transport's calls only collect; nothing here calls back into the transport. A stream that its
 * reader wants to stop is marked, and given up by client.c once the transport's poll has returned: a
 * transport need not bear being cancelled in the middle of telling.
 */
#include "cluster/client.h"

#include <limits.h>
#include <string.h>

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

/* Whole seconds; a date is not understood and means 0, as for client-go. A huge number stays huge. */
static int64_t read_retry_after(const char *value)
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
	return *value ? 0 : seconds * 1000;
}

/* `299 - "text"` with backslash escapes; only code 299 is for people. */
static void keep_warning(mpijob_exchange *exchange, const char *value)
{
	size_t mark = exchange->warnings.len;
	const char *at;

	while (*value == ' ')
		value++;
	if (strncmp(value, "299 ", 4) != 0)
		return;
	at = strchr(value, '"');
	if (!at)
		return;
	for (at++; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		if (mpijob_text_write(&exchange->warnings, at, 1))
			break;
	}
	/* A warning that does not fit into memory is not worth failing for. */
	if (*at != '"' || mpijob_text_write(&exchange->warnings, "", 1)) {
		exchange->warnings.len = mark;
		if (exchange->warnings.data)
			exchange->warnings.data[mark] = 0;
	}
}

void mpijob_exchange_header(mpijob_exchange *exchange, const char *name, const char *value)
{
	if (!exchange || !name || !value)
		return;
	if (same_name(name, "retry-after"))
		exchange->retry_after_ms = read_retry_after(value);
	else if (same_name(name, "warning"))
		keep_warning(exchange, value);
}

void mpijob_exchange_status(mpijob_exchange *exchange, int status)
{
	if (exchange && status >= 100 && status <= 599)
		exchange->status = status;
}

static void collect(mpijob_exchange *exchange, const char *data, size_t len)
{
	int failed = exchange->status < 200 || exchange->status > 299;
	size_t limit = failed ? MPIJOB__CLIENT_ERROR_LIMIT : MPIJOB__CLIENT_BODY_LIMIT;

	if (len > limit - exchange->body.len) {
		exchange->cut = 1;
		if (!failed) {
			exchange->stopped = MPIJOB_ERR_SYNTAX;
			exchange->client->sweep = 1;
			return;
		}
		len = limit - exchange->body.len;
	}
	if (mpijob_text_write(&exchange->body, data, len)) {
		exchange->stopped = MPIJOB_ERR_NOMEM;
		exchange->client->sweep = 1;
	}
}

void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len)
{
	int code;

	if (!exchange || !data || len == 0 || exchange->dead || exchange->stopped)
		return;
	if (!exchange->callbacks.data || exchange->status != 200) {
		collect(exchange, data, len);
		return;
	}
	code = exchange->callbacks.data(exchange->callbacks.user, data, len);
	if (code) {
		exchange->stopped = code;
		exchange->client->sweep = 1;
	}
}

void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot)
{
	exchange->slot = slot;
}

void *mpijob_exchange_slot(const mpijob_exchange *exchange)
{
	return exchange->slot;
}

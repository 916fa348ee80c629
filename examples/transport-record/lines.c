/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a recording: which one answers a request, and how it is told. */
#include "record.h"

#include <string.h>

static const mpijob_node *get(const struct line *line, const char *key)
{
	return mpijob_node_get(mpijob_doc_root(line->doc), key);
}

static int number(const struct line *line, const char *key)
{
	int64_t value = 0;

	(void)mpijob_node_int(get(line, key), &value);
	return (int)value;
}

static int fits(const struct line *line, const struct mpijob_request *request)
{
	const mpijob_node *body = get(line, "body");

	return !line->used &&
	       strcmp(mpijob_node_string(get(line, "method")), request->method) == 0 &&
	       strcmp(mpijob_node_string(get(line, "path")), request->path) == 0 &&
	       mpijob_node_length(body) == request->body_len &&
	       memcmp(mpijob_node_string(body), request->body ? request->body : "",
		   request->body_len) == 0;
}

struct line *lines_find(struct line *lines, const struct mpijob_request *request)
{
	while (lines && !fits(lines, request))
		lines = lines->next;
	return lines;
}

void line_tell(struct line *line)
{
	mpijob_exchange *exchange = line->exchange;
	const mpijob_node *data = get(line, "data"), *message = get(line, "message");
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%d", number(line, "retryAfter"));
	line->told = 1;
	if (number(line, "retryAfter"))
		mpijob_exchange_header(exchange, "Retry-After", seconds);
	mpijob_exchange_status(exchange, get(line, "status") ? number(line, "status") : 200);
	mpijob_exchange_data(exchange, mpijob_node_string(data), mpijob_node_length(data));
	if (!get(line, "status")) /* it was given up while it went on */
		return;
	line->exchange = NULL;
	mpijob_exchange_end(exchange, number(line, "code"), mpijob_node_string(message));
}

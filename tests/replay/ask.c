/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as lines. It knows how a line becomes an exchange: {"method", "path", "type", "body"} is
 * answered with {"status", "code", "body"}; {"open": PATH} starts a watch and is answered with its
 * number; {"close": NUMBER, "events": N} waits until N lines have come, and a little longer for
 * those that should not come, and tells them.
 */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WATCHES 64
#define MOST_MS      3000
#define QUIET_MS     150

struct asked {
	mpijob_client *client;
	mpijob_call *call;
	mpijob_text *data;
	size_t lines;
	int opened, done, status, code;
};

static int take_data(void *user, const char *data, size_t len)
{
	struct asked *asked = user;

	asked->status = 200;
	for (size_t i = 0; i < len; i++)
		asked->lines += data[i] == '\n';
	return mpijob_text_write(asked->data, data, len);
}

static void take_end(void *user, const struct mpijob_answer *answer)
{
	struct asked *asked = user;

	asked->done = 1;
	asked->code = mpijob_text_write(asked->data, answer->body, answer->body_len)
			  ? MPIJOB_ERR_NOMEM
			  : answer->code;
	asked->status = answer->status;
}

static const char *text(const mpijob_node *line, const char *key)
{
	return mpijob_node_string(mpijob_node_get(line, key));
}

static int begin(struct asked *asked, mpijob_client *client, const mpijob_node *line)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, take_end, asked };
	const mpijob_node *body = mpijob_node_get(line, "body");

	*asked = (struct asked){ .client = client, .data = mpijob_text_new(), .opened = 1 };
	request.streaming = text(line, "open") != NULL;
	request.method = request.streaming ? "GET" : text(line, "method");
	request.path = request.streaming ? text(line, "open") : text(line, "path");
	request.content_type = text(line, "type");
	request.body = mpijob_node_string(body);
	request.body_len = request.body ? mpijob_node_length(body) : 0;
	if (request.streaming)
		callbacks.data = take_data;
	return asked->data ? mpijob_client_start(client, &request, &callbacks, &asked->call)
			   : MPIJOB_ERR_NOMEM;
}

static int tell(struct asked *asked, int number)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_text *out = mpijob_text_new();
	int code;

	mpijob_node_put_int(doc, root, "status", asked->status);
	mpijob_node_put_int(doc, root, "code", asked->code);
	if (number >= 0)
		mpijob_node_put_int(doc, root, "number", number);
	else
		mpijob_node_put(doc, root, "body",
		    mpijob_node_new_text(doc, MPIJOB_NODE_STRING, mpijob_text_data(asked->data),
			mpijob_text_len(asked->data)));
	code = out ? mpijob_doc_error(doc) : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, out);
	if (code == 0)
		printf("%s\n", mpijob_text_data(out));
	fflush(stdout);
	mpijob_text_free(out);
	mpijob_doc_free(doc);
	return code;
}

static int poll_until(struct asked *asked, size_t lines, int64_t most_ms)
{
	int64_t end = clock_ms() + most_ms;
	int code = 0;

	while (
	    code == 0 && !asked->done && (asked->lines < lines || lines == 0) && clock_ms() < end)
		code = mpijob_client_poll(asked->client, (int)(end - clock_ms()));
	return code;
}

static int tell_stream(struct asked *asked, size_t lines)
{
	int code = lines ? poll_until(asked, lines, MOST_MS) : 0;

	if (code == 0)
		code = poll_until(asked, 0, QUIET_MS);
	if (!asked->done)
		mpijob_call_cancel(asked->call);
	if (code == 0)
		code = tell(asked, -1);
	mpijob_text_free(asked->data);
	asked->opened = 0;
	return code;
}

static int serve_one(mpijob_client *client, const mpijob_node *line)
{
	struct asked asked;
	int code = begin(&asked, client, line);

	if (code == 0)
		code = poll_until(&asked, 0, 60000);
	if (code == 0 && !asked.done)
		code = MPIJOB_ERR_TIMEOUT;
	if (code == 0)
		code = tell(&asked, -1);
	mpijob_text_free(asked.data);
	return code;
}

/* The server has got the request when this returns: its first answer to another one came after
 * it. */
static int open_watch(mpijob_client *client, struct asked *watches, const mpijob_node *line)
{
	int number = 0, code;

	while (number < MOST_WATCHES && watches[number].opened)
		number++;
	if (number == MOST_WATCHES)
		return MPIJOB_ERR_USAGE;
	code = begin(&watches[number], client, line);
	if (code == 0)
		code = poll_until(&watches[number], 0, QUIET_MS);
	return code ? code : tell(&watches[number], number);
}

static int serve(mpijob_client *client, struct asked *watches, const mpijob_node *line)
{
	int64_t number = 0, lines = 0;

	if (text(line, "open"))
		return open_watch(client, watches, line);
	if (!mpijob_node_int(mpijob_node_get(line, "close"), &number))
		return serve_one(client, line);
	mpijob_node_int(mpijob_node_get(line, "events"), &lines);
	if (number < 0 || number >= MOST_WATCHES || !watches[number].opened)
		return MPIJOB_ERR_USAGE;
	return tell_stream(&watches[number], (size_t)lines);
}

int ask(mpijob_client *client)
{
	struct asked watches[MOST_WATCHES] = { 0 };
	size_t cap = 0;
	char *line = NULL;
	ssize_t len;
	int code = 0;

	while (code == 0 && (len = getline(&line, &cap, stdin)) > 0) {
		mpijob_doc *doc = NULL;

		code = mpijob_doc_parse(line, (size_t)len, NULL, &doc, NULL);
		if (code == 0)
			code = serve(client, watches, mpijob_doc_root(doc));
		mpijob_doc_free(doc);
	}
	if (code)
		fprintf(stderr, "%s\n", mpijob_error_text(code));
	mpijob_client_free(client);
	for (int i = 0; i < MOST_WATCHES; i++)
		if (watches[i].opened)
			mpijob_text_free(watches[i].data);
	free(line);
	return code != 0;
}

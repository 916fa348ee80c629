/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the checks, made so that whatever a transport tells at the wrong time, place or
 * number is noticed. */
#include "suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *wrong(struct suite_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->why, sizeof(run->why), format, args);
	va_end(args);
	return run->why;
}

static int take_data(void *user, const char *data, size_t len)
{
	struct reply *reply = user;

	reply->strange |= !pthread_equal(reply->thread, pthread_self());
	return mpijob_text_write(reply->stream, data, len);
}

static void take_end(void *user, const struct mpijob_answer *answer)
{
	struct reply *reply = user;

	reply->strange |= reply->done || !pthread_equal(reply->thread, pthread_self());
	reply->done = 1;
	reply->code = answer->code;
	reply->status = answer->status;
	if (answer->body_len)
		(void)mpijob_doc_parse(answer->body, answer->body_len, NULL, &reply->doc, NULL);
}

int begin(struct suite_run *run, struct reply *reply, int stream, const char *method,
    const char *path, const char *type, const char *body)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, take_end, reply };
	int code;

	memset(reply, 0, sizeof(*reply));
	reply->thread = pthread_self();
	request.method = method;
	request.path = path;
	request.content_type = type;
	request.body = body;
	request.body_len = body ? strlen(body) : 0;
	request.streaming = stream;
	if (stream) {
		reply->stream = mpijob_text_new();
		callbacks.data = take_data;
	}
	code = mpijob_client_start(run->client, &request, &callbacks, &reply->call);
	if (code || reply->done) {
		reply->strange |= reply->done;
		reply->done = 1;
		reply->code = code;
	}
	return code;
}

void drop(struct reply *reply)
{
	if (!reply->done && reply->call)
		mpijob_call_cancel(reply->call);
	mpijob_doc_free(reply->doc);
	mpijob_text_free(reply->stream);
	memset(reply, 0, sizeof(*reply));
}

void wait_for(struct suite_run *run, const struct reply *reply)
{
	int64_t end = clock_ms() + PATIENCE_MS;

	while (!reply->done && clock_ms() < end)
		if (mpijob_client_poll(run->client, 100))
			return;
}

struct reply ask(struct suite_run *run, const char *method, const char *path, const char *type,
    const char *body)
{
	struct reply reply;

	begin(run, &reply, 0, method, path, type, body);
	wait_for(run, &reply);
	return reply;
}

/* Ask, and compare the status; a text of the answer goes to `out` when that is given. */
/* As text, also true and false; NULL when it is not there. */
static const char *text_of(const struct reply *reply, const char *field)
{
	const mpijob_node *node =
	    mpijob_node_find(reply->doc ? mpijob_doc_root(reply->doc) : NULL, field);
	int yes;

	if (mpijob_node_bool(node, &yes))
		return yes ? "true" : "false";
	return mpijob_node_text(node);
}

const char *expect(struct suite_run *run, const char *method, const char *path, const char *type,
    const char *body, int status, const char *field, char out[128])
{
	struct reply reply = ask(run, method, path, type, body);
	const char *text = field ? text_of(&reply, field) : "";
	const char *why = NULL;

	if (reply.strange)
		why = wrong(run, "%s %s: told twice, too early or on another thread", method, path);
	else if (reply.status == 501)
		why = SUITE_UNSUPPORTED;
	else if (!reply.done || reply.status != status)
		why = wrong(run, "%s %s: status %d (%s) and not %d", method, path, reply.status,
		    mpijob_error_name(reply.code), status);
	else if (!text)
		why = wrong(run, "%s %s: no %s", method, path, field);
	else if (out)
		snprintf(out, 128, "%s", text);
	drop(&reply);
	return why;
}

const char *simple(struct suite_run *run, const char *method, const char *path, const char *type,
    const char *body, int status)
{
	return expect(run, method, path, type, body, status, NULL, NULL);
}

const char *first_of(const char *a, const char *b)
{
	return a ? a : b;
}

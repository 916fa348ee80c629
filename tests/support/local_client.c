/* SPDX-License-Identifier: Apache-2.0 */
#include "local_client.h"

static int cluster_up_with(void **state, int backoff_ms)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct cluster *cluster = calloc(1, sizeof(*cluster));

	options.no_node = 1;
	options.backoff_base_ms = backoff_ms;
	assert_non_null(cluster);
	cluster->transport.size = sizeof(cluster->transport);
	assert_int_equal(mpijob_local_new(&options, &cluster->transport, &cluster->local, NULL), 0);
	assert_int_equal(mpijob_client_new(&cluster->transport, cluster->local, &cluster->client),
	    0);
	*state = cluster;
	return 0;
}

int cluster_up(void **state)
{
	return cluster_up_with(state, 20);
}

int cluster_down(void **state)
{
	struct cluster *cluster = *state;

	mpijob_client_free(cluster->client);
	free(cluster);
	return 0;
}

static int answer_data(void *user, const char *data, size_t len)
{
	struct answer *answer = user;

	assert_int_equal(mpijob_text_write(answer->stream, data, len), 0);
	return 0;
}

static void answer_done(void *user, const struct mpijob_answer *from)
{
	struct answer *answer = user;

	assert_false(answer->done);
	answer->done = 1;
	answer->code = from->code;
	answer->status = from->status;
	if (from->body_len)
		(void)mpijob_doc_parse(from->body, from->body_len, NULL, &answer->doc, NULL);
}

void answer_free(struct answer *answer)
{
	mpijob_doc_free(answer->doc);
	mpijob_text_free(answer->stream);
	memset(answer, 0, sizeof(*answer));
}

void ask_start(struct cluster *cluster, struct answer *answer, int stream, const char *method,
    const char *path, const char *type, const char *body)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;

	memset(answer, 0, sizeof(*answer));
	request.method = method;
	request.path = path;
	request.content_type = type;
	request.body = body;
	request.body_len = body ? strlen(body) : 0;
	request.streaming = stream;
	callbacks.done = answer_done;
	callbacks.user = answer;
	if (stream) {
		answer->stream = mpijob_text_new();
		callbacks.data = answer_data;
	}
	assert_int_equal(mpijob_client_start(cluster->client, &request, &callbacks, &answer->call),
	    0);
	assert_false(answer->done);
}

static struct answer ask_as(struct cluster *cluster, const char *method, const char *path,
    const char *type, const char *body)
{
	struct answer answer;

	ask_start(cluster, &answer, 0, method, path, type, body);
	for (int i = 0; i < 100 && !answer.done; i++)
		assert_int_equal(mpijob_client_poll(cluster->client, 100), 0);
	assert_true(answer.done);
	return answer;
}

struct answer ask(struct cluster *cluster, const char *method, const char *path, const char *body)
{
	return ask_as(cluster, method, path,
	    !body                          ? NULL
	    : strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
					   : "application/json",
	    body);
}

void expect(struct cluster *cluster, const char *method, const char *path, const char *body,
    int status)
{
	struct answer answer = ask(cluster, method, path, body);

	if (answer.status != status) {
		mpijob_text *text = mpijob_text_new();

		if (answer.doc)
			mpijob_node_write(mpijob_doc_root(answer.doc), MPIJOB_FORMAT_JSON,
			    mpijob_text_write, text);
		print_message("%s %s: %d\n%s\n", method, path, answer.status,
		    mpijob_text_data(text));
		mpijob_text_free(text);
	}
	assert_int_equal(answer.status, status);
	answer_free(&answer);
}

void expect_text(struct cluster *cluster, const char *path, const char *field, const char *text)
{
	struct answer answer = ask(cluster, "GET", path, NULL);
	const char *found;

	assert_int_equal(answer.status, 200);
	found = mpijob_node_text(mpijob_node_find(mpijob_doc_root(answer.doc), field));
	if (text) {
		if (!found)
			print_message("%s: no %s\n", path, field);
		assert_non_null(found);
		assert_string_equal(found, text);
	} else {
		assert_null(found);
	}
	answer_free(&answer);
}

void expect_refusal(struct cluster *cluster, const char *method, const char *path, const char *type,
    const char *body, int status, const char *reason)
{
	struct answer answer = ask_as(cluster, method, path, type, body);

	assert_int_equal(answer.status, status);
	assert_non_null(answer.doc);
	assert_string_equal(mpijob_node_string(
				mpijob_node_get(mpijob_doc_root(answer.doc), "kind")),
	    "Status");
	assert_string_equal(mpijob_node_string(
				mpijob_node_get(mpijob_doc_root(answer.doc), "reason")),
	    reason);
	assert_non_null(
	    mpijob_node_string(mpijob_node_get(mpijob_doc_root(answer.doc), "message")));
	answer_free(&answer);
}

void poll_for(struct cluster *cluster, int ms)
{
	struct timespec start;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		assert_int_equal(mpijob_client_poll(cluster->client, 5), 0);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

int told(const struct answer *answer, const char *piece)
{
	int count = 0;

	for (const char *at = mpijob_text_data(answer->stream); (at = strstr(at, piece));
	     at += strlen(piece))
		count++;
	return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does one thing with a client over HTTP, and prints how it went as one line of JSON: for
 * tests/faults/test-faults.
 *
 *     faults-driver KUBECONFIG get|list|create|get-create|create-many|delete|watch|wait TIMEOUT_MS
 *
 * The pods are those of the namespace t. get-create creates on the connection that a get has left
 * open, create-many makes p0 to p5, whatever became of those before. watch goes on until it knows a
 * pod "end", wait until pod a is Running. python-driver does the same with a client of its own.
 */
#include "../support/writes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpijob/http.h>
#include <mpijob/mpijob.h>

#define NAMES   64
#define MANY    6
#define TURN_MS 100 /* its clock may jump, which a poll that waits does not see */

struct story {
	char *names[NAMES]; /* what is there, as far as was told */
	int listed[NAMES];  /* told again by the list that runs */
	int count, events, lists, failures, ended;
};

void faults_drive(mpijob_client *client, const char *verb, int64_t timeout_ms);

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "faults-driver: %s\n", what);
	exit(3);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void forget(struct story *story, int i)
{
	free(story->names[i]);
	story->names[i] = story->names[--story->count];
	story->listed[i] = story->listed[story->count];
}

static void begin(void *user)
{
	struct story *story = user;

	memset(story->listed, 0, sizeof(story->listed));
}

static int object(void *user, const struct mpijob_watch_event *event)
{
	struct story *story = user;
	int i = 0;

	story->events++;
	while (i < story->count && strcmp(story->names[i], event->name) != 0)
		i++;
	if (event->event == MPIJOB_WATCH_DELETED) {
		if (i < story->count)
			forget(story, i);
		return 0;
	}
	need(i < NAMES, "too many pods");
	if (i == story->count)
		story->names[story->count++] = strdup(event->name);
	story->listed[i] = 1;
	story->ended |= strcmp(event->name, "end") == 0;
	return 0;
}

static int listed(void *user, const char *version)
{
	struct story *story = user;

	(void)version;
	story->lists++;
	for (int i = story->count - 1; i >= 0; i--)
		if (!story->listed[i])
			forget(story, i);
	return 0;
}

static void failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct story *story = user;

	(void)answer;
	(void)what;
	story->failures++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int follow(mpijob_client *client, int64_t timeout_ms, struct story *story)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	mpijob_watch *watch = NULL;
	int64_t until = now_ms() + timeout_ms;
	int code;

	options.api_version = "v1";
	options.kind = "Pod";
	options.namespace_ = "t";
	options.begin = begin;
	options.object = object;
	options.listed = listed;
	options.failed = failed;
	options.user = story;
	code = mpijob_watch_new(client, &options, &watch);
	while (code == 0 && !(story->ended && mpijob_watch_health_get(watch)->synced)) {
		int64_t left = until - now_ms();
		code = left > 0 ? mpijob_client_poll(client, left < TURN_MS ? (int)left : TURN_MS)
				: MPIJOB_ERR_TIMEOUT;
	}
	mpijob_watch_free(watch);
	qsort(story->names, (size_t)story->count, sizeof(char *), by_name);
	return code;
}

static int is_running(void *user, const mpijob_node *pod)
{
	const char *phase = mpijob_node_string(mpijob_node_find(pod, "status.phase"));

	(void)user;
	return phase && strcmp(phase, "Running") == 0;
}

static int create(mpijob_client *client, const struct mpijob_target *target, const char *name,
    mpijob_doc **out, mpijob_diag *diag)
{
	static const char pod[] =
	    "{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(pod, sizeof(pod) - 1, NULL, &doc, NULL);

	if (code == 0) {
		mpijob_node *root = mpijob_doc_edit(doc, "");
		mpijob_node_put_string(doc, mpijob_node_put_map(doc, root, "metadata"), "name",
		    name);
		code = mpijob_doc_error(doc);
	}
	if (code == 0)
		code = mpijob_client_write(client, target, mpijob_doc_root(doc), NULL, out, diag);
	mpijob_doc_free(doc);
	return code;
}

/* Goes on after a failure, and ends with the first. */
static int create_many(mpijob_client *client, const struct mpijob_target *target,
    struct story *story, mpijob_diag *diag)
{
	int failure = 0;

	for (int i = 0; i < MANY; i++) {
		char name[] = { 'p', (char)('0' + i), 0 };
		mpijob_doc *made = NULL;
		int code = create(client, target, name, &made, diag);

		if (code == 0)
			story->names[story->count++] = strdup(mpijob_node_string(
			    mpijob_node_find(mpijob_doc_root(made), "metadata.name")));
		if (failure == 0)
			failure = code;
		mpijob_doc_free(made);
	}
	return failure;
}

static void print_text(const char *text)
{
	putchar('"');
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < ' ' || c == '"' || c == '\\' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_end(int code, const mpijob_doc *doc, const mpijob_diag *diag,
    const struct story *story)
{
	const mpijob_node *items = mpijob_node_get(doc ? mpijob_doc_root(doc) : NULL, "items");

	printf("{\"code\": \"%s\", \"names\": [", code ? mpijob_error_name(code) : "OK");
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		printf("%s", i ? ", " : "");
		print_text(mpijob_node_string(
		    mpijob_node_find(mpijob_node_at(items, i), "metadata.name")));
	}
	for (int i = 0; i < story->count; i++) {
		printf("%s", i ? ", " : "");
		print_text(story->names[i]);
	}
	printf("], \"name\": ");
	print_text(doc ? mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.name"))
		       : NULL);
	printf(", \"label\": ");
	print_text(
	    doc ? mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.labels.by"))
		: NULL);
	printf(", \"events\": %d, \"lists\": %d, \"failures\": %d, \"findings\": [", story->events,
	    story->lists, story->failures);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		printf("%s", i ? ", " : "");
		print_text(mpijob_diag_at(diag, i)->message);
	}
	puts("]}");
}

/* Does it, prints how it went, and frees the client. */
void faults_drive(mpijob_client *client, const char *verb, int64_t timeout_ms)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct story story = { 0 };
	mpijob_doc *doc = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	int code = MPIJOB_ERR_USAGE;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = "t";
	target.name = strcmp(verb, "list") == 0 || strncmp(verb, "create", 6) == 0 ? NULL : "a";
	if (strcmp(verb, "get") == 0)
		code = mpijob_client_get(client, &target, &doc, diag);
	else if (strcmp(verb, "list") == 0)
		code = mpijob_client_list(client, &target, 2, &doc, diag);
	else if (strcmp(verb, "get-create") == 0) {
		code = mpijob_client_get(client, &target, &doc, diag);
		mpijob_doc_free(doc);
		doc = NULL;
		target.name = NULL;
		if (code == 0)
			code = create(client, &target, "a", &doc, diag);
	} else if (strcmp(verb, "create") == 0)
		code = create(client, &target, "a", &doc, diag);
	else if (strcmp(verb, "create-many") == 0)
		code = create_many(client, &target, &story, diag);
	else if (strcmp(verb, "delete") == 0)
		code = mpijob_client_delete(client, &target, DELETION("uid-a", NULL), diag);
	else if (strcmp(verb, "wait") == 0)
		code =
		    mpijob_client_wait(client, &target, timeout_ms, is_running, NULL, &doc, diag);
	else if (strcmp(verb, "watch") == 0)
		code = follow(client, timeout_ms, &story);
	print_end(code, doc, diag, &story);
	fflush(stdout);
	for (int i = 0; i < story.count; i++)
		free(story.names[i]);
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
}

#ifndef FAULTS_LOADED
int main(int argc, char **argv)
{
	struct mpijob_http_config_options wanted = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	mpijob_client *client = NULL;

	need(argc == 4, "usage: faults-driver KUBECONFIG "
			"get|list|create|get-create|create-many|delete|watch|wait TIMEOUT_MS");
	wanted.kubeconfig = argv[1];
	options.request_timeout_ms = atoll(argv[3]);
	options.idle_timeout_ms = 2000;
	need(mpijob_http_config_load(&wanted, &config, NULL) == 0, "the kubeconfig");
	need(mpijob_http_new(config, &options, &transport, &http, NULL) == 0, "the transport");
	need(mpijob_client_new(&transport, http, &client) == 0, "the client");
	faults_drive(client, argv[2], atoll(argv[3]));
	mpijob_http_config_free(config);
	return 0;
}
#endif

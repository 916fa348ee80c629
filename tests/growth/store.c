/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the embedded cluster does with an object costs time in proportion to its size: objects with
 * N and with 2N entries in one of their lists are created, as basic blocks that run. Ends with 1
 * where a factor is above LIMIT.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/client.h>
#include <mpijob/local.h>

#define ENTRIES 2000
#define LIMIT   2.15

static uint64_t steps;

extern void __sanitizer_cov_trace_pc(void);

__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "growth-store: %s\n", what);
	exit(2);
}

#define POD_BEGIN                                                                                \
	"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{" \
	"\"name\":\"c\",\"image\":\"i\""
#define PODS "/api/v1/namespaces/default/pods"
#define JOB_BEGIN                                                                             \
	"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":" \
	"\"Never\",\"containers\":["                                                          \
	"{\"name\":\"c\",\"image\":\"i\"}"

/* An object: `begin`, the entries with their number for each %06zu, `end`. `second` repeats the
 * list with other entries. */
static const struct list {
	const char *name, *path;
	const char *begin, *entry;
	const char *middle, *second; /* NULL: one list only */
	const char *end;
	int status;
} lists[] = {
	{ "containers of a pod", PODS, POD_BEGIN "}", ",{\"name\":\"a-%06zu\",\"image\":\"i\"}",
	    NULL, NULL, "]}}", 201 },
	{ "containers of one name", PODS, POD_BEGIN "}", ",{\"name\":\"a\",\"image\":\"i\"}", NULL,
	    NULL, "]}}", 422 },
	{ "initContainers", PODS,
	    POD_BEGIN "}],\"initContainers\":[{\"name\":\"d\",\"image\":\"i\"}",
	    ",{\"name\":\"a-%06zu\",\"image\":\"i\"}", NULL, NULL, "]}}", 201 },
	{ "volumes and their mounts", PODS,
	    POD_BEGIN ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}",
	    ",{\"name\":\"a-%06zu\",\"mountPath\":\"/a-%06zu\"}",
	    "]}],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}",
	    ",{\"name\":\"a-%06zu\",\"emptyDir\":{}}", "]}}", 201 },
	{ "mounts without volumes", PODS,
	    POD_BEGIN ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}",
	    ",{\"name\":\"a-%06zu\",\"mountPath\":\"/a-%06zu\"}", NULL, NULL, "]}]}}", 422 },
	{ "containers of a Job", "/apis/batch/v1/namespaces/default/jobs", JOB_BEGIN,
	    ",{\"name\":\"a-%06zu\",\"image\":\"i\"}", NULL, NULL, "]}}}}", 201 },
	{ "keys of a ConfigMap", "/api/v1/namespaces/default/configmaps",
	    "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"\"", ",\"a-%06zu\":\"v\"", NULL, NULL,
	    "}}", 201 },
	{ "wrong keys of a ConfigMap", "/api/v1/namespaces/default/configmaps",
	    "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"\"", ",\"../%06zu\":\"v\"", NULL,
	    NULL, "}}", 422 },
	{ "keys of a Secret", "/api/v1/namespaces/default/secrets",
	    "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"\"", ",\"a-%06zu\":\"dg==\"", NULL,
	    NULL, "}}", 201 },
	{ "labels", PODS,
	    "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},\"metadata\":{\"name\":"
	    "\"a\",\"labels\":{\"k\":\"\"",
	    ",\"a-%06zu\":\"v\"", NULL, NULL, "}}}", 201 },
};

/* Put the number in the place of each %06zu. */
static void put_entry(mpijob_text *text, const char *entry, size_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%06zu", number);
	for (const char *at; (at = strstr(entry, "%06zu")); entry = at + 5) {
		need(!mpijob_text_write(text, entry, (size_t)(at - entry)), "memory");
		need(!mpijob_text_write(text, digits, strlen(digits)), "memory");
	}
	need(!mpijob_text_write(text, entry, strlen(entry)), "memory");
}

static mpijob_text *object(const struct list *list, size_t n)
{
	mpijob_text *text = mpijob_text_new();

	need(text != NULL, "memory");
	put_entry(text, list->begin, 0);
	for (size_t i = 0; i < n; i++)
		put_entry(text, list->entry, i);
	if (list->second)
		put_entry(text, list->middle, 0);
	for (size_t i = 0; list->second && i < n; i++)
		put_entry(text, list->second, i);
	put_entry(text, list->end, 0);
	return text;
}

static void done(void *user, const struct mpijob_answer *answer)
{
	*(int *)user = answer->status;
}

static double cost(const struct list *list, size_t n)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = { .size = sizeof(transport) };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	mpijob_local *local = NULL;
	mpijob_client *client = NULL;
	mpijob_text *body = object(list, n);
	uint64_t from;
	int status = 0;

	options.no_node = 1;
	need(!mpijob_local_new(&options, &transport, &local, NULL), "mpijob_local_new");
	need(!mpijob_client_new(&transport, local, &client), "mpijob_client_new");
	request.method = "POST";
	request.path = list->path;
	request.content_type = "application/json";
	request.body = mpijob_text_data(body);
	request.body_len = mpijob_text_len(body);
	callbacks.done = done;
	callbacks.user = &status;
	from = steps;
	need(!mpijob_client_start(client, &request, &callbacks, NULL), "mpijob_client_start");
	while (!status)
		need(!mpijob_client_poll(client, 100), "mpijob_client_poll");
	from = steps - from;
	if (status != list->status)
		fprintf(stderr, "%s: %d, not %d\n", list->name, status, list->status);
	need(status == list->status, "another status");
	mpijob_client_free(client);
	mpijob_text_free(body);
	return (double)from;
}

int main(void)
{
	size_t bad = 0;

	printf("%-40s %12s %12s factor\n", "list", "steps (N)", "steps (2N)");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		double once = cost(&lists[i], ENTRIES),
		       twice = cost(&lists[i], 2 * (size_t)ENTRIES);

		bad += twice / once > LIMIT;
		printf("%-40s %12.0f %12.0f %6.2f%s\n", lists[i].name, once, twice, twice / once,
		    twice / once > LIMIT ? "  NOT LINEAR" : "");
	}
	return bad ? 1 : 0;
}

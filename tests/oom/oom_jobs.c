/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of the typed calls for jobs and of logs fails once, and from one point on. Each
 * call must end with what it should, or say that memory ran out; what it says is done must have
 * been asked of the server; logs must tell each line once, or go on later; and nothing may leak.
 * The server allocates nothing.
 */
#include "failing_malloc.h"

#include "client/client.h"

#include <mpijob/mpijob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16
#define HEAD                              \
	"{\"apiVersion\":\"kubeflow.org/" \
	"v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"pi\",\"namespace\":\"d\""
#define SPEC                                                                             \
	",\"spec\":{\"runPolicy\":{\"suspend\":false},\"mpiReplicaSpecs\":{\"Worker\":{" \
	"\"replicas\":2}}}"
#define STORED                                                \
	HEAD ",\"uid\":\"u\",\"resourceVersion\":\"7\"}" SPEC \
	     ",\"status\":{\"conditions\":[{\"type\":\"Running\",\"status\":\"True\"}]}}"
#define REFUSED                                                                          \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"  \
	"\"Invalid\",\"message\":\"m\","                                                 \
	"\"code\":422,\"details\":"                                                      \
	"{\"causes\":[{\"reason\":\"FieldValueInvalid\",\"field\":\"spec.runPolicy.x\"," \
	"\"message\":\"no\"},{"                                                          \
	"\"message\":\"nor this\"}]}}"
#define EVENTS                                                                                    \
	"{\"kind\":\"EventList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"}," \
	"\"items\":["                                                                             \
	"{\"metadata\":{\"name\":\"b\"},\"involvedObject\":{\"name\":\"pi\"},\"lastTimestamp\":"  \
	"\"2026-11-21T12:00:"                                                                     \
	"02Z\"},"                                                                                 \
	"{\"metadata\":{\"name\":\"a\"},\"involvedObject\":{\"name\":\"pi\"},\"lastTimestamp\":"  \
	"\"2026-11-21T12:00:"                                                                     \
	"01Z\"}]}"
#define PODS                                                                                       \
	"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},"    \
	"\"items\":[{"                                                                             \
	"\"metadata\":{\"name\":\"p\","                                                            \
	"\"namespace\":\"d\",\"uid\":\"up\",\"resourceVersion\":\"8\"},\"spec\":{\"containers\":[" \
	"{\"name\":\"c\"}]},"                                                                      \
	"\"status\":{\"phase\":"                                                                   \
	"\"Succeeded\",\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":0,\"state\":{"      \
	"\"terminated\":{"                                                                         \
	"\"exitCode\":0}}}]}}]}"
#define FAILED                                                                                   \
	HEAD ",\"uid\":\"u\",\"resourceVersion\":\"7\"}" SPEC                                    \
	     ",\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":" \
	     "\"r\"}]}}"
#define LAUNCHER                                                                                \
	"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"}," \
	"\"items\":[{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"uid\":\"up\","          \
	"\"resourceVersion\":\"8\",\"labels\":{\"training.kubeflow.org/"                        \
	"job-role\":\"launcher\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]},\"status\":"    \
	"{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":0,"      \
	"\"state\":{\"terminated\":{\"exitCode\":1}}}]}}]}"
#define LOG "2026-11-21T12:00:00Z one\n2026-11-21T12:00:01Z two\n2026-11-21T12:00:02Z three\n"

struct open_exchange {
	mpijob_exchange *exchange;
	int status, end_code;
	const char *text;
};

static struct {
	struct open_exchange exchanges[MOST];
	int posts, patches;
	int lose;   /* the answer to a create */
	int refuse; /* a create */
	int failed; /* the job has failed, and its launcher's pod exists */
	int breaks; /* how often a log breaks in its second line */
	int64_t now_ms;
} server;

static int64_t server_clock(void)
{
	return server.now_ms += 50;
}

static void decide(struct open_exchange *to, const struct mpijob_request *request)
{
	const char *path = request->path;

	to->status = 200;
	to->text = STORED;
	if (strcmp(request->method, "POST") == 0) {
		server.posts++;
		to->status = server.lose ? 0 : server.refuse ? 422 : 201;
		to->end_code = server.lose ? MPIJOB_ERR_IO : 0;
		to->text = server.lose ? "" : server.refuse ? REFUSED : STORED;
	} else if (strcmp(request->method, "PATCH") == 0) {
		server.patches++;
		if (server.lose) {
			server.lose = 0;
			to->status = 0;
			to->end_code = MPIJOB_ERR_IO;
			to->text = "";
		}
	} else if (strstr(path, "sendInitialEvents")) {
		to->status = 400;
		to->text = "";
	} else if (strstr(path, "/log?")) {
		to->text = LOG;
		to->end_code = server.breaks-- > 0 ? MPIJOB_ERR_IO : 0;
	} else if (strstr(path, "/events?")) {
		to->text = EVENTS;
	} else if (strstr(path, "/pods?")) {
		to->text = server.failed ? LAUNCHER : PODS;
	} else if (strstr(path, "/mpijobs?")) {
		to->text = "{\"kind\":\"MPIJobList\",\"metadata\":{\"resourceVersion\":\"9\"},"
			   "\"items\":[" STORED "]}";
		if (server.failed)
			to->text = "{\"kind\":\"MPIJobList\",\"metadata\":{\"resourceVersion\":"
				   "\"9\"},\"items\":[" FAILED "]}";
	}
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	(void)self;
	for (size_t i = 0; i < MOST; i++)
		if (!server.exchanges[i].exchange) {
			server.exchanges[i] = (struct open_exchange){ exchange, 0, 0, NULL };
			decide(&server.exchanges[i], request);
			return 0;
		}
	return MPIJOB_ERR_IO;
}

static int poll_all(void *self, int timeout_ms)
{
	(void)self;
	(void)timeout_ms;
	for (size_t i = 0; i < MOST; i++) {
		struct open_exchange *to = &server.exchanges[i], told = *to;
		size_t len = told.text ? strlen(told.text) : 0;

		if (!told.exchange)
			continue;
		to->exchange = NULL;
		if (told.status)
			mpijob_exchange_status(told.exchange, told.status);
		/* A broken log loses its end. */
		mpijob_exchange_data(told.exchange, told.text, told.end_code ? len / 2 : len);
		mpijob_exchange_end(told.exchange, told.end_code, NULL);
	}
	return 0;
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	(void)self;
	for (size_t i = 0; i < MOST; i++)
		if (server.exchanges[i].exchange == exchange)
			server.exchanges[i].exchange = NULL;
}

static void nothing(void *self)
{
	(void)self;
}

static mpijob_client *connect_to_server(void)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *client = NULL;

	transport.start = start;
	transport.poll = poll_all;
	transport.cancel = cancel;
	transport.wake = nothing;
	transport.destroy = nothing;
	if (mpijob_client_new(&transport, NULL, &client))
		return NULL;
	client->clock = server_clock;
	return client;
}

/* --- scenarios: 0 when all was well or memory ran out, as `*short_of_memory` says; else 1 and a
 * line about it --- */

static int complain(const char *what, int code)
{
	printf("%s: %s, %d creates, %d patches\n", what, mpijob_error_name(code), server.posts,
	    server.patches);
	return 1;
}

static int submit_as(mpijob_client *client, mpijob_diag *diag, int lose, int refuse, int *code)
{
	static const char yaml[] = HEAD "}" SPEC ",\"status\":{}}";
	mpijob *job = NULL, *stored = NULL;
	int wrong = 0;

	server.lose = lose;
	server.refuse = refuse;
	*code = mpijob_parse(yaml, strlen(yaml), NULL, &job, diag);
	if (*code == 0)
		*code = mpijob_client_submit(client, job, NULL, &stored, diag);
	if ((stored != NULL) != (*code == 0) ||
	    (*code == 0 && (refuse || server.posts != 1 || strcmp(mpijob_uid(stored), "u") != 0)))
		wrong = complain("submit", *code);
	mpijob_free(stored);
	mpijob_free(job);
	return wrong;
}

static int submit(mpijob_client *client, mpijob_diag *diag, int *code)
{
	return submit_as(client, diag, 0, 0, code);
}

static int submit_lost(mpijob_client *client, mpijob_diag *diag, int *code)
{
	int wrong = submit_as(client, diag, 1, 0, code);

	/* What cannot be looked at stays unknown. */
	if (*code == MPIJOB_ERR_IO)
		*code = MPIJOB_ERR_NOMEM;
	return wrong;
}

static int submit_refused(mpijob_client *client, mpijob_diag *diag, int *code)
{
	int wrong = submit_as(client, diag, 0, 1, code);

	if (*code == MPIJOB_ERR_REJECTED) {
		wrong |=
		    diag && mpijob_diag_count(diag, 0) == 0 ? complain("no findings", *code) : 0;
		*code = 0;
	}
	return wrong;
}

static int suspend(mpijob_client *client, mpijob_diag *diag, int *code)
{
	*code = mpijob_client_suspend(client, "d", "pi", 1, diag);
	return *code == 0 && server.patches != 1 ? complain("suspend", *code) : 0;
}

static int scale(mpijob_client *client, mpijob_diag *diag, int *code)
{
	*code = mpijob_client_scale(client, "d", "pi", 3, 2, diag);
	return *code == 0 && server.patches != 1 ? complain("scale", *code) : 0;
}

/* It is looked at, was not done, and is done then. */
static int scale_lost(mpijob_client *client, mpijob_diag *diag, int *code)
{
	server.lose = 1;
	*code = mpijob_client_scale(client, "d", "pi", 3, 2, diag);
	if (*code == 0 && server.patches != 2)
		return complain("scale, answer lost", *code);
	/* What cannot be looked at stays unknown. */
	if (*code == MPIJOB_ERR_IO)
		*code = MPIJOB_ERR_NOMEM;
	return 0;
}

static int delete (mpijob_client *client, mpijob_diag *diag, int *code)
{
	*code = mpijob_client_delete_job(client, "d", "pi", "u", NULL, diag);
	return 0;
}

static int events(mpijob_client *client, mpijob_diag *diag, int *code)
{
	mpijob_doc *list = NULL;
	const char *first;
	int wrong = 0;

	*code = mpijob_client_events(client, "d", NULL, "pi", NULL, &list, diag);
	first = list ? mpijob_node_string(
			   mpijob_node_find(mpijob_doc_root(list), "items[0].metadata.name"))
		     : NULL;
	if (*code == 0 && (!first || strcmp(first, "a") != 0))
		wrong = complain("events", *code);
	mpijob_doc_free(list);
	return wrong;
}

static int wait_for(mpijob_client *client, mpijob_diag *diag, int *code)
{
	mpijob *job = NULL;

	*code = mpijob_client_wait_job(client, "d", "pi", "Running", 5000, &job, diag);
	if ((job != NULL) != (*code == 0))
		return complain("wait", *code);
	mpijob_free(job);
	/* Memory that never comes back is waited for, too. */
	if (*code == MPIJOB_ERR_TIMEOUT)
		*code = MPIJOB_ERR_NOMEM;
	return 0;
}

static int create(mpijob_client *client, mpijob_diag *diag, int *code)
{
	static const char yaml[] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}";
	mpijob_doc *object = NULL, *stored = NULL;
	int wrong = 0;

	*code = mpijob_doc_parse(yaml, strlen(yaml), NULL, &object, diag);
	if (*code == 0)
		*code = mpijob_run_create(client, mpijob_doc_root(object), NULL, &stored, diag);
	if ((stored != NULL) != (*code == 0) || (*code == 0 && server.posts != 1))
		wrong = complain("create", *code);
	mpijob_doc_free(stored);
	mpijob_doc_free(object);
	return wrong;
}

struct followed {
	int lines, ended;
};

static void take_event(void *user, const struct mpijob_run_event *event)
{
	struct followed *followed = user;

	followed->lines += event->kind == MPIJOB_RUN_OUTPUT;
	followed->ended += event->kind == MPIJOB_RUN_ENDED;
}

/* A run reports each line of the launcher and the end of the job once, or fails. */
static int follow(mpijob_client *client, mpijob_diag *diag, int *code)
{
	struct mpijob_run_options options = MPIJOB_RUN_OPTIONS_INIT;
	struct followed followed = { 0, 0 };
	mpijob_run *run = NULL;
	int wrong = 0;

	(void)diag;
	server.failed = 1;
	options.namespace_ = "d";
	options.name = "pi";
	options.event = take_event;
	options.user = &followed;
	*code = mpijob_run_new(client, &options, &run);
	if (*code)
		return 0;
	for (int i = 0; i < 5000 && mpijob_run_state(run) > 0; i++)
		(void)mpijob_client_poll(client, 0);
	*code = mpijob_run_state(run);
	if (*code == 0 && (followed.ended != 1 || followed.lines > 3))
		wrong = complain("follow", *code);
	/* Without memory for good it never ends; without some of it, a log may be missing. */
	if (*code > 0 || followed.lines < 3)
		*code = MPIJOB_ERR_NOMEM;
	mpijob_run_free(run);
	return wrong;
}

/* Without memory for what may be missing the call fails; so it returns everything or nothing. */
static int diagnose(mpijob_client *client, mpijob_diag *diag, int *code)
{
	struct mpijob_run_diagnose_options options = MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT;
	struct mpijob_log_tail tail = { sizeof(tail), "gone", "c", "text", 4 };
	mpijob_doc *evidence = NULL;
	mpijob *job = NULL;
	int wrong = 0;

	options.log = &tail;
	*code = mpijob_run_diagnose(client, "d", "pi", &options, &job, &evidence, diag);
	if ((job && evidence) != (*code >= 0))
		wrong = complain("diagnose", *code);
	if (*code > 0)
		*code = 0;
	mpijob_free(job);
	mpijob_doc_free(evidence);
	return wrong;
}

struct read {
	int lines, failed;
	char text[64];
};

static int take_line(void *user, const struct mpijob_log_line *line)
{
	struct read *read = user;

	read->lines++;
	strncat(read->text, line->text, line->len < 8 ? line->len : 8);
	strcat(read->text, line->whole ? ";" : "~");
	return 0;
}

static void take_failure(void *user, const char *pod, const char *container, int code,
    const char *message, int again)
{
	struct read *read = user;

	(void)pod;
	(void)container;
	(void)code;
	(void)message;
	read->failed |= !again;
}

static int logs(mpijob_client *client, mpijob_diag *diag, int *code)
{
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	const char *pod = "p";
	struct read read = { 0, 0, "" };
	mpijob_logs *logs = NULL;
	int wrong = 0;

	(void)diag;
	server.breaks = 1;
	options.namespace_ = "d";
	options.pods = &pod;
	options.pods_count = 1;
	options.line = take_line;
	options.failed = take_failure;
	options.user = &read;
	*code = mpijob_logs_new(client, &options, &logs);
	if (*code)
		return 0;
	for (int i = 0; i < 2000 && mpijob_logs_state(logs, NULL) > 0; i++)
		(void)mpijob_client_poll(client, 0);
	/* Without memory for good they never end, and then have told nothing twice and nothing out
	 * of order. */
	if (strncmp("one;two;three;", read.text, strlen(read.text)) != 0 ||
	    (mpijob_logs_state(logs, NULL) == 0 && !read.failed && read.lines != 3)) {
		printf("told %s\n", read.text);
		wrong = complain("logs", mpijob_logs_state(logs, NULL));
	}
	*code = mpijob_logs_state(logs, NULL) == 0 && read.lines == 3 ? 0 : MPIJOB_ERR_NOMEM;
	mpijob_logs_free(logs);
	return wrong;
}

static const struct {
	const char *name;
	int (*run)(mpijob_client *client, mpijob_diag *diag, int *code);
} scenarios[] = {
	{ "submit", submit },
	{ "submit, answer lost", submit_lost },
	{ "submit, refused", submit_refused },
	{ "suspend", suspend },
	{ "scale", scale },
	{ "scale, answer lost", scale_lost },
	{ "delete", delete },
	{ "events", events },
	{ "wait", wait_for },
	{ "create", create },
	{ "diagnose", diagnose },
	{ "follow", follow },
	{ "logs", logs },
};

/* One life with a failure at this allocation. How many allocations there were; `*code` as the
 * scenario's. */
static size_t live(size_t scenario, size_t fail_at, int persistent, int *code, int *wrong)
{
	mpijob_client *client;
	mpijob_diag *diag;
	size_t count;

	memset(&server, 0, sizeof(server));
	oom_start(fail_at, persistent);
	client = connect_to_server();
	diag = mpijob_diag_new();
	*code = MPIJOB_ERR_NOMEM;
	*wrong = 0;
	if (client)
		*wrong = scenarios[scenario].run(client, diag, code);
	mpijob_client_free(client);
	mpijob_diag_free(diag);
	count = oom_stop();
	if (*code && *code != MPIJOB_ERR_NOMEM)
		*wrong |= complain("another code", *code);
	if (oom_live()) {
		printf("%ld blocks leak, the oldest is number %zu\n", oom_live(), oom_oldest());
		*wrong = 1;
	}
	return count;
}

int main(void)
{
	int faults = 0;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: AddressSanitizer has an allocator of its own");
	return 77;
#endif
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		int code, wrong;
		size_t count = live(i, 0, 0, &code, &wrong), survived = 0;

		if (code || wrong) {
			printf("%s: fails by itself: %s\n", scenarios[i].name,
			    mpijob_error_name(code));
			faults++;
		}
		for (size_t at = 1; at <= count; at++)
			for (int persistent = 0; persistent < 2; persistent++) {
				live(i, at, persistent, &code, &wrong);
				survived += code == 0;
				if (!wrong)
					continue;
				printf("%s: allocation %zu of %zu%s\n", scenarios[i].name, at,
				    count, persistent ? " and all after it" : "");
				faults++;
			}
		printf("%s: %zu allocations, %zu of %zu failures survived\n", scenarios[i].name,
		    count, survived, 2 * count);
	}
	printf("%d faults\n", faults);
	return faults != 0;
}

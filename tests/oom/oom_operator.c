/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of an operator that brings a job from nothing to its launcher fails once, or
 * from one point on for a while. Each time the job must end with the same children, each made once,
 * and nothing may leak. The server behind the transport is so simple that it allocates nothing.
 */
#include "failing_malloc.h"

#include "../support/writes.h"

#include <mpijob/mpijob.h>
#include <mpijob/operator.h>
#include <mpijob/operator_config.h>

#include <openssl/crypto.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UID  "6b4c9a3e-0000-4000-8000-000000000001"
#define MOST 32
#define ROOM 32768

static const char job_format[] =
    "{\"apiVersion\":\"kubeflow.org/"
    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"pi\",\"namespace\":\"d\","
    "\"uid\":\"" UID "\",\"resourceVersion\":\"%u\"},\"spec\":{\"mpiReplicaSpecs\":{"
    "\"Launcher\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"l\",\"image\":\"i\"}]}}},"
    "\"Worker\":{\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":\"w\",\"image\":"
    "\"i\"}]}}}}}%s}";

struct stored {
	char path[256];
	char json[ROOM];
};

struct open_exchange {
	mpijob_exchange *exchange;
	int status, watch, told;
	char text[ROOM + 512];
};

static struct {
	struct stored objects[MOST];
	size_t object_count;
	struct open_exchange exchanges[MOST];
	unsigned version;
	char status[4096]; /* of the job: ,"status":{...} */
	unsigned job_version;
	size_t events; /* Events are taken and forgotten */
	int streams;   /* lists may come as streams */
	char problem[256];
} server;

/* What an operator is told to do with jobs; NULL: nothing. Read before anything fails. */
static mpijob_operator_config *config;

/* What fails, so that the server can work undisturbed in between. */
static struct {
	size_t at, done;
	int persistent, on;
} faults;

static void disturb(size_t at, int persistent)
{
	faults.at = at;
	faults.persistent = persistent;
	faults.done = 0;
	faults.on = 1;
	oom_start(at, persistent);
}

static void leave_alone(void)
{
	if (faults.on)
		faults.done += oom_stop();
}

static void disturb_again(void)
{
	if (!faults.on)
		return;
	if (faults.at > faults.done)
		oom_start(faults.at - faults.done, faults.persistent);
	else
		oom_start(faults.at && faults.persistent ? 1 : 0, faults.persistent);
}

/* For good; tells how many allocations there were. */
static size_t calm(void)
{
	leave_alone();
	faults.on = 0;
	return faults.done;
}

static void reset(void)
{
	memset(&server, 0, sizeof(server));
	server.version = server.job_version = 100;
}

static void say(struct open_exchange *to, int status, const char *text)
{
	to->status = status;
	snprintf(to->text, sizeof(to->text), "%s", text);
}

static void say_failure(struct open_exchange *to, int code, const char *reason)
{
	to->status = code;
	snprintf(to->text, sizeof(to->text),
	    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"%s\","
	    "\"code\":%d}",
	    reason, code);
}

static void say_job(struct open_exchange *to)
{
	to->status = 200;
	snprintf(to->text, sizeof(to->text), job_format, server.job_version, server.status);
}

static struct stored *find(const char *path)
{
	for (size_t i = 0; i < server.object_count; i++)
		if (strcmp(server.objects[i].path, path) == 0)
			return &server.objects[i];
	return NULL;
}

static void list(struct open_exchange *to, const char *path)
{
	size_t len;

	to->status = 200;
	len = (size_t)snprintf(to->text, sizeof(to->text),
	    "{\"metadata\":{\"resourceVersion\":\"%u\"},\"items\":[", server.version);
	if (strstr(path, "/mpijobs?"))
		len += (size_t)snprintf(to->text + len, sizeof(to->text) - len, job_format,
		    server.job_version, server.status);
	snprintf(to->text + len, sizeof(to->text) - len, "]}");
}

/* What is there as events, and the mark behind it. */
static void stream(struct open_exchange *to, const char *path)
{
	size_t len = 0;

	if (strstr(path, "/mpijobs?")) {
		len =
		    (size_t)snprintf(to->text, sizeof(to->text), "{\"type\":\"ADDED\",\"object\":");
		len += (size_t)snprintf(to->text + len, sizeof(to->text) - len, job_format,
		    server.job_version, server.status);
		len += (size_t)snprintf(to->text + len, sizeof(to->text) - len, "}\n");
	}
	snprintf(to->text + len, sizeof(to->text) - len,
	    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%u\","
	    "\"annotations\":"
	    "{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
	    server.version);
}

/* Store what is posted, with a uid and a version behind `"metadata":{`. */
static void create(struct open_exchange *to, const char *path, const char *body)
{
	const char *metadata = strstr(body, "\"metadata\":{"), *name;
	struct stored *object = &server.objects[server.object_count];
	int head;

	if (strstr(path, "/events")) {
		server.events++;
		say(to, 201, "{}");
		return;
	}
	if (strstr(path, "/selfsubjectaccessreviews")) {
		say(to, 201, "{\"status\":{\"allowed\":true}}");
		return;
	}
	name = metadata ? strstr(metadata, "\"name\":\"") : NULL;
	if (!name || server.object_count == MOST) {
		snprintf(server.problem, sizeof(server.problem), "a strange create at %s", path);
		say_failure(to, 400, "BadRequest");
		return;
	}
	name += 8;
	snprintf(object->path, sizeof(object->path), "%s/%.*s", path, (int)strcspn(name, "\""),
	    name);
	if (find(object->path)) {
		say_failure(to, 409, "AlreadyExists");
		return;
	}
	head = (int)(metadata + 12 - body);
	snprintf(object->json, sizeof(object->json),
	    "%.*s\"uid\":\"uid-%u\",\"resourceVersion\":\"%u\",%s", head, body, server.version + 1,
	    server.version + 1, body + head);
	server.version++;
	server.object_count++;
	say(to, 201, object->json);
}

/* Merge into the job's status as a server does. */
static void merge_status(const char *body)
{
	mpijob_text *text = mpijob_text_new();
	mpijob_doc *status = mpijob_doc_new(), *given = NULL, *part;

	if (server.status[0]) {
		mpijob_doc_free(status);
		mpijob_doc_parse(server.status + 10, strlen(server.status + 10), NULL, &status,
		    NULL);
	}
	mpijob_doc_parse(body, strlen(body), NULL, &given, NULL);
	part = mpijob_doc_from_node(mpijob_node_get(mpijob_doc_root(given), "status"), NULL);
	mpijob_doc_merge(status, mpijob_doc_root(part));
	mpijob_node_write(mpijob_doc_root(status), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
	    text);
	snprintf(server.status, sizeof(server.status), ",\"status\":%s", mpijob_text_data(text));
	mpijob_doc_free(part);
	mpijob_doc_free(given);
	mpijob_doc_free(status);
	mpijob_text_free(text);
}

static void patch(struct open_exchange *to, const char *path, const char *body)
{
	const char *status = strstr(body, "\"status\":{");
	char version[64];

	if (strstr(path, "/events/")) {
		say(to, 200, "{}");
		return;
	}
	if (!strstr(path, "/mpijobs/pi/status") || !status) {
		snprintf(server.problem, sizeof(server.problem), "a strange patch at %s", path);
		say_failure(to, 400, "BadRequest");
		return;
	}
	snprintf(version, sizeof(version), "\"resourceVersion\":\"%u\"", server.job_version);
	if (!strstr(body, version)) {
		say_failure(to, 409, "Conflict");
		return;
	}
	leave_alone();
	merge_status(body);
	disturb_again();
	server.job_version = ++server.version;
	say_job(to);
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct open_exchange *to = NULL;
	const char *path = request->path;

	(void)self;
	for (size_t i = 0; i < MOST && !to; i++)
		if (!server.exchanges[i].exchange)
			to = &server.exchanges[i];
	if (!to)
		return MPIJOB_ERR_IO;
	memset(to, 0, offsetof(struct open_exchange, text));
	to->exchange = exchange;
	to->text[0] = 0;
	if (strstr(path, "sendInitialEvents=") && !server.streams) {
		say_failure(to, 400, "BadRequest");
	} else if (strstr(path, "watch=1")) {
		to->watch = 1;
		to->status = 200;
		if (strstr(path, "sendInitialEvents="))
			stream(to, path);
	} else if (strcmp(request->method, "POST") == 0) {
		create(to, path, request->body);
	} else if (strcmp(request->method, "PATCH") == 0) {
		patch(to, path, request->body);
	} else if (strchr(path, '?')) {
		list(to, path);
	} else if (strstr(path, "/mpijobs/pi")) {
		say_job(to);
	} else if (find(path)) {
		say(to, 200, find(path)->json);
	} else {
		say_failure(to, 404, "NotFound");
	}
	return 0;
}

static int poll(void *self, int timeout_ms)
{
	(void)self;
	(void)timeout_ms;
	for (size_t i = 0; i < MOST; i++) {
		struct open_exchange *to = &server.exchanges[i];
		mpijob_exchange *exchange = to->exchange;

		if (!exchange || to->told)
			continue;
		to->told = 1;
		mpijob_exchange_status(exchange, to->status);
		mpijob_exchange_data(exchange, to->text, strlen(to->text));
		if (to->watch)
			continue;
		to->exchange = NULL;
		mpijob_exchange_end(exchange, 0, NULL);
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

static int complete(void)
{
	static const char *const paths[] = {
		"/api/v1/namespaces/d/services/pi",
		"/api/v1/namespaces/d/configmaps/pi-config",
		"/api/v1/namespaces/d/secrets/pi-ssh",
		"/api/v1/namespaces/d/pods/pi-worker-0",
		"/api/v1/namespaces/d/pods/pi-worker-1",
		"/apis/batch/v1/namespaces/d/jobs/pi-launcher",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!find(paths[i]))
			return 0;
	return server.object_count == sizeof(paths) / sizeof(paths[0]) &&
	       strstr(server.status, "\"Created\"") != NULL;
}

/* 1 when it can be written and holds a piece, 0 when not, MPIJOB_ERR_NOMEM. */
static int is_written(int (*make)(const mpijob_operator *, mpijob_write_fn, void *),
    const mpijob_operator *operator_, const char *piece)
{
	mpijob_text *text = mpijob_text_new();
	int code = text ? make(operator_, mpijob_text_write, text) : MPIJOB_ERR_NOMEM;
	int there = code == 0 && strstr(mpijob_text_data(text), piece) != NULL;

	mpijob_text_free(text);
	return code == MPIJOB_ERR_NOMEM ? code : there;
}

/* A shadow tells of each child that nobody makes, and makes none itself. */
static int imagine(mpijob_client *client)
{
	static const char *const pieces[] = { "\"Service\"", "\"ConfigMap\"", "\"pi-ssh\"",
		"\"pi-worker-0\"", "\"pi-worker-1\"", "\"pi-launcher\"", "\"patch status\"" };
	const struct timespec pause = { 0, 20000 };
	struct mpijob_operator_options options = MPIJOB_OPERATOR_OPTIONS_INIT;
	mpijob_operator *operator_ = NULL;
	size_t told = 0;
	int code;

	options.shadow = 1;
	options.shadow_grace_ms = 1;
	code = mpijob_operator_new(client, &options, &operator_, NULL);
	if (code) {
		calm();
		return code != MPIJOB_ERR_NOMEM;
	}
	for (int i = 0; i < 100000 && told < sizeof(pieces) / sizeof(pieces[0]); i++) {
		nanosleep(&pause, NULL);
		code = mpijob_operator_step(operator_, 0);
		if (code && code != MPIJOB_ERR_NOMEM)
			break;
		if (i == 1000)
			calm();
		if (i % 10 == 0)
			told +=
			    is_written(mpijob_operator_shadow_report, operator_, pieces[told]) == 1;
	}
	mpijob_operator_free(operator_);
	if (told == sizeof(pieces) / sizeof(pieces[0]) && server.object_count == 0 &&
	    !server.status[0])
		return 0;
	printf("ended with %s, %zu pieces told, %zu objects\n", mpijob_error_name(code), told,
	    server.object_count);
	return 1;
}

/* The status is written last: the operator counts the job as Created when it has the answer. 1, 0,
 * or NOMEM. */
static int is_created(const mpijob_operator *operator_)
{
	return is_written(mpijob_operator_metrics, operator_,
	    "\nmpi_operator_jobs{phase=\"Created\"} 1\n");
}

/* Steps until the job is complete, with little waits for back-offs. 0, or 1 and a line about it. */
static int live(mpijob_client *client, const mpijob_operator_config *wanted)
{
	const struct timespec pause = { 0, 20000 };
	mpijob_operator *operator_ = NULL;
	int code = mpijob_operator_new(client, NULL, &operator_, NULL);

	if (code) {
		calm();
		return code != MPIJOB_ERR_NOMEM;
	}
	for (int i = 0; i < 100000 && !(complete() && mpijob_operator_synced(operator_) &&
					  is_created(operator_) == 1);
	     i++) {
		nanosleep(&pause, NULL);
		if (wanted && mpijob_operator_configure(operator_, wanted) == 0)
			wanted = NULL;
		code = mpijob_operator_step(operator_, 0);
		if (code && code != MPIJOB_ERR_NOMEM)
			break;
		if (i == 300)
			calm(); /* memory is back */
		if (code == MPIJOB_ERR_NOMEM)
			code = 0;
	}
	for (int i = 0; i < 50 && !code; i++) {
		code = mpijob_operator_step(operator_, 0);
		if (code == MPIJOB_ERR_NOMEM)
			code = 0;
	}
	if (!code && is_created(operator_) == 0)
		code = MPIJOB_ERR_SYNTAX;
	mpijob_operator_free(operator_);
	if (!code && complete() && !server.problem[0])
		return 0;
	printf("ended with %s, %zu objects, %s\n", mpijob_error_name(code), server.object_count,
	    server.problem);
	return 1;
}

/* Told what it was told, or that memory ran out; a document only with success. */
static int is_wrong(int code, int wanted, const mpijob_doc *doc, const char *what)
{
	if ((code == wanted || code == MPIJOB_ERR_NOMEM) &&
	    (doc != NULL) == (code == 0 && wanted == 0))
		return 0;
	printf("%s ended with %s\n", what, mpijob_error_name(code));
	return 1;
}

static int is_absent(void *user, const mpijob_node *object)
{
	(void)user;
	return object == NULL;
}

/* Calls that are more than one request, or hold one back. */
static int longer_calls(mpijob_client *client, const struct mpijob_target *all, mpijob_diag *diag)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_access access = MPIJOB_ACCESS_INIT;
	struct mpijob_target one = *all;
	mpijob_doc *list = NULL, *absent = NULL;
	int wrong, code;

	options.qps = 1000;
	if (mpijob_client_set_options(client, &options))
		return 1;
	code = mpijob_client_list(client, all, 0, &list, diag);
	wrong = is_wrong(code, 0, list, "list");
	mpijob_doc_free(list);
	access.verb = "get";
	access.resource = "pods";
	code = mpijob_client_can(client, &access, diag);
	wrong |= code != 1 && is_wrong(code, MPIJOB_ERR_NOMEM, NULL, "can");
	one.name = "nobody";
	server.streams = !server.streams;
	code = mpijob_client_wait(client, &one, -1, is_absent, NULL, &absent, diag);
	return wrong | (code != 0 && code != MPIJOB_ERR_NOMEM) | (absent != NULL);
}

/* The calls that wait for their answer. */
static int calls(mpijob_client *client)
{
	static const char pod[] =
	    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}";
	struct mpijob_target all = MPIJOB_TARGET_INIT, one;
	mpijob_doc *doc = NULL, *stored = NULL, *read = NULL, *none = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	int wrong = 0, code;

	all.api_version = "v1";
	all.kind = "Pod";
	all.namespace_ = "d";
	one = all;
	one.name = "p";
	if (mpijob_doc_parse(pod, strlen(pod), NULL, &doc, diag) == 0) {
		code = mpijob_client_write(client, &all, mpijob_doc_root(doc), NULL, &stored, diag);
		wrong |= is_wrong(code, 0, stored, "create");
		code = mpijob_client_get(client, &one, &read, diag);
		wrong |=
		    is_wrong(code, server.object_count ? 0 : MPIJOB_ERR_NOT_FOUND, read, "get");
		if (server.object_count)
			wrong |= is_wrong(mpijob_client_write(client, &all, mpijob_doc_root(doc),
					      NULL, &none, diag),
			    MPIJOB_ERR_CONFLICT, none, "create again");
		wrong |=
		    is_wrong(mpijob_client_delete(client, &all, DELETION("u", "Background"), diag),
			MPIJOB_ERR_NOT_FOUND, NULL, "delete");
	}
	if (wrong == 0)
		wrong = longer_calls(client, &all, diag);
	mpijob_doc_free(none);
	mpijob_doc_free(read);
	mpijob_doc_free(stored);
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
	return wrong;
}

enum { LIVE, CALLS, IMAGINE, CONFIGURED };

static int scenario(int what, int streams)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *client = NULL;
	int code;

	reset();
	server.streams = streams;
	transport.start = start;
	transport.poll = poll;
	transport.cancel = cancel;
	transport.wake = nothing;
	transport.destroy = nothing;
	code = mpijob_client_new(&transport, NULL, &client);
	if (code) {
		calm();
		return code != MPIJOB_ERR_NOMEM;
	}
	if (what == CALLS)
		code = calls(client);
	else
		code = what == IMAGINE ? imagine(client)
				       : live(client, what == CONFIGURED ? config : NULL);
	mpijob_client_free(client);
	return code;
}

/* Let every allocation of a scenario fail, in both ways. 1 when something came of it. */
static int sweep(int what, int streams, size_t only)
{
	static const char *const names[] = { "operator", "calls", "shadow",
		"operator with a configuration" };
	size_t count, tried = 0;
	int bad;

	disturb(0, 0);
	bad = scenario(what, streams);
	count = calm();
	for (int persistent = 0; persistent < 2 && !bad; persistent++)
		for (size_t i = only ? only : 1; i <= (only ? only : count) && !bad;
		     i += persistent && what != CALLS ? 7 : 1) {
			disturb(i, persistent);
			bad = scenario(what, streams);
			calm();
			OPENSSL_thread_stop(); /* its queue of errors keeps texts */
			tried++;
			if (oom_live() != 0) {
				printf("%ld blocks leak, the oldest is number %zu\n", oom_live(),
				    oom_oldest());
				bad = 1;
			}
			if (bad)
				printf("allocation %zu%s failed\n", i,
				    persistent ? " and all after it" : "");
		}
	printf("%s: %zu allocations, %zu failures tried\n", names[what], count, tried);
	return bad;
}

int main(int argc, char **argv)
{
	static const char configuration[] =
	    "apiVersion: libmpijob/v1alpha1\nkind: OperatorConfig\n"
	    "defaults: {cleanPodPolicy: All}\nlimits: {activeDeadlineSeconds: {max: 1000}}\n";
	size_t only = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int bad;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	if (mpijob_operator_config_parse(configuration, strlen(configuration), NULL, &config, NULL))
		return 1;
	if (scenario(LIVE, 0)) /* libcrypto allocates for good, once */
		return 1;
	bad = sweep(CALLS, 0, only) || sweep(CALLS, 1, only) || sweep(LIVE, 0, only) ||
	      sweep(LIVE, 1, only) || sweep(IMAGINE, 0, only) || sweep(IMAGINE, 1, only) ||
	      sweep(CONFIGURED, 0, only);
	mpijob_operator_config_free(config);
	return bad;
}

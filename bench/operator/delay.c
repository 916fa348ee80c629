/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long one namespace can delay another in the operator. One namespace sends jobs near the
 * largest size that etcd takes, one and a burst of ten; small jobs of another namespace come behind
 * the burst, and at other times until the large ones are settled. The delay of a small job is the
 * time from its event to its first request.
 *
 *     bench-delay [KIND [BYTES]]     all kinds of jobs, or one; 1,500,000 bytes each
 *
 * The operator is the real one, in this process; the API server is the transport below, which
 * answers at once and sends the bytes in pieces as curl does. Times are processor time of the
 * operator and its waits, without the server's work and without other processes, so a busy machine
 * changes little.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpijob/mpijob.h>
#include <mpijob/operator.h>

#define BYTES    1500000
#define BURST    10
#define PIECE    16384 /* bytes at a time, and bytes in one poll at most: as curl reads */
#define PER_POLL (100 * PIECE)
#define PROBES   1000 /* small jobs at most, in one round */
#define JOBS     "/apis/kubeflow.org/v2beta1/mpijobs"

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench-delay: %s\n", what);
	exit(2);
}

/* ---- time ---- */

static int64_t server_us, slept_us;

static int64_t cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t now_us(void)
{
	return cpu_us() - server_us + slept_us;
}

static void sleep_us(int64_t us)
{
	struct timespec wait = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&wait, NULL);
	slept_us += us;
}

/* ---- jobs ---- */

static char *format(const char *form, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *form, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, form);
	need(vasprintf(&text, form, args) >= 0, "memory");
	va_end(args);
	return text;
}

static void put(mpijob_text *out, const char *text)
{
	need(!mpijob_text_write(out, text, strlen(text)), "memory");
}

/* Put entries, each with its number for `#`, until the text has so many bytes. */
static void put_entries(mpijob_text *out, const char *entry, size_t until)
{
	char number[24];

	for (size_t i = 1; mpijob_text_len(out) < until; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		put(out, i > 1 ? "," : "");
		for (const char *at = entry; *at; at++)
			need(!mpijob_text_write(out, *at == '#' ? number : at,
				 *at == '#' ? strlen(number) : 1),
			    "memory");
	}
}

struct kind {
	const char *name;
	const char *before, *entries, *between, *more, *after; /* `more` fills the second half */
};

#define FIRST "\"containers\":[{\"name\":\"w\",\"image\":\"i\""

static const struct kind kinds[] = {
	{ "ports", "{\"spec\":{\"hostNetwork\":true," FIRST ",\"ports\":[", "{\"containerPort\":#}",
	    NULL, NULL, "]}]}}" },
	{ "unknown keys", "{\"spec\":{" FIRST ",", "\"b#\":1", NULL, NULL, "}]}}" },
	{ "projected sources",
	    "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"projected\":{\"sources\":[",
	    "{\"secret\":{\"name\":\"s\",\"items\":[{\"key\":\"k\",\"path\":\"p#\"}]}}", NULL, NULL,
	    "]}}]," FIRST "}]}}" },
	{ "containers", "{\"spec\":{\"containers\":[", "{\"name\":\"c#\",\"image\":\"i\"}", NULL,
	    NULL, "]}}" },
	{ "volumes x mounts", "{\"spec\":{\"volumes\":[", "{\"name\":\"v#\",\"emptyDir\":{}}",
	    "]," FIRST ",\"volumeMounts\":[", "{\"name\":\"v#\",\"mountPath\":\"/v#\"}", "]}]}}" },
	{ "env references", "{\"spec\":{" FIRST ",\"env\":[",
	    "{\"name\":\"A#\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k#\"}}}",
	    NULL, NULL, "]}]}}" },
	{ "label keys x expressions",
	    "{\"spec\":{" FIRST "}],\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"
	    "\"k\",\"whenUnsatisfiable\":"
	    "\"DoNotSchedule\",\"matchLabelKeys\":[",
	    "\"k#\"", "],\"labelSelector\":{\"matchExpressions\":[",
	    "{\"key\":\"e#\",\"operator\":\"Exists\"}", "]}}]}}" },
};

/* The spec of a job, yours. */
static char *large_spec(const struct kind *kind, size_t bytes)
{
	mpijob_text *out = mpijob_text_new();
	char *text;

	need(out != NULL, "memory");
	put(out, "{\"mpiReplicaSpecs\":{\"Launcher\":{\"template\":{\"spec\":{\"containers\":[{"
		 "\"name\":\"l\",\"image\":\"i\"}]}}},"
		 "\"Worker\":{\"replicas\":1,\"template\":");
	put(out, kind->before);
	put_entries(out, kind->entries, kind->more ? bytes / 2 : bytes);
	if (kind->more) {
		put(out, kind->between);
		put_entries(out, kind->more, bytes);
	}
	put(out, kind->after);
	put(out, "}}}");
	text = strdup(mpijob_text_data(out));
	mpijob_text_free(out);
	return text;
}

static const char small_spec[] = "{\"mpiReplicaSpecs\":{\"Launcher\":{\"template\":{\"spec\":{"
				 "\"containers\":[{\"name\":\"l\",\"image\":\"i\"}]}}},"
				 "\"Worker\":{\"replicas\":1,\"template\":{\"spec\":{"
				 "\"containers\":[{\"name\":\"w\",\"image\":\"i\"}]}}}}}";

/* ---- the server ---- */

struct object {
	struct object *next;
	char *path;       /* of itself */
	const char *spec; /* of an MPIJob; NULL: `text` is the whole object */
	mpijob_doc *status;
	char *text;
};

struct exchange {
	struct exchange *next;
	mpijob_exchange *exchange;
	char *watched; /* a collection; NULL: an answer */
	int status;    /* to be told, or 0 */
	mpijob_text *text;
	size_t told;
};

struct probe {
	int64_t came_us, first_us;
};

static struct server {
	struct exchange *exchanges;
	struct object *objects;
	unsigned version;
	char settled[BURST]; /* large jobs that have a launcher, or are reported as invalid */
	int64_t next_us;     /* when the next small job comes */
	struct probe probes[PROBES];
	size_t probe_count;
	int wants_probes;
} server;

static void send_event(const char *collection, const char *type, const char *object)
{
	for (struct exchange *to = server.exchanges; to; to = to->next)
		if (to->watched && strcmp(to->watched, collection) == 0) {
			put(to->text, "{\"type\":\"");
			put(to->text, type);
			put(to->text, "\",\"object\":");
			put(to->text, object);
			put(to->text, "}\n");
		}
}

/* "/api/v1/namespaces/a/pods/p/status" into "/api/v1/pods", yours. */
static char *collection_of(const char *path)
{
	const char *at = strstr(path, "/namespaces/"), *from;
	size_t len = strcspn(path, "?");

	if (!at)
		return format("%.*s", (int)len, path);
	from = strchr(at + strlen("/namespaces/"), '/');
	return format("%.*s%.*s", (int)(at - path), path, (int)(1 + strcspn(from + 1, "/?")), from);
}

static struct object *find(const char *path)
{
	struct object *object = server.objects;
	size_t len = strcspn(path, "?");

	if (len > 7 && strncmp(path + len - 7, "/status", 7) == 0)
		len -= 7;
	while (object && (strlen(object->path) != len || strncmp(object->path, path, len) != 0))
		object = object->next;
	return object;
}

/* Put a job down as it is now, and tell of it. */
static void print_job(struct object *job, const char *type)
{
	const char *name = strrchr(job->path, '/') + 1;
	const char *namespace_ = strstr(job->path, "/namespaces/") + strlen("/namespaces/");
	mpijob_text *status = mpijob_text_new();

	if (mpijob_doc_root(job->status))
		need(!mpijob_node_write(mpijob_doc_root(job->status), MPIJOB_FORMAT_JSON_COMPACT,
			 mpijob_text_write, status),
		    "memory");
	free(job->text);
	job->text = format("{\"apiVersion\":\"kubeflow.org/"
			   "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"%s\","
			   "\"namespace\":\"%.*s\",\"uid\":\"%s\",\"resourceVersion\":\"%u\","
			   "\"creationTimestamp\":"
			   "\"2026-11-21T12:00:00Z\"},\"spec\":%s,\"status\":%s}",
	    name, (int)strcspn(namespace_, "/"), namespace_, name, ++server.version, job->spec,
	    mpijob_text_len(status) ? mpijob_text_data(status) : "{}");
	mpijob_text_free(status);
	send_event(JOBS, type, job->text);
}

static struct object *add(char *path)
{
	struct object *object = calloc(1, sizeof(*object));

	need(object != NULL, "memory");
	object->path = path;
	object->next = server.objects;
	server.objects = object;
	return object;
}

static void add_job(const char *namespace_, size_t number, const char *spec)
{
	struct object *job = add(format("/apis/kubeflow.org/v2beta1/namespaces/%s/mpijobs/%c%zu",
	    namespace_, *namespace_, number));

	job->spec = spec;
	need(!mpijob_doc_parse("{}", 2, NULL, &job->status, NULL), "memory");
	print_job(job, "ADDED");
}

static void add_probe(int64_t came_us)
{
	need(server.probe_count < PROBES, "the large jobs do not settle");
	server.probes[server.probe_count].came_us = came_us;
	server.probes[server.probe_count].first_us = 0;
	add_job("other", server.probe_count++, small_spec);
}

/* Note what is sent for a job; all objects of the job l3 have names that begin so. */
static void note(const char *path, const char *body)
{
	const char *name = strstr(body, "\"name\":\"");
	int is_event = strstr(path, "/events") != NULL;
	size_t number;

	if (!name)
		return;
	name += strlen("\"name\":\"");
	number = strtoul(name + 1, NULL, 10);
	if (*name == 'l' && number < BURST &&
	    (is_event ? strstr(body, "ValidationError") : strstr(path, "/batch/")))
		server.settled[number] = 1;
	if (*name == 'o' && !is_event && number < server.probe_count &&
	    !server.probes[number].first_us)
		server.probes[number].first_us = now_us();
}

static char *create(const char *path, const char *body)
{
	const char *metadata = strstr(body, "\"metadata\":{"), *name = strstr(body, "\"name\":\"");
	char *collection = collection_of(path);
	struct object *object;
	size_t head;

	need(metadata && name, "a body without a name");
	head = (size_t)(metadata - body) + strlen("\"metadata\":{");
	name += strlen("\"name\":\"");
	object =
	    add(format("%.*s/%.*s", (int)strcspn(path, "?"), path, (int)strcspn(name, "\""), name));
	object->text = format("%.*s\"uid\":\"u%u\",\"resourceVersion\":\"%u\",%s", (int)head, body,
	    server.version + 1, server.version + 1, body + head);
	server.version++;
	send_event(collection, "ADDED", object->text);
	free(collection);
	return strdup(object->text);
}

static char *patch(struct object *job, const char *body, size_t len)
{
	mpijob_doc *doc = NULL;
	const mpijob_node *node;

	need(!mpijob_doc_parse(body, len, NULL, &doc, NULL), "a patch that cannot be read");
	node = mpijob_node_get(mpijob_doc_root(doc), "status");
	need(!node || !mpijob_doc_merge(job->status, node), "memory");
	mpijob_doc_free(doc);
	print_job(job, "MODIFIED");
	return strdup(job->text);
}

static char *serve(const struct mpijob_request *request, int *status)
{
	struct object *object = find(request->path);

	*status = 200;
	if (strcmp(request->method, "POST") == 0) {
		*status = 201;
		return create(request->path, request->body);
	}
	if (object && strcmp(request->method, "PATCH") == 0 && object->spec)
		return patch(object, request->body, request->body_len);
	if (object)
		return strdup(object->text);
	*status = 404;
	return strdup("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
		      "\"reason\":\"NotFound\",\"code\":404}");
}

/* ---- the transport ---- */

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	int64_t from_us = cpu_us();
	struct exchange *one = calloc(1, sizeof(*one));
	char *text;

	(void)self;
	need(one && (one->text = mpijob_text_new()), "memory");
	one->exchange = exchange;
	one->status = 200;
	mpijob_exchange_set_slot(exchange, one);
	if (strstr(request->path, "watch=1")) {
		one->watched = collection_of(request->path);
		if (strstr(request->path, "sendInitialEvents"))
			put(one->text,
			    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":"
			    "\"1\","
			    "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n");
	} else {
		if (request->body_len)
			note(request->path, request->body);
		text = serve(request, &one->status);
		put(one->text, text);
		free(text);
	}
	one->next = server.exchanges;
	server.exchanges = one;
	server_us += cpu_us() - from_us;
	return 0;
}

static void drop(struct exchange *one)
{
	struct exchange **at = &server.exchanges;

	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	mpijob_text_free(one->text);
	free(one->watched);
	free(one);
}

/* Tell some of what there is. How many bytes, and -1 when the exchange has ended. */
static int tell(struct exchange *one, size_t most)
{
	size_t len = mpijob_text_len(one->text) - one->told, told = 0;
	mpijob_exchange *to = one->exchange;

	if (one->status)
		mpijob_exchange_status(to, one->status);
	one->status = 0;
	for (; told < len && told < most; told += len - told < PIECE ? len - told : PIECE)
		mpijob_exchange_data(to, mpijob_text_data(one->text) + one->told + told,
		    len - told < PIECE ? len - told : PIECE);
	one->told += told;
	if (one->told < mpijob_text_len(one->text))
		return (int)told;
	if (!one->watched) {
		drop(one);
		mpijob_exchange_end(to, 0, NULL);
		return -1;
	}
	mpijob_text_clear(one->text);
	one->told = 0;
	return (int)told;
}

static int tell_all(void)
{
	struct exchange *seen[256];
	size_t count = 0, news = 0;

	for (struct exchange *one = server.exchanges; one && count < 256; one = one->next)
		if (one->status || !one->watched || mpijob_text_len(one->text))
			seen[count++] = one;
	for (; count; news++)
		(void)tell(seen[--count], PER_POLL);
	return news > 0;
}

static int poll_server(void *self, int timeout_ms)
{
	int64_t from_us = cpu_us(), wait_us;

	(void)self;
	if (server.wants_probes && now_us() >= server.next_us) {
		add_probe(server.next_us);
		server.next_us = INT64_MAX;
	}
	if (server.probe_count && server.next_us == INT64_MAX &&
	    server.probes[server.probe_count - 1].first_us)
		server.next_us = now_us() + 5000 + (int64_t)(server.probe_count * 7919 % 45) * 1000;
	server_us += cpu_us() - from_us;
	if (tell_all() || timeout_ms == 0)
		return 0;
	wait_us = timeout_ms < 0 || timeout_ms > 1 ? 1000 : timeout_ms * 1000;
	sleep_us(wait_us);
	return 0;
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	(void)self;
	drop(mpijob_exchange_slot(exchange));
}

static void nothing(void *self)
{
	(void)self;
}

/* ---- rounds ---- */

struct round {
	double first_ms; /* of small jobs: the longest delay of the first request */
	double spent_ms; /* by the operator */
	size_t probes;
};

static void clean(void)
{
	while (server.objects) {
		struct object *object = server.objects;

		server.objects = object->next;
		mpijob_doc_free(object->status);
		free(object->path);
		free(object->text);
		free(object);
	}
	memset(&server, 0, sizeof(server));
}

/* Whether the small jobs that came are all begun, and the large ones are settled. */
static int is_over(size_t jobs)
{
	for (size_t i = 0; i < jobs; i++)
		if (!server.settled[i])
			return 0;
	return server.probes[server.probe_count - 1].first_us != 0;
}

static struct round run(const char *spec, size_t jobs)
{
	struct mpijob_transport transport = { sizeof(transport), start, poll_server, NULL, NULL,
		cancel, nothing, nothing };
	mpijob_client *client = NULL;
	mpijob_operator *operator_ = NULL;
	struct round round = { 0 };
	int64_t from_us;

	need(!mpijob_client_new(&transport, &server, &client) &&
		 !mpijob_operator_new(client, NULL, &operator_, NULL),
	    "the operator");
	while (!mpijob_operator_synced(operator_))
		need(!mpijob_operator_step(operator_, 1), "mpijob_operator_step");
	for (size_t i = 0; i < jobs; i++)
		add_job("large", i, spec);
	server.next_us = INT64_MAX;
	server.wants_probes = 1;
	from_us = cpu_us() - server_us;
	add_probe(now_us());
	while (!is_over(jobs))
		need(!mpijob_operator_step(operator_, 1000), "mpijob_operator_step");
	round.spent_ms = (double)(cpu_us() - server_us - from_us) / 1e3;
	round.probes = server.probe_count;
	for (size_t i = 0; i < server.probe_count; i++) {
		double took_ms =
		    (double)(server.probes[i].first_us - server.probes[i].came_us) / 1e3;

		round.first_ms = took_ms > round.first_ms ? took_ms : round.first_ms;
	}
	mpijob_operator_free(operator_);
	mpijob_client_free(client);
	clean();
	return round;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : BYTES;
	struct round alone = run(small_spec, 0);

	printf("longest delay of a small job of another namespace, alone: %.1f ms\n",
	    alone.first_ms);
	printf("%-26s %9s %14s %14s %16s\n", "large jobs, of", "bytes", "beside one, ms",
	    "beside 10, ms", "processor, 10, ms");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct round one, burst;
		char *spec;

		if (argc > 1 && strcmp(argv[1], kinds[i].name) != 0)
			continue;
		spec = large_spec(&kinds[i], bytes);
		one = run(spec, 1);
		burst = run(spec, BURST);
		printf("%-26s %9zu %14.1f %14.1f %16.0f\n", kinds[i].name, strlen(spec),
		    one.first_ms, burst.first_ms, burst.spent_ms);
		fflush(stdout);
		free(spec);
	}
	return 0;
}

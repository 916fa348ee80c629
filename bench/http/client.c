/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our half of bench/http/run: does one kind of work against an API server, and prints one line of
 * JSON.
 *
 *     bench-http create KUBECONFIG NAMESPACE COUNT IN_FLIGHT POD
 *     bench-http cache KUBECONFIG NAMESPACE
 *
 * create: COUNT pods made of the file POD, with their number behind its name. cache: the pods of
 * the namespace are listed by a watch and kept as facts, as the operator does. Figures of both:
 * wall and processor time in milliseconds, private memory in KiB (cache: what it grew by),
 * connections.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <mpijob/http.h>
#include <mpijob/mpijob.h>

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench-http: %s\n", what);
	exit(1);
}

static double clock_ms(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The sum of all lines of /proc/self/FILE that begin with NAME, in KiB. */
static long proc_kib(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	char line[256];
	long kib = 0;

	need(file != NULL, path);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			kib += atol(line + strlen(name));
	fclose(file);
	return kib;
}

static long private_kib(void)
{
	return proc_kib("/proc/self/smaps_rollup", "Private_Dirty:") +
	       proc_kib("/proc/self/smaps_rollup", "Private_Clean:");
}

/* Resident memory at its highest, without the pages of program files. */
static long peak_kib(void)
{
	return proc_kib("/proc/self/status", "VmHWM:") - proc_kib("/proc/self/status", "RssFile:");
}

static int count_connections(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	need(folder != NULL, "/proc/self/fd");
	while ((entry = readdir(folder))) {
		char path[300], target[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		ssize_t len = readlink(path, target, sizeof(target) - 1);
		int domain = 0;
		socklen_t size = sizeof(domain);
		if (len > 7 && memcmp(target, "socket:", 7) == 0 &&
		    getsockopt(atoi(entry->d_name), SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
		    domain != AF_UNIX)
			count++;
	}
	closedir(folder);
	return count;
}

static mpijob_client *connect_to(const char *kubeconfig)
{
	struct mpijob_http_config_options wanted = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	mpijob_client *client = NULL;

	wanted.kubeconfig = kubeconfig;
	need(mpijob_http_config_load(&wanted, &config, NULL) == 0, "the kubeconfig");
	need(mpijob_http_new(config, NULL, &transport, &http, NULL) == 0, "the transport");
	need(mpijob_client_new(&transport, http, &client) == 0, "the client");
	mpijob_http_config_free(config);
	return client;
}

/* ---- create ---- */

struct work {
	mpijob_client *client;
	struct mpijob_request request;
	const char *front, *back; /* of the pod's JSON, around its number */
	int count, sent, done, connections;
};

static void send_next(struct work *work);

static void when_created(void *user, const struct mpijob_answer *answer)
{
	struct work *work = user;

	need(answer->code == 0, answer->message ? answer->message : "a pod was refused");
	work->done++;
	if (work->done == work->count / 2)
		work->connections = count_connections();
	send_next(work);
}

static void send_next(struct work *work)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	char *body = NULL;

	if (work->sent == work->count)
		return;
	int len = asprintf(&body, "%s%d%s", work->front, work->sent++, work->back);
	need(len > 0, "out of memory");
	work->request.body = body;
	work->request.body_len = (size_t)len;
	callbacks.done = when_created;
	callbacks.user = work;
	need(mpijob_client_start(work->client, &work->request, &callbacks, NULL) == 0, "a request");
	free(body);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	need(file && text, path);
	need(fread(text, 1, (1 << 16) - 1, file) > 0, path);
	fclose(file);
	return text;
}

static void create(char **argv)
{
	struct work work = { .client = connect_to(argv[2]),
		.request = MPIJOB_REQUEST_INIT,
		.count = atoi(argv[4]) };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text *path = mpijob_text_new();
	char *pod = read_file(argv[6]);
	char *mark = strstr(pod, "NUMBER");

	need(mark != NULL, "no NUMBER in the pod");
	*mark = '\0';
	work.front = pod;
	work.back = mark + strlen("NUMBER");
	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = argv[3];
	need(path && mpijob_target_write(&target, mpijob_text_write, path) == 0, "the path");
	work.request.method = "POST";
	work.request.path = mpijob_text_data(path);
	work.request.content_type = "application/json";
	double wall = clock_ms(CLOCK_MONOTONIC), cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = atoi(argv[5]); i > 0; i--)
		send_next(&work);
	while (work.done < work.count)
		need(mpijob_client_poll(work.client, -1) == 0, "poll");
	printf("{\"wall\": %.1f, \"cpu\": %.1f, \"private\": %ld, \"connections\": %d}\n",
	    clock_ms(CLOCK_MONOTONIC) - wall, clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu, peak_kib(),
	    work.connections);
	mpijob_client_free(work.client);
	mpijob_text_free(path);
	free(pod);
}

/* ---- cache ---- */

struct cache {
	mpijob_facts *facts;
	mpijob_observation *observation;
	size_t events;
	int listed;
};

static int take(void *user, const struct mpijob_watch_event *event)
{
	struct cache *cache = user;
	const struct mpijob_observed *observed;
	int code = event->json ? mpijob_observe(cache->observation, event->json, event->json_len,
				     &observed, NULL)
			       : MPIJOB_ERR_SYNTAX;

	cache->events++;
	if (code == 0)
		code = mpijob_facts_apply(cache->facts, observed);
	return code < 0 ? code : 0;
}

static int when_listed(void *user, const char *version)
{
	struct cache *cache = user;

	(void)version;
	cache->listed = 1;
	return 0;
}

static void cache(char **argv)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	struct cache cache = { mpijob_facts_new(), mpijob_observation_new(), 0, 0 };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_client *client = connect_to(argv[2]);
	mpijob_watch *watch = NULL;
	mpijob_doc *doc = NULL;
	size_t cached = 0;

	/* The connection is there before anything is counted. */
	target.api_version = "v1";
	target.kind = "Namespace";
	target.name = argv[3];
	need(mpijob_client_get(client, &target, &doc, NULL) == 0, "the namespace");
	mpijob_doc_free(doc);
	options.api_version = "v1";
	options.kind = "Pod";
	options.namespace_ = argv[3];
	options.object = take;
	options.listed = when_listed;
	options.user = &cache;
	long before = private_kib();
	double wall = clock_ms(CLOCK_MONOTONIC), cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	need(cache.facts && cache.observation && mpijob_watch_new(client, &options, &watch) == 0,
	    "the watch");
	while (!cache.listed)
		need(mpijob_client_poll(client, -1) == 0, "poll");
	wall = clock_ms(CLOCK_MONOTONIC) - wall;
	cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	before = private_kib() - before;
	while (mpijob_facts_pod_at(cache.facts, cached))
		cached++;
	printf(
	    "{\"wall\": %.1f, \"cpu\": %.1f, \"private\": %ld, \"events\": %zu, \"cached\": %zu}\n",
	    wall, cpu, before, cache.events, cached);
	mpijob_watch_free(watch);
	mpijob_client_free(client);
	mpijob_facts_free(cache.facts);
	mpijob_observation_free(cache.observation);
}

int main(int argc, char **argv)
{
	if (argc == 7 && strcmp(argv[1], "create") == 0)
		create(argv);
	else if (argc == 4 && strcmp(argv[1], "cache") == 0)
		cache(argv);
	else
		need(0, "usage: bench-http create KUBECONFIG NAMESPACE COUNT IN_FLIGHT POD | cache "
			"KUBECONFIG NAMESPACE");
	return 0;
}

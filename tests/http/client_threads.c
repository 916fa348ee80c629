/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many clients, each on a thread of its own: it watches pods, creates, lists, gets, waits and
 * deletes, and is freed and made anew, while two other threads wake it and cancel what it waits
 * for. Built by test-client-threads with ThreadSanitizer. What a client was told must be so in the
 * end: nothing that was cancelled is a success or breaks what comes after it.
 */
#include <mpijob/http.h>
#include <mpijob/mpijob.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 6
#define NAGS    2
#define LIVES   3
#define PODS    12

enum { UNKNOWN, THERE, GONE };

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;  /* of `nagged` */
	mpijob_client *nagged; /* whom the other threads wake and cancel; NULL: nobody */
	mpijob_client *client;
	mpijob_watch *watch;
	unsigned number, life, dice;
	int calm;                   /* nobody cancels any more */
	int said[PODS];             /* what answers said of its own pods */
	int seen[PODS], told[PODS]; /* what its watch says of them; told by the list that runs */
	int ended;                  /* tasks under way that are over */
	size_t done, cancelled, events;
};

static struct worker workers[THREADS];
static mpijob_http_config *config;
static atomic_int over, wrong;

static void expect(int truth, const char *what, int code)
{
	if (truth)
		return;
	atomic_fetch_add(&wrong, 1);
	fprintf(stderr, "FAULT: %s (%d, %s)\n", what, code, code ? mpijob_error_name(code) : "OK");
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- names --- */

static void name_of(const struct worker *worker, int i, char name[32])
{
	snprintf(name, 32, "w%u-%u-%02d", worker->number, worker->life, i);
}

/* Which of its pods that is, or -1: another's. */
static int pod_of(const struct worker *worker, const char *name)
{
	unsigned number, life, i;

	if (!name || sscanf(name, "w%u-%u-%u", &number, &life, &i) != 3 ||
	    number != worker->number || life != worker->life || i >= PODS)
		return -1;
	return (int)i;
}

static struct mpijob_target pods(const char *name)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = "t";
	target.name = name;
	return target;
}

/* --- its watch --- */

static void begin(void *user)
{
	struct worker *worker = user;

	memset(worker->told, 0, sizeof(worker->told));
}

static int object(void *user, const struct mpijob_watch_event *event)
{
	struct worker *worker = user;
	int i = pod_of(worker, event->name);

	worker->events++;
	if (i >= 0)
		worker->seen[i] = worker->told[i] = event->event != MPIJOB_WATCH_DELETED;
	return 0;
}

static int listed(void *user, const char *version)
{
	struct worker *worker = user;

	(void)version;
	memcpy(worker->seen, worker->told, sizeof(worker->seen));
	return 0;
}

static void begin_watch(struct worker *worker)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	int code;

	options.api_version = "v1";
	options.kind = "Pod";
	options.namespace_ = "t";
	options.seed = worker->number;
	options.begin = begin;
	options.object = object;
	options.listed = listed;
	options.user = worker;
	code = mpijob_watch_new(worker->client, &options, &worker->watch);
	expect(code == 0, "a watch", code);
}

/* --- what it does --- */

/* Count an outcome; 1 when it was cancelled, which may only be while somebody does so. */
static int was_cancelled(struct worker *worker, int code)
{
	int cancelled = code == MPIJOB_ERR_CANCELLED;

	expect(!cancelled || !worker->calm, "cancelled by nobody", code);
	worker->done += code == 0;
	worker->cancelled += cancelled ? 1 : 0;
	return cancelled;
}

static void create(struct worker *worker, int i)
{
	struct mpijob_target target = pods(NULL);
	mpijob_doc *pod = mpijob_doc_new(), *made = NULL;
	mpijob_node *root = mpijob_doc_edit(pod, "");
	char name[32];
	int code;

	name_of(worker, i, name);
	mpijob_node_put_string(pod, mpijob_node_put_map(pod, root, "metadata"), "name", name);
	code = mpijob_client_write(worker->client, &target, root, NULL, &made, NULL);
	if (!was_cancelled(worker, code)) {
		expect(code == 0 && made, "a creation", code);
		worker->said[i] = code == 0 ? THERE : UNKNOWN;
	}
	mpijob_doc_free(made);
	mpijob_doc_free(pod);
}

static int is_there(void *user, const mpijob_node *pod)
{
	(void)user;
	return pod != NULL;
}

static int never(void *user, const mpijob_node *pod)
{
	(void)user;
	(void)pod;
	return 0;
}

static void wait_for(struct worker *worker, int i)
{
	char name[32];
	struct mpijob_target target = pods(name);
	int sure = worker->said[i] == THERE, code;

	name_of(worker, i, name);
	code = mpijob_client_wait(worker->client, &target, sure ? 20000 : 20, is_there, NULL, NULL,
	    NULL);
	if (!was_cancelled(worker, code))
		expect(code == 0 || (!sure && code == MPIJOB_ERR_TIMEOUT),
		    "waiting for what is there", code);
	code = mpijob_client_wait(worker->client, &target, 10, never, NULL, NULL, NULL);
	if (!was_cancelled(worker, code))
		expect(code == MPIJOB_ERR_TIMEOUT, "waiting for what never comes", code);
}

/* Which of its pods are there; 0, or the list was cancelled. */
static int list(struct worker *worker, int there[PODS])
{
	struct mpijob_target target = pods(NULL);
	const mpijob_node *items;
	mpijob_doc *doc = NULL;
	int code = mpijob_client_list(worker->client, &target, 7, &doc, NULL);

	memset(there, 0, sizeof(int) * PODS);
	if (was_cancelled(worker, code))
		return code;
	expect(code == 0, "a list", code);
	items = mpijob_node_get(doc ? mpijob_doc_root(doc) : NULL, "items");
	for (size_t n = 0; n < mpijob_node_count(items); n++) {
		int i = pod_of(worker, mpijob_node_string(mpijob_node_find(mpijob_node_at(items, n),
					   "metadata.name")));
		if (i >= 0)
			there[i] = 1;
	}
	mpijob_doc_free(doc);
	return code;
}

static void compare(const struct worker *worker, const int there[PODS], const char *what)
{
	for (int i = 0; i < PODS; i++)
		expect(worker->said[i] == UNKNOWN || (worker->said[i] == THERE) == there[i], what,
		    i);
}

static void on_end(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	struct worker *worker = user;

	(void)job;
	expect(code == 0 && doc, "a task is not cancelled with the client", code);
	mpijob_doc_free(doc);
	worker->ended++;
}

/* Two tasks; one is given up. Polling may be woken for nothing. */
static void tasks(struct worker *worker)
{
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;
	struct mpijob_target target = pods(NULL);
	mpijob_task *first = NULL;
	int64_t until = now_ms() + 20000;
	int code;

	callbacks.done = on_end;
	callbacks.user = worker;
	worker->ended = 0;
	code = mpijob_client_list_start(worker->client, &target, 0, &callbacks, &first, NULL);
	expect(code == 0, "a task", code);
	code = mpijob_client_list_start(worker->client, &target, 5, &callbacks, NULL, NULL);
	expect(code == 0, "another task", code);
	if (rand_r(&worker->dice) % 2)
		mpijob_client_poll(worker->client, 0);
	if (worker->ended == 0)
		mpijob_task_cancel(first);
	while (worker->ended == 0 && now_ms() < until)
		mpijob_client_poll(worker->client, 1000);
	expect(worker->ended, "the end of a task", 0);
}

static void delete (struct worker *worker, int i)
{
	char name[32];
	struct mpijob_target target = pods(name);
	int code;

	name_of(worker, i, name);
	code = mpijob_client_delete(worker->client, &target, NULL, NULL);
	if (was_cancelled(worker, code)) {
		worker->said[i] = UNKNOWN;
		return;
	}
	expect(code == 0 || (worker->said[i] == UNKNOWN && code == MPIJOB_ERR_NOT_FOUND),
	    "a deletion", code);
	worker->said[i] = GONE;
}

/* Nobody cancels now, apart from what was asked for before and not taken yet. */
static void settle(struct worker *worker)
{
	int64_t until = now_ms() + 20000;
	int there[PODS];

	while (list(worker, there) == MPIJOB_ERR_CANCELLED)
		;
	worker->calm = 1;
	expect(list(worker, there) == 0, "a list in calm", 0);
	compare(worker, there, "what answers said is not what is listed");
	while (memcmp(there, worker->seen, sizeof(there)) != 0 && now_ms() < until)
		mpijob_client_poll(worker->client, 100);
	compare(worker, worker->seen, "what answers said is not what the watch says");
}

static void let_nag(struct worker *worker, mpijob_client *client)
{
	pthread_mutex_lock(&worker->lock);
	worker->nagged = client;
	pthread_mutex_unlock(&worker->lock);
}

static void make(struct worker *worker)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http *http = NULL;
	int code = mpijob_http_new(config, NULL, &transport, &http, NULL);

	worker->client = NULL;
	if (code == 0)
		code = mpijob_client_new(&transport, http, &worker->client);
	expect(code == 0, "a client", code);
}

static void live(struct worker *worker)
{
	int there[PODS];

	memset(worker->said, 0, sizeof(worker->said));
	memset(worker->seen, 0, sizeof(worker->seen));
	worker->calm = 0;
	make(worker);
	let_nag(worker, worker->client);
	begin_watch(worker);
	for (int i = 0; i < PODS; i++) {
		create(worker, i);
		wait_for(worker, i);
		if (list(worker, there) == 0)
			compare(worker, there, "what answers said is not in a list");
		tasks(worker);
		if (rand_r(&worker->dice) % 2)
			delete (worker, i);
	}
	let_nag(worker, NULL);
	settle(worker);
	if (worker->life % 2) /* the client may go first */
		mpijob_watch_free(worker->watch);
	mpijob_client_free(worker->client);
	if (worker->life % 2 == 0)
		mpijob_watch_free(worker->watch);
}

static void *run(void *user)
{
	struct worker *worker = user;

	for (worker->life = 0; worker->life < LIVES; worker->life++)
		live(worker);
	return NULL;
}

static void *nag(void *user)
{
	unsigned dice = *(unsigned *)user;
	struct timespec pause = { 0, 1000000 };

	while (!atomic_load(&over)) {
		struct worker *worker = &workers[(unsigned)rand_r(&dice) % THREADS];
		pthread_mutex_lock(&worker->lock);
		if (worker->nagged)
			(rand_r(&dice) % 8 ? mpijob_client_wake : mpijob_client_cancel)(
			    worker->nagged);
		pthread_mutex_unlock(&worker->lock);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	pthread_t nags[NAGS];
	unsigned dice[NAGS];
	size_t done = 0, cancelled = 0, events = 0;

	wish.server = argc > 1 ? argv[1] : NULL;
	if (mpijob_http_config_load(&wish, &config, NULL))
		return 2;
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].dice = i + 1;
		pthread_mutex_init(&workers[i].lock, NULL);
	}
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			return 2;
	for (unsigned i = 0; i < NAGS; i++) {
		dice[i] = 100 + i;
		if (pthread_create(&nags[i], NULL, nag, &dice[i]))
			return 2;
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	atomic_store(&over, 1);
	for (size_t i = 0; i < NAGS; i++)
		pthread_join(nags[i], NULL);
	for (size_t i = 0; i < THREADS; i++) {
		done += workers[i].done;
		cancelled += workers[i].cancelled;
		events += workers[i].events;
		pthread_mutex_destroy(&workers[i].lock);
	}
	mpijob_http_config_free(config);
	printf("{\"done\": %zu, \"cancelled\": %zu, \"events\": %zu, \"wrong\": %d}\n", done,
	    cancelled, events, atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job on an embedded cluster, recorded. It knows what `mpijob run` asks a cluster for (the
 * operator, a watch of the job and one of its pods) and adds to the tape what the example's
 * recorder does not see: when a watch began, and each change of an object, also those that nobody
 * asked for: by the kubelet, the Job controller and the garbage collector.
 *
 * Steps: is:CONDITION, isnot:CONDITION and pods:COUNT wait; patch:JSON, get and delete:POLICY ask;
 * gone waits for the end of everything that the job owns.
 */
#include "replay.h"

#include "../support/writes.h"

#include "record.h"

#include "local/local.h"

#include <mpijob/operator.h>

#include <stdlib.h>
#include <string.h>

#define MOST_MS 60000
#define JOB     "kubeflow.org/v2beta1"

struct scene {
	FILE *tape;
	struct mpijob_local *local;
	mpijob_client *client;
	mpijob_operator *operator_;
	mpijob_watch *job_watch, *pod_watch;
	mpijob_doc *job;
	const char *name;
	int (*start)(void *self, const struct mpijob_request *request, mpijob_exchange *exchange);
	void (*changed)(void *user, struct mpijob__local_object *object, int change);
};

/* The functions of a transport get no more than the recorder. */
static struct scene scene;

static void write_change(void *user, struct mpijob__local_object *object, int change)
{
	const mpijob_text *text = object->now->text;

	fprintf(scene.tape, "{\"change\":%d,\"plural\":\"%s\",\"object\":", change,
	    object->kind->plural);
	fwrite(mpijob_text_data(text), 1, mpijob_text_len(text), scene.tape);
	fputs("}\n", scene.tape);
	scene.changed(user, object, change);
}

static int write_begin(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	if (request->streaming)
		fprintf(scene.tape, "{\"begin\":\"%s\"}\n", request->path);
	return scene.start(self, request, exchange);
}

static int open_cluster(int no_node)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *inner = NULL;
	char *node = NULL;
	void *self = NULL;
	int code;

	if (asprintf(&node, "%s/libexec/mpijob-node", MPIJOB_TEST_BUILD) < 0)
		return MPIJOB_ERR_NOMEM;
	options.node_program = node;
	options.no_node = no_node;
	options.backoff_base_ms = 100;
	code = mpijob_local_new(&options, &transport, &scene.local, NULL);
	free(node);
	if (code)
		return code;
	scene.changed = scene.local->store.changed;
	scene.local->store.changed = write_change;
	code = mpijob_client_new(&transport, scene.local, &inner);
	if (code == 0)
		code = record_new(inner, scene.tape, &transport, &self);
	scene.start = transport.start;
	transport.start = write_begin;
	return code ? code : mpijob_client_new(&transport, self, &scene.client);
}

static int ignore_object(void *user, const struct mpijob_watch_event *event)
{
	(void)user;
	(void)event;
	return 0;
}

static int watch(const char *version, const char *kind, const char *name, const char *selector,
    mpijob_watch **out)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = version;
	options.kind = kind;
	options.namespace_ = "default";
	options.name = name;
	options.label_selector = selector;
	options.object = ignore_object;
	return mpijob_watch_new(scene.client, &options, out);
}

static int watch_as_run(void)
{
	char *selector = NULL;
	int code = watch(JOB, "MPIJob", scene.name, NULL, &scene.job_watch);

	if (asprintf(&selector, "training.kubeflow.org/job-name=%s", scene.name) < 0)
		return MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = watch("v1", "Pod", NULL, selector, &scene.pod_watch);
	free(selector);
	return code;
}

static struct mpijob_target job_target(const char *name)
{
	struct mpijob_target target = { sizeof(target), JOB, "MPIJob", "default", name, NULL, NULL,
		0, NULL, 0, 0 };

	return target;
}

/* ---- waiting: the store is looked at directly, so that waiting asks nothing ---- */

static int has_condition(const char *type)
{
	struct mpijob__local_object *job = mpijob__local_store_find(&scene.local->store,
	    MPIJOB__LOCAL_KIND_MPIJOB, "default", scene.name);
	const mpijob_node *list =
	    job ? mpijob_node_find(mpijob_doc_root(job->doc), "status.conditions") : NULL;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *one = mpijob_node_at(list, i);

		if (strcmp(mpijob_node_string(mpijob_node_get(one, "type")), type) == 0)
			return strcmp(mpijob_node_string(mpijob_node_get(one, "status")), "True") ==
			       0;
	}
	return 0;
}

static int is_gone(void)
{
	static const enum mpijob__local_kind_id kinds[] = { MPIJOB__LOCAL_KIND_MPIJOB,
		MPIJOB__LOCAL_KIND_JOB, MPIJOB__LOCAL_KIND_POD, MPIJOB__LOCAL_KIND_SERVICE,
		MPIJOB__LOCAL_KIND_SECRET, MPIJOB__LOCAL_KIND_CONFIG_MAP };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (mpijob__local_store_first(&scene.local->store, kinds[i]))
			return 0;
	return 1;
}

static size_t live_pods(void)
{
	size_t count = 0;

	for (struct mpijob__local_object *pod =
		 mpijob__local_store_first(&scene.local->store, MPIJOB__LOCAL_KIND_POD);
	     pod; pod = mpijob__local_store_next(pod)) {
		const char *phase = mpijob__local_store_text(pod, "status.phase");

		count += !mpijob__local_store_deleting(pod) && strcmp(phase, "Succeeded") != 0 &&
			 strcmp(phase, "Failed") != 0;
	}
	return count;
}

static int is_so(const char *step)
{
	if (strncmp(step, "is:", 3) == 0)
		return has_condition(step + 3);
	if (strncmp(step, "isnot:", 6) == 0)
		return !has_condition(step + 6);
	if (strncmp(step, "pods:", 5) == 0)
		return live_pods() == strtoul(step + 5, NULL, 10);
	return is_gone();
}

static int wait_for(const char *step)
{
	int64_t end = clock_ms() + MOST_MS;
	int code = 0;

	while (code == 0 && !is_so(step) && clock_ms() < end)
		code = mpijob_operator_step(scene.operator_, 100);
	/* What follows from it, as far as it comes at once. */
	for (int64_t quiet = clock_ms() + 300; code == 0 && clock_ms() < quiet;)
		code = mpijob_operator_step(scene.operator_, 50);
	return code || is_so(step) ? code : MPIJOB_ERR_TIMEOUT;
}

/* ---- asking ---- */

static int look(void)
{
	static const char *const kinds[][2] = { { "v1", "Pod" }, { "batch/v1", "Job" },
		{ "v1", "Service" }, { "v1", "ConfigMap" }, { "v1", "Event" } };
	struct mpijob_target target = job_target(scene.name);
	mpijob_doc *doc = NULL;
	int code = mpijob_client_get(scene.client, &target, &doc, NULL);

	mpijob_doc_free(doc);
	for (size_t i = 0;
	     (code == 0 || code == MPIJOB_ERR_NOT_FOUND) && i < sizeof(kinds) / sizeof(kinds[0]);
	     i++) {
		target = (struct mpijob_target){ sizeof(target), kinds[i][0], kinds[i][1],
			"default", NULL, NULL, NULL, 0, NULL, 0, 0 };
		doc = NULL;
		code = mpijob_client_get(scene.client, &target, &doc, NULL);
		mpijob_doc_free(doc);
	}
	return code;
}

static int patch(const char *text)
{
	struct mpijob_target target = job_target(scene.name);
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL);

	if (code == 0)
		code = mpijob_client_write(scene.client, &target, mpijob_doc_root(doc),
		    WRITE(PATCH_MERGE), NULL, NULL);
	mpijob_doc_free(doc);
	return code;
}

static int do_step(const char *step)
{
	struct mpijob_target target = job_target(scene.name);

	if (strcmp(step, "get") == 0)
		return look();
	if (strncmp(step, "patch:", 6) == 0)
		return patch(step + 6);
	if (strncmp(step, "delete:", 7) == 0)
		return mpijob_client_delete(scene.client, &target, DELETION(NULL, step + 7), NULL);
	return wait_for(step);
}

static int read_job(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;
	ssize_t len = file ? getdelim(&text, &cap, 0, file) : -1;
	int code =
	    len < 0 ? MPIJOB_ERR_IO : mpijob_doc_parse(text, (size_t)len, NULL, &scene.job, NULL);

	free(text);
	if (file)
		fclose(file);
	if (code == 0)
		scene.name = mpijob_node_string(
		    mpijob_node_find(mpijob_doc_root(scene.job), "metadata.name"));
	return code ? code : scene.name ? 0 : MPIJOB_ERR_SPEC;
}

static int begin(int no_node)
{
	struct mpijob_target target = job_target(NULL);
	int code = open_cluster(no_node);

	if (code == 0)
		code = mpijob_operator_new(scene.client, NULL, &scene.operator_, NULL);
	if (code == 0)
		code = watch_as_run();
	/* As with `mpijob run`, the operator comes to know of the job by its list or by its
	 * watch. */
	if (code == 0)
		code = mpijob_client_write(scene.client, &target, mpijob_doc_root(scene.job), NULL,
		    NULL, NULL);
	return code;
}

int run_job(const char *tape, const char *job, char **steps)
{
	int no_node = strcmp(steps[0], "no-node") == 0;
	int code = read_job(job);

	scene.tape = fopen(tape, "w");
	if (code == 0)
		code = scene.tape ? begin(no_node) : MPIJOB_ERR_IO;
	for (char **step = steps + no_node; code == 0 && *step; step++) {
		code = do_step(*step);
		if (code)
			fprintf(stderr, "%s: %s\n", *step, mpijob_error_text(code));
	}
	if (code)
		fprintf(stderr, "%s\n", mpijob_error_text(code));
	mpijob_watch_free(scene.job_watch);
	mpijob_watch_free(scene.pod_watch);
	mpijob_operator_free(scene.operator_);
	if (scene.local)
		/* what ends with the cluster is none of its doing */
		scene.local->store.changed = scene.changed;
	mpijob_client_free(scene.client);
	mpijob_doc_free(scene.job);
	if (scene.tape && fclose(scene.tape))
		code = MPIJOB_ERR_IO;
	return code != 0;
}

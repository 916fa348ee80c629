/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that all read one document, one job, one set of facts, its objects and its plan, through
 * functions that take them as const. Built by test-const with ThreadSanitizer; each thread must
 * also see what the others see.
 */
#include "expect.h"

#include <mpijob/mpijob.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  20

static mpijob_doc *doc;
static mpijob *job;
static mpijob_facts *facts;
static mpijob_objects *objects;
static mpijob_plan *plan;
static size_t sums[THREADS];

static int count(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

static void visit(const mpijob_node *node, size_t *sum)
{
	int32_t line;

	mpijob_node_place(node, &line, NULL);
	*sum += (size_t)mpijob_node_kind(node) + mpijob_node_length(node) + (size_t)line;
	for (size_t i = 0; i < mpijob_node_count(node); i++) {
		const char *key = mpijob_node_key(node, i);

		if (key)
			expect(mpijob_node_get(node, key) == mpijob_node_at(node, i),
			    "a key is found");
		visit(mpijob_node_at(node, i), sum);
	}
}

static void read_document(size_t *sum)
{
	mpijob_doc *copy = mpijob_doc_from_node(mpijob_doc_root(doc), NULL),
		   *part = mpijob_doc_from_node(mpijob_doc_root(doc), NULL);

	visit(mpijob_doc_root(doc), sum);
	expect(mpijob_node_equal(mpijob_doc_root(copy), mpijob_doc_root(doc)), "a copy is equal");
	for (int32_t format = MPIJOB_FORMAT_YAML; format <= MPIJOB_FORMAT_JSON_COMPACT; format++)
		expect(!mpijob_node_write(mpijob_doc_root(doc), format, count, sum),
		    "mpijob_node_write");
	expect(!mpijob_object_validate(mpijob_doc_root(doc), NULL, NULL), "mpijob_object_validate");
	mpijob_doc_free(part);
	mpijob_doc_free(copy);
}

static void read_job(size_t *sum)
{
	mpijob *copy = mpijob_clone(job);
	mpijob_objects *rendered = NULL;
	mpijob_doc *old = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	*sum += strlen(mpijob_name(copy)) + strlen(mpijob_namespace(job)) + strlen(mpijob_uid(job));
	expect(!mpijob_validate(job, NULL, diag), "mpijob_validate");
	*sum += mpijob_diag_count(diag, 0);
	expect(!mpijob_render(job, NULL, &rendered, NULL), "mpijob_render");
	expect(!mpijob_convert(mpijob_doc_root(mpijob_document(job)), NULL, "v1", NULL, &old, NULL),
	    "mpijob_convert");
	*sum += mpijob_objects_count(rendered);
	mpijob_doc_free(old);
	mpijob_objects_free(rendered);
	mpijob_diag_free(diag);
	mpijob_free(copy);
}

static void read_plan(size_t *sum)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	const struct mpijob_plan_result *result = mpijob_plan_get_result(plan);
	mpijob_plan *made = NULL;
	size_t pod = 0;

	options.now_ms = INT64_C(1790000000000);
	expect(!mpijob_plan_new(job, facts, &options, &made, NULL), "mpijob_plan_new");
	expect(mpijob_plan_get_result(made)->actions_count == result->actions_count,
	    "the same plan");
	*sum +=
	    (size_t)mpijob_facts_pod_find(facts, MPIJOB_ROLE_WORKER, 0, "b-worker-0", &pod) + pod;
	*sum += mpijob_facts_launcher(facts) != NULL;
	for (size_t i = 0; i < result->actions_count; i++)
		*sum += (size_t)mpijob_plan_at(plan, i)->role;
	*sum += (size_t)result->transitions + (result->status != NULL) + (size_t)result->next_ms;
	for (size_t i = 0; i < mpijob_objects_count(objects); i++) {
		mpijob_doc *object = NULL;

		expect(!mpijob_objects_at(objects, i, &object), "mpijob_objects_at");
		expect(!mpijob_objects_write(objects, i, MPIJOB_FORMAT_JSON, 0, count, sum),
		    "mpijob_objects_write: one");
		mpijob_doc_free(object);
	}
	expect(!mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, MPIJOB_FORMAT_YAML, 0, count,
		   sum),
	    "mpijob_objects_write");
	mpijob_plan_free(made);
}

static void *work(void *user)
{
	size_t *sum = user;

	for (int i = 0; i < ROUNDS; i++) {
		read_document(sum);
		read_job(sum);
		read_plan(sum);
	}
	return NULL;
}

static const char pod[] =
    "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
    "\"b-worker-0\",\"namespace\":\"t\","
    "\"uid\":\"p\",\"resourceVersion\":\"2\",\"labels\":{\"training.kubeflow.org/job-name\":\"b\","
    "\"training.kubeflow.org/job-role\":\"worker\",\"training.kubeflow.org/"
    "replica-index\":\"0\"},\"ownerReferences\":["
    "{\"apiVersion\":\"kubeflow.org/"
    "v2beta1\",\"kind\":\"MPIJob\",\"name\":\"b\",\"uid\":\"u\",\"controller\":true}]},"
    "\"status\":{\"phase\":\"Running\"}}}";

/* A job with a map that is long enough to be searched through an index. */
static void make(void)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_observation *observation = mpijob_observation_new();
	const struct mpijob_observed *observed;
	mpijob_text *text = mpijob_text_new();
	static const char begin[] =
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  {name: b, namespace: t, "
	    "uid: u, "
	    "resourceVersion: '1'}\nspec: {mpiReplicaSpecs: {Launcher: {template: {spec: "
	    "{containers: "
	    "[{name: l, image: i}]}}}, Worker: {replicas: 3, template: {metadata: {annotations: {";
	static const char end[] =
	    "}}, spec: {containers: [{name: w, image: i, resources: {limits: {cpu: 500m}}}]}}}}}\n";
	char line[40];

	expect(!mpijob_text_write(text, begin, sizeof(begin) - 1), "memory");
	for (int i = 0; i < 100; i++)
		expect(!mpijob_text_write(text, line,
			   (size_t)snprintf(line, sizeof(line), "a%d: 'b'%s", i,
			       i < 99 ? ", " : "")),
		    "memory");
	expect(!mpijob_text_write(text, end, sizeof(end) - 1), "memory");
	expect(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &doc, NULL),
	    "mpijob_doc_parse");
	expect(!mpijob_from_node(mpijob_doc_root(doc), NULL, &job, NULL), "mpijob_from_node");
	expect(!mpijob_default(job, NULL, NULL), "mpijob_default");
	facts = mpijob_facts_new();
	expect(!mpijob_observe(observation, pod, sizeof(pod) - 1, &observed, NULL),
	    "mpijob_observe");
	expect(mpijob_facts_apply(facts, observed) == 1, "mpijob_facts_apply");
	expect(!mpijob_render(job, NULL, &objects, NULL), "mpijob_render");
	options.now_ms = INT64_C(1790000000000);
	expect(!mpijob_plan_new(job, facts, &options, &plan, NULL), "mpijob_plan_new");
	mpijob_observation_free(observation);
	mpijob_text_free(text);
}

int main(void)
{
	pthread_t threads[THREADS];

	make();
	for (int i = 0; i < THREADS && !wrong; i++)
		expect(!pthread_create(&threads[i], NULL, work, &sums[i]), "pthread_create");
	for (int i = 0; i < THREADS && !wrong; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		expect(sums[i] == sums[0], "all threads read the same");
	printf("{\"read\": %zu}\n", sums[0]);
	mpijob_plan_free(plan);
	mpijob_objects_free(objects);
	mpijob_facts_free(facts);
	mpijob_free(job);
	mpijob_doc_free(doc);
	return wrong ? 1 : 0;
}

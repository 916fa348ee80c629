/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a gang asks for, through the public functions: which role counts first by PriorityClasses of
 * this and of an older size of struct, and templates that name very many resources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/render.h>

/* `limits` is what the worker's limits are, in JSON. */
static mpijob *make_job(const char *limits)
{
	mpijob_text *text = mpijob_text_new();
	const char *parts[] = {
		"{\"apiVersion\":\"kubeflow.org/"
		"v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"pi\"},\"spec\":{"
		"\"runPolicy\":{\"schedulingPolicy\":{\"minAvailable\":1}},\"mpiReplicaSpecs\":{"
		"\"Launcher\":{"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"l\",\"image\":\"i\","
		"\"resources\":{\"limits\":{"
		"\"cpu\":\"1\"}}}]}}},\"Worker\":{\"replicas\":2,\"template\":{\"spec\":{"
		"\"priorityClassName\":"
		"\"high\",\"containers\":[{\"name\":\"w\",\"image\":\"i\",\"resources\":{"
		"\"limits\":",
		limits, "}}]}}}}}}"
	};
	mpijob *job = NULL;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_int_equal(mpijob_text_write(text, parts[i], strlen(parts[i])), 0);
	assert_int_equal(mpijob_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &job,
			     NULL),
	    0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	mpijob_text_free(text);
	return job;
}

static mpijob_objects *render(const mpijob *job, const struct mpijob_priority_class *class)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_objects *objects = NULL;

	options.gang_scheduler = "volcano";
	options.priority_classes = &class;
	options.priority_classes_count = 1;
	assert_int_equal(mpijob_render(job, &options, &objects, NULL), 0);
	return objects;
}

/* The PodGroup. */
static mpijob_doc *pod_group(const mpijob_objects *objects)
{
	mpijob_doc *doc = NULL;
	size_t at;

	assert_int_equal(mpijob_objects_find(objects, MPIJOB_ROLE_POD_GROUP, 0, &at), 1);
	assert_int_equal(mpijob_objects_at(objects, at, &doc), 0);
	return doc;
}

static void check_cpu(const mpijob_objects *objects, const char *wanted)
{
	mpijob_doc *doc = pod_group(objects);

	assert_string_equal(mpijob_node_string(
				mpijob_node_find(mpijob_doc_root(doc), "spec.minResources.cpu")),
	    wanted);
	mpijob_doc_free(doc);
}

static void class_of_an_older_size(void **state)
{
	const size_t older = offsetof(struct mpijob_priority_class, value);
	struct mpijob_priority_class class = MPIJOB_PRIORITY_CLASS_INIT;
	void *short_class = malloc(older);
	mpijob *job = make_job("{\"cpu\":\"4\"}");
	mpijob_objects *objects;

	(void)state;
	class.name = "high";
	class.value = 10;
	objects = render(job, &class);
	check_cpu(objects, "4");
	mpijob_objects_free(objects);

	/* Without a value both roles are equal, and the launcher counts first. */
	assert_non_null(short_class);
	class.size = older;
	memcpy(short_class, &class, older);
	objects = render(job, short_class);
	check_cpu(objects, "1");
	mpijob_objects_free(objects);
	free(short_class);
	mpijob_free(job);
}

/* In time that grows with their number, not with its square: that would be minutes. */
static void very_many_resources(void **state)
{
	enum { MANY = 60000 };
	const struct mpijob_priority_class class = { sizeof(class), "high", 10, 0 };
	char *limits = malloc(MANY * 16 + 2), *at = limits;
	const mpijob_node *sums;
	mpijob_objects *objects;
	mpijob_doc *doc;
	mpijob *job;

	(void)state;
	assert_non_null(limits);
	for (int i = 0; i < MANY; i++)
		at += sprintf(at, "%c\"a/r%d\":\"%d\"", i ? ',' : '{', i, i % 7 + 1);
	strcpy(at, "}");
	job = make_job(limits);
	objects = render(job, &class);
	doc = pod_group(objects);
	sums = mpijob_node_find(mpijob_doc_root(doc), "spec.minResources");
	assert_int_equal(mpijob_node_count(sums), MANY + 1); /* and the launcher's cpu */
	assert_string_equal(mpijob_node_key(sums, 0), "a/r0");
	assert_string_equal(mpijob_node_string(mpijob_node_get(sums, "a/r59999")), "3");
	mpijob_doc_free(doc);
	mpijob_objects_free(objects);
	mpijob_free(job);
	free(limits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_of_an_older_size),
		cmocka_unit_test(very_many_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

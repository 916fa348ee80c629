/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests of what is wanted and what was observed: equal for a child as it was rendered and as a
 * server gives it back (keys in another order, defaults filled in), different as soon as one field
 * of ours is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render/render.h"

static mpijob *make_job(const char *name, int workers, const char *more, const char *launcher)
{
	char *text = NULL;
	mpijob *job = NULL;
	int len = asprintf(&text,
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: %s, namespace: "
	    "team}\n"
	    "spec:\n%s  mpiReplicaSpecs:\n    Launcher:\n      template:\n        spec:\n%s        "
	    "  containers:\n"
	    "          - {name: l, image: i}\n    Worker:\n      replicas: %d\n      template:\n   "
	    "     spec:\n"
	    "          containers:\n          - {name: w, image: i, resources: {requests: {cpu: "
	    "500m}}}\n",
	    name, more, launcher, workers);

	assert_true(len > 0);
	assert_int_equal(mpijob_parse(text, (size_t)len, NULL, &job, NULL), 0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	free(text);
	return job;
}

static mpijob_doc *child(const mpijob *job, const struct mpijob_render_options *options,
    int32_t role)
{
	mpijob_objects *objects = NULL;
	mpijob_doc *doc = NULL;
	size_t at = 0;

	assert_int_equal(mpijob_render(job, options, &objects, NULL), 0);
	assert_int_equal(mpijob_objects_find(objects, role, 0, &at), 1);
	assert_int_equal(mpijob_objects_at(objects, at, &doc), 0);
	mpijob_objects_free(objects);
	return doc;
}

static struct mpijob__render_subject subject_of(const mpijob *job,
    const struct mpijob_render_options *options)
{
	struct mpijob__render_subject subject;

	assert_int_equal(mpijob__render_subject_make(job, options, &subject, NULL), 0);
	return subject;
}

static mpijob_doc *parse(const char *text)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	options.format = MPIJOB_FORMAT_YAML;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), &options, &doc, NULL), 0);
	return doc;
}

static uint64_t service_of(const char *text)
{
	mpijob_doc *doc = parse(text);
	uint64_t digest = mpijob__render_observed_service(mpijob_doc_root(doc));

	mpijob_doc_free(doc);
	return digest;
}

static void service(void **state)
{
	mpijob *job = make_job("pi", 2, "", ""),
	       *works = make_job("pi", 2, "  runLauncherAsWorker: true\n", "");
	struct mpijob__render_subject subject = subject_of(job, NULL),
				      other = subject_of(works, NULL);
	mpijob_doc *doc = child(job, NULL, MPIJOB_ROLE_SERVICE);
	uint64_t wanted = mpijob__render_wanted_service(&subject);

	(void)state;
	assert_true(wanted ==
		    mpijob__render_observed_service(mpijob_node_get(mpijob_doc_root(doc), "spec")));
	assert_true(
	    wanted ==
	    service_of(
		"{clusterIP: None, clusterIPs: [None], type: ClusterIP, sessionAffinity: None,"
		" publishNotReadyAddresses: false, selector: {training.kubeflow.org/job-name: pi,"
		" training.kubeflow.org/operator-name: mpi-operator}}"));
	assert_true(wanted != service_of("{selector: {training.kubeflow.org/job-name: pi}}"));
	assert_true(wanted != service_of("{}"));
	assert_true(wanted != mpijob__render_wanted_service(&other));
	assert_true(wanted != 0);
	mpijob_doc_free(doc);
	doc = child(works, NULL, MPIJOB_ROLE_SERVICE);
	assert_true(mpijob__render_wanted_service(&other) ==
		    mpijob__render_observed_service(mpijob_node_get(mpijob_doc_root(doc), "spec")));
	mpijob_doc_free(doc);
	mpijob_free(job);
	mpijob_free(works);
}

static void config_map(void **state)
{
	const uint8_t running[] = { 1, 0, 1 };
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT,
				     text_order = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = make_job("pi", 12, "  runLauncherAsWorker: true\n", "");
	struct mpijob__render_subject subject = subject_of(job, NULL);
	mpijob_doc *doc;
	const mpijob_node *data;
	uint64_t wanted = 0, observed, again = 0;
	int32_t count = 0;

	(void)state;
	options.running = running;
	options.running_count = sizeof(running);
	doc = child(job, &options, MPIJOB_ROLE_CONFIG_MAP);
	data = mpijob_node_get(mpijob_doc_root(doc), "data");
	observed = mpijob__render_observed_hosts(mpijob_node_text(
						     mpijob_node_get(data, "discover_hosts.sh")),
	    mpijob_node_length(mpijob_node_get(data, "discover_hosts.sh")), &count);
	assert_int_equal(count, 3); /* the launcher too */
	assert_int_equal(mpijob__render_wanted_hosts(&subject, running, sizeof(running), &wanted,
			     &count),
	    0);
	assert_int_equal(count, 3);
	assert_true(wanted == observed);
	assert_int_equal(mpijob__render_wanted_hosts(&subject, running, 2, &wanted, &count), 0);
	assert_int_equal(count, 2);
	assert_true(wanted != observed);
	mpijob_doc_free(doc);

	/* The same set in another order is the same set. */
	text_order.reference = 1;
	doc = child(job, &text_order, MPIJOB_ROLE_CONFIG_MAP);
	data = mpijob_node_find(mpijob_doc_root(doc), "data[discover_hosts.sh]");
	assert_int_equal(mpijob__render_wanted_hosts(&subject, NULL, 0, &again, NULL), 0);
	assert_true(again == mpijob__render_observed_hosts(mpijob_node_text(data),
				 mpijob_node_length(data), NULL));
	mpijob_doc_free(doc);
	mpijob__render_observed_hosts("#!/bin/sh\n", 10, &count);
	assert_int_equal(count, 0);
	mpijob__render_observed_hosts("", 0, &count);
	assert_int_equal(count, 0);
	mpijob__render_observed_hosts("echo a", 6, &count);
	assert_int_equal(count, 1);
	assert_true(mpijob__render_observed_hosts("echo a\necho b\n", 14, NULL) !=
		    mpijob__render_observed_hosts("echo a\necho c\n", 14, NULL));
	mpijob_free(job);
}

static uint64_t pod_group_of(const char *text)
{
	mpijob_doc *doc = parse(text);
	uint64_t digest = mpijob__render_observed_pod_group(mpijob_doc_root(doc));

	mpijob_doc_free(doc);
	return digest;
}

static void pod_group(void **state)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = make_job("pi", 4, "", ""),
	       *queued = make_job("pi", 4, "  runPolicy: {schedulingPolicy: {queue: q}}\n", "");
	struct mpijob__render_subject subject, other;
	uint64_t wanted = 0, wanted_queue = 0;

	(void)state;
	options.gang_scheduler = "volcano";
	subject = subject_of(job, &options);
	other = subject_of(queued, &options);
	assert_int_equal(mpijob__render_wanted_pod_group(&subject, &wanted, NULL), 0);
	assert_int_equal(mpijob__render_wanted_pod_group(&other, &wanted_queue, NULL), 0);
	assert_true(mpijob__render_pod_group_same(wanted,
	    pod_group_of("{minMember: 5, minResources: {cpu: '2'}}")));
	/* Another spelling of a quantity, and the queue that the scheduler gives, are no change. */
	assert_true(mpijob__render_pod_group_same(wanted,
	    pod_group_of("{minResources: {cpu: 2000m}, minMember: 5, queue: default}")));
	assert_false(mpijob__render_pod_group_same(wanted,
	    pod_group_of("{minMember: 4, minResources: {cpu: '2'}}")));
	assert_false(mpijob__render_pod_group_same(wanted,
	    pod_group_of("{minMember: 5, minResources: {cpu: '3'}}")));
	assert_false(mpijob__render_pod_group_same(wanted, pod_group_of("{minMember: 5}")));
	assert_false(mpijob__render_pod_group_same(wanted,
	    pod_group_of("{minMember: 5, minResources: {cpu: 2}, priorityClassName: x}")));
	assert_true(mpijob__render_pod_group_same(wanted_queue,
	    pod_group_of("{minMember: 5, minResources: {cpu: 2}, queue: q}")));
	assert_false(mpijob__render_pod_group_same(wanted_queue,
	    pod_group_of("{minMember: 5, minResources: {cpu: 2}, queue: default}")));
	assert_false(mpijob__render_pod_group_same(wanted_queue,
	    pod_group_of("{minMember: 5, minResources: {cpu: 2}}")));
	mpijob_free(job);
	mpijob_free(queued);
}

static uint64_t directives_of(const char *text)
{
	mpijob_doc *doc = parse(text);
	uint64_t digest = mpijob__render_observed_directives(mpijob_doc_root(doc));

	mpijob_doc_free(doc);
	return digest;
}

#define OUR_LABELS                                                                                \
	"training.kubeflow.org/operator-name: mpi-operator, training.kubeflow.org/job-name: pi, " \
	"training.kubeflow.org/job-role: launcher"

static void directives(void **state)
{
	mpijob *job = make_job("pi", 1, "",
	    "          nodeSelector: {zone: a}\n          tolerations: [{key: k}]\n");
	struct mpijob__render_subject subject = subject_of(job, NULL);
	mpijob_doc *doc = child(job, NULL, MPIJOB_ROLE_LAUNCHER);
	uint64_t wanted = 0;

	(void)state;
	assert_int_equal(mpijob__render_wanted_directives(&subject, &wanted, NULL), 0);
	assert_true(wanted == mpijob__render_observed_directives(
				  mpijob_node_find(mpijob_doc_root(doc), "spec.template")));
	assert_true(wanted == directives_of(
				  "{metadata: {annotations: {}, labels: {" OUR_LABELS
				  ", job-name: pi-launcher, "
				  "controller-uid: x, batch.kubernetes.io/job-name: pi-launcher}},"
				  " spec: {schedulingGates: null, tolerations: [{key: k}], "
				  "nodeSelector: {zone: a}, x: y}}"));
	assert_true(wanted != directives_of("{metadata: {labels: {" OUR_LABELS
					    "}}, spec: {nodeSelector: {zone: a}}}"));
	assert_true(
	    wanted != directives_of("{metadata: {labels: {" OUR_LABELS "}},"
				    " spec: {nodeSelector: {zone: b}, tolerations: [{key: k}]}}"));
	assert_true(
	    wanted != directives_of(
			  "{metadata: {labels: {" OUR_LABELS "}}, spec: {nodeSelector: {zone: a},"
			  " tolerations: [{key: k}], schedulingGates: [{name: g}]}}"));
	assert_true(wanted != directives_of("{metadata: {labels: {" OUR_LABELS
					    ", a: b}}, spec: {nodeSelector: {zone: a},"
					    " tolerations: [{key: k}]}}"));
	mpijob_doc_free(doc);
	mpijob_free(job);
}

static void names(void **state)
{
	static const char *const expected[] = { NULL, "j", "j-config", "j-ssh", "j", "j-worker-17",
		"j-launcher", "j" };
	mpijob_text *text = mpijob_text_new();

	(void)state;
	for (int32_t role = MPIJOB_ROLE_SERVICE; role <= MPIJOB_ROLE_NETWORK_POLICY; role++) {
		mpijob_text_clear(text);
		assert_int_equal(mpijob__render_name("j", role, 17, text), 0);
		assert_string_equal(mpijob_text_data(text), expected[role]);
		assert_non_null(mpijob__render_kind(role));
		assert_non_null(mpijob__render_api_version(role, 0));
	}
	assert_int_equal(mpijob__render_name("j", 0, 0, text), MPIJOB_ERR_USAGE);
	assert_null(mpijob__render_kind(0));
	assert_null(mpijob__render_kind(8));
	assert_null(mpijob__render_api_version(8, 0));
	assert_string_equal(mpijob__render_api_version(MPIJOB_ROLE_POD_GROUP, 1),
	    "scheduling.volcano.sh/v1beta1");
	mpijob_text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(service),
		cmocka_unit_test(config_map),
		cmocka_unit_test(pod_group),
		cmocka_unit_test(directives),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tenants can write into a job gets into no script: scripts hold names that are checked,
 * numbers, and constants. Every string of a job is poisoned in turn, and what is rendered is
 * searched for the poison outside of the places that carry the user's own text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/render.h>

#include "base/text.h"

#define POISON "x\";reboot;$(reboot)`reboot`\nreboot '"

static const char job_text[] =
    "apiVersion: kubeflow.org/v2beta1\n"
    "kind: MPIJob\n"
    "metadata: {name: pi, namespace: team, uid: u, labels: {a: b}, annotations: {c: d}}\n"
    "spec:\n"
    "  slotsPerWorker: 2\n"
    "  runLauncherAsWorker: true\n"
    "  sshAuthMountPath: /home/mpi/.ssh\n"
    "  mpiImplementation: OpenMPI\n"
    "  launcherCreationPolicy: AtStartup\n"
    "  runPolicy: {cleanPodPolicy: Running, managedBy: kubeflow.org/mpi-operator, "
    "schedulingPolicy: {queue: q, priorityClass: p}}\n"
    "  mpiReplicaSpecs:\n"
    "    Launcher:\n"
    "      replicas: 1\n"
    "      restartPolicy: Never\n"
    "      template:\n"
    "        metadata: {labels: {e: f}, annotations: {g: h}}\n"
    "        spec:\n"
    "          hostname: hn\n"
    "          subdomain: s\n"
    "          schedulerName: t\n"
    "          dnsPolicy: ClusterFirst\n"
    "          containers: [{name: l, image: i, command: [mpirun], args: [j], env: [{name: K, "
    "value: v}], workingDir: /w}]\n"
    "    Worker:\n"
    "      replicas: 3\n"
    "      restartPolicy: Never\n"
    "      template:\n"
    "        spec:\n"
    "          containers: [{name: w, image: i, volumeMounts: [{name: m, mountPath: /m}]}]\n"
    "          volumes: [{name: m, emptyDir: {}}]\n";

static struct mpijob_features all_features(void)
{
	struct mpijob_features features = MPIJOB_FEATURES_INIT;

	for (size_t i = 0; mpijob_feature_at(i); i++) {
		const struct mpijob_feature *feature = mpijob_feature_at(i);
		char value[16];

		snprintf(value, sizeof(value), "%d", (int)feature->minimum);
		assert_int_equal(mpijob_features_set(&features, feature->name, value, NULL), 0);
	}
	return features;
}

/* Scripts: the ConfigMap, and the init container's command. 1 when there is poison in one. */
static int in_scripts(const mpijob_node *object)
{
	const char *kind = mpijob_node_string(mpijob_node_get(object, "kind"));
	const mpijob_node *data = mpijob_node_get(object, "data");
	const mpijob_node *inits = mpijob_node_find(object, "spec.template.spec.initContainers");
	int found = 0;

	for (size_t i = 0; strcmp(kind, "ConfigMap") == 0 && i < mpijob_node_count(data); i++)
		found |= strstr(mpijob_node_string(mpijob_node_at(data, i)), "reboot") != NULL;
	for (size_t i = 0; i < mpijob_node_count(inits); i++) {
		const mpijob_node *command = mpijob_node_get(mpijob_node_at(inits, i), "command");

		for (size_t k = 0; k < mpijob_node_count(command); k++)
			found |= strstr(mpijob_node_string(mpijob_node_at(command, k)), "reboot") !=
				 NULL;
	}
	return found;
}

/* Render one; 1 when there are poisoned scripts, 0 when not, -1 when it is refused. */
static int poisoned(const mpijob *job, const struct mpijob_render_options *options)
{
	mpijob_objects *objects = NULL;
	int found = 0;

	if (mpijob_render(job, options, &objects, NULL))
		return -1;
	for (size_t i = 0; i < mpijob_objects_count(objects); i++) {
		mpijob_doc *doc = NULL;

		assert_int_equal(mpijob_objects_at(objects, i, &doc), 0);
		found |= in_scripts(mpijob_doc_root(doc));
		mpijob_doc_free(doc);
	}
	mpijob_objects_free(objects);
	return found;
}

/* Replace the string number `*left`; counts down as it meets strings. */
static int poison(mpijob_doc *doc, mpijob_node *node, size_t *left)
{
	for (size_t i = 0; i < mpijob_node_count(node); i++) {
		mpijob_node *child = mpijob_node_kind(node) == MPIJOB_NODE_MAP
					 ? mpijob_node_edit(node, mpijob_node_key(node, i))
					 : mpijob_node_edit_at(node, i);

		if (mpijob_node_kind(child) == MPIJOB_NODE_STRING) {
			if ((*left)-- > 0)
				continue;
			if (mpijob_node_kind(node) == MPIJOB_NODE_MAP) {
				mpijob_node_put_string(doc, node, mpijob_node_key(node, i), POISON);
			} else {
				mpijob_node_remove_at(node, i);
				mpijob_node_append_string(doc, node, POISON);
			}
			return 1;
		}
		if (poison(doc, child, left))
			return 1;
	}
	return 0;
}

/* The job with one string poisoned; NULL when there are fewer strings. */
static mpijob *make(size_t which)
{
	mpijob_doc *doc = NULL;
	mpijob *job = NULL;

	assert_int_equal(mpijob_doc_parse(job_text, sizeof(job_text) - 1, NULL, &doc, NULL), 0);
	if (poison(doc, mpijob_doc_edit(doc, ""), &which)) {
		(void)mpijob_from_node(mpijob_doc_root(doc), NULL, &job, NULL);
		if (!job) /* apiVersion or kind */
			assert_int_equal(mpijob_new("pi", "team", NULL, &job, NULL), 0);
		(void)mpijob_default(job, NULL, NULL);
	}
	mpijob_doc_free(doc);
	return job;
}

static void no_string_of_a_job_gets_into_a_script(void **state)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob_features features = all_features();
	size_t count = 0, rendered = 0;
	mpijob *job;

	(void)state;
	while ((job = make(count)) != NULL) {
		for (int round = 0; round < 3; round++) {
			int found;

			options.features = round == 1 ? &features : NULL;
			options.reference = round == 2;
			options.gang_scheduler = round == 1 ? "volcano" : NULL;
			found = poisoned(job, &options);
			if (found > 0)
				fail_msg("string %zu gets into a script", count);
			rendered += found == 0;
		}
		mpijob_free(job);
		count++;
	}
	print_message("%zu strings, %zu renderings\n", count, rendered);
	assert_true(count > 30);
	assert_true(rendered > 40);
}

static void names_are_refused_that_are_none(void **state)
{
	static const char *const names[] = { "a;reboot", "a$(reboot)", "a b", "a\nreboot",
		"`reboot`", "A", "-a", "a.b", "a'", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (int of_namespace = 0; of_namespace < 2; of_namespace++) {
			mpijob *job = NULL;
			int code;

			assert_int_equal(mpijob_parse(job_text, sizeof(job_text) - 1, NULL, &job,
					     NULL),
			    0);
			assert_int_equal(mpijob_default(job, NULL, NULL), 0);
			code = mpijob_identify(job, of_namespace ? NULL : names[i],
			    of_namespace ? names[i] : NULL, NULL);
			assert_int_equal(code, 0);
			/* No namespace at all means "default". */
			assert_int_equal(poisoned(job, NULL), of_namespace && !*names[i] ? 0 : -1);
			mpijob_free(job);
		}
}

static void cluster_domains_are_refused_that_are_none(void **state)
{
	static const char *const domains[] = { "x;reboot", "a b", "$(reboot)", "a\nb", "\"" };
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job = NULL;

	(void)state;
	assert_int_equal(mpijob_parse(job_text, sizeof(job_text) - 1, NULL, &job, NULL), 0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		mpijob_objects *objects = NULL;
		mpijob_diag *diag = mpijob_diag_new();

		options.cluster_domain = domains[i];
		assert_int_equal(mpijob_render(job, &options, &objects, diag), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_diag_count(diag, 0), 1);
		assert_non_null(strstr(mpijob_diag_at(diag, 0)->message, "cluster_domain"));
		mpijob_diag_free(diag);
	}
	options.cluster_domain = "Cluster-1.local.";
	assert_int_equal(poisoned(job, &options), 0);
	mpijob_free(job);
}

/* Of a template's metadata labels and annotations count, and ours win over them. */
static void a_template_owns_nothing(void **state)
{
	static const char metadata[] =
	    "{name: other, generateName: o, namespace: kube-system, uid: v, finalizers: [a/b], "
	    "ownerReferences: [{apiVersion: v1, kind: "
	    "Node, name: n, uid: w, controller: true}], labels: {training.kubeflow.org/job-name: "
	    "other, "
	    "training.kubeflow.org/job-role: launcher, training.kubeflow.org/operator-name: x, "
	    "mine: yes it is}}";
	mpijob_doc *doc = NULL, *given = NULL, *pod = NULL;
	const mpijob_node *is;
	mpijob_objects *objects = NULL;
	mpijob *job = NULL;
	size_t at;

	(void)state;
	assert_int_equal(mpijob_doc_parse(job_text, sizeof(job_text) - 1, NULL, &doc, NULL), 0);
	assert_int_equal(mpijob_doc_parse(metadata, sizeof(metadata) - 1, NULL, &given, NULL), 0);
	mpijob_node_put_copy(doc, mpijob_doc_make(doc, "spec.mpiReplicaSpecs[Worker].template"),
	    "metadata", mpijob_doc_root(given));
	assert_int_equal(mpijob_from_node(mpijob_doc_root(doc), NULL, &job, NULL), 0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	assert_int_equal(mpijob_render(job, NULL, &objects, NULL), 0);
	assert_true(mpijob_objects_find(objects, MPIJOB_ROLE_WORKER, 1, &at) >= 0);
	assert_int_equal(mpijob_objects_at(objects, at, &pod), 0);
	is = mpijob_node_get(mpijob_doc_root(pod), "metadata");
	assert_string_equal(mpijob_node_string(mpijob_node_get(is, "name")), "pi-worker-1");
	assert_string_equal(mpijob_node_string(mpijob_node_get(is, "namespace")), "team");
	assert_null(mpijob_node_get(is, "generateName"));
	assert_null(mpijob_node_get(is, "uid"));
	assert_null(mpijob_node_get(is, "finalizers"));
	assert_int_equal(mpijob_node_count(mpijob_node_get(is, "ownerReferences")), 1);
	assert_string_equal(mpijob_node_string(mpijob_node_find(is, "ownerReferences[0].kind")),
	    "MPIJob");
	is = mpijob_node_get(is, "labels");
	assert_string_equal(mpijob_node_string(
				mpijob_node_get(is, "training.kubeflow.org/job-name")),
	    "pi");
	assert_string_equal(mpijob_node_string(
				mpijob_node_get(is, "training.kubeflow.org/job-role")),
	    "worker");
	assert_string_equal(mpijob_node_string(
				mpijob_node_get(is, "training.kubeflow.org/operator-name")),
	    "mpi-operator");
	assert_string_equal(mpijob_node_string(mpijob_node_get(is, "mine")), "yes it is");
	mpijob_doc_free(pod);
	mpijob_objects_free(objects);
	mpijob_free(job);
	mpijob_doc_free(given);
	mpijob_doc_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_string_of_a_job_gets_into_a_script),
		cmocka_unit_test(names_are_refused_that_are_none),
		cmocka_unit_test(cluster_domains_are_refused_that_are_none),
		cmocka_unit_test(a_template_owns_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns the children, so that the cluster collects them, and what is done for an owner that is
 * being deleted. */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void begin(struct plan_cluster *cluster, const char *more)
{
	mpijob_doc *job = mpijob_doc_new();

	NEED(job);
	plan_cluster_set(&job,
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: "
	    "ns%s}, spec: {mpiReplicaSpecs: "
	    "{Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, "
	    "Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: i}]}}}}}}",
	    more);
	plan_cluster_begin(cluster, job);
}

static size_t act(struct plan_cluster *cluster)
{
	mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);
	size_t count = mpijob_plan_get_result(plan)->actions_count;

	NEED(!plan_cluster_act_all(cluster, plan));
	mpijob_plan_free(plan);
	return count;
}

static void test_p8_owner_references(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, "");
	while (act(&cluster))
		;
	assert_int_equal(cluster.count, 6); /* Service, ConfigMap, Secret, two workers, launcher */
	for (size_t i = 0; i < cluster.count; i++) {
		const mpijob_doc *child = cluster.objects[i].doc;

		assert_int_equal(mpijob_node_count(mpijob_node_find(mpijob_doc_root(child),
				     "metadata.ownerReferences")),
		    1);
		assert_string_equal(plan_cluster_text(child,
					"metadata.ownerReferences[0].apiVersion"),
		    "kubeflow.org/v2beta1");
		assert_string_equal(plan_cluster_text(child, "metadata.ownerReferences[0].kind"),
		    "MPIJob");
		assert_string_equal(plan_cluster_text(child, "metadata.ownerReferences[0].name"),
		    "pi");
		assert_string_equal(plan_cluster_text(child, "metadata.ownerReferences[0].uid"),
		    plan_cluster_text(cluster.job, "metadata.uid"));
		assert_string_equal(plan_cluster_text(child, "metadata.namespace"), "ns");
		assert_int_equal(plan_cluster_bool(child, "metadata.ownerReferences[0].controller"),
		    1);
		assert_int_equal(plan_cluster_bool(child,
				     "metadata.ownerReferences[0].blockOwnerDeletion"),
		    1);
	}
	plan_cluster_end(&cluster);
}

#define DELETED ", deletionTimestamp: \"2026-09-21T14:13:20Z\", finalizers: [example.org/keep]"

static void test_p9_an_owner_that_is_deleted_gets_no_children(void **state)
{
	struct plan_cluster cluster;

	(void)state;
	begin(&cluster, DELETED);
	assert_int_equal(act(&cluster), 0);
	assert_int_equal(cluster.count, 0);
	plan_cluster_end(&cluster);

	begin(&cluster, "");
	while (act(&cluster))
		;
	plan_cluster_change_job(&cluster,
	    "{metadata: {deletionTimestamp: \"2026-09-21T14:13:20Z\"}, "
	    "spec: {mpiReplicaSpecs: {Worker: {replicas: 3}}}}");
	assert_int_equal(act(&cluster), 0);
	assert_int_equal(cluster.count, 6);
	plan_cluster_end(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_p8_owner_references),
		cmocka_unit_test(test_p9_an_owner_that_is_deleted_gets_no_children) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

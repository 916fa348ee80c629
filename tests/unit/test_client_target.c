/* SPDX-License-Identifier: Apache-2.0 */
#include "client/resources.h"

#include <mpijob/client.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int written(const struct mpijob_target *target, mpijob_text *text)
{
	mpijob_text_clear(text);
	return mpijob_target_write(target, mpijob_text_write, text);
}

static void paths(void **state)
{
	static const char *const query[] = { "watch", "1", "labelSelector", "a/b=c d" };
	struct mpijob_target core = MPIJOB_TARGET_INIT, job = MPIJOB_TARGET_INIT,
			     node = MPIJOB_TARGET_INIT;
	mpijob_text *text = mpijob_text_new();

	(void)state;
	core.api_version = "v1";
	core.kind = "Pod";
	assert_int_equal(written(&core, text), 0);
	assert_string_equal(mpijob_text_data(text), "/api/v1/pods");
	core.namespace_ = "default";
	core.name = "p-0";
	core.subresource = "log";
	assert_int_equal(written(&core, text), 0);
	assert_string_equal(mpijob_text_data(text), "/api/v1/namespaces/default/pods/p-0/log");

	job.api_version = "kubeflow.org/v2beta1";
	job.kind = "MPIJob";
	job.namespace_ = "t";
	job.query = query;
	job.query_count = 4;
	assert_int_equal(written(&job, text), 0);
	assert_string_equal(mpijob_text_data(text),
	    "/apis/kubeflow.org/v2beta1/namespaces/t/mpijobs?watch=1&labelSelector=a%2Fb%3Dc%20d");

	node.api_version = "v1";
	node.kind = "Node";
	node.namespace_ = "ignored";
	node.name = "n";
	assert_int_equal(written(&node, text), 0);
	assert_string_equal(mpijob_text_data(text), "/api/v1/nodes/n");
	mpijob_text_free(text);
}

static void resources(void **state)
{
	static const struct {
		const char *api_version, *kind, *plural, *path;
		int32_t scope;
	} rows[] = {
		{ "gateway.networking.k8s.io/v1", "Gateway", NULL,
		    "/apis/gateway.networking.k8s.io/v1/namespaces/t/gateways/x", 0 },
		{ "networking.k8s.io/v1", "NetworkPolicy", NULL,
		    "/apis/networking.k8s.io/v1/namespaces/t/networkpolicies/x", 0 },
		{ "metrics.k8s.io/v1beta1", "PodMetrics", NULL,
		    "/apis/metrics.k8s.io/v1beta1/namespaces/t/pods/x", 0 },
		{ "metrics.k8s.io/v1beta1", "NodeMetrics", NULL,
		    "/apis/metrics.k8s.io/v1beta1/nodes/x", 0 },
		{ "a.example/v1", "Sheep", "sheep", "/apis/a.example/v1/namespaces/t/sheep/x", 0 },
		{ "a.example/v1", "Tenant", NULL, "/apis/a.example/v1/tenants/x",
		    MPIJOB_SCOPE_CLUSTER },
		{ "v1", "Node", NULL, "/api/v1/namespaces/t/nodes/x", MPIJOB_SCOPE_NAMESPACED },
	};
	mpijob_text *text = mpijob_text_new();
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		target.api_version = rows[i].api_version;
		target.kind = rows[i].kind;
		target.plural = rows[i].plural;
		target.scope = rows[i].scope;
		target.namespace_ = "t";
		target.name = "x";
		assert_int_equal(written(&target, text), 0);
		assert_string_equal(mpijob_text_data(text), rows[i].path);
	}
	target.scope = MPIJOB_SCOPE_CLUSTER;
	target.namespace_ = NULL;
	assert_int_equal(written(&target, text), 0);
	target.scope = 3;
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	target.scope = 0;
	target.plural = "a/b";
	target.namespace_ = "t";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

static void names_are_escaped_or_refused(void **state)
{
	static const char *const refused[] = { "", ".", "..", "a/b", "/" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text *text = mpijob_text_new();

	(void)state;
	target.api_version = "v1";
	target.kind = "Secret";
	target.namespace_ = "x";
	target.name = "a?b#c%\x01\xc3\xbc";
	assert_int_equal(written(&target, text), 0);
	assert_string_equal(mpijob_text_data(text),
	    "/api/v1/namespaces/x/secrets/a%3Fb%23c%25%01%C3%BC");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		target.name = refused[i];
		assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_text_len(text), 0);
		target.name = "fine";
		target.namespace_ = refused[i];
		assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
		target.namespace_ = "x";
	}
	target.namespace_ = NULL;
	target.name = "needs-a-namespace";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	target.name = NULL;
	target.query_count = 1;
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

/* What other clients in C have sent to another object, or with a parameter more. */
static void attacks_stay_inside_of_their_segment(void **state)
{
	static const char *const query[] = { "labelSelector", "a=b&limit=1", "x&y=z", "1#2" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text *text = mpijob_text_new();
	char longest[5001];

	(void)state;
	target.api_version = "kubeflow.org/v2beta1";
	target.kind = "MPIJob";
	target.namespace_ = "n";
	target.name = "a/../../b?x=1";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	target.name = "a%2F..%2F..%2Fb?x=1";
	assert_int_equal(written(&target, text), 0);
	assert_string_equal(mpijob_text_data(text),
	    "/apis/kubeflow.org/v2beta1/namespaces/n/mpijobs/a%252F..%252F..%252Fb%3Fx%3D1");
	/* No length is cut. */
	memset(longest, 'l', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	target.name = target.namespace_ = longest;
	assert_int_equal(written(&target, text), 0);
	assert_int_equal(mpijob_text_len(text),
	    strlen("/apis/kubeflow.org/v2beta1/namespaces//mpijobs/") + 10000);
	target.name = NULL;
	target.namespace_ = "n";
	target.query = query;
	target.query_count = 4;
	assert_int_equal(written(&target, text), 0);
	assert_string_equal(mpijob_text_data(text),
	    "/apis/kubeflow.org/v2beta1/namespaces/n/mpijobs"
	    "?labelSelector=a%3Db%26limit%3D1&x%26y%3Dz=1%232");
	/* Words that are not names of objects are no better. */
	target.query_count = 0;
	target.api_version = "kubeflow.org/../v1";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	target.api_version = "../v1";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	target.api_version = "kubeflow.org/v1";
	target.kind = "a/b";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	target.kind = "Pod";
	target.name = "p";
	target.subresource = "log/../exec";
	assert_int_equal(written(&target, text), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

static void plurals(void **state)
{
	static const struct {
		const char *version, *kind, *plural;
		int namespaced;
	} rows[] = {
		{ "v1", "Pod", "pods", 1 },
		{ "v1", "Endpoints", "endpoints", 1 },
		{ "v1", "ConfigMap", "configmaps", 1 },
		{ "v1", "Namespace", "namespaces", 0 },
		{ "batch/v1", "Job", "jobs", 1 },
		{ "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", 1 },
		{ "networking.k8s.io/v1", "Ingress", "ingresses", 1 },
		{ "networking.k8s.io/v1", "IngressClass", "ingressclasses", 0 },
		{ "scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", 0 },
		{ "scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups", 1 },
		{ "scheduling.volcano.sh/v1beta1", "Queue", "queues", 0 },
		{ "example.com/v1", "Queue", "queues", 1 },
		{ "example.com/v1", "Node", "nodes", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_text *text = mpijob_text_new();

		assert_int_equal(mpijob__client_resource_plural(rows[i].version, rows[i].kind,
				     text),
		    0);
		assert_string_equal(mpijob_text_data(text), rows[i].plural);
		assert_int_equal(mpijob__client_resource_namespaced(rows[i].version, rows[i].kind),
		    rows[i].namespaced);
		mpijob_text_free(text);
	}
}

static int full(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
	return MPIJOB_ERR_IO;
}

static void sinks_and_sizes(void **state)
{
	struct {
		struct mpijob_target target;
		long more;
	} longer = { MPIJOB_TARGET_INIT, 0 };
	mpijob_text *text = mpijob_text_new();

	(void)state;
	longer.target.api_version = "v1";
	longer.target.kind = "Pod";
	assert_int_equal(mpijob_target_write(&longer.target, full, NULL), MPIJOB_ERR_IO);
	longer.target.size = sizeof(longer);
	assert_int_equal(written(&longer.target, text), 0);
	longer.more = 1;
	assert_int_equal(written(&longer.target, text), MPIJOB_ERR_UNSUPPORTED);
	longer.target.size = 1;
	assert_int_equal(written(&longer.target, text), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(resources),
		cmocka_unit_test(names_are_escaped_or_refused),
		cmocka_unit_test(attacks_stay_inside_of_their_segment),
		cmocka_unit_test(plurals),
		cmocka_unit_test(sinks_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

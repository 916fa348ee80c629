/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of the embedded cluster: what is stored, what conflicts, what is refused, and with
 * which words.
 */
#include "../support/fake_wait.h"
#include "../support/local_client.h"

#define MAPS    "/api/v1/namespaces/default/configmaps"
#define PODS    "/api/v1/namespaces/default/pods"
#define SECRETS "/api/v1/namespaces/default/secrets"
#define JOBS    "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs"
#define MERGE   "application/merge-patch+json"
#define JSON    "application/json"

static const char map_a[] =
    "{\"metadata\":{\"name\":\"a\",\"labels\":{\"app\":\"x\"}},\"data\":{\"k\":\"v\"}}";
static const char pod_p[] =
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";

static void test_create_and_get(void **state)
{
	struct answer answer = ask(*state, "POST", MAPS, map_a);
	const mpijob_node *metadata;

	assert_int_equal(answer.status, 201);
	metadata = mpijob_node_get(mpijob_doc_root(answer.doc), "metadata");
	assert_string_equal(mpijob_node_string(mpijob_node_get(metadata, "namespace")), "default");
	assert_int_equal(strlen(mpijob_node_string(mpijob_node_get(metadata, "uid"))), 36);
	assert_int_equal(strlen(mpijob_node_string(mpijob_node_get(metadata, "creationTimestamp"))),
	    20);
	assert_non_null(mpijob_node_string(mpijob_node_get(metadata, "resourceVersion")));
	answer_free(&answer);
	expect_text(*state, MAPS "/a", "data.k", "v");
	expect_text(*state, MAPS "/a", "kind", "ConfigMap");
	expect_text(*state, MAPS "/a", "metadata.generation", NULL);
	expect_refusal(*state, "POST", MAPS, JSON, map_a, 409, "AlreadyExists");
	expect_refusal(*state, "GET", MAPS "/b", NULL, NULL, 404, "NotFound");
}

static void test_create_refusals(void **state)
{
	expect_refusal(*state, "POST", MAPS, JSON, "{\"metadata\":{\"name\":\"Not_A_Name\"}}", 422,
	    "Invalid");
	expect_refusal(*state, "POST", MAPS, JSON, "{\"metadata\":{}}", 422, "Invalid");
	expect_refusal(*state, "POST", MAPS, JSON,
	    "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}", 400, "BadRequest");
	expect_refusal(*state, "POST", MAPS, JSON,
	    "{\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"a\"}}", 400, "BadRequest");
	expect_refusal(*state, "POST", MAPS, JSON,
	    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}", 400, "BadRequest");
	expect_refusal(*state, "POST", MAPS, JSON,
	    "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}", 400, "BadRequest");
	expect_refusal(*state, "POST", MAPS, JSON, "{", 400, "BadRequest");
	expect_refusal(*state, "POST", MAPS, JSON, "[]", 400, "BadRequest");
	expect_refusal(*state, "POST", MAPS, "application/yaml", "{}", 415, "UnsupportedMediaType");
	expect_refusal(*state, "POST", "/api/v1/namespaces/none/configmaps", JSON, map_a, 404,
	    "NotFound");
	expect_refusal(*state, "POST", "/api/v1/configmaps", JSON, map_a, 405, "MethodNotAllowed");
	expect_refusal(*state, "POST", "/apis/apps/v1/namespaces/default/deployments", JSON, "{}",
	    404, "NotFound");
	expect_refusal(*state, "POST", PODS, JSON, "{\"metadata\":{\"name\":\"p\"},\"spec\":{}}",
	    422, "Invalid");
	expect_refusal(*state, "POST", PODS, JSON,
	    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
	    "\"i\"},"
	    "{\"name\":\"c\",\"image\":\"i\"}]}}",
	    422, "Invalid");
	expect_refusal(*state, "POST", PODS, JSON,
	    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
	    "\"i\",\"volumeMounts\":"
	    "[{\"name\":\"v\",\"mountPath\":\"/v\"}]}]}}",
	    422, "Invalid");
	expect_refusal(*state, "POST", SECRETS, JSON,
	    "{\"metadata\":{\"name\":\"s\"},\"data\":{\"k\":\"?\"}}", 400, "BadRequest");
}

#define POD(rest)                                                                             \
	"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":" \
	"\"i\"}]," rest "}}"
#define META(rest) "{\"metadata\":{\"name\":\"a\"," rest "}}"

/* What an API server refuses of an object; `message` is the beginning of its cause. */
static void test_invalid_objects(void **state)
{
	static const struct {
		const char *path, *body, *field, *cause, *message;
	} rows[] = {
		{ PODS, POD("\"hostname\":\"a\\n10.0.0.1 b\""), "spec.hostname",
		    "FieldValueInvalid", "Invalid value: " },
		{ PODS, POD("\"hostname\":\"a.b\""), "spec.hostname", "FieldValueInvalid",
		    "Invalid value: " },
		{ PODS, POD("\"subdomain\":\"A\""), "spec.subdomain", "FieldValueInvalid",
		    "Invalid value: " },
		{ PODS, POD("\"restartPolicy\":\"never\""), "spec.restartPolicy",
		    "FieldValueNotSupported", "Unsupported value: " },
		{ PODS,
		    POD("\"volumes\":[{\"name\":\"v\",\"emptyDir\":{},\"hostPath\":{\"path\":\"/"
			"\"}}]"),
		    "spec.volumes[0]", "FieldValueForbidden", "Forbidden: " },
		{ PODS, POD("\"volumes\":\"v\""), "spec.volumes", "FieldValueTypeInvalid",
		    "Invalid value: " },
		{ PODS, "{\"metadata\":{\"name\":\"p\"}}", "spec.containers", "FieldValueRequired",
		    "Required value: " },
		{ PODS,
		    "{\"metadata\":{\"name\":\"p\\u0000\"},\"spec\":{\"containers\":[{\"name\":"
		    "\"c\",\"image\":\"i\"}]}}",
		    "metadata.name", "FieldValueInvalid", "Invalid value: " },
		{ MAPS, "{\"metadata\":{\"name\":\"../a\"}}", "metadata.name", "FieldValueInvalid",
		    "Invalid value: " },
		{ MAPS, META("\"labels\":{\"a b\":\"c\"}"), "metadata.labels[a b]",
		    "FieldValueInvalid", "Invalid value: " },
		{ MAPS, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"../../x\":\"\"}}",
		    "data[../../x]", "FieldValueInvalid", "Invalid value: " },
		{ MAPS, "{\"metadata\":{\"name\":\"a\"},\"binaryData\":{\"a/b\":\"\"}}",
		    "binaryData[a/b]", "FieldValueInvalid", "Invalid value: " },
		{ SECRETS, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"..\":\"\"}}", "data[..]",
		    "FieldValueInvalid", "Invalid value: " },
		{ "/api/v1/namespaces/default/services", "{\"metadata\":{\"name\":\"1a\"}}",
		    "metadata.name", "FieldValueInvalid", "Invalid value: " },
		{ "/api/v1/namespaces", "{\"metadata\":{\"name\":\"a.b\"}}", "metadata.name",
		    "FieldValueInvalid", "Invalid value: " },
		{ "/apis/batch/v1/namespaces/default/jobs",
		    "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"template\":{\"spec\":{"
		    "\"restartPolicy\":\"Never\",\"hostname\":\"-\","
		    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}",
		    "spec.template.spec.hostname", "FieldValueInvalid", "Invalid value: " },
		{ JOBS, "{\"metadata\":{\"name\":\"a\"},\"spec\":{}}", "spec.mpiReplicaSpecs",
		    "FieldValueRequired", "Required value: " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer answer = ask(*state, "POST", rows[i].path, rows[i].body);
		const mpijob_node *root = mpijob_doc_root(answer.doc);
		const mpijob_node *cause = mpijob_node_find(root, "details.causes[0]");
		const char *text = mpijob_node_string(mpijob_node_get(cause, "message"));
		char part[200];

		if (answer.status != 422)
			print_message("%s: %d\n", rows[i].body, answer.status);
		assert_int_equal(answer.status, 422);
		assert_string_equal(mpijob_node_string(mpijob_node_get(root, "reason")), "Invalid");
		assert_string_equal(mpijob_node_string(mpijob_node_get(cause, "field")),
		    rows[i].field);
		assert_string_equal(mpijob_node_string(mpijob_node_get(cause, "reason")),
		    rows[i].cause);
		assert_memory_equal(text, rows[i].message, strlen(rows[i].message));
		snprintf(part, sizeof(part), "\" is invalid: %s: %s", rows[i].field,
		    rows[i].message);
		assert_non_null(strstr(mpijob_node_string(mpijob_node_get(root, "message")), part));
		answer_free(&answer);
	}
}

/* A change is judged like a new object. */
static void test_invalid_changes(void **state)
{
	expect(*state, "POST", MAPS, map_a, 201);
	expect(*state, "POST", JOBS,
	    "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"mpiReplicaSpecs\":{}}}", 201);
	expect_refusal(*state, "PATCH", MAPS "/a", MERGE, "{\"data\":{\"../../x\":\"\"}}", 422,
	    "Invalid");
	expect_refusal(*state, "PATCH", MAPS "/a", MERGE,
	    "{\"metadata\":{\"labels\":{\"a\":\"b c\"}}}", 422, "Invalid");
	expect_refusal(*state, "PATCH", JOBS "/j", MERGE, "{\"spec\":{\"mpiReplicaSpecs\":null}}",
	    422, "Invalid");
	expect_text(*state, MAPS "/a", "data.k", "v");
}

static void test_generated_name(void **state)
{
	struct answer answer =
	    ask(*state, "POST", MAPS, "{\"metadata\":{\"generateName\":\"x-\"}}");
	const char *name =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(answer.doc), "metadata.name"));

	assert_int_equal(answer.status, 201);
	assert_int_equal(strlen(name), 7);
	assert_memory_equal(name, "x-", 2);
	answer_free(&answer);
}

static void test_update(void **state)
{
	struct answer answer = ask(*state, "POST", MAPS, map_a);
	char *version = strdup(mpijob_node_string(
	    mpijob_node_find(mpijob_doc_root(answer.doc), "metadata.resourceVersion")));
	char body[256];

	answer_free(&answer);
	snprintf(body, sizeof(body),
	    "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%s\"},\"data\":{\"k\":\"w\"}}",
	    version);
	expect(*state, "PUT", MAPS "/a", body, 200);
	expect_text(*state, MAPS "/a", "data.k", "w");
	expect_text(*state, MAPS "/a", "metadata.labels.app", NULL);
	expect_refusal(*state, "PUT", MAPS "/a", JSON, body, 409, "Conflict");
	expect_refusal(*state, "PUT", MAPS "/a", JSON,
	    "{\"metadata\":{\"name\":\"a\",\"uid\":\"other\"}}", 409, "Conflict");
	expect_refusal(*state, "PUT", MAPS "/a", JSON, "{\"metadata\":{\"name\":\"b\"}}", 400,
	    "BadRequest");
	expect_refusal(*state, "PUT", MAPS "/b", JSON, "{\"metadata\":{\"name\":\"b\"}}", 404,
	    "NotFound");
	snprintf(body, sizeof(body), "{\"metadata\":{\"resourceVersion\":\"%s\"}}", version);
	expect_refusal(*state, "PATCH", MAPS "/a", MERGE, body, 409, "Conflict");
	free(version);
}

static void test_no_change_keeps_version(void **state)
{
	struct answer first = ask(*state, "POST", MAPS, map_a);
	struct answer second = ask(*state, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"v\"}}");
	struct answer third = ask(*state, "PUT", MAPS "/a", map_a);

	assert_int_equal(second.status, 200);
	assert_int_equal(third.status, 200);
	assert_true(mpijob_node_equal(mpijob_doc_root(first.doc), mpijob_doc_root(second.doc)));
	assert_true(mpijob_node_equal(mpijob_doc_root(first.doc), mpijob_doc_root(third.doc)));
	answer_free(&first);
	answer_free(&second);
	answer_free(&third);
}

static void test_status_subresource(void **state)
{
	expect(*state, "POST", JOBS,
	    "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"mpiReplicaSpecs\":{},\"a\":1},\"status\":{"
	    "\"x\":1}}",
	    201);
	expect_text(*state, JOBS "/j", "status.x", NULL);
	expect_text(*state, JOBS "/j", "metadata.generation", "1");
	expect(*state, "PATCH", JOBS "/j/status", "{\"spec\":{\"a\":2},\"status\":{\"x\":2}}", 200);
	expect_text(*state, JOBS "/j", "status.x", "2");
	expect_text(*state, JOBS "/j", "spec.a", "1");
	expect_text(*state, JOBS "/j", "metadata.generation", "1");
	expect(*state, "PATCH", JOBS "/j", "{\"spec\":{\"a\":3},\"status\":{\"x\":3}}", 200);
	expect_text(*state, JOBS "/j", "status.x", "2");
	expect_text(*state, JOBS "/j", "spec.a", "3");
	expect_text(*state, JOBS "/j", "metadata.generation", "2");
	expect_refusal(*state, "PUT", JOBS "/j/status", "application/json",
	    "{\"metadata\":{\"name\":\"j\"},\"status\":{\"y\":1}}", 422, "Invalid");
	/* A uid counts for as little in a status as all else that is not status. */
	expect(*state, "PATCH", JOBS "/j/status",
	    "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"x\":null,\"y\":1}}", 200);
	expect_refusal(*state, "PATCH", JOBS "/j", "application/merge-patch+json",
	    "{\"metadata\":{\"uid\":\"u\"}}", 422, "Invalid");
	expect_text(*state, JOBS "/j", "status.x", NULL);
	expect_text(*state, JOBS "/j", "status.y", "1");
	expect_text(*state, JOBS "/j", "spec.a", "3");
	expect(*state, "PATCH", JOBS "/j", "{\"metadata\":{\"labels\":{\"l\":\"1\"}}}", 200);
	expect_text(*state, JOBS "/j", "metadata.generation", "2");
	expect(*state, "PATCH", MAPS "/a/status", "{}", 404);
}

static void test_not_done(void **state)
{
	static const char *const gets[] = { MAPS "?limit=500", MAPS "?continue=x",
		MAPS "?fieldSelector=status.phase%3DRunning", MAPS "?labelSelector=a%3E1",
		MAPS "?resourceVersion=1&resourceVersionMatch=Exact", MAPS "?surprise=1",
		PODS "/p/log?surprise=3" };

	expect(*state, "POST", MAPS, map_a, 201);
	expect(*state, "POST", PODS, pod_p, 201);
	for (size_t i = 0; i < sizeof(gets) / sizeof(gets[0]); i++)
		expect_refusal(*state, "GET", gets[i], NULL, NULL, 501, "NotImplemented");
	expect_refusal(*state, "PATCH", MAPS "/a", "application/apply-patch+yaml", "{}", 501,
	    "NotImplemented");
	expect_refusal(*state, "PATCH", MAPS "/a", "application/json-patch+json", "[]", 501,
	    "NotImplemented");
	expect_refusal(*state, "PATCH", MAPS "/a", "application/strategic-merge-patch+json", "{}",
	    501, "NotImplemented");
	expect_refusal(*state, "PATCH", MAPS "/a?dryRun=All", MERGE, "{}", 501, "NotImplemented");
	expect_refusal(*state, "POST", MAPS "?dryRun=All", JSON, map_a, 501, "NotImplemented");
	expect_refusal(*state, "DELETE", MAPS "/a?dryRun=All", NULL, NULL, 501, "NotImplemented");
	expect_refusal(*state, "DELETE", MAPS, NULL, NULL, 501, "NotImplemented");
	expect_refusal(*state, "PATCH", PODS "/p", MERGE, "{\"spec\":{\"hostname\":\"h\"}}", 501,
	    "NotImplemented");
	expect_refusal(*state, "POST", PODS "/p/exec", NULL, NULL, 501, "NotImplemented");
	expect_refusal(*state, "GET", PODS "/p/log?limitBytes=0", NULL, NULL, 422, "Invalid");
	expect_refusal(*state, "GET", MAPS "?labelSelector=%3D%3D", NULL, NULL, 400, "BadRequest");
	expect_refusal(*state, "GET", MAPS "?labelSelector=a%zz", NULL, NULL, 400, "BadRequest");
	expect_text(*state, MAPS "/a", "data.k", "v");
}

static size_t count_items(struct cluster *cluster, const char *path)
{
	struct answer answer = ask(cluster, "GET", path, NULL);
	size_t count = mpijob_node_count(mpijob_node_get(mpijob_doc_root(answer.doc), "items"));

	assert_int_equal(answer.status, 200);
	assert_string_equal(mpijob_node_string(
				mpijob_node_get(mpijob_doc_root(answer.doc), "kind")),
	    "ConfigMapList");
	answer_free(&answer);
	return count;
}

static void test_lists(void **state)
{
	static const struct {
		const char *query;
		size_t count;
	} cases[] = { { "", 3 }, { "?labelSelector=app%3Dx", 2 },
		{ "?labelSelector=app%3D%3Dx,tier", 1 }, { "?labelSelector=app!%3Dx", 1 },
		{ "?labelSelector=app+in+(x,y)", 3 }, { "?labelSelector=app%20notin%20(x)", 1 },
		{ "?labelSelector=!tier", 2 }, { "?labelSelector=none", 0 },
		{ "?fieldSelector=metadata.name%3Da", 1 }, { "?resourceVersion=0", 3 } };
	char path[128];

	expect(*state, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}", 201);
	expect(*state, "POST", "/api/v1/namespaces/other/configmaps", map_a, 201);
	expect(*state, "POST", MAPS, map_a, 201);
	expect(*state, "POST", MAPS, "{\"metadata\":{\"name\":\"c\",\"labels\":{\"app\":\"y\"}}}",
	    201);
	expect(*state, "POST", MAPS,
	    "{\"metadata\":{\"name\":\"b\",\"labels\":{\"app\":\"x\",\"tier\":\"1\"}}}", 201);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(path, sizeof(path), MAPS "%s", cases[i].query);
		assert_int_equal(count_items(*state, path), cases[i].count);
	}
	assert_int_equal(count_items(*state, "/api/v1/configmaps"), 4);
	expect_text(*state, MAPS, "items[1].metadata.name", "b");
	expect_refusal(*state, "GET", MAPS "?resourceVersion=99999", NULL, NULL, 504, "Timeout");
}

static void test_delete(void **state)
{
	expect(*state, "POST", MAPS, map_a, 201);
	expect_refusal(*state, "DELETE", MAPS "/a", JSON, "{\"preconditions\":{\"uid\":\"other\"}}",
	    409, "Conflict");
	expect_refusal(*state, "DELETE", MAPS "/a", JSON,
	    "{\"preconditions\":{\"resourceVersion\":\"1\"}}", 409, "Conflict");
	expect_refusal(*state, "DELETE", MAPS "/a", JSON, "{\"orphanDependents\":true}", 501,
	    "NotImplemented");
	expect_refusal(*state, "DELETE", MAPS "/a", JSON, "{\"propagationPolicy\":\"Sideways\"}",
	    422, "Invalid");
	expect(*state, "DELETE", MAPS "/a", NULL, 200);
	expect(*state, "GET", MAPS "/a", NULL, 404);
	expect_refusal(*state, "DELETE", MAPS "/a", NULL, NULL, 404, "NotFound");
}

static void test_finalizers(void **state)
{
	expect(*state, "POST", MAPS, "{\"metadata\":{\"name\":\"f\",\"finalizers\":[\"x/y\"]}}",
	    201);
	expect(*state, "DELETE", MAPS "/f", NULL, 200);
	expect_text(*state, MAPS "/f", "metadata.deletionGracePeriodSeconds", "0");
	expect(*state, "DELETE", MAPS "/f", NULL, 200);
	expect(*state, "PATCH", MAPS "/f", "{\"metadata\":{\"finalizers\":null}}", 200);
	expect(*state, "GET", MAPS "/f", NULL, 404);
}

static void test_pod_deletion_waits(void **state)
{
	expect(*state, "POST", PODS,
	    "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
	    "\"c\",\"image\":\"i\"}]}}",
	    201);
	expect(*state, "DELETE", PODS "/q", NULL, 200);
	expect_text(*state, PODS "/q", "metadata.deletionGracePeriodSeconds", "30");
	expect(*state, "DELETE", PODS "/q?gracePeriodSeconds=0", NULL, 200);
	expect(*state, "GET", PODS "/q", NULL, 404);
	/* One that no node has is gone at once. */
	expect(*state, "POST", PODS, pod_p, 201);
	expect_text(*state, PODS "/p", "status.phase", "Pending");
	expect(*state, "DELETE", PODS "/p", NULL, 200);
	expect(*state, "GET", PODS "/p", NULL, 404);
}

static void test_secret(void **state)
{
	expect(*state, "POST", "/api/v1/namespaces/default/secrets",
	    "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"eA==\"},\"stringData\":{\"b\":\"hi!!"
	    "\"}}",
	    201);
	expect_text(*state, "/api/v1/namespaces/default/secrets/s", "data.b", "aGkhIQ==");
	expect_text(*state, "/api/v1/namespaces/default/secrets/s", "data.a", "eA==");
	expect_text(*state, "/api/v1/namespaces/default/secrets/s", "type", "Opaque");
	expect_text(*state, "/api/v1/namespaces/default/secrets/s", "stringData.b", NULL);
}

static void test_lease_by_put(void **state)
{
	static const char path[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";

	expect(*state, "PUT", path,
	    "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"me\"}}", 201);
	expect_text(*state, path, "spec.holderIdentity", "me");
}

static void test_options(void **state)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_local *local = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	options.node_program = "/no/such/program";
	assert_int_equal(mpijob_local_new(&options, &transport, &local, diag), MPIJOB_ERR_IO);
	assert_null(local);
	assert_non_null(mpijob_diag_at(diag, 0));
	assert_non_null(strstr(mpijob_diag_at(diag, 0)->message, "/no/such/program"));
	mpijob_diag_free(diag);
	options.size = sizeof(size_t) - 1;
	assert_int_equal(mpijob_local_new(&options, &transport, &local, NULL), MPIJOB_ERR_USAGE);
	options.size = sizeof(options);
	options.names_delay_ms = -1;
	assert_int_equal(mpijob_local_new(&options, &transport, &local, NULL), MPIJOB_ERR_USAGE);
	options.names_delay_ms = 0;
	options.backoff_base_ms = -1;
	assert_int_equal(mpijob_local_new(&options, &transport, &local, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_local_new(NULL, NULL, &local, NULL), MPIJOB_ERR_USAGE);
}

static int up(void **state)
{
	return cluster_up(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, up, cluster_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_and_get),
		TEST(test_create_refusals),
		TEST(test_invalid_objects),
		TEST(test_invalid_changes),
		TEST(test_generated_name),
		TEST(test_update),
		TEST(test_no_change_keeps_version),
		TEST(test_status_subresource),
		TEST(test_not_done),
		TEST(test_lists),
		TEST(test_delete),
		TEST(test_finalizers),
		TEST(test_pod_deletion_waits),
		TEST(test_secret),
		TEST(test_lease_by_put),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests_name("local store", tests, NULL, NULL);
}

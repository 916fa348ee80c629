/* SPDX-License-Identifier: Apache-2.0 */
/* mpijob_convert() as a call: what it takes, what it refuses, what it leaves alone, and the limits
 * of the trail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/convert.h>

#define JOB(version, spec)                                               \
	"{apiVersion: kubeflow.org/" version                             \
	", kind: MPIJob, metadata: {name: j}, spec: {mpiReplicaSpecs: {" \
	"Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}}" spec "}}"

static mpijob_doc *parse(const char *text)
{
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	return doc;
}

/* Convert, and compare the code; the caller frees what comes out. */
static mpijob_doc *convert(const char *text, const char *version,
    const struct mpijob_convert_options *options, int code, mpijob_diag *diag)
{
	mpijob_doc *doc = parse(text), *copy = mpijob_doc_from_node(mpijob_doc_root(doc), NULL),
		   *out = NULL;

	assert_int_equal(mpijob_convert(mpijob_doc_root(doc), "job.yaml", version, options, &out,
			     diag),
	    code);
	assert_true(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(copy)));
	assert_true(!out == !!code);
	mpijob_doc_free(doc);
	mpijob_doc_free(copy);
	return out;
}

static void takes_both_names_of_a_version(void **state)
{
	static const char *const names[][2] = { { "v1", "kubeflow.org/v1" },
		{ "v2beta1", "kubeflow.org/v2beta1" },
		{ "TrainJob", "trainer.kubeflow.org/v1alpha1" } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		mpijob_doc *a = convert(JOB("v2beta1", ""), names[i][0], NULL, 0, NULL);
		mpijob_doc *b = convert(JOB("v2beta1", ""), names[i][1], NULL, 0, NULL);

		assert_true(mpijob_node_equal(mpijob_doc_root(a), mpijob_doc_root(b)));
		assert_string_equal(mpijob_node_string(
					mpijob_node_get(mpijob_doc_root(a), "apiVersion")),
		    names[i][1]);
		mpijob_doc_free(a);
		mpijob_doc_free(b);
	}
}

static void gives_a_copy_for_the_own_version(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = parse(JOB("v1", ", made: up, cleanPodPolicy: null"));
	mpijob_doc *same =
	    convert(JOB("v1", ", made: up, cleanPodPolicy: null"), "v1", NULL, 0, diag);

	(void)state;
	assert_true(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(same)));
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	mpijob_doc_free(doc);
	mpijob_doc_free(same);
	mpijob_diag_free(diag);
}

static void refuses(void **state)
{
	static const struct {
		const char *text;
		const char *version;
	} refused[] = {
		{ "{apiVersion: v1, kind: Pod}", "v1" },
		{ "{kind: MPIJob}", "v1" },
		{ "[]", "v1" },
		{ "{apiVersion: kubeflow.org/v1alpha3, kind: MPIJob}", "v2beta1" },
		{ "{apiVersion: kubeflow.org/v3, kind: MPIJob}", "v2beta1" },
		{ "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob}", "v2beta1" },
		{ JOB("v1", ""), "v1alpha2" },
		{ JOB("v1", ""), "" },
		{ JOB("v1", ""), "V1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();

		assert_null(convert(refused[i].text, refused[i].version, NULL,
		    MPIJOB_ERR_UNSUPPORTED, diag));
		assert_null(convert(refused[i].text, refused[i].version, NULL,
		    MPIJOB_ERR_UNSUPPORTED, NULL));
		assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 1);
		assert_string_equal(mpijob_diag_at(diag, 0)->id, "unsupported-version");
		mpijob_diag_free(diag);
	}
}

static void checks_its_parameters(void **state)
{
	mpijob_doc *doc = parse(JOB("v1", "")), *out = NULL;
	const mpijob_node *root = mpijob_doc_root(doc);
	struct mpijob_convert_options small = MPIJOB_CONVERT_OPTIONS_INIT;
	struct {
		struct mpijob_convert_options known;
		int64_t more;
	} large = { MPIJOB_CONVERT_OPTIONS_INIT, 0 };

	(void)state;
	assert_int_equal(mpijob_convert(NULL, NULL, "v1", NULL, &out, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_convert(root, NULL, NULL, NULL, &out, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_convert(root, NULL, "v1", NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	small.size = 1;
	assert_int_equal(mpijob_convert(root, NULL, "v1", &small, &out, NULL), MPIJOB_ERR_USAGE);
	large.known.size = sizeof(large);
	large.more = 1;
	assert_int_equal(mpijob_convert(root, NULL, "v1", &large.known, &out, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_null(out);
	large.more = 0;
	assert_int_equal(mpijob_convert(root, NULL, "v1", &large.known, &out, NULL), 0);
	mpijob_doc_free(out);
	mpijob_doc_free(doc);
}

static void survives_wrong_types(void **state)
{
	static const char *const texts[] = {
		"{kind: MPIJob}",
		"{kind: MPIJob, spec: 1}",
		"{kind: MPIJob, metadata: [], spec: []}",
		"{kind: MPIJob, metadata: {annotations: x}, spec: {runPolicy: [], mpiReplicaSpecs: "
		"{Launcher: {}}}}",
		"{kind: MPIJob, spec: {mainContainer: 1, cleanPodPolicy: {}, mpiReplicaSpecs: "
		"{Launcher: 1, Worker: []}}}",
		"{kind: MPIJob, spec: {runPolicy: {backoffLimit: x, managedBy: 1, "
		"schedulingPolicy: 2},"
		" mpiReplicaSpecs: {Launcher: {restartPolicy: 1, template: {spec: {containers: "
		"{}}}},"
		" Worker: {replicas: x, template: {spec: {containers: [1, {env: 2, args: 3, "
		"command: [4]}]}}}}}}",
		"{kind: MPIJob, status: {conditions: [1, {reason: 2}]}, spec: "
		"{runLauncherAsWorker: 3, mpiImplementation: [],"
		" mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{env: [1, {name: "
		"2}], command: [1], resources: {limits: []}}]}}}}}}",
	};
	static const char *const versions[] = { "kubeflow.org/v1", "kubeflow.org/v2beta1" };
	static const char *const targets[] = { "v1", "v2beta1", "TrainJob" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) * 6; i++) {
		mpijob_doc *doc = parse(texts[i / 6]), *out = NULL;
		int code;

		mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "apiVersion",
		    versions[i % 2]);
		code = mpijob_convert(mpijob_doc_root(doc), NULL, targets[i % 3], NULL, &out, NULL);
		assert_true(code == 0 || code == MPIJOB_ERR_SPEC);
		mpijob_doc_free(out);
		mpijob_doc_free(doc);
	}
}

static const char *annotation_of(const mpijob_doc *doc)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc),
	    "metadata.annotations[" MPIJOB_CONVERT_ANNOTATION "]"));
}

static void leaves_the_trail_out_on_request(void **state)
{
	struct mpijob_convert_options options = MPIJOB_CONVERT_OPTIONS_INIT;
	mpijob_doc *with = convert(JOB("v1", ""), "v2beta1", NULL, 0, NULL), *without;

	(void)state;
	options.no_annotation = 1;
	without = convert(JOB("v1", ""), "v2beta1", &options, 0, NULL);
	assert_non_null(annotation_of(with));
	assert_null(annotation_of(without));
	assert_null(mpijob_node_find(mpijob_doc_root(without), "metadata.annotations"));
	mpijob_doc_free(with);
	mpijob_doc_free(without);
}

/* The API server takes 256 KiB of annotations. */
static void keeps_no_more_than_an_object_may_hold(void **state)
{
	mpijob_doc *doc = parse(JOB("v2beta1", "")), *out = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	char *long_text = calloc(1, 300000);
	int reported = 0;

	(void)state;
	memset(long_text, 'x', 299999);
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, "spec"), "sshAuthMountPath", long_text);
	assert_int_equal(mpijob_convert(mpijob_doc_root(doc), NULL, "v1", NULL, &out, diag), 0);
	assert_null(annotation_of(out));
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		reported |= strstr(mpijob_diag_at(diag, i)->message, "do not fit into") != NULL;
	assert_true(reported);
	free(long_text);
	mpijob_diag_free(diag);
	mpijob_doc_free(out);
	mpijob_doc_free(doc);
}

static void findings_stand_where_the_field_does(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *out = convert("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  "
				  "launcherCreationPolicy: WaitForWorkersReady\n",
	    "v1", NULL, 0, diag);
	const struct mpijob_finding *finding = mpijob_diag_at(diag, 0);

	(void)state;
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_string_equal(finding->id, "conversion-loss");
	assert_int_equal(finding->severity, MPIJOB_SEVERITY_WARNING);
	assert_string_equal(finding->field, "spec.launcherCreationPolicy");
	assert_string_equal(finding->source, "job.yaml");
	assert_int_equal(finding->line, 4);
	assert_int_equal(finding->column, 27);
	mpijob_doc_free(out);
	mpijob_diag_free(diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_both_names_of_a_version),
		cmocka_unit_test(gives_a_copy_for_the_own_version),
		cmocka_unit_test(refuses),
		cmocka_unit_test(checks_its_parameters),
		cmocka_unit_test(survives_wrong_types),
		cmocka_unit_test(leaves_the_trail_out_on_request),
		cmocka_unit_test(keeps_no_more_than_an_object_may_hold),
		cmocka_unit_test(findings_stand_where_the_field_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

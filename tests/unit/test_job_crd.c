/* SPDX-License-Identifier: Apache-2.0 */
/* The CRD: its frame, samples of what the tables say, sentences only when asked for.
 * tests/manifests compares the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/mpijob.h>

#define SPEC "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties"

static const char *text_at(const mpijob_doc *doc, const char *path)
{
	return mpijob_node_text(mpijob_node_find(mpijob_doc_root(doc), path));
}

static mpijob_doc *made(int32_t descriptions)
{
	struct mpijob_crd_options options = MPIJOB_CRD_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	options.descriptions = descriptions;
	assert_int_equal(mpijob_crd_new(&options, &doc), 0);
	assert_non_null(doc);
	return doc;
}

static void slim(void **state)
{
	mpijob_doc *doc = made(0), *same = NULL;

	(void)state;
	assert_string_equal(text_at(doc, "metadata.name"), "mpijobs.kubeflow.org");
	assert_string_equal(text_at(doc, "spec.names.listKind"), "MPIJobList");
	assert_string_equal(text_at(doc, SPEC ".slotsPerWorker.default"), "1");
	assert_string_equal(text_at(doc, SPEC ".runPolicy.properties.activeDeadlineSeconds.format"),
	    "int64");
	assert_string_equal(text_at(doc, SPEC ".mpiImplementation.enum[2]"), "MPICH");
	/* v0.8.2 does not check it */
	assert_null(text_at(doc, SPEC ".launcherCreationPolicy.enum[0]"));
	assert_null(text_at(doc, SPEC ".runPolicy.description"));
	assert_non_null(
	    mpijob_node_find(mpijob_doc_root(doc), "spec.versions[0].subresources.status"));
	assert_int_equal(mpijob_crd_new(NULL, &same), 0);
	assert_true(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(same)));
	mpijob_doc_free(same);
	mpijob_doc_free(doc);
}

static void full(void **state)
{
	mpijob_doc *doc = made(1);

	(void)state;
	assert_string_equal(text_at(doc, SPEC ".slotsPerWorker.description"),
	    mpijob_field_find("spec.slotsPerWorker")->summary);
	/* Roles share a schema. */
	assert_string_equal(
	    text_at(doc,
		SPEC ".mpiReplicaSpecs.additionalProperties.properties.replicas.description"),
	    "Launcher: The number of launchers, which is 1. Worker: The number of workers.");
	mpijob_doc_free(doc);
}

static void refusals(void **state)
{
	struct {
		struct mpijob_crd_options known;
		int32_t more[4];
	} longer = { .known = { sizeof(longer), 0 }, .more = { 1, 1, 1, 1 } };
	struct mpijob_crd_options none = { 0, 0, 0 };
	mpijob_doc *doc = NULL;

	(void)state;
	assert_int_equal(mpijob_crd_new(NULL, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_crd_new(&none, &doc), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_crd_new(&longer.known, &doc), MPIJOB_ERR_UNSUPPORTED);
	assert_null(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slim),
		cmocka_unit_test(full),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Findings and field paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/diag.h"
#include "base/field_path.h"

static const char *printed(mpijob_text *text, const struct mpijob_finding *finding)
{
	mpijob_text_clear(text);
	assert_int_equal(mpijob_finding_write(finding, mpijob_text_write, text), 0);
	return mpijob_text_data(text);
}

static void adds_copies(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char message[] = "hello";

	(void)state;
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.id = "an-id";
	finding.message = message;
	finding.line = 3;
	assert_int_equal(mpijob_diag_add(diag, &finding), 0);
	message[0] = 'j';
	assert_string_equal(mpijob_diag_at(diag, 0)->message, "hello");
	assert_int_equal(mpijob_diag_at(diag, 0)->size, sizeof(finding));
	assert_null(mpijob_diag_at(diag, 0)->field);
	assert_null(mpijob_diag_at(diag, 1));
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_WARNING), 1);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 0);
	assert_int_equal(mpijob_diag_count(diag, 17), 0);
	finding.id = NULL;
	assert_int_equal(mpijob_diag_add(diag, &finding), MPIJOB_ERR_USAGE);
	finding.id = "x";
	finding.severity = 4;
	assert_int_equal(mpijob_diag_add(diag, &finding), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_diag_add(NULL, &finding), 0);
	mpijob_diag_clear(diag);
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_WARNING), 0);
	mpijob_diag_free(diag);
	mpijob_diag_free(NULL);
	assert_int_equal(mpijob_diag_count(NULL, 0), 0);
	assert_int_equal(mpijob_diag_dropped(NULL), 0);
	assert_null(mpijob_diag_at(NULL, 0));
}

static void limit(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	mpijob_diag_set_limit(diag, 3);
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "n", NULL,
				     NULL, NULL, "%d", i),
		    0);
	assert_non_null(mpijob_diag_at(diag, 2));
	assert_null(mpijob_diag_at(diag, 3));
	assert_int_equal(mpijob_diag_dropped(diag), 7);
	assert_int_equal(mpijob_diag_count(diag, 0), 10);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 10);
	mpijob_diag_set_limit(diag, 0);
	for (int i = 0; i < 2000; i++)
		(void)mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_INFO, "n", NULL, NULL, NULL,
		    "%d", i);
	assert_null(mpijob_diag_at(diag, 1000));
	assert_int_equal(mpijob_diag_count(diag, 0), 2010);
	assert_string_equal(mpijob_diag_at(diag, 999)->message, "996");
	mpijob_diag_free(diag);
}

static void prints(void **state)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	mpijob_text *text = mpijob_text_new();

	(void)state;
	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.id = "unsupported-value";
	finding.message = "unsupported value 'Sometimes'";
	assert_string_equal(printed(text, &finding), "unsupported value 'Sometimes'");
	finding.field = "spec.runPolicy.cleanPodPolicy";
	assert_string_equal(printed(text, &finding),
	    "spec.runPolicy.cleanPodPolicy: unsupported value 'Sometimes'");
	finding.source = "job.yaml";
	assert_string_equal(printed(text, &finding),
	    "job.yaml: spec.runPolicy.cleanPodPolicy: unsupported value 'Sometimes'");
	finding.line = 8;
	finding.column = 21;
	assert_string_equal(printed(text, &finding),
	    "job.yaml:8:21: spec.runPolicy.cleanPodPolicy: unsupported value 'Sometimes'");
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.field = NULL;
	finding.source = NULL;
	assert_string_equal(printed(text, &finding),
	    "8:21: warning: unsupported value 'Sometimes'");
	finding.line = 0;
	finding.message = "a\x1b[31m\n\x7f\xc2\x9b"
			  "b\xc3\xa9";
	assert_string_equal(printed(text, &finding),
	    "warning: a\\x1b[31m\\x0a\\x7f\\u009bb\xc3\xa9");
	assert_int_equal(mpijob_finding_write(NULL, mpijob_text_write, text), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

static int fails_at(void *user, const char *data, size_t len)
{
	int *left = user;

	(void)data;
	(void)len;
	return (*left)-- > 0 ? 0 : MPIJOB_ERR_IO;
}

static void sink_failures(void **state)
{
	struct mpijob_finding finding = { sizeof(finding), MPIJOB_SEVERITY_WARNING, 1, 2, "i", NULL,
		"f\n", "m\x01m", "s" };
	int calls = 0, left = 1000;

	(void)state;
	assert_int_equal(mpijob_finding_write(&finding, fails_at, &left), 0);
	calls = 1000 - left;
	assert_true(calls > 5);
	for (int i = 0; i < calls; i++) {
		left = i;
		assert_int_equal(mpijob_finding_write(&finding, fails_at, &left), MPIJOB_ERR_IO);
		assert_int_equal(left, -1);
	}
}

static void long_messages(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	struct mpijob__core_place place = { "s", 1, 2 };
	char *huge = malloc(100001);

	(void)state;
	memset(huge, 'x', 100000);
	huge[100000] = 0;
	assert_int_equal(mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "i", "Invalid", huge,
			     &place, "<%s>", huge),
	    0);
	assert_int_equal(strlen(mpijob_diag_at(diag, 0)->message), 100002);
	assert_string_equal(mpijob_diag_at(diag, 0)->field, huge);
	assert_int_equal(mpijob_diag_at(diag, 0)->column, 2);
	assert_int_equal(mpijob__core_diag_addf(NULL, MPIJOB_SEVERITY_ERROR, "i", NULL, NULL, NULL,
			     "x"),
	    0);
	free(huge);
	mpijob_diag_free(diag);
}

static void paths_are_made(void **state)
{
	struct mpijob_text path = { 0 };
	size_t mark;

	(void)state;
	assert_int_equal(mpijob__base_field_path_key(&path, "spec"), 0);
	assert_int_equal(mpijob__base_field_path_key(&path, "mpiReplicaSpecs"), 0);
	mark = path.len;
	assert_int_equal(mpijob__base_field_path_entry(&path, "Worker"), 0);
	assert_int_equal(mpijob__base_field_path_index(&path, 12), 0);
	assert_int_equal(mpijob__base_field_path_key(&path, "a.b/c"), 0);
	assert_int_equal(mpijob__base_field_path_key(&path, ""), 0);
	assert_string_equal(path.data, "spec.mpiReplicaSpecs[Worker][12][a.b/c][]");
	mpijob__base_field_path_cut(&path, mark);
	assert_string_equal(path.data, "spec.mpiReplicaSpecs");
	mpijob__base_text_release(&path);
}

/* Steps as "name" or "[bracket]", or ERR. */
static void expect_steps(const char *path, const char *expected)
{
	struct mpijob_text steps = { 0 };
	struct mpijob__base_field_step step;
	int rc;

	while ((rc = mpijob__base_field_path_next(&path, &step)) > 0)
		(void)mpijob__base_text_printf(&steps, step.bracket ? "<[%.*s]>" : "<%.*s>",
		    (int)step.len, step.text);
	if (rc < 0)
		(void)mpijob__base_text_puts(&steps, "ERR");
	assert_string_equal(mpijob_text_data(&steps), expected);
	mpijob__base_text_release(&steps);
}

static void paths_are_read(void **state)
{
	(void)state;
	expect_steps("", "");
	expect_steps("a", "<a>");
	expect_steps("a.b[0].c", "<a><b><[0]><c>");
	expect_steps("[0][1]", "<[0]><[1]>");
	expect_steps("metadata.labels[app.kubernetes.io/name]",
	    "<metadata><labels><[app.kubernetes.io/name]>");
	expect_steps("a[x]y].b", "<a><[x]y]><b>");
	expect_steps("a[]", "<a><[]>");
	expect_steps(".a", "ERR");
	expect_steps("a.", "ERR");
	expect_steps("a..b", "ERR");
	expect_steps("a.[0]", "ERR");
	expect_steps("a[0", "<a>ERR");
	expect_steps("a[0]b", "<a>ERR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_copies),
		cmocka_unit_test(limit),
		cmocka_unit_test(prints),
		cmocka_unit_test(sink_failures),
		cmocka_unit_test(long_messages),
		cmocka_unit_test(paths_are_made),
		cmocka_unit_test(paths_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

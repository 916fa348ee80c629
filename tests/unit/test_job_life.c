/* SPDX-License-Identifier: Apache-2.0 */
/* What is a job and what is not, whose the parts are, and that every call says no where its header
 * says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/job.h>

#include "job/quote.h"

static const char pi[] = "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: pi\n";

static mpijob *parse(const char *text)
{
	mpijob *job = NULL;

	assert_int_equal(mpijob_parse(text, strlen(text), NULL, &job, NULL), 0);
	return job;
}

static void parse_refuses(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{ "", MPIJOB_ERR_SYNTAX },
		{ "a: [", MPIJOB_ERR_SYNTAX },
		{ "a: 1\n---\nb: 2\n", MPIJOB_ERR_SYNTAX },
		{ "5", MPIJOB_ERR_UNSUPPORTED },
		{ "null", MPIJOB_ERR_UNSUPPORTED },
		{ "{}", MPIJOB_ERR_UNSUPPORTED },
		{ "apiVersion: [x]\nkind: MPIJob", MPIJOB_ERR_UNSUPPORTED },
		{ "apiVersion: kubeflow.org/v2beta1\nkind: 5", MPIJOB_ERR_UNSUPPORTED },
		{ "apiVersion: kubeflow.org/v1\nkind: MPIJob", MPIJOB_ERR_UNSUPPORTED },
		{ "apiVersion: v1\nkind: List", MPIJOB_ERR_UNSUPPORTED },
	};
	struct mpijob_parse_options bad = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob *job = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();

		assert_int_equal(mpijob_parse(cases[i].text, strlen(cases[i].text), NULL, &job,
				     diag),
		    cases[i].code);
		assert_null(job);
		assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 1);
		mpijob_diag_free(diag);
		assert_int_equal(mpijob_parse(cases[i].text, strlen(cases[i].text), NULL, &job,
				     NULL),
		    cases[i].code);
	}
	bad.size = 1;
	assert_int_equal(mpijob_parse(pi, strlen(pi), &bad, &job, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_parse(NULL, 3, NULL, &job, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_parse(pi, strlen(pi), NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	mpijob_free(NULL);
}

static int is_job(const char *text)
{
	mpijob_doc *doc = NULL;
	int answer;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	answer = mpijob_is_job(mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	return answer;
}

static void is_job_of_any_version(void **state)
{
	(void)state;
	assert_int_equal(mpijob_is_job(NULL), 0);
	assert_int_equal(is_job(pi), 1);
	assert_int_equal(is_job("apiVersion: kubeflow.org/v1\nkind: MPIJob"), 1);
	assert_int_equal(is_job("apiVersion: kubeflow.org.evil/v1\nkind: MPIJob"), 0);
	assert_int_equal(is_job("apiVersion: kubeflow.org/v1\nkind: TFJob"), 0);
	assert_int_equal(is_job("kind: MPIJob"), 0);
	assert_int_equal(is_job("[]"), 0);
}

static const char *message_of(const mpijob_doc *doc, const char *type, const char *status)
{
	const mpijob_node *found = mpijob_condition_find(mpijob_doc_root(doc), type, status);

	return mpijob_node_string(mpijob_node_get(found, "message"));
}

static void conditions(void **state)
{
	static const char text[] =
	    "status:\n  conditions:\n  - {type: Running, status: 'False', message: a}\n"
	    "  - {type: 7, status: 'True', message: b}\n  - 8\n  - {type: Running, message: c}\n"
	    "  - {type: Running, status: 'True', message: d}\n";
	mpijob_doc *doc = NULL;

	(void)state;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	assert_string_equal(message_of(doc, "Running", "True"), "d");
	assert_string_equal(message_of(doc, "Running", "False"), "a");
	assert_string_equal(message_of(doc, "Running", NULL), "a");
	assert_null(message_of(doc, "Running", "Unknown"));
	assert_null(message_of(doc, "7", NULL));
	assert_null(message_of(doc, NULL, "True"));
	assert_null(message_of(NULL, "Running", NULL));
	mpijob_doc_free(doc);
}

/* One document of several: its findings have the place in the whole file, and the name that was
 * given. */
static void from_a_node(void **state)
{
	static const char file[] = "a: 1\n---\napiVersion: kubeflow.org/v2beta1\nkind: "
				   "MPIJob\nspec:\n  slotsPerWorker: x\n";
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_docs *docs = NULL;
	const struct mpijob_spec *spec;
	mpijob *job = NULL, *copy;
	char *source = strdup("jobs.yaml");

	(void)state;
	assert_int_equal(mpijob_docs_parse(file, strlen(file), NULL, &docs, NULL), 0);
	assert_int_equal(mpijob_from_node(mpijob_doc_root(mpijob_docs_at(docs, 0)), source, &job,
			     diag),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_string_equal(mpijob_diag_at(diag, 0)->source, "jobs.yaml");
	mpijob_diag_clear(diag);
	assert_int_equal(mpijob_from_node(mpijob_doc_root(mpijob_docs_at(docs, 1)), source, &job,
			     diag),
	    0);
	mpijob_docs_free(docs);
	free(source);
	copy = mpijob_clone(job);
	mpijob_free(job);
	assert_int_equal(mpijob_spec_get(copy, &spec, diag), MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(diag, 0)->source, "jobs.yaml");
	assert_int_equal(mpijob_diag_at(diag, 0)->line, 6);
	assert_int_equal(mpijob_from_node(NULL, NULL, &job, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_from_node(mpijob_doc_root(mpijob_document(copy)), NULL, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	mpijob_free(copy);
	mpijob_diag_free(diag);
}

static void identity(void **state)
{
	mpijob *job = parse("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\n");

	(void)state;
	assert_null(mpijob_name(job));
	assert_null(mpijob_namespace(job));
	assert_null(mpijob_uid(job));
	assert_int_equal(mpijob_identify(job, NULL, NULL, NULL), 0);
	assert_null(mpijob_node_get(mpijob_doc_root(mpijob_document(job)), "metadata"));
	assert_int_equal(mpijob_identify(job, "pi", NULL, "u-1"), 0);
	assert_string_equal(mpijob_name(job), "pi");
	assert_null(mpijob_namespace(job));
	assert_string_equal(mpijob_uid(job), "u-1");
	/* What is borrowed from the job may be given to it. */
	assert_int_equal(mpijob_identify(job, mpijob_uid(job), "lab", NULL), 0);
	assert_string_equal(mpijob_name(job), "u-1");
	assert_string_equal(mpijob_namespace(job), "lab");
	assert_int_equal(mpijob_identify(NULL, "x", NULL, NULL), MPIJOB_ERR_USAGE);
	mpijob_free(job);
	job = parse("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: 5, "
		    "namespace: null}\n");
	assert_null(mpijob_name(job));
	assert_null(mpijob_namespace(job));
	mpijob_free(job);
	job = parse("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: [pi]\n");
	assert_int_equal(mpijob_identify(job, "pi", NULL, NULL), MPIJOB_ERR_USAGE);
	assert_null(mpijob_name(job));
	mpijob_free(job);
}

static void options_are_checked(void **state)
{
	struct {
		struct mpijob_default_options known;
		int64_t future;
	} newer_default = { MPIJOB_DEFAULT_OPTIONS_INIT, 1 };
	struct {
		struct mpijob_validate_options known;
		int64_t future;
	} newer_validate = { MPIJOB_VALIDATE_OPTIONS_INIT, 1 };
	mpijob *job = parse(pi);
	size_t *oldest = malloc(sizeof(*oldest));

	(void)state;
	newer_default.known.size = sizeof(newer_default);
	newer_validate.known.size = sizeof(newer_validate);
	assert_int_equal(mpijob_default(job, &newer_default.known, NULL), MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(mpijob_validate(job, &newer_validate.known, NULL), MPIJOB_ERR_UNSUPPORTED);
	newer_default.known.size = newer_validate.known.size = 1;
	assert_int_equal(mpijob_default(job, &newer_default.known, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_validate(job, &newer_validate.known, NULL), MPIJOB_ERR_USAGE);
	*oldest = sizeof(*oldest);
	assert_int_equal(mpijob_default(job,
			     (const struct mpijob_default_options *)(const void *)oldest, NULL),
	    0);
	assert_int_equal(mpijob_validate(job,
			     (const struct mpijob_validate_options *)(const void *)oldest, NULL),
	    MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_default(NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_validate(NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	free(oldest);
	mpijob_free(job);
}

/* The result does not depend on whether there is a diag, on its limit, or on what it holds. */
static void the_result_needs_no_diag(void **state)
{
	mpijob *job = parse(pi);
	mpijob_diag *diag = mpijob_diag_new();
	size_t all;

	(void)state;
	assert_int_equal(mpijob_validate(job, NULL, diag), MPIJOB_ERR_SPEC);
	all = mpijob_diag_count(diag, 0);
	assert_true(all > 1);
	mpijob_diag_clear(diag);
	mpijob_diag_set_limit(diag, 1);
	assert_int_equal(mpijob_validate(job, NULL, diag), MPIJOB_ERR_SPEC);
	assert_non_null(mpijob_diag_at(diag, 0));
	assert_null(mpijob_diag_at(diag, 1));
	assert_int_equal(mpijob_diag_count(diag, 0), all);
	assert_int_equal(mpijob_diag_dropped(diag), all - 1);
	mpijob_free(job);
	job = parse("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi}\nspec: "
		    "{runLauncherAsWorker: "
		    "true, "
		    "mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: m, image: "
		    "i}]}}}}}");
	assert_int_equal(mpijob_default(job, NULL, diag), 0);
	assert_int_equal(mpijob_validate(job, NULL, diag), 0);
	mpijob_free(job);
	mpijob_diag_free(diag);
}

static void a_second_default_changes_nothing(void **state)
{
	mpijob *job = parse(pi);
	const mpijob_doc *doc;

	(void)state;
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	doc = mpijob_document(job);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	assert_ptr_equal(mpijob_document(job), doc);
	mpijob_free(job);
}

static void assert_quoted(int (*quote)(struct mpijob_text *, const char *), const char *text,
    const char *expected)
{
	mpijob_text *out = mpijob_text_new();

	assert_int_equal(quote(out, text), 0);
	assert_string_equal(mpijob_text_data(out), expected);
	mpijob_text_free(out);
}

static void quotes_as_go_does(void **state)
{
	(void)state;
	assert_quoted(mpijob__job_quote_go, "", "\"\"");
	assert_quoted(mpijob__job_quote_go, "a'b\"c\\d<&>", "\"a'b\\\"c\\\\d<&>\"");
	assert_quoted(mpijob__job_quote_go, "\a\b\f\n\r\t\v\x01\x7f",
	    "\"\\a\\b\\f\\n\\r\\t\\v\\x01\\x7f\"");
	assert_quoted(mpijob__job_quote_go, "\xc3\xa9\xe2\x80\x8b\xc2\xa0\xf3\xa0\x80\x81",
	    "\"\xc3\xa9\\u200b\\u00a0\\U000e0001\"");
	assert_quoted(mpijob__job_quote_json, "a'b\"c\\d<&>",
	    "\"a'b\\\"c\\\\d\\u003c\\u0026\\u003e\"");
	assert_quoted(mpijob__job_quote_json, "\b\f\n\r\t\v\x01\x7f",
	    "\"\\b\\f\\n\\r\\t\\u000b\\u0001\x7f\"");
	assert_quoted(mpijob__job_quote_json, "\xe2\x80\xa8\xc3\xa9", "\"\\u2028\xc3\xa9\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_refuses),
		cmocka_unit_test(is_job_of_any_version),
		cmocka_unit_test(conditions),
		cmocka_unit_test(from_a_node),
		cmocka_unit_test(identity),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(the_result_needs_no_diag),
		cmocka_unit_test(a_second_default_changes_nothing),
		cmocka_unit_test(quotes_as_go_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case folders tests/cases/render: job.yaml, with options.json if there is one, is rendered,
 * and all children are compared with expected.yaml, findings with findings.txt. UPDATE_CASES=1
 * shows the differences and writes the files. Whatever is streamed must also be what each child
 * gives alone, in every format.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <mpijob/render.h>

#include "../support/render_options.h"

__attribute__((format(printf, 1, 2))) static char *format(const char *pattern, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, pattern);
	assert_true(vasprintf(&text, pattern, args) >= 0);
	va_end(args);
	return text;
}

/* NULL when there is no such file. */
static char *read_file(const char *folder, const char *name)
{
	char *path = format("%s/%s", folder, name), *text = NULL;
	FILE *file = fopen(path, "rb");
	size_t size = 0;

	free(path);
	if (!file)
		return NULL;
	while (!feof(file)) {
		text = realloc(text, size + 65536);
		assert_non_null(text);
		size += fread(text + size, 1, 65535, file);
	}
	text[size] = '\0';
	fclose(file);
	return text;
}

/* 1 when the file differs from what came out; UPDATE_CASES=1 mends the file. An empty text stands
 * for no file. */
static int compare(const char *folder, const char *name, const char *got)
{
	char *expected = read_file(folder, name), *path = format("%s/%s", folder, name);
	int differs = strcmp(expected ? expected : "", got) != 0;

	if (differs)
		print_message("%s\n--- expected\n%s+++ got\n%s", path,
		    expected ? expected : "(no file)\n", got);
	if (differs && getenv("UPDATE_CASES")) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		assert_int_equal(fputs(got, file) < 0, 0);
		assert_int_equal(fclose(file), 0);
		if (got[0] == '\0')
			unlink(path);
		differs = 0;
	}
	free(expected);
	free(path);
	return differs;
}

static void put_findings(mpijob_text *out, const mpijob_diag *diag)
{
	static const char *const severities[] = { "", "error", "warning", "info" };

	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		char *start = format("%s %s: ", severities[finding->severity], finding->id);

		mpijob_text_write(out, start, strlen(start));
		free(start);
		assert_int_equal(mpijob_finding_write(finding, mpijob_text_write, out), 0);
		mpijob_text_write(out, "\n", 1);
	}
}

/* The stream holds the same children as at() and write_at() give one by one. */
static void check_stream(const mpijob_objects *objects, int32_t style)
{
	mpijob_text *stream = mpijob_text_new(), *one = mpijob_text_new();
	mpijob_docs *docs = NULL, *list = NULL;
	size_t count = mpijob_objects_count(objects);

	assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL, style, 0,
			     mpijob_text_write, stream),
	    0);
	assert_int_equal(mpijob_docs_parse(mpijob_text_data(stream), mpijob_text_len(stream), NULL,
			     &docs, NULL),
	    0);
	if (style == MPIJOB_FORMAT_YAML) {
		assert_true(count == 0 || mpijob_docs_at(docs, count - 1));
		assert_null(mpijob_docs_at(docs, count));
	} else {
		const mpijob_node *root = mpijob_doc_root(mpijob_docs_at(docs, 0));

		assert_null(mpijob_docs_at(docs, 1));
		assert_string_equal(mpijob_node_string(mpijob_node_get(root, "kind")), "List");
		assert_int_equal(mpijob_node_count(mpijob_node_get(root, "items")), count);
	}
	for (size_t i = 0; i < count; i++) {
		const mpijob_node *streamed =
		    style == MPIJOB_FORMAT_YAML
			? mpijob_doc_root(mpijob_docs_at(docs, i))
			: mpijob_node_at(mpijob_node_get(mpijob_doc_root(mpijob_docs_at(docs, 0)),
					     "items"),
			      i);
		mpijob_doc *doc = NULL;

		assert_int_equal(mpijob_objects_at(objects, i, &doc), 0);
		assert_true(mpijob_node_equal(streamed, mpijob_doc_root(doc)));
		mpijob_text_clear(one);
		assert_int_equal(mpijob_objects_write(objects, i, style, 0, mpijob_text_write, one),
		    0);
		assert_int_equal(mpijob_docs_parse(mpijob_text_data(one), mpijob_text_len(one),
				     NULL, &list, NULL),
		    0);
		assert_true(mpijob_node_equal(mpijob_doc_root(mpijob_docs_at(list, 0)),
		    mpijob_doc_root(doc)));
		mpijob_docs_free(list);
		mpijob_doc_free(doc);
	}
	mpijob_docs_free(docs);
	mpijob_text_free(stream);
	mpijob_text_free(one);
}

static int run_case(const char *folder)
{
	struct mpijob_parse_options parse = MPIJOB_PARSE_OPTIONS_INIT;
	struct mpijob_default_options defaults = MPIJOB_DEFAULT_OPTIONS_INIT;
	char *job_text = read_file(folder, "job.yaml"),
	     *options_text = read_file(folder, "options.json");
	mpijob_text *out = mpijob_text_new(), *findings = mpijob_text_new();
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_objects *objects = NULL;
	mpijob_doc *options = NULL;
	struct read_options read;
	mpijob *job = NULL;
	int code, failures;

	if (!job_text)
		fail_msg("%s: no job.yaml", folder);
	parse.source = "job.yaml";
	assert_int_equal(mpijob_parse(job_text, strlen(job_text), &parse, &job, NULL), 0);
	if (options_text)
		assert_int_equal(mpijob_doc_parse(options_text, strlen(options_text), NULL,
				     &options, NULL),
		    0);
	read_options(options ? mpijob_doc_root(options) : NULL, &read);
	defaults.reference = read.options.reference;
	assert_int_equal(mpijob_default(job, &defaults, NULL), 0);
	code = mpijob_render(job, &read.options, &objects, diag);
	put_findings(findings, diag);
	if (code == 0) {
		assert_int_equal(mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL,
				     MPIJOB_FORMAT_YAML, 0, mpijob_text_write, out),
		    0);
		check_stream(objects, MPIJOB_FORMAT_YAML);
		check_stream(objects, MPIJOB_FORMAT_JSON);
		check_stream(objects, MPIJOB_FORMAT_JSON_COMPACT);
	} else {
		mpijob_text_write(out, mpijob_error_name(code), strlen(mpijob_error_name(code)));
		mpijob_text_write(out, "\n", 1);
	}
	failures = compare(folder, "expected.yaml", mpijob_text_data(out));
	failures += compare(folder, "findings.txt", mpijob_text_data(findings));
	free_options(&read);
	mpijob_doc_free(options);
	mpijob_objects_free(objects);
	mpijob_free(job);
	mpijob_diag_free(diag);
	mpijob_text_free(out);
	mpijob_text_free(findings);
	free(job_text);
	free(options_text);
	return failures;
}

static void render_cases(void **state)
{
	char *folder = format("%s/tests/cases/render", MPIJOB_TEST_SOURCE);
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int cases = 0, failures = 0;

	(void)state;
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		char *path;

		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		path = format("%s/%s", folder, entry->d_name);
		cases++;
		failures += run_case(path);
		free(path);
	}
	closedir(directory);
	free(folder);
	print_message("render: %d cases\n", cases);
	assert_true(cases > 20);
	assert_int_equal(failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(render_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

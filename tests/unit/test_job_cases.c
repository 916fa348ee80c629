/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case folders of this room: tests/cases/validate and tests/cases/default (see
 * tests/cases/README.md). Each job is defaulted and judged twice, as this library does and as
 * mpi-operator v0.8.2 does; what comes out is compared with the files beside it. UPDATE_CASES=1
 * shows the differences and writes the files.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/job.h>

static char *format(const char *pattern, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, pattern);
	assert_true(vasprintf(&text, pattern, args) >= 0);
	va_end(args);
	return text;
}

/* NULL when there is no such file. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text;
	long size;

	if (!file)
		return NULL;
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	rewind(file);
	text = malloc((size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
	text[size] = '\0';
	fclose(file);
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

static void put_line(mpijob_text *out, const char *text)
{
	mpijob_text_write(out, text, strlen(text));
}

static void put_findings(mpijob_text *out, const mpijob_diag *diag)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);

		put_line(out, finding->id);
		put_line(out, " ");
		put_line(out, finding->reason ? finding->reason : "-");
		put_line(out, ": ");
		assert_int_equal(mpijob_finding_write(finding, mpijob_text_write, out), 0);
		put_line(out, "\n");
	}
}

static int starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static mpijob_text *run_validate(const char *name, const char *yaml, int reference)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	struct mpijob_default_options defaults = { sizeof(defaults), reference, 0 };
	struct mpijob_validate_options checks = { sizeof(checks), reference,
		starts_with(name, "strict-") };
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *out = mpijob_text_new();
	mpijob *job = NULL;
	int code;

	options.source = "job.yaml";
	code = mpijob_parse(yaml, strlen(yaml), &options, &job, diag);
	/* Cases "raw-..." are judged as they are. An object that is none stops the defaults, not
	 * the checks. */
	if (!code && !starts_with(name, "raw-"))
		mpijob_default(job, &defaults, NULL);
	if (!code)
		code = mpijob_validate(job, &checks, diag);
	put_findings(out, diag);
	put_line(out, mpijob_error_name(code));
	put_line(out, "\n");
	mpijob_free(job);
	mpijob_diag_free(diag);
	return out;
}

static mpijob_text *run_default(const char *name, const char *yaml, int reference)
{
	struct mpijob_default_options defaults = { sizeof(defaults), reference, 0 };
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *out = mpijob_text_new();
	mpijob *job = NULL;
	int code;

	(void)name;
	assert_int_equal(mpijob_parse(yaml, strlen(yaml), NULL, &job, diag), 0);
	code = mpijob_default(job, &defaults, diag);
	put_findings(out, diag);
	if (code) {
		put_line(out, mpijob_error_name(code));
		put_line(out, "\n");
	} else {
		const mpijob_node *root = mpijob_doc_root(mpijob_document(job));

		assert_int_equal(mpijob_node_write(root, MPIJOB_FORMAT_YAML, mpijob_text_write,
				     out),
		    0);
	}
	mpijob_free(job);
	mpijob_diag_free(diag);
	return out;
}

/* 1 when the file differs from what came out; UPDATE_CASES=1 mends the file. */
static int compare(const char *path, const char *got)
{
	char *expected = read_file(path);
	int differs = !expected || strcmp(expected, got) != 0;

	if (differs)
		print_message("%s\n--- expected\n%s+++ got\n%s", path,
		    expected ? expected : "(no file)\n", got);
	if (differs && getenv("UPDATE_CASES")) {
		write_file(path, got);
		differs = 0;
	}
	free(expected);
	return differs;
}

static int run_case(const char *kind, const char *name)
{
	static const char *const validate_files[] = { "findings.txt", "reference.txt" };
	static const char *const default_files[] = { "default.yaml", "reference.yaml" };
	int is_validate = strcmp(kind, "validate") == 0;
	char *folder = format("%s/tests/cases/%s/%s", MPIJOB_TEST_SOURCE, kind, name);
	char *job = format("%s/job.yaml", folder);
	char *yaml = read_file(job);
	int failures = 0;

	if (!yaml)
		fail_msg("%s is missing", job);
	for (int reference = 0; reference <= 1; reference++) {
		char *path = format("%s/%s", folder,
		    (is_validate ? validate_files : default_files)[reference]);
		mpijob_text *got =
		    (is_validate ? run_validate : run_default)(name, yaml, reference);

		failures += compare(path, mpijob_text_data(got));
		mpijob_text_free(got);
		free(path);
	}
	free(yaml);
	free(job);
	free(folder);
	return failures;
}

static void run_kind(const char *kind)
{
	char *folder = format("%s/tests/cases/%s", MPIJOB_TEST_SOURCE, kind);
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int cases = 0, failures = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		cases++;
		failures += run_case(kind, entry->d_name);
	}
	closedir(directory);
	free(folder);
	print_message("%s: %d cases\n", kind, cases);
	assert_true(cases > 0);
	assert_int_equal(failures, 0);
}

static void validate_cases(void **state)
{
	(void)state;
	run_kind("validate");
}

static void default_cases(void **state)
{
	(void)state;
	run_kind("default");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(validate_cases),
		cmocka_unit_test(default_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

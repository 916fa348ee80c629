/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/findings.md is what the findings.inc of all directories say; UPDATE_CASES=1 writes it. Each
 * kind is complete, and libmpijob has those that its case directories expect. Severities that
 * mpijob_diag_set_severity() sets are applied.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/mpijob.h>

#include "../support/printed_page.h"
#include "base/text.h"

static const char head[] =
    "# Findings\n"
    "\n"
    "This page lists all findings of libmpijob and its programs by identifier. Warnings and notes "
    "can be\n"
    "silenced (`mpijob validate --silence ID`) or turned into errors (`--error ID`); in a program, "
    "use\n"
    "`mpijob_diag_set_severity()`. The severity of an error cannot be changed. This page is "
    "printed from\n"
    "`findings.inc` of each directory: change it there.\n";

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING
#define INFO    MPIJOB_SEVERITY_INFO
#define KIND(id, severity, summary, advice, example)   \
	{                                              \
		id, severity, summary, advice, example \
	}

static struct finding_kind {
	const char *id;
	int32_t severity;
	const char *summary;
	const char *advice;
	const char *example;
} kinds[] = {
#include "../../programs/mpijob/finding_kinds.inc"
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int by_id(const void *left, const void *right)
{
	const struct finding_kind *a = left, *b = right;

	return strcmp(a->id, b->id);
}

static const struct {
	int32_t severity;
	const char *title;
} parts[] = {
	{ MPIJOB_SEVERITY_WARNING, "Warnings: accepted, but probably not intended" },
	{ MPIJOB_SEVERITY_INFO, "Notes" },
	{ MPIJOB_SEVERITY_ERROR, "Errors: rejected or failed" },
};

static char *print_page(void)
{
	struct mpijob_text out = { 0 };
	char *page;

	mpijob__base_text_puts(&out, head);
	for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
		mpijob__base_text_printf(&out, "\n## %s\n", parts[part].title);
		for (size_t i = 0; i < KINDS; i++)
			if (kinds[i].severity == parts[part].severity)
				mpijob__base_text_printf(&out, "\n### %s\n\n%s\n%s\n\n    %s\n",
				    kinds[i].id, kinds[i].summary, kinds[i].advice,
				    kinds[i].example);
	}
	page = strdup(out.data);
	mpijob__base_text_release(&out);
	return page;
}

static void page_is_current(void **state)
{
	(void)state;
	printed_page_check("docs/findings.md", print_page());
}

static int is_sentence(const char *text)
{
	return text && strlen(text) > 4 && text[strlen(text) - 1] == '.' && !strchr(text, '\n');
}

/* How a finding of the severity is printed. */
static int looks_like(const char *example, int32_t severity)
{
	int warning = strstr(example, "warning: ") != NULL,
	    note = strstr(example, "note: ") != NULL;

	return warning == (severity == MPIJOB_SEVERITY_WARNING) &&
	       note == (severity == MPIJOB_SEVERITY_INFO);
}

static void rows_are_complete(void **state)
{
	(void)state;
	assert_true(KINDS > 200);
	for (size_t i = 0; i < KINDS; i++) {
		const struct finding_kind *kind = &kinds[i];

		assert_int_equal(strspn(kind->id, "abcdefghijklmnopqrstuvwxyz0123456789-"),
		    strlen(kind->id));
		assert_in_range(kind->severity, MPIJOB_SEVERITY_ERROR, MPIJOB_SEVERITY_INFO);
		if (!is_sentence(kind->summary) || !is_sentence(kind->advice) ||
		    !looks_like(kind->example, kind->severity))
			fail_msg("row %s is not complete", kind->id);
		if (i && strcmp(kinds[i - 1].id, kind->id) == 0)
			fail_msg("row %s exists twice", kind->id);
	}
}

static void library_has_advice_for_its_own(void **state)
{
	(void)state;
	assert_non_null(mpijob_finding_kind_at(149));
	for (size_t i = 0; mpijob_finding_kind_at(i); i++) {
		const struct mpijob_finding_kind *kind = mpijob_finding_kind_at(i);
		const struct finding_kind wanted = { .id = kind->id };
		const struct finding_kind *full =
		    bsearch(&wanted, kinds, KINDS, sizeof(kinds[0]), by_id);

		assert_non_null(full);
		assert_int_equal(kind->size, sizeof(*kind));
		assert_int_equal(kind->severity, full->severity);
		assert_string_equal(kind->advice, full->advice);
		assert_ptr_equal(mpijob_finding_kind_find(kind->id), kind);
	}
	assert_non_null(mpijob_finding_kind_find("server-not-found"));
	assert_null(mpijob_finding_kind_find("config-missing")); /* of libmpijob-http */
	assert_null(mpijob_finding_kind_at(KINDS));
	assert_null(mpijob_finding_kind_find(NULL));
	assert_null(mpijob_finding_kind_find(""));
	assert_null(mpijob_finding_kind_find("missin"));
	assert_null(mpijob_finding_kind_find("zzz"));
}

/* "ID REASON: ...", one each line; the last line of a validate case is the result. */
static size_t check_findings(const char *path)
{
	char *text = printed_page_read(path), *rest = NULL;
	size_t count = 0;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *word = strncmp(line, "error ", 6) == 0 || strncmp(line, "info ", 5) == 0 ||
				     strncmp(line, "warning ", 8) == 0
				 ? strchr(line, ' ') + 1
				 : line;

		word[strcspn(word, " :")] = '\0';
		if (strncmp(word, "MPIJOB_", 7) == 0)
			continue;
		if (!mpijob_finding_kind_find(word))
			fail_msg("%s: '%s' is not a kind of libmpijob", path, word);
		count++;
	}
	free(text);
	return count;
}

static void cases_are_known(void **state)
{
	static const char *const folders[] = { "validate", "render" };
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct mpijob_text folder = { 0 };
		struct dirent *entry;
		DIR *directory;

		mpijob__base_text_printf(&folder, "%s/tests/cases/%s", MPIJOB_TEST_SOURCE,
		    folders[i]);
		directory = opendir(folder.data);
		assert_non_null(directory);
		while ((entry = readdir(directory))) {
			struct mpijob_text path = { 0 };

			mpijob__base_text_printf(&path, "%s/%s/findings.txt", folder.data,
			    entry->d_name);
			if (entry->d_name[0] != '.')
				count += check_findings(path.data);
			mpijob__base_text_release(&path);
		}
		closedir(directory);
		mpijob__base_text_release(&folder);
	}
	assert_true(count > 100);
}

static void add(mpijob_diag *diag, int32_t severity, const char *id)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	finding.severity = severity;
	finding.id = id;
	finding.message = "text";
	assert_int_equal(mpijob_diag_add(diag, &finding), 0);
}

static void severities_are_chosen(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_diag_set_severity(diag, "a", 0), 0);
	assert_int_equal(mpijob_diag_set_severity(diag, "b", MPIJOB_SEVERITY_WARNING), 0);
	assert_int_equal(mpijob_diag_set_severity(diag, "b", MPIJOB_SEVERITY_ERROR), 0);
	assert_int_equal(mpijob_diag_set_severity(diag, "c", -1), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_diag_set_severity(diag, "c", 4), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_diag_set_severity(diag, NULL, 0), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_diag_set_severity(NULL, "c", 0), MPIJOB_ERR_USAGE);
	for (int round = 0; round < 2; round++) {
		add(diag, MPIJOB_SEVERITY_WARNING, "a");
		add(diag, MPIJOB_SEVERITY_INFO, "a");
		add(diag, MPIJOB_SEVERITY_ERROR, "a"); /* stays */
		add(diag, MPIJOB_SEVERITY_WARNING, "b");
		add(diag, MPIJOB_SEVERITY_INFO, "c");
		assert_int_equal(mpijob_diag_count(diag, 0), 3);
		assert_int_equal(mpijob_diag_dropped(diag), 0);
		assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 2);
		assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_WARNING), 0);
		assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_INFO), 1);
		assert_int_equal(mpijob_diag_at(diag, 1)->severity, MPIJOB_SEVERITY_ERROR);
		mpijob_diag_clear(diag);
	}
	mpijob_diag_free(diag);
}

/* A warning of validation (no slots) and one of rendering (dnsPolicy). */
static const char warned[] =
    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi}, spec: {slotsPerWorker: "
    "0,"
    " mpiReplicaSpecs: {Launcher: {template: {spec: {hostNetwork: true, dnsPolicy: Default,"
    " containers: [{name: pi, image: pi}]}}},"
    " Worker: {replicas: 1, template: {spec: {containers: [{name: pi, image: pi}]}}}}}}";

static void raised_findings_refuse(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_objects *objects = NULL;
	mpijob *job = NULL;

	(void)state;
	assert_int_equal(mpijob_parse(warned, sizeof(warned) - 1, NULL, &job, diag), 0);
	assert_int_equal(mpijob_default(job, NULL, diag), 0);
	assert_int_equal(mpijob_validate(job, NULL, diag), 0);
	assert_true(mpijob_diag_count(diag, 0) > 0);
	mpijob_diag_set_severity(diag, "no-slots", MPIJOB_SEVERITY_ERROR);
	assert_int_equal(mpijob_validate(job, NULL, diag), MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 1);
	mpijob_diag_set_severity(diag, "no-slots", 0);
	mpijob_diag_clear(diag);
	assert_int_equal(mpijob_validate(job, NULL, diag), 0);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		assert_string_not_equal(mpijob_diag_at(diag, i)->id, "no-slots");

	assert_int_equal(mpijob_render(job, NULL, &objects, diag), 0);
	mpijob_objects_free(objects);
	mpijob_diag_set_severity(diag, "dns-policy-overwritten", MPIJOB_SEVERITY_ERROR);
	assert_int_equal(mpijob_render(job, NULL, &objects, diag), MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 1);
	mpijob_free(job);
	mpijob_diag_free(diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(library_has_advice_for_its_own),
		cmocka_unit_test(page_is_current),
		cmocka_unit_test(cases_are_known),
		cmocka_unit_test(severities_are_chosen),
		cmocka_unit_test(raised_findings_refuse),
	};

	qsort(kinds, KINDS, sizeof(kinds[0]), by_id);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/cases/diagnose/NAME: job.yaml, and what else the case has of pods.yaml, events.yaml,
 * launcher.yaml and logs/POD; the time is 12:00 on 21 November 2026. What is found must be
 * findings.txt; a case of a healthy job has an empty one. UPDATE_CASES=1 writes the files. Every
 * cause that the room can name must be in one of them.
 */
#include <mpijob/diagnose.h>

#include "base/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CASES  MPIJOB_TEST_SOURCE "/tests/cases/diagnose"
#define NOW_MS INT64_C(1795262400000)
#define MOST   512

static char *path_of(const char *folder, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s/%s", CASES, folder, name) > 0);
	return path;
}

/* NULL when there is no such file. */
static char *read_path(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*len = (size_t)ftell(file);
	rewind(file);
	/* No NUL behind it: who reads too far is caught. */
	char *text = malloc(*len ? *len : 1);
	assert_int_equal(fread(text, 1, *len, file), *len);
	fclose(file);
	return text;
}

static mpijob_doc *read_doc(const char *folder, const char *name)
{
	char *path = path_of(folder, name);
	size_t len = 0;
	char *text = read_path(path, &len);
	mpijob_doc *doc = NULL;

	if (text && mpijob_doc_parse(text, len, NULL, &doc, NULL))
		fail_msg("%s cannot be read", path);
	free(text);
	free(path);
	return doc;
}

struct logs {
	struct mpijob_log_tail tails[MOST];
	const struct mpijob_log_tail *pointers[MOST];
	size_t count;
};

static int compare(const void *a, const void *b)
{
	const struct mpijob_log_tail *const *left = a, *const *right = b;

	return strcmp((*left)->pod, (*right)->pod);
}

static void read_logs(const char *folder, struct logs *logs)
{
	char *path = path_of(folder, "logs");
	DIR *directory = opendir(path);
	struct dirent *entry;

	free(path);
	while (directory && (entry = readdir(directory))) {
		struct mpijob_log_tail *tail = &logs->tails[logs->count];
		char *name = NULL;
		if (entry->d_name[0] == '.')
			continue;
		assert_true(logs->count < MOST && asprintf(&name, "logs/%s", entry->d_name) > 0);
		path = path_of(folder, name);
		*tail = (struct mpijob_log_tail)MPIJOB_LOG_TAIL_INIT;
		tail->pod = strdup(entry->d_name);
		tail->text = read_path(path, &tail->len);
		logs->pointers[logs->count++] = tail;
		free(path);
		free(name);
	}
	if (directory)
		closedir(directory);
	qsort(logs->pointers, logs->count, sizeof(logs->pointers[0]), compare);
}

static void logs_free(struct logs *logs)
{
	for (size_t i = 0; i < logs->count; i++) {
		free((char *)logs->tails[i].pod);
		free((char *)logs->tails[i].text);
	}
}

static void print(const mpijob_diag *diag, struct mpijob_text *out)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		assert_int_equal(mpijob__base_text_printf(out, "%s: ", finding->id), 0);
		assert_int_equal(mpijob_finding_write(finding, mpijob_text_write, out), 0);
		assert_int_equal(mpijob__base_text_puts(out, "\n"), 0);
	}
}

static void diagnose(const char *folder, struct mpijob_text *out)
{
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;
	mpijob_doc *job = read_doc(folder, "job.yaml"), *pods = read_doc(folder, "pods.yaml");
	mpijob_doc *events = read_doc(folder, "events.yaml"),
		   *launcher = read_doc(folder, "launcher.yaml");
	struct logs *logs = calloc(1, sizeof(*logs));
	mpijob_diag *diag = mpijob_diag_new();

	assert_non_null(job);
	read_logs(folder, logs);
	assert_int_equal(mpijob_from_node(mpijob_doc_root(job), NULL, &evidence.job, NULL), 0);
	evidence.pods = pods ? mpijob_doc_root(pods) : NULL;
	evidence.events = events ? mpijob_doc_root(events) : NULL;
	evidence.launcher = launcher ? mpijob_doc_root(launcher) : NULL;
	evidence.logs = logs->pointers;
	evidence.logs_count = logs->count;
	evidence.now_ms = NOW_MS;
	int count = mpijob_diagnose(&evidence, diag);
	assert_int_equal(count, (int)mpijob_diag_count(diag, 0));
	print(diag, out);
	mpijob_diag_free(diag);
	logs_free(logs);
	free(logs);
	mpijob_free(evidence.job);
	mpijob_doc_free(job);
	mpijob_doc_free(pods);
	mpijob_doc_free(events);
	mpijob_doc_free(launcher);
}

static void check_case(const char *folder, struct mpijob_text *all)
{
	struct mpijob_text found = { 0 };
	char *path = path_of(folder, "findings.txt");
	size_t len = 0;

	diagnose(folder, &found);
	char *expected = read_path(path, &len);
	int same =
	    expected && len == found.len && (len == 0 || memcmp(expected, found.data, len) == 0);
	if (!same && getenv("UPDATE_CASES")) {
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		fwrite(mpijob_text_data(&found), 1, found.len, file);
		fclose(file);
		print_message("%s:\n%s", folder, mpijob_text_data(&found));
	} else if (!same) {
		fail_msg("%s: found\n%s", folder, mpijob_text_data(&found));
	}
	assert_int_equal(mpijob_text_write(all, mpijob_text_data(&found), found.len), 0);
	free(expected);
	free(path);
	mpijob__base_text_release(&found);
}

static int is_said(const struct mpijob_text *all, const char *id)
{
	struct mpijob_text line = { 0 };

	assert_int_equal(mpijob__base_text_printf(&line, "%s: ", id), 0);
	const char *at = mpijob_text_data(all);
	while (at && strncmp(at, line.data, line.len) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	mpijob__base_text_release(&line);
	return at != NULL;
}

/* Each identifier in quotes in a source of the room that is a kind of finding. */
static size_t check_source(const char *name, const struct mpijob_text *all)
{
	char path[1024];
	size_t len = 0, count = 0;

	snprintf(path, sizeof(path), "%s/lib/diagnose/%s", MPIJOB_TEST_SOURCE, name);
	char *text = read_path(path, &len);
	assert_non_null(text);
	for (size_t i = 0; mpijob_finding_kind_at(i); i++) {
		char quoted[80];
		int n = snprintf(quoted, sizeof(quoted), "\"%s\"", mpijob_finding_kind_at(i)->id);
		if (!memmem(text, len, quoted, (size_t)n))
			continue;
		if (!is_said(all, mpijob_finding_kind_at(i)->id))
			fail_msg("no case has a job with %s", quoted);
		count++;
	}
	free(text);
	return count;
}

static void cases(void **state)
{
	struct mpijob_text all = { 0 };
	struct dirent **entries = NULL;
	int count = scandir(CASES, &entries, NULL, alphasort), cases = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.') {
			check_case(entries[i]->d_name, &all);
			cases++;
		}
		free(entries[i]);
	}
	free(entries);
	assert_true(cases > 20);
	assert_true(check_source("logs.c", &all) + check_source("pods.c", &all) +
			check_source("events.c", &all) + check_source("job.c", &all) >
		    60);
	mpijob__base_text_release(&all);
}

static void wrong_use(void **state)
{
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;
	struct mpijob_log_tail tail = MPIJOB_LOG_TAIL_INIT;
	const struct mpijob_log_tail *tails[] = { &tail };
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_diagnose(NULL, diag), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_diagnose(&evidence, diag), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_new("pi", "default", NULL, &evidence.job, NULL), 0);
	assert_int_equal(mpijob_diagnose(&evidence, NULL), MPIJOB_ERR_USAGE);
	evidence.logs_count = 1;
	assert_int_equal(mpijob_diagnose(&evidence, diag), MPIJOB_ERR_USAGE);
	evidence.logs = tails;
	assert_int_equal(mpijob_diagnose(&evidence, diag), MPIJOB_ERR_USAGE);
	tail.pod = "pi-launcher";
	assert_true(mpijob_diagnose(&evidence, diag) >= 0);
	evidence.size = 4;
	assert_int_equal(mpijob_diagnose(&evidence, diag), MPIJOB_ERR_USAGE);
	mpijob_free(evidence.job);
	mpijob_diag_free(diag);
}

/* Where the time is unknown nothing is said of how long things take. */
static void without_time(void **state)
{
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = read_doc("no-operator", "job.yaml");

	(void)state;
	assert_non_null(doc);
	assert_int_equal(mpijob_from_node(mpijob_doc_root(doc), NULL, &evidence.job, NULL), 0);
	assert_int_equal(mpijob_diagnose(&evidence, diag), 0);
	evidence.now_ms = NOW_MS;
	assert_int_equal(mpijob_diagnose(&evidence, diag), 1);
	mpijob_free(evidence.job);
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases),
		cmocka_unit_test(wrong_use),
		cmocka_unit_test(without_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

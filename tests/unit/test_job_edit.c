/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Editing a job by path: the case folders under tests/cases/edit, in a text and in memory; every
 * value of the public jobs, which is changed and changed back; places, findings and failures.
 */
#include <dirent.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <mpijob/edit.h>

#define FOLDER     MPIJOB_TEST_SOURCE "/tests/cases/edit"
#define MOST_EDITS 16

static char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

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
	text[size] = 0;
	fclose(file);
	return text;
}

static void put(mpijob_text *out, const char *text)
{
	assert_int_equal(mpijob_text_write(out, text, strlen(text)), 0);
}

/* The edits of a case: a line for each, PATH, a tab and the value, or only PATH to remove it; and
 * "#job NAME". The strings are borrowed from `lines`, which changes. */
struct edits {
	struct mpijob_edit items[MOST_EDITS];
	const struct mpijob_edit *pointers[MOST_EDITS];
	size_t count;
	const char *job;
};

static void read_edits(char *lines, struct edits *edits)
{
	char *next;

	memset(edits, 0, sizeof(*edits));
	for (char *line = strtok_r(lines, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		struct mpijob_edit *edit = &edits->items[edits->count];
		char *tab = strchr(line, '\t');

		if (strncmp(line, "#job ", 5) == 0) {
			edits->job = line + 5;
			continue;
		}
		assert_true(edits->count < MOST_EDITS);
		*edit = (struct mpijob_edit)MPIJOB_EDIT_INIT;
		edit->path = line;
		edit->yaml = tab ? tab + 1 : NULL;
		if (tab)
			*tab = 0;
		edits->pointers[edits->count++] = edit;
	}
}

static int edit_text(const char *text, const struct edits *edits, mpijob_text *out,
    mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;

	options.source = "before";
	return mpijob_edit_text(text, strlen(text), edits->job, &options, edits->pointers,
	    edits->count, mpijob_text_write, out, diag);
}

/* ---- cases ---- */

/* The job of a text, alone or among others; NULL if it has more than one. */
static mpijob *job_of(const char *text, const char *name)
{
	mpijob_docs *docs = NULL;
	mpijob *job = NULL;

	assert_int_equal(mpijob_docs_parse(text, strlen(text), NULL, &docs, NULL), 0);
	for (size_t i = 0; mpijob_docs_at(docs, i); i++) {
		const mpijob_node *root = mpijob_doc_root(mpijob_docs_at(docs, i));
		const mpijob_node *items = mpijob_node_get(root, "items");
		const char *has;

		for (size_t at = 0; at < mpijob_node_count(items); at++)
			if (mpijob_is_job(mpijob_node_at(items, at)))
				root = mpijob_node_at(items, at);
		has = mpijob_node_string(mpijob_node_find(root, "metadata.name"));
		if (!job && mpijob_is_job(root) && (!name || strcmp(has, name) == 0))
			assert_int_equal(mpijob_from_node(root, NULL, &job, NULL), 0);
	}
	mpijob_docs_free(docs);
	return job;
}

/* The same edits in memory give the same job. */
static void check_in_memory(const char *before, const char *after, const struct edits *edits)
{
	mpijob *job = job_of(before, edits->job), *wanted;
	const char *name;

	assert_int_equal(mpijob_edit_job(job, edits->pointers, edits->count, NULL), 0);
	name = mpijob_name(job);
	wanted = job_of(after, edits->job ? name : NULL);
	assert_non_null(wanted);
	assert_true(mpijob_node_equal(mpijob_doc_root(mpijob_document(job)),
	    mpijob_doc_root(mpijob_document(wanted))));
	mpijob_free(wanted);
	mpijob_free(job);
}

static void put_findings(const mpijob_diag *diag, int code, mpijob_text *out)
{
	for (size_t i = 0; i < mpijob_diag_count(diag, 0); i++) {
		put(out, mpijob_diag_at(diag, i)->id);
		put(out, " ");
		assert_int_equal(mpijob_finding_write(mpijob_diag_at(diag, i), mpijob_text_write,
				     out),
		    0);
		put(out, "\n");
	}
	put(out, mpijob_error_name(code));
	put(out, "\n");
}

/* Compare a text with a file of the case; an empty text is no file. Returns 0 if they differ. */
static int compare(const char *folder, const char *file, const char *text, size_t len)
{
	char *path = format("%s/%s", folder, file);
	char *expected = read_file(path);
	int same = strlen(expected ? expected : "") == len &&
		   memcmp(expected ? expected : "", text, len) == 0;

	if (!same)
		print_message("%s differs; it should be:\n%.*s\n", path, (int)len, text);
	if (!same && getenv("UPDATE_CASES")) {
		FILE *stream = len ? fopen(path, "wb") : NULL;

		if (stream) {
			assert_int_equal(fwrite(text, 1, len, stream), len);
			fclose(stream);
		} else {
			remove(path);
		}
		same = 1;
	}
	free(expected);
	free(path);
	return same;
}

static int run_case(const char *name)
{
	char *folder = format("%s/%s", FOLDER, name);
	char *json = format("%s/before.json", folder), *yaml = format("%s/before.yaml", folder);
	char *edits_path = format("%s/edits.txt", folder);
	int is_json = access(json, R_OK) == 0;
	char *before = read_file(is_json ? json : yaml), *lines = read_file(edits_path);
	mpijob_text *out = mpijob_text_new(), *findings = mpijob_text_new();
	mpijob_diag *diag = mpijob_diag_new();
	struct edits edits;
	int code, same;

	assert_non_null(before);
	assert_non_null(lines);
	read_edits(lines, &edits);
	code = edit_text(before, &edits, out, diag);
	put_findings(diag, code, findings);
	if (code == 0)
		check_in_memory(before, mpijob_text_data(out), &edits);
	same = compare(folder, is_json ? "after.json" : "after.yaml", mpijob_text_data(out),
	    mpijob_text_len(out));
	same &=
	    compare(folder, "findings.txt", mpijob_text_data(findings), mpijob_text_len(findings));
	mpijob_diag_free(diag);
	mpijob_text_free(findings);
	mpijob_text_free(out);
	free(lines);
	free(before);
	free(edits_path);
	free(yaml);
	free(json);
	free(folder);
	return same;
}

static void cases(void **state)
{
	DIR *folder = opendir(FOLDER);
	const struct dirent *entry;
	int count = 0, failed = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		failed += !run_case(entry->d_name);
	}
	closedir(folder);
	assert_true(count >= 40);
	assert_int_equal(failed, 0);
}

/* ---- every value of the public jobs ---- */

struct totals {
	size_t jobs;
	size_t values;
	size_t spelled; /* values that could be written in another way, so they do not come back */
	size_t shared;  /* values of anchors and aliases, which are refused */
};

static int set_node(const char *text, size_t len, const char *path, const mpijob_node *node,
    mpijob_text *out)
{
	struct mpijob_edit edit = MPIJOB_EDIT_INIT;
	const struct mpijob_edit *edits[] = { &edit };

	edit.path = path;
	edit.node = node;
	return mpijob_edit_text(text, len, NULL, NULL, edits, 1, mpijob_text_write, out, NULL);
}

/* Another value of the same kind. */
static mpijob_node *another(mpijob_doc *doc, const mpijob_node *node)
{
	const char *text = mpijob_node_text(node);
	char *other;
	int truth = 0;

	switch (mpijob_node_kind(node)) {
	case MPIJOB_NODE_BOOL:
		(void)mpijob_node_bool(node, &truth);
		return mpijob_node_new_bool(doc, !truth);
	case MPIJOB_NODE_NUMBER: return mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, "7321", 4);
	default: other = format("x%s", text); break;
	}
	mpijob_node *made = mpijob_node_new_text(doc, MPIJOB_NODE_STRING, other, strlen(other));
	free(other);
	return made;
}

/* The texts differ in one place only, and the rest is the same. */
static void check_one_place(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t start = 0, end = 0, least = a_len < b_len ? a_len : b_len;

	while (start < least && a[start] == b[start])
		start++;
	while (end < least - start && a[a_len - 1 - end] == b[b_len - 1 - end])
		end++;
	for (size_t i = start; i + end < b_len; i++)
		assert_int_not_equal(b[i], '#');
}

static void check_value(const char *text, size_t len, const char *path, const mpijob_node *node,
    struct totals *totals)
{
	mpijob_text *changed = mpijob_text_new(), *back = mpijob_text_new();
	mpijob_doc *doc = mpijob_doc_new();

	int code = set_node(text, len, path, another(doc, node), changed);

	totals->values++;
	if (code) {
		totals->shared++;
		print_message("%s is not changed: %s\n", path, mpijob_error_name(code));
		assert_int_equal(code, MPIJOB_ERR_UNSUPPORTED);
		assert_non_null(strchr(text, '&'));
		mpijob_doc_free(doc);
		mpijob_text_free(back);
		mpijob_text_free(changed);
		return;
	}
	assert_int_equal(mpijob_doc_error(doc), 0);
	check_one_place(text, len, mpijob_text_data(changed), mpijob_text_len(changed));
	assert_int_equal(set_node(mpijob_text_data(changed), mpijob_text_len(changed), path, node,
			     back),
	    0);
	if (mpijob_text_len(back) != len || memcmp(mpijob_text_data(back), text, len) != 0) {
		totals->spelled++;
		print_message("%s comes back spelled differently\n", path);
	}
	mpijob_doc_free(doc);
	mpijob_text_free(back);
	mpijob_text_free(changed);
}

static void check_values(const char *text, size_t len, const char *path, const mpijob_node *node,
    struct totals *totals)
{
	int is_list = mpijob_node_kind(node) == MPIJOB_NODE_LIST;

	for (size_t i = 0; i < mpijob_node_count(node); i++) {
		char *below = is_list ? format("%s[%zu]", path, i)
				      : format("%s[%s]", path, mpijob_node_key(node, i));

		check_values(text, len, below, mpijob_node_at(node, i), totals);
		free(below);
	}
	if (mpijob_node_kind(node) >= MPIJOB_NODE_BOOL &&
	    mpijob_node_kind(node) <= MPIJOB_NODE_STRING && strcmp(path, "[apiVersion]") != 0 &&
	    strcmp(path, "[kind]") != 0)
		check_value(text, len, path, node, totals);
}

static void check_file(const char *path, struct totals *totals)
{
	char *text = read_file(path);
	size_t len = strlen(text);
	mpijob_docs *docs = NULL;

	if (mpijob_docs_parse(text, len, NULL, &docs, NULL) == 0 && mpijob_docs_at(docs, 0) &&
	    !mpijob_docs_at(docs, 1)) {
		const mpijob_node *root = mpijob_doc_root(mpijob_docs_at(docs, 0));

		if (mpijob_is_job(root)) {
			totals->jobs++;
			check_values(text, len, "", root, totals);
		}
	}
	mpijob_docs_free(docs);
	free(text);
}

static void public_jobs(void **state)
{
	static const char *const patterns[] = { "/examples/*/*.yaml", "/examples/*/*/*.yaml",
		"/tests/cases/default/*/job.yaml", "/tests/cases/validate/*/job.yaml",
		"/tests/oracle/lifecycle_kept/*.yaml", "/tests/oom/data/*.yaml" };
	struct totals totals = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char *pattern = format("%s%s", MPIJOB_TEST_SOURCE, patterns[i]);
		glob_t found;

		if (glob(pattern, 0, NULL, &found) == 0) {
			for (size_t at = 0; at < found.gl_pathc; at++)
				check_file(found.gl_pathv[at], &totals);
			globfree(&found);
		}
		free(pattern);
	}
	print_message("%zu jobs, %zu values, %zu come back spelled differently, %zu are shared\n",
	    totals.jobs, totals.values, totals.spelled, totals.shared);
	assert_true(totals.jobs > 200);
	assert_true(totals.values > 3000);
	assert_true(totals.spelled * 200 < totals.values);
	assert_true(totals.shared * 50 < totals.values);
}

/* ---- in memory ---- */

static const char job_text[] = "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n"
			       "  name: pi\nspec:\n  slotsPerWorker: 1\n  mpiReplicaSpecs:\n"
			       "    Worker:\n      replicas: 2\n      template:\n        spec:\n"
			       "          containers:\n          - {name: a, image: b}\n"
			       "          - {name: c, image: d, ports: [{containerPort: 22}]}\n";

#define CONTAINERS "spec.mpiReplicaSpecs.Worker.template.spec.containers"

static mpijob *parse(void)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob *job = NULL;

	options.source = "job.yaml";
	assert_int_equal(mpijob_parse(job_text, strlen(job_text), &options, &job, NULL), 0);
	return job;
}

static const mpijob_node *at(const mpijob *job, const char *path)
{
	return mpijob_node_find(mpijob_doc_root(mpijob_document(job)), path);
}

static int set(mpijob *job, const char *path, const char *yaml, mpijob_diag *diag)
{
	struct mpijob_edit edit = MPIJOB_EDIT_INIT;
	const struct mpijob_edit *edits[] = { &edit };

	edit.path = path;
	edit.yaml = yaml;
	return mpijob_edit_job(job, edits, 1, diag);
}

static void finds_items(void **state)
{
	mpijob *job = parse();

	(void)state;
	assert_string_equal(mpijob_node_text(at(job, CONTAINERS "[name=c].image")), "d");
	assert_string_equal(mpijob_node_text(at(job,
				CONTAINERS "[name=c].ports[containerPort=22].containerPort")),
	    "22");
	assert_null(at(job, CONTAINERS "[name=x]"));
	assert_null(at(job, CONTAINERS "[=a]"));
	assert_null(at(job, CONTAINERS "[-]"));
	assert_null(at(job, CONTAINERS ".name"));
	/* In a map, such a word is a key. */
	assert_int_equal(set(job, "metadata.annotations", "{}", NULL), 0);
	assert_int_equal(set(job, "metadata.annotations[a=b]", "c", NULL), 0);
	assert_string_equal(mpijob_node_text(at(job, "metadata.annotations[a=b]")), "c");
	mpijob_free(job);
}

static void keeps_places(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = parse();
	const struct mpijob_finding *finding = NULL;
	int32_t line = -1, column = -1;

	(void)state;
	assert_int_equal(set(job, "spec.slotsPerWorker", "four", diag), 0);
	mpijob_node_place(at(job, "spec.slotsPerWorker"), &line, &column);
	assert_int_equal(line, 6);
	assert_int_equal(column, 19);
	assert_int_equal(set(job, "spec.slotPerWorker", "{a: [1]}", diag), 0);
	mpijob_node_place(at(job, "spec.slotPerWorker.a[0]"), &line, &column);
	assert_int_equal(line, 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	assert_int_equal(mpijob_validate(job, NULL, diag), MPIJOB_ERR_SPEC);
	for (size_t i = 0; i < mpijob_diag_count(diag, 0); i++) {
		finding = mpijob_diag_at(diag, i);
		if (finding->field && strcmp(finding->field, "spec.slotsPerWorker") == 0)
			break;
	}
	assert_string_equal(finding->message,
	    "must be a whole number of 32 bits, not the string \"four\"");
	assert_int_equal(finding->line, 6);
	assert_string_equal(finding->source, "job.yaml");
	mpijob_free(job);
	mpijob_diag_free(diag);
}

static void all_or_nothing(void **state)
{
	struct mpijob_edit edit = MPIJOB_EDIT_INIT, bad = MPIJOB_EDIT_INIT;
	const struct mpijob_edit *edits[] = { &edit, &bad };
	mpijob *job = parse(), *same = mpijob_clone(job);

	(void)state;
	edit.path = "spec.slotsPerWorker";
	edit.yaml = "4";
	bad.path = "spec.slotsPerWorker.x";
	bad.yaml = "4";
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_NOT_FOUND);
	bad.path = "kind";
	bad.yaml = "Job";
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_UNSUPPORTED);
	bad.path = "spec.x";
	bad.yaml = "*nothing";
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_SYNTAX);
	bad.yaml = "1";
	bad.node = at(job, "spec");
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_USAGE);
	bad.path = NULL;
	bad.node = NULL;
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_USAGE);
	bad.path = "spec.\xff";
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_USAGE);
	bad.path = "spec.x";
	bad.size = 4;
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_USAGE);
	edits[1] = NULL;
	assert_int_equal(mpijob_edit_job(job, edits, 2, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_edit_job(job, NULL, 1, NULL), MPIJOB_ERR_USAGE);
	assert_true(mpijob_node_equal(mpijob_doc_root(mpijob_document(job)),
	    mpijob_doc_root(mpijob_document(same))));
	assert_int_equal(mpijob_edit_job(job, NULL, 0, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_edit_job(job, edits, 0, NULL), 0);
	assert_int_equal(mpijob_edit_job(job, edits, 1, NULL), 0);
	assert_string_equal(mpijob_node_text(at(job, "spec.slotsPerWorker")), "4");
	mpijob_free(same);
	mpijob_free(job);
}

static void takes_nodes(void **state)
{
	struct mpijob_edit edit = MPIJOB_EDIT_INIT;
	const struct mpijob_edit *edits[] = { &edit };
	mpijob *job = parse();

	(void)state;
	edit.path = CONTAINERS "[-]";
	edit.node = at(job, CONTAINERS "[0]"); /* of the job itself */
	assert_int_equal(mpijob_edit_job(job, edits, 1, NULL), 0);
	assert_int_equal(mpijob_node_count(at(job, CONTAINERS)), 3);
	assert_string_equal(mpijob_node_text(at(job, CONTAINERS "[2].name")), "a");
	assert_int_equal(set(job, "metadata.labels.empty", "", NULL), 0);
	assert_string_equal(mpijob_node_string(at(job, "metadata.labels.empty")), "");
	mpijob_free(job);
}

/* ---- texts ---- */

static int refuse(void *user, const char *data, size_t len)
{
	(void)data;
	(void)len;
	++*(int *)user;
	return MPIJOB_ERR_IO;
}

static void text_failures(void **state)
{
	struct mpijob_edit edit = MPIJOB_EDIT_INIT;
	const struct mpijob_edit *edits[] = { &edit };
	static const char utf16[] = "\xff\xfe"
				    "a\0:\0 \0"
				    "1\0";
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	size_t len = strlen(job_text);
	int calls = 0;

	(void)state;
	edit.path = "spec.slotsPerWorker";
	edit.yaml = "4";
	assert_int_equal(mpijob_edit_text(job_text, len, NULL, NULL, edits, 1, refuse, &calls,
			     NULL),
	    MPIJOB_ERR_IO);
	assert_int_equal(calls, 1);
	assert_int_equal(mpijob_edit_text(job_text, len, NULL, NULL, edits, 1, NULL, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_edit_text("a: [", 4, NULL, NULL, edits, 1, refuse, &calls, NULL),
	    MPIJOB_ERR_SYNTAX);
	assert_int_equal(mpijob_edit_text(NULL, 0, NULL, NULL, edits, 1, refuse, &calls, NULL),
	    MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(mpijob_edit_text(utf16, sizeof(utf16) - 1, NULL, NULL, edits, 1, refuse,
			     &calls, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	options.format = 99;
	assert_int_equal(mpijob_edit_text(job_text, len, NULL, &options, edits, 1, refuse, &calls,
			     NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(calls, 1);
}

/* With a step that is quadratic this would take minutes. */
static void large_text(void **state)
{
	mpijob_text *text = mpijob_text_new(), *out = mpijob_text_new();
	struct mpijob_edit edit = MPIJOB_EDIT_INIT;
	const struct mpijob_edit *edits[] = { &edit };

	(void)state;
	put(text, "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  env:\n");
	for (size_t i = 0; i < 40000; i++) {
		char *line = format("  - name: V%zu # \xc3\xa9\n    value: |\n      x\n", i);

		put(text, line);
		free(line);
	}
	edit.path = "spec.env[name=V39999].value";
	edit.yaml = "new";
	assert_int_equal(mpijob_edit_text(mpijob_text_data(text), mpijob_text_len(text), NULL, NULL,
			     edits, 1, mpijob_text_write, out, NULL),
	    0);
	assert_int_equal(mpijob_text_len(out), mpijob_text_len(text) + 3);
	assert_non_null(strstr(mpijob_text_data(out), "# \xc3\xa9\n    value: |-\n      new\n"));
	mpijob_text_free(out);
	mpijob_text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases),
		cmocka_unit_test(public_jobs),
		cmocka_unit_test(finds_items),
		cmocka_unit_test(keeps_places),
		cmocka_unit_test(all_or_nothing),
		cmocka_unit_test(takes_nodes),
		cmocka_unit_test(text_failures),
		cmocka_unit_test(large_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

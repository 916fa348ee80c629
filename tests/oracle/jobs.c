/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of tests/oracle/test-jobs: reads the requests that the oracle reads (main.go says how
 * they look), and answers in reference mode. Modes: default, validate, check (default, then
 * validate), and fields, which takes no requests and prints the field table, one JSON list on each
 * line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/fields.h>
#include <mpijob/job.h>

static void must(int fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "oracle-jobs: %s\n", what);
	exit(1);
}

static void put_list(mpijob_text *out, const char *const *texts, size_t count)
{
	mpijob_doc *doc = NULL;
	mpijob_node *list;

	must(mpijob_doc_parse("[]", 2, NULL, &doc, NULL) == 0, "out of memory");
	list = mpijob_doc_edit(doc, "");
	for (size_t i = 0; i < count; i++)
		mpijob_node_append_string(doc, list, texts[i]);
	must(mpijob_doc_error(doc) == 0, "out of memory");
	must(mpijob_node_write(list, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, out) == 0,
	    "out of memory");
	must(mpijob_text_write(out, "\n", 1) == 0, "out of memory");
	mpijob_doc_free(doc);
}

/* What the oracle cannot read must be a wrong type here, and the other way round. */
static int put_findings(mpijob_text *out, const mpijob_diag *diag)
{
	int unreadable = 0;

	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		const char *parts[] = { finding->field ? finding->field : "",
			finding->reason ? finding->reason : "", finding->message };

		unreadable |= strcmp(parts[1], "TypeInvalid") == 0;
		put_list(out, parts, 3);
	}
	return unreadable;
}

/* All errors, not only the operator's: [field, identifier, message]. Returns the first word of the
 * answer. */
static const char *judge(const char *text, size_t size, mpijob_text *out)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = NULL;
	int code = mpijob_parse(text, size, NULL, &job, diag);

	/* What cannot be filled in is a finding of validation. */
	if (!code && mpijob_default(job, NULL, NULL) != MPIJOB_ERR_NOMEM)
		code = mpijob_validate(job, NULL, diag);
	must(code != MPIJOB_ERR_NOMEM && code != MPIJOB_ERR_USAGE, "validation failed");
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		const char *parts[] = { finding->field ? finding->field : "", finding->id,
			finding->message };

		if (finding->severity == MPIJOB_SEVERITY_ERROR)
			put_list(out, parts, 3);
	}
	mpijob_diag_free(diag);
	mpijob_free(job);
	return code ? "refused" : "ok";
}

/* Returns the first word of the answer. */
static const char *answer(const char *mode, const char *text, size_t size, mpijob_text *out)
{
	const struct mpijob_default_options defaults = { sizeof(defaults), 1, 0 };
	const struct mpijob_validate_options checks = { sizeof(checks), 1, 0 };
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = NULL;
	const char *word = "ok";

	if (mpijob_parse(text, size, NULL, &job, diag)) {
		put_findings(out, diag);
		mpijob_diag_free(diag);
		return "refused";
	}
	if (strcmp(mode, "validate") != 0 && mpijob_default(job, &defaults, diag))
		word = "error";
	if (strcmp(mode, "default") == 0) {
		const mpijob_node *root = mpijob_doc_root(mpijob_document(job));

		must(mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, out) ==
			 0,
		    "out of memory");
	} else {
		int code = mpijob_validate(job, &checks, diag);

		must(code == 0 || code == MPIJOB_ERR_SPEC, "validation failed");
		must((code == 0) == (mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) == 0),
		    "code and findings disagree");
		if (put_findings(out, diag))
			word = "error";
	}
	mpijob_diag_free(diag);
	mpijob_free(job);
	return word;
}

static void serve(const char *mode)
{
	mpijob_text *out = mpijob_text_new();
	size_t size;

	must(out != NULL, "out of memory");
	while (scanf("%zu", &size) == 1) {
		char *text = malloc(size + 1);
		const char *word;

		must(text && getchar() == '\n' && fread(text, 1, size, stdin) == size,
		    "a request is cut off");
		mpijob_text_clear(out);
		word = strcmp(mode, "judge") == 0 ? judge(text, size, out)
						  : answer(mode, text, size, out);
		printf("%s %zu\n", word, mpijob_text_len(out));
		fwrite(mpijob_text_data(out), 1, mpijob_text_len(out), stdout);
		free(text);
	}
	mpijob_text_free(out);
}

static void list_fields(void)
{
	mpijob_text *out = mpijob_text_new();

	for (size_t i = 0; mpijob_field_at(i); i++) {
		const struct mpijob_field *field = mpijob_field_at(i);
		const char *parts[10] = { field->path, NULL,
			field->default_text ? field->default_text : "" };
		char kind[12];
		size_t count = 3;

		snprintf(kind, sizeof(kind), "%d", (int)field->kind);
		parts[1] = kind;
		for (int choice = 0; field->choices && field->choices[choice] && count < 10;
		     choice++)
			parts[count++] = field->choices[choice];
		put_list(out, parts, count);
	}
	fwrite(mpijob_text_data(out), 1, mpijob_text_len(out), stdout);
	mpijob_text_free(out);
}

int main(int argc, char **argv)
{
	must(argc == 2, "usage: oracle-jobs MODE");
	if (strcmp(argv[1], "fields") == 0)
		list_fields();
	else
		serve(argv[1]);
	return fflush(stdout) ? 1 : 0;
}

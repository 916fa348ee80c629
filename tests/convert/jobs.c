/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert-jobs VERSION: converts each job that it is asked for. A request is a line with a number
 * of bytes, and so many bytes of YAML or JSON. An answer is a line with a result code and a number
 * of bytes, and so many bytes of JSON: `{"findings": [[SEVERITY, ID, FIELD, LINE, MESSAGE], ...],
 * "job": ...}`, without the job after a failure.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpijob/mpijob.h>

static void must(int fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "convert-jobs: %s\n", what);
	exit(1);
}

static void put_findings(mpijob_doc *answer, const mpijob_diag *diag)
{
	mpijob_node *list = mpijob_node_put_list(answer, mpijob_doc_edit(answer, ""), "findings");

	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		mpijob_node *entry = mpijob_node_append_map(answer, list);

		mpijob_node_put_int(answer, entry, "severity", finding->severity);
		mpijob_node_put_string(answer, entry, "id", finding->id);
		mpijob_node_put_string(answer, entry, "field",
		    finding->field ? finding->field : "");
		mpijob_node_put_int(answer, entry, "line", finding->line);
		mpijob_node_put_string(answer, entry, "message", finding->message);
	}
}

static void respond(const char *version, const char *text, size_t size)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = NULL, *converted = NULL, *answer = mpijob_doc_new();
	mpijob_text *out = mpijob_text_new();
	int code = mpijob_doc_parse(text, size, NULL, &doc, diag);

	if (!code)
		code = mpijob_convert(mpijob_doc_root(doc), "job.yaml", version, NULL, &converted,
		    diag);
	must((code == 0) == (converted != NULL), "code and document disagree");
	put_findings(answer, diag);
	if (converted)
		mpijob_node_put_copy(answer, mpijob_doc_edit(answer, ""), "job",
		    mpijob_doc_root(converted));
	must(!mpijob_doc_error(answer) && out, "out of memory");
	must(!mpijob_node_write(mpijob_doc_root(answer), MPIJOB_FORMAT_JSON_COMPACT,
		 mpijob_text_write, out),
	    "out of memory");
	printf("%d %zu\n%s", code, mpijob_text_len(out), mpijob_text_data(out));
	mpijob_text_free(out);
	mpijob_doc_free(answer);
	mpijob_doc_free(converted);
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
}

int main(int argc, char **argv)
{
	size_t size;

	must(argc == 2, "usage: convert-jobs VERSION");
	while (scanf("%zu", &size) == 1) {
		char *text = malloc(size + 1);

		must(text && getchar() == '\n' && fread(text, 1, size, stdin) == size,
		    "a request is cut off");
		respond(argv[1], text, size);
		free(text);
	}
	return fflush(stdout) ? 1 : 0;
}

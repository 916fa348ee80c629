/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other side of the comparisons: reads the same stream as ../yaml/main.go and answers in the
 * same form, with our reader. With the argument `json` each text must be one JSON value. With
 * `rewrite` the answer is the first document, written as YAML, in the form of the input; nothing
 * for a text that is refused.
 */
#include <mpijob/doc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int to_stdout(void *user, const char *data, size_t len)
{
	(void)user;
	return fwrite(data, 1, len, stdout) == len ? 0 : MPIJOB_ERR_IO;
}

static void answer(const char *text, size_t len, int32_t format)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_docs *docs = NULL;

	options.format = format;
	if (mpijob_docs_parse(text, len, &options, &docs, diag)) {
		fputs("E ", stdout);
		if (mpijob_diag_count(diag, 0)) {
			fputs(mpijob_diag_at(diag, 0)->id, stdout);
			fputs(": ", stdout);
			(void)mpijob_finding_write(mpijob_diag_at(diag, 0), to_stdout, NULL);
		}
	} else if (format == MPIJOB_FORMAT_JSON &&
		   (!mpijob_docs_at(docs, 0) || mpijob_docs_at(docs, 1))) {
		fputs("E not one document", stdout);
	} else if (!mpijob_docs_at(docs, 0)) {
		fputs("J null", stdout);
	} else {
		fputs("J ", stdout);
		(void)mpijob_node_write(mpijob_doc_root(mpijob_docs_at(docs, 0)),
		    MPIJOB_FORMAT_JSON_COMPACT, to_stdout, NULL);
	}
	putchar('\n');
	mpijob_docs_free(docs);
	mpijob_diag_free(diag);
}

static void rewrite(const char *text, size_t len)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_text *out = mpijob_text_new();
	mpijob_docs *docs = NULL;

	options.format = MPIJOB_FORMAT_YAML;
	if (mpijob_docs_parse(text, len, &options, &docs, NULL) == 0 && mpijob_docs_at(docs, 0))
		(void)mpijob_node_write(mpijob_doc_root(mpijob_docs_at(docs, 0)),
		    MPIJOB_FORMAT_YAML, mpijob_text_write, out);
	(void)printf("%zu\n", mpijob_text_len(out));
	(void)fwrite(mpijob_text_data(out), 1, mpijob_text_len(out), stdout);
	mpijob_docs_free(docs);
	mpijob_text_free(out);
}

int main(int argc, char **argv)
{
	int32_t format =
	    argc > 1 && strcmp(argv[1], "json") == 0 ? MPIJOB_FORMAT_JSON : MPIJOB_FORMAT_YAML;
	size_t len;

	while (scanf("%zu", &len) == 1) {
		char *text = malloc(len + 1);

		if (!text || getchar() != '\n' || fread(text, 1, len, stdin) != len)
			return 1;
		if (argc > 1 && strcmp(argv[1], "rewrite") == 0)
			rewrite(text, len);
		else
			answer(text, len, format);
		free(text);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "documents.h"

static void fuzz_die(const char *what, const mpijob_text *text)
{
	(void)fprintf(stderr, "%s:\n%s\n", what, mpijob_text_data(text));
	abort();
}

/* Read, with limits that are quickly reached. */
static int fuzz_read(const char *data, size_t len, int32_t format, mpijob_docs **docs)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	int rc;

	options.format = format;
	options.max_values = 100000;
	options.max_expanded = 1 << 20;
	options.max_bytes = (size_t)64 << 20;
	rc = mpijob_docs_parse(data, len, &options, docs, diag);
	if (rc && mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) == 0)
		abort();
	if (rc == 0 && mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR))
		abort();
	mpijob_diag_free(diag);
	return rc;
}

static void fuzz_round_trip(const mpijob_doc *doc, int32_t format)
{
	mpijob_text *text = mpijob_text_new();
	mpijob_docs *again = NULL;

	if (mpijob_node_write(mpijob_doc_root(doc), format, mpijob_text_write, text))
		fuzz_die("cannot be written", text);
	if (fuzz_read(mpijob_text_data(text), mpijob_text_len(text), format, &again))
		fuzz_die("cannot be read again", text);
	if (!mpijob_docs_at(again, 0) || mpijob_docs_at(again, 1))
		fuzz_die("reads back as another number of documents", text);
	if (!mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(mpijob_docs_at(again, 0))))
		fuzz_die("reads back as another tree", text);
	mpijob_docs_free(again);
	mpijob_text_free(text);
}

int fuzz_document(const char *data, size_t len, int32_t format)
{
	mpijob_docs *docs = NULL;

	if (fuzz_read(data, len, format, &docs))
		return 0;
	for (size_t i = 0; mpijob_docs_at(docs, i); i++) {
		const mpijob_doc *doc = mpijob_docs_at(docs, i);
		mpijob_doc *clone = mpijob_doc_from_node(mpijob_doc_root(doc), NULL);

		if (!clone || !mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(clone)))
			abort();
		mpijob_doc_free(clone);
		fuzz_round_trip(doc, MPIJOB_FORMAT_YAML);
		fuzz_round_trip(doc, MPIJOB_FORMAT_JSON);
		fuzz_round_trip(doc, MPIJOB_FORMAT_JSON_COMPACT);
	}
	mpijob_docs_free(docs);
	return 0;
}

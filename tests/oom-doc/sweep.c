/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents without memory: every single allocation of reading, changing and writing fails once,
 * alone and with all that follow it. Never a crash, a leak, a success with something missing, or a
 * changed document after a failure.
 */
#include "../oom/failing_malloc.h"

#include <mpijob/doc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char yaml[] = "apiVersion: v1\nkind: Pod\nmetadata: &meta\n  name: a-name\n  labels: "
			   "{a: \"1\", b: yes, c: 0x10}\nspec:\n"
			   "  <<: {k: 1.5}\n  containers:\n  - name: c\n    args:\n    - |\n      "
			   "one\n      two\n    - \"esc\\u00e9\"\n"
			   "    copy: *meta\n    bin: !!binary aGVsbG8=\n"
			   "  big: {k0: 0, k1: 1, k2: 2, k3: 3, k4: 4, k5: 5, k6: 6, k7: 7, k8: 8, "
			   "k9: 9, k10: 10, k11: 11, k12: 12, k13: 13,\n"
			   "    k14: 14, k15: 15, k16: 16, k17: 17, k18: 18, k19: 19, k20: "
			   "20}\n---\n- second\n- [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]\n";

static const char json[] = "{\"a\":[1,2.50,true,null,\"x\\u00e9\\n\"],\"b\":{\"c\":{\"d\":[[[[[[[[["
			   "[[[[[[[[[{}]]]]]]]]]]]]]]]]]]}},\"e\":18446744073709551615,"
			   "\"k0\":0,\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,\"k7\":"
			   "7,\"k8\":8,\"k9\":9,\"ka\":1,\"kb\":2,\"kc\":3,\"kd\":4} {} []";

static const char wrong[] = "a: 1\na: 2\nb: {c: .nan, d: !!int x, on: 1}\ne: [1, 2\n";

static const char patch[] =
    "{\"a\":null,\"b\":{\"c\":{\"x\":[1,{\"y\":2}]},\"z\":{\"n\":null,\"m\":{}}},\"k3\":{\"q\":1}}";

/* What a scenario leaves to be compared: with memory it is always the same. */
struct result {
	char text[8192];
	size_t len;
};

static int collect(void *user, const char *data, size_t len)
{
	struct result *result = user;

	if (len > sizeof(result->text) - result->len)
		return MPIJOB_ERR_IO;
	memcpy(result->text + result->len, data, len);
	result->len += len;
	return 0;
}

static int write_all(const mpijob_docs *docs, struct result *result)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && mpijob_docs_at(docs, i); i++)
		for (int32_t format = MPIJOB_FORMAT_YAML;
		     rc == 0 && format <= MPIJOB_FORMAT_JSON_COMPACT; format++)
			rc = mpijob_node_write(mpijob_doc_root(mpijob_docs_at(docs, i)), format,
			    collect, result);
	return rc;
}

static int read_and_write(const char *text, struct result *result)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_docs *docs = NULL;
	int rc;

	options.source = "text";
	rc = mpijob_docs_parse(text, strlen(text), &options, &docs, NULL);
	if (rc == 0)
		rc = write_all(docs, result);
	mpijob_docs_free(docs);
	return rc;
}

static int read_yaml(struct result *result)
{
	return read_and_write(yaml, result);
}

static int read_json(struct result *result)
{
	return read_and_write(json, result);
}

/* The findings of a text that is refused; a list of them that is not complete counts what is
 * missing. */
static int read_wrong(struct result *result)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_docs *docs = NULL;
	int rc;

	if (!diag)
		return MPIJOB_ERR_NOMEM;
	rc = mpijob_docs_parse(wrong, strlen(wrong), NULL, &docs, diag);
	if (rc == 0 || docs)
		abort();
	if (rc == MPIJOB_ERR_SYNTAX) {
		if (mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) == 0)
			abort();
		rc = mpijob_diag_dropped(diag) ? MPIJOB_ERR_NOMEM : 0;
		for (size_t i = 0; rc == 0 && mpijob_diag_at(diag, i); i++)
			rc = mpijob_finding_write(mpijob_diag_at(diag, i), collect, result);
	}
	mpijob_diag_free(diag);
	return rc;
}

static int build(struct result *result)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *list = mpijob_node_put_list(doc, root, "list");
	char key[16];
	int rc;

	for (int i = 0; i < 40; i++) {
		(void)snprintf(key, sizeof(key), "key%d", i);
		mpijob_node_put_int(doc, mpijob_node_append_map(doc, list), key, i);
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "spec.template.metadata"), key,
		    "a value");
		mpijob_node_put_copy(doc, root, key, mpijob_node_at(list, 0));
	}
	rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, collect,
		    result);
	mpijob_doc_free(doc);
	return rc;
}

static mpijob_doc *prepared[2];

/* A clone is the same or is not there; after a merge that failed the document is as before. */
static int clone_and_merge(struct result *result)
{
	mpijob_doc *clone = mpijob_doc_from_node(mpijob_doc_root(prepared[0]), NULL);
	int rc;

	if (!clone)
		return MPIJOB_ERR_NOMEM;
	if (!mpijob_node_equal(mpijob_doc_root(clone), mpijob_doc_root(prepared[0])))
		abort();
	rc = mpijob_doc_merge(clone, mpijob_doc_root(prepared[1]));
	if (rc && !mpijob_node_equal(mpijob_doc_root(clone), mpijob_doc_root(prepared[0])))
		abort();
	if (rc == 0)
		rc = mpijob_node_write(mpijob_doc_root(clone), MPIJOB_FORMAT_JSON_COMPACT, collect,
		    result);
	mpijob_doc_free(clone);
	return rc;
}

static int sweep(const char *name, int (*scenario)(struct result *))
{
	struct result expected = { "", 0 };
	size_t count, clean = 0, survived = 0;
	int rc;

	oom_start(0, 0);
	rc = scenario(&expected);
	count = oom_stop();
	if (rc || expected.len == 0 || oom_live() != 0) {
		(void)printf("%s: with memory: %s, %ld blocks left\n", name, mpijob_error_name(rc),
		    oom_live());
		return 1;
	}
	for (size_t i = 1; i <= count * 2; i++) {
		struct result got = { "", 0 };

		oom_start((i + 1) / 2, i % 2);
		rc = scenario(&got);
		(void)oom_stop();
		if (oom_failed() == 0 || oom_live() != 0 || (rc != 0 && rc != MPIJOB_ERR_NOMEM) ||
		    (rc == 0 && (got.len != expected.len ||
				    memcmp(got.text, expected.text, got.len) != 0))) {
			(void)printf("%s: allocation %zu%s: %s, %ld blocks left\n", name,
			    (i + 1) / 2, i % 2 ? " and all later" : "", mpijob_error_name(rc),
			    oom_live());
			return 1;
		}
		clean += rc != 0;
		survived += rc == 0;
	}
	(void)printf("%s: %zu allocations, each failed alone and with all later: %zu clean errors, "
		     "%zu without effect\n",
	    name, count, clean, survived);
	return 0;
}

int main(void)
{
	int failed = 0;

#if defined(__SANITIZE_ADDRESS__)
	(void)printf("skipped: AddressSanitizer has an allocator of its own\n");
	return 77;
#endif
	if (mpijob_doc_parse(json, strlen(json) - strlen(" {} []"), NULL, &prepared[0], NULL) ||
	    mpijob_doc_parse(patch, strlen(patch), NULL, &prepared[1], NULL))
		return 2;
	failed += sweep("read YAML, write", read_yaml);
	failed += sweep("read JSON, write", read_json);
	failed += sweep("refuse", read_wrong);
	failed += sweep("build, write", build);
	failed += sweep("clone, merge, write", clone_and_merge);
	mpijob_doc_free(prepared[0]);
	mpijob_doc_free(prepared[1]);
	return failed != 0;
}

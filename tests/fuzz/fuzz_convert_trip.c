/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever an MPIJob holds, and whatever trail it carries: a conversion gives a document or an
 * error, and where it gives one, the way back gives the original. (A job that carries a trail
 * already is another one without it, so of these only the first half is asked.)
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpijob/mpijob.h>

static void die(const char *what, const mpijob_doc *doc)
{
	mpijob_text *text = mpijob_text_new();

	(void)mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
	    text);
	(void)fprintf(stderr, "%s: %s\n", what, mpijob_text_data(text));
	abort();
}

static mpijob_doc *convert(const mpijob_doc *doc, const char *version)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *out = NULL;
	int code = mpijob_convert(mpijob_doc_root(doc), "input", version, NULL, &out, diag);
	if ((code && code != MPIJOB_ERR_UNSUPPORTED && code != MPIJOB_ERR_SPEC) || !code != !!out)
		die(mpijob_error_name(code), doc);
	mpijob_diag_free(diag);
	return out;
}

/* Too many bytes leave no room for a trail. */
static int comes_back(const mpijob_doc *there, size_t size)
{
	return size < 50000 && mpijob_node_kind(mpijob_doc_root(there)) == MPIJOB_NODE_MAP;
}

static void try_way(const mpijob_doc *doc, const char *there, const char *back, size_t size)
{
	const mpijob_node *annotations =
	    mpijob_node_find(mpijob_doc_root(doc), "metadata.annotations");
	int has_trail = mpijob_node_get(annotations, MPIJOB_CONVERT_ANNOTATION) != NULL;
	mpijob_doc *converted = convert(doc, there);

	if (converted && !has_trail && comes_back(converted, size)) {
		mpijob_doc *again = convert(converted, back);

		if (!again || !mpijob_node_equal(mpijob_doc_root(again), mpijob_doc_root(doc)))
			die("does not come back", doc);
		mpijob_doc_free(again);
	}
	mpijob_doc_free(converted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mpijob_doc *doc = NULL, *trainjob;

	if (mpijob_doc_parse((const char *)data, size, NULL, &doc, NULL))
		return 0;
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "apiVersion", "kubeflow.org/v1");
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "kind", "MPIJob");
	try_way(doc, "v2beta1", "v1", size);
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "apiVersion", "kubeflow.org/v2beta1");
	try_way(doc, "v1", "v2beta1", size);
	trainjob = convert(doc, "TrainJob");
	mpijob_doc_free(trainjob);
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "apiVersion",
	    "kubeflow.org/v1alpha1");
	mpijob_doc_free(convert(doc, "v2beta1"));
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "apiVersion",
	    "kubeflow.org/v1alpha2");
	mpijob_doc_free(convert(doc, "v2beta1"));
	mpijob_doc_free(doc);
	return 0;
}

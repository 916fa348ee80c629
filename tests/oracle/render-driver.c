/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of tests/oracle/test-render: requests and answers as in main.go. A request is
 * {"options": {...}, "job": {...}}; the answer is the request with "ours", the list of our objects,
 * for the oracle's mode "render". The SSH key is made from the number of the request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/render.h>

#include "../support/render_options.h"

static void quit(const char *what)
{
	fprintf(stderr, "render-driver: %s\n", what);
	exit(1);
}

static void put(mpijob_text *text, const char *data)
{
	if (mpijob_text_write(text, data, strlen(data)) != 0)
		quit("out of memory");
}

static int default_and_render(mpijob *job, struct mpijob_render_options *options,
    mpijob_objects **objects, mpijob_diag *diag)
{
	struct mpijob_default_options defaults = MPIJOB_DEFAULT_OPTIONS_INIT;
	int code;

	defaults.reference = options->reference;
	code = mpijob_default(job, &defaults, diag);
	return code != 0 ? code : mpijob_render(job, options, objects, diag);
}

static int write_objects(const mpijob_objects *objects, mpijob_text *out)
{
	int code = 0;

	put(out, ",\"ours\":[");
	for (size_t i = 0; code == 0 && i < mpijob_objects_count(objects); i++) {
		if (i > 0)
			put(out, ",");
		code = mpijob_objects_write(objects, i, MPIJOB_FORMAT_JSON_COMPACT, 1,
		    mpijob_text_write, out);
	}
	put(out, "]}");
	return code;
}

/* Write the answer; the words of the first finding when there is none. */
static int answer(const mpijob_node *request, unsigned number, mpijob_text *out, mpijob_diag *diag)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	mpijob_objects *objects = NULL;
	struct read_options read;
	mpijob *job = NULL;
	int code;

	for (size_t i = 0; i < sizeof(entropy); i++)
		entropy[i] = (uint8_t)((number = number * 1103515245u + 12345u) >> 16);
	read_options(mpijob_node_get(request, "options"), &read);
	read.options.entropy = entropy;
	read.options.entropy_len = sizeof(entropy);
	code = mpijob_from_node(mpijob_node_get(request, "job"), NULL, &job, diag);
	if (code == 0)
		code = default_and_render(job, &read.options, &objects, diag);
	if (code == 0) {
		put(out, "{\"options\":");
		if (mpijob_node_get(request, "options") != NULL)
			mpijob_node_write(mpijob_node_get(request, "options"),
			    MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, out);
		else
			put(out, "{}");
		put(out, ",\"job\":");
		mpijob_node_write(mpijob_node_get(request, "job"), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, out);
		code = write_objects(objects, out);
	}
	free_options(&read);
	mpijob_objects_free(objects);
	mpijob_free(job);
	return code;
}

static void respond(const char *text, size_t len, unsigned number)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *out = mpijob_text_new();
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(text, len, NULL, &doc, diag);

	if (code == 0)
		code = answer(mpijob_doc_root(doc), number, out, diag);
	if (code != 0) {
		mpijob_text_clear(out);
		put(out, mpijob_error_name(code));
		for (size_t i = 0; mpijob_diag_at(diag, i); i++)
			if (mpijob_diag_at(diag, i)->severity == MPIJOB_SEVERITY_ERROR) {
				put(out, " ");
				put(out, mpijob_diag_at(diag, i)->message);
			}
	}
	printf("%s %zu\n", code == 0 ? "ok" : "error", mpijob_text_len(out));
	fwrite(mpijob_text_data(out), 1, mpijob_text_len(out), stdout);
	mpijob_doc_free(doc);
	mpijob_text_free(out);
	mpijob_diag_free(diag);
}

int main(void)
{
	unsigned number = 0;
	size_t len;

	while (scanf("%zu", &len) == 1) {
		char *text = malloc(len + 1);

		if (text == NULL || getchar() != '\n' || fread(text, 1, len, stdin) != len)
			quit("a request that ends too early");
		respond(text, len, ++number);
		free(text);
	}
	return 0;
}

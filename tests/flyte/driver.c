/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ask this library what plugin/main.go asks Flyte's plugin: requests and answers are the same. A
 * "version" of the request is the version to make; "repairs" are flags.
 */
#include <mpijob/flyte.h>
#include <mpijob/mpijob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEMPLATES 8

static int answer(const char *word, const mpijob_text *text)
{
	return printf("%s %zu\n", word, mpijob_text_len(text)) < 0 ||
	       fputs(mpijob_text_data(text), stdout) == EOF;
}

static void say_findings(const mpijob_diag *diag, int code, mpijob_text *into)
{
	char number[32];

	snprintf(number, sizeof(number), "%d", code);
	mpijob_text_write(into, number, strlen(number));
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		mpijob_text_write(into, "; ", 2);
		mpijob_finding_write(mpijob_diag_at(diag, i), mpijob_text_write, into);
	}
}

static int build(const mpijob_node *request, const struct mpijob_flyte_options *options,
    mpijob_text *said, mpijob_diag *diag)
{
	const char *version = mpijob_node_string(mpijob_node_get(request, "version"));
	mpijob_doc *job = NULL;
	int code = mpijob_flyte_job(mpijob_node_get(request, "task"), version ? version : "v1",
	    options, &job, diag);

	if (!code)
		code = mpijob_node_write(mpijob_doc_root(job), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, said);
	mpijob_doc_free(job);
	return code;
}

static void put_status(mpijob_doc *doc, const mpijob_flyte_status *status)
{
	const struct mpijob_flyte_phase *phase = mpijob_flyte_status_phase(status);
	mpijob_node *root = mpijob_doc_edit(doc, ""),
		    *links = mpijob_node_put_list(doc, root, "links");

	mpijob_node_put_string(doc, root, "phase", phase->name);
	mpijob_node_put_string(doc, root, "reason", phase->reason);
	mpijob_node_put_string(doc, root, "code", phase->code);
	mpijob_node_put_string(doc, root, "message", phase->message);
	mpijob_node_put_string(doc, root, "error", phase->error);
	for (size_t i = 0; i < mpijob_flyte_status_link_count(status); i++) {
		const struct mpijob_flyte_link *link = mpijob_flyte_status_link_at(status, i);
		mpijob_node *entry = mpijob_node_append_map(doc, links);

		mpijob_node_put_string(doc, entry, "name", link->name);
		mpijob_node_put_string(doc, entry, "uri", link->uri);
	}
}

static int look(const mpijob_node *request, const struct mpijob_flyte_options *from,
    mpijob_text *said)
{
	struct mpijob_flyte_status_options options = MPIJOB_FLYTE_STATUS_OPTIONS_INIT;
	struct mpijob_flyte_log_template templates[MOST_TEMPLATES];
	const struct mpijob_flyte_log_template *pointers[MOST_TEMPLATES];
	const mpijob_node *logs = mpijob_node_get(request, "logs");
	mpijob_flyte_status *status = NULL;
	mpijob_doc *doc = mpijob_doc_new();
	int64_t timeout = 0;
	int32_t seconds;
	int code;

	for (size_t i = 0; i < mpijob_node_count(logs); i++) {
		const mpijob_node *uris = mpijob_node_get(mpijob_node_at(logs, i), "uris");

		for (size_t k = 0;
		     k < mpijob_node_count(uris) && options.templates_count < MOST_TEMPLATES; k++) {
			struct mpijob_flyte_log_template *template =
			    &templates[options.templates_count];

			*template = (struct mpijob_flyte_log_template){ sizeof(*template),
				mpijob_node_string(
				    mpijob_node_get(mpijob_node_at(logs, i), "name")),
				mpijob_node_string(mpijob_node_at(uris, k)) };
			pointers[options.templates_count++] = template;
		}
	}
	options.templates = mpijob_node_kind(logs) == MPIJOB_NODE_LIST ? pointers : NULL;
	mpijob_node_int(mpijob_node_get(request, "now"), &options.now_s);
	if (mpijob_node_int(mpijob_node_get(request, "timeout"), &timeout)) {
		seconds = (int32_t)timeout;
		options.timeout_s = &seconds;
	}
	options.execution = from->execution;
	options.repairs = from->repairs;
	code = mpijob_flyte_status_read(mpijob_node_get(request, "job"), &options, &status);
	if (!code) {
		put_status(doc, status);
		code = mpijob_doc_error(doc);
	}
	if (!code)
		code = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, said);
	mpijob_flyte_status_free(status);
	mpijob_doc_free(doc);
	return code;
}

static int serve(const mpijob_node *request, mpijob_text *said, mpijob_diag *diag)
{
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
	const mpijob_node *node = mpijob_node_get(request, "config");
	int64_t flags = 0;
	uint32_t repairs;
	int code = node ? mpijob_flyte_config_read(node, &config, diag) : 0;

	node = mpijob_node_get(request, "execution");
	if (!code && node)
		code = mpijob_flyte_execution_read(node, &execution, diag);
	if (code)
		return code;
	if (mpijob_node_int(mpijob_node_get(request, "repairs"), &flags)) {
		repairs = (uint32_t)flags;
		options.repairs = &repairs;
	}
	options.config = &config;
	options.execution = &execution;
	return mpijob_node_get(request, "job") ? look(request, &options, said)
					       : build(request, &options, said, diag);
}

static int one(const char *text, size_t len)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *said = mpijob_text_new(), *why = mpijob_text_new();
	mpijob_doc *doc = NULL;
	int code = mpijob_doc_parse(text, len, NULL, &doc, diag), failed;

	if (!code)
		code = serve(mpijob_doc_root(doc), said, diag);
	if (code)
		say_findings(diag, code, why);
	failed = code ? answer("error", why) : answer("ok", said);
	mpijob_doc_free(doc);
	mpijob_text_free(said);
	mpijob_text_free(why);
	mpijob_diag_free(diag);
	return failed;
}

int main(void)
{
	size_t len;

	while (scanf("%zu", &len) == 1 && getchar() == '\n') {
		char *text = malloc(len + 1);

		if (!text || fread(text, 1, len, stdin) != len || one(text, len))
			return 1;
		free(text);
	}
	return ferror(stdin) || fflush(stdout);
}

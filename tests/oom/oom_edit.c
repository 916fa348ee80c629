/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of edits by path, in texts and in memory, fails once, and from one point on.
 * What does not say that memory ran out must give byte for byte what an undisturbed run gives,
 * findings included; nothing may leak.
 */
#include "failing_malloc.h"

#include <mpijob/mpijob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 16384

static const char yaml[] =
    "# one\nkind: Pod\n---\napiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n"
    "  a: &a\n    b: 1 # c\n  c: *a\n  d: [1, {e: f}]\n  g:\n  - name: x\n    value: |\n      y\n";
static const char json[] =
    "{\n  \"apiVersion\": \"kubeflow.org/v2beta1\",\n  \"kind\": \"MPIJob\",\n"
    "  \"spec\": {\"d\": [1, {}]}\n}\n";

#define SET(path, yaml) { sizeof(struct mpijob_edit), path, yaml, NULL }

/* Replaced, added with what the path lacks, removed, nothing removed. */
static const struct mpijob_edit items[] = { SET("spec.d[0]", "{k: \"l\\nm\"}"),
	SET("spec.g[name=z].value.v", "[1, {w: 2}]"), SET("spec.g[name=x].value", "\"1\\n2\\n\""),
	SET("spec.d[1]", NULL), SET("spec.nothing", NULL) };
static const struct mpijob_edit *const edits[] = { &items[0], &items[1], &items[2], &items[3],
	&items[4] };
/* Refused: an anchor, a path, a value. */
static const struct mpijob_edit wrong[] = { SET("spec.a.b", "2"), SET("spec.d.x", "2"),
	SET("spec.x", "[") };

struct sink {
	size_t len;
	char data[ROOM];
};

static struct sink expected, got;
static struct sink *sink; /* where the present run writes */

static int keep(void *user, const char *data, size_t len)
{
	(void)user;
	if (len > ROOM - sink->len)
		return MPIJOB_ERR_USAGE;
	memcpy(sink->data + sink->len, data, len);
	sink->len += len;
	return 0;
}

static int keep_findings(const mpijob_diag *diag)
{
	int code = mpijob_diag_dropped(diag) ? MPIJOB_ERR_NOMEM : 0;

	for (size_t i = 0; !code && i < mpijob_diag_count(diag, 0); i++)
		code = mpijob_finding_write(mpijob_diag_at(diag, i), keep, NULL);
	return code;
}

/* Edit a text; 0 if the result is `want`. */
static int edit_text(const char *text, const struct mpijob_edit *const *list, size_t count,
    int want)
{
	mpijob_diag *diag = mpijob_diag_new();
	int code =
	    diag ? mpijob_edit_text(text, strlen(text), NULL, NULL, list, count, keep, NULL, diag)
		 : MPIJOB_ERR_NOMEM;

	if (code == want)
		code = keep_findings(diag);
	mpijob_diag_free(diag);
	return code;
}

static int edit_job(void)
{
	mpijob *job = NULL;
	int code = mpijob_parse(json, strlen(json), NULL, &job, NULL);

	if (!code)
		code = mpijob_edit_job(job, edits, 5, NULL);
	if (!code)
		code = mpijob_node_write(mpijob_doc_root(mpijob_document(job)), MPIJOB_FORMAT_YAML,
		    keep, NULL);
	mpijob_free(job);
	return code;
}

static int edit_all(void)
{
	static const int wants[] = { MPIJOB_ERR_UNSUPPORTED, MPIJOB_ERR_NOT_FOUND,
		MPIJOB_ERR_SYNTAX };
	int code = edit_text(yaml, edits, 5, 0);

	if (!code)
		code = edit_text(json, edits, 5, 0);
	for (size_t i = 0; !code && i < 3; i++) {
		const struct mpijob_edit *one = &wrong[i];

		code = edit_text(yaml, &one, 1, wants[i]);
	}
	return code ? code : edit_job();
}

static const char *problem;

static size_t scenario(size_t fail_at, int persistent)
{
	size_t count;
	int code;

	sink = expected.len ? &got : &expected;
	sink->len = 0;
	oom_start(fail_at, persistent);
	code = edit_all();
	count = oom_stop();
	if (code && (code != MPIJOB_ERR_NOMEM || !fail_at))
		problem = mpijob_error_name(code);
	if (!code && sink == &got &&
	    (got.len != expected.len || memcmp(got.data, expected.data, got.len) != 0))
		problem = "it gave something else, and called it done";
	return count;
}

int main(int argc, char **argv)
{
	return oom_each(argc, argv, 1, scenario, &problem);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the text of a job that is edited: a finding, or a text in which the job is the one
 * that the same edits in memory give, and which the same edits do not change again.
 */
#include <mpijob/edit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                         \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			abort();                                                \
		}                                                               \
	} while (0)

#define CONTAINERS      "spec.mpiReplicaSpecs.Launcher.template.spec.containers"
#define SET(path, yaml) { sizeof(struct mpijob_edit), path, yaml, NULL }

static const struct mpijob_edit all[] = {
	SET("spec.slotsPerWorker", "4"),
	SET("spec.slotsPerWorker", NULL),
	SET("spec.runPolicy", "{a: [1, {b: c}], d: 'e'}"),
	SET("spec.runPolicy.cleanPodPolicy", "\"two\\nlines\\n\""),
	SET("spec.runPolicy.suspend", NULL),
	SET("spec.a", "text # 1"),
	SET("spec.a.b", "null"),
	SET("spec.a[0]", NULL),
	SET("spec.a[0].x", "[]"),
	SET("spec.b", "[x, y, {z: 1}]"),
	SET("spec.m.b", "true"),
	SET("metadata.labels[app.kubernetes.io/name]", "x"),
	SET("metadata.labels", NULL),
	SET(CONTAINERS "[0].env[name=A].value", "'4'"),
	SET(CONTAINERS "[0].name", NULL),
	SET(CONTAINERS "[0].args[1]", "\"\\u00e9\\n x\""),
	SET(CONTAINERS "[0].command[1]", NULL),
	SET(CONTAINERS, NULL),
};
#define COUNT (sizeof(all) / sizeof(all[0]))

static int edit(const char *text, size_t len, const struct mpijob_edit *const *edits,
    mpijob_text *out)
{
	return mpijob_edit_text(text, len, NULL, NULL, edits, 1, mpijob_text_write, out, NULL);
}

/* The only job of a text of one document; NULL without one. */
static mpijob *parse(const char *text, size_t len)
{
	mpijob *job = NULL;

	(void)mpijob_parse(text, len, NULL, &job, NULL);
	return job;
}

static void compare(const char *data, size_t size, const struct mpijob_edit *const *edits,
    const mpijob_text *out)
{
	mpijob *job = parse(data, size), *after;

	if (job) {
		MUST(mpijob_edit_job(job, edits, 1, NULL) == 0);
		after = parse(mpijob_text_data(out), mpijob_text_len(out));
		MUST(after);
		MUST(mpijob_node_equal(mpijob_doc_root(mpijob_document(job)),
		    mpijob_doc_root(mpijob_document(after))));
		mpijob_free(after);
	}
	mpijob_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mpijob_edit *edits[1];
	const char *text = (const char *)data;
	mpijob_text *out = mpijob_text_new(), *again = mpijob_text_new();
	size_t sum = size;

	MUST(out && again);
	for (size_t i = 0; i < size; i++)
		sum += data[i];
	edits[0] = &all[sum % COUNT];
	if (edit(text, size, edits, out) == 0) {
		compare(text, size, edits, out);
		/* An edit of an item moves on to the next one. */
		if (edits[0]->yaml) {
			MUST(edit(mpijob_text_data(out), mpijob_text_len(out), edits, again) == 0);
			MUST(strcmp(mpijob_text_data(out), mpijob_text_data(again)) == 0);
		}
	}
	mpijob_text_free(again);
	mpijob_text_free(out);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a configuration of the operator and, behind a line "---", as a job: what holds is
 * worked out or refused, the job stays as it was, nothing but what a configuration may reach
 * differs in the copy, features are within their bounds, and a limit on workers holds.
 */
#include "base/text.h"

#include <mpijob/mpijob.h>
#include <mpijob/operator_config.h>

#include <stdlib.h>
#include <string.h>

#define MARK         "\n---\n"
#define MOST_PLANNED 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int true_)
{
	if (!true_)
		abort();
}

static const char *find_mark(const char *text, size_t size)
{
	for (size_t i = 0; i + strlen(MARK) <= size; i++)
		if (memcmp(text + i, MARK, strlen(MARK)) == 0)
			return text + i;
	return NULL;
}

static char *print(const mpijob *job)
{
	struct mpijob_text text = { 0 };

	if (mpijob_node_write(mpijob_doc_root(mpijob_document(job)), MPIJOB_FORMAT_JSON_COMPACT,
		mpijob_text_write, &text))
		mpijob__base_text_release(&text);
	return text.data;
}

static int is_empty(const mpijob_node *node)
{
	return mpijob_node_kind(node) == MPIJOB_NODE_NULL ||
	       (mpijob_node_kind(node) == MPIJOB_NODE_MAP && mpijob_node_count(node) == 0);
}

/* The document without what a configuration reaches. */
static mpijob_doc *rest_of(const mpijob *job)
{
	static const char *const keys[] = { "cleanPodPolicy", "ttlSecondsAfterFinished",
		"activeDeadlineSeconds" };
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(mpijob_document(job)), NULL);
	mpijob_node *spec, *policy;

	need(doc != NULL);
	spec = mpijob_doc_edit(doc, "spec");
	policy = mpijob_doc_edit(doc, "spec.runPolicy");
	if (mpijob_node_kind(policy) == MPIJOB_NODE_MAP) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			mpijob_node_remove(policy, keys[i]);
	}
	/* What was not there, or null, may be a map now. */
	if (is_empty(policy))
		mpijob_node_remove(spec, "runPolicy");
	if (mpijob_node_kind(mpijob_doc_edit(doc, "spec.mpiReplicaSpecs[Worker]")) ==
	    MPIJOB_NODE_MAP)
		mpijob_node_remove(mpijob_doc_edit(doc, "spec.mpiReplicaSpecs[Worker]"),
		    "replicas");
	if (is_empty(spec))
		mpijob_node_remove(mpijob_doc_edit(doc, ""), "spec");
	return doc;
}

static void check_copy(const mpijob *job, const mpijob_effective *effective)
{
	mpijob_doc *before, *after;

	if (mpijob_effective_job(effective) == job)
		return;
	before = rest_of(job);
	after = rest_of(mpijob_effective_job(effective));
	need(mpijob_node_equal(mpijob_doc_root(before), mpijob_doc_root(after)));
	mpijob_doc_free(before);
	mpijob_doc_free(after);
}

static void check_values(const mpijob_effective *effective)
{
	const struct mpijob_effective_value *value;

	for (size_t i = 0; (value = mpijob_effective_at(effective, i)) != NULL; i++) {
		const struct mpijob_feature *feature = mpijob_feature_find(value->field);
		int32_t is = feature ? mpijob_features_get(mpijob_effective_features(effective),
					   feature->name)
				     : 0;

		need(value->origin >= MPIJOB_ORIGIN_BUILT_IN &&
		     value->origin <= MPIJOB_ORIGIN_LIMIT);
		need(value->rule >= -1 &&
		     (value->wanted == NULL) == (value->origin != MPIJOB_ORIGIN_LIMIT));
		need(!feature || is == 0 || (is >= feature->minimum && is <= feature->maximum));
	}
}

/* With nothing there, no more workers are made than may be. */
static void check_plan(const mpijob_effective *effective)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	int32_t most = mpijob_effective_max_workers(effective);
	mpijob *job = mpijob_clone(mpijob_effective_job(effective));
	mpijob_facts *facts = mpijob_facts_new();
	mpijob_plan *plan = NULL;
	int32_t workers = 0;

	need(job != NULL && facts != NULL);
	render.features = mpijob_effective_features(effective);
	options.now_ms = 1000;
	options.render = &render;
	options.max_workers = most;
	if (most > 0 && most < MOST_PLANNED && mpijob_identify(job, "pi", NULL, "u") == 0 &&
	    mpijob_plan_new(job, facts, &options, &plan, NULL) == 0) {
		for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++)
			workers += mpijob_plan_at(plan, i)->role == MPIJOB_ROLE_WORKER;
		need(workers <= most);
	}
	mpijob_plan_free(plan);
	mpijob_facts_free(facts);
	mpijob_free(job);
}

static void check(const mpijob_operator_config *config, const mpijob *job)
{
	mpijob_effective *effective = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	char *before = print(job), *after;

	need(mpijob_effective_new(config, job, NULL, &effective, diag) == 0);
	check_values(effective);
	check_copy(job, effective);
	check_plan(effective);
	after = print(job);
	need(before && after && strcmp(before, after) == 0);
	free(before);
	free(after);
	mpijob_effective_free(effective);
	mpijob_diag_free(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *mark = find_mark(text, size);
	size_t config_size = mark ? (size_t)(mark - text) : size,
	       rest = mark ? size - config_size - strlen(MARK) : 0;
	mpijob_operator_config *config = NULL, *copy = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = NULL;
	int code = mpijob_operator_config_parse(text, config_size, NULL, &config, diag);

	need((code == 0) == (config != NULL));
	need(code == 0 || mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) > 0);
	copy = config ? mpijob_operator_config_clone(config) : NULL;
	need((copy != NULL) == (config != NULL));
	if (mark && mpijob_parse(mark + strlen(MARK), rest, NULL, &job, NULL) == 0) {
		check(copy, job);
		check(NULL, job);
	}
	mpijob_free(job);
	mpijob_operator_config_free(copy);
	mpijob_operator_config_free(config);
	mpijob_diag_free(diag);
	return 0;
}

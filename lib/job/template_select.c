/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of selectors, and of fields that place pods: affinity, spread constraints, tolerations.
 */
#include <string.h>

#include "base/api.h"
#include "job/template_walk.h"

static int is_any(const char *word, const char *a, const char *b)
{
	return word && (strcmp(word, a) == 0 || strcmp(word, b) == 0);
}

static void check_values(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *requirement, mpijob__job_syntax *form)
{
	struct mpijob__job_step list = mpijob__job_template_child(requirement, "values");

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(requirement->node, "values")); i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&list, i);
		const char *value = mpijob_node_string(entry.node);
		const char *must = value ? form(value) : NULL;

		if (must)
			mpijob__job_template_error(at, &entry, NULL, "invalid-value", "Invalid",
			    "'%s' must be %s", value, must);
	}
}

/* Check the operator of a label requirement; `numbers` allows Gt and Lt too. */
static void check_operator(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *requirement, int numbers)
{
	const char *op = mpijob__job_template_text(requirement->node, "operator");
	size_t count = mpijob_node_count(mpijob__job_template_list(requirement->node, "values"));

	if (is_any(op, "In", "NotIn") && !count)
		mpijob__job_template_error(at, requirement, "values", "missing", "Required",
		    "%s needs values", op);
	else if (is_any(op, "Exists", "DoesNotExist") && count)
		mpijob__job_template_error(at, requirement, "values", "forbidden", "Forbidden",
		    "%s takes no values", op);
	else if (numbers && is_any(op, "Gt", "Lt") && count != 1)
		mpijob__job_template_error(at, requirement, "values", "missing", "Required",
		    "%s needs one value", op);
	else if (!is_any(op, "In", "NotIn") && !is_any(op, "Exists", "DoesNotExist") &&
		 !(numbers && is_any(op, "Gt", "Lt")))
		mpijob__job_template_error(at, requirement, "operator", "unsupported-value",
		    "Invalid", "must be In, NotIn, Exists%s DoesNotExist%s", numbers ? "," : " or",
		    numbers ? ", Gt or Lt" : "");
}

static void check_key(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *requirement)
{
	const char *key = mpijob_node_string(mpijob_node_get(requirement->node, "key"));
	const char *must = key ? mpijob__job_syntax_key(key) : NULL;

	if (must)
		mpijob__job_template_error(at, requirement, "key", "invalid-value", "Invalid",
		    "'%s' must be %s", key, must);
}

void mpijob__job_template_selector(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step labels = mpijob__job_template_child(step, "matchLabels");
	struct mpijob__job_step list = mpijob__job_template_child(step, "matchExpressions");

	/* The server drops the parent: the feature is off in 1.36. */
	if (step->before && step->before->type == SCHEMA_ClusterTrustBundleProjection)
		return;
	for (size_t i = 0;
	     mpijob_node_kind(labels.node) == MPIJOB_NODE_MAP && i < mpijob_node_count(labels.node);
	     i++) {
		const char *key = mpijob_node_key(labels.node, i);
		const char *value = mpijob_node_string(mpijob_node_at(labels.node, i));

		if (mpijob__job_syntax_key(key))
			mpijob__job_template_error(at, &labels, key, "invalid-label", "Invalid",
			    "the key must be %s", mpijob__job_syntax_key(key));
		if (value && mpijob__job_syntax_value(value))
			mpijob__job_template_error(at, &labels, key, "invalid-label", "Invalid",
			    "'%s' must be %s", value, mpijob__job_syntax_value(value));
	}
	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(step->node, "matchExpressions"));
	     i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&list, i);

		if (mpijob_node_kind(entry.node) != MPIJOB_NODE_MAP)
			continue;
		check_operator(at, &entry, 0);
		check_key(at, &entry);
		check_values(at, &entry, mpijob__job_syntax_value);
	}
}

static void check_node_field(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *requirement)
{
	const char *key = mpijob__job_template_text(requirement->node, "key");

	if (!is_any(mpijob__job_template_text(requirement->node, "operator"), "In", "NotIn"))
		mpijob__job_template_error(at, requirement, "operator", "unsupported-value",
		    "Invalid", "must be In or NotIn");
	if (mpijob_node_count(mpijob__job_template_list(requirement->node, "values")) != 1)
		mpijob__job_template_error(at, requirement, "values", "missing", "Required",
		    "needs one value");
	if (!key || strcmp(key, "metadata.name") != 0)
		mpijob__job_template_error(at, requirement, "key", "unsupported-value", "Invalid",
		    "must be metadata.name");
	check_values(at, requirement, mpijob__job_syntax_subdomain);
}

void mpijob__job_template_node_selector(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step labels = mpijob__job_template_child(step, "matchExpressions");
	struct mpijob__job_step fields = mpijob__job_template_child(step, "matchFields");
	int preferred = step->key && strcmp(step->key, "preference") == 0;

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(step->node, "matchExpressions"));
	     i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&labels, i);

		if (mpijob_node_kind(entry.node) != MPIJOB_NODE_MAP)
			continue;
		check_operator(at, &entry, 1);
		check_key(at, &entry);
		/* The server does not check the values of a preference. */
		if (!preferred)
			check_values(at, &entry, mpijob__job_syntax_value);
	}
	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(step->node, "matchFields")); i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&fields, i);

		if (mpijob_node_kind(entry.node) == MPIJOB_NODE_MAP)
			check_node_field(at, &entry);
	}
}

/* Whether the pod will have a label. The server then adds its key to the selector. */
static int pod_has_label(const struct mpijob__job_pod_template *at, const char *key)
{
	static const char own[] = MPIJOB__BASE_API_LABELS;
	const mpijob_node *labels =
	    mpijob__job_template_map(mpijob__job_template_map(at->node, "metadata"), "labels");
	const char *name =
	    !at->pod && strncmp(key, own, sizeof(own) - 1) == 0 ? key + sizeof(own) - 1 : "";

	return mpijob__job_template_has(labels, key) || strcmp(name, "operator-name") == 0 ||
	       is_any(name, "job-name", "job-role") ||
	       (at->worker && strcmp(name, "replica-index") == 0);
}

/* The keys of a selector's expressions, and those that occur twice. */
struct selected {
	struct mpijob__doc_names once, again;
};

static void collect_keys(const struct mpijob__job_pod_template *at, const mpijob_node *selector,
    struct selected *keys)
{
	const mpijob_node *list = mpijob__job_template_list(selector, "matchExpressions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *key = mpijob__job_template_text(mpijob_node_at(list, i), "key");

		if (mpijob__job_template_names_repeat(at, &keys->once, key))
			mpijob__job_template_names_repeat(at, &keys->again, key);
	}
}

/* Whether a selector has a key, except once as a plain label. */
static int is_selected(const struct mpijob__job_pod_template *at, const mpijob_node *selector,
    const struct selected *keys, const char *key)
{
	int count =
	    mpijob__job_template_has(mpijob__job_template_map(selector, "matchLabels"), key);

	count += pod_has_label(at, key);
	count += mpijob__job_template_names_find(&keys->once, key, NULL) +
		 mpijob__job_template_names_find(&keys->again, key, NULL);
	return count > 1;
}

static void collect_texts(const struct mpijob__job_pod_template *at, const mpijob_node *list,
    struct mpijob__doc_names *names)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++)
		mpijob__job_template_names_repeat(at, names,
		    mpijob_node_string(mpijob_node_at(list, i)));
}

/* Check matchLabelKeys or mismatchLabelKeys. */
static void check_label_keys(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const char *field)
{
	const mpijob_node *selector = mpijob__job_template_map(step->node, "labelSelector");
	const mpijob_node *others = mpijob__job_template_list(step->node, "mismatchLabelKeys");
	struct mpijob__job_step list = mpijob__job_template_child(step, field);
	int match = strcmp(field, "matchLabelKeys") == 0;
	struct selected keys = { .once = { .count = 0 } };
	struct mpijob__doc_names mismatched = { 0 };

	if (!mpijob_node_count(mpijob__job_template_list(step->node, field)))
		return;
	if (match) {
		collect_keys(at, selector, &keys);
		collect_texts(at, others, &mismatched);
	}
	if (!selector)
		mpijob__job_template_error(at, step, field, "conflict", "Forbidden",
		    "only with a labelSelector");
	for (size_t i = 0; i < mpijob_node_count(list.node); i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&list, i);
		const char *key = mpijob_node_string(entry.node);

		if (!key)
			continue;
		if (mpijob__job_syntax_key(key))
			mpijob__job_template_error(at, &entry, NULL, "invalid-value", "Invalid",
			    "'%s' must be %s", key, mpijob__job_syntax_key(key));
		if (match && selector && is_selected(at, selector, &keys, key))
			mpijob__job_template_error(at, &entry, NULL, "duplicate", "Invalid",
			    "labelSelector has '%s' too", key);
		if (match && mpijob__job_template_names_find(&mismatched, key, NULL))
			mpijob__job_template_error(at, &entry, NULL, "duplicate", "Invalid",
			    "mismatchLabelKeys has '%s' too", key);
	}
	mpijob__doc_names_release(&keys.once);
	mpijob__doc_names_release(&keys.again);
	mpijob__doc_names_release(&mismatched);
}

void mpijob__job_template_affinity(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	check_label_keys(at, step, "matchLabelKeys");
	check_label_keys(at, step, "mismatchLabelKeys");
}

void mpijob__job_template_spread(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *fallback = mpijob__job_template_text(step->node, "whenUnsatisfiable");

	check_label_keys(at, step, "matchLabelKeys");
	if (mpijob__job_template_has(step->node, "minDomains") && fallback &&
	    strcmp(fallback, "DoNotSchedule") != 0)
		mpijob__job_template_error(at, step, "minDomains", "conflict", "Invalid",
		    "only with whenUnsatisfiable: DoNotSchedule");
}

void mpijob__job_template_toleration(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *key = mpijob__job_template_text(step->node, "key");
	const char *op = mpijob__job_template_text(step->node, "operator");
	const char *effect = mpijob__job_template_text(step->node, "effect");
	const char *value = mpijob__job_template_text(step->node, "value");
	const char *must = value ? mpijob__job_syntax_value(value) : NULL;
	int exists = op && strcmp(op, "Exists") == 0;

	if (!key && !exists)
		mpijob__job_template_error(at, step, "operator", "conflict", "Invalid",
		    "must be Exists without a key");
	if (mpijob__job_template_has(step->node, "tolerationSeconds") &&
	    (!effect || strcmp(effect, "NoExecute") != 0))
		mpijob__job_template_error(at, step, "effect", "conflict", "Invalid",
		    "must be NoExecute with tolerationSeconds");
	if (exists && value)
		mpijob__job_template_error(at, step, "value", "conflict", "Invalid",
		    "must be empty with operator Exists");
	else if (must)
		mpijob__job_template_error(at, step, "value", "invalid-value", "Invalid",
		    "'%s' must be %s", value, must);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the objects of a cluster from documents, as a controller reads them from watches. Knows
 * which of them belong to a job, by label, owner and name, and that the items of a list of kubectl
 * do not always name their kind.
 */
#include <stdlib.h>
#include <string.h>

#include "facts.h"

#include "base/api.h"
#include "base/text.h"

int facts_begin(struct facts *facts, const char *name, const char *namespace_)
{
	*facts = (struct facts){ .name = name, .namespace_ = namespace_ };
	facts->all = mpijob_facts_new();
	facts->observation = mpijob_observation_new();
	return facts->all && facts->observation ? 0 : MPIJOB_ERR_NOMEM;
}

void facts_free(struct facts *facts)
{
	mpijob_facts_free(facts->all);
	mpijob_observation_free(facts->observation);
	free(facts->uid);
	free(facts->classes);
	free(facts->class_pointers);
}

/* J, J-config, J-ssh, J-launcher..., J-worker-... */
static int is_child_name(const char *name, const char *job)
{
	static const char *const ends[] = { "", "-config", "-ssh", "-launcher" };
	size_t len = strlen(job);

	if (!name || strncmp(name, job, len) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(name + len, ends[i]) == 0)
			return 1;
	return strncmp(name + len, "-worker-", 8) == 0 ||
	       strncmp(name + len, "-launcher-", 10) == 0;
}

static int belongs(const struct facts *facts, const struct mpijob_observed *seen)
{
	if (!seen->pod && !seen->launcher && !seen->child)
		return 0;
	if (seen->namespace_ && strcmp(seen->namespace_, facts->namespace_) != 0)
		return 0;
	if (seen->job_name)
		return mpijob__base_text_is(seen->job_name, facts->name);
	return mpijob__base_text_is(seen->owner_name, facts->name) ||
	       is_child_name(seen->name, facts->name);
}

static int take_class(struct facts *facts, const mpijob_node *object)
{
	const char *name = mpijob_node_string(mpijob_node_find(object, "metadata.name"));
	size_t count = facts->classes_count + 1;
	int64_t value = 0;

	if (!name || !mpijob_node_int(mpijob_node_get(object, "value"), &value) ||
	    value < INT32_MIN || value > INT32_MAX)
		return 0;
	struct mpijob_priority_class *classes = realloc(facts->classes, count * sizeof(*classes));
	if (!classes)
		return MPIJOB_ERR_NOMEM;
	facts->classes = classes;
	const struct mpijob_priority_class **pointers =
	    realloc(facts->class_pointers, count * sizeof(*pointers));
	if (!pointers)
		return MPIJOB_ERR_NOMEM;
	facts->class_pointers = pointers;
	classes[facts->classes_count] =
	    (struct mpijob_priority_class){ sizeof(*classes), name, (int32_t)value, 0 };
	facts->classes_count = count;
	for (size_t i = 0; i < count; i++)
		pointers[i] = &classes[i];
	return 0;
}

static int take_text(struct facts *facts, const mpijob_text *text, mpijob_diag *diag)
{
	const struct mpijob_observed *seen;
	int code = mpijob_observe(facts->observation, mpijob_text_data(text), mpijob_text_len(text),
	    &seen, diag);

	if (code || !belongs(facts, seen))
		return code;
	if (!facts->uid && mpijob__base_text_is(seen->owner_kind, MPIJOB__BASE_API_KIND) &&
	    mpijob__base_text_is(seen->owner_name, facts->name) && seen->owner_uid) {
		facts->uid = strdup(seen->owner_uid);
		if (!facts->uid)
			return MPIJOB_ERR_NOMEM;
	}
	facts->taken++;
	code = mpijob_facts_apply(facts->all, seen);
	return code < 0 ? code : 0;
}

static int take_one(struct facts *facts, const mpijob_node *object, mpijob_diag *diag)
{
	if (mpijob__base_text_is(mpijob_node_string(mpijob_node_get(object, "kind")),
		"PriorityClass"))
		return take_class(facts, object);
	mpijob_text *text = mpijob_text_new();
	int code =
	    text ? mpijob_node_write(object, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, text)
		 : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = take_text(facts, text, diag);
	mpijob_text_free(text);
	return code;
}

/* Items of a PodList are Pods. */
static int take_item(struct facts *facts, const mpijob_node *list, const char *kind,
    const mpijob_node *item, mpijob_diag *diag)
{
	char name[64];
	size_t len = strlen(kind) - strlen("List");

	if (mpijob_node_get(item, "kind") || len == 0 || len >= sizeof(name))
		return take_one(facts, item, diag);
	memcpy(name, kind, len);
	name[len] = '\0';
	mpijob_doc *doc = mpijob_doc_from_node(item, NULL);
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node_put_string(doc, root, "apiVersion",
	    mpijob_node_string(mpijob_node_get(list, "apiVersion")));
	mpijob_node_put_string(doc, root, "kind", name);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = take_one(facts, root, diag);
	mpijob_doc_free(doc);
	return code;
}

int facts_take(struct facts *facts, const mpijob_node *object, mpijob_diag *diag)
{
	const char *kind = mpijob_node_string(mpijob_node_get(object, "kind"));
	const mpijob_node *items = mpijob_node_get(object, "items");
	size_t len = kind ? strlen(kind) : 0;
	int code = 0;

	if (len < 4 || strcmp(kind + len - 4, "List") != 0 ||
	    mpijob_node_kind(items) != MPIJOB_NODE_LIST)
		return take_one(facts, object, diag);
	for (size_t i = 0; i < mpijob_node_count(items) && code == 0; i++)
		code = take_item(facts, object, kind, mpijob_node_at(items, i), diag);
	return code;
}

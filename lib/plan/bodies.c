/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of actions: rendered objects for creates, merge patches for patches.
 *
 * A child is rendered when a check or a body first needs it, once for all actions of a plan. The
 * key pair is made for one body and wiped afterwards. A patch contains the UID of its object, so it
 * cannot change another object of the same name. The patches of the job's status and the one that
 * suspends the launcher also contain the resourceVersion, because they depend on other fields. A
 * merge patch cannot replace a map, so keys that must be removed are null.
 */
#include "plan/plan.h"

#include "job/job.h"
#include "base/time.h"
#include "render/ssh_key.h"

#include <stdlib.h>
#include <string.h>

struct mpijob__plan_bodies {
	mpijob_objects *objects; /* NULL until the first rendering */
};

int mpijob__plan_bodies_new(struct mpijob_plan *plan)
{
	plan->bodies = calloc(1, sizeof(*plan->bodies));
	return plan->bodies ? 0 : MPIJOB_ERR_NOMEM;
}

void mpijob__plan_bodies_free(struct mpijob__plan_bodies *bodies)
{
	if (!bodies)
		return;
	mpijob_objects_free(bodies->objects);
	free(bodies);
}

static int prepare_objects(const struct mpijob_plan *plan, int all_must_fit)
{
	static const uint8_t none[1] = { 0 };
	struct mpijob__render_subject now = plan->subject;

	if (plan->bodies->objects)
		return 0;
	now.options.running = plan->workers.runs ? plan->workers.runs : none;
	now.options.running_count = plan->workers.runs ? (size_t)plan->workers.wanted : 0;
	now.all_must_fit = all_must_fit;
	return mpijob__render_objects_new(&now, &plan->bodies->objects);
}

int mpijob__plan_bodies_check(struct mpijob_plan *plan)
{
	mpijob_diag *findings = mpijob_diag_new();
	int code = findings ? prepare_objects(plan, 1) : MPIJOB_ERR_NOMEM;

	if (!code)
		code = mpijob__render_objects_make(plan->bodies->objects, findings);
	if (code == MPIJOB_ERR_SPEC)
		mpijob__plan_reject(plan, findings);
	else if (code)
		mpijob__plan_fail(plan, code);
	mpijob_diag_free(findings);
	return !code;
}

static int write_create(const struct mpijob_plan *plan, const struct mpijob_action *action,
    mpijob_write_fn write, void *user)
{
	int code = prepare_objects(plan, 0);

	return code ? code
		    : mpijob__render_objects_write_child(plan->bodies->objects, action->role,
			  action->index, write, user);
}

static int write_secret(const struct mpijob_plan *plan, const uint8_t *entropy, size_t entropy_len,
    mpijob_write_fn write, void *user)
{
	int code = prepare_objects(plan, 0);

	return code ? code
		    : mpijob__render_objects_write_secret(plan->bodies->objects, entropy,
			  entropy_len, write, user);
}

static int write_word(const char *text, mpijob_write_fn write, void *user)
{
	return write(user, text, strlen(text));
}

/* Written without a document, because keys must not be in a tree. A UID of a server contains no
 * character that JSON escapes. */
static int write_secret_patch(const struct mpijob_action *action, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user)
{
	struct mpijob__render_ssh_key *key = NULL;
	int code;

	if (strpbrk(action->uid, "\"\\"))
		return MPIJOB_ERR_USAGE;
	code = mpijob__render_ssh_key_new(entropy, entropy_len, &key, NULL);
	if (code)
		return code;
	code = write_word("{\"metadata\":{\"uid\":\"", write, user);
	if (!code)
		code = write_word(action->uid, write, user);
	if (!code)
		code = write_word("\"},\"data\":{\"" MPIJOB__RENDER_KEY_SSH_PRIVATE "\":\"", write,
		    user);
	if (!code)
		code = write_word(key->pem_base64, write, user);
	if (!code)
		code = write_word("\",\"" MPIJOB__RENDER_KEY_SSH_PUBLIC "\":\"", write, user);
	if (!code)
		code = write_word(key->line_base64, write, user);
	if (!code)
		code = write_word("\"}}", write, user);
	mpijob__render_ssh_key_free(key);
	return code;
}

/* Put the wanted map, with null for each key that only `former` has. */
static void put_replaced(mpijob_doc *doc, mpijob_node *parent, const char *key,
    const mpijob_node *rendered_child, const mpijob_doc *old_map)
{
	const mpijob_node *old = old_map ? mpijob_doc_root(old_map) : NULL;
	mpijob_node *map;

	if (!rendered_child) {
		mpijob_node_put(doc, parent, key, mpijob_node_new(doc, MPIJOB_NODE_NULL));
		return;
	}
	map = mpijob_node_put_copy(doc, parent, key, rendered_child);
	for (size_t i = 0; i < mpijob_node_count(old); i++) {
		const char *name = mpijob_node_key(old, i);

		if (!mpijob_node_get(rendered_child, name))
			mpijob_node_put(doc, map, name, mpijob_node_new(doc, MPIJOB_NODE_NULL));
	}
}

/* Put the wanted value, or null. */
static void put_or_null(mpijob_doc *doc, mpijob_node *parent, const char *key,
    const mpijob_node *rendered_child)
{
	if (rendered_child)
		mpijob_node_put_copy(doc, parent, key, rendered_child);
	else
		mpijob_node_put(doc, parent, key, mpijob_node_new(doc, MPIJOB_NODE_NULL));
}

static void fill_service(const struct mpijob_plan *plan, mpijob_doc *doc, const mpijob_node *object)
{
	mpijob_node *spec = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "spec");

	put_replaced(doc, spec, "selector", mpijob_node_find(object, "spec.selector"),
	    plan->selector);
	put_or_null(doc, spec, "publishNotReadyAddresses",
	    mpijob_node_find(object, "spec.publishNotReadyAddresses"));
}

static void fill_network_policy(const struct mpijob_plan *plan, mpijob_doc *doc,
    const mpijob_node *object)
{
	mpijob_node *spec = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "spec"), *pods;

	pods = mpijob_node_put_map(doc, spec, "podSelector");
	put_replaced(doc, pods, "matchLabels",
	    mpijob_node_find(object, "spec.podSelector.matchLabels"), plan->match_labels);
	mpijob_node_put(doc, pods, "matchExpressions", mpijob_node_new(doc, MPIJOB_NODE_NULL));
	mpijob_node_put_copy(doc, spec, "policyTypes",
	    mpijob_node_find(object, "spec.policyTypes"));
	mpijob_node_put_copy(doc, spec, "ingress", mpijob_node_find(object, "spec.ingress"));
}

static void fill_pod_group(const struct mpijob_plan *plan, mpijob_doc *doc,
    const mpijob_node *object)
{
	const mpijob_node *rendered_child = mpijob_node_get(object, "spec");
	mpijob_node *spec = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "spec");

	for (size_t i = 0; i < mpijob_node_count(rendered_child); i++)
		mpijob_node_put_copy(doc, spec, mpijob_node_key(rendered_child, i),
		    mpijob_node_at(rendered_child, i));
	put_replaced(doc, spec, "minResources", mpijob_node_get(rendered_child, "minResources"),
	    plan->min_resources);
}

static void fill_stop(const struct mpijob_plan *plan, mpijob_doc *doc)
{
	if (plan->suspend_version)
		mpijob_node_put_string(doc, mpijob_doc_edit(doc, "metadata"), "resourceVersion",
		    plan->suspend_version);
	mpijob_node_put_bool(doc, mpijob_doc_make(doc, "spec"), "suspend", 1);
}

static void fill_launcher(const struct mpijob_plan *plan, mpijob_doc *doc,
    const mpijob_node *object)
{
	const mpijob_node *rendered_child = mpijob_node_find(object, "spec.template");
	mpijob_node *pod_template = mpijob_doc_make(doc, "spec.template");
	mpijob_node *metadata = mpijob_node_put_map(doc, pod_template, "metadata");
	mpijob_node *spec = mpijob_node_put_map(doc, pod_template, "spec");

	/* Labels and annotations of other controllers are kept. */
	mpijob_node_put_copy(doc, metadata, "labels",
	    mpijob_node_find(rendered_child, "metadata.labels"));
	mpijob_node_put_copy(doc, metadata, "annotations",
	    mpijob_node_find(rendered_child, "metadata.annotations"));
	put_replaced(doc, spec, "nodeSelector",
	    mpijob_node_find(rendered_child, "spec.nodeSelector"), plan->node_selector);
	put_or_null(doc, spec, "tolerations", mpijob_node_find(rendered_child, "spec.tolerations"));
	put_or_null(doc, spec, "schedulingGates",
	    mpijob_node_find(rendered_child, "spec.schedulingGates"));
	mpijob_node_put_bool(doc, mpijob_doc_edit(doc, "spec"), "suspend", 0);
}

static void put_time(mpijob_doc *doc, mpijob_node *map, const char *key, int has, int64_t seconds)
{
	char text[MPIJOB__BASE_TIME_SIZE];

	if (has && mpijob__base_time_format(seconds, text))
		mpijob_node_put_string(doc, map, key, text);
}

static const char *status_word(int32_t status)
{
	if (status == MPIJOB_CONDITION_TRUE)
		return "True";
	return status == MPIJOB_CONDITION_FALSE ? "False" : "Unknown";
}

static void put_condition(mpijob_doc *doc, mpijob_node *list,
    const struct mpijob__plan_condition *condition)
{
	mpijob_node *map = mpijob_node_append_map(doc, list);

	put_time(doc, map, "lastTransitionTime", condition->has_transition_time,
	    condition->transition_time);
	put_time(doc, map, "lastUpdateTime", condition->has_update_time, condition->update_time);
	mpijob_node_put_string(doc, map, "message", condition->view.message);
	mpijob_node_put_string(doc, map, "reason", condition->view.reason);
	mpijob_node_put_string(doc, map, "status", status_word(condition->view.status));
	mpijob_node_put_string(doc, map, "type", condition->view.type);
}

/* A count of 0 is absent, as in mpi-operator: null removes the old one. */
static void put_count(mpijob_doc *doc, mpijob_node *map, const char *key, int32_t count,
    int32_t old)
{
	if (count == old)
		return;
	if (count)
		mpijob_node_put_int(doc, map, key, count);
	else
		mpijob_node_put(doc, map, key, mpijob_node_new(doc, MPIJOB_NODE_NULL));
}

static void put_replicas(mpijob_doc *doc, const char *role,
    const struct mpijob_replica_status *status, const struct mpijob_replica_status *old, int had)
{
	mpijob_node *map;

	if (had && status->active == old->active && status->succeeded == old->succeeded &&
	    status->failed == old->failed)
		return;
	map = mpijob_node_put_map(doc, mpijob_doc_make(doc, "status.replicaStatuses"), role);
	put_count(doc, map, "active", status->active, old->active);
	put_count(doc, map, "succeeded", status->succeeded, old->succeeded);
	put_count(doc, map, "failed", status->failed, old->failed);
}

/* A list is sent as a whole. An unchanged condition is copied from the old status, with its unknown
 * fields. */
static void put_conditions(const struct mpijob_plan *plan, mpijob_doc *doc, mpijob_node *status)
{
	const mpijob_node *old_map =
	    mpijob_node_find(mpijob__job_node(plan->job), "status.conditions");
	const struct mpijob__plan_draft *draft = &plan->draft;
	int changed = draft->count != plan->old.count;
	mpijob_node *list;

	for (size_t i = 0; i < draft->count; i++)
		changed |= draft->conditions[i].origin != i;
	if (!changed)
		return;
	list = mpijob_node_put_list(doc, status, "conditions");
	for (size_t i = 0; i < draft->count; i++) {
		const struct mpijob__plan_condition *condition = &draft->conditions[i];

		if (condition->origin < mpijob_node_count(old_map))
			mpijob_node_append(doc, list,
			    mpijob_node_copy(doc, mpijob_node_at(old_map, condition->origin)));
		else
			put_condition(doc, list, condition);
	}
}

static void fill_status(const struct mpijob_plan *plan, mpijob_doc *doc)
{
	const struct mpijob__plan_draft *draft = &plan->draft, *old = &plan->old;
	mpijob_node *status = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "status");

	mpijob_node_put_string(doc, mpijob_doc_edit(doc, "metadata"), "resourceVersion",
	    mpijob_node_string(
		mpijob_node_find(mpijob__job_node(plan->job), "metadata.resourceVersion")));
	put_conditions(plan, doc, status);
	if (!old->has_start_time || old->start_time != draft->start_time)
		put_time(doc, status, "startTime", draft->has_start_time, draft->start_time);
	if (!old->has_completion_time || old->completion_time != draft->completion_time)
		put_time(doc, status, "completionTime", draft->has_completion_time,
		    draft->completion_time);
	if (old->has_completion_time && !draft->has_completion_time)
		mpijob_node_put(doc, status, "completionTime",
		    mpijob_node_new(doc, MPIJOB_NODE_NULL));
	if (draft->has_launcher)
		put_replicas(doc, "Launcher", &draft->launcher, &old->launcher, old->has_launcher);
	if (draft->has_worker)
		put_replicas(doc, "Worker", &draft->worker, &old->worker, old->has_worker);
}

static void fill_config_map(mpijob_doc *doc, const mpijob_node *object)
{
	const mpijob_node *data = mpijob_node_get(object, "data");
	mpijob_node *map = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "data");

	mpijob_node_put_copy(doc, map, MPIJOB__RENDER_KEY_HOSTFILE,
	    mpijob_node_get(data, MPIJOB__RENDER_KEY_HOSTFILE));
	mpijob_node_put_copy(doc, map, MPIJOB__RENDER_KEY_DISCOVER_HOSTS,
	    mpijob_node_get(data, MPIJOB__RENDER_KEY_DISCOVER_HOSTS));
}

static void fill_patch(const struct mpijob_plan *plan, int32_t body, mpijob_doc *doc,
    const mpijob_node *object)
{
	mpijob_node *root = mpijob_doc_edit(doc, "");

	switch (body) {
	case MPIJOB__PLAN_BODY_SERVICE: fill_service(plan, doc, object); break;
	case MPIJOB__PLAN_BODY_NETWORK_POLICY: fill_network_policy(plan, doc, object); break;
	case MPIJOB__PLAN_BODY_CONFIG_MAP: fill_config_map(doc, object); break;
	case MPIJOB__PLAN_BODY_POD_GROUP: fill_pod_group(plan, doc, object); break;
	case MPIJOB__PLAN_BODY_SUSPEND: fill_stop(plan, doc); break;
	case MPIJOB__PLAN_BODY_RESUME:
		mpijob_node_put_bool(doc, mpijob_node_put_map(doc, root, "spec"), "suspend", 0);
		break;
	case MPIJOB__PLAN_BODY_RESUME_CHANGED: fill_launcher(plan, doc, object); break;
	case MPIJOB__PLAN_BODY_CLEAR_START:
		mpijob_node_put(doc, mpijob_node_put_map(doc, root, "status"), "startTime",
		    mpijob_node_new(doc, MPIJOB_NODE_NULL));
		break;
	case MPIJOB__PLAN_BODY_STATUS: fill_status(plan, doc); break;
	default:
		mpijob_node_put_map(doc, mpijob_doc_make(doc, "status.replicaStatuses"),
		    "Launcher");
		break;
	}
}

/* The rendered child that a patch is made from; NULL for a patch without one. */
static int rendered_child(const struct mpijob_plan *plan, const struct mpijob__plan_action *action,
    const mpijob_doc **out)
{
	int code;

	*out = NULL;
	if (action->body != MPIJOB__PLAN_BODY_SERVICE &&
	    action->body != MPIJOB__PLAN_BODY_CONFIG_MAP &&
	    action->body != MPIJOB__PLAN_BODY_POD_GROUP &&
	    action->body != MPIJOB__PLAN_BODY_NETWORK_POLICY &&
	    action->body != MPIJOB__PLAN_BODY_RESUME_CHANGED)
		return 0;
	code = prepare_objects(plan, 0);
	return code ? code
		    : mpijob__render_objects_child(plan->bodies->objects, action->view.role, out);
}

static int write_patch(const struct mpijob_plan *plan, const struct mpijob__plan_action *action,
    mpijob_write_fn write, void *user)
{
	const mpijob_doc *object;
	mpijob_doc *doc = NULL;
	int code = rendered_child(plan, action, &object);

	if (!code) {
		doc = mpijob_doc_new();
		mpijob_node_put_string(doc,
		    mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "metadata"), "uid",
		    action->view.uid);
		fill_patch(plan, action->body, doc, object ? mpijob_doc_root(object) : NULL);
		code = mpijob_doc_error(doc);
	}
	if (!code)
		code = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, write,
		    user);
	mpijob_doc_free(doc);
	return code;
}

int mpijob_plan_write_body(const mpijob_plan *plan, size_t index, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user)
{
	const struct mpijob__plan_action *action;
	int needs_key;

	if (!plan || !write)
		return MPIJOB_ERR_USAGE;
	if (index >= plan->count || plan->actions[index].body == MPIJOB__PLAN_BODY_NONE)
		return MPIJOB_ERR_NOT_FOUND;
	action = &plan->actions[index];
	needs_key = action->view.role == MPIJOB_ROLE_SECRET;
	if (needs_key && (!entropy || entropy_len < MPIJOB_SSH_ENTROPY))
		return MPIJOB_ERR_USAGE;
	if (action->body == MPIJOB__PLAN_BODY_SECRET)
		return write_secret_patch(&action->view, entropy, entropy_len, write, user);
	if (action->body == MPIJOB__PLAN_BODY_CREATE && needs_key)
		return write_secret(plan, entropy, entropy_len, write, user);
	if (action->body == MPIJOB__PLAN_BODY_CREATE)
		return write_create(plan, &action->view, write, user);
	return write_patch(plan, action, write, user);
}

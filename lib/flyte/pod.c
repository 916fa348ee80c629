/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod of a role: one container, or the pod of the task, with Flyte's additions to each
 * container. Knows which container is the primary one, that it gets the name that the operators
 * expect, and what a role overrides in it: the image, and the arguments, which the role calls
 * "command".
 */
#include "base/text.h"
#include "flyte/flyte.h"

#include <string.h>

#define PRIMARY_KEY    "primary_container_name"
#define WORKER_COMMAND "worker_spec_command" /* of version 0, in the template's config */

void mpijob__flyte_pod_union(struct mpijob__flyte *f, mpijob_node *map, const mpijob_node *from)
{
	for (size_t i = 0; i < mpijob_node_count(from); i++) {
		const mpijob_node *value = mpijob_node_at(from, i);

		if (mpijob_node_string(value))
			mpijob_node_put_string(f->doc, map, mpijob_node_key(from, i),
			    mpijob_node_string(value));
	}
}

void mpijob__flyte_pod_tidy(mpijob_node *metadata)
{
	static const char *const maps[] = { "labels", "annotations" };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		if (mpijob_node_count(mpijob_node_get(metadata, maps[i])) == 0)
			mpijob_node_remove(metadata, maps[i]);
	}
}

mpijob_node *mpijob__flyte_pod_find(mpijob_node *spec, const char *name)
{
	mpijob_node *containers = mpijob_node_edit(spec, "containers");

	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		mpijob_node *container = mpijob_node_edit_at(containers, i);

		if (mpijob__base_text_is(mpijob_node_string(mpijob_node_get(container, "name")),
			name))
			return container;
	}
	return NULL;
}

/* ---- the pod of the task ---- */

static void put_words(struct mpijob__flyte *f, mpijob_node *container, const char *key,
    const mpijob_node *words)
{
	mpijob_node_remove(container, key);
	if (mpijob_node_count(words))
		mpijob_node_put_copy(f->doc, container, key, words);
}

static int put_variables(struct mpijob__flyte *f, mpijob_node *container, const mpijob_node *env)
{
	mpijob_node *list = mpijob_node_put_list(f->doc, container, "env");

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const mpijob_node *pair = mpijob_node_at(env, i);
		const char *key = mpijob__flyte_proto_text(pair, "key"),
			   *value = mpijob__flyte_proto_text(pair, "value");
		mpijob_node *entry = mpijob_node_append_map(f->doc, list);

		if (!key || !value)
			return mpijob__flyte_task_refuse(f, "container.env", pair,
			    "must have a key and a value that are strings");
		mpijob_node_put_string(f->doc, entry, "name", key);
		if (*value)
			mpijob_node_put_string(f->doc, entry, "value", value);
	}
	return 0;
}

static int from_container(struct mpijob__flyte *f, const mpijob_node *from, mpijob_node *spec)
{
	mpijob_node *container =
	    mpijob_node_append_map(f->doc, mpijob_node_put_list(f->doc, spec, "containers"));
	const char *image = mpijob__flyte_proto_text(from, "image");
	int rc;

	mpijob_node_put_string(f->doc, container, "name", FLYTE_CONTAINER);
	if (image && *image)
		mpijob_node_put_string(f->doc, container, "image", image);
	put_words(f, container, "command", mpijob__flyte_proto_get(from, "command"));
	put_words(f, container, "args", mpijob__flyte_proto_get(from, "args"));
	rc = put_variables(f, container, mpijob__flyte_proto_get(from, "env"));
	mpijob_node_put_string(f->doc, container, "terminationMessagePolicy",
	    "FallbackToLogsOnError");
	if (f->config.image_pull_policy && *f->config.image_pull_policy)
		mpijob_node_put_string(f->doc, container, "imagePullPolicy",
		    f->config.image_pull_policy);
	if (!rc)
		rc =
		    mpijob__flyte_resources_from_task(f, mpijob__flyte_proto_get(from, "resources"),
			"container.resources", mpijob_node_put_map(f->doc, container, "resources"));
	return rc;
}

/* Labels and annotations of a K8sPod, and its pod; the name of the primary container is
 * elsewhere. */
static int from_pod(struct mpijob__flyte *f, const mpijob_node *pod, mpijob_node *template)
{
	const mpijob_node *spec = mpijob__flyte_proto_get(pod, "podSpec"),
			  *metadata = mpijob__flyte_proto_get(pod, "metadata");

	if (mpijob_node_kind(spec) != MPIJOB_NODE_MAP)
		return mpijob__flyte_task_refuse(f, "k8sPod.podSpec", spec,
		    "must be the spec of a pod");
	mpijob__flyte_pod_union(f,
	    mpijob_node_edit(mpijob_node_edit(template, "metadata"), "annotations"),
	    mpijob__flyte_proto_get(metadata, "annotations"));
	mpijob__flyte_pod_union(f,
	    mpijob_node_edit(mpijob_node_edit(template, "metadata"), "labels"),
	    mpijob__flyte_proto_get(metadata, "labels"));
	mpijob_node_put_copy(f->doc, template, "spec", spec);
	return 0;
}

/* Make the pod of the task; `primary` receives the name of its primary container. */
static int make_raw(struct mpijob__flyte *f, mpijob_node *template, const char **primary)
{
	const mpijob_node *container = mpijob__flyte_proto_get(f->task, "container"),
			  *pod = mpijob__flyte_proto_get(f->task, "k8sPod");
	const mpijob_node *other = f->execution.pod_template;
	int rc;

	*primary = FLYTE_CONTAINER;
	if (!container && !pod)
		return mpijob__flyte_task_refuse(f, "", f->task,
		    "neither container nor k8sPod: nothing to run");
	if (container) {
		rc = from_container(f, container, mpijob_node_put_map(f->doc, template, "spec"));
	} else {
		*primary = mpijob_node_string(mpijob__flyte_proto_get(f->task_config, PRIMARY_KEY));
		rc = *primary ? from_pod(f, pod, template)
			      : mpijob__flyte_task_refuse(f, "config", f->task_config,
				    "must have " PRIMARY_KEY " with k8sPod");
	}
	if (!rc && mpijob__flyte_proto_get(other, "podSpec")) {
		*primary = mpijob__flyte_proto_text(other, "primaryContainerName");
		rc = from_pod(f, other, template);
	}
	return rc;
}

/* ---- additions of Flyte ---- */

/* Values of another kind would be replaced, and so lost, when something is added to them. */
static int need_parts(struct mpijob__flyte *f, const mpijob_node *container)
{
	static const struct {
		const char *path;
		int32_t kind;
	} parts[] = {
		{ "command", MPIJOB_NODE_LIST },
		{ "args", MPIJOB_NODE_LIST },
		{ "env", MPIJOB_NODE_LIST },
		{ "envFrom", MPIJOB_NODE_LIST },
		{ "volumeMounts", MPIJOB_NODE_LIST },
		{ "resources", MPIJOB_NODE_MAP },
		{ "resources.requests", MPIJOB_NODE_MAP },
		{ "resources.limits", MPIJOB_NODE_MAP },
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = mpijob__flyte_task_need(f, parts[i].path,
		    mpijob_node_find(container, parts[i].path), parts[i].kind);
	return rc;
}

static int customise(struct mpijob__flyte *f, mpijob_node *container,
    const struct mpijob__flyte_role *role)
{
	static const char *const words[] = { "command", "args" };
	int rc;

	if (mpijob_node_kind(container) != MPIJOB_NODE_MAP)
		return mpijob__flyte_task_refuse(f, "k8sPod.podSpec.containers", container,
		    "must be maps");
	rc = need_parts(f, container);
	for (size_t i = 0; !rc && i < 2; i++)
		rc = mpijob__flyte_placeholder_words(f, container, words[i]);
	if (!rc)
		rc = mpijob__flyte_environment_add(f, container);
	return rc ? rc : mpijob__flyte_resources_apply(f, container, role);
}

static int customise_all(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec, const char *primary)
{
	mpijob_node *inits = mpijob_node_edit(spec, "initContainers"),
		    *containers = mpijob_node_edit(spec, "containers");
	int rc = 0;

	for (size_t i = 0; !rc && i < mpijob_node_count(inits); i++)
		rc = customise(f, mpijob_node_edit_at(inits, i), role);
	for (size_t i = 0; !rc && i < mpijob_node_count(containers); i++) {
		mpijob_node *container = mpijob_node_edit_at(containers, i);
		int is_primary =
		    mpijob__base_text_is(mpijob_node_string(mpijob_node_get(container, "name")),
			primary);

		rc = customise(f, container, is_primary ? role : NULL);
	}
	if (!rc && !mpijob__flyte_pod_find(spec, primary))
		return mpijob__flyte_task_refuse(f, "k8sPod.podSpec.containers", containers,
		    "primary container '%.200s' is not defined", primary);
	return rc;
}

static int apply(struct mpijob__flyte *f, const struct mpijob__flyte_role *role, mpijob_node *spec,
    const char *primary)
{
	mpijob_node *container;
	int rc = customise_all(f, role, spec, primary);

	if (rc)
		return rc;
	rc = mpijob__flyte_placement_apply(f, role, spec);
	container = mpijob__flyte_pod_find(spec, primary);
	if (f->config.default_security_context &&
	    !mpijob__flyte_proto_get(container, "securityContext"))
		mpijob_node_put_copy(f->doc, container, "securityContext",
		    f->config.default_security_context);
	if (!rc)
		rc = mpijob__flyte_placement_extend(f, spec, container);
	if (f->execution.image && *f->execution.image)
		mpijob_node_put_string(f->doc, container, "image", f->execution.image);
	mpijob__flyte_placement_tolerate_extended(f, spec);
	mpijob_node_put_string(f->doc, container, "name", FLYTE_CONTAINER);
	return rc;
}

/* ---- overrides of a role ---- */

/* The arguments of a version 0 worker: the words of the config, split at each single space. */
static void put_split(struct mpijob__flyte *f, mpijob_node *container, const char *key,
    const char *text)
{
	mpijob_node *list = mpijob_node_put_list(f->doc, container, key);

	for (;;) {
		size_t len = strcspn(text, " ");

		mpijob_node_append(f->doc, list,
		    mpijob_node_new_text(f->doc, MPIJOB_NODE_STRING, text, len));
		if (text[len] == '\0')
			return;
		text += len + 1;
	}
}

static void put_command(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *container, const char *key)
{
	const char *split =
	    mpijob_node_string(mpijob__flyte_proto_get(f->task_config, WORKER_COMMAND));

	if (f->version == 0 && split)
		put_split(f, container, key, split);
	else if (role->command)
		put_words(f, container, key, role->command);
}

static int override_command(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *container)
{
	int is_worker = !role->is_launcher;

	if (is_worker && mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_WORKER_COMMAND)) {
		mpijob_node_remove(container, "args");
		mpijob_node_remove(container, "command");
		put_command(f, role, container, "command");
		return mpijob__flyte_repair_report(f, MPIJOB_FLYTE_WORKER_COMMAND,
		    "spec.mpiReplicaSpecs[Worker]", "%s",
		    mpijob_node_get(container, "command")
			? "what the task says is the worker's command"
			: "the launcher's command is not that of the workers");
	}
	if (is_worker && f->version == 0) {
		mpijob_node_remove(container, "args");
		mpijob_node_remove(container, "command");
	}
	if (is_worker || f->version == 1)
		put_command(f, role, container, "args");
	return 0;
}

/* Each container with this name, like Flyte: the pod of a task may have two. */
static int override_all(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec)
{
	mpijob_node *containers = mpijob_node_edit(spec, "containers");
	int rc = 0;

	for (size_t i = 0; !rc && i < mpijob_node_count(containers); i++) {
		mpijob_node *container = mpijob_node_edit_at(containers, i);

		if (!mpijob__base_text_is(mpijob_node_string(mpijob_node_get(container, "name")),
			FLYTE_CONTAINER))
			continue;
		if (*role->image)
			mpijob_node_put_string(f->doc, container, "image", role->image);
		rc = override_command(f, role, container);
	}
	return rc;
}

/* The operators add their variables and volumes to the first container. */
static int put_primary_first(struct mpijob__flyte *f, mpijob_node *spec)
{
	mpijob_node *containers = mpijob_node_edit(spec, "containers"),
		    *primary = mpijob__flyte_pod_find(spec, FLYTE_CONTAINER);
	mpijob_node *ordered = mpijob_node_new(f->doc, MPIJOB_NODE_LIST);

	if (!mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_PRIMARY_FIRST) ||
	    primary == mpijob_node_edit_at(containers, 0))
		return 0;
	mpijob_node_append(f->doc, ordered, mpijob_node_copy(f->doc, primary));
	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		if (mpijob_node_edit_at(containers, i) != primary)
			mpijob_node_append(f->doc, ordered,
			    mpijob_node_copy(f->doc, mpijob_node_at(containers, i)));
	}
	mpijob_node_put(f->doc, spec, "containers", ordered);
	return mpijob__flyte_repair_report(f, MPIJOB_FLYTE_PRIMARY_FIRST, "containers",
	    "the primary container comes first");
}

int mpijob__flyte_pod_make(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *template)
{
	mpijob_node *metadata = mpijob_node_put_map(f->doc, template, "metadata"), *spec;
	mpijob_node *annotations = mpijob_node_put_map(f->doc, metadata, "annotations");
	mpijob_node *labels = mpijob_node_put_map(f->doc, metadata, "labels");
	const char *primary = NULL;
	int rc;

	mpijob__flyte_pod_union(f, annotations, f->config.default_annotations);
	mpijob__flyte_pod_union(f, labels, f->config.default_labels);
	rc = make_raw(f, template, &primary);
	spec = mpijob_node_edit(template, "spec");
	if (!rc && !primary)
		rc = mpijob__flyte_task_refuse(f, "podTemplate", NULL,
		    "must have the name of its primary container");
	if (!rc)
		rc = apply(f, role, spec, primary);
	mpijob__flyte_pod_union(f, annotations, f->execution.annotations);
	mpijob__flyte_pod_union(f, labels, f->execution.labels);
	if (!rc)
		rc = mpijob__flyte_secrets_add(f, labels, annotations);
	mpijob__flyte_pod_tidy(metadata);
	if (!rc)
		rc = override_all(f, role, spec);
	return rc ? rc : put_primary_first(f, spec);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the pods of a task may run, according to propeller's configuration: tolerations in the
 * order of resources, interruptible, default and own; selectors; a requirement in every term of the
 * node affinity; and the additions for an accelerator or shared memory.
 */
#include "base/text.h"
#include "flyte/flyte.h"

#include <string.h>

mpijob_node *mpijob__flyte_map(struct mpijob__flyte *f, mpijob_node *parent, const char *key)
{
	mpijob_node *map = mpijob_node_edit(parent, key);

	return mpijob_node_kind(map) == MPIJOB_NODE_MAP ? map
							: mpijob_node_put_map(f->doc, parent, key);
}

mpijob_node *mpijob__flyte_list(struct mpijob__flyte *f, mpijob_node *parent, const char *key)
{
	mpijob_node *list = mpijob_node_edit(parent, key);

	return mpijob_node_kind(list) == MPIJOB_NODE_LIST
		   ? list
		   : mpijob_node_put_list(f->doc, parent, key);
}

static void append_all(struct mpijob__flyte *f, mpijob_node *list, const mpijob_node *from)
{
	for (size_t i = 0; i < mpijob_node_count(from); i++)
		mpijob_node_append(f->doc, list, mpijob_node_copy(f->doc, mpijob_node_at(from, i)));
}

/* Does a container of the pod ask for a resource, in requests or limits? */
static int asks_for(const mpijob_node *containers, const char *list, const char *resource)
{
	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		const mpijob_node *resources =
		    mpijob_node_get(mpijob_node_at(containers, i), "resources");

		if (mpijob_node_get(mpijob_node_get(resources, list), resource))
			return 1;
	}
	return 0;
}

static int interruptible(struct mpijob__flyte *f, const struct mpijob__flyte_role *role)
{
	return f->interruptible &&
	       !(role->is_launcher && mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_SAFE_LAUNCHER));
}

static void add_tolerations(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec)
{
	const mpijob_node *own = mpijob_node_get(spec, "tolerations"),
			  *containers = mpijob_node_get(spec, "containers");
	mpijob_node *list = mpijob_node_new(f->doc, MPIJOB_NODE_LIST);

	for (size_t i = 0; i < mpijob_node_count(f->config.resource_tolerations); i++) {
		const char *resource = mpijob_node_key(f->config.resource_tolerations, i);

		if (asks_for(containers, "requests", resource) ||
		    asks_for(containers, "limits", resource))
			append_all(f, list, mpijob_node_at(f->config.resource_tolerations, i));
	}
	if (interruptible(f, role))
		append_all(f, list, f->config.interruptible_tolerations);
	append_all(f, list, f->config.default_tolerations);
	append_all(f, list, own);
	if (mpijob_node_count(list))
		mpijob_node_put(f->doc, spec, "tolerations", list);
}

static void add_selectors(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec)
{
	mpijob_node *made = mpijob_node_new(f->doc, MPIJOB_NODE_MAP);

	mpijob__flyte_pod_union(f, made, f->config.default_node_selector);
	mpijob__flyte_pod_union(f, made, mpijob_node_get(spec, "nodeSelector"));
	if (interruptible(f, role))
		mpijob__flyte_pod_union(f, made, f->config.interruptible_node_selector);
	if (mpijob_node_count(made))
		mpijob_node_put(f->doc, spec, "nodeSelector", made);
}

/* Add a requirement to every term, because one matching term is enough for the scheduler. */
static void require(struct mpijob__flyte *f, mpijob_node *spec, const mpijob_node *requirement)
{
	mpijob_node *node, *required, *terms;

	if (!requirement)
		return;
	node = mpijob__flyte_map(f, mpijob__flyte_map(f, spec, "affinity"), "nodeAffinity");
	required = mpijob__flyte_map(f, node, "requiredDuringSchedulingIgnoredDuringExecution");
	terms = mpijob__flyte_list(f, required, "nodeSelectorTerms");
	if (mpijob_node_count(terms) == 0)
		mpijob_node_append_map(f->doc, terms);
	for (size_t i = 0; i < mpijob_node_count(terms); i++)
		mpijob_node_append(f->doc,
		    mpijob__flyte_list(f, mpijob_node_edit_at(terms, i), "matchExpressions"),
		    mpijob_node_copy(f->doc, requirement));
}

static void put_default(struct mpijob__flyte *f, mpijob_node *spec, const char *key,
    const mpijob_node *value)
{
	if (value && mpijob_node_kind(value) != MPIJOB_NODE_NULL &&
	    !mpijob__flyte_proto_get(spec, key))
		mpijob_node_put_copy(f->doc, spec, key, value);
}

static void put_default_text(struct mpijob__flyte *f, mpijob_node *spec, const char *key,
    const char *text)
{
	const char *own = mpijob_node_string(mpijob_node_get(spec, key));

	if (text && *text && (!own || !*own))
		mpijob_node_put_string(f->doc, spec, key, text);
}

#define REQUIRED "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"

/* Values of another kind would be replaced, and so lost, when something is added to them. */
static int need_parts(struct mpijob__flyte *f, const mpijob_node *spec)
{
	static const struct {
		const char *path;
		int32_t kind;
	} parts[] = {
		{ "initContainers", MPIJOB_NODE_LIST },
		{ "tolerations", MPIJOB_NODE_LIST },
		{ "nodeSelector", MPIJOB_NODE_MAP },
		{ "volumes", MPIJOB_NODE_LIST },
		{ "affinity", MPIJOB_NODE_MAP },
		{ "affinity.nodeAffinity", MPIJOB_NODE_MAP },
		{ REQUIRED, MPIJOB_NODE_MAP },
		{ REQUIRED ".nodeSelectorTerms", MPIJOB_NODE_LIST },
	};
	const mpijob_node *terms = mpijob_node_find(spec, REQUIRED ".nodeSelectorTerms");
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = mpijob__flyte_task_need(f, parts[i].path,
		    mpijob_node_find(spec, parts[i].path), parts[i].kind);
	for (size_t i = 0; !rc && i < mpijob_node_count(terms); i++) {
		const mpijob_node *term = mpijob_node_at(terms, i);

		rc = mpijob__flyte_task_need(f, REQUIRED ".nodeSelectorTerms", term,
		    MPIJOB_NODE_MAP);
		if (!rc)
			rc = mpijob__flyte_task_need(f, "matchExpressions",
			    mpijob_node_get(term, "matchExpressions"), MPIJOB_NODE_LIST);
	}
	return rc;
}

int mpijob__flyte_placement_apply(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec)
{
	int rc;

	put_default(f, spec, "affinity", f->config.default_affinity);
	rc = need_parts(f, spec);
	if (rc)
		return rc;
	put_default_text(f, spec, "restartPolicy", "Never");
	add_tolerations(f, role, spec);
	put_default_text(f, spec, "serviceAccountName", f->execution.service_account);
	put_default_text(f, spec, "schedulerName", f->config.scheduler_name);
	add_selectors(f, role, spec);
	put_default(f, spec, "securityContext", f->config.default_pod_security_context);
	if (f->config.host_network)
		mpijob_node_remove(spec, "hostNetwork");
	if (f->config.host_network > 0)
		mpijob_node_put_bool(f->doc, spec, "hostNetwork", 1);
	put_default(f, spec, "dnsConfig", f->config.default_pod_dns_config);
	require(f, spec,
	    interruptible(f, role) ? f->config.interruptible_requirement
				   : f->config.non_interruptible_requirement);
	if (role->is_launcher && f->interruptible && !interruptible(f, role))
		return mpijob__flyte_repair_report(f, MPIJOB_FLYTE_SAFE_LAUNCHER,
		    "spec.mpiReplicaSpecs[Launcher]", "the launcher is not interruptible");
	return 0;
}

/* ---- accelerators ---- */

static mpijob_node *make_requirement(struct mpijob__flyte *f, const char *key, const char *operator,
    const char * value)
{
	mpijob_node *made = mpijob_node_new(f->doc, MPIJOB_NODE_MAP);

	mpijob_node_put_string(f->doc, made, "key", key);
	mpijob_node_put_string(f->doc, made, "operator", operator);
	if (value)
		mpijob_node_append_string(f->doc, mpijob_node_put_list(f->doc, made, "values"),
		    value);
	return made;
}

static void tolerate(struct mpijob__flyte *f, mpijob_node *spec, const char *key, const char *value)
{
	mpijob_node *made =
	    mpijob_node_append_map(f->doc, mpijob__flyte_list(f, spec, "tolerations"));

	mpijob_node_put_string(f->doc, made, "key", key);
	mpijob_node_put_string(f->doc, made, "operator", value ? "Equal" : "Exists");
	if (value && *value)
		mpijob_node_put_string(f->doc, made, "value", value);
	mpijob_node_put_string(f->doc, made, "effect", "NoSchedule");
}

static void take_partition(struct mpijob__flyte *f, mpijob_node *spec,
    const mpijob_node *accelerator)
{
	const mpijob_node *size = mpijob__flyte_proto_get(accelerator, "partitionSize");
	const char *label = f->config.gpu_partition_size_label, *text = mpijob_node_string(size);
	int whole = 0;

	if (mpijob_node_bool(mpijob__flyte_proto_get(accelerator, "unpartitioned"), &whole) &&
	    whole) {
		const mpijob_node *given = f->config.gpu_unpartitioned_requirement;

		require(f, spec, given ? given : make_requirement(f, label, "DoesNotExist", NULL));
		if (f->config.gpu_unpartitioned_toleration)
			mpijob_node_append(f->doc, mpijob__flyte_list(f, spec, "tolerations"),
			    mpijob_node_copy(f->doc, f->config.gpu_unpartitioned_toleration));
	} else if (text) {
		require(f, spec, make_requirement(f, label, "In", text));
		tolerate(f, spec, label, text);
	}
}

static void take_accelerator(struct mpijob__flyte *f, mpijob_node *spec,
    const mpijob_node *accelerator)
{
	const char *device = mpijob__flyte_proto_text(accelerator, "device");

	if (!accelerator ||
	    !asks_for(mpijob_node_get(spec, "containers"), "limits", f->config.gpu_resource_name))
		return;
	if (device && *device) {
		require(f, spec, make_requirement(f, f->config.gpu_device_label, "In", device));
		tolerate(f, spec, f->config.gpu_device_label, device);
	}
	take_partition(f, spec, accelerator);
}

/* ---- shared memory ---- */

static int collides(struct mpijob__flyte *f, const mpijob_node *spec, const mpijob_node *primary,
    const char *name, const char *path)
{
	const mpijob_node *volumes = mpijob_node_get(spec, "volumes"),
			  *mounts = mpijob_node_get(primary, "volumeMounts");

	for (size_t i = 0; i < mpijob_node_count(volumes); i++) {
		if (mpijob__base_text_is(mpijob_node_string(
					     mpijob_node_get(mpijob_node_at(volumes, i), "name")),
			name))
			return mpijob__flyte_task_refuse(f, "extendedResources.sharedMemory",
			    volumes, "a volume is already named '%.200s'", name);
	}
	for (size_t i = 0; i < mpijob_node_count(mounts); i++) {
		const mpijob_node *mount = mpijob_node_at(mounts, i);

		if (mpijob__base_text_is(mpijob_node_string(mpijob_node_get(mount, "name")),
			name) ||
		    mpijob__base_text_is(mpijob_node_string(mpijob_node_get(mount, "mountPath")),
			path))
			return mpijob__flyte_task_refuse(f, "extendedResources.sharedMemory", mount,
			    "something is already mounted there");
	}
	return 0;
}

static int take_memory(struct mpijob__flyte *f, mpijob_node *spec, mpijob_node *primary,
    const mpijob_node *memory)
{
	const char *name = mpijob__flyte_proto_text(memory, "mountName"),
		   *path = mpijob__flyte_proto_text(memory, "mountPath");
	const char *limit = mpijob__flyte_proto_text(memory, "sizeLimit");
	struct mpijob__base_quantity quantity = { 0 };
	char text[MPIJOB__BASE_QUANTITY_TEXT];
	mpijob_node *volume;
	int rc;

	if (!memory)
		return 0;
	if (!name || !*name || !path || !*path)
		return mpijob__flyte_task_refuse(f, "extendedResources.sharedMemory", memory,
		    "must have mountName and mountPath");
	rc = collides(f, spec, primary, name, path);
	if (rc)
		return rc;
	if (!limit || (*limit && !mpijob__base_quantity_parse(limit, strlen(limit), &quantity)))
		return mpijob__flyte_task_refuse(f, "extendedResources.sharedMemory.sizeLimit",
		    memory, "must be a quantity");
	mpijob__base_quantity_print(&quantity, text);
	volume = mpijob_node_append_map(f->doc, mpijob__flyte_list(f, spec, "volumes"));
	mpijob_node_put_string(f->doc, volume, "name", name);
	volume = mpijob_node_put_map(f->doc, volume, "emptyDir");
	mpijob_node_put_string(f->doc, volume, "medium", "Memory");
	mpijob_node_put_string(f->doc, volume, "sizeLimit", text);
	volume = mpijob_node_append_map(f->doc, mpijob__flyte_list(f, primary, "volumeMounts"));
	mpijob_node_put_string(f->doc, volume, "name", name);
	mpijob_node_put_string(f->doc, volume, "mountPath", path);
	return 0;
}

int mpijob__flyte_placement_extend(struct mpijob__flyte *f, mpijob_node *spec, mpijob_node *primary)
{
	const mpijob_node *own = mpijob__flyte_proto_get(f->task, "extendedResources"),
			  *over = f->execution.extended_resources;
	const mpijob_node *accelerator = mpijob__flyte_proto_get(over, "gpuAccelerator");
	const mpijob_node *memory = mpijob__flyte_proto_get(over, "sharedMemory");

	take_accelerator(f, spec,
	    accelerator ? accelerator : mpijob__flyte_proto_get(own, "gpuAccelerator"));
	return take_memory(f, spec, primary,
	    memory ? memory : mpijob__flyte_proto_get(own, "sharedMemory"));
}

/* Does a toleration of the pod have the same effect as "Exists" on this key? */
static int tolerates(const mpijob_node *tolerations, const char *key)
{
	for (size_t i = 0; i < mpijob_node_count(tolerations); i++) {
		const mpijob_node *t = mpijob_node_at(tolerations, i);
		const char *value = mpijob_node_string(mpijob_node_get(t, "value"));

		if (mpijob__base_text_is(mpijob_node_string(mpijob_node_get(t, "key")), key) &&
		    mpijob__base_text_is(mpijob_node_string(mpijob_node_get(t, "effect")),
			"NoSchedule") &&
		    mpijob__base_text_is(mpijob_node_string(mpijob_node_get(t, "operator")),
			"Exists") &&
		    (!value || !*value))
			return 1;
	}
	return 0;
}

void mpijob__flyte_placement_tolerate_extended(struct mpijob__flyte *f, mpijob_node *spec)
{
	const mpijob_node *names = f->config.extended_resources;
	const char *last = "", *next;

	/* Sorted by name, each once. */
	do {
		next = NULL;
		for (size_t i = 0; i < mpijob_node_count(names); i++) {
			const char *name = mpijob_node_string(mpijob_node_at(names, i));

			if (name && strcmp(name, last) > 0 && (!next || strcmp(name, next) < 0))
				next = name;
		}
		if (next &&
		    (asks_for(mpijob_node_get(spec, "containers"), "requests", next) ||
			asks_for(mpijob_node_get(spec, "initContainers"), "requests", next)) &&
		    !tolerates(mpijob_node_get(spec, "tolerations"), next))
			tolerate(f, spec, next, NULL);
		last = next;
	} while (next);
}

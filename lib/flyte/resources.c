/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources of a container, computed like by propeller: overrides win over the task; the
 * platform's defaults fill in absent values; a missing request is set to the limit, and a missing
 * limit to the request; nothing exceeds the platform's limits. Quantities are written in the
 * canonical form of Kubernetes.
 */
#include "flyte/flyte.h"

#include "base/accelerator.h"

#include <string.h>

#define GENERIC_GPU "gpu"
/* the first name of a task's GPUs, before that of the platform */
#define NVIDIA_GPU "nvidia.com/gpu"

static const char *const entry_words[] = { "UNKNOWN", "CPU", "GPU", "MEMORY", "STORAGE",
	"EPHEMERAL_STORAGE" };
static const char *const entry_names[] = { NULL, "cpu", NVIDIA_GPU, "memory", NULL,
	"ephemeral-storage" };
#define ENTRIES (sizeof(entry_words) / sizeof(entry_words[0]))
static const char *const lists[] = { "requests", "limits" };

static int is_zero(const struct mpijob__base_quantity *quantity)
{
	static const struct mpijob__base_quantity zero;

	return mpijob__base_quantity_compare(quantity, &zero) == 0;
}

static int parse(const mpijob_node *node, struct mpijob__base_quantity *out)
{
	const char *text = mpijob_node_text(node);

	*out = (struct mpijob__base_quantity){ 0 };
	return text && mpijob__base_quantity_parse(text, strlen(text), out);
}

static void put(struct mpijob__flyte *f, mpijob_node *map, const char *name,
    const struct mpijob__base_quantity *quantity)
{
	char text[MPIJOB__BASE_QUANTITY_TEXT];

	mpijob__base_quantity_print(quantity, text);
	mpijob_node_put_string(f->doc, map, name, text);
}

int mpijob__flyte_resources_from_task(struct mpijob__flyte *f, const mpijob_node *resources,
    const char *field, mpijob_node *into)
{
	for (size_t k = 0; k < 2; k++) {
		const mpijob_node *entries = mpijob__flyte_proto_get(resources, lists[k]);
		mpijob_node *list = mpijob__flyte_map(f, into, lists[k]);
		int rc = mpijob__flyte_task_need(f, field, entries, MPIJOB_NODE_LIST);

		if (rc)
			return rc;
		for (size_t i = 0; i < mpijob_node_count(entries); i++) {
			const mpijob_node *entry = mpijob_node_at(entries, i),
					  *value = mpijob__flyte_proto_get(entry, "value");
			const char *word =
			    mpijob__flyte_proto_word(entry, "name", entry_words, ENTRIES);
			struct mpijob__base_quantity quantity;
			size_t at = 0;

			if (!word || !mpijob_node_string(value) || !parse(value, &quantity))
				return mpijob__flyte_task_refuse(f, field, entry,
				    "%s: must have a name, CPU, MEMORY, GPU or EPHEMERAL_STORAGE, "
				    "and a quantity",
				    lists[k]);
			while (strcmp(word, entry_words[at]) != 0)
				at++;
			if (entry_names[at] && !is_zero(&quantity))
				put(f, list, entry_names[at], &quantity);
		}
	}
	return 0;
}

/* Rewrite all quantities in canonical form. */
static int canonical(struct mpijob__flyte *f, mpijob_node *resources)
{
	for (size_t k = 0; k < 2; k++) {
		mpijob_node *list = mpijob__flyte_map(f, resources, lists[k]);

		for (size_t i = 0; i < mpijob_node_count(list); i++) {
			struct mpijob__base_quantity quantity;

			if (!parse(mpijob_node_at(list, i), &quantity))
				return mpijob__flyte_task_refuse(f, "resources",
				    mpijob_node_at(list, i), "%s: %s is not a quantity", lists[k],
				    mpijob_node_key(list, i));
			put(f, list, mpijob_node_key(list, i), &quantity);
		}
	}
	return 0;
}

static void rename_gpu(struct mpijob__flyte *f, mpijob_node *resources)
{
	for (size_t k = 0; k < 2; k++) {
		mpijob_node *list = mpijob__flyte_map(f, resources, lists[k]);
		const mpijob_node *gpu = mpijob_node_get(list, GENERIC_GPU);

		if (gpu && strcmp(f->config.gpu_resource_name, GENERIC_GPU) != 0) {
			mpijob_node_put_copy(f->doc, list, f->config.gpu_resource_name, gpu);
			mpijob_node_remove(list, GENERIC_GPU);
		}
	}
}

static void merge(struct mpijob__flyte *f, mpijob_node *resources, const mpijob_node *overrides)
{
	for (size_t k = 0; k < 2; k++) {
		const mpijob_node *from = mpijob_node_get(overrides, lists[k]);
		mpijob_node *list = mpijob__flyte_map(f, resources, lists[k]);

		for (size_t i = 0; i < mpijob_node_count(from); i++)
			mpijob_node_put_copy(f->doc, list, mpijob_node_key(from, i),
			    mpijob_node_at(from, i));
	}
}

static void at_most(struct mpijob__base_quantity *value, const struct mpijob__base_quantity *limit)
{
	if (!is_zero(value) && !is_zero(limit) && mpijob__base_quantity_compare(value, limit) > 0)
		*value = *limit;
}

static void platform(const struct mpijob__flyte *f, const char *list, const char *name,
    struct mpijob__base_quantity *out)
{
	const mpijob_node *from = mpijob_node_get(f->execution.platform_resources, list);
	const mpijob_node *node = mpijob_node_get(from, name);
	const char *text = NULL;

	if (!node && strcmp(list, "requests") == 0 && strcmp(name, "cpu") == 0)
		text = f->config.default_cpu;
	if (!node && strcmp(list, "requests") == 0 && strcmp(name, "memory") == 0)
		text = f->config.default_memory;
	if (!text || !mpijob__base_quantity_parse(text, strlen(text), out))
		parse(node, out);
}

static void adjust(struct mpijob__flyte *f, mpijob_node *resources, const char *name, int assign)
{
	mpijob_node *requests = mpijob__flyte_map(f, resources, "requests"),
		    *limits = mpijob__flyte_map(f, resources, "limits");
	struct mpijob__base_quantity request, limit, fallback = { 0 }, most = { 0 };

	parse(mpijob_node_get(requests, name), &request);
	parse(mpijob_node_get(limits, name), &limit);
	platform(f, "requests", name, &fallback);
	platform(f, "limits", name, &most);
	if (assign && is_zero(&request))
		request = is_zero(&limit) ? fallback : limit;
	if (assign && is_zero(&limit))
		limit = request;
	at_most(&request, &most);
	at_most(&limit, &most);
	at_most(&request, &limit);
	put(f, requests, name, &request);
	put(f, limits, name, &limit);
}

static int asks_for(const mpijob_node *resources, const char *name)
{
	return mpijob_node_get(mpijob_node_get(resources, "requests"), name) ||
	       mpijob_node_get(mpijob_node_get(resources, "limits"), name);
}

static void settle(struct mpijob__flyte *f, mpijob_node *resources, int assign)
{
	adjust(f, resources, "cpu", assign);
	adjust(f, resources, "memory", assign);
	if (asks_for(resources, "ephemeral-storage"))
		adjust(f, resources, "ephemeral-storage", assign);
	if (asks_for(resources, f->config.gpu_resource_name))
		adjust(f, resources, f->config.gpu_resource_name, assign);
}

/* A resource of an unknown vendor is a GPU if its name contains "gpu". */
static int is_gpu(const struct mpijob__flyte *f, const char *name)
{
	return strstr(name, GENERIC_GPU) || strcmp(name, f->config.gpu_resource_name) == 0 ||
	       mpijob__base_accelerator_of(name) != MPIJOB__BASE_ACCELERATOR_NONE;
}

/* Remove the GPUs that the launcher inherits from the task. 1 if there were any. */
static int drop_gpus(const struct mpijob__flyte *f, mpijob_node *resources)
{
	int dropped = 0;

	for (size_t k = 0; k < 2; k++) {
		mpijob_node *list = mpijob_node_edit(resources, lists[k]);

		for (size_t i = mpijob_node_count(list); i-- > 0;) {
			if (is_gpu(f, mpijob_node_key(list, i)))
				dropped |= mpijob_node_remove_at(list, i);
		}
	}
	return dropped;
}

static int has_entries(const mpijob_node *resources)
{
	return mpijob_node_count(mpijob__flyte_proto_get(resources, "requests")) +
		   mpijob_node_count(mpijob__flyte_proto_get(resources, "limits")) >
	       0;
}

int mpijob__flyte_resources_apply(struct mpijob__flyte *f, mpijob_node *container,
    const struct mpijob__flyte_role *role)
{
	mpijob_node *resources = mpijob_node_edit(container, "resources"), *overrides;
	int rc = 0;

	if (mpijob_node_kind(resources) != MPIJOB_NODE_MAP)
		resources = mpijob_node_put_map(f->doc, container, "resources");
	rename_gpu(f, resources);
	if (role) {
		overrides = mpijob_node_new(f->doc, MPIJOB_NODE_MAP);
		merge(f, overrides, f->execution.resources);
		if (role->is_launcher &&
		    mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_LAUNCHER_GPUS) &&
		    (drop_gpus(f, resources) | drop_gpus(f, overrides)))
			rc = mpijob__flyte_repair_report(f, MPIJOB_FLYTE_LAUNCHER_GPUS,
			    "spec.mpiReplicaSpecs[Launcher]",
			    "the task's GPUs are for the workers; say launcher.limits for GPUs on "
			    "the launcher");
		if (!rc && has_entries(role->resources)) {
			overrides = mpijob_node_new(f->doc, MPIJOB_NODE_MAP);
			rc = mpijob__flyte_resources_from_task(f, role->resources,
			    role->is_launcher ? "custom.launcherReplicas.resources"
					      : "custom.workerReplicas.resources",
			    overrides);
			if (!rc)
				settle(f, overrides, 1);
		}
		merge(f, resources, overrides);
	}
	if (!rc)
		rc = canonical(f, resources);
	if (!rc)
		settle(f, resources, role != NULL);
	return rc;
}

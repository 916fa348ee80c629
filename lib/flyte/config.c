/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of Flyte's configuration and of one execution, one for each member of their structs, and
 * the values that Flyte uses where a key is absent.
 */
#include "flyte/flyte.h"

#include "base/struct.h"

#include <stddef.h>
#include <string.h>

#define KIND_TEXT   0
#define KIND_MAP    1
#define KIND_LIST   2
#define KIND_NUMBER 3
#define KIND_SWITCH 4 /* 1 for true, -1 for false */

struct row {
	const char *key;
	size_t offset;
	int kind;
};

#define CONFIG(key, member, kind)                                       \
	{                                                               \
		key, offsetof(struct mpijob_flyte_config, member), kind \
	}
#define EXECUTION(key, member, kind)                                       \
	{                                                                  \
		key, offsetof(struct mpijob_flyte_execution, member), kind \
	}
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct row config_rows[] = {
	CONFIG("default-annotations", default_annotations, KIND_MAP),
	CONFIG("default-labels", default_labels, KIND_MAP),
	CONFIG("default-env-vars", default_env_vars, KIND_MAP),
	CONFIG("default-env-from-configmaps", default_env_from_config_maps, KIND_LIST),
	CONFIG("default-env-from-secrets", default_env_from_secrets, KIND_LIST),
	CONFIG("default-tolerations", default_tolerations, KIND_LIST),
	CONFIG("default-node-selector", default_node_selector, KIND_MAP),
	CONFIG("default-affinity", default_affinity, KIND_MAP),
	CONFIG("interruptible-tolerations", interruptible_tolerations, KIND_LIST),
	CONFIG("interruptible-node-selector", interruptible_node_selector, KIND_MAP),
	CONFIG("interruptible-node-selector-requirement", interruptible_requirement, KIND_MAP),
	CONFIG("non-interruptible-node-selector-requirement", non_interruptible_requirement,
	    KIND_MAP),
	CONFIG("resource-tolerations", resource_tolerations, KIND_MAP),
	CONFIG("add-tolerations-for-extended-resources", extended_resources, KIND_LIST),
	CONFIG("gpu-unpartitioned-node-selector-requirement", gpu_unpartitioned_requirement,
	    KIND_MAP),
	CONFIG("gpu-unpartitioned-toleration", gpu_unpartitioned_toleration, KIND_MAP),
	CONFIG("default-pod-security-context", default_pod_security_context, KIND_MAP),
	CONFIG("default-security-context", default_security_context, KIND_MAP),
	CONFIG("default-pod-dns-config", default_pod_dns_config, KIND_MAP),
	CONFIG("default-cpus", default_cpu, KIND_TEXT),
	CONFIG("default-memory", default_memory, KIND_TEXT),
	CONFIG("scheduler-name", scheduler_name, KIND_TEXT),
	CONFIG("image-pull-policy", image_pull_policy, KIND_TEXT),
	CONFIG("gpu-device-node-label", gpu_device_label, KIND_TEXT),
	CONFIG("gpu-partition-size-node-label", gpu_partition_size_label, KIND_TEXT),
	CONFIG("gpu-resource-name", gpu_resource_name, KIND_TEXT),
	CONFIG("enable-host-networking-pod", host_network, KIND_SWITCH),
	CONFIG("inject-finalizer", inject_finalizer, KIND_SWITCH),
};

static const struct row execution_rows[] = {
	EXECUTION("name", name, KIND_TEXT),
	EXECUTION("namespace", namespace_, KIND_TEXT),
	EXECUTION("workflow", workflow, KIND_TEXT),
	EXECUTION("executionName", execution_name, KIND_TEXT),
	EXECUTION("project", project, KIND_TEXT),
	EXECUTION("domain", domain, KIND_TEXT),
	EXECUTION("nodeId", node_id, KIND_TEXT),
	EXECUTION("consoleUrl", console_url, KIND_TEXT),
	EXECUTION("taskName", task_name, KIND_TEXT),
	EXECUTION("taskProject", task_project, KIND_TEXT),
	EXECUTION("taskDomain", task_domain, KIND_TEXT),
	EXECUTION("taskVersion", task_version, KIND_TEXT),
	EXECUTION("inputPath", input_path, KIND_TEXT),
	EXECUTION("inputPrefix", input_prefix, KIND_TEXT),
	EXECUTION("outputPrefix", output_prefix, KIND_TEXT),
	EXECUTION("rawOutputPrefix", raw_output_prefix, KIND_TEXT),
	EXECUTION("checkpointPrefix", checkpoint_prefix, KIND_TEXT),
	EXECUTION("previousCheckpointPrefix", previous_checkpoint_prefix, KIND_TEXT),
	EXECUTION("taskTemplatePath", task_template_path, KIND_TEXT),
	EXECUTION("serviceAccount", service_account, KIND_TEXT),
	EXECUTION("image", image, KIND_TEXT),
	EXECUTION("labels", labels, KIND_MAP),
	EXECUTION("annotations", annotations, KIND_MAP),
	EXECUTION("environment", environment, KIND_MAP),
	EXECUTION("inputs", inputs, KIND_MAP),
	EXECUTION("resources", resources, KIND_MAP),
	EXECUTION("platformResources", platform_resources, KIND_MAP),
	EXECUTION("podTemplate", pod_template, KIND_MAP),
	EXECUTION("extendedResources", extended_resources, KIND_MAP),
	EXECUTION("owner", owner, KIND_MAP),
	EXECUTION("attempt", attempt, KIND_NUMBER),
	EXECUTION("interruptible", interruptible, KIND_SWITCH),
};

static size_t size_of(int kind)
{
	return kind == KIND_TEXT   ? sizeof(const char *)
	       : kind <= KIND_LIST ? sizeof(const mpijob_node *)
				   : sizeof(int32_t);
}

/* Set one member. 1, or 0 if the value is of another kind. */
static int set(const struct row *row, const mpijob_node *value, void *out)
{
	void *member = (char *)out + row->offset;
	int64_t number = 0;
	int truth = 0;

	switch (row->kind) {
	case KIND_TEXT:
		*(const char **)member = mpijob_node_text(value);
		return mpijob_node_text(value) != NULL;
	case KIND_MAP:
	case KIND_LIST:
		*(const mpijob_node **)member = value;
		return mpijob_node_kind(value) ==
		       (row->kind == KIND_MAP ? MPIJOB_NODE_MAP : MPIJOB_NODE_LIST);
	case KIND_NUMBER:
		if (!mpijob_node_int(value, &number) || number < 0 || number > INT32_MAX)
			return 0;
		*(int32_t *)member = (int32_t)number;
		return 1;
	default:
		if (!mpijob_node_bool(value, &truth))
			return 0;
		*(int32_t *)member = truth ? 1 : -1;
		return 1;
	}
}

static int report(mpijob_diag *diag, int32_t severity, const char *key, const mpijob_node *value,
    const char *message)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	int is_error = severity == MPIJOB_SEVERITY_ERROR;

	finding.severity = severity;
	mpijob_node_place(value, &finding.line, &finding.column);
	finding.id = is_error ? "flyte-task" : "flyte-ignored";
	finding.reason = is_error ? "Invalid" : NULL;
	finding.field = key;
	finding.message = message;
	return mpijob_diag_add(diag, &finding);
}

static int refuse(mpijob_diag *diag, const char *key, const mpijob_node *value, const char *message)
{
	int rc = report(diag, MPIJOB_SEVERITY_ERROR, key, value, message);

	return rc ? rc : MPIJOB_ERR_SPEC;
}

/* `size` is the size of the caller's struct, which may lack the last members. */
static int read_rows(const struct row *rows, size_t count, const mpijob_node *map, void *out,
    size_t size, mpijob_diag *diag)
{
	static const char *const must_be[] = { "must be text or a number", "must be a map",
		"must be a list", "must be a whole number from 0", "must be true or false" };

	for (size_t i = 0; i < count; i++) {
		const mpijob_node *value = mpijob_node_get(map, rows[i].key);

		if (rows[i].offset + size_of(rows[i].kind) > size)
			continue;
		if (mpijob_node_kind(value) > MPIJOB_NODE_NULL && !set(&rows[i], value, out))
			return refuse(diag, rows[i].key, value, must_be[rows[i].kind]);
	}
	return 0;
}

/* Warn about keys that would change the pods and are not supported here. */
static int warn_unread(const mpijob_node *section, mpijob_diag *diag)
{
	static const char *const unread[][2] = {
		{ "default-env-vars-from-env",
		    "no environment is read: give these variables with their values" },
		{ "default-pod-template-name",
		    "no PodTemplate is read: give what it says with the other keys" },
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < COUNT(unread); i++) {
		const mpijob_node *node = mpijob_node_get(section, unread[i][0]);

		if (mpijob_node_count(node) || mpijob_node_length(node))
			rc =
			    report(diag, MPIJOB_SEVERITY_WARNING, unread[i][0], node, unread[i][1]);
	}
	return rc;
}

int mpijob_flyte_config_read(const mpijob_node *section, struct mpijob_flyte_config *out,
    mpijob_diag *diag)
{
	struct mpijob_flyte_config known;
	int rc;

	if (!section || !out)
		return MPIJOB_ERR_USAGE;
	rc = mpijob__base_struct_check(&known, sizeof(known), out);
	if (!rc && mpijob_node_kind(section) != MPIJOB_NODE_MAP)
		return refuse(diag, "", section, "must be a map");
	if (!rc)
		rc = warn_unread(section, diag);
	return rc ? rc : read_rows(config_rows, COUNT(config_rows), section, out, out->size, diag);
}

int mpijob_flyte_execution_read(const mpijob_node *map, struct mpijob_flyte_execution *out,
    mpijob_diag *diag)
{
	struct mpijob_flyte_execution known;
	int rc;

	if (!map || !out)
		return MPIJOB_ERR_USAGE;
	rc = mpijob__base_struct_check(&known, sizeof(known), out);
	if (!rc && mpijob_node_kind(map) != MPIJOB_NODE_MAP)
		return refuse(diag, "", map, "must be a map");
	for (size_t i = 0; !rc && i < mpijob_node_count(map); i++) {
		size_t at = 0;

		while (at < COUNT(execution_rows) &&
		       strcmp(execution_rows[at].key, mpijob_node_key(map, i)) != 0)
			at++;
		if (at == COUNT(execution_rows))
			return refuse(diag, mpijob_node_key(map, i), mpijob_node_at(map, i),
			    "no such key of an execution");
	}
	return rc ? rc
		  : read_rows(execution_rows, COUNT(execution_rows), map, out, out->size, diag);
}

int mpijob__flyte_execution_take(struct mpijob_flyte_execution *own,
    const struct mpijob_flyte_execution *given)
{
	return mpijob__base_struct_check(own, sizeof(*own), given);
}

static void fill(const char **member, const char *value)
{
	*member = *member && **member ? *member : value;
}

/* `f->doc` owns the defaults that are documents. */
static int take_config(struct mpijob__flyte *f, const struct mpijob_flyte_config *given)
{
	struct mpijob_flyte_config *config = &f->config;
	mpijob_node *annotations = mpijob_doc_edit(f->doc, "");
	int rc = mpijob__base_struct_check(config, sizeof(*config), given);

	mpijob_node_put_string(f->doc, annotations,
	    "cluster-autoscaler.kubernetes.io/safe-to-evict", "false");
	if (!config->default_annotations)
		config->default_annotations = annotations;
	fill(&config->default_cpu, "1000m");
	fill(&config->default_memory, "1024Mi");
	fill(&config->gpu_device_label, "k8s.amazonaws.com/accelerator");
	fill(&config->gpu_partition_size_label, "k8s.amazonaws.com/gpu-partition-size");
	fill(&config->gpu_resource_name, "nvidia.com/gpu");
	return rc;
}

int mpijob__flyte_config_take(struct mpijob__flyte *f, const struct mpijob_flyte_options *given)
{
	struct mpijob_flyte_options options;
	int rc = mpijob__base_struct_check(&options, sizeof(options), given), truth = 0;

	if (!rc)
		rc = take_config(f, options.config);
	if (!rc)
		rc = mpijob__flyte_execution_take(&f->execution, options.execution);
	if (rc)
		return rc;
	f->source = options.source;
	f->repairs = options.repairs ? *options.repairs : f->to_v2beta1 ? UINT32_MAX : 0;
	if (!f->to_v2beta1)
		f->repairs &= ~MPIJOB_FLYTE_ENVIRONMENT;
	f->interruptible = f->execution.interruptible > 0;
	if (f->execution.interruptible == 0 &&
	    mpijob_node_bool(mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, "metadata"),
				 "interruptible"),
		&truth))
		f->interruptible = truth;
	return 0;
}

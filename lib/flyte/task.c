/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the `custom` of a task in both of its forms: that of task_type_version 0 has three numbers,
 * and that of version 1 a message for each role, whose deprecated fields are used unless `common`
 * exists. Knows the words of the enumerations, and which templates are refused.
 */
#include "flyte/flyte.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const clean_words[] = { "CLEANPOD_POLICY_NONE", "CLEANPOD_POLICY_RUNNING",
	"CLEANPOD_POLICY_ALL" };
static const char *const clean_policies[] = { "None", "Running", "All" };
static const char *const restart_words[] = { "RESTART_POLICY_NEVER", "RESTART_POLICY_ON_FAILURE",
	"RESTART_POLICY_ALWAYS" };
static const char *const restart_policies[] = { "Never", "OnFailure", "Always" };
static const char *const policy_fields[FLYTE_POLICY_NUMBERS] = { "backoffLimit",
	"activeDeadlineSeconds", "ttlSecondsAfterFinished" };

int mpijob__flyte_task_report(struct mpijob__flyte *f, int32_t severity, const char *id,
    const char *field, const mpijob_node *node, const char *format, va_list args)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message;
	int rc;

	if (!f->diag)
		return 0;
	message = mpijob__base_text_vformat(format, args);
	if (!message)
		return MPIJOB_ERR_NOMEM;
	finding.severity = severity;
	mpijob_node_place(node, &finding.line, &finding.column);
	finding.id = id;
	finding.reason = severity == MPIJOB_SEVERITY_ERROR ? "Invalid" : NULL;
	finding.field = field;
	finding.message = message;
	finding.source = f->source;
	rc = mpijob_diag_add(f->diag, &finding);
	free(message);
	return rc;
}

int mpijob__flyte_task_refuse(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    const char *format, ...)
{
	va_list args;
	int rc;

	/* A value may be missing because memory ran out. */
	if (mpijob_doc_error(f->doc) == MPIJOB_ERR_NOMEM)
		return MPIJOB_ERR_NOMEM;
	va_start(args, format);
	rc = mpijob__flyte_task_report(f, MPIJOB_SEVERITY_ERROR, "flyte-task", field, node, format,
	    args);
	va_end(args);
	return rc ? rc : MPIJOB_ERR_SPEC;
}

int mpijob__flyte_task_need(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    int32_t kind)
{
	if (mpijob_node_kind(node) <= MPIJOB_NODE_NULL || mpijob_node_kind(node) == kind)
		return 0;
	return mpijob__flyte_task_refuse(f, field, node,
	    kind == MPIJOB_NODE_LIST ? "must be a list" : "must be a map");
}

int mpijob__flyte_task_ignore(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = mpijob__flyte_task_report(f, MPIJOB_SEVERITY_WARNING, "flyte-ignored", field, node,
	    format, args);
	va_end(args);
	return rc;
}

int mpijob__flyte_task_repairs(const struct mpijob__flyte *f, uint32_t flag)
{
	return (f->repairs & flag) != 0;
}

/* Read an enumeration of the message as the word of the job. */
static int read_word(struct mpijob__flyte *f, const mpijob_node *message, const char *field,
    const char *const words[3], const char *const values[3], const char **out)
{
	const char *word = mpijob__flyte_proto_word(message, field, words, 3);
	size_t i = 0;

	if (!word)
		return mpijob__flyte_task_refuse(f, field, mpijob__flyte_proto_get(message, field),
		    "unsupported value; use %s, %s or %s", words[0], words[1], words[2]);
	while (strcmp(word, words[i]) != 0)
		i++;
	*out = values[i];
	return 0;
}

static int read_number(struct mpijob__flyte *f, const mpijob_node *message, const char *field,
    int32_t *out)
{
	if (mpijob__flyte_proto_int(message, field, out))
		return 0;
	return mpijob__flyte_task_refuse(f, field, mpijob__flyte_proto_get(message, field),
	    "must be a whole number of 32 bits");
}

static int read_policy(struct mpijob__flyte *f, const mpijob_node *policy)
{
	int rc =
	    read_word(f, policy, "cleanPodPolicy", clean_words, clean_policies, &f->clean_policy);

	f->has_policy = 1;
	for (size_t i = 0; !rc && i < FLYTE_POLICY_NUMBERS; i++) {
		rc = read_number(f, policy, policy_fields[i], &f->policy[i].value);
		f->policy[i].given = mpijob__flyte_proto_get(policy, policy_fields[i]) != NULL;
	}
	return rc;
}

static int read_command(struct mpijob__flyte *f, const mpijob_node *message,
    struct mpijob__flyte_role *role)
{
	const mpijob_node *command = mpijob__flyte_proto_get(message, "command");

	for (size_t i = 0; i < mpijob_node_count(command); i++) {
		if (!mpijob_node_string(mpijob_node_at(command, i)))
			return mpijob__flyte_task_refuse(f, "command", command,
			    "must be a list of strings");
	}
	if (command && mpijob_node_kind(command) != MPIJOB_NODE_LIST)
		return mpijob__flyte_task_refuse(f, "command", command,
		    "must be a list of strings");
	role->command = mpijob_node_count(command) ? command : NULL;
	return 0;
}

static int read_role(struct mpijob__flyte *f, const char *field, struct mpijob__flyte_role *role)
{
	const mpijob_node *message =
	    mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, "custom"), field);
	const mpijob_node *common = mpijob__flyte_proto_get(message, "common");
	int rc = mpijob__flyte_task_need(f, field, message, MPIJOB_NODE_MAP);

	if (!rc)
		rc = mpijob__flyte_task_need(f, "common", common, MPIJOB_NODE_MAP);
	if (!rc)
		rc = read_command(f, message, role);
	if (common)
		message = common;
	if (!rc)
		rc = read_number(f, message, "replicas", &role->replicas);
	if (!rc)
		rc = read_word(f, message, "restartPolicy", restart_words, restart_policies,
		    &role->restart_policy);
	role->image = mpijob__flyte_proto_text(message, "image");
	if (!rc && !role->image)
		return mpijob__flyte_task_refuse(f, "image",
		    mpijob__flyte_proto_get(message, "image"), "must be a string");
	role->resources = mpijob__flyte_proto_get(message, "resources");
	return rc ? rc : mpijob__flyte_task_need(f, "resources", role->resources, MPIJOB_NODE_MAP);
}

static int read_version_1(struct mpijob__flyte *f, const mpijob_node *custom)
{
	const mpijob_node *policy = mpijob__flyte_proto_get(custom, "runPolicy");
	int rc = read_role(f, "launcherReplicas", &f->launcher);

	if (!rc)
		rc = read_role(f, "workerReplicas", &f->worker);
	if (!rc)
		rc = mpijob__flyte_task_need(f, "runPolicy", policy, MPIJOB_NODE_MAP);
	if (!rc && policy)
		rc = read_policy(f, policy);
	f->launcher.replicas = 1;
	return rc;
}

static int read_version_0(struct mpijob__flyte *f, const mpijob_node *custom)
{
	int rc = read_number(f, custom, "numWorkers", &f->worker.replicas);

	if (!rc)
		rc = read_number(f, custom, "numLauncherReplicas", &f->launcher.replicas);
	if (f->launcher.replicas < 1)
		f->launcher.replicas = 1;
	f->launcher.restart_policy = f->worker.restart_policy = "Never";
	if (!rc && f->launcher.replicas > 1 &&
	    mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_ONE_LAUNCHER)) {
		rc = mpijob__flyte_repair_report(f, MPIJOB_FLYTE_ONE_LAUNCHER,
		    "custom.numLauncherReplicas",
		    "1 launcher in place of %d, which every operator refuses",
		    (int)f->launcher.replicas);
		f->launcher.replicas = 1;
	}
	return rc;
}

/* Parts of the template of another kind would be replaced, and so lost. */
static int need_parts(struct mpijob__flyte *f)
{
	static const struct {
		const char *fields[3];
		int32_t kind;
	} parts[] = {
		{ { "config" }, MPIJOB_NODE_MAP },
		{ { "metadata" }, MPIJOB_NODE_MAP },
		{ { "metadata", "metadata" }, MPIJOB_NODE_MAP },
		{ { "metadata", "metadata", "labels" }, MPIJOB_NODE_MAP },
		{ { "metadata", "metadata", "annotations" }, MPIJOB_NODE_MAP },
		{ { "container" }, MPIJOB_NODE_MAP },
		{ { "container", "command" }, MPIJOB_NODE_LIST },
		{ { "container", "args" }, MPIJOB_NODE_LIST },
		{ { "container", "env" }, MPIJOB_NODE_LIST },
		{ { "container", "resources" }, MPIJOB_NODE_MAP },
		{ { "k8sPod" }, MPIJOB_NODE_MAP },
		{ { "k8sPod", "metadata" }, MPIJOB_NODE_MAP },
		{ { "k8sPod", "metadata", "labels" }, MPIJOB_NODE_MAP },
		{ { "k8sPod", "metadata", "annotations" }, MPIJOB_NODE_MAP },
		{ { "extendedResources" }, MPIJOB_NODE_MAP },
		{ { "extendedResources", "gpuAccelerator" }, MPIJOB_NODE_MAP },
		{ { "extendedResources", "sharedMemory" }, MPIJOB_NODE_MAP },
		{ { "securityContext" }, MPIJOB_NODE_MAP },
		{ { "securityContext", "secrets" }, MPIJOB_NODE_LIST },
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(parts) / sizeof(parts[0]); i++) {
		const mpijob_node *part = f->task;
		const char *field = NULL;

		for (size_t k = 0; k < 3 && parts[i].fields[k]; k++) {
			field = parts[i].fields[k];
			part = mpijob__flyte_proto_get(part, field);
		}
		rc = mpijob__flyte_task_need(f, field, part, parts[i].kind);
	}
	return rc;
}

/* Refuse parts of the task that would change the pods and are not supported. */
static int refuse_foreign(struct mpijob__flyte *f)
{
	static const char *const targets[] = { "container", "k8sPod" };
	const mpijob_node *template =
	    mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, "metadata"),
		"podTemplateName");
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(targets) / sizeof(targets[0]); i++) {
		const mpijob_node *data =
		    mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, targets[i]),
			"dataConfig");

		if (data)
			rc = mpijob__flyte_task_refuse(f, "dataConfig", data,
			    "the CoPilot sidecar is not supported");
	}
	if (!rc && template && !mpijob_node_string(template))
		return mpijob__flyte_task_refuse(f, "metadata.podTemplateName", template,
		    "must be a string");
	if (!rc && mpijob_node_length(template))
		rc = mpijob__flyte_task_refuse(f, "metadata.podTemplateName", template,
		    "PodTemplate '%s' does not exist here: give the pod as k8sPod",
		    mpijob_node_string(template));
	return rc == MPIJOB_ERR_SPEC ? MPIJOB_ERR_UNSUPPORTED : rc;
}

int mpijob__flyte_task_read(struct mpijob__flyte *f)
{
	const mpijob_node *custom = mpijob__flyte_proto_get(f->task, "custom");
	int rc;

	f->launcher =
	    (struct mpijob__flyte_role){ .name = "Launcher", .is_launcher = 1, .image = "" };
	f->worker = (struct mpijob__flyte_role){ .name = "Worker", .image = "" };
	f->task_config = mpijob__flyte_proto_get(f->task, "config");
	rc = read_number(f, f->task, "taskTypeVersion", &f->version);
	if (!rc && f->version != 0 && f->version != 1)
		rc = mpijob__flyte_task_refuse(f, "taskTypeVersion",
		    mpijob__flyte_proto_get(f->task, "taskTypeVersion"),
		    "unsupported task template version %d; use 0 or 1", (int)f->version);
	if (!rc && mpijob_node_kind(custom) != MPIJOB_NODE_MAP)
		rc = mpijob__flyte_task_refuse(f, "custom", custom,
		    "must be the map that an MPI task has");
	if (!rc)
		rc = need_parts(f);
	if (!rc)
		rc = refuse_foreign(f);
	if (!rc)
		rc = read_number(f, custom, "slots", &f->slots);
	if (!rc)
		rc = f->version == 1 ? read_version_1(f, custom) : read_version_0(f, custom);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MPIJob of a task: its parts in the order of Flyte's plugin, and what the plugin manager
 * around it adds to the object. The job of v1 is complete before it is converted to v2beta1.
 */
#include "base/api.h"
#include "base/text.h"
#include "flyte/flyte.h"

#include <stdio.h>
#include <string.h>

#define FINALIZER "flyte.org/finalizer-k8s"

static int is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static int is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The name, in which Flyte replaces or removes characters that no object may have. A name that is
 * too long stays as it is, and is refused. */
static int put_name(struct mpijob__flyte *f, mpijob_node *metadata)
{
	const char *name = f->execution.name;
	struct mpijob_text text = { 0 };
	size_t from = 0;
	int rc = 0;

	for (const char *at = name; at && *at && !rc; at++) {
		char low = is_upper(*at) ? (char)(*at - 'A' + 'a') : *at;

		if (is_upper(*at) && at > name && is_lower(at[-1]))
			rc = mpijob__base_text_puts(&text, "-");
		if (!rc && (is_lower(low) || low == '-' || low == '.'))
			rc = mpijob_text_write(&text, &low, 1);
	}
	while (text.len && !is_lower(text.data[text.len - 1]))
		text.data[--text.len] = '\0';
	while (from < text.len && !is_lower(text.data[from]))
		from++;
	if (!rc && name)
		mpijob_node_put_string(f->doc, metadata, "name", mpijob_text_data(&text) + from);
	mpijob__base_text_release(&text);
	return rc;
}

static int put_metadata(struct mpijob__flyte *f, mpijob_node *root)
{
	const mpijob_node *own =
	    mpijob__flyte_proto_get(mpijob__flyte_proto_get(f->task, "metadata"), "metadata");
	mpijob_node *metadata = mpijob_node_put_map(f->doc, root, "metadata"), *labels,
		    *annotations;
	int rc;

	rc = put_name(f, metadata);
	mpijob_node_put_string(f->doc, metadata, "namespace", f->execution.namespace_);
	labels = mpijob_node_put_map(f->doc, metadata, "labels");
	mpijob__flyte_pod_union(f, labels, f->config.default_labels);
	mpijob__flyte_pod_union(f, labels, mpijob__flyte_proto_get(own, "labels"));
	mpijob__flyte_pod_union(f, labels, f->execution.labels);
	annotations = mpijob_node_put_map(f->doc, metadata, "annotations");
	mpijob__flyte_pod_union(f, annotations, f->config.default_annotations);
	mpijob__flyte_pod_union(f, annotations, mpijob__flyte_proto_get(own, "annotations"));
	mpijob__flyte_pod_union(f, annotations, f->execution.annotations);
	if (!rc)
		rc = mpijob__flyte_secrets_add(f, labels, annotations);
	mpijob__flyte_pod_tidy(metadata);
	if (f->execution.owner)
		mpijob_node_append(f->doc,
		    mpijob_node_put_list(f->doc, metadata, "ownerReferences"),
		    mpijob_node_copy(f->doc, f->execution.owner));
	if (f->config.inject_finalizer > 0)
		mpijob_node_append_string(f->doc,
		    mpijob_node_put_list(f->doc, metadata, "finalizers"), FINALIZER);
	return rc;
}

static int put_slots(struct mpijob__flyte *f, mpijob_node *spec)
{
	int32_t slots = f->version == 0 ? f->slots : 1;
	int rc = 0;

	if (mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_SLOTS) &&
	    slots != (f->slots > 0 ? f->slots : 1)) {
		rc = mpijob__flyte_repair_report(f, MPIJOB_FLYTE_SLOTS, "spec.slotsPerWorker",
		    "%d in place of %d, as the task says", (int)(f->slots > 0 ? f->slots : 1),
		    (int)slots);
		slots = f->slots > 0 ? f->slots : 1;
	}
	mpijob_node_put_int(f->doc, spec, "slotsPerWorker", slots);
	return rc;
}

static int put_policy(struct mpijob__flyte *f, mpijob_node *spec)
{
	static const char *const keys[FLYTE_POLICY_NUMBERS] = { "backoffLimit",
		"activeDeadlineSeconds", "ttlSecondsAfterFinished" };
	mpijob_node *policy = mpijob_node_put_map(f->doc, spec, "runPolicy");
	int rc = 0;

	if (f->has_policy)
		mpijob_node_put_string(f->doc, policy, "cleanPodPolicy", f->clean_policy);
	for (size_t i = 0; !rc && i < FLYTE_POLICY_NUMBERS; i++) {
		int is_zero = f->policy[i].given && f->policy[i].value == 0;

		if (is_zero && !mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_ZERO))
			continue;
		if (f->policy[i].given)
			mpijob_node_put_int(f->doc, policy, keys[i], f->policy[i].value);
		if (is_zero)
			rc = mpijob__flyte_repair_report(f, MPIJOB_FLYTE_ZERO, "spec.runPolicy",
			    "%s is 0, as the task says", keys[i]);
	}
	return rc;
}

static int put_role(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *roles)
{
	mpijob_node *replica = mpijob_node_put_map(f->doc, roles, role->name);
	int rc;

	mpijob_node_put_int(f->doc, replica, "replicas", role->replicas);
	mpijob_node_put_string(f->doc, replica, "restartPolicy", role->restart_policy);
	rc = mpijob__flyte_pod_make(f, role, mpijob_node_put_map(f->doc, replica, "template"));
	if (!rc && role->replicas <= 0)
		return mpijob__flyte_task_refuse(f, "custom.workerReplicas.replicas", NULL,
		    "the number of workers must be greater than 0");
	return rc;
}

static int make(struct mpijob__flyte *f)
{
	mpijob_node *root = mpijob_doc_edit(f->doc, ""), *spec, *roles;
	int rc;

	mpijob_node_put_string(f->doc, root, "apiVersion", MPIJOB__BASE_API_V1);
	mpijob_node_put_string(f->doc, root, "kind", MPIJOB__BASE_API_KIND);
	rc = put_metadata(f, root);
	spec = mpijob_node_put_map(f->doc, root, "spec");
	if (!rc)
		rc = put_slots(f, spec);
	if (!rc)
		rc = put_policy(f, spec);
	roles = mpijob_node_put_map(f->doc, spec, "mpiReplicaSpecs");
	if (!rc)
		rc = put_role(f, &f->launcher, roles);
	if (!rc)
		rc = put_role(f, &f->worker, roles);
	if (!rc && mpijob_doc_error(f->doc))
		rc = mpijob_doc_error(f->doc) == MPIJOB_ERR_NOMEM
			 ? MPIJOB_ERR_NOMEM
			 : mpijob__flyte_task_refuse(f, "k8sPod.podSpec", NULL,
			       "a map or list is required above a field that must be written, and "
			       "the value there has another type");
	return rc ? rc : f->to_v2beta1 ? mpijob__flyte_repair_convert(f) : 0;
}

static int refuse_version(mpijob_diag *diag, const char *version)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char message[256];
	int rc;

	snprintf(message, sizeof(message), "cannot make a Flyte task '%.200s'; use v1 or v2beta1",
	    version);
	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.id = "unsupported-version";
	finding.reason = "NotSupported";
	finding.field = "apiVersion";
	finding.message = message;
	rc = mpijob_diag_add(diag, &finding);
	return rc ? rc : MPIJOB_ERR_UNSUPPORTED;
}

int mpijob_flyte_job(const mpijob_node *task, const char *version,
    const struct mpijob_flyte_options *options, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob__flyte f = { .task = task, .diag = diag };
	mpijob_doc *defaults = mpijob_doc_new();
	int rc;

	if (!task || !version || !out) {
		mpijob_doc_free(defaults);
		return MPIJOB_ERR_USAGE;
	}
	f.to_v2beta1 = mpijob__base_text_is(version, "v2beta1") ||
		       mpijob__base_text_is(version, MPIJOB__BASE_API_VERSION);
	if (!f.to_v2beta1 && !mpijob__base_text_is(version, "v1") &&
	    !mpijob__base_text_is(version, MPIJOB__BASE_API_V1)) {
		mpijob_doc_free(defaults);
		return refuse_version(diag, version);
	}
	f.doc = defaults;
	rc = mpijob__flyte_config_take(&f, options);
	f.doc = mpijob_doc_new();
	if (!rc && (mpijob_doc_error(defaults) || !f.doc))
		rc = MPIJOB_ERR_NOMEM;
	if (!rc)
		rc = mpijob__flyte_task_read(&f);
	if (!rc)
		rc = make(&f);
	if (rc)
		mpijob_doc_free(f.doc);
	else
		*out = f.doc;
	mpijob_doc_free(defaults);
	return rc;
}

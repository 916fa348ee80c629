/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of volumes that need several fields. The operator adds two volumes, whose names are
 * reserved.
 */
#include <string.h>

#include "job/template_walk.h"

#define ISCSI_NAME_MOST 64

void mpijob__job_template_volumes(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step list = mpijob__job_template_child(step, "volumes");

	for (size_t i = 0;
	     !at->pod && i < mpijob_node_count(mpijob__job_template_list(step->node, "volumes"));
	     i++) {
		struct mpijob__job_step volume = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(volume.node, "name");

		if (name && (strcmp(name, "ssh-auth") == 0 ||
				(!at->worker && strcmp(name, "mpi-job-config") == 0)))
			mpijob__job_template_error(at, &volume, "name", "duplicate", "Duplicate",
			    "the operator adds a volume '%s' itself", name);
	}
}

/* Check a reference to a Secret. */
static void check_secret(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *volume, const char *source, const char *key, int form)
{
	struct mpijob__job_step inside = mpijob__job_template_child(volume, source);
	struct mpijob__job_step secret = mpijob__job_template_child(&inside, key);
	const char *name = mpijob__job_template_text(secret.node, "name");

	if (mpijob_node_kind(secret.node) != MPIJOB_NODE_MAP)
		return;
	if (!name && (!mpijob__job_template_has(secret.node, "name") ||
			 mpijob_node_string(mpijob_node_get(secret.node, "name"))))
		mpijob__job_template_error(at, &secret, "name", "missing", "Required",
		    "a value is required");
	if (name && form && mpijob__job_syntax_subdomain(name))
		mpijob__job_template_error(at, &secret, "name", "invalid-value", "Invalid",
		    "'%s' must be %s", name, mpijob__job_syntax_subdomain(name));
}

void mpijob__job_template_volume(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const mpijob_node *iscsi = mpijob__job_template_map(step->node, "iscsi");
	const char *name = mpijob__job_template_text(step->node, "name");
	const char *portal = mpijob__job_template_text(iscsi, "targetPortal");

	check_secret(at, step, "cinder", "secretRef", 0);
	check_secret(at, step, "storageos", "secretRef", 0);
	check_secret(at, step, "csi", "nodePublishSecretRef", 1);
	if (name && portal && mpijob__job_template_has(iscsi, "initiatorName") &&
	    strlen(name) + 1 + strlen(portal) > ISCSI_NAME_MOST)
		mpijob__job_template_error(at, step, "name", "too-long", "Invalid",
		    "with the target portal at most %d characters are possible",
		    ISCSI_NAME_MOST - 1);
}

void mpijob__job_template_iscsi(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	if ((mpijob__job_template_flag(step->node, "chapAuthDiscovery") ||
		mpijob__job_template_flag(step->node, "chapAuthSession")) &&
	    !mpijob__job_template_has(step->node, "secretRef"))
		mpijob__job_template_error(at, step, "secretRef", "missing", "Required",
		    "CHAP needs a Secret");
}

void mpijob__job_template_fc(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	size_t targets = mpijob_node_count(mpijob__job_template_list(step->node, "targetWWNs"));
	size_t ids = mpijob_node_count(mpijob__job_template_list(step->node, "wwids"));
	int64_t lun = 0;

	if (!targets == !ids)
		mpijob__job_template_error(at, step, "targetWWNs",
		    targets ? "too-many-of" : "none-of", targets ? "Invalid" : "Required",
		    "needs either targetWWNs or wwids");
	if (targets && !mpijob__job_template_has(step->node, "lun"))
		mpijob__job_template_error(at, step, "lun", "missing", "Required",
		    "targetWWNs need a lun");
	if (targets && mpijob__job_template_number(step->node, "lun", &lun) &&
	    (lun < 0 || lun > 255))
		mpijob__job_template_error(at, step, "lun", "out-of-range", "Invalid",
		    "must be from 0 to 255, not %lld", (long long)lun);
}

/* Whether an option is in a reserved domain of Kubernetes. */
static int is_reserved(const char *option)
{
	static const char *const domains[] = { ".kubernetes.io", ".k8s.io" };
	size_t len = strcspn(option, "/");

	for (size_t i = 0; i < 2; i++) {
		size_t domain = strlen(domains[i]);
		size_t from = len + 1 - (len + 1 < domain ? 0 : domain);
		int same = len + 1 >= domain;

		/* Compare as if the option began with a dot. */
		for (size_t k = 0; same && k < domain; k++) {
			char c = from + k == 0 ? '.' : option[from + k - 1];

			same = (c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c) == domains[i][k];
		}
		if (same)
			return 1;
	}
	return 0;
}

void mpijob__job_template_flex(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step options = mpijob__job_template_child(step, "options");

	for (size_t i = 0; mpijob_node_kind(options.node) == MPIJOB_NODE_MAP &&
			   i < mpijob_node_count(options.node);
	     i++) {
		if (is_reserved(mpijob_node_key(options.node, i)))
			mpijob__job_template_error(at, &options, mpijob_node_key(options.node, i),
			    "invalid-value", "Invalid",
			    "names of kubernetes.io and k8s.io are reserved");
	}
}

void mpijob__job_template_azure_disk(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *kind = mpijob__job_template_text(step->node, "kind");
	const char *uri = mpijob__job_template_text(step->node, "diskURI");
	const char *start = kind && strcmp(kind, "Managed") == 0 ? "/subscriptions/" : "https://";

	if (uri && strncmp(uri, start, strlen(start)) != 0)
		mpijob__job_template_error(at, step, "diskURI", "invalid-value", "NotSupported",
		    "must begin with %s for a disk of kind %s", start, kind ? kind : "Shared");
}

/* Check the files of one source of a projected volume; `seen` has those of previous sources. */
static void check_source(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *source, struct mpijob__doc_names *seen)
{
	static const char *const kinds[] = { "secret", "configMap", "downwardAPI" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const mpijob_node *items =
		    mpijob__job_template_list(mpijob__job_template_map(source->node, kinds[i]),
			"items");

		for (size_t k = 0; k < mpijob_node_count(items); k++) {
			const char *path =
			    mpijob__job_template_text(mpijob_node_at(items, k), "path");

			if (mpijob__job_template_names_repeat(at, seen, path))
				mpijob__job_template_error(at, source, NULL, "duplicate", "Invalid",
				    "another source has a file '%s' too", path);
		}
	}
}

void mpijob__job_template_projected(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step sources = mpijob__job_template_child(step, "sources");
	struct mpijob__doc_names seen = { 0 };

	for (size_t i = 0; i < mpijob_node_count(mpijob__job_template_list(step->node, "sources"));
	     i++) {
		struct mpijob__job_step source = mpijob__job_template_entry(&sources, i);

		check_source(at, &source, &seen);
	}
	mpijob__doc_names_release(&seen);
}

static int same_text(const mpijob_node *a, const mpijob_node *b, const char *key)
{
	const char *left = mpijob_node_string(mpijob_node_get(a, key));
	const char *right = mpijob_node_string(mpijob_node_get(b, key));

	return left && right ? strcmp(left, right) == 0 : left == right;
}

void mpijob__job_template_data_source(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const mpijob_node *spec = step->before ? step->before->node : NULL;
	const mpijob_node *older = mpijob__job_template_map(spec, "dataSource");
	const char *group = mpijob__job_template_text(step->node, "apiGroup");
	const char *kind = mpijob__job_template_text(step->node, "kind");
	const char *space = mpijob__job_template_text(step->node, "namespace");

	if (!group && kind && strcmp(kind, "PersistentVolumeClaim") != 0)
		mpijob__job_template_error(at, step, "kind", "invalid-value", "Invalid",
		    "must be PersistentVolumeClaim without an apiGroup");
	if (group && mpijob__job_syntax_subdomain(group))
		mpijob__job_template_error(at, step, "apiGroup", "invalid-value", "Invalid",
		    "'%s' must be %s", group, mpijob__job_syntax_subdomain(group));
	if (step->type != SCHEMA_TypedObjectReference)
		return;
	if (space && mpijob__job_syntax_label(space))
		mpijob__job_template_error(at, step, "namespace", "invalid-value", "Invalid",
		    "'%s' must be %s", space, mpijob__job_syntax_label(space));
	if (older &&
	    (space || !same_text(older, step->node, "apiGroup") ||
		!same_text(older, step->node, "kind") || !same_text(older, step->node, "name")))
		mpijob__job_template_error(at, step, NULL, "conflict", "Invalid",
		    "dataSource must be absent, or say the same");
}

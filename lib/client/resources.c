/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of kinds in URLs, and which kinds have no namespace.
 *
 * Only exceptions are listed: plurals are derived as kubectl derives them, except for its
 * "gatewaies", and other kinds have namespaces.
 */
#include "client/resources.h"

#include "base/text.h"

#include <string.h>

/* Kinds without namespaces. */
static const struct {
	const char *group; /* "" is the core group */
	const char *kind;
} outside[] = {
	{ "", "Namespace" },
	{ "", "Node" },
	{ "", "PersistentVolume" },
	{ "", "ComponentStatus" },
	{ "admissionregistration.k8s.io", "MutatingWebhookConfiguration" },
	{ "admissionregistration.k8s.io", "ValidatingWebhookConfiguration" },
	{ "admissionregistration.k8s.io", "ValidatingAdmissionPolicy" },
	{ "admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding" },
	{ "apiextensions.k8s.io", "CustomResourceDefinition" },
	{ "apiregistration.k8s.io", "APIService" },
	{ "authentication.k8s.io", "TokenReview" },
	{ "authentication.k8s.io", "SelfSubjectReview" },
	{ "authorization.k8s.io", "SelfSubjectAccessReview" },
	{ "authorization.k8s.io", "SelfSubjectRulesReview" },
	{ "authorization.k8s.io", "SubjectAccessReview" },
	{ "certificates.k8s.io", "CertificateSigningRequest" },
	{ "flowcontrol.apiserver.k8s.io", "FlowSchema" },
	{ "flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration" },
	{ "gateway.networking.k8s.io", "GatewayClass" },
	{ "kueue.x-k8s.io", "AdmissionCheck" },
	{ "kueue.x-k8s.io", "ClusterQueue" },
	{ "kueue.x-k8s.io", "Cohort" },
	{ "kueue.x-k8s.io", "ResourceFlavor" },
	{ "kueue.x-k8s.io", "Topology" },
	{ "kueue.x-k8s.io", "WorkloadPriorityClass" },
	{ "metrics.k8s.io", "NodeMetrics" },
	{ "networking.k8s.io", "IngressClass" },
	{ "node.k8s.io", "RuntimeClass" },
	{ "rbac.authorization.k8s.io", "ClusterRole" },
	{ "rbac.authorization.k8s.io", "ClusterRoleBinding" },
	{ "resource.k8s.io", "DeviceClass" },
	{ "resource.k8s.io", "ResourceSlice" },
	{ "scheduling.k8s.io", "PriorityClass" },
	{ "scheduling.volcano.sh", "Queue" },
	{ "storage.k8s.io", "CSIDriver" },
	{ "storage.k8s.io", "CSINode" },
	{ "storage.k8s.io", "StorageClass" },
	{ "storage.k8s.io", "VolumeAttachment" },
};

static int in_group(const char *api_version, const char *group)
{
	size_t len = strlen(group);

	if (len == 0)
		return !strchr(api_version, '/');
	return strncmp(api_version, group, len) == 0 && api_version[len] == '/';
}

int mpijob__client_resource_namespaced(const char *api_version, const char *kind)
{
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		if (strcmp(outside[i].kind, kind) == 0 && in_group(api_version, outside[i].group))
			return 0;
	return 1;
}

static int ends_in(const mpijob_text *text, const char *ending)
{
	size_t len = strlen(ending);

	return text->len >= len && memcmp(text->data + text->len - len, ending, len) == 0;
}

/* Kinds whose resource has another name. */
static const struct {
	const char *group;
	const char *kind;
	const char *plural;
} irregular[] = {
	{ "metrics.k8s.io", "NodeMetrics", "nodes" },
	{ "metrics.k8s.io", "PodMetrics", "pods" },
};

int mpijob__client_resource_plural(const char *api_version, const char *kind, mpijob_text *out)
{
	size_t len = strlen(kind);
	size_t start = out->len;
	const char *ending = "s";
	int rc;

	if (len == 0)
		return MPIJOB_ERR_USAGE;
	for (size_t i = 0; i < sizeof(irregular) / sizeof(irregular[0]); i++)
		if (strcmp(irregular[i].kind, kind) == 0 &&
		    in_group(api_version, irregular[i].group))
			return mpijob__base_text_puts(out, irregular[i].plural);
	rc = mpijob_text_write(out, kind, len);
	if (rc)
		return rc;
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] >= 'A' && out->data[i] <= 'Z')
			out->data[i] = (char)(out->data[i] - 'A' + 'a');
	if (ends_in(out, "endpoints"))
		return 0;
	if (out->data[out->len - 1] == 's') {
		ending = "es";
	} else if (len > 1 && out->data[out->len - 1] == 'y' &&
		   !strchr("aeiou", out->data[out->len - 2])) {
		out->data[--out->len] = 0;
		ending = "ies";
	}
	return mpijob__base_text_puts(out, ending);
}

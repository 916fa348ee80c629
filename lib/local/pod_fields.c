/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields of a pod template the embedded kubelet honours. The tables list honoured fields, and
 * fields without meaning here, such as those for images and schedulers. Every other field that is
 * set is reported once. A pod that cannot run correctly (no command, an unsupported volume, a
 * hostPath without permission) fails at once.
 */
#include "base/text.h"
#include "local/pod.h"

#include <stdlib.h>
#include <string.h>

static const char *const pod_fields[] = { "containers", "initContainers", "volumes",
	"restartPolicy", "hostname", "subdomain", "hostNetwork", "nodeName", "securityContext",
	"terminationGracePeriodSeconds", "imagePullSecrets", "enableServiceLinks",
	"activeDeadlineSeconds", NULL };

static const char *const container_fields[] = { "name", "image", "imagePullPolicy", "command",
	"args", "env", "envFrom", "workingDir", "ports", "volumeMounts", "resources",
	"securityContext", "readinessProbe", "terminationMessagePolicy", NULL };

static const char *const pod_security[] = { "runAsUser", "runAsGroup", "fsGroup",
	"supplementalGroups", "runAsNonRoot", "seccompProfile", NULL };

static const char *const container_security[] = { "runAsUser", "runAsGroup",
	"readOnlyRootFilesystem", "runAsNonRoot", "allowPrivilegeEscalation", "capabilities",
	"privileged", "seccompProfile", NULL };

static const char *const probe_fields[] = { "tcpSocket", "exec", "initialDelaySeconds",
	"periodSeconds", "timeoutSeconds", "successThreshold", "failureThreshold", NULL };

static const char *const mount_fields[] = { "name", "mountPath", "subPath", "subPathExpr",
	"readOnly", NULL };

static const char *const empty_dir_fields[] = { "medium", NULL };

static int is_in(const char *word, const char *const *list)
{
	for (size_t i = 0; list[i]; i++) {
		if (strcmp(list[i], word) == 0)
			return 1;
	}
	return 0;
}

/* Whether a field is set: null, false, and an empty map, list or string count as absent. */
static int has_value(const mpijob_node *node)
{
	int on = 1;

	switch (mpijob_node_kind(node)) {
	case MPIJOB_NODE_LIST:
	case MPIJOB_NODE_MAP: return mpijob_node_count(node) > 0;
	case MPIJOB_NODE_STRING: return mpijob_node_length(node) > 0;
	case MPIJOB_NODE_BOOL: return mpijob_node_bool(node, &on) && on;
	case MPIJOB_NODE_NUMBER: return 1;
	default: return 0;
	}
}

static void notice_field(const struct mpijob__local_pod *pod, const char *parent, const char *key,
    const char *what)
{
	char *path = mpijob__base_text_format("%s%s%s", parent, *parent && *key ? "." : "", key);

	if (path)
		mpijob__local_kubelet_notice_field(pod->kubelet, pod, path, what);
	free(path);
}

static void notice_unknown_fields(const struct mpijob__local_pod *pod, const mpijob_node *map,
    const char *parent, const char *const *known)
{
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		if (!is_in(mpijob_node_key(map, i), known) && has_value(mpijob_node_at(map, i)))
			notice_field(pod, parent, mpijob_node_key(map, i), NULL);
	}
}

/* Whether dnsConfig only adds search domains of the cluster, whose names are in the hosts file. */
static int has_only_cluster_domains(const mpijob_node *config)
{
	const mpijob_node *searches = mpijob_node_get(config, "searches");

	for (size_t i = 0; i < mpijob_node_count(searches); i++) {
		const char *domain = mpijob_node_string(mpijob_node_at(searches, i));

		if (!domain || !strstr(domain, ".svc"))
			return 0;
	}
	return mpijob_node_count(config) == 1 && searches;
}

/* Whether the operator sets this field, to this value, in every pod. */
static int is_operator_default(const mpijob_node *spec, const char *key)
{
	const char *text = mpijob_node_string(mpijob_node_get(spec, key));

	if (strcmp(key, "dnsConfig") == 0)
		return has_only_cluster_domains(mpijob_node_get(spec, key));
	if (strcmp(key, "dnsPolicy") == 0)
		return !text || strncmp(text, "ClusterFirst", 12) == 0 ||
		       strcmp(text, "Default") == 0;
	if (strcmp(key, "serviceAccountName") == 0 || strcmp(key, "serviceAccount") == 0)
		return !text || strcmp(text, "default") == 0;
	if (strcmp(key, "schedulerName") == 0)
		return !text || strcmp(text, "default-scheduler") == 0;
	return strcmp(key, "automountServiceAccountToken") == 0;
}

static void check_groups(const struct mpijob__local_pod *pod)
{
	static const char *const keys[] = { "fsGroup", "supplementalGroups" };
	const mpijob_node *context = mpijob_node_get(pod->spec, "securityContext");

	for (size_t i = 0; i < 2 && mpijob__local_kubelet_has_one_id(pod->kubelet); i++) {
		if (has_value(mpijob_node_get(context, keys[i])))
			notice_field(pod, "securityContext", keys[i],
			    "this user has no subordinate group ids; add a line to /etc/subgid");
	}
}

static void check_profile(const struct mpijob__local_pod *pod, const mpijob_node *context,
    const char *parent)
{
	const char *type = mpijob_node_string(mpijob_node_find(context, "seccompProfile.type"));

	if (type && strcmp(type, "Localhost") == 0)
		notice_field(pod, parent, "seccompProfile", "the default profile is used");
}

static void check_pod(const struct mpijob__local_pod *pod)
{
	for (size_t i = 0; i < mpijob_node_count(pod->spec); i++) {
		const char *key = mpijob_node_key(pod->spec, i);

		if (!is_in(key, pod_fields) && !is_operator_default(pod->spec, key) &&
		    has_value(mpijob_node_at(pod->spec, i)))
			notice_field(pod, "", key, NULL);
	}
	notice_unknown_fields(pod, mpijob_node_get(pod->spec, "securityContext"), "securityContext",
	    pod_security);
	check_profile(pod, mpijob_node_get(pod->spec, "securityContext"), "securityContext");
	check_groups(pod);
}

static void check_capabilities(const struct mpijob__local_container *container,
    const mpijob_node *context, const char *parent)
{
	uint64_t missing = 0;
	int privileged = 0;

	mpijob__local_pod_security_capabilities(container, &missing);
	mpijob_node_bool(mpijob_node_get(context, "privileged"), &privileged);
	if (missing)
		notice_field(container->pod, parent, privileged ? "privileged" : "capabilities.add",
		    "capabilities beyond the default set require --allow-host-path");
}

static void check_env(const struct mpijob__local_container *container, const char *parent)
{
	const mpijob_node *env = mpijob_node_get(container->spec, "env");

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const mpijob_node *from = mpijob_node_get(mpijob_node_at(env, i), "valueFrom");
		const char *path = mpijob_node_string(mpijob_node_find(from, "fieldRef.fieldPath"));
		char *text = NULL;
		char *field = mpijob__base_text_format("env[%zu].valueFrom", i);
		int known =
		    mpijob_node_kind(from) != MPIJOB_NODE_MAP ||
		    mpijob_node_get(from, "configMapKeyRef") ||
		    mpijob_node_get(from, "secretKeyRef") ||
		    (path && mpijob__local_environment_field(container->pod, path, &text) != 0);

		if (field && !known)
			notice_field(container->pod, parent, field, "the variable is not set");
		free(field);
		free(text);
	}
}

static void check_ports(const struct mpijob__local_container *container, const char *parent)
{
	const mpijob_node *ports = mpijob_node_get(container->spec, "ports");

	for (size_t i = 0; i < mpijob_node_count(ports); i++) {
		if (has_value(mpijob_node_get(mpijob_node_at(ports, i), "hostPort")) &&
		    !container->pod->host_network)
			notice_field(container->pod, parent, "ports[].hostPort", NULL);
	}
}

static void check_mounts(const struct mpijob__local_container *container, const char *parent)
{
	const mpijob_node *mounts = mpijob_node_get(container->spec, "volumeMounts");

	for (size_t i = 0; i < mpijob_node_count(mounts); i++) {
		char *path = mpijob__base_text_format("%s.volumeMounts[%zu]", parent, i);

		if (path)
			notice_unknown_fields(container->pod, mpijob_node_at(mounts, i), path,
			    mount_fields);
		free(path);
	}
}

/* Report a resource by its name. */
static void notice_resource(const struct mpijob__local_container *container, const char *parent,
    const char *list, const char *key)
{
	int named = strpbrk(key, "./") != NULL;
	char *path = mpijob__base_text_format("%s.%s%s%s%s", parent, list, named ? "[" : ".", key,
	    named ? "]" : "");

	if (path)
		notice_field(container->pod, path, "", NULL);
	free(path);
}

static void check_resources(const struct mpijob__local_container *container, const char *parent)
{
	static const char *const lists[] = { "limits", "requests" };

	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		const mpijob_node *list =
		    mpijob_node_get(mpijob_node_get(container->spec, "resources"), lists[l]);

		for (size_t i = 0; i < mpijob_node_count(list); i++)
			notice_resource(container, parent, lists[l], mpijob_node_key(list, i));
	}
	if (mpijob_node_count(mpijob_node_find(container->spec, "resources.claims")) > 0)
		notice_field(container->pod, parent, "claims", NULL);
}

static void check_container_fields(const struct mpijob__local_container *container,
    const char *parent)
{
	const struct mpijob__local_pod *pod = container->pod;
	const mpijob_node *context = mpijob_node_get(container->spec, "securityContext");
	char *security = mpijob__base_text_format("%s.securityContext", parent);
	char *resources = mpijob__base_text_format("%s.resources", parent);
	char *probe = mpijob__base_text_format("%s.readinessProbe", parent);

	notice_unknown_fields(pod, container->spec, parent, container_fields);
	if (security) {
		notice_unknown_fields(pod, context, security, container_security);
		check_capabilities(container, context, security);
		check_profile(pod, context, security);
	}
	if (resources)
		check_resources(container, resources);
	if (probe)
		notice_unknown_fields(pod, mpijob_node_get(container->spec, "readinessProbe"),
		    probe, probe_fields);
	check_env(container, parent);
	check_ports(container, parent);
	check_mounts(container, parent);
	free(security);
	free(resources);
	free(probe);
}

/* ---- errors ---- */

static void check_command(struct mpijob__local_pod *pod,
    const struct mpijob__local_container *container)
{
	if (mpijob_node_count(mpijob_node_get(container->spec, "command")) == 0 &&
	    mpijob_node_count(mpijob_node_get(container->spec, "args")) == 0)
		mpijob__local_pod_fail(pod, "NoCommand",
		    mpijob__base_text_format("container %s has neither command nor args, and the "
					     "entrypoint of its image is unknown: set command",
			container->name));
}

static int64_t user_of(const struct mpijob__local_container *container)
{
	int64_t user = 0;

	if (!mpijob_node_int(mpijob_node_find(container->spec, "securityContext.runAsUser"), &user))
		mpijob_node_int(mpijob_node_find(container->pod->spec, "securityContext.runAsUser"),
		    &user);
	return user;
}

static void check_user(struct mpijob__local_pod *pod,
    const struct mpijob__local_container *container)
{
	int non_root = 0;

	if (!mpijob_node_bool(mpijob_node_find(container->spec, "securityContext.runAsNonRoot"),
		&non_root))
		mpijob_node_bool(mpijob_node_find(pod->spec, "securityContext.runAsNonRoot"),
		    &non_root);
	if (non_root && user_of(container) == 0)
		mpijob__local_pod_fail(pod, "RunAsNonRoot",
		    mpijob__base_text_format(
			"container %s has runAsNonRoot, but no runAsUser other than 0",
			container->name));
}

static void check_restart(struct mpijob__local_pod *pod,
    const struct mpijob__local_container *container)
{
	if (container->init &&
	    mpijob_node_string(mpijob_node_get(container->spec, "restartPolicy")))
		mpijob__local_pod_fail(pod, "SidecarNotSupported",
		    mpijob__base_text_format("init container %s has a restartPolicy: sidecar "
					     "containers are not supported",
			container->name));
}

static int is_known_projection(const mpijob_node *projected)
{
	const mpijob_node *sources = mpijob_node_get(projected, "sources");

	for (size_t i = 0; i < mpijob_node_count(sources); i++) {
		const mpijob_node *part = mpijob_node_at(sources, i);

		if (!mpijob_node_get(part, "configMap") && !mpijob_node_get(part, "secret") &&
		    !mpijob_node_get(part, "downwardAPI"))
			return 0;
	}
	return 1;
}

static const char *volume_kind(const mpijob_node *spec)
{
	for (size_t i = 0; i < mpijob_node_count(spec); i++) {
		if (strcmp(mpijob_node_key(spec, i), "name") != 0 &&
		    mpijob_node_kind(mpijob_node_at(spec, i)) != MPIJOB_NODE_NULL)
			return mpijob_node_key(spec, i);
	}
	return "emptyDir";
}

static void check_empty_dir(const struct mpijob__local_pod *pod,
    const struct mpijob__local_volume *volume)
{
	char *path =
	    mpijob__base_text_format("volumes[%zu].emptyDir", (size_t)(volume - pod->volumes));

	if (path)
		notice_unknown_fields(pod, mpijob_node_get(volume->spec, "emptyDir"), path,
		    empty_dir_fields);
	free(path);
}

static void check_volume(struct mpijob__local_pod *pod, const struct mpijob__local_volume *volume)
{
	static const char *const known[] = { "emptyDir", "configMap", "secret", "downwardAPI",
		"projected", "hostPath", NULL };
	const char *kind = volume_kind(volume->spec);

	check_empty_dir(pod, volume);
	if (mpijob_node_get(volume->spec, "hostPath") && !pod->local->allow_host_path)
		mpijob__local_pod_fail(pod, "HostPathNotAllowed",
		    mpijob__base_text_format(
			"volume %s is a hostPath, which requires --allow-host-path", volume->name));
	else if (!is_in(kind, known) ||
		 (strcmp(kind, "projected") == 0 &&
		     !is_known_projection(mpijob_node_get(volume->spec, kind))))
		mpijob__local_pod_fail(pod, "VolumeNotSupported",
		    mpijob__base_text_format(
			"volume %s: %s is not supported; use configMap, secret, emptyDir, "
			"downwardAPI, projected of these, or hostPath",
			volume->name, kind));
}

void mpijob__local_pod_fields_check(struct mpijob__local_pod *pod)
{
	check_pod(pod);
	for (size_t i = 0; i < pod->volume_count; i++)
		check_volume(pod, &pod->volumes[i]);
	for (size_t i = 0; i < pod->count; i++) {
		struct mpijob__local_container *container = &pod->containers[i];
		char *parent = mpijob__base_text_format("%s[%zu]",
		    container->init ? "initContainers" : "containers",
		    container->init ? i : i - pod->init_count);

		if (parent)
			check_container_fields(container, parent);
		free(parent);
		check_command(pod, container);
		check_user(pod, container);
		check_restart(pod, container);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of a whole pod: metadata, names, DNS, namespaces of the host, and fields that are invalid
 * on Windows. The operator sets hostname, subdomain, restartPolicy and its labels, so they are
 * checked only in complete pods.
 */
#include <string.h>

#include "base/api.h"
#include "job/field.h"
#include "job/template_walk.h"
#include "base/text.h"

#define ANNOTATIONS_MOST       ((size_t)256 * 1024)
#define NAMESERVERS_MOST       3
#define SEARCHES_MOST          32
#define SEARCH_CHARACTERS_MOST 2048

/* Labels that the operator overwrites. */
static int is_operators_label(const struct mpijob__job_pod_template *at, const char *key)
{
	return !at->pod &&
	       (strcmp(key, MPIJOB__BASE_API_LABEL_OPERATOR) == 0 ||
		   strcmp(key, MPIJOB__BASE_API_LABEL_JOB_NAME) == 0 ||
		   strcmp(key, MPIJOB__BASE_API_LABEL_JOB_ROLE) == 0 ||
		   (at->worker && strcmp(key, MPIJOB__BASE_API_LABEL_REPLICA_INDEX) == 0));
}

static void check_labels(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const char *field, int of_pod)
{
	struct mpijob__job_step labels = mpijob__job_template_child(step, field);

	if (mpijob_node_kind(labels.node) != MPIJOB_NODE_MAP)
		return;
	for (size_t i = 0; i < mpijob_node_count(labels.node); i++) {
		const char *key = mpijob_node_key(labels.node, i);
		const char *value = mpijob_node_string(mpijob_node_at(labels.node, i));
		const char *must = mpijob__job_syntax_key(key);

		if (must)
			mpijob__job_template_error(at, &labels, key, "invalid-label", "Invalid",
			    "the key must be %s", must);
		must = value ? mpijob__job_syntax_value(value) : NULL;
		if (must && !(of_pod && is_operators_label(at, key)))
			mpijob__job_template_error(at, &labels, key, "invalid-label", "Invalid",
			    "'%s' must be %s", value, must);
	}
}

static int is_seccomp(const char *text)
{
	return strcmp(text, "runtime/default") == 0 || strcmp(text, "docker/default") == 0 ||
	       strcmp(text, "unconfined") == 0 ||
	       (mpijob__base_text_begins(text, "localhost/") &&
		   !mpijob__job_syntax_relative(text + 10));
}

static int is_apparmor(const char *text)
{
	return !*text || strcmp(text, "runtime/default") == 0 || strcmp(text, "unconfined") == 0 ||
	       mpijob__base_text_begins(text, "localhost/");
}

/* Whether a text is a whole number of 32 bits. */
static int is_int32(const char *text)
{
	const char *at = text + (*text == '-');
	int64_t value = 0;

	if (!*at || (*text == '0' && text[1]) || strspn(at, "0123456789") != strlen(at))
		return 0;
	for (; *at && value <= INT32_MAX; at++)
		value = value * 10 + (*at - '0');
	return value <= (int64_t)INT32_MAX + (*text == '-');
}

/* What is wrong with the value of an annotation that the server uses; NULL if nothing is. */
static const char *annotation_fault(const struct mpijob__job_pod_template *at, const char *key,
    const char *value)
{
	static const char armor[] = MPIJOB__BASE_API_APPARMOR;

	if (strcmp(key, "controller.kubernetes.io/pod-deletion-cost") == 0 && !is_int32(value))
		return "must be a whole number of 32 bits";
	if (strcmp(key, "kubernetes.io/config.mirror") == 0 &&
	    !mpijob__job_template_text(mpijob__job_template_spec(at), "nodeName"))
		return "needs spec.nodeName";
	if ((strcmp(key, "seccomp.security.alpha.kubernetes.io/pod") == 0 ||
		mpijob__base_text_begins(key, MPIJOB__BASE_API_SECCOMP)) &&
	    !is_seccomp(value))
		return "must be runtime/default, unconfined, or localhost/ and a path";
	if (mpijob__base_text_begins(key, armor) && !is_apparmor(value))
		return "must be runtime/default, unconfined, or localhost/ and a profile";
	if (mpijob__base_text_begins(key, armor) &&
	    !mpijob__job_template_pool_find(at, POOL_CONTAINERS, key + sizeof(armor) - 1, NULL))
		return "there is no such container";
	return NULL;
}

static void check_annotations(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, int of_pod)
{
	struct mpijob__job_step list = mpijob__job_template_child(step, "annotations");
	size_t total = 0;

	if (mpijob_node_kind(list.node) != MPIJOB_NODE_MAP)
		return;
	for (size_t i = 0; i < mpijob_node_count(list.node); i++) {
		const char *key = mpijob_node_key(list.node, i);
		const char *value = mpijob_node_string(mpijob_node_at(list.node, i));
		const char *fault = mpijob__job_syntax_annotation(key);

		total += strlen(key) + mpijob_node_length(mpijob_node_at(list.node, i));
		if (fault)
			mpijob__job_template_error(at, &list, key, "invalid-annotation", "Invalid",
			    "the key must be %s", fault);
		fault = value && of_pod ? annotation_fault(at, key, value) : NULL;
		if (fault)
			mpijob__job_template_error(at, &list, key, "invalid-annotation", "Invalid",
			    "%s", fault);
	}
	if (total > ANNOTATIONS_MOST)
		mpijob__job_template_error(at, &list, NULL, "too-long", "TooLong",
		    "annotations may have %zu bytes in all, not %zu", ANNOTATIONS_MOST, total);
}

/* Labels that the Job controller sets itself. */
static void check_job_labels(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const names[] = { "job-name", MPIJOB__BASE_API_BATCH_NAME };
	static const char *const uids[] = { "controller-uid", MPIJOB__BASE_API_BATCH_UID };
	struct mpijob__job_step labels = mpijob__job_template_child(step, "labels");
	const mpijob_node *own = mpijob__job_field_node(at->root, FIELD_NAME);
	const char *name = mpijob_node_string(own);

	for (size_t i = 0; i < 2; i++) {
		const char *found = mpijob_node_string(mpijob_node_get(labels.node, names[i]));

		if (found && name &&
		    (!mpijob__base_text_begins(found, name) ||
			strcmp(found + strlen(name), "-launcher") != 0))
			mpijob__job_template_error(at, &labels, names[i], "invalid-label",
			    "Invalid", "must be %s-launcher", name);
		if (mpijob_node_string(mpijob_node_get(labels.node, uids[i])))
			mpijob__job_template_error(at, &labels, uids[i], "invalid-label", "Invalid",
			    "the Job controller sets this label itself");
	}
}

void mpijob__job_template_metadata(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const forbidden[] = { "finalizers", "name", "namespace" };
	int of_pod = step->before->before == NULL;

	check_labels(at, step, "labels", of_pod);
	check_annotations(at, step, of_pod);
	if (of_pod && !at->worker && !at->pod)
		check_job_labels(at, step);
	for (size_t i = 0; !of_pod && i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		if (mpijob__job_template_text(step->node, forbidden[i]) ||
		    mpijob_node_count(mpijob_node_get(step->node, forbidden[i])))
			mpijob__job_template_error(at, step, forbidden[i], "forbidden", "Forbidden",
			    "only labels and annotations can be set here");
	}
}

static int is_false(const mpijob_node *map, const char *key)
{
	int value;

	return mpijob_node_bool(mpijob_node_get(map, key), &value) && !value;
}

static void check_host_users(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const shared[] = { "hostPID", "hostIPC" };

	if (!is_false(step->node, "hostUsers"))
		return;
	for (size_t i = 0; i < 2; i++) {
		if (mpijob__job_template_flag(step->node, shared[i]))
			mpijob__job_template_error(at, step, shared[i], "forbidden", "Forbidden",
			    "not with hostUsers: false");
	}
}

/* Fields that the operator sets in a pod that it creates from a template. */
static void check_complete(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const names[] = { "hostname", "subdomain" };
	const struct mpijob__schema_field *field =
	    mpijob__schema_find(SCHEMA_PodSpec, "restartPolicy");
	const char *policy = mpijob__job_template_text(step->node, "restartPolicy");
	struct mpijob__job_step word = mpijob__job_template_child(step, "restartPolicy");

	for (size_t i = 0; i < 2; i++) {
		const char *name = mpijob__job_template_text(step->node, names[i]);
		const char *must = name ? mpijob__job_syntax_label(name) : NULL;

		if (must)
			mpijob__job_template_error(at, step, names[i], "invalid-value", "Invalid",
			    "'%s' must be %s", name, must);
	}
	if (policy && !mpijob__schema_allows(field, policy))
		mpijob__job_template_unsupported(at, &word, field, policy);
	if (!mpijob_node_count(mpijob__job_template_list(step->node, "containers")))
		mpijob__job_template_error(at, step, "containers", "missing", "Required",
		    "a value is required");
}

void mpijob__job_template_pod(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *account = mpijob__job_template_text(step->node, "serviceAccount");
	const char *must = account ? mpijob__job_syntax_subdomain(account) : NULL;
	const char *os = mpijob__job_template_text(mpijob_node_get(step->node, "os"), "name");
	struct mpijob__job_step system = mpijob__job_template_child(step, "os");

	if (at->pod)
		check_complete(at, step);
	check_labels(at, step, "nodeSelector", 0);
	check_host_users(at, step);
	if (mpijob_node_count(mpijob__job_template_list(step->node, "ephemeralContainers")))
		mpijob__job_template_error(at, step, "ephemeralContainers", "forbidden",
		    "Forbidden", "a template cannot have ephemeral containers");
	if (mpijob__job_template_text(step->node, "nodeName") &&
	    mpijob_node_count(mpijob__job_template_list(step->node, "schedulingGates")))
		mpijob__job_template_error(at, step, "nodeName", "forbidden", "Forbidden",
		    "not with schedulingGates");
	if (must && !mpijob__job_template_text(step->node, "serviceAccountName"))
		mpijob__job_template_error(at, step, "serviceAccount", "invalid-value", "Invalid",
		    "'%s' must be %s", account, must);
	if (mpijob__job_template_flag(step->node, "shareProcessNamespace") &&
	    mpijob__job_template_flag(step->node, "hostPID"))
		mpijob__job_template_error(at, step, "shareProcessNamespace", "forbidden",
		    "Invalid", "not with hostPID");
	if (os && strcmp(os, "linux") != 0 && strcmp(os, "windows") != 0)
		mpijob__job_template_error(at, &system, "name", "unsupported-value", "NotSupported",
		    "unsupported value '%s'; use linux or windows", os);
}

void mpijob__job_template_host_names(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const others[] = { "setHostnameAsFQDN", "hostNetwork" };

	for (size_t i = 0; mpijob__job_template_has(step->node, "hostnameOverride") && i < 2; i++) {
		if (mpijob__job_template_flag(step->node, others[i]))
			mpijob__job_template_error(at, step, "hostnameOverride", "forbidden",
			    "Forbidden", "not with %s", others[i]);
	}
}

/* The minimum length of the search domain that the operator adds to a worker. */
static size_t operators_search_length(const struct mpijob__job_pod_template *at)
{
	const char *name = mpijob_node_string(mpijob__job_field_node(at->root, FIELD_NAME));
	const char *space = mpijob_node_string(mpijob__job_field_node(at->root, FIELD_NAMESPACE));

	return (name ? strlen(name) : 1) + (space && *space ? strlen(space) : 1) +
	       sizeof("..svc.cluster.local") - 1;
}

static void check_searches(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *config)
{
	const mpijob_node *list = mpijob__job_template_list(config->node, "searches");
	size_t count = mpijob_node_count(list) + (at->worker ? 1 : 0);
	size_t total = at->worker ? operators_search_length(at) : 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++)
		total += mpijob_node_length(mpijob_node_at(list, i));
	total += count ? count - 1 : 0;
	if (count > SEARCHES_MOST)
		mpijob__job_template_error(at, config, "searches", "too-many", "Invalid",
		    "at most %d domains are possible%s", SEARCHES_MOST,
		    at->worker ? ", and the operator adds one" : "");
	if (total > SEARCH_CHARACTERS_MOST)
		mpijob__job_template_error(at, config, "searches", "too-long", "Invalid",
		    "at most %d characters are possible in all", SEARCH_CHARACTERS_MOST);
}

void mpijob__job_template_dns(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step config = mpijob__job_template_child(step, "dnsConfig");
	struct mpijob__job_step word = mpijob__job_template_child(step, "dnsPolicy");
	const char *policy = mpijob__job_template_text(step->node, "dnsPolicy");
	const struct mpijob__schema_field *field = mpijob__schema_find(SCHEMA_PodSpec, "dnsPolicy");
	size_t servers = mpijob_node_count(mpijob__job_template_list(config.node, "nameservers"));

	/* With hostNetwork the operator replaces the policy. */
	if (policy && (at->pod || !mpijob__job_template_flag(step->node, "hostNetwork"))) {
		if (!mpijob__schema_allows(field, policy))
			mpijob__job_template_unsupported(at, &word, field, policy);
		if (strcmp(policy, "None") == 0 && !servers)
			mpijob__job_template_error(at, step, "dnsConfig", "missing", "Required",
			    "dnsPolicy None needs nameservers here");
	}
	if (servers > NAMESERVERS_MOST)
		mpijob__job_template_error(at, &config, "nameservers", "too-many", "Invalid",
		    "at most %d are possible", NAMESERVERS_MOST);
	check_searches(at, &config);
}

typedef void container_fn(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *pod, const struct mpijob__job_step *container, void *data);

static void each_container(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *pod, container_fn *call, void *data)
{
	static const char *const lists[] = { "initContainers", "containers" };

	for (size_t i = 0; i < 2; i++) {
		struct mpijob__job_step list = mpijob__job_template_child(pod, lists[i]);

		for (size_t k = 0;
		     k < mpijob_node_count(mpijob__job_template_list(pod->node, lists[i])); k++) {
			struct mpijob__job_step entry = mpijob__job_template_entry(&list, k);

			call(at, pod, &entry, data);
		}
	}
}

static void forbid(const struct mpijob__job_pod_template *at, const struct mpijob__job_step *step,
    const char *const *keys, const char *system)
{
	for (; *keys; keys++) {
		if (mpijob__job_template_has(step->node, *keys) &&
		    mpijob_node_kind(mpijob_node_get(step->node, *keys)))
			mpijob__job_template_error(at, step, *keys, "forbidden", "Forbidden",
			    "not in a pod for %s", system);
	}
}

static void forbid_in_container(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *pod, const struct mpijob__job_step *container, void *windows)
{
	static const char *const on_windows[] = { "appArmorProfile", "seLinuxOptions",
		"seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
		"allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup", NULL };
	static const char *const on_linux[] = { "windowsOptions", NULL };
	struct mpijob__job_step context = mpijob__job_template_child(container, "securityContext");

	(void)pod;
	forbid(at, &context, windows ? on_windows : on_linux, windows ? "Windows" : "Linux");
}

static void forbid_in_windows_pod(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *pod)
{
	static const char *const in_spec[] = { "hostUsers", "shareProcessNamespace", "resources",
		NULL };
	static const char *const in_context[] = { "appArmorProfile", "seLinuxOptions",
		"seccompProfile", "fsGroup", "fsGroupChangePolicy", "runAsUser", "runAsGroup",
		"supplementalGroupsPolicy", "seLinuxChangePolicy", NULL };
	static const char *const lists[] = { "sysctls", "supplementalGroups" };
	static const char *const flags[] = { "hostPID", "hostIPC" };
	struct mpijob__job_step context = mpijob__job_template_child(pod, "securityContext");

	forbid(at, pod, in_spec, "Windows");
	forbid(at, &context, in_context, "Windows");
	for (size_t i = 0; i < 2; i++) {
		if (mpijob_node_count(mpijob_node_get(context.node, lists[i])))
			mpijob__job_template_error(at, &context, lists[i], "forbidden", "Forbidden",
			    "not in a pod for Windows");
		if (mpijob__job_template_flag(pod->node, flags[i]))
			mpijob__job_template_error(at, pod, flags[i], "forbidden", "Forbidden",
			    "not in a pod for Windows");
	}
}

/* Containers that run as processes of a Windows host: all containers of a pod, or none. */
struct processes {
	int pod; /* value of the pod; -1: not set */
	int containers;
	int on_host;
};

static int host_process_of(const mpijob_node *owner)
{
	const mpijob_node *options =
	    mpijob_node_get(mpijob_node_get(owner, "securityContext"), "windowsOptions");
	int value;

	return mpijob_node_bool(mpijob_node_get(options, "hostProcess"), &value) ? value : -1;
}

static void count_process(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *pod, const struct mpijob__job_step *container, void *data)
{
	struct processes *all = data;
	int own = host_process_of(container->node);

	(void)pod;
	all->containers++;
	all->on_host += own == 1 || (own < 0 && all->pod == 1);
	if (own >= 0 && all->pod >= 0 && own != all->pod)
		mpijob__job_template_error(at, container, "securityContext", "conflict", "Invalid",
		    "windowsOptions.hostProcess must be that of the pod");
}

void mpijob__job_template_windows(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const on_linux[] = { "windowsOptions", NULL };
	const char *os = mpijob__job_template_text(mpijob_node_get(step->node, "os"), "name");
	struct mpijob__job_step context = mpijob__job_template_child(step, "securityContext");
	struct processes all = { host_process_of(step->node), 0, 0 };

	if (os && strcmp(os, "windows") == 0) {
		forbid_in_windows_pod(at, step);
		each_container(at, step, forbid_in_container, &all);
	} else if (os && strcmp(os, "linux") == 0) {
		forbid(at, &context, on_linux, "Linux");
		each_container(at, step, forbid_in_container, NULL);
	}
	each_container(at, step, count_process, &all);
	if (all.on_host && (all.on_host != all.containers ||
			       !mpijob__job_template_flag(step->node, "hostNetwork")))
		mpijob__job_template_error(at, step, NULL, "conflict", "Invalid",
		    "with windowsOptions.hostProcess all containers must have it, and hostNetwork "
		    "be true");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of containers: mounts and their volumes, conflicting ports, probes, variables, and fields
 * that only some kinds of containers may have. The operator adds mounts to the first container.
 */
#include <string.h>

#include "base/quantity.h"
#include "job/field.h"
#include "job/template_walk.h"
#include "base/text.h"

#define RULES_MOST      20
#define EXIT_CODES_MOST 255
#define GRACE_SECONDS   30

static int is_word(const mpijob_node *map, const char *key, const char *word)
{
	const char *text = mpijob__job_template_text(map, key);

	return text && strcmp(text, word) == 0;
}

/* The policy of the role replaces that of the template. */
static int never_restarts(const struct mpijob__job_pod_template *at)
{
	int id = at->worker ? FIELD_WORKER_RESTART_POLICY : FIELD_LAUNCHER_RESTART_POLICY;
	const char *policy = mpijob_node_string(mpijob__job_field_node(at->root, id));

	if (at->pod)
		return is_word(mpijob__job_template_spec(at), "restartPolicy", "Never");
	if (!policy || !*policy)
		policy = mpijob__job_field_row(id)->field.default_text;
	return strcmp(policy, "Never") == 0;
}

static const mpijob_node *find_volume(const struct mpijob__job_pod_template *at, const char *name)
{
	uint32_t index;

	if (!mpijob__job_template_pool_find(at, POOL_VOLUMES, name, &index))
		return NULL;
	return mpijob_node_at(mpijob__job_template_list(mpijob__job_template_spec(at), "volumes"),
	    index);
}

static int is_operators_volume(const struct mpijob__job_pod_template *at, const char *name)
{
	return !at->pod && (strcmp(name, "ssh-auth") == 0 ||
			       (!at->worker && strcmp(name, "mpi-job-config") == 0));
}

static const char *ssh_path(const struct mpijob__job_pod_template *at)
{
	const char *path =
	    mpijob_node_string(mpijob__job_field_node(at->root, FIELD_SSH_AUTH_MOUNT_PATH));

	return path ? path : mpijob__job_field_row(FIELD_SSH_AUTH_MOUNT_PATH)->field.default_text;
}

static void check_mounts(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *container, int first)
{
	struct mpijob__job_step list = mpijob__job_template_child(container, "volumeMounts");

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(container->node, "volumeMounts"));
	     i++) {
		struct mpijob__job_step mount = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(mount.node, "name");
		const char *path = mpijob__job_template_text(mount.node, "mountPath");

		if (name && !find_volume(at, name) && !is_operators_volume(at, name))
			mpijob__job_template_error(at, &mount, "name", "not-found", "NotFound",
			    "there is no volume '%s' in this template", name);
		if (first && path && !at->pod &&
		    (strcmp(path, ssh_path(at)) == 0 ||
			(!at->worker && strcmp(path, "/etc/mpi") == 0)))
			mpijob__job_template_error(at, &mount, "mountPath", "duplicate",
			    "Duplicate", "the operator mounts a volume at '%s'", path);
	}
}

static void check_devices(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *container)
{
	struct mpijob__job_step list = mpijob__job_template_child(container, "volumeDevices");
	const mpijob_node *mounts = mpijob__job_template_list(container->node, "volumeMounts");
	struct mpijob__doc_names names = { 0 }, paths = { 0 };
	int users;

	if (!mpijob_node_count(mpijob__job_template_list(container->node, "volumeDevices")))
		return;
	mpijob__job_template_names_collect(at, &names, mounts, "name");
	mpijob__job_template_names_collect(at, &paths, mounts, "mountPath");
	if (mpijob_node_bool(mpijob_node_get(mpijob__job_template_spec(at), "hostUsers"), &users) &&
	    !users)
		mpijob__job_template_error(at, container, "volumeDevices", "forbidden", "Forbidden",
		    "not with hostUsers: false");
	for (size_t i = 0; i < mpijob_node_count(list.node); i++) {
		struct mpijob__job_step device = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(device.node, "name");
		const char *path = mpijob__job_template_text(device.node, "devicePath");
		const mpijob_node *volume = name ? find_volume(at, name) : NULL;

		if (name && !volume)
			mpijob__job_template_error(at, &device, "name", "not-found", "NotFound",
			    "there is no volume '%s' in this template", name);
		if (volume && !mpijob__job_template_has(volume, "persistentVolumeClaim") &&
		    !mpijob__job_template_has(volume, "ephemeral"))
			mpijob__job_template_error(at, &device, "name", "invalid-value", "Invalid",
			    "a device needs a volume of a persistentVolumeClaim, or an ephemeral "
			    "one");
		if (mpijob__job_template_names_repeat(at, &names, name))
			mpijob__job_template_error(at, &device, "name", "duplicate", "Invalid",
			    "'%s' is used already", name);
		if (path && mpijob__job_template_names_find(&paths, path, NULL))
			mpijob__job_template_error(at, &device, "devicePath", "duplicate",
			    "Invalid", "'%s' is used already", path);
	}
	mpijob__doc_names_release(&names);
	mpijob__doc_names_release(&paths);
}

static void check_port_names(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *container)
{
	struct mpijob__job_step list = mpijob__job_template_child(container, "ports");
	struct mpijob__doc_names names = { 0 };

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(container->node, "ports")); i++) {
		struct mpijob__job_step port = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(port.node, "name");

		if (mpijob__job_template_names_repeat(at, &names, name))
			mpijob__job_template_error(at, &port, "name", "duplicate", "Duplicate",
			    "another port of this container is named '%s'", name);
	}
	mpijob__doc_names_release(&names);
}

static void check_resize(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *container, int plain_init)
{
	struct mpijob__job_step list = mpijob__job_template_child(container, "resizePolicy");
	struct mpijob__doc_names names = { 0 };

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(container->node, "resizePolicy"));
	     i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(entry.node, "resourceName");
		const char *policy = mpijob__job_template_text(entry.node, "restartPolicy");

		if (name && strcmp(name, "cpu") != 0 && strcmp(name, "memory") != 0)
			mpijob__job_template_error(at, &entry, "resourceName", "unsupported-value",
			    "NotSupported", "unsupported value '%s'; use cpu or memory", name);
		if (mpijob__job_template_names_repeat(at, &names, name))
			mpijob__job_template_error(at, &entry, "resourceName", "duplicate",
			    "Duplicate", "'%s' is there already", name);
		if (policy && strcmp(policy, "NotRequired") != 0 &&
		    strcmp(policy, "RestartContainer") != 0)
			mpijob__job_template_error(at, &entry, "restartPolicy", "unsupported-value",
			    "NotSupported",
			    "unsupported value '%s'; use NotRequired or RestartContainer", policy);
		else if (policy && strcmp(policy, "NotRequired") != 0 &&
			 (plain_init || never_restarts(at)))
			mpijob__job_template_error(at, &entry, "restartPolicy", "conflict",
			    "Invalid", "must be NotRequired where a container does not restart");
	}
	mpijob__doc_names_release(&names);
}

static void check_restart_rule(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *rule)
{
	struct mpijob__job_step codes = mpijob__job_template_child(rule, "exitCodes");
	const char *action = mpijob__job_template_text(rule->node, "action");
	const char *op = mpijob__job_template_text(codes.node, "operator");

	if (!action ||
	    (strcmp(action, "Restart") != 0 && strcmp(action, "RestartAllContainers") != 0))
		mpijob__job_template_error(at, rule, "action", "unsupported-value", "NotSupported",
		    "must be Restart or RestartAllContainers");
	if (mpijob_node_kind(codes.node) != MPIJOB_NODE_MAP)
		return;
	if (!op || (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0))
		mpijob__job_template_error(at, &codes, "operator", "unsupported-value",
		    "NotSupported", "must be In or NotIn");
	if (mpijob_node_count(mpijob__job_template_list(codes.node, "values")) > EXIT_CODES_MOST)
		mpijob__job_template_error(at, &codes, "values", "too-many", "TooMany",
		    "at most %d are possible", EXIT_CODES_MOST);
}

static void check_restarts(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *container)
{
	struct mpijob__job_step list = mpijob__job_template_child(container, "restartPolicyRules");
	const char *policy = mpijob_node_string(mpijob_node_get(container->node, "restartPolicy"));
	size_t count =
	    mpijob_node_count(mpijob__job_template_list(container->node, "restartPolicyRules"));

	if (policy && strcmp(policy, "Always") != 0 && strcmp(policy, "Never") != 0 &&
	    strcmp(policy, "OnFailure") != 0)
		mpijob__job_template_error(at, container, "restartPolicy", "unsupported-value",
		    "NotSupported", "unsupported value '%s'; use Always, Never or OnFailure",
		    policy);
	if (count && !mpijob__job_template_has(container->node, "restartPolicy"))
		mpijob__job_template_error(at, container, "restartPolicy", "missing", "Required",
		    "restartPolicyRules need a restartPolicy");
	if (count > RULES_MOST)
		mpijob__job_template_error(at, container, "restartPolicyRules", "too-many",
		    "TooMany", "at most %d are possible", RULES_MOST);
	for (size_t i = 0; i < count; i++) {
		struct mpijob__job_step rule = mpijob__job_template_entry(&list, i);

		check_restart_rule(at, &rule);
	}
}

/* A variable from a file needs an emptyDir volume. */
static void check_files(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *container)
{
	struct mpijob__job_step list = mpijob__job_template_child(container, "env");

	for (size_t i = 0; i < mpijob_node_count(mpijob__job_template_list(container->node, "env"));
	     i++) {
		struct mpijob__job_step variable = mpijob__job_template_entry(&list, i);
		struct mpijob__job_step from = mpijob__job_template_child(&variable, "valueFrom");
		struct mpijob__job_step file = mpijob__job_template_child(&from, "fileKeyRef");
		const char *name = mpijob__job_template_text(file.node, "volumeName");
		const mpijob_node *volume = name ? find_volume(at, name) : NULL;

		if (name && !volume)
			mpijob__job_template_error(at, &file, "volumeName", "not-found", "NotFound",
			    "there is no volume '%s' in this template", name);
		else if (volume && mpijob_node_count(volume) > 1 &&
			 !mpijob__job_template_has(volume, "emptyDir"))
			mpijob__job_template_error(at, &file, "volumeName", "invalid-value",
			    "Invalid", "the volume must be an emptyDir");
	}
}

static int is_init(const struct mpijob__job_step *container)
{
	return container->before && container->before->key &&
	       strcmp(container->before->key, "initContainers") == 0;
}

void mpijob__job_template_container(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const of_running[] = { "lifecycle", "livenessProbe", "readinessProbe",
		"startupProbe" };
	int plain_init = is_init(step) && !is_word(step->node, "restartPolicy", "Always");

	check_mounts(at, step, !is_init(step) && step->index == 0);
	check_devices(at, step);
	check_port_names(at, step);
	check_resize(at, step, plain_init);
	check_restarts(at, step);
	check_files(at, step);
	for (size_t i = 0; plain_init && i < sizeof(of_running) / sizeof(of_running[0]); i++) {
		const mpijob_node *node = mpijob_node_get(step->node, of_running[i]);

		/* A lifecycle with only stopSignal is empty: the server drops this field. */
		if (mpijob_node_kind(node) <= MPIJOB_NODE_NULL ||
		    (i == 0 && mpijob_node_count(node) == 1 &&
			mpijob__job_template_has(node, "stopSignal")))
			continue;
		mpijob__job_template_error(at, step, of_running[i], "forbidden", "Forbidden",
		    "an init container may have this only with restartPolicy: Always");
	}
}

/* The port that a container uses on its host; NULL: none. `of_host`: the pod has hostNetwork. */
static const mpijob_node *host_port(const mpijob_node *port, int of_host)
{
	static const char *const keys[] = { "hostPort", "containerPort" };
	int64_t number;

	for (int i = 0; i <= of_host; i++)
		if (mpijob__job_template_number(port, keys[i], &number) && (i || number))
			return mpijob_node_get(port, keys[i]);
	return NULL;
}

static const mpijob_node *text_of(const mpijob_node *map, const char *key)
{
	return mpijob__job_template_text(map, key) ? mpijob_node_get(map, key) : NULL;
}

/* Add a port of the host to a set and return whether it was in it; NULL is ignored. `text` is a
 * buffer. */
static int port_repeated(const struct mpijob__job_pod_template *at, struct mpijob__doc_names *taken,
    const mpijob_node *port, const mpijob_node *number, struct mpijob_text *text)
{
	if (!number)
		return 0;
	text->len = 0;
	if (mpijob__job_template_identity(text, number, NULL) != 1 ||
	    mpijob__job_template_identity(text, text_of(port, "protocol"), "TCP") != 1 ||
	    mpijob__job_template_identity(text, text_of(port, "hostIP"), "") != 1) {
		at->report->code = MPIJOB_ERR_NOMEM;
		return 0;
	}
	return mpijob__job_template_names_repeat(at, taken, mpijob_text_data(text));
}

/* `taken`: the ports of the previous containers; NULL for an init container, whose ports conflict
 * only with each other. */
static void check_host_ports(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *list, size_t which, struct mpijob__doc_names *taken)
{
	struct mpijob__job_step container = mpijob__job_template_entry(list, which);
	struct mpijob__job_step ports = mpijob__job_template_child(&container, "ports");
	int host = mpijob__job_template_flag(mpijob__job_template_spec(at), "hostNetwork");
	struct mpijob__doc_names own = { 0 };
	struct mpijob_text text = { 0 };

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(container.node, "ports")); i++) {
		struct mpijob__job_step port = mpijob__job_template_entry(&ports, i);
		const mpijob_node *number = host_port(port.node, host);
		int64_t inside, outside;

		if (port_repeated(at, taken ? taken : &own, port.node, number, &text))
			mpijob__job_template_error(at, &port, "hostPort", "duplicate", "Duplicate",
			    "port %s of the host is taken already", mpijob_node_text(number));
		if (taken && host && mpijob__job_template_number(port.node, "hostPort", &outside) &&
		    outside && mpijob__job_template_number(port.node, "containerPort", &inside) &&
		    inside != outside)
			mpijob__job_template_error(at, &port, "hostPort", "conflict", "Invalid",
			    "must be equal to containerPort with hostNetwork");
	}
	mpijob__base_text_release(&text);
	mpijob__doc_names_release(&own);
}

void mpijob__job_template_containers(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step lists[] = { mpijob__job_template_child(step, "initContainers"),
		mpijob__job_template_child(step, "containers") };
	struct mpijob__doc_names taken = { 0 }, names = { 0 };

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0;
		     k < mpijob_node_count(mpijob__job_template_list(step->node, lists[i].key));
		     k++)
			check_host_ports(at, &lists[i], k, i == 0 ? NULL : &taken);
	}
	if (mpijob_node_count(mpijob__job_template_list(step->node, "initContainers")))
		mpijob__job_template_names_collect(at, &names,
		    mpijob__job_template_list(step->node, "containers"), "name");
	for (size_t k = 0;
	     k < mpijob_node_count(mpijob__job_template_list(step->node, "initContainers")); k++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&lists[0], k);
		const char *name = mpijob__job_template_text(entry.node, "name");

		if (name && mpijob__job_template_names_find(&names, name, NULL))
			mpijob__job_template_error(at, &entry, "name", "duplicate", "Duplicate",
			    "another container is named '%s'", name);
	}
	mpijob__doc_names_release(&taken);
	mpijob__doc_names_release(&names);
}

void mpijob__job_template_probe(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	int readiness = step->key && strcmp(step->key, "readinessProbe") == 0;
	int64_t number;

	if (readiness && mpijob__job_template_has(step->node, "terminationGracePeriodSeconds"))
		mpijob__job_template_error(at, step, "terminationGracePeriodSeconds", "forbidden",
		    "Invalid", "a readiness probe cannot have this");
	if (!readiness && mpijob__job_template_number(step->node, "successThreshold", &number) &&
	    number > 1)
		mpijob__job_template_error(at, step, "successThreshold", "out-of-range", "Invalid",
		    "must be 1 here, not %lld", (long long)number);
}

void mpijob__job_template_variable(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	if (mpijob__job_template_text(step->node, "value") &&
	    mpijob__job_template_has(step->node, "valueFrom"))
		mpijob__job_template_error(at, step, "valueFrom", "too-many-of", "Invalid",
		    "may have only one of value valueFrom");
}

/* metadata.labels['key'] and metadata.annotations['key']: whether it is valid; -1 if the path does
 * not have this form. */
static int subscript(const char *path)
{
	static const char *const heads[] = { "metadata.labels['", "metadata.annotations['" };
	size_t len = strlen(path);
	const char *open = strstr(path, "['");

	if (len < 2 || strcmp(path + len - 2, "']") != 0 || !open || open == path ||
	    open + 2 > path + len - 2)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		size_t head = strlen(heads[i]);

		if (strncmp(path, heads[i], head) != 0)
			continue;
		/* Annotations may be of any case. */
		return i == 1 ? 1 : mpijob__job_syntax_is_key(path + head, len - head - 2);
	}
	return 0;
}

void mpijob__job_template_field_ref(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const of_variables[] = { "metadata.name", "metadata.namespace",
		"metadata.uid", "spec.nodeName", "spec.host", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs", NULL };
	static const char *const of_files[] = { "metadata.name", "metadata.namespace",
		"metadata.uid", "metadata.labels", "metadata.annotations", NULL };
	const char *version = mpijob__job_template_text(step->node, "apiVersion");
	const char *path = mpijob__job_template_text(step->node, "fieldPath");
	int in_file = step->before && step->before->type == SCHEMA_DownwardAPIVolumeFile;
	int good = path ? subscript(path) : 1;

	if (version && strcmp(version, "v1") != 0)
		mpijob__job_template_error(at, step, "apiVersion", "unsupported-value", "Invalid",
		    "must be v1");
	if (good == 0 ||
	    (good < 0 && !mpijob__base_text_is_one_of(path, in_file ? of_files : of_variables)))
		mpijob__job_template_error(at, step, "fieldPath", "unsupported-value",
		    "NotSupported", "'%s' is not a field that can be read here", path);
}

/* The printed form is checked: 1024 is not equal to 1Ki. */
static int divides(const mpijob_node *divisor, int of_cpu)
{
	static const char *const cpu[] = { "0", "1", "1m", NULL };
	static const char *const bytes[] = { "0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki",
		"1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL };
	char text[MPIJOB__BASE_QUANTITY_TEXT];
	struct mpijob__base_quantity quantity;

	if (!mpijob_node_text(divisor) || !mpijob__base_quantity_parse(mpijob_node_text(divisor),
					      mpijob_node_length(divisor), &quantity))
		return 1;
	mpijob__base_quantity_print(&quantity, text);
	return mpijob__base_text_is_one_of(text, of_cpu ? cpu : bytes);
}

void mpijob__job_template_resource_ref(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	static const char *const resources[] = { "limits.cpu", "limits.memory",
		"limits.ephemeral-storage", "requests.cpu", "requests.memory",
		"requests.ephemeral-storage", NULL };
	static const char *const pages[] = { "limits.hugepages-", "requests.hugepages-" };
	int in_file = step->before && step->before->type == SCHEMA_DownwardAPIVolumeFile;
	const char *name = mpijob__job_template_text(step->node, "resource");
	int known = name && mpijob__base_text_is_one_of(name, resources);

	for (int i = 0; name && i < 2; i++)
		known |= strncmp(pages[i], name, strlen(pages[i])) == 0;
	if (in_file && !mpijob__job_template_text(step->node, "containerName"))
		mpijob__job_template_error(at, step, "containerName", "missing", "Required",
		    "a value is required");
	else if (name && !known)
		mpijob__job_template_error(at, step, "resource", "unsupported-value",
		    "NotSupported", "'%s' is not a resource that can be read here", name);
	if (known && !divides(mpijob_node_get(step->node, "divisor"), strstr(name, ".cpu") != NULL))
		mpijob__job_template_error(at, step, "divisor", "unsupported-value", "Invalid",
		    "must be 1, or %s", strstr(name, ".cpu") ? "1m" : "1k, 1Mi and so on");
}

void mpijob__job_template_port(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const mpijob_node *port = mpijob_node_get(step->node, "port");
	const char *name = mpijob_node_string(port);
	const char *must = name ? mpijob__job_syntax_port(name) : NULL;
	int64_t number;

	if (must)
		mpijob__job_template_error(at, step, "port", "invalid-value", "Invalid",
		    "'%s' must be a number or %s", name, must);
	if (mpijob_node_int(port, &number) && (number < 1 || number > 65535))
		mpijob__job_template_error(at, step, "port", "out-of-range", "Invalid",
		    "must be from 1 to 65535, not %lld", (long long)number);
}

void mpijob__job_template_sleep(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	int64_t seconds, grace;

	if (!mpijob__job_template_number(step->node, "seconds", &seconds))
		return;
	if (!mpijob__job_template_number(mpijob__job_template_spec(at),
		"terminationGracePeriodSeconds", &grace))
		grace = GRACE_SECONDS;
	if (seconds < 0 || seconds > grace)
		mpijob__job_template_error(at, step, "seconds", "out-of-range", "Invalid",
		    "must be from 0 to terminationGracePeriodSeconds (%lld)", (long long)grace);
}

void mpijob__job_template_mount(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const mpijob_node *container =
	    step->before && step->before->before ? step->before->before->node : NULL;
	const char *recursive =
	    mpijob_node_string(mpijob_node_get(step->node, "recursiveReadOnly"));
	const char *propagation = mpijob__job_template_text(step->node, "mountPropagation");

	if (mpijob__job_template_text(step->node, "subPath") &&
	    mpijob__job_template_text(step->node, "subPathExpr"))
		mpijob__job_template_error(at, step, "subPathExpr", "too-many-of", "Invalid",
		    "may have only one of subPath subPathExpr");
	if (propagation && strcmp(propagation, "Bidirectional") == 0 &&
	    !mpijob__job_template_flag(mpijob_node_get(container, "securityContext"), "privileged"))
		mpijob__job_template_error(at, step, "mountPropagation", "forbidden", "Forbidden",
		    "Bidirectional needs a privileged container");
	if (!recursive || strcmp(recursive, "Disabled") == 0)
		return;
	if (strcmp(recursive, "Enabled") != 0 && strcmp(recursive, "IfPossible") != 0)
		mpijob__job_template_error(at, step, "recursiveReadOnly", "unsupported-value",
		    "NotSupported", "unsupported value '%s'; use Disabled, IfPossible or Enabled",
		    recursive);
	else if (!mpijob__job_template_flag(step->node, "readOnly") ||
		 (propagation && strcmp(propagation, "None") != 0))
		mpijob__job_template_error(at, step, "recursiveReadOnly", "conflict", "Forbidden",
		    "only with readOnly: true, and without mountPropagation");
}

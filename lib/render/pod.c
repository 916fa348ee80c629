/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pods of both roles have in addition to the user's template: labels, hostname and
 * subdomain (the pod's DNS name under the job's Service), the volume with the keys, and labels or
 * annotations for a gang scheduler. From the template's metadata only labels and annotations are
 * used; its spec is copied, including unknown fields.
 */
#include "base/api.h"
#include "render/build.h"

#include <string.h>

#define KEY_VOLUME    "ssh-auth"
#define ROOT_KEY_PATH "/root/.ssh"

/* Copy a map of the user's template; NULL if not found. */
static mpijob_node *copy_map(struct mpijob__render_build *b, const mpijob_node *template,
    const char *path, mpijob_node *parent, const char *key)
{
	const mpijob_node *given = mpijob_node_find(template, path);

	if (mpijob_node_kind(given) == MPIJOB_NODE_MAP && mpijob_node_count(given) > 0)
		return mpijob_node_put_copy(b->doc, parent, key, given);
	return NULL;
}

void mpijob__render_pod_metadata(struct mpijob__render_build *b, const mpijob_node *template,
    mpijob_node *metadata, const char *replica_index)
{
	int launcher = strcmp(b->role, "Launcher") == 0;
	int gang = mpijob__render_subject_gang(b->subject);
	mpijob_node *labels = copy_map(b, template, "metadata.labels", metadata, "labels");
	mpijob_node *annotations =
	    copy_map(b, template, "metadata.annotations", metadata, "annotations");

	if (labels == NULL)
		labels = mpijob_node_put_map(b->doc, metadata, "labels");
	mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_OPERATOR,
	    MPIJOB__BASE_API_OPERATOR_NAME);
	mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_JOB_NAME, b->subject->name);
	mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_JOB_ROLE,
	    launcher ? MPIJOB__RENDER_ROLE_LAUNCHER : MPIJOB__RENDER_ROLE_WORKER);
	if (replica_index != NULL)
		mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_REPLICA_INDEX,
		    replica_index);
	if (gang == MPIJOB__RENDER_GANG_PLUGINS)
		mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_POD_GROUP,
		    b->subject->name);
	if (gang == MPIJOB__RENDER_GANG_VOLCANO) {
		if (annotations == NULL)
			annotations = mpijob_node_put_map(b->doc, metadata, "annotations");
		mpijob_node_put_string(b->doc, annotations, MPIJOB__BASE_API_VOLCANO_GROUP,
		    b->subject->name);
	}
}

static void set_scheduler(struct mpijob__render_build *b, mpijob_node *spec)
{
	const char *wanted = b->subject->options.gang_scheduler;
	const mpijob_node *given = mpijob_node_get(spec, "schedulerName");
	const char *name = mpijob_node_string(given);

	if (wanted == NULL)
		return;
	if (name != NULL && name[0] != '\0' && strcmp(name, wanted) != 0)
		mpijob__render_build_report(b, MPIJOB_SEVERITY_WARNING, "scheduler-overwritten",
		    NULL, "spec.schedulerName", given,
		    "'%s' is replaced by the gang scheduler '%s'", name, wanted);
	mpijob_node_put_string(b->doc, spec, "schedulerName", wanted);
}

static void set_dns_policy(struct mpijob__render_build *b, mpijob_node *spec)
{
	static const char policy[] = "ClusterFirstWithHostNet";
	const mpijob_node *given = mpijob_node_get(spec, "dnsPolicy");
	const char *name = mpijob_node_string(given);
	int host_network = 0;

	if (!mpijob_node_bool(mpijob_node_get(spec, "hostNetwork"), &host_network) || !host_network)
		return;
	if (name != NULL && name[0] != '\0' && b->subject->features.user_dns_policy != 0)
		return;
	if (name != NULL && name[0] != '\0' && strcmp(name, policy) != 0)
		mpijob__render_build_report(b, MPIJOB_SEVERITY_WARNING, "dns-policy-overwritten",
		    NULL, "spec.dnsPolicy", given,
		    "'%s' is replaced by '%s', as hostNetwork is true", name, policy);
	mpijob_node_put_string(b->doc, spec, "dnsPolicy", policy);
}

mpijob_node *mpijob__render_pod_spec(struct mpijob__render_build *b, const mpijob_node *template,
    mpijob_node *parent, int32_t role, int32_t index)
{
	mpijob_node *spec =
	    mpijob_node_put_copy(b->doc, parent, "spec", mpijob_node_get(template, "spec"));

	mpijob__render_build_quantities(b, spec);
	mpijob__render_build_name(b, spec, "hostname", role, index);
	mpijob_node_put_string(b->doc, spec, "subdomain", b->subject->name);
	set_dns_policy(b, spec);
	set_scheduler(b, spec);
	return spec;
}

void mpijob__render_pod_restart_policy(struct mpijob__render_build *b, mpijob_node *spec,
    const struct mpijob_replica_spec *replica)
{
	if (replica->restart_policy == MPIJOB_RESTART_NEVER)
		mpijob_node_put_string(b->doc, spec, "restartPolicy", "Never");
	else if (replica->restart_policy == MPIJOB_RESTART_ON_FAILURE)
		mpijob_node_put_string(b->doc, spec, "restartPolicy", "OnFailure");
	else
		mpijob_node_remove(spec, "restartPolicy");
}

mpijob_node *mpijob__render_pod_container(struct mpijob__render_build *b, mpijob_node *spec)
{
	return mpijob_node_edit_at(mpijob__render_build_list(b, spec, "spec.containers"), 0);
}

static void add_item(struct mpijob__render_build *b, mpijob_node *items, const char *key,
    const char *path, int32_t mode)
{
	mpijob_node *item = mpijob_node_append_map(b->doc, items);

	mpijob_node_put_string(b->doc, item, "key", key);
	mpijob_node_put_string(b->doc, item, "path", path);
	if (mode != 0)
		mpijob_node_put_int(b->doc, item, "mode", mode);
}

static mpijob_node *add_volume(struct mpijob__render_build *b, mpijob_node *spec, const char *name,
    const char *source)
{
	mpijob_node *volume =
	    mpijob_node_append_map(b->doc, mpijob__render_build_list(b, spec, "spec.volumes"));

	mpijob_node_put_string(b->doc, volume, "name", name);
	return mpijob_node_put_map(b->doc, volume, source);
}

static void add_mount(struct mpijob__render_build *b, mpijob_node *spec, const char *name,
    const char *path)
{
	mpijob_node *container = mpijob__render_pod_container(b, spec);
	mpijob_node *mount = mpijob_node_append_map(b->doc,
	    mpijob__render_build_list(b, container, "spec.containers[0].volumeMounts"));

	mpijob_node_put_string(b->doc, mount, "name", name);
	mpijob_node_put_string(b->doc, mount, "mountPath", path);
}

/* The security context, if it sets a user other than root; otherwise NULL. */
static const mpijob_node *other_user(const mpijob_node *context)
{
	int64_t user = 0;
	int not_root = 0;

	if (mpijob_node_int(mpijob_node_get(context, "runAsUser"), &user))
		return user != 0 ? context : NULL;
	return mpijob_node_bool(mpijob_node_get(context, "runAsNonRoot"), &not_root) && not_root
		   ? context
		   : NULL;
}

/* Whether the keys get mode 0600. The files belong to root, so another user could not read them. */
static int keys_are_private(struct mpijob__render_build *b, mpijob_node *spec)
{
	const mpijob_node *own =
	    mpijob_node_get(mpijob__render_pod_container(b, spec), "securityContext");
	const mpijob_node *pod = mpijob_node_get(spec, "securityContext"), *other = other_user(own);

	if (b->subject->features.private_keys == 0)
		return 0;
	if (other == NULL && mpijob_node_get(own, "runAsUser") == NULL)
		other = other_user(pod);
	if (other != NULL)
		mpijob__render_build_report(b, MPIJOB_SEVERITY_WARNING, "keys-stay-readable", NULL,
		    "spec.securityContext", other,
		    "the keys keep their mode: the container's user is not root, and could not "
		    "read them with 0600");
	return other == NULL;
}

void mpijob__render_pod_mount_keys(struct mpijob__render_build *b, mpijob_node *spec)
{
	const char *path = b->subject->spec->ssh_auth_mount_path;
	mpijob_node *source = add_volume(b, spec, KEY_VOLUME, "secret");
	mpijob_node *items;

	path = path != NULL ? path : "";
	mpijob__render_build_name(b, source, "secretName", MPIJOB_ROLE_SECRET, 0);
	if (strcmp(path, ROOT_KEY_PATH) == 0 || keys_are_private(b, spec))
		mpijob_node_put_int(b->doc, source, "defaultMode", 0600);
	items = mpijob_node_put_list(b->doc, source, "items");
	add_item(b, items, MPIJOB__RENDER_KEY_SSH_PRIVATE, "id_rsa", 0);
	add_item(b, items, MPIJOB__RENDER_KEY_SSH_PUBLIC, "id_rsa.pub", 0);
	add_item(b, items, MPIJOB__RENDER_KEY_SSH_PUBLIC, "authorized_keys", 0);
	add_mount(b, spec, KEY_VOLUME, path);
}

void mpijob__render_pod_mount_config(struct mpijob__render_build *b, mpijob_node *spec)
{
	mpijob_node *source = add_volume(b, spec, MPIJOB__RENDER_CONFIG_VOLUME, "configMap");
	mpijob_node *items;

	mpijob__render_build_name(b, source, "name", MPIJOB_ROLE_CONFIG_MAP, 0);
	items = mpijob_node_put_list(b->doc, source, "items");
	add_item(b, items, MPIJOB__RENDER_KEY_HOSTFILE, MPIJOB__RENDER_KEY_HOSTFILE, 0444);
	add_item(b, items, MPIJOB__RENDER_KEY_DISCOVER_HOSTS, MPIJOB__RENDER_KEY_DISCOVER_HOSTS,
	    0555);
	add_mount(b, spec, MPIJOB__RENDER_CONFIG_VOLUME, MPIJOB__JOB_CONFIG_PATH);
}

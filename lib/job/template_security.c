/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of security contexts: which fields exclude or require each other.
 */
#include <string.h>

#include "base/api.h"
#include "job/template_walk.h"

#define PROFILE_MOST 4095

/* Compare a sysctl with a name with dots, or with its beginning; the sysctl may have slashes
 * instead of dots. */
static int is_sysctl(const char *sysctl, const char *name, int beginning)
{
	char from = sysctl[strcspn(sysctl, "./")] == '/' ? '/' : '.';

	for (; *name; name++, sysctl++) {
		if (*name != (*sysctl == from ? '.' : *sysctl))
			return 0;
	}
	return beginning || !*sysctl;
}

static int is_ipc(const char *sysctl)
{
	static const char *const names[] = { "kernel.sem", "kernel.shmall", "kernel.shmmax",
		"kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm", "kernel.msgmax",
		"kernel.msgmnb", "kernel.msgmni", "kernel.msg" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (is_sysctl(sysctl, names[i], 0))
			return 1;
	}
	return is_sysctl(sysctl, "fs.mqueue.", 1);
}

static void check_sysctls(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *context)
{
	const mpijob_node *spec = mpijob__job_template_spec(at);
	struct mpijob__job_step list = mpijob__job_template_child(context, "sysctls");
	struct mpijob__doc_names names = { 0 };

	for (size_t i = 0;
	     i < mpijob_node_count(mpijob__job_template_list(context->node, "sysctls")); i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(entry.node, "name");

		if (!name)
			continue;
		if (mpijob__job_template_flag(spec, "hostNetwork") && is_sysctl(name, "net.", 1))
			mpijob__job_template_error(at, &entry, "name", "forbidden", "Invalid",
			    "'%s' is not possible with hostNetwork", name);
		if (mpijob__job_template_flag(spec, "hostIPC") && is_ipc(name))
			mpijob__job_template_error(at, &entry, "name", "forbidden", "Invalid",
			    "'%s' is not possible with hostIPC", name);
		if (mpijob__job_template_names_repeat(at, &names, name))
			mpijob__job_template_error(at, &entry, "name", "duplicate", "Duplicate",
			    "'%s' is there already", name);
	}
	mpijob__doc_names_release(&names);
}

/* Whether a deprecated annotation and a profile are equivalent. */
static int agrees(const mpijob_node *profile, const char *annotation, int docker)
{
	const char *type = mpijob__job_template_text(profile, "type");
	const char *name = mpijob_node_string(mpijob_node_get(profile, "localhostProfile"));

	if (!type)
		return 1;
	if (strcmp(type, "Unconfined") == 0)
		return strcmp(annotation, "unconfined") == 0;
	if (strcmp(type, "RuntimeDefault") == 0)
		return strcmp(annotation, "runtime/default") == 0 ||
		       (docker && strcmp(annotation, "docker/default") == 0);
	if (strcmp(type, "Localhost") == 0)
		return strncmp(annotation, "localhost/", 10) == 0 && name &&
		       strcmp(annotation + 10, name) == 0;
	return 1;
}

/* The annotation whose key is `start` and the name of a container; NULL if not found. */
static const char *annotation_of(const struct mpijob__job_pod_template *at, const char *start,
    const char *container)
{
	const mpijob_node *list =
	    mpijob__job_template_map(mpijob__job_template_map(at->node, "metadata"), "annotations");
	struct mpijob_text key = { 0 };
	const char *found = NULL;

	if (!list)
		return NULL;
	if (mpijob__base_text_printf(&key, "%s%s", start, container))
		at->report->code = MPIJOB_ERR_NOMEM;
	else
		found = mpijob_node_string(mpijob_node_get(list, mpijob_text_data(&key)));
	mpijob__base_text_release(&key);
	return found;
}

void mpijob__job_template_annotated(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *name = mpijob__job_template_text(step->node, "name");
	const mpijob_node *of_pod =
	    mpijob__job_template_map(mpijob__job_template_spec(at), "securityContext");
	struct mpijob__job_step context = mpijob__job_template_child(step, "securityContext");
	const mpijob_node *armor = mpijob__job_template_map(context.node, "appArmorProfile");
	const mpijob_node *calls = mpijob__job_template_map(context.node, "seccompProfile");
	const char *os =
	    mpijob__job_template_text(mpijob_node_get(mpijob__job_template_spec(at), "os"), "name");
	const char *annotation = name ? annotation_of(at, MPIJOB__BASE_API_APPARMOR, name) : NULL;

	armor = armor ? armor : mpijob__job_template_map(of_pod, "appArmorProfile");
	if (annotation && armor && !agrees(armor, annotation, 0) &&
	    !(os && strcmp(os, "windows") == 0))
		mpijob__job_template_error(at, &context, "appArmorProfile", "conflict", "Forbidden",
		    "the pod's annotation says '%s'", annotation);
	annotation = name ? annotation_of(at, MPIJOB__BASE_API_SECCOMP, name) : NULL;
	if (annotation && calls && !agrees(calls, annotation, 1))
		mpijob__job_template_error(at, &context, "seccompProfile", "conflict", "Forbidden",
		    "the pod's annotation says '%s'", annotation);
}

void mpijob__job_template_pod_security(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *policy = mpijob_node_string(mpijob_node_get(step->node, "seLinuxChangePolicy"));
	const mpijob_node *calls = mpijob__job_template_map(step->node, "seccompProfile");
	const char *annotation;

	annotation = annotation_of(at, "seccomp.security.alpha.kubernetes.io/", "pod");
	if (annotation && calls && !agrees(calls, annotation, 1))
		mpijob__job_template_error(at, step, "seccompProfile", "conflict", "Forbidden",
		    "the pod's annotation says '%s'", annotation);
	check_sysctls(at, step);
	if (policy && strcmp(policy, "Recursive") != 0 && strcmp(policy, "MountOption") != 0)
		mpijob__job_template_error(at, step, "seLinuxChangePolicy", "unsupported-value",
		    "NotSupported", "unsupported value '%s'; use Recursive", policy);
}

static int adds_admin(const mpijob_node *context)
{
	const mpijob_node *added = mpijob_node_get(mpijob_node_get(context, "capabilities"), "add");

	for (size_t i = 0; i < mpijob_node_count(added); i++) {
		const char *name = mpijob_node_string(mpijob_node_at(added, i));

		if (name && strcmp(name, "CAP_SYS_ADMIN") == 0)
			return 1;
	}
	return 0;
}

void mpijob__job_template_security(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *proc = mpijob__job_template_text(step->node, "procMount");
	const mpijob_node *spec = mpijob__job_template_spec(at);
	int value;

	if (proc && strcmp(proc, "Unmasked") == 0 &&
	    !(mpijob_node_bool(mpijob_node_get(spec, "hostUsers"), &value) && !value))
		mpijob__job_template_error(at, step, "procMount", "forbidden", "Invalid",
		    "Unmasked needs hostUsers: false");
	if (!mpijob_node_bool(mpijob_node_get(step->node, "allowPrivilegeEscalation"), &value) ||
	    value)
		return;
	if (mpijob__job_template_flag(step->node, "privileged") || adds_admin(step->node))
		mpijob__job_template_error(at, step, "allowPrivilegeEscalation", "conflict",
		    "Invalid", "cannot be false with privileged or CAP_SYS_ADMIN");
}

/* Check that exactly a profile of type Localhost has a name. Returns the name, or NULL. */
static const char *local_profile(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *type = mpijob__job_template_text(step->node, "type");
	const char *profile = mpijob_node_string(mpijob_node_get(step->node, "localhostProfile"));
	int given = mpijob__job_template_has(step->node, "localhostProfile");

	if (type && strcmp(type, "Localhost") == 0) {
		if (!given)
			mpijob__job_template_error(at, step, "localhostProfile", "missing",
			    "Required", "type Localhost needs a profile");
		return profile;
	}
	if (type && given)
		mpijob__job_template_error(at, step, "localhostProfile", "forbidden", "Invalid",
		    "only with type Localhost");
	return NULL;
}

void mpijob__job_template_seccomp(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *profile = local_profile(at, step);
	const char *must = profile ? mpijob__job_syntax_relative(profile) : NULL;

	if (must)
		mpijob__job_template_error(at, step, "localhostProfile", "invalid-value", "Invalid",
		    "'%s' must be %s", profile, must);
}

void mpijob__job_template_apparmor(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	const char *profile = local_profile(at, step);

	if (profile &&
	    (!*profile || strlen(profile) > PROFILE_MOST || mpijob__job_syntax_image(profile)))
		mpijob__job_template_error(at, step, "localhostProfile", "invalid-value", "Invalid",
		    "must be 1 to %d characters without space around them", PROFILE_MOST);
}

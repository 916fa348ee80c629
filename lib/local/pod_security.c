/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a container's securityContext is translated: to the capability bounding set, and to the parts
 * of the confinement that are disabled. Capabilities beyond the default set of container runtimes
 * would give a pod access to the machine's files; therefore they require --allow-host-path, as
 * hostPath does.
 */
#include "local/pod.h"

#include <string.h>

static const char *const names[] = {
	"CHOWN",
	"DAC_OVERRIDE",
	"DAC_READ_SEARCH",
	"FOWNER",
	"FSETID",
	"KILL",
	"SETGID",
	"SETUID",
	"SETPCAP",
	"LINUX_IMMUTABLE",
	"NET_BIND_SERVICE",
	"NET_BROADCAST",
	"NET_ADMIN",
	"NET_RAW",
	"IPC_LOCK",
	"IPC_OWNER",
	"SYS_MODULE",
	"SYS_RAWIO",
	"SYS_CHROOT",
	"SYS_PTRACE",
	"SYS_PACCT",
	"SYS_ADMIN",
	"SYS_BOOT",
	"SYS_NICE",
	"SYS_RESOURCE",
	"SYS_TIME",
	"SYS_TTY_CONFIG",
	"MKNOD",
	"LEASE",
	"AUDIT_WRITE",
	"AUDIT_CONTROL",
	"SETFCAP",
	"MAC_OVERRIDE",
	"MAC_ADMIN",
	"SYSLOG",
	"WAKE_ALARM",
	"BLOCK_SUSPEND",
	"AUDIT_READ",
	"PERFMON",
	"BPF",
	"CHECKPOINT_RESTORE",
};

/* containerd's default without MKNOD, because no device cgroup restricts the pods. */
static const char *const defaults[] = { "CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "NET_RAW",
	"SETGID", "SETUID", "SETFCAP", "SETPCAP", "NET_BIND_SERVICE", "KILL", "SYS_CHROOT",
	"AUDIT_WRITE" };

/* The bit of a capability, whose name may begin with "CAP_"; 0: unknown. */
static uint64_t bit_of(const char *name)
{
	if (name && strncmp(name, "CAP_", 4) == 0)
		name += 4;
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0)
			return UINT64_C(1) << i;
	}
	return 0;
}

static uint64_t bits_of(const mpijob_node *list)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *name = mpijob_node_string(mpijob_node_at(list, i));

		bits |= name && strcmp(name, "ALL") == 0 ? UINT64_MAX : bit_of(name);
	}
	return bits;
}

static int is_set(const mpijob_node *context, const char *key)
{
	int value = 0;

	mpijob_node_bool(mpijob_node_get(context, key), &value);
	return value;
}

uint64_t mpijob__local_pod_security_capabilities(const struct mpijob__local_container *container,
    uint64_t *missing)
{
	const mpijob_node *context = mpijob_node_get(container->spec, "securityContext");
	uint64_t drop = bits_of(mpijob_node_find(context, "capabilities.drop"));
	uint64_t add = is_set(context, "privileged")
			   ? UINT64_MAX
			   : bits_of(mpijob_node_find(context, "capabilities.add"));
	uint64_t usual = 0;

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		usual |= bit_of(defaults[i]);
	if (missing)
		*missing = container->pod->local->allow_host_path ? 0 : add & ~usual;
	if (!container->pod->local->allow_host_path)
		add &= usual;
	return (usual & ~drop) | add;
}

uint64_t mpijob__local_pod_security_confine(const struct mpijob__local_container *container)
{
	const mpijob_node *context = mpijob_node_get(container->spec, "securityContext");
	const char *profile = mpijob_node_string(mpijob_node_find(context, "seccompProfile.type"));
	int privileged = is_set(context, "privileged");
	int escalation = 1;
	uint64_t confine = 0;

	if (!profile)
		profile = mpijob_node_string(
		    mpijob_node_find(container->pod->spec, "securityContext.seccompProfile.type"));
	mpijob_node_bool(mpijob_node_get(context, "allowPrivilegeEscalation"), &escalation);
	if (privileged || (profile && strcmp(profile, "Unconfined") == 0))
		confine |= NODE_CONFINE_NO_FILTER;
	if (privileged && container->pod->local->allow_host_path)
		confine |= NODE_CONFINE_NO_MASKS;
	if (!escalation)
		confine |= NODE_CONFINE_NO_NEW_PRIVILEGES;
	return confine;
}

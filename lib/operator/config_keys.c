/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all keys of the operator's configuration. The reader and docs/operator-config.md
 * (tests/unit/test_operator_config.c) take names, places and sentences from it. Types, choices and
 * bounds of a value are those of the job's field.
 */
#include "operator/config.h"

#include <string.h>

static const struct mpijob__operator_config_key keys[] = {
	{ .path = "apiVersion",
	    .key = "apiVersion",
	    .parent = "",
	    .kind = CONFIG_IDENTITY,
	    .where = CONFIG_TOP | CONFIG_MUST,
	    .word = "libmpijob/v1alpha1",
	    .summary = "The version of the file format." },
	{ .path = "kind",
	    .key = "kind",
	    .parent = "",
	    .kind = CONFIG_IDENTITY,
	    .where = CONFIG_TOP | CONFIG_MUST,
	    .word = "OperatorConfig",
	    .summary = "The kind of the file." },
	{ .path = "defaults",
	    .key = "defaults",
	    .parent = "",
	    .kind = CONFIG_MAP,
	    .where = CONFIG_ANY,
	    .summary = "Values for jobs that do not set them." },
	{ .path = "defaults.cleanPodPolicy",
	    .key = "cleanPodPolicy",
	    .parent = "defaults",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_CLEAN_POD,
	    .slot = CONFIG_CLEAN_POD,
	    .summary = "For jobs without `spec.runPolicy.cleanPodPolicy`." },
	{ .path = "defaults.ttlSecondsAfterFinished",
	    .key = "ttlSecondsAfterFinished",
	    .parent = "defaults",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_TTL,
	    .slot = CONFIG_TTL,
	    .summary = "For jobs without `spec.runPolicy.ttlSecondsAfterFinished`." },
	{ .path = "defaults.activeDeadlineSeconds",
	    .key = "activeDeadlineSeconds",
	    .parent = "defaults",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_DEADLINE,
	    .slot = CONFIG_DEADLINE,
	    .summary = "For jobs without `spec.runPolicy.activeDeadlineSeconds`." },
	{ .path = "defaults.workers",
	    .key = "workers",
	    .parent = "defaults",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_WORKERS,
	    .slot = CONFIG_WORKERS,
	    .summary = "For jobs with a Worker that has no `replicas`." },
	{ .path = "defaults.features",
	    .key = "features",
	    .parent = "defaults",
	    .kind = CONFIG_FEATURES,
	    .where = CONFIG_ANY,
	    .summary =
		"Features by name, with the values of the operator's flags. They win over the "
		"flags. `false` or `0` disables a feature that a flag or a later section "
		"enables." },
	{ .path = "limits",
	    .key = "limits",
	    .parent = "",
	    .kind = CONFIG_MAP,
	    .where = CONFIG_ANY,
	    .summary = "Limits that a job cannot exceed." },
	{ .path = "limits.cleanPodPolicy",
	    .key = "cleanPodPolicy",
	    .parent = "limits",
	    .kind = CONFIG_MAP,
	    .where = CONFIG_ANY,
	    .summary = "The allowed cleanup policies." },
	{ .path = "limits.cleanPodPolicy.allowed",
	    .key = "allowed",
	    .parent = "limits.cleanPodPolicy",
	    .kind = CONFIG_VALUES,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_CLEAN_POD,
	    .slot = CONFIG_CLEAN_POD_ALLOWED,
	    .summary =
		"A job with another policy, or without one, is treated as if it had the first "
		"of these." },
	{ .path = "limits.ttlSecondsAfterFinished",
	    .key = "ttlSecondsAfterFinished",
	    .parent = "limits",
	    .kind = CONFIG_MAP,
	    .where = CONFIG_ANY,
	    .summary = "The time for which finished launcher Jobs are kept." },
	{ .path = "limits.ttlSecondsAfterFinished.min",
	    .key = "min",
	    .parent = "limits.ttlSecondsAfterFinished",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_TTL,
	    .slot = CONFIG_TTL_MIN,
	    .summary = "A shorter time is raised to this value." },
	{ .path = "limits.ttlSecondsAfterFinished.max",
	    .key = "max",
	    .parent = "limits.ttlSecondsAfterFinished",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_TTL,
	    .slot = CONFIG_TTL_MAX,
	    .summary =
		"A longer time is reduced to this value, and so is an absent one, which means "
		"forever. It wins over `min`." },
	{ .path = "limits.activeDeadlineSeconds",
	    .key = "activeDeadlineSeconds",
	    .parent = "limits",
	    .kind = CONFIG_MAP,
	    .where = CONFIG_ANY,
	    .summary = "The time for which jobs may run." },
	{ .path = "limits.activeDeadlineSeconds.max",
	    .key = "max",
	    .parent = "limits.activeDeadlineSeconds",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_DEADLINE,
	    .slot = CONFIG_DEADLINE_MAX,
	    .summary =
		"A longer time is reduced to this value, and so is an absent one, which means "
		"forever." },
	{ .path = "limits.workers",
	    .key = "workers",
	    .parent = "limits",
	    .kind = CONFIG_MAP,
	    .where = CONFIG_ANY,
	    .summary = "The number of workers of a job." },
	{ .path = "limits.workers.max",
	    .key = "max",
	    .parent = "limits.workers",
	    .kind = CONFIG_VALUE,
	    .where = CONFIG_ANY,
	    .field = CONFIG_FIELD_WORKERS,
	    .slot = CONFIG_WORKERS_MAX,
	    .summary = "A job that requests more does not start, and gets an Event. A running job "
		       "gets no further workers, and keeps those that it has." },
	{ .path = "annotations",
	    .key = "annotations",
	    .parent = "",
	    .kind = CONFIG_NAMES,
	    .where = CONFIG_ANY,
	    .slot = CONFIG_ANNOTATIONS,
	    .summary =
		"Features that a job may set with an annotation `libmpijob/NAME`. Other "
		"annotations have no effect, and cause an Event. Without this key no feature "
		"is allowed." },
	{ .path = "namespaces",
	    .key = "namespaces",
	    .parent = "",
	    .kind = CONFIG_SECTIONS,
	    .where = CONFIG_TOP,
	    .summary = "Sections for some namespaces, with the same keys `defaults`, `limits` and "
		       "`annotations`." },
	{ .path = "names",
	    .key = "names",
	    .parent = "",
	    .kind = CONFIG_PATTERNS,
	    .where = CONFIG_ENTRY | CONFIG_MUST,
	    .summary = "The namespaces of the section. `*` matches any number of characters." },
};

#define COUNT (sizeof(keys) / sizeof(keys[0]))

size_t mpijob__operator_config_key_count(void)
{
	return COUNT;
}

const struct mpijob__operator_config_key *mpijob__operator_config_key_at(size_t index)
{
	return index < COUNT ? &keys[index] : NULL;
}

const struct mpijob__operator_config_key *mpijob__operator_config_key_find(const char *parent,
    const char *key, unsigned where)
{
	for (size_t i = 0; i < COUNT; i++)
		if ((keys[i].where & where) && strcmp(keys[i].key, key) == 0 &&
		    strcmp(keys[i].parent, parent) == 0)
			return &keys[i];
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the conversion of a Flyte task into a job, and the functions of its parts. */
#ifndef MPIJOB__FLYTE_H
#define MPIJOB__FLYTE_H

#include "core/diag.h"
#include "base/quantity.h"

#include <mpijob/flyte.h>

#define FLYTE_CONTAINER "mpi" /* the name of the primary container for the operators */

/* The launcher or workers in `custom`. */
struct mpijob__flyte_role {
	const char *name; /* "Launcher", "Worker" */
	int is_launcher;
	int32_t replicas;
	const char *image; /* NULL: the task's */
	const char *restart_policy;
	const mpijob_node *resources; /* of flyteidl.core.Resources, or NULL */
	const mpijob_node *command;   /* a list that is not empty, or NULL */
};

#define FLYTE_POLICY_NUMBERS 3

struct mpijob__flyte {
	mpijob_doc *doc; /* the job */
	mpijob_diag *diag;
	const char *source;
	const mpijob_node *task;
	const mpijob_node *task_config; /* the template's `config`, or NULL */
	struct mpijob_flyte_config config;
	struct mpijob_flyte_execution execution;
	uint32_t repairs;
	int to_v2beta1;
	int interruptible;
	int placeholders_told;
	uint32_t repairs_told;

	/* From `custom`. */
	int32_t version;
	int32_t slots; /* 0: absent */
	struct mpijob__flyte_role launcher, worker;
	int has_policy;
	const char *clean_policy;
	struct {
		int given; /* present, also if 0 */
		int32_t value;
		/* backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished */
	} policy[FLYTE_POLICY_NUMBERS];
};

/* ---- proto.c: protobuf messages in JSON ---- */

/* The value of a field by its name in camelCase; NULL when absent or null. */
const mpijob_node *mpijob__flyte_proto_get(const mpijob_node *message, const char *field);
/* The string of a field, "" when absent; NULL when it is not a string. */
const char *mpijob__flyte_proto_text(const mpijob_node *message, const char *field);
/* Get a 32-bit number, 0 when absent. Returns 1, or 0 when it is not a 32-bit number. */
int mpijob__flyte_proto_int(const mpijob_node *message, const char *field, int32_t *out);
/* The word of an enumeration, which is given as word or number. The first word when absent; NULL
 * when it is unknown. */
const char *mpijob__flyte_proto_word(const mpijob_node *message, const char *field,
    const char *const *words, size_t count);

/* ---- config.c ---- */

/* Copy the caller's structs and set Flyte's defaults. */
int mpijob__flyte_config_take(struct mpijob__flyte *f, const struct mpijob_flyte_options *options);
int mpijob__flyte_execution_take(struct mpijob_flyte_execution *own,
    const struct mpijob_flyte_execution *given);

/* ---- task.c ---- */

/* Reject the task: a finding "flyte-task". Returns MPIJOB_ERR_SPEC, or MPIJOB_ERR_NOMEM. */
int mpijob__flyte_task_refuse(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Reject the task if a value is present, not null and not of this kind: MPIJOB_NODE_LIST or _MAP.
 * Returns 0, or as mpijob__flyte_task_refuse(). */
int mpijob__flyte_task_need(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    int32_t kind);
/* Report that something is not converted: a finding "flyte-ignored". 0 or MPIJOB_ERR_NOMEM. */
int mpijob__flyte_task_ignore(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Read `custom` and the other parts of the task that apply to the whole job. */
int mpijob__flyte_task_read(struct mpijob__flyte *f);
int mpijob__flyte_task_repairs(const struct mpijob__flyte *f, uint32_t flag);

/* ---- resources.c ---- */

/* Apply overrides, defaults and limits to the `resources` of a container. `role`: source of the
 * overrides; NULL: apply the limits only. */
int mpijob__flyte_resources_apply(struct mpijob__flyte *f, mpijob_node *container,
    const struct mpijob__flyte_role *role);
/* Write a flyteidl.core.Resources into a `resources` map. Zeros are omitted, as by Flyte. */
int mpijob__flyte_resources_from_task(struct mpijob__flyte *f, const mpijob_node *resources,
    const char *field, mpijob_node *into);

/* ---- placeholder.c ---- */

/* Replace `{{ .NAME }}`, in upper or lower case, in a text. Returns 0 or MPIJOB_ERR_NOMEM. `value`
 * NULL: no change. */
int mpijob__flyte_placeholder_replace(struct mpijob_text *text, const char *name,
    const char *value);
/* Replace all placeholders in the words under a key of a container. An empty list is removed. */
int mpijob__flyte_placeholder_words(struct mpijob__flyte *f, mpijob_node *container,
    const char *key);

/* ---- environment.c ---- */

/* Append the variables of Flyte and of its configuration to a container. Returns 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__flyte_environment_add(struct mpijob__flyte *f, mpijob_node *container);
/* Make the launcher's mpirun forward the variables to remote ranks. Returns 1 if it forwards them,
 * else 0, or a negative code. */
int mpijob__flyte_environment_forward(struct mpijob__flyte *f);

/* ---- pod.c ---- */

/* Make the pod template of a role. */
int mpijob__flyte_pod_make(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *template);
/* Put all strings of `from`, which may be NULL, into a map. */
void mpijob__flyte_pod_union(struct mpijob__flyte *f, mpijob_node *map, const mpijob_node *from);
/* Remove empty labels and annotations. */
void mpijob__flyte_pod_tidy(mpijob_node *metadata);
/* The container of that name; NULL when there is none. */
mpijob_node *mpijob__flyte_pod_find(mpijob_node *spec, const char *name);

/* ---- secrets.c ---- */

/* Add the label and annotations that request the secrets of the task from Flyte's webhook. */
int mpijob__flyte_secrets_add(struct mpijob__flyte *f, mpijob_node *labels,
    mpijob_node *annotations);

/* ---- placement.c ---- */

/* Add tolerations, selectors, affinity and the other fields that propeller sets on pods. Returns 0
 * or MPIJOB_ERR_NOMEM. */
int mpijob__flyte_placement_apply(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec);
/* Add accelerators and shared memory. */
int mpijob__flyte_placement_extend(struct mpijob__flyte *f, mpijob_node *spec,
    mpijob_node *primary);
void mpijob__flyte_placement_tolerate_extended(struct mpijob__flyte *f, mpijob_node *spec);

/* ---- repair.c ---- */

/* Report that a repair changed something: a finding "flyte-repair". Returns 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__flyte_repair_say(struct mpijob__flyte *f, uint32_t flag, const char *field,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Convert the job of v1 in `f->doc` to v2beta1. */
int mpijob__flyte_repair_convert(struct mpijob__flyte *f);

/* ---- links.c ---- */

/* The inputs of the links of one status, and the links. */
struct mpijob__flyte_links {
	const mpijob_node *job;
	struct mpijob_flyte_status_options options;
	struct mpijob_flyte_execution execution;
	struct mpijob_flyte_link *items;
	size_t count, cap;
};

/* Add the links of a pod. Returns 0, MPIJOB_ERR_NOMEM or MPIJOB_ERR_USAGE. */
int mpijob__flyte_links_add(struct mpijob__flyte_links *links, const char *pod);
void mpijob__flyte_links_free(struct mpijob__flyte_links *links);

#endif

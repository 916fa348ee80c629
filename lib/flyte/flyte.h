/* SPDX-License-Identifier: Apache-2.0 */
/* The conversion of a Flyte task to a job, and the functions that make its parts. */
#ifndef MPIJOB__FLYTE_H
#define MPIJOB__FLYTE_H

#include "base/quantity.h"
#include "base/text.h"

#include <mpijob/flyte.h>

#define FLYTE_CONTAINER "mpi" /* the operators' name of the main container */

/* Launcher or workers, as described by `custom`. */
struct mpijob__flyte_role {
	const char *name; /* "Launcher", "Worker" */
	int is_launcher;
	int32_t replicas;
	const char *image; /* NULL: the task's */
	const char *restart_policy;
	const mpijob_node *resources; /* of flyteidl.core.Resources, or NULL */
	const mpijob_node *command;   /* a list with at least one word, or NULL */
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
	int placeholders_reported;
	uint32_t repairs_reported;

	/* From `custom`. */
	int32_t version;
	int32_t slots; /* 0: not given */
	struct mpijob__flyte_role launcher, worker;
	int has_policy;
	const char *clean_policy;
	struct {
		int given; /* 1 also for an explicit 0 */
		int32_t value;
		/* backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished */
	} policy[FLYTE_POLICY_NUMBERS];
};

/* ---- proto.c: protobuf messages in JSON ---- */

/* The value of a field by its name in camelCase; NULL when absent or null. */
const mpijob_node *mpijob__flyte_proto_get(const mpijob_node *message, const char *field);
/* The string of a field, "" when absent; NULL if it is not a string. */
const char *mpijob__flyte_proto_text(const mpijob_node *message, const char *field);
/* Read a 32-bit number, 0 when absent. 1, or 0 if it is not such a number. */
int mpijob__flyte_proto_int(const mpijob_node *message, const char *field, int32_t *out);
/* The word of an enumeration that is given by word or number; the first word when absent; NULL if
 * there is no such word. */
const char *mpijob__flyte_proto_word(const mpijob_node *message, const char *field,
    const char *const *words, size_t count);

/* ---- config.c ---- */

/* Copy the caller's structs and fill in Flyte's defaults. */
int mpijob__flyte_config_take(struct mpijob__flyte *f, const struct mpijob_flyte_options *options);
int mpijob__flyte_execution_take(struct mpijob_flyte_execution *own,
    const struct mpijob_flyte_execution *given);

/* ---- task.c ---- */

/* Add a finding with the line and column of `node`, which may be NULL. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__flyte_task_report(struct mpijob__flyte *f, int32_t severity, const char *id,
    const char *field, const mpijob_node *node, const char *format, va_list args)
    MPIJOB__BASE_PRINTF(6, 0);
/* Refuse the task: a finding "flyte-task". Returns MPIJOB_ERR_SPEC, or MPIJOB_ERR_NOMEM. */
int mpijob__flyte_task_refuse(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Refuse a value that is neither absent nor null nor of this kind, MPIJOB_NODE_LIST or _MAP. 0, or
 * as mpijob__flyte_task_refuse(). */
int mpijob__flyte_task_need(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    int32_t kind);
/* Report a value that has no effect on the job: a finding "flyte-ignored". 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__flyte_task_ignore(struct mpijob__flyte *f, const char *field, const mpijob_node *node,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Read `custom`, and the other values that apply to the whole job. */
int mpijob__flyte_task_read(struct mpijob__flyte *f);
int mpijob__flyte_task_repairs(const struct mpijob__flyte *f, uint32_t flag);

/* ---- resources.c ---- */

/* Settle the `resources` of one container: apply the overrides of `role`, if it is not NULL, and
 * the platform's limits. */
int mpijob__flyte_resources_apply(struct mpijob__flyte *f, mpijob_node *container,
    const struct mpijob__flyte_role *role);
/* Write a flyteidl.core.Resources into a `resources` map. Zeros are omitted, as by Flyte. */
int mpijob__flyte_resources_from_task(struct mpijob__flyte *f, const mpijob_node *resources,
    const char *field, mpijob_node *into);

/* ---- placeholder.c ---- */

/* Replace `{{ .NAME }}` in a text, in upper or lower case; with `value` NULL, replace nothing. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__flyte_placeholder_replace(struct mpijob_text *text, const char *name,
    const char *value);
/* Replace all placeholders in the words under a key of a container. An empty list is removed. */
int mpijob__flyte_placeholder_words(struct mpijob__flyte *f, mpijob_node *container,
    const char *key);

/* ---- environment.c ---- */

/* Append the variables of Flyte and of its configuration to a container. Returns 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__flyte_environment_add(struct mpijob__flyte *f, mpijob_node *container);
/* Make the launcher's mpirun pass the variables to remote ranks. 1 if it passes them, 0, or a
 * negative code. */
int mpijob__flyte_environment_forward(struct mpijob__flyte *f);

/* ---- pod.c ---- */

/* Make the pod template of a role. */
int mpijob__flyte_pod_make(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *template);
/* Copy all strings of `from`, which may be NULL, into a map. */
void mpijob__flyte_pod_union(struct mpijob__flyte *f, mpijob_node *map, const mpijob_node *from);
/* Remove empty labels and annotations. */
void mpijob__flyte_pod_tidy(mpijob_node *metadata);
/* The container with this name, or NULL. */
mpijob_node *mpijob__flyte_pod_find(mpijob_node *spec, const char *name);

/* ---- secrets.c ---- */

/* Add the label and annotations by which Flyte's webhook finds the secrets of the task. */
int mpijob__flyte_secrets_add(struct mpijob__flyte *f, mpijob_node *labels,
    mpijob_node *annotations);

/* ---- placement.c ---- */

/* The map or list of this key, which is made if it is something else. */
mpijob_node *mpijob__flyte_map(struct mpijob__flyte *f, mpijob_node *parent, const char *key);
mpijob_node *mpijob__flyte_list(struct mpijob__flyte *f, mpijob_node *parent, const char *key);
/* Set tolerations, selectors, affinity, and the other fields that propeller sets on pods. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__flyte_placement_apply(struct mpijob__flyte *f, const struct mpijob__flyte_role *role,
    mpijob_node *spec);
/* Add accelerators and shared memory. */
int mpijob__flyte_placement_extend(struct mpijob__flyte *f, mpijob_node *spec,
    mpijob_node *primary);
void mpijob__flyte_placement_tolerate_extended(struct mpijob__flyte *f, mpijob_node *spec);

/* ---- repair.c ---- */

/* Report once that a repair changed the job: a finding "flyte-repair". 0 or MPIJOB_ERR_NOMEM. */
int mpijob__flyte_repair_report(struct mpijob__flyte *f, uint32_t flag, const char *field,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* Convert the job in `f->doc` from v1 to v2beta1. */
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

/* Copy a template of the options, which may be of another version. Returns 0 or the error. */
int mpijob__flyte_links_template(const struct mpijob__flyte_links *links, size_t i,
    struct mpijob_flyte_log_template *out);
/* Add the links of a pod. Returns 0, MPIJOB_ERR_NOMEM or the error of a template. */
int mpijob__flyte_links_add(struct mpijob__flyte_links *links, const char *pod);
void mpijob__flyte_links_free(struct mpijob__flyte_links *links);

#endif

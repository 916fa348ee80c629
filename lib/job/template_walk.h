/* SPDX-License-Identifier: Apache-2.0 */
/* The state of checking a pod template; only for lib/job/template*.c. */
#ifndef MPIJOB__JOB_TEMPLATE_WALK_H
#define MPIJOB__JOB_TEMPLATE_WALK_H

#include "doc/names.h"
#include "job/report.h"
#include "job/syntax.h"
#include "schema/schema.h"

/* Names that other parts of the pod refer to, with their index in the list. */
enum {
	POOL_VOLUMES,
	POOL_CONTAINERS, /* Of all three lists; without an index. */
	POOL_CLAIMS,     /* spec.resourceClaims */
	POOL_COUNT
};

/* The names of one kind, collected at the first query. */
struct mpijob__job_template_pool {
	struct mpijob__doc_names names;
	int filled;
};

struct mpijob__job_template_types;

struct mpijob__job_pod_template {
	struct mpijob__job_report *report;
	const char *path;                /* Path of the template. */
	struct mpijob__core_place place; /* Place of the template. */
	const mpijob_node *root;         /* The job. */
	const mpijob_node *node;         /* The template. */
	int worker;                      /* 1: template of the workers; 0: of the launcher. */
	/* 1: of an unknown role, which the operator ignores: no pod is created from it. */
	int unused;
	/* 1: a complete Pod, or the template of a Job; the operator adds nothing. */
	int pod;
	/* By SCHEMA_*: the checks of each type, collected so far. */
	struct mpijob__job_template_types *types;
	struct mpijob__job_template_pool *pools; /* By POOL_*. */
};

/* One step from the template to a value. Steps are on the stack of the walk; a path is built from
 * them only for findings. */
struct mpijob__job_step {
	const struct mpijob__job_step *before; /* NULL: the template itself. */
	const char *key;                       /* NULL: an entry of a list. */
	size_t index;
	const mpijob_node *node; /* NULL or null: absent. */
	int type;                /* SCHEMA_*; SCHEMA_NONE if the value is not an object. */
};

/* A rule that checks several fields; the step is a map of the row's type. */
typedef void mpijob__job_template_rule(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step);

#define ROW_REQUIRED 1u /* The field is required, and not empty. */
#define ROW_RANGE    2u /* The value is from `low` to `high`. */
#define ROW_ANY_WORD 4u /* Ignore the choices of the schema; a rule may check the value. */
#define ROW_ONE_OF   8u /* `key` lists fields; `low` to `high` of them are required. */

/* A row with a key checks this field, or each entry of this list; a row with a rule checks the
 * object. */
struct mpijob__job_template_row {
	uint8_t type;
	uint8_t flags;
	const char *key;
	mpijob__job_syntax *syntax;
	int64_t low;
	int64_t high;
	mpijob__job_template_rule *rule;
};

/* All rows of a type; they are consecutive. */
const struct mpijob__job_template_row *mpijob__job_template_rows(int type, size_t *count);

/* Report an error at a step, or at `key` of its map (NULL: the step itself). `id` is that of the
 * finding. */
void mpijob__job_template_error(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const char *key, const char *id, const char *reason,
    const char *format, ...) MPIJOB__BASE_PRINTF(6, 7);

/* Report a word that is not one of a field's choices. */
void mpijob__job_template_unsupported(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const struct mpijob__schema_field *field,
    const char *word);

/*
 * Append a text that identifies a scalar: equal values give equal texts, and no text is a prefix of
 * another. Returns 1; 0 for a list or map; MPIJOB_ERR_NOMEM. `usual` replaces an absent value; it
 * may be NULL.
 */
int mpijob__job_template_identity(struct mpijob_text *out, const mpijob_node *node,
    const char *usual);

/* Add a name to a set and return whether it was in it; NULL is ignored. The caller releases the
 * set. */
int mpijob__job_template_names_repeat(const struct mpijob__job_pod_template *at,
    struct mpijob__doc_names *names, const char *name);
/* Add the texts at `key` of all list entries to a set, with their index. */
void mpijob__job_template_names_collect(const struct mpijob__job_pod_template *at,
    struct mpijob__doc_names *names, const mpijob_node *list, const char *key);

/* Find a name in a pool of the pod. Returns 1 and its index (`index` may be NULL), or 0. */
int mpijob__job_template_pool_find(const struct mpijob__job_pod_template *at, int pool,
    const char *name, uint32_t *index);

/* Find a name in a set. Returns 1 and its index (`index` may be NULL), or 0. */
int mpijob__job_template_names_find(const struct mpijob__doc_names *names, const char *name,
    uint32_t *index);

/* Read a key of a map. A value that is null, of a wrong kind or an empty text counts as absent. */
const mpijob_node *mpijob__job_template_map(const mpijob_node *map, const char *key);
const mpijob_node *mpijob__job_template_list(const mpijob_node *map, const char *key);
const char *mpijob__job_template_text(const mpijob_node *map, const char *key);
int mpijob__job_template_flag(const mpijob_node *map, const char *key);
int mpijob__job_template_number(const mpijob_node *map, const char *key, int64_t *out);
/* Whether the value exists and is not null. */
int mpijob__job_template_has(const mpijob_node *map, const char *key);

/* The step to a key's value or to an entry, for findings below. */
struct mpijob__job_step mpijob__job_template_child(const struct mpijob__job_step *step,
    const char *key);
struct mpijob__job_step mpijob__job_template_entry(const struct mpijob__job_step *list,
    size_t index);

/* The spec of the template; NULL if not found. */
const mpijob_node *mpijob__job_template_spec(const struct mpijob__job_pod_template *at);

mpijob__job_template_rule mpijob__job_template_metadata;
mpijob__job_template_rule mpijob__job_template_pod;
mpijob__job_template_rule mpijob__job_template_dns;
mpijob__job_template_rule mpijob__job_template_host_names;
mpijob__job_template_rule mpijob__job_template_windows;
mpijob__job_template_rule mpijob__job_template_pod_security;
mpijob__job_template_rule mpijob__job_template_security;
mpijob__job_template_rule mpijob__job_template_annotated;
mpijob__job_template_rule mpijob__job_template_seccomp;
mpijob__job_template_rule mpijob__job_template_apparmor;
mpijob__job_template_rule mpijob__job_template_pod_resources;
mpijob__job_template_rule mpijob__job_template_resources;
mpijob__job_template_rule mpijob__job_template_containers;
mpijob__job_template_rule mpijob__job_template_container;
mpijob__job_template_rule mpijob__job_template_probe;
mpijob__job_template_rule mpijob__job_template_variable;
mpijob__job_template_rule mpijob__job_template_field_ref;
mpijob__job_template_rule mpijob__job_template_resource_ref;
mpijob__job_template_rule mpijob__job_template_port;
mpijob__job_template_rule mpijob__job_template_sleep;
mpijob__job_template_rule mpijob__job_template_mount;
mpijob__job_template_rule mpijob__job_template_volumes;
mpijob__job_template_rule mpijob__job_template_volume;
mpijob__job_template_rule mpijob__job_template_projected;
mpijob__job_template_rule mpijob__job_template_iscsi;
mpijob__job_template_rule mpijob__job_template_fc;
mpijob__job_template_rule mpijob__job_template_flex;
mpijob__job_template_rule mpijob__job_template_azure_disk;
mpijob__job_template_rule mpijob__job_template_empty_dir;
mpijob__job_template_rule mpijob__job_template_volume_claim;
mpijob__job_template_rule mpijob__job_template_data_source;
mpijob__job_template_rule mpijob__job_template_toleration;
mpijob__job_template_rule mpijob__job_template_spread;
mpijob__job_template_rule mpijob__job_template_selector;
mpijob__job_template_rule mpijob__job_template_node_selector;
mpijob__job_template_rule mpijob__job_template_affinity;

#endif

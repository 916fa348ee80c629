/* SPDX-License-Identifier: Apache-2.0 */
/* A pod template while it is judged; for lib/job/template*.c alone. */
#ifndef MPIJOB__JOB_TEMPLATE_WALK_H
#define MPIJOB__JOB_TEMPLATE_WALK_H

#include "doc/names.h"
#include "job/report.h"
#include "job/syntax.h"
#include "schema/schema.h"

/* Names that other parts of the pod refer to, with their places in the list. */
enum {
	POOL_VOLUMES,
	POOL_CONTAINERS, /* Of all three lists; the places mean nothing. */
	POOL_CLAIMS,     /* spec.resourceClaims */
	POOL_COUNT
};

/* One kind of them, collected when one is asked for first. */
struct mpijob__job_template_pool {
	struct mpijob__doc_names names;
	int filled;
};

struct mpijob__job_template_type;

struct mpijob__job_pod_template {
	struct mpijob__job_report *report;
	const char *path;                /* Of the template. */
	struct mpijob__core_place place; /* Where it stands. */
	const mpijob_node *root;         /* The job. */
	const mpijob_node *node;         /* The template. */
	int worker;                      /* The workers', not the launcher's. */
	int unused; /* Of a role that the operator ignores: no pod is made of it. */
	/* Complete: a Pod, or the template of a Job; the operator adds nothing. */
	int pod;
	struct mpijob__job_template_type *types; /* By SCHEMA_*: what was found of each so far. */
	struct mpijob__job_template_pool *pools; /* By POOL_*. */
};

/* One step from the template to a value; steps live on the stack of the walk, the path is made only
 * for findings. */
struct mpijob__job_step {
	const struct mpijob__job_step *before; /* NULL: the template itself. */
	const char *key;                       /* NULL: an entry of a list. */
	size_t index;
	const mpijob_node *node; /* NULL or null: absent. */
	int type;                /* SCHEMA_*, or SCHEMA_NONE where there is no object. */
};

/* Judges what no single field can; the step is that of a map of the row's type. */
typedef void mpijob__job_template_rule(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step);

#define ROW_NEEDED 1u /* Must be there, and not empty. */
#define ROW_RANGE  2u /* `low` and `high` count. */
#define ROW_OPEN   4u /* The schema's choices do not count: a rule judges, or nobody. */
#define ROW_ONE_OF 8u /* `key` lists fields; `low` to `high` of them must be there. */

/* A row with a key judges that field, or each entry of that list; a row with a rule judges the
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

/* All rows of a type; they stand together. */
const struct mpijob__job_template_row *mpijob__job_template_rows(int type, size_t *count);

/* A wrong thing at a step, or at the key of the map there (NULL: at the step itself). `id` is the
 * finding's. */
void mpijob__job_template_refuse(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const char *key, const char *id, const char *reason,
    const char *format, ...) MPIJOB__BASE_PRINTF(6, 7);

/* A word that is none of a field's choices. */
void mpijob__job_template_unsupported(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const struct mpijob__schema_field *field,
    const char *word);

/*
 * Append a text that no other scalar has: 1; 0 for what has none (a list, a map); MPIJOB_ERR_NOMEM.
 * No such text is the beginning of another one. `usual` takes the place of an absent value; NULL:
 * none.
 */
int mpijob__job_template_identity(struct mpijob_text *out, const mpijob_node *node,
    const char *usual);

/* Whether a name (NULL: none) is in a set already; it is added. The caller releases the set. */
int mpijob__job_template_repeated(const struct mpijob__job_pod_template *at,
    struct mpijob__doc_names *names, const char *name);
/* Add the texts at `key` of all entries of a list to a set, with their indices. */
void mpijob__job_template_names(const struct mpijob__job_pod_template *at,
    struct mpijob__doc_names *names, const mpijob_node *list, const char *key);

/* Find a name in a pool of the pod: 1 and its index (`index` may be NULL), or 0. */
int mpijob__job_template_refers(const struct mpijob__job_pod_template *at, int pool,
    const char *name, uint32_t *index);

/* Find a name in a set: 1 and its index (`index` may be NULL), or 0. */
int mpijob__job_template_named(const struct mpijob__doc_names *names, const char *name,
    uint32_t *index);

/* Reading a map: what is null, of a wrong kind or, for texts, empty counts as absent. */
const mpijob_node *mpijob__job_template_map(const mpijob_node *map, const char *key);
const mpijob_node *mpijob__job_template_list(const mpijob_node *map, const char *key);
const char *mpijob__job_template_text(const mpijob_node *map, const char *key);
int mpijob__job_template_flag(const mpijob_node *map, const char *key);
int mpijob__job_template_number(const mpijob_node *map, const char *key, int64_t *out);
/* Whether there is any value but null. */
int mpijob__job_template_given(const mpijob_node *map, const char *key);

/* The step to a key's value or to an entry, for findings below. */
struct mpijob__job_step mpijob__job_template_into(const struct mpijob__job_step *step,
    const char *key);
struct mpijob__job_step mpijob__job_template_entry(const struct mpijob__job_step *list,
    size_t index);

/* The spec of the template; NULL when there is none. */
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
mpijob__job_template_rule mpijob__job_template_port_of;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration of the operator: the table of its keys, and its values. */
#ifndef MPIJOB__OPERATOR_CONFIG_H
#define MPIJOB__OPERATOR_CONFIG_H

#include <mpijob/fields.h>
#include <mpijob/operator_config.h>

/* The fields of a job that a configuration can change. */
#define CONFIG_FIELD_CLEAN_POD "spec.runPolicy.cleanPodPolicy"
#define CONFIG_FIELD_TTL       "spec.runPolicy.ttlSecondsAfterFinished"
#define CONFIG_FIELD_DEADLINE  "spec.runPolicy.activeDeadlineSeconds"
#define CONFIG_FIELD_WORKERS   "spec.mpiReplicaSpecs[Worker].replicas"

/* Values that a section can have. Sections are the top of the file and each entry of
 * `namespaces`. */
enum mpijob__operator_config_slot {
	CONFIG_CLEAN_POD,
	CONFIG_TTL,
	CONFIG_DEADLINE,
	CONFIG_WORKERS,
	CONFIG_CLEAN_POD_ALLOWED,
	CONFIG_TTL_MIN,
	CONFIG_TTL_MAX,
	CONFIG_DEADLINE_MAX,
	CONFIG_WORKERS_MAX,
	CONFIG_ANNOTATIONS,
	CONFIG_SLOTS
};

enum mpijob__operator_config_kind {
	CONFIG_MAP,
	CONFIG_IDENTITY, /* a constant */
	CONFIG_VALUE,    /* of a field of the job */
	CONFIG_VALUES,   /* a list of them */
	CONFIG_FEATURES, /* a map from features to values */
	CONFIG_NAMES,    /* a list of features */
	CONFIG_PATTERNS, /* a list of names of namespaces */
	CONFIG_SECTIONS  /* a list of maps with the keys of a section */
};

#define CONFIG_TOP   1u
#define CONFIG_ENTRY 2u /* of `namespaces` */
#define CONFIG_ANY   3u
#define CONFIG_MUST  4u

/* One key. */
struct mpijob__operator_config_key {
	/* "limits.workers.max"; the keys of an entry of `namespaces` are the same without
	 * "namespaces[]." */
	const char *path;
	const char *key;    /* its last step */
	const char *parent; /* the path of the map around it; "" for a section */
	int kind;           /* CONFIG_* */
	unsigned where;
	const char *field; /* VALUE, VALUES: the path of the job's field */
	int slot;          /* VALUE, VALUES, NAMES: its index in a section */
	const char *word;  /* IDENTITY */
	const char *summary;
};

size_t mpijob__operator_config_key_count(void);
/* NULL beyond the end. */
const struct mpijob__operator_config_key *mpijob__operator_config_key_at(size_t index);
/* The key of a map; NULL when there is none in this kind of section (CONFIG_TOP or
 * CONFIG_ENTRY). */
const struct mpijob__operator_config_key *mpijob__operator_config_key_find(const char *parent,
    const char *key, unsigned where);

#define CONFIG_ABSENT 0
#define CONFIG_NONE   1 /* null: explicitly no value */
#define CONFIG_GIVEN  2

#define CONFIG_WRONG_TYPE  (-1)
#define CONFIG_WRONG_VALUE (-2) /* an unknown choice, or below the minimum */

/* Read a value of a field of the job. CONFIG_ABSENT, also for null; CONFIG_GIVEN and `number`, of a
 * choice its constant; CONFIG_WRONG_*, then `number` is what a number has. */
int mpijob__operator_config_read(const struct mpijob_field *field, const mpijob_node *node,
    int64_t *number);

struct mpijob__operator_config_value {
	int state;
	int64_t number;          /* VALUE; of a choice its constant */
	const mpijob_node *list; /* VALUES, NAMES */
};

struct mpijob__operator_config_feature {
	int given;
	int32_t value;
};

struct mpijob__operator_config_section {
	const mpijob_node *patterns; /* NULL: the top of the file */
	struct mpijob__operator_config_value values[CONFIG_SLOTS];
	struct mpijob__operator_config_feature *features; /* in the order of mpijob_feature_at() */
};

struct mpijob_operator_config {
	mpijob_doc *doc;
	/* the entries of `namespaces`, and last the top */
	struct mpijob__operator_config_section *sections;
	size_t count;
	struct mpijob__operator_config_feature *features; /* of all sections */
};

/* How many features there are. */
size_t mpijob__operator_config_feature_count(void);
/* Copy features, none if `given` is NULL. 0; MPIJOB_ERR_USAGE (a value is out of bounds, a size);
 * MPIJOB_ERR_UNSUPPORTED (a newer struct). */
int mpijob__operator_config_copy_features(const struct mpijob_features *given,
    struct mpijob_features *out);

/* Whether the section matches this namespace. */
int mpijob__operator_config_matches(const struct mpijob__operator_config_section *section,
    const char *namespace_);

#endif

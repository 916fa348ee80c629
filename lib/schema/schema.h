/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pod templates may hold: the types of core/v1 that are reachable from PodTemplateSpec, as the
 * CRD of mpi-operator v0.8.2 has them and as Kubernetes 1.36.3 has them. All constant; nothing is
 * allocated or prepared.
 */
#ifndef MPIJOB__SCHEMA_H
#define MPIJOB__SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__SCHEMA_CRD        "v0.8.2" /* of mpi-operator */
#define MPIJOB__SCHEMA_KUBERNETES "1.36"

/* Types by name: SCHEMA_PodSpec and so on. */
enum mpijob__schema_type {
#define SCHEMA_TYPE(name, text, first, count) SCHEMA_##name,
#include "schema/blob.inc"
#undef SCHEMA_TYPE
	SCHEMA_NONE
};

/* Kinds of values. */
enum mpijob__schema_kind {
	SCHEMA_STRING,
	SCHEMA_BOOL,
	SCHEMA_INT32,
	SCHEMA_INT64,
	SCHEMA_QUANTITY,
	SCHEMA_INT_OR_STRING,
	SCHEMA_TIME,
	SCHEMA_ANY,
	SCHEMA_OBJECT
};

/* How many of them: one, a list, or a map from strings. */
enum mpijob__schema_shape { SCHEMA_ONE, SCHEMA_LIST, SCHEMA_MAP };

#define SCHEMA_IN_CRD        1u
#define SCHEMA_IN_KUBERNETES 2u
#define SCHEMA_CRD_REQUIRED  4u
#define SCHEMA_KUBE_REQUIRED 8u
#define SCHEMA_POINTER       16u  /* Kubernetes tells an empty value from an absent one. */
#define SCHEMA_SET           32u  /* A list without repetitions. */
#define SCHEMA_KEYED         64u  /* A list in which `keys` tell entries apart. */
#define SCHEMA_ATOMIC_LIST   128u /* A list that is one value in the CRD: replaced as a whole. */
/* The map or object is one value in the CRD; of a list: each entry. */
#define SCHEMA_ATOMIC     256u
#define SCHEMA_EMPTY_FILL 512u /* The CRD's default is an empty text. */

struct mpijob__schema_field {
	uint16_t name;    /* Texts: see mpijob__schema_text(). */
	uint16_t choices; /* Words, an empty one behind the last; 0: any. */
	uint16_t keys;    /* With spaces between them. */
	uint16_t fill;    /* The CRD's default; 0: none, or an empty one. */
	uint16_t patch;   /* The key of strategic merge patches. */
	uint8_t shape;
	uint8_t kind;
	uint8_t of; /* SCHEMA_OBJECT: its type. */
	uint16_t flags;
};

/* A text of a field, by its number; "" for 0. */
const char *mpijob__schema_text(uint16_t number);
const char *mpijob__schema_type_name(int type);
/* The fields of a type, in the order of their names. */
const struct mpijob__schema_field *mpijob__schema_fields(int type, size_t *count);
/* The field of a type; NULL when it has no such one. */
const struct mpijob__schema_field *mpijob__schema_find(int type, const char *name);
/* Whether a word is one of a field's choices; 1 too when it has none. */
int mpijob__schema_allows(const struct mpijob__schema_field *field, const char *word);

#endif

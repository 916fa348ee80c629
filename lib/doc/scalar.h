/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves YAML scalars as kubectl does. */
#ifndef MPIJOB__DOC_SCALAR_H
#define MPIJOB__DOC_SCALAR_H

#include "doc/number.h"

struct mpijob__doc_scalar {
	/* MPIJOB_NODE_NULL, _BOOL, _NUMBER or _STRING (its text is that of the scalar) */
	int kind;
	int truth;       /* value of a boolean */
	int is_float;    /* the number is a double, `value` */
	int is_unsigned; /* the whole number is above INT64_MAX */
	/* the double is infinite or NaN; `number` is YAML's spelling, which JSON does not have */
	int is_special;
	int is_time; /* the string looks like a date or time */
	double value;
	char number[MPIJOB__DOC_NUMBER_ROOM]; /* as kubectl spells it */
	size_t number_len;
};

/* Resolve a plain scalar without a tag. */
void mpijob__doc_scalar_resolve(const char *text, size_t len, struct mpijob__doc_scalar *out);
/*
 * Resolve a scalar with a tag, "tag:yaml.org,2002:int" or any other. Returns 1, or 0 when the text
 * does not match the tag. The caller handles `!!binary`: the result is a string.
 */
int mpijob__doc_scalar_resolve_tag(const char *tag, const char *text, size_t len,
    struct mpijob__doc_scalar *out);
/* Spell a number as the key of a map. Returns the length. */
size_t mpijob__doc_scalar_key(const struct mpijob__doc_scalar *scalar,
    char into[MPIJOB__DOC_NUMBER_ROOM]);

#endif

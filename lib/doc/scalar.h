/* SPDX-License-Identifier: Apache-2.0 */
/* What a YAML scalar means to kubectl. */
#ifndef MPIJOB__DOC_SCALAR_H
#define MPIJOB__DOC_SCALAR_H

#include "doc/number.h"

struct mpijob__doc_scalar {
	/* MPIJOB_NODE_NULL, _BOOL, _NUMBER or _STRING (its text is the scalar's own) */
	int kind;
	int truth;       /* of a boolean */
	int is_float;    /* the number is a double, `value` */
	int is_unsigned; /* the whole number is above INT64_MAX */
	/* the double is infinite or no number; `number` is YAML's spelling, which JSON has not */
	int is_special;
	int is_time; /* the string looks like a date or time */
	double value;
	char number[MPIJOB__DOC_NUMBER_ROOM]; /* as kubectl spells it */
	size_t number_len;
};

/* A plain scalar without tag. */
void mpijob__doc_scalar_resolve(const char *text, size_t len, struct mpijob__doc_scalar *out);
/*
 * A scalar with a tag, "tag:yaml.org,2002:int" or any other. 1, or 0 when the text cannot be read
 * as what the tag says. `!!binary` is not settled here: the result is a string.
 */
int mpijob__doc_scalar_resolve_tag(const char *tag, const char *text, size_t len,
    struct mpijob__doc_scalar *out);
/* Spell a number as the key of a map. */
size_t mpijob__doc_scalar_key(const struct mpijob__doc_scalar *scalar,
    char into[MPIJOB__DOC_NUMBER_ROOM]);

#endif

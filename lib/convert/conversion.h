/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a conversion, and the tables of moves that it applies. */
#ifndef MPIJOB__CONVERT_CONVERSION_H
#define MPIJOB__CONVERT_CONVERSION_H

#include "core/diag.h"

#include <mpijob/convert.h>

struct mpijob__convert_conversion {
	mpijob_doc *doc;     /* The job, changed in place. */
	mpijob_diag *diag;   /* May be NULL. */
	const char *source;  /* For findings; may be NULL. */
	const char *runtime; /* To TrainJob; may be NULL. */
	int code;            /* 0, or the first failure. */
};

/* A word of the source and its name in the target. */
struct mpijob__convert_word {
	const char *from;
	const char *to;
};

#define MOVE_KEEP 0 /* The field is the same in the target. */
#define MOVE_DROP 1 /* The target has no such field. */

/* The conversion of one field. */
struct mpijob__convert_move {
	const char *field;    /* Path in the source. */
	const char *note;     /* Finding if the field is present; NULL: none. */
	const char *harmless; /* A value without a finding; NULL: none. */
	/* Renamed values, terminated by NULL; NULL: none. */
	const struct mpijob__convert_word *words;
	/* If not NULL, called instead of the other members. */
	void (*carry)(struct mpijob__convert_conversion *conversion,
	    const struct mpijob__convert_move *move);
	uint8_t what; /* MOVE_*. */
	uint8_t loss; /* 1: the note is a warning; 0: an information. */
};

/* Terminated by a row without a field; applied in this order. */
extern const struct mpijob__convert_move mpijob__convert_moves_to_v2beta1[];
extern const struct mpijob__convert_move mpijob__convert_moves_to_v1[];

/* Apply a table, and report the unknown fields of the job. */
void mpijob__convert_moves_apply(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *moves);

/* The moves from v1alpha1 or v1alpha2 to v2beta1; NULL for other versions. */
const struct mpijob__convert_move *mpijob__convert_alpha_moves(const char *version);

/* Make the TrainJob of a v2beta1 job in a new document. */
mpijob_doc *mpijob__convert_trainjob_make(struct mpijob__convert_conversion *conversion);

/* The value at a path; NULL when absent or null. */
mpijob_node *mpijob__convert_find(const struct mpijob__convert_conversion *conversion,
    const char *path);
/* The same for a key of a map. */
mpijob_node *mpijob__convert_get(mpijob_node *map, const char *key);
/* The string at a path; NULL when it is not a string. */
const char *mpijob__convert_text(const struct mpijob__convert_conversion *conversion,
    const char *path);

/* Add a finding "conversion-loss" or "conversion-change" about a field. `node` gives line and
 * column; may be NULL. */
void mpijob__convert_loss(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *node, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
void mpijob__convert_change(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *node, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

#endif

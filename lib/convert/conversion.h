/* SPDX-License-Identifier: Apache-2.0 */
/* A conversion under way, and the tables of moves that it follows. */
#ifndef MPIJOB__CONVERT_CONVERSION_H
#define MPIJOB__CONVERT_CONVERSION_H

#include "core/diag.h"

#include <mpijob/convert.h>

#define MPIJOB__CONVERT_V1       "kubeflow.org/v1"
#define MPIJOB__CONVERT_V2BETA1  "kubeflow.org/v2beta1"
#define MPIJOB__CONVERT_TRAINJOB "trainer.kubeflow.org/v1alpha1"

struct mpijob__convert_conversion {
	mpijob_doc *doc;     /* The job, changed in place. */
	mpijob_diag *diag;   /* NULL: nobody listens. */
	const char *source;  /* For findings; may be NULL. */
	const char *runtime; /* To TrainJob; may be NULL. */
	int code;            /* 0, or why the conversion cannot be trusted. */
};

/* One word of the source and what the target calls it. */
struct mpijob__convert_word {
	const char *from;
	const char *to;
};

#define MOVE_KEEP 0 /* The field is the same in the target. */
#define MOVE_DROP 1 /* The target has no such field. */

/* What happens to one field. */
struct mpijob__convert_move {
	const char *field;    /* Path in the source. */
	const char *note;     /* Said of a field that is given; NULL: nothing is lost. */
	const char *harmless; /* A value that loses nothing; NULL: each does. */
	/* Values that are called otherwise, closed by a NULL; NULL: none. */
	const struct mpijob__convert_word *words;
	/* In place of all this. */
	void (*carry)(struct mpijob__convert_conversion *conversion,
	    const struct mpijob__convert_move *move);
	uint8_t what; /* MOVE_*. */
	uint8_t loss; /* The note is a warning, not an information. */
};

/* Closed by a row without a field; done in this order. */
extern const struct mpijob__convert_move mpijob__convert_moves_to_v2beta1[];
extern const struct mpijob__convert_move mpijob__convert_moves_to_v1[];

/* Follow a table, and say which fields of the job no row knows. */
void mpijob__convert_moves_follow(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *moves);

/* The moves to v2beta1 of v1alpha1 or v1alpha2; NULL for any other version. */
const struct mpijob__convert_move *mpijob__convert_alpha_moves(const char *version);

/* Write the TrainJob of a job of v2beta1 into a new document. */
mpijob_doc *mpijob__convert_trainjob_make(struct mpijob__convert_conversion *conversion);

/* The value at a path; NULL when absent or null. */
mpijob_node *mpijob__convert_find(const struct mpijob__convert_conversion *conversion,
    const char *path);
/* The same for a key of a map. */
mpijob_node *mpijob__convert_get(mpijob_node *map, const char *key);
/* A string at a path; NULL when it is none. */
const char *mpijob__convert_text(const struct mpijob__convert_conversion *conversion,
    const char *path);

/* Findings "conversion-loss" and "conversion-change" of a field; `node` tells the place, and may be
 * NULL. */
void mpijob__convert_loss(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *node, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
void mpijob__convert_change(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *node, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

#endif

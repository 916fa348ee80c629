/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and parses field paths as Kubernetes prints them. */
#ifndef MPIJOB__BASE_FIELD_PATH_H
#define MPIJOB__BASE_FIELD_PATH_H

#include "base/text.h"

/*
 * Append one step to a path. The former length removes it again:
 *
 *	size_t mark = path->len;
 *	mpijob__base_field_path_key(path, "spec");
 *	...
 *	mpijob__base_field_path_cut(path, mark);
 *
 * A key becomes `.key`, or `[key]` when it contains other characters than letters, digits, `-` and
 * `_`. Each returns 0, or MPIJOB_ERR_NOMEM with the path unchanged.
 */
int mpijob__base_field_path_key(struct mpijob_text *path, const char *key);
/* Append `[key]` always, as Kubernetes prints an entry of a map such as mpiReplicaSpecs[Worker]. */
int mpijob__base_field_path_entry(struct mpijob_text *path, const char *key);
/* Append `[index]`. */
int mpijob__base_field_path_index(struct mpijob_text *path, size_t index);
/* Cut the path to a former length. */
void mpijob__base_field_path_cut(struct mpijob_text *path, size_t mark);

/* One step of a path. */
struct mpijob__base_field_step {
	const char *text; /* not NUL-terminated */
	size_t len;
	int bracket; /* was in brackets: an index of a list, or a key of a map */
};

/*
 * Read the next step and move `*path` to its end. Returns 1 for a step, 0 at the end of the path,
 * MPIJOB_ERR_USAGE when the path is invalid.
 */
int mpijob__base_field_path_next(const char **path, struct mpijob__base_field_step *step);
/* Read a step `[key=value]`. Returns 1 and sets the key and the value, as steps in brackets; or 0.
 */
int mpijob__base_field_path_select(const struct mpijob__base_field_step *step,
    struct mpijob__base_field_step *key, struct mpijob__base_field_step *value);
/* Read a step as an index. Returns 1 and sets `index`, or 0. */
int mpijob__base_field_path_number(const struct mpijob__base_field_step *step, size_t *index);

#endif

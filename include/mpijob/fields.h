/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fields.h
 * The table of all fields of an MPIJob, as data.
 *
 * Defaults, checks, typed structs, documentation and language bindings all read this one table, so
 * a program that lists fields (an editor, a form, a binding) needs to know none by name.
 */
#ifndef MPIJOB_FIELDS_H
#define MPIJOB_FIELDS_H

#include <mpijob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIJOB_KIND_STRING 1   /**< Text. */
#define MPIJOB_KIND_INT32 2    /**< Whole number of 32 bits. */
#define MPIJOB_KIND_INT64 3    /**< Whole number of 64 bits. */
#define MPIJOB_KIND_BOOL 4     /**< true or false. */
#define MPIJOB_KIND_CHOICE 5   /**< One of the words in `choices`. */
#define MPIJOB_KIND_TIME 6     /**< RFC 3339 time. */
#define MPIJOB_KIND_OBJECT 7   /**< A map whose own fields are rows of the table. */
#define MPIJOB_KIND_LIST 8     /**< A list of such maps. */
#define MPIJOB_KIND_DOCUMENT 9 /**< A value of Kubernetes that passes through. */

/** One row. All strings are constants of the library. */
struct mpijob_field {
	size_t size;                /**< `sizeof(struct mpijob_field)` of the library. */
	const char *path;           /**< "spec.runPolicy.suspend"; for list entries "status.conditions[].type". */
	int32_t kind;               /**< `MPIJOB_KIND_*`. */
	const char *default_text;   /**< The default as text ("1", "None"); NULL when there is none. */
	const char *const *choices; /**< The accepted words of a choice, or of a string that knows only some, closed by NULL; else NULL. */
	const int64_t *minimum;     /**< The least accepted number; NULL when there is none. */
	const char *since;          /**< The first release of mpi-operator that knows the field: "0.3.0". */
	const char *summary;        /**< One sentence. */
};

/**
 * Count the rows.
 *
 * @return how many mpijob_field_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_field_count(void);

/**
 * Read one row.
 *
 * @param index  from 0.
 * @return a constant; NULL when there is no such row.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_field *mpijob_field_at(size_t index);

/**
 * Find a row by its path.
 *
 * @param path  as in struct mpijob_field; not NULL.
 * @return a constant; NULL when there is no such field.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_field *mpijob_field_find(const char *path);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_FIELDS_H */

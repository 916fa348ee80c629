/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fields.h
 * The table of all fields of an MPIJob, as data.
 *
 * Defaults, validation, typed structs, documentation and language bindings read this table. So a
 * program that lists fields (an editor, a form, a binding) does not contain their names.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_FIELDS_H
#define MPIJOB_FIELDS_H

#include <mpijob/base.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIJOB_KIND_STRING   1 /**< Text. */
#define MPIJOB_KIND_INT32    2 /**< Whole number of 32 bits. */
#define MPIJOB_KIND_INT64    3 /**< Whole number of 64 bits. */
#define MPIJOB_KIND_BOOL     4 /**< true or false. */
#define MPIJOB_KIND_CHOICE   5 /**< One of the words in `choices`. */
#define MPIJOB_KIND_TIME     6 /**< RFC 3339 time. */
#define MPIJOB_KIND_OBJECT   7 /**< A map; its fields are rows of the table too. */
#define MPIJOB_KIND_LIST     8 /**< A list of such maps (`MPIJOB_KIND_OBJECT`). */
#define MPIJOB_KIND_DOCUMENT 9 /**< A value of a Kubernetes type, not described by this table. */

/** One row: a field of the MPIJob. All strings are constants. */
struct mpijob_field {
	size_t size; /**< `sizeof(struct mpijob_field)` of the library. */
	/** "spec.runPolicy.suspend"; for list entries "status.conditions[].type". */
	const char *path;
	int32_t kind; /**< `MPIJOB_KIND_*`. */
	/** The default as text ("1", "None"); NULL: no default. */
	const char *default_text;
	/** The accepted words of a choice, or of a string with a fixed set of values, terminated by
	 * NULL; NULL: any. */
	const char *const *choices;
	const int64_t *minimum; /**< The smallest accepted number; NULL: no minimum. */
	/** The first release of mpi-operator that has the field: "0.3.0". */
	const char *since;
	const char *summary; /**< One sentence. */
};

/**
 * Read one row.
 *
 * @param index  from 0; parents come before their children.
 * @return a constant; NULL after the last row.
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

/**
 * @name Fields of the pod templates Types of Kubernetes: names, types and limits, without
 * descriptions.
 * @{
 */

#define MPIJOB_SHAPE_ONE  0 /**< One value. */
#define MPIJOB_SHAPE_LIST 1 /**< A list of values. */
#define MPIJOB_SHAPE_MAP  2 /**< A map from strings to values. */

/** One field of a Kubernetes type. All strings are constants. */
struct mpijob_template_field {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< "containers"; "" for the template itself. */
	/** "string", "boolean", "int32", "int64", "quantity", "int or string", "time", "any", or
	 * the name of an object type, "Container". */
	const char *type;
	int32_t shape;         /**< `MPIJOB_SHAPE_*`. */
	int32_t is_object;     /**< 1: it has fields of its own. */
	int32_t required;      /**< 1: the field is required. */
	int32_t in_crd;        /**< 1: the CRD of mpi-operator v0.8.2 has it. */
	int32_t in_kubernetes; /**< 1: Kubernetes 1.36 has it. */
	/** The default that the API server sets according to the CRD; NULL: none. */
	const char *default_text;
	/** The accepted words, each terminated by NUL, followed by an empty word; NULL: any. */
	const char *choices;
};
#define MPIJOB_TEMPLATE_FIELD_INIT { sizeof(struct mpijob_template_field), NULL, NULL, 0, 0, 0, \
	0, 0, NULL, NULL }

/**
 * Find a field by its path below a pod template.
 *
 * @param path  "spec.containers[0].image"; text in brackets is ignored; "" is the template;
 *              not NULL.
 * @param out   not NULL; `size` set; filled if 1 is returned.
 * @return 1; 0 when there is no such field; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_template_field_find(const char *path, struct mpijob_template_field *out);

/**
 * Get a field of the object at a path below a pod template, by position; the fields are sorted by
 * name.
 *
 * @param path   as in mpijob_template_field_find(); not NULL.
 * @param index  from 0.
 * @param out    not NULL; `size` set; filled if 1 is returned.
 * @return 1; 0 when there is no such field; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_template_field_at(const char *path, size_t index,
    struct mpijob_template_field *out);

/** @} */
/** @name The CRD
 * The CustomResourceDefinition `mpijobs.kubeflow.org`, from this table and the types of pod
 * templates.
 * @{ */

/** Options of mpijob_crd_new(). */
struct mpijob_crd_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: with a description for each field of the MPIJob itself; 0: only types. */
	int32_t descriptions;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_CRD_OPTIONS_INIT { sizeof(struct mpijob_crd_options), 0, 0 }

/**
 * Make the CRD.
 *
 * Except for descriptions, its schema is equal to that of the CRD of mpi-operator v0.8.2, so an API
 * server validates, defaults and merges MPIJobs in the same way. It is 66 KB of JSON (that of
 * mpi-operator is 313 KB), small enough for a client-side `kubectl apply`.
 *
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the CustomResourceDefinition, yours.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_crd_new(const struct mpijob_crd_options *options, mpijob_doc **out);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_FIELDS_H */

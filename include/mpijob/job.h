/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file job.h
 * The job: an MPIJob of `kubeflow.org/v2beta1`, read from text or built from structs.
 *
 * A mpijob owns the document that it was read from. Parse, default and validate are three calls:
 *
 * @code
 * mpijob_diag *diag = mpijob_diag_new();
 * mpijob *job = NULL;
 * int code = mpijob_parse(text, len, NULL, &job, diag);
 * if (code == 0)
 *         code = mpijob_default(job, NULL, diag);
 * if (code == 0)
 *         code = mpijob_validate(job, NULL, diag);
 * mpijob_free(job);
 * mpijob_diag_free(diag);
 * @endcode
 *
 * The typed structs of spec.h are views of that document, for reading and writing. Storing a struct
 * writes only the fields that it has members for; everything else in the document stays unchanged.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_JOB_H
#define MPIJOB_JOB_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One MPIJob. */
typedef struct mpijob mpijob;

/** @name Make and free
 * @{ */

/**
 * Read one MPIJob from YAML or JSON text.
 *
 * The text must contain exactly one document; for several documents use mpijob_docs_parse() and
 * mpijob_from_node().
 *
 * @param text     the bytes; may be NULL when `len` is 0.
 * @param len      how many bytes.
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the job, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SYNTAX`; `MPIJOB_ERR_UNSUPPORTED` (not an MPIJob of
 *         `kubeflow.org/v2beta1`; the finding names its kind and version, and says how to convert
 *         another version); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_parse(const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob **out, mpijob_diag *diag);

/**
 * Make a job from a value of a document.
 *
 * @param node    a map with apiVersion and kind of an MPIJob; not NULL; copied, with lines and
 *                columns.
 * @param source  name of the source for findings; may be NULL; copied.
 * @param out     not NULL; receives the job, yours.
 * @param diag    findings, or NULL.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (not an MPIJob of `kubeflow.org/v2beta1`);
 *         `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_from_node(const mpijob_node *node, const char *source, mpijob **out,
    mpijob_diag *diag);

/**
 * Return whether a value is an MPIJob of any version.
 *
 * @param node  may be NULL.
 * @return 1 when its kind is MPIJob and its apiVersion begins with "kubeflow.org/", else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_is_job(const mpijob_node *node);

/**
 * Make a job from typed structs.
 *
 * @param name        metadata.name; not NULL; copied.
 * @param namespace_  metadata.namespace; NULL for none; copied.
 * @param spec        the spec; NULL for an empty one; copied.
 * @param out         not NULL; receives the job, yours.
 * @param diag        findings, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (as mpijob_spec_set());
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_new(const char *name, const char *namespace_, const struct mpijob_spec *spec,
    mpijob **out, mpijob_diag *diag);

/**
 * Copy a job.
 *
 * @param job  not NULL.
 * @return the copy, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob *mpijob_clone(const mpijob *job);

/**
 * Free a job.
 *
 * @param job  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_free(mpijob *job);

/** @} */
/** @name Read
 * @{ */

/**
 * Get the document behind the job.
 *
 * @param job  not NULL.
 * @return borrowed until the job changes; never NULL.
 * @since 0.1
 */
MPIJOB_API const mpijob_doc *mpijob_document(const mpijob *job);

/**
 * Get `metadata.name`.
 *
 * @param job  not NULL.
 * @return borrowed; NULL when absent.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_name(const mpijob *job);

/**
 * Get `metadata.namespace`.
 *
 * @param job  not NULL.
 * @return borrowed; NULL when absent.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_namespace(const mpijob *job);

/**
 * Get `metadata.uid`.
 *
 * @param job  not NULL.
 * @return borrowed; NULL when absent.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_uid(const mpijob *job);

/**
 * View the spec as a struct.
 *
 * Each field of a wrong type is a finding.
 *
 * @param job   not NULL.
 * @param out   not NULL; borrowed until the job changes.
 * @param diag  findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (a field has a wrong type or does not fit its C type);
 *         `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_spec_get(mpijob *job, const struct mpijob_spec **out, mpijob_diag *diag);

/**
 * View the status as a struct.
 *
 * @param job   not NULL.
 * @param out   not NULL; borrowed until the job changes; an absent status gives an empty struct.
 * @param diag  findings, or NULL.
 * @return as mpijob_spec_get().
 * @since 0.1
 */
MPIJOB_API int mpijob_status_get(mpijob *job, const struct mpijob_status **out, mpijob_diag *diag);

/** @} */
/** @name Change
 * @{ */

/**
 * Set `metadata.name`, `metadata.namespace` and `metadata.uid`.
 *
 * @param job         not NULL.
 * @param name        NULL: unchanged.
 * @param namespace_  NULL: unchanged.
 * @param uid         NULL: unchanged.
 * @return 0, `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_identify(mpijob *job, const char *name, const char *namespace_,
    const char *uid);

/**
 * Store a spec. A member that is absent removes the field, `MPIJOB_OTHER` leaves it unchanged.
 * Fields whose members are beyond the struct's `size`, and unknown keys at every level, stay
 * unchanged.
 *
 * @param job   not NULL; unchanged on failure.
 * @param spec  not NULL; copied; may be the job's own view.
 * @param diag  findings, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (a struct's size, also of a nested one);
 *         `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` also for a NULL in a list, a number that is not
 *         one of the constants, or a time after the year 9999.
 * @since 0.1
 */
MPIJOB_API int mpijob_spec_set(mpijob *job, const struct mpijob_spec *spec, mpijob_diag *diag);

/**
 * Store a status; see mpijob_spec_set().
 *
 * @param job     not NULL; unchanged on failure.
 * @param status  not NULL; copied; may be the job's own view.
 * @param diag    findings, or NULL.
 * @return as mpijob_spec_set().
 * @since 0.1
 */
MPIJOB_API int mpijob_status_set(mpijob *job, const struct mpijob_status *status,
    mpijob_diag *diag);

/** Options of mpijob_default(). */
struct mpijob_default_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: exactly as mpi-operator v0.8.2; 0: with the differences that docs/differences.md
	 * lists (an absent number of workers becomes 1 instead of the invalid 0). */
	int32_t reference;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_DEFAULT_OPTIONS_INIT { sizeof(struct mpijob_default_options), 0, 0 }

/**
 * Set absent fields to the defaults of mpi-operator v0.8.2.
 *
 * @param job      not NULL; unchanged on failure.
 * @param options  NULL for the defaults.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (the parent of a field with a default is not a map);
 *         `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options).
 * @since 0.1
 */
MPIJOB_API int mpijob_default(mpijob *job, const struct mpijob_default_options *options,
    mpijob_diag *diag);

/** @} */
/** @name Check
 * @{ */

/** Options of mpijob_validate(). */
struct mpijob_validate_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: only the errors of mpi-operator v0.8.2, with its messages; 0: also the errors of its
	 * CRD, errors that it should report, errors that an API server of Kubernetes 1.36 reports
	 * for the pods of the templates, warnings, and suggestions. */
	int32_t reference;
	/** 1: unknown fields and roles, which an API server silently drops, are errors instead of
	 * warnings; no effect with `reference`. */
	int32_t strict;
};
#define MPIJOB_VALIDATE_OPTIONS_INIT { sizeof(struct mpijob_validate_options), 0, 0 }

/**
 * Check a job and report all findings, each with field, line and column.
 *
 * Call mpijob_default() first, as the operator does: an absent field that has a default is an
 * error. The first 100 findings of each kind are kept; further ones are only counted
 * (mpijob_diag_count(), mpijob_diag_dropped()). Time and memory are proportional to the
 * size of the job.
 *
 * @param job      not NULL.
 * @param options  NULL for the defaults.
 * @param diag     findings, or NULL.
 * @return 0 when no finding is an error; `MPIJOB_ERR_SPEC`; `MPIJOB_ERR_NOMEM`;
 *         `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options).
 * @since 0.1
 */
MPIJOB_API int mpijob_validate(const mpijob *job, const struct mpijob_validate_options *options,
    mpijob_diag *diag);

/**
 * Check a Kubernetes object as an API server does when it creates the object.
 *
 * This checks the name, labels and annotations of all kinds, Pods, the pod templates of Jobs, the
 * keys of ConfigMaps and Secrets, and the fields that the CRD of MPIJobs requires. It checks
 * neither the other fields of a Job's spec nor the spec of other kinds. Time and memory are
 * proportional to the size of the object.
 *
 * @param object  a map with apiVersion, kind and metadata; not NULL.
 * @param source  name of the source for findings; may be NULL; copied.
 * @param diag    findings, or NULL; their field paths are relative to the object ("spec.hostname").
 * @return 0 when no finding is an error; `MPIJOB_ERR_SPEC`; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`
 *         (`object` is not a map).
 * @since 0.1
 */
MPIJOB_API int mpijob_object_validate(const mpijob_node *object, const char *source,
    mpijob_diag *diag);

/**
 * Find a condition of an object: the first entry of `status.conditions` with this type and status.
 *
 * @param object  an MPIJob, a Job, a Pod or any other object; may be NULL.
 * @param type    "Succeeded", "Ready"; not NULL.
 * @param status  "True", "False" or "Unknown"; NULL: any.
 * @return borrowed from the object; NULL when it has no such condition.
 * @since 0.1
 */
MPIJOB_API const mpijob_node *mpijob_condition_find(const mpijob_node *object, const char *type,
    const char *status);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_JOB_H */

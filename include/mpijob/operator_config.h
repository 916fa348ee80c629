/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file operator_config.h
 * The administrator's configuration for all jobs of a cluster: defaults and limits per namespace,
 * and the features that users may enable with annotations. docs/operator-config.md describes every
 * key.
 *
 * The configuration never changes a stored job. Each time a job is planned, its effective values
 * are computed on a copy in memory. mpijob_effective_new() is that step; use it to show the
 * effective values and their origins.
 *
 * @code
 * mpijob_operator_config *config = NULL;
 * mpijob_effective *effective = NULL;
 * mpijob *job = NULL;
 * int code = mpijob_operator_config_parse(text, len, NULL, &config, NULL);
 * if (code == 0)
 *         code = mpijob_new("pi", "team-a", NULL, &job, NULL);
 * if (code == 0)
 *         code = mpijob_effective_new(config, job, NULL, &effective, NULL);
 * mpijob_effective_free(effective);
 * mpijob_free(job);
 * mpijob_operator_config_free(config);
 * @endcode
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_OPERATOR_CONFIG_H
#define MPIJOB_OPERATOR_CONFIG_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/features.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name The configuration
 * @{ */

/** A parsed and validated configuration. */
typedef struct mpijob_operator_config mpijob_operator_config;

/**
 * Parse a configuration from YAML or JSON. All errors are reported; an unknown key is an error.
 *
 * @param text     the text; may be NULL if `len` is 0.
 * @param len      number of bytes.
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the configuration, which you free.
 * @param diag     receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_SYNTAX`; `MPIJOB_ERR_SPEC` (an unknown key, a wrong type or value);
 *         `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options).
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_config_parse(const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob_operator_config **out, mpijob_diag *diag);

/**
 * Copy a configuration.
 *
 * @param config  not NULL.
 * @return the copy, which you free; NULL if memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_operator_config *mpijob_operator_config_clone(
    const mpijob_operator_config *config);

/** Free a configuration; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_operator_config_free(mpijob_operator_config *config);

/** @} */
/** @name Effective values of one job
 * @{ */

#define MPIJOB_ORIGIN_BUILT_IN   1 /**< The built-in default. */
#define MPIJOB_ORIGIN_FLAG       2 /**< A flag of the operator. */
#define MPIJOB_ORIGIN_DEFAULTS   3 /**< `defaults` of the configuration. */
#define MPIJOB_ORIGIN_NAMESPACE  4 /**< `defaults` of an entry of `namespaces`. */
#define MPIJOB_ORIGIN_JOB        5 /**< The job's spec. */
#define MPIJOB_ORIGIN_ANNOTATION 6 /**< An annotation of the job. */
/** A limit of the configuration, or of an entry of `namespaces`. */
#define MPIJOB_ORIGIN_LIMIT 7

/** One effective value. */
struct mpijob_effective_value {
	size_t size;       /**< `sizeof` this struct of the library. */
	const char *field; /**< Path of the job's field, or the name of a feature; never NULL. */
	/** The value as text; a duration in seconds; "true" or "false" for a switch; NULL: not set.
	 */
	const char *value;
	int32_t origin; /**< `MPIJOB_ORIGIN_*`. */
	/** Index of the entry of `namespaces` that sets it, from 0; -1 for another origin. */
	int32_t rule;
	/** The value without the limit, "none" if not set; NULL: no limit changed it. */
	const char *wanted;
	/** 1: it exceeds a limit that does not change values: the job does not start. */
	int32_t refused;
	int32_t reserved; /**< 0; fills the struct. */
};

/** The effective values of one job. */
typedef struct mpijob_effective mpijob_effective;

/**
 * Compute the effective values of a job.
 *
 * A field of the job's spec overrides a default. An allowed annotation overrides the default of its
 * feature. The default of each field is looked up separately: the first entry of `namespaces` that
 * matches the job's namespace and sets the field; else the top level of the file; else `flags`.
 * Limits are applied last.
 *
 * @param config  NULL: no configuration.
 * @param job     not NULL; borrowed: it must outlive the result, and must not change.
 * @param flags   features from the operator's flags; NULL: none.
 * @param out     not NULL; receives the result, which you free.
 * @param diag    receives warnings about annotations without effect; may be NULL.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (`flags`).
 * @since 0.1
 */
MPIJOB_API int mpijob_effective_new(const mpijob_operator_config *config, const mpijob *job,
    const struct mpijob_features *flags, mpijob_effective **out, mpijob_diag *diag);

/** Free the result of mpijob_effective_new(); NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_effective_free(mpijob_effective *effective);

/**
 * Get the job with its effective values, for planning. Do not store it in the cluster.
 *
 * @param effective  not NULL.
 * @return borrowed from `effective`; the original job if nothing differs. Never NULL.
 * @since 0.1
 */
MPIJOB_API const mpijob *mpijob_effective_job(const mpijob_effective *effective);

/**
 * Get the effective features of the job.
 *
 * @param effective  not NULL.
 * @return borrowed from `effective`; never NULL.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_features *mpijob_effective_features(
    const mpijob_effective *effective);

/**
 * Get the limit on the number of workers.
 *
 * @param effective  not NULL.
 * @return the maximum number; 0: there is no limit.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_effective_max_workers(const mpijob_effective *effective);

/** Count the values. `effective` not NULL. @since 0.1 */
MPIJOB_API size_t mpijob_effective_count(const mpijob_effective *effective);

/**
 * Get one value: first the fields of the job that a configuration can set, then all features.
 *
 * @param effective  not NULL.
 * @param index      from 0.
 * @return borrowed until `effective` is freed; NULL if `index` is too large.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_effective_value *
mpijob_effective_at(const mpijob_effective *effective, size_t index);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_OPERATOR_CONFIG_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file operator_config.h
 * What an administrator sets for all jobs of a cluster: defaults and limits by namespace, and which
 * features tenants may ask for themselves. Every key of the file is in docs/operator-config.md.
 *
 * A job is never changed for it: what holds is worked out each time that the job is planned, on a
 * copy in memory. mpijob_effective_new() is that step, so that a person can be shown what holds and
 * why.
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

/** A configuration that was read and checked. */
typedef struct mpijob_operator_config mpijob_operator_config;

/**
 * Read a configuration from YAML or JSON text. All that is wrong is found at once; a key that
 * nobody knows is wrong.
 *
 * @param text     the bytes; may be NULL when `len` is 0.
 * @param len      how many bytes.
 * @param options  NULL for the defaults.
 * @param out      not NULL; the configuration, yours.
 * @param diag     findings, or NULL.
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
 * @return the copy, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_operator_config *mpijob_operator_config_clone(
    const mpijob_operator_config *config);

/** Free a configuration; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_operator_config_free(mpijob_operator_config *config);

/** @} */
/** @name What holds for one job
 * @{ */

#define MPIJOB_ORIGIN_BUILT_IN   1 /**< Nobody said anything: what holds in general. */
#define MPIJOB_ORIGIN_FLAG       2 /**< The flags that the operator was started with. */
#define MPIJOB_ORIGIN_DEFAULTS   3 /**< `defaults` of the configuration. */
#define MPIJOB_ORIGIN_NAMESPACE  4 /**< `defaults` of an entry of `namespaces`. */
#define MPIJOB_ORIGIN_JOB        5 /**< The job's spec. */
#define MPIJOB_ORIGIN_ANNOTATION 6 /**< An annotation of the job. */
/** A limit of the configuration, or of an entry of `namespaces`. */
#define MPIJOB_ORIGIN_LIMIT 7

/** One value that holds. */
struct mpijob_effective_value {
	size_t size;       /**< `sizeof` this struct of the library. */
	const char *field; /**< Path of the job's field, or the name of a feature; never NULL. */
	/** As text; for a duration seconds; "true" or "false" for a switch; NULL: none. */
	const char *value;
	int32_t origin; /**< `MPIJOB_ORIGIN_*`. */
	/** Entry of `namespaces` that it comes from, from 0; -1 when it comes from elsewhere. */
	int32_t rule;
	/** What would hold without the limit, "none" for none; NULL when no limit changed it. */
	const char *wanted;
	/** 1: it is over a limit that changes no value: the job does not begin. */
	int32_t refused;
};

/** What holds for one job. */
typedef struct mpijob_effective mpijob_effective;

/**
 * Work out what holds for a job.
 *
 * A field that the job sets wins over a default; an annotation that is allowed wins over a default
 * of the same feature. For each field by itself the first entry of `namespaces` counts that names
 * the job's namespace and says anything about the field; then the top of the file; then `flags`.
 * Last come the limits.
 *
 * @param config  NULL: nobody configured anything.
 * @param job     not NULL; borrowed: it must outlive the result, and not change.
 * @param flags   features that the operator was started with; NULL: none.
 * @param out     not NULL; the result, yours.
 * @param diag    warnings about annotations that have no effect, or NULL.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (`flags`).
 * @since 0.1
 */
MPIJOB_API int mpijob_effective_new(const mpijob_operator_config *config, const mpijob *job,
    const struct mpijob_features *flags, mpijob_effective **out, mpijob_diag *diag);

/** Free what mpijob_effective_new() gave; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_effective_free(mpijob_effective *effective);

/**
 * Get the job as it is to be worked on: never to be written anywhere.
 *
 * @param effective  not NULL.
 * @return borrowed from `effective`; the very job that was given when nothing differs. Never NULL.
 * @since 0.1
 */
MPIJOB_API const mpijob *mpijob_effective_job(const mpijob_effective *effective);

/**
 * Get the features that are on for the job.
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
 * @return how many a job may have; 0: there is no limit.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_effective_max_workers(const mpijob_effective *effective);

/** Count the values. `effective` not NULL. @since 0.1 */
MPIJOB_API size_t mpijob_effective_count(const mpijob_effective *effective);

/**
 * Look at one value: first the fields of the job that a configuration can reach, then every
 * feature.
 *
 * @param effective  not NULL.
 * @param index      from 0.
 * @return borrowed until `effective` is freed; NULL when there is no such value.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_effective_value *
mpijob_effective_at(const mpijob_effective *effective, size_t index);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_OPERATOR_CONFIG_H */

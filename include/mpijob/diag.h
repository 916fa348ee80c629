/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file diag.h
 * Findings: errors, warnings and notes about your input, as data.
 *
 * A mpijob_diag is a list of findings that you own. Many functions take it as their last parameter
 * and append to it; you may pass NULL if you do not need the findings. Read the list after one
 * call, or after many. Findings of severity error give the reasons of a failure; warnings and
 * informations may also accompany success.
 *
 * A finding is printed as one line, which also says what is accepted:
 *
 *     job.yaml:8:21: spec.runPolicy.cleanPodPolicy: unsupported value 'Sometimes'; use None,
 *     Running or All
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_DIAG_H
#define MPIJOB_DIAG_H

#include <mpijob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A list of findings. */
typedef struct mpijob_diag mpijob_diag;

#define MPIJOB_SEVERITY_ERROR   1 /**< The input is rejected. */
#define MPIJOB_SEVERITY_WARNING 2 /**< The input is accepted, but probably a mistake. */
#define MPIJOB_SEVERITY_INFO    3 /**< A note. */
/** Details of an operator's work, for its `log` if `log_actions` is set. A mpijob_diag never
 * contains them. */
#define MPIJOB_SEVERITY_DEBUG 4

/** One finding. All strings are borrowed from the diag until it is cleared or freed. */
struct mpijob_finding {
	size_t size;      /**< `sizeof(struct mpijob_finding)` of the library. */
	int32_t severity; /**< `MPIJOB_SEVERITY_*`. */
	int32_t line;     /**< 1 for the first line of the source; 0 when unknown. */
	int32_t column;   /**< 1 for the first byte of the line; 0 when unknown. */
	/** Stable identifier, lower case with dashes: "unsupported-value". Never NULL. */
	const char *id;
	/** The reason word of Kubernetes: Required, Invalid, NotSupported, Forbidden, Duplicate,
	 * TooLong, TypeInvalid, ...; NULL where Kubernetes has none. */
	const char *reason;
	/** Field path as Kubernetes prints it, "spec.mpiReplicaSpecs[Worker].replicas"; NULL when
	 * the finding is not about a field. */
	const char *field;
	const char *message; /**< One line, lower case, without a full stop. Never NULL. */
	const char *source;  /**< Name of the file or other source; NULL when unknown. */
};

/** Sets `size`; everything else is not given. */
#define MPIJOB_FINDING_INIT { sizeof(struct mpijob_finding), 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Make an empty list.
 *
 * @return the list, yours; NULL if memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_diag *mpijob_diag_new(void);

/**
 * Free a list and all its findings.
 *
 * @param diag  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_diag_free(mpijob_diag *diag);

/**
 * Remove all findings.
 *
 * @param diag  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_diag_clear(mpijob_diag *diag);

/**
 * Limit the number of findings that the list keeps; further findings are only counted (see
 * mpijob_diag_dropped()).
 *
 * @param diag   not NULL.
 * @param limit  0 for the default, 1000.
 * @since 0.1
 */
MPIJOB_API void mpijob_diag_set_limit(mpijob_diag *diag, size_t limit);

/**
 * Set the severity that findings of one kind have from now on.
 *
 * Warnings and notes can be silenced, raised and lowered. A finding that is reported as an error
 * stays an error, because the call that reports it fails. A warning or note that is raised to an
 * error makes mpijob_validate() and mpijob_render() fail like any error; other calls do not fail
 * because of it, but mpijob_diag_count() counts it as an error. mpijob_diag_clear() keeps
 * these settings.
 *
 * @param diag      not NULL.
 * @param id        the kind, mpijob_finding.id; may also be one of your own; not NULL; copied.
 * @param severity  `MPIJOB_SEVERITY_*`, or 0: findings of this kind are neither kept nor counted.
 * @return 0; `MPIJOB_ERR_USAGE` (NULL, an unknown severity); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_diag_set_severity(mpijob_diag *diag, const char *id, int32_t severity);

/**
 * Count the findings that were reported, including dropped ones.
 *
 * @param diag      may be NULL: 0.
 * @param severity  `MPIJOB_SEVERITY_*`; 0: of every severity.
 * @return how many.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_diag_count(const mpijob_diag *diag, int32_t severity);

/**
 * Count the findings that were dropped because of the limit, or because memory ran out.
 *
 * @param diag  may be NULL: 0.
 * @return how many.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_diag_dropped(const mpijob_diag *diag);

/**
 * Read one finding.
 *
 * @param diag   may be NULL.
 * @param index  from 0, in the order in which they were reported.
 * @return borrowed until the diag changes; NULL after the last finding in the list.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_finding *mpijob_diag_at(const mpijob_diag *diag, size_t index);

/**
 * Append a finding of your own (a transport or a plugin may report this way).
 *
 * @param diag     may be NULL: nothing happens.
 * @param finding  not NULL; copied. `message` and `id` must not be NULL.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` and `MPIJOB_ERR_UNSUPPORTED` (see base.h on
 *         structs).
 * @since 0.1
 */
MPIJOB_API int mpijob_diag_add(mpijob_diag *diag, const struct mpijob_finding *finding);

/**
 * Write one finding as one line of text, without a line end.
 *
 * Its strings are escaped as by mpijob_escaped_write(), so that input cannot control a terminal.
 *
 * @param finding  not NULL.
 * @param write    the sink; not NULL.
 * @param user     passed to the sink.
 * @return 0, `MPIJOB_ERR_USAGE`, or what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_finding_write(const struct mpijob_finding *finding, mpijob_write_fn write,
    void *user);

/** A kind of finding: describes all findings with one identifier. All strings are constants. */
struct mpijob_finding_kind {
	size_t size;    /**< `sizeof(struct mpijob_finding_kind)` of the library. */
	const char *id; /**< "unsupported-value". */
	/** The usual `MPIJOB_SEVERITY_*`; single findings may be less severe. */
	int32_t severity;
	const char *advice; /**< One or two sentences: what to do. */
};

/**
 * Read one kind of the findings that this library reports. docs/findings.md lists them, with those
 * of the other libraries and of the programs.
 *
 * @param index  from 0; the order means nothing.
 * @return a constant; NULL after the last kind.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_finding_kind *mpijob_finding_kind_at(size_t index);

/**
 * Find a kind by its identifier.
 *
 * @param id  may be NULL: no kind.
 * @return a constant; NULL when there is no such kind.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_finding_kind *mpijob_finding_kind_find(const char *id);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_DIAG_H */

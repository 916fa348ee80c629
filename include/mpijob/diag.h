/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file diag.h
 * Findings: everything that the library has to say about your input, as data.
 *
 * A mpijob_diag is a list that you own and pass, last, to any call that may have more to say than
 * its result code. NULL is always accepted and means "I do not want to know". Calls append: read
 * the list after a call, or collect over many calls. Findings of severity error are the reason of
 * a failure; warnings and informations accompany success.
 *
 * Printed, a finding is one line that says what would be accepted:
 *
 *     job.yaml:8:21: spec.runPolicy.cleanPodPolicy: unsupported value 'Sometimes'; use None,
 * Running or All
 */
#ifndef MPIJOB_DIAG_H
#define MPIJOB_DIAG_H

#include <mpijob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A list of findings. */
typedef struct mpijob_diag mpijob_diag;

#define MPIJOB_SEVERITY_ERROR   1 /**< The input is refused. */
#define MPIJOB_SEVERITY_WARNING 2 /**< The input is accepted, and probably not what you mean. */
#define MPIJOB_SEVERITY_INFO    3 /**< Worth knowing. */
/** Details of an operator's work, for its `log` if `log_actions` asks for them. Never in a list of
 * findings. */
#define MPIJOB_SEVERITY_DEBUG 4

/** One finding. All strings are borrowed from the diag and live until it is cleared or freed. */
struct mpijob_finding {
	size_t size;      /**< `sizeof(struct mpijob_finding)` of the library. */
	int32_t severity; /**< `MPIJOB_SEVERITY_*`. */
	int32_t line;     /**< 1 for the first line of the source; 0 when there is no place. */
	int32_t column;   /**< 1 for the first byte of the line; 0 when there is no place. */
	/** Stable identifier, lower case with dashes: "unsupported-value". Never NULL. */
	const char *id;
	/** Kubernetes' own word: Required, Invalid, NotSupported, Forbidden, Duplicate, TooLong,
	 * TypeInvalid, ...; NULL where Kubernetes has none. */
	const char *reason;
	/** Field path as Kubernetes prints it, "spec.mpiReplicaSpecs[Worker].replicas"; NULL when
	 * none. */
	const char *field;
	const char *message; /**< One line, lower case, no final stop. Never NULL. */
	const char *source;  /**< Name of the file or other source; NULL when none was given. */
};

/** Set `size` and nothing else. */
#define MPIJOB_FINDING_INIT { sizeof(struct mpijob_finding), 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Make an empty list.
 *
 * @return the list, yours; NULL when memory ran out.
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
 * Limit how many findings are kept; further ones are only counted (see mpijob_diag_dropped()).
 *
 * @param diag   not NULL.
 * @param limit  0 for the default, 1000.
 * @since 0.1
 */
MPIJOB_API void mpijob_diag_set_limit(mpijob_diag *diag, size_t limit);

/**
 * Say how severe the findings of one kind are from now on.
 *
 * Warnings and notes can be silenced, raised and lowered. What is an error by itself stays one,
 * because the call that reports it fails. A finding that is raised to an error makes
 * mpijob_validate() and mpijob_render() fail as any error does; other calls go on, and
 * mpijob_diag_count_severity() counts it. mpijob_diag_clear() leaves this as it is.
 *
 * @param diag      not NULL.
 * @param id        of the findings; need not be one of the library (see
 *                  mpijob_finding_kind_find()); not NULL; copied.
 * @param severity  `MPIJOB_SEVERITY_*`, or 0: they are neither kept nor counted.
 * @return 0; `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_diag_set_severity(mpijob_diag *diag, const char *id, int32_t severity);

/**
 * Count the findings that are kept.
 *
 * @param diag  may be NULL: 0.
 * @return how many mpijob_diag_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_diag_count(const mpijob_diag *diag);

/**
 * Count the findings of one severity, dropped ones included.
 *
 * @param diag      may be NULL: 0.
 * @param severity  `MPIJOB_SEVERITY_*`.
 * @return how many there were.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_diag_count_severity(const mpijob_diag *diag, int32_t severity);

/**
 * Count the findings that were not kept because of the limit, or for want of memory.
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
 * @param index  from 0, in the order in which they were found.
 * @return borrowed until the diag changes; NULL when there is no such finding.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_finding *mpijob_diag_at(const mpijob_diag *diag, size_t index);

/**
 * Append a finding of your own (a transport or a plugin reports in the same form).
 *
 * @param diag     may be NULL: nothing happens.
 * @param finding  not NULL; copied. `message` and `id` must not be NULL.
 * @return 0, `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_USAGE` or `MPIJOB_ERR_UNSUPPORTED` (see base.h on
 *         structs).
 * @since 0.1
 */
MPIJOB_API int mpijob_diag_add(mpijob_diag *diag, const struct mpijob_finding *finding);

/**
 * Write one finding as one line of text, without a line end.
 *
 * Its strings are escaped as by mpijob_escaped_write(), so that input cannot drive a terminal.
 *
 * @param finding  not NULL.
 * @param write    the sink; not NULL.
 * @param user     passed to the sink.
 * @return 0, `MPIJOB_ERR_USAGE`, or what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_finding_write(const struct mpijob_finding *finding, mpijob_write_fn write,
    void *user);

/** A kind of finding: what all findings with the same identifier have in common. All strings are
 * constants. */
struct mpijob_finding_kind {
	size_t size;    /**< `sizeof(struct mpijob_finding_kind)` of the library. */
	const char *id; /**< "unsupported-value". */
	/** `MPIJOB_SEVERITY_*` as a rule; single findings may be less severe. */
	int32_t severity;
	/** One sentence: what is the matter. NULL in this library; `mpijob explain ID` prints it.
	 */
	const char *summary;
	const char *advice; /**< One or two sentences: what to do. */
	/** How one looks when printed. NULL in this library; `mpijob explain ID` prints it. */
	const char *example;
};

/**
 * Count the kinds of findings that this library reports. docs/findings.md lists them, with those of
 * the other libraries and of the programs.
 *
 * @return how many mpijob_finding_kind_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_finding_kind_count(void);

/**
 * Read one kind.
 *
 * @param index  from 0; the order means nothing.
 * @return borrowed for ever; NULL when there is no such kind.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_finding_kind *mpijob_finding_kind_at(size_t index);

/**
 * Find a kind by its identifier.
 *
 * @param id  NULL finds nothing.
 * @return borrowed for ever; NULL when there is no such kind.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_finding_kind *mpijob_finding_kind_find(const char *id);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_DIAG_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file diagnose.h
 * Find the causes of a submitted job's problems from its objects, Events and logs.
 *
 * mpijob_diagnose() is a pure function. Its input is the evidence that is available: at least the
 * MPIJob, and if they still exist its pods, the launcher Job, Events and the last lines of logs.
 * Each finding names a cause and the pod or host. docs/findings.md says for its identifier what to
 * do next.
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_DIAGNOSE_H
#define MPIJOB_DIAGNOSE_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The last lines that a container printed. */
struct mpijob_log_tail {
	size_t size;           /**< `sizeof` this struct. */
	const char *pod;       /**< Not NULL. */
	const char *container; /**< NULL: the only one. */
	const char *text;      /**< The lines; any bytes; may be NULL when `len` is 0. */
	size_t len;            /**< How many bytes. */
};
#define MPIJOB_LOG_TAIL_INIT { sizeof(struct mpijob_log_tail), NULL, NULL, NULL, 0 }

/** The evidence about a job. Everything is borrowed; what is not available is NULL or 0. */
struct mpijob_evidence {
	size_t size; /**< `sizeof` this struct. */
	/** The MPIJob with its status; not NULL; only its typed views are created. */
	mpijob *job;
	const mpijob_node *launcher; /**< The batch/v1 Job. */
	/** The pods of the workers and the launcher: a v1 List, or a list. */
	const mpijob_node *pods;
	/** Events about the job, its launcher Job and its pods: a v1 List, or a list. */
	const mpijob_node *events;
	const struct mpijob_log_tail *const *logs; /**< Last lines of containers. */
	size_t logs_count;                         /**< How many. */
	/** The current time; 0: unknown: no finding depends on durations. */
	int64_t now_ms;
};
#define MPIJOB_EVIDENCE_INIT { sizeof(struct mpijob_evidence), NULL, NULL, NULL, NULL, NULL, 0, 0 }

/**
 * Report the causes of a job's problems.
 *
 * @param evidence  not NULL.
 * @param diag      not NULL; receives the causes, the most specific first; none if no problem is
 *                  found. A cause that stops the job is an error; one that may resolve itself, or
 *                  that wastes resources, is a warning; a hint is a note.
 * @return how many causes were found; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (structs);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_diagnose(const struct mpijob_evidence *evidence, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_DIAGNOSE_H */

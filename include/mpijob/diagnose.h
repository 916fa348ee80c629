/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file diagnose.h
 * What is wrong with a job that was submitted: the cause, from what the cluster shows of it.
 *
 * A pure function. You give it what could be had (the MPIJob at least; pods, the launcher's Job,
 * Events and the last lines of logs when they are still there); it gives findings: each names a
 * cause, the pod or host concerned, and has an identifier whose entry in docs/findings.md says what
 * to do next.
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
	const char *text;      /**< Lines; any bytes; may be NULL when `len` is 0. */
	size_t len;            /**< How many bytes. */
};
#define MPIJOB_LOG_TAIL_INIT { sizeof(struct mpijob_log_tail), NULL, NULL, NULL, 0 }

/** What the cluster shows of a job. Everything is borrowed; what could not be had is NULL or 0. */
struct mpijob_evidence {
	size_t size; /**< `sizeof` this struct. */
	/** The MPIJob with its status; not NULL; only its views are made. */
	mpijob *job;
	const mpijob_node *launcher; /**< The batch/v1 Job. */
	/** A v1 List, or list, of its pods, also the launcher's. */
	const mpijob_node *pods;
	/** A v1 List, or list, of Events about the job, its launcher Job and its pods. */
	const mpijob_node *events;
	const struct mpijob_log_tail *const *logs; /**< Last lines of containers. */
	size_t logs_count;                         /**< How many. */
	/** The time; 0: unknown, and nothing is said about how long things take. */
	int64_t now_ms;
};
#define MPIJOB_EVIDENCE_INIT { sizeof(struct mpijob_evidence), NULL, NULL, NULL, NULL, NULL, 0, 0 }

/**
 * Name the causes of what goes wrong with a job.
 *
 * @param evidence  not NULL.
 * @param diag      not NULL; the causes, most telling first; nothing when all looks well. A cause
 *                  that stops the job is an error, one that may yet resolve itself or wastes
 *                  something is a warning, a hint a note.
 * @return how many causes were found; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (structs);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_diagnose(const struct mpijob_evidence *evidence, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_DIAGNOSE_H */

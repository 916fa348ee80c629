/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file logs.h
 * What the containers of many pods print, line by line, as it comes.
 *
 * Pods are named, or chosen by labels, or are those of a job (mpijob_logs_of_job()); with `follow`,
 * pods that appear later are taken in too, and a stream that breaks goes on where it stood, also
 * one that stays silent although its container has ended. It runs inside of mpijob_client_poll(),
 * beside all other calls, and so also while mpijob_client_wait_job() waits.
 *
 * The labels of a job's pods: training.kubeflow.org/job-name=NAME, and
 * training.kubeflow.org/job-role=launcher or worker.
 */
#ifndef MPIJOB_LOGS_H
#define MPIJOB_LOGS_H

#include <mpijob/base.h>
#include <mpijob/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Logs under way. */
typedef struct mpijob_logs mpijob_logs;

/** One line. All pointers are borrowed for the call. */
struct mpijob_log_line {
	size_t size;           /**< `sizeof` this struct of the library. */
	const char *pod;       /**< Name of the pod. */
	const char *container; /**< Name of the container. */
	const char *text;      /**< Its bytes, without the line end; may hold any byte. */
	size_t len;            /**< How many. */
	/** 1: a line end followed; 0: the part of a line longer than 64 KiB, or the end of a log
	 * without one. */
	int32_t whole;
	int32_t attempt; /**< Restarts of the container before this one. */
};

/** Whose logs, and how much of them. */
struct mpijob_logs_options {
	size_t size;                /**< `sizeof` this struct. */
	const char *namespace_;     /**< Not NULL. */
	const char *label_selector; /**< Pods by labels; NULL: those in `pods`. */
	const char *const *pods;    /**< Pods by name; NULL: by `label_selector`. */
	size_t pods_count;          /**< How many. */
	/** NULL: the pod's annotation kubectl.kubernetes.io/default-container, else the first
	 * one. */
	const char *container;
	int32_t all_containers; /**< 1: all, init containers first. */
	/** 1: go on until the pods have ended (named ones) or until freed (chosen ones). */
	int32_t follow;
	/** 1: of the run before the last restart; nothing is followed. */
	int32_t previous;
	int32_t timestamps;        /**< 1: the server's time in front of each line. */
	const int64_t *tail_lines; /**< Only the last so many lines of what is there; NULL: all. */
	const int64_t *since_seconds; /**< Only lines of the last so many seconds; NULL: all. */
	/** Streams open at a time; others wait, and take turns with those that are followed; 0:
	 * 64. */
	int32_t max_streams;
	/** A line. Return 0, or a negative `MPIJOB_ERR_*`, which ends all. Not NULL. */
	int (*line)(void *user, const struct mpijob_log_line *line);
	/** A log cannot be had, for now (`again` 1) or for good; `code` says why. That includes a
	   node that sends an error message in place of the log (`MPIJOB_ERR_REJECTED`): the message
	   is never passed to `line`. `container` is NULL for a pod that is not there, and `pod` too
	   when pods cannot be listed. What is refused (`MPIJOB_ERR_AUTH`) after it could be had is
	    given up when nothing else has come for a minute. May itself be NULL. */
	void (*failed)(void *user, const char *pod, const char *container, int code,
	    const char *message, int again);
	void *user; /**< Passed to both. */
};
#define MPIJOB_LOGS_OPTIONS_INIT { sizeof(struct mpijob_logs_options), NULL, NULL, NULL, 0, \
	NULL, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, NULL }

/**
 * Begin to read logs; the first request leaves at the next poll.
 *
 * @param client   borrowed; must outlive the logs; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; the logs, yours.
 * @return 0; `MPIJOB_ERR_USAGE` (neither names nor labels, or both; a container and all of them; a
 *         negative number), `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_logs_new(mpijob_client *client, const struct mpijob_logs_options *options,
    mpijob_logs **out);

/**
 * Begin to read the logs of a job's pods, as mpijob_logs_new() does of pods by their labels: with
 * `follow` those of all attempts of the launcher as they come. Pods that another job of the same
 * name has left are read too.
 *
 * @param client      borrowed; must outlive the logs; not NULL.
 * @param namespace_  of the job; not NULL.
 * @param name        of the job; not NULL.
 * @param role        "launcher" or "worker"; NULL: both.
 * @param options     not NULL; copied; without namespace, labels and names of pods.
 * @param out         not NULL; the logs, yours.
 * @return as mpijob_logs_new(); `MPIJOB_ERR_USAGE` too for a name that no job can have.
 * @since 0.1
 */
MPIJOB_API int mpijob_logs_of_job(mpijob_client *client, const char *namespace_, const char *name,
    const char *role, const struct mpijob_logs_options *options, mpijob_logs **out);

/** Stop; nothing is told any more. Also from inside of its callbacks. NULL does nothing. @since 0.1
 */
MPIJOB_API void mpijob_logs_free(mpijob_logs *logs);

/** Stop (`on` 1) or go on (`on` 0) reading, for a reader that is behind; the server keeps what
 * comes. `logs` not NULL. @since 0.1 */
MPIJOB_API void mpijob_logs_pause(mpijob_logs *logs, int on);

/**
 * Tell whether more can come.
 *
 * @param logs  not NULL.
 * @return 1 while more can come; 0 when all is read; a negative `MPIJOB_ERR_*`: what `line`
 *         returned, or why the pods cannot be listed, as mpijob_watch_hopeless() has it
 *         (`MPIJOB_ERR_AUTH`), or `MPIJOB_ERR_NOT_FOUND`: none of the named pods exists.
 * @since 0.1
 */
MPIJOB_API int mpijob_logs_state(const mpijob_logs *logs);

/**
 * Count the logs of which is known that they were not read to their end yet: of containers that
 * run, or have ended and were not read. For who chose pods by labels and knows that nothing new
 * will come. A log that cannot be had for now counts: `failed` tells. That of a container which has
 * ended is given up when the server has refused it for about half a minute, or has sent nothing for
 * about three minutes, and counts no more: `failed` tells that too, with `again` 0.
 *
 * @param logs  not NULL.
 * @return the number; 0 when there is nothing to wait for as things are.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_logs_unread(const mpijob_logs *logs);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LOGS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file logs.h
 * The logs of the containers of many pods, line by line, as they arrive.
 *
 * Pods are selected by name, by labels, or as those of a job. With `follow`,
 * pods that appear later are included, and a broken stream continues at its last line; so does a
 * stream that stays silent although its container has ended. Logs run inside mpijob_client_poll(),
 * concurrently with all other calls, so also while mpijob_client_wait_job() waits.
 *
 * The labels of a job's pods: training.kubeflow.org/job-name=NAME, and
 * training.kubeflow.org/job-role=launcher or worker.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_LOGS_H
#define MPIJOB_LOGS_H

#include <mpijob/base.h>
#include <mpijob/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The logs that are being read. */
typedef struct mpijob_logs mpijob_logs;

/** One line. All pointers are borrowed for the call. */
struct mpijob_log_line {
	size_t size;           /**< `sizeof` this struct of the library. */
	const char *pod;       /**< Name of the pod. */
	const char *container; /**< Name of the container. */
	const char *text;      /**< Bytes of the line, without line feed; may contain NUL. */
	size_t len;            /**< Number of bytes. */
	/** 1: a complete line; 0: a part of a line longer than 64 KiB, or the last line without
	 * line feed. */
	int32_t whole;
	int32_t attempt; /**< Restarts of the container before this one. */
};

/** Which logs are read. */
struct mpijob_logs_options {
	size_t size;                /**< `sizeof` this struct. */
	const char *namespace_;     /**< Not NULL. */
	const char *label_selector; /**< Select pods by labels; NULL: use `pods` or `job`. */
	const char *const *pods;    /**< Names of pods; NULL: use `label_selector` or `job`. */
	size_t pods_count;          /**< Number of `pods`. */
	/** NULL: that of the pod's annotation kubectl.kubernetes.io/default-container, else the
	 * first one. */
	const char *container;
	int32_t all_containers; /**< 1: all, init containers first. */
	/** 1: continue until the pods have ended (`pods`), or until freed. */
	int32_t follow;
	/** 1: read the run before the last restart; `follow` is ignored. */
	int32_t previous;
	int32_t timestamps;           /**< 1: begin each line with the server's time. */
	const int64_t *tail_lines;    /**< Only this number of last lines; NULL: all. */
	const int64_t *since_seconds; /**< Only lines of this number of last seconds; NULL: all. */
	/** Maximum number of open streams; 0: 64. The others wait, and take turns with those that
	 * are followed. */
	int32_t max_streams;
	/** A line. Return 0, or a negative `MPIJOB_ERR_*`, which ends all logs. Not NULL. */
	int (*line)(void *user, const struct mpijob_log_line *line);
	/** A log is not available: with `again` 1 it is retried, with 0 it is given up; `code` is
	 * the error. That includes a kubelet that sends an error message instead of the log
	 * (`MPIJOB_ERR_REJECTED`); `line` never gets that message. `container` is NULL if the pod
	 * does not exist; `pod` is also NULL if pods cannot be listed. A log that was available and
	 * is then refused (`MPIJOB_ERR_AUTH`) is given up after a minute without another answer.
	 * May be NULL.
	 */
	void (*failed)(void *user, const char *pod, const char *container, int code,
	    const char *message, int again);
	void *user; /**< Passed to `line` and `failed`. */
	/** Name of a job: select its pods by their labels. With `follow`, the pods of all attempts
	 * of the launcher are included as they appear. Remaining pods of another job with the same
	 * name are included, too. NULL: use `label_selector` or `pods`. */
	const char *job;
	const char *role; /**< With `job`: "launcher" or "worker"; NULL: both. */
};
#define MPIJOB_LOGS_OPTIONS_INIT { sizeof(struct mpijob_logs_options), NULL, NULL, NULL, 0, \
	NULL, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Start to read logs. The next poll sends the first request.
 *
 * @param client   borrowed; must outlive the logs; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; receives the logs, which you free.
 * @return 0; `MPIJOB_ERR_USAGE` (not exactly one of `label_selector`, `pods` and `job`; an invalid
 *         name of a job; an unknown `role`, or one without `job`; both `container` and
 *         `all_containers`; a negative number), `MPIJOB_ERR_UNSUPPORTED` (options);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_logs_new(mpijob_client *client, const struct mpijob_logs_options *options,
    mpijob_logs **out);

/** Stop and free the logs, also from their callbacks. No callback is called afterwards. NULL does
 * nothing. @since 0.1 */
MPIJOB_API void mpijob_logs_free(mpijob_logs *logs);

/** Pause (`on` 1) or resume (`on` 0) reading, for a slow reader; the server keeps the output.
 * `logs` not NULL. @since 0.1 */
MPIJOB_API void mpijob_logs_pause(mpijob_logs *logs, int on);

/**
 * Get the state of the logs.
 *
 * `unread` counts the known logs that are not read to their end: those of containers that run, or
 * that have ended and are not completely read. It is for callers that select pods by labels or job
 * and know that no further pods appear. A log that is temporarily not available (see `failed`)
 * counts. The log of a container that has ended is given up, and no longer counts, when the server
 * has refused it for about half a minute or sent nothing for about three minutes; `failed` reports
 * that with `again` 0.
 *
 * @param logs    not NULL.
 * @param unread  receives the number of logs; 0 when there is currently nothing to wait for. May be
 *                NULL.
 * @return 1 while more lines can arrive; 0 when all is read; a negative `MPIJOB_ERR_*`: the result
 *         of `line`; the error, such as `MPIJOB_ERR_AUTH`, if listing the pods is hopeless (see
 *         struct mpijob_watch_health); `MPIJOB_ERR_NOT_FOUND` if none of the named pods exists.
 * @since 0.1
 */
MPIJOB_API int mpijob_logs_state(const mpijob_logs *logs, size_t *unread);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LOGS_H */

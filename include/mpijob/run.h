/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file run.h
 * Run an MPIJob on any cluster that a client reaches: create what it needs, follow it to its end,
 * pass on its output, and find the causes of what goes wrong with it.
 *
 * mpijob_client_submit() submits a job. A run then follows it and reports what happens as events.
 * It never blocks: it continues while mpijob_client_poll() runs, beside all other calls.
 *
 * @code
 * static void event(void *user, const struct mpijob_run_event *event)
 * {
 * 	(void)user;
 * 	if (event->kind == MPIJOB_RUN_OUTPUT && event->is_main)
 * 		printf("%.*s\n", (int)event->len, event->data);
 * }
 *
 * static int follow(mpijob_client *client, const char *name)
 * {
 * 	struct mpijob_run_options options = MPIJOB_RUN_OPTIONS_INIT;
 * 	mpijob_run *run = NULL;
 * 	int code;
 *
 * 	options.namespace_ = "default";
 * 	options.name = name;
 * 	options.event = event;
 * 	code = mpijob_run_new(client, &options, &run);
 * 	while (code == 0 && mpijob_run_state(run) > 0)
 * 		code = mpijob_client_poll(client, -1);
 * 	if (code == 0 && mpijob_run_state(run) == 0)
 * 		code = mpijob_run_get_result(run)->exit_code;
 * 	mpijob_run_free(run);
 * 	return code;
 * }
 * @endcode
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_RUN_H
#define MPIJOB_RUN_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/diagnose.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#include <mpijob/jobs.h>
#include <mpijob/tasks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name What a job needs
 * @{ */

/**
 * Tell in which order objects must be created: namespaces first, MPIJobs last.
 *
 * @param object  NULL: an unknown kind.
 * @return a number; objects with a smaller one must exist before those with a larger one.
 * @since 0.1
 */
MPIJOB_API int mpijob_run_order(const mpijob_node *object);

/**
 * Start mpijob_run_create(); the `code` of `done` is 0 or 1, its document the object.
 *
 * @param client     not NULL.
 * @param object     not NULL; copied.
 * @param options    NULL for the defaults; copied.
 * @param callbacks  NULL: for mpijob_task_wait(); copied.
 * @param out        receives the task, borrowed; may be NULL with callbacks.
 * @param diag       findings, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start(); `MPIJOB_ERR_SPEC` as mpijob_run_create().
 * @since 0.1
 */
MPIJOB_API int mpijob_run_create_start(mpijob_client *client, const mpijob_node *object,
    const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag);

/**
 * Create an object that a job needs. If it exists already and contains all that `object` says,
 * nothing is changed.
 *
 * @param client   not NULL.
 * @param object   of any kind; not NULL. Without metadata.namespace it gets the one of the options,
 *                 if its kind has namespaces.
 * @param options  as for mpijob_client_submit(); NULL for the defaults. With `apply` an object that
 *                 exists is changed.
 * @param out      the object as it is stored, yours; may be NULL.
 * @param diag     findings, or NULL.
 * @return 0: it is created or applied; 1: it exists already; as client.h; `MPIJOB_ERR_CONFLICT`: it
 *         exists and differs, or with `apply` others own fields of it; `MPIJOB_ERR_SPEC`: it has no
 *         apiVersion or kind.
 * @since 0.1
 */
static inline int mpijob_run_create(mpijob_client *client, const mpijob_node *object,
    const struct mpijob_submit_options *options, mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_run_create_start(client, object, options, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, out);
}

/** @} */
/** @name Running
 * @{ */

/** A job that is followed to its end. */
typedef struct mpijob_run mpijob_run;

/** @name Kinds of events
 * @{ */
/** `phase`, `ready` or `workers` has changed. */
#define MPIJOB_RUN_STATUS 1
/** A launcher's container, or a worker that failed, has printed `data`. */
#define MPIJOB_RUN_OUTPUT 2
/** `message` is for the user of the job: a container ended (`code` is its exit code) or waits
 * (`code` 0), or output is lost or incomplete (`code` is negative). */
#define MPIJOB_RUN_NOTICE 3
/** The connection is lost or the cluster refuses access (`code`, `message`), and the run tries
 * again; or, with `code` 0, it works again. */
#define MPIJOB_RUN_CONNECTION 4
/** The job has ended, and its output is complete: mpijob_run_get_result() does not change any more.
 */
#define MPIJOB_RUN_ENDED 5
/** `finding`: a cause of the failure, or a hint; after `MPIJOB_RUN_ENDED`. */
#define MPIJOB_RUN_FINDING 6
/** mpijob_run_state() is not 1 any more. */
#define MPIJOB_RUN_OVER 7
/** @} */

/** What has happened. All pointers are borrowed for the call; those that the kind does not use are
 * NULL. */
struct mpijob_run_event {
	size_t size;  /**< `sizeof` this struct of the library. */
	int32_t kind; /**< `MPIJOB_RUN_*`, one of the above. */
	int32_t code; /**< An exit code, or a `MPIJOB_ERR_*`. */
	/** "starting", "running", "restarting", "suspended", "succeeded", "failed", "deleted" or
	 * "stopping". */
	const char *phase;
	int32_t ready;         /**< Workers that are ready; unchanged after the end of the job. */
	int32_t workers;       /**< Workers that the job has. */
	const char *pod;       /**< Name of the pod. */
	const char *container; /**< Name of the container. */
	const char *data;      /**< Bytes, without the line end. */
	size_t len;            /**< How many. */
	/** 1: a line end followed `data`. 0: a part of a line; or, with `local`, bytes of the main
	 * container as they come. */
	int32_t whole;
	/** 1: the output of the launcher's first container, which is the output of the job. */
	int32_t is_main;
	int32_t attempt;     /**< Restarts of the container before this output. */
	const char *message; /**< One line. */
	const struct mpijob_finding *finding;
};

/** Which job is followed, and how. */
struct mpijob_run_options {
	size_t size;            /**< `sizeof` this struct. */
	const char *namespace_; /**< Of the job; not NULL. */
	const char *name;       /**< Of the job; not NULL. */
	const char *uid;        /**< Of the job; NULL: the one that has this name now. */
	/** 1: an embedded cluster (local.h) that only this run uses. Output comes as bytes, and a
	 * job that cannot succeed any more has failed: what is missing stays missing there. */
	int32_t local;
	/** An event; not NULL. It may not free the run, and may start calls but not make them at
	 * once. */
	void (*event)(void *user, const struct mpijob_run_event *event);
	void *user; /**< Passed to `event`. */
};
#define MPIJOB_RUN_OPTIONS_INIT { sizeof(struct mpijob_run_options), NULL, NULL, NULL, 0, NULL, \
	NULL }

/** @name How a job ended
 * @{ */
#define MPIJOB_RUN_UNFINISHED 0 /**< It goes on. */
#define MPIJOB_RUN_SUCCEEDED  1 /**< Its condition Succeeded is True. */
#define MPIJOB_RUN_FAILED     2 /**< Its condition Failed is True, or `given_up`. */
#define MPIJOB_RUN_DELETED    3 /**< It was deleted before it ended. */
/** @} */

/** How a job ended. Times are of the monotonic clock, in milliseconds; 0: not yet. */
struct mpijob_run_result {
	size_t size;         /**< `sizeof` this struct of the library. */
	int32_t outcome;     /**< `MPIJOB_RUN_UNFINISHED` and so on. */
	const char *reason;  /**< Of the condition; NULL: unknown. */
	const char *message; /**< Of the condition; NULL: unknown. */
	/** 1: a run of the launcher has ended by itself, with `exit_code`. */
	int32_t has_exit_code;
	int32_t exit_code; /**< Of the last run of the launcher that ended by itself. */
	/** 1: the job cannot succeed any more, see `local` of the options; it still exists. */
	int32_t given_up;
	int32_t explained;           /**< 1: `message` names the cause; there are no findings. */
	const char *running_pod;     /**< A pod with a container that runs; NULL: none. */
	int64_t ready_ms;            /**< When all workers were ready first. */
	int64_t launcher_started_ms; /**< When the launcher was observed first. */
	int64_t launcher_ended_ms;   /**< When a run of it ended last. */
	int64_t ended_ms;            /**< When the end of the job was observed. */
};

/**
 * Begin to follow a job. The first request leaves at the next poll.
 *
 * @param client   borrowed; must outlive the run; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; the run, yours.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_run_new(mpijob_client *client, const struct mpijob_run_options *options,
    mpijob_run **out);

/** Stop following; the job continues. Not from inside an event. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_run_free(mpijob_run *run);

/**
 * Query whether the run continues. A run that is over still reports changes of the job's pods.
 *
 * @param run  not NULL.
 * @return 1: it continues; 0: the job has ended, its output is complete, and the causes of a
 * failure are reported; `MPIJOB_ERR_AUTH`: the job cannot be watched; `MPIJOB_ERR_NOT_FOUND`: there
 *         is no such job; another `MPIJOB_ERR_*`: why it cannot be followed any more;
 *         `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_run_state(const mpijob_run *run);

/** Get what is known about the end of the job; borrowed until the next poll or free. NULL if `run`
 * is NULL. @since 0.1 */
MPIJOB_API const struct mpijob_run_result *mpijob_run_get_result(mpijob_run *run);

/** Stop (`on` 1) or continue (`on` 0) reading output, for a reader that is behind. The end of the
 * job is followed all the same. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_run_pause(mpijob_run *run, int on);

/**
 * Delete the job, and follow its launcher until it is deleted, too. mpijob_run_state() is 1
 * meanwhile. May be called again, with another time. Not from inside an event.
 *
 * @param run       not NULL.
 * @param grace_ms  milliseconds to wait for the launcher; negative: the termination grace period of
 *                  its template (30 seconds by default).
 * @return 0; `MPIJOB_ERR_USAGE`; a negative mpijob_run_state(); as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_run_stop(mpijob_run *run, int64_t grace_ms);

/** @} */
/** @name Causes
 * @{ */

/** Evidence that the caller has and the cluster may not show any more. */
struct mpijob_run_diagnose_options {
	size_t size; /**< `sizeof` this struct. */
	/** The last lines of a pod, used if the cluster does not show its log; or NULL. */
	const struct mpijob_log_tail *log;
	/** A pod of the job as it was last, used if the cluster does not have it; or NULL. */
	const mpijob_node *pod;
};
#define MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT { sizeof(struct mpijob_run_diagnose_options), NULL, NULL }

/**
 * Start mpijob_run_diagnose(); `done` gets the number of causes as its `code`, the job, and the
 * evidence as its document.
 *
 * @param client      not NULL.
 * @param namespace_  not NULL.
 * @param name        not NULL.
 * @param options     NULL for the defaults; copied.
 * @param callbacks   NULL: for mpijob_task_wait(); copied.
 * @param out         receives the task, borrowed; may be NULL with callbacks.
 * @param diag        the causes or why it fails, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_run_diagnose_start(mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_run_diagnose_options *options,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Collect evidence about a job (the job, its launcher Job, its pods, Events, the last lines of some
 * logs) and find the causes of what goes wrong with it. Only the job must be readable.
 *
 * @param client      not NULL.
 * @param namespace_  of the job; not NULL.
 * @param name        of the job; not NULL.
 * @param options     NULL for the defaults.
 * @param job         the job, yours; may be NULL.
 * @param evidence    yours; may be NULL. A map: `launcher` (the Job; absent if it does not exist),
 *                    `pods` and `events` (lists, as `kubectl get -o json` prints; absent if they
 *                    cannot be read), `missing` (what cannot be read, each with the reason).
 * @param diag        the causes, as mpijob_diagnose() reports them, or why the call fails; may be
 *                    NULL.
 * @return the number of causes; as client.h: why the job cannot be read;
 *         `MPIJOB_ERR_UNSUPPORTED` (structs).
 * @since 0.1
 */
static inline int mpijob_run_diagnose(mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_run_diagnose_options *options, mpijob **job,
    mpijob_doc **evidence, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_run_diagnose_start(client, namespace_, name, options, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, job, evidence);
}

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_RUN_H */

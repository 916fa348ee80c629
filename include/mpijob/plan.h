/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h
 * The controller as a function. Its inputs are a job and the observed facts about its children; its
 * results are actions, the new status, and the time of the next plan.
 *
 * These functions do no I/O. A controller of any kind passes its watch events to mpijob_observe()
 * and mpijob_facts_apply(), makes a plan, executes the actions, applies their results to the facts,
 * and makes the next plan:
 *
 *     events --> mpijob_observe --> mpijob_facts --+
 *                                    job, now -----+--> mpijob_plan --> actions, status, next_ms
 *
 * These rules hold for every plan: if nothing changed, it has no actions; a finished job stays
 * finished; the same inputs give the same plan; after a part of a plan was executed, a new plan
 * leads to the same final state. The actions of one stage are independent of each other. Stages are
 * executed in order; a stage begins when all actions of the previous one have succeeded.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_PLAN_H
#define MPIJOB_PLAN_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/job.h>
#include <mpijob/render.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Facts about the children
 * @{ */

#define MPIJOB_POD_PENDING   1 /**< Accepted, but not all containers run yet. */
#define MPIJOB_POD_RUNNING   2 /**< Bound to a node, at least one container runs. */
#define MPIJOB_POD_SUCCEEDED 3 /**< All containers ended with exit code 0. */
/** All containers ended, at least one of them with another exit code, or the pod was evicted. */
#define MPIJOB_POD_FAILED  4
#define MPIJOB_POD_UNKNOWN 5 /**< The node does not answer. */

/** A worker pod or launcher pod. */
struct mpijob_pod_facts {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< metadata.name; not NULL. */
	const char *uid;  /**< metadata.uid; not NULL. */
	/** UID of its controller: the MPIJob (worker) or the launcher Job; NULL without a
	 * controller. */
	const char *owner_uid;
	int32_t role;     /**< `MPIJOB_ROLE_WORKER` or `MPIJOB_ROLE_LAUNCHER`. */
	int32_t index;    /**< Index in the name of a worker; -1: no index. */
	int32_t phase;    /**< `MPIJOB_POD_*`; 0: unknown. */
	int32_t ready;    /**< 1 when its condition Ready is True. */
	int32_t deleting; /**< 1 when it has a deletionTimestamp. */
	/** Exit code of the first container that ended with another code than 0; 0 if all ended
	 * with 0; -1 if no container ended. If a container failed, was restarted and then was
	 * stopped from outside, it is the exit code of the failure. */
	int32_t exit_code;
	/** status.reason, else the reason of that container; NULL when absent. */
	const char *reason;
	/** status.message, else the message of that container; NULL when absent. */
	const char *message;
	const char *node;   /**< spec.nodeName; NULL when not scheduled. */
	int64_t created_ms; /**< metadata.creationTimestamp; 0 when absent. */
	/** Start time of its first running container, or of the pod; 0 when absent. */
	int64_t running_since_ms;
	/** End time of the container that `exit_code` is about; 0 when absent. */
	int64_t ended_ms;
};
#define MPIJOB_POD_FACTS_INIT { sizeof(struct mpijob_pod_facts), NULL, NULL, NULL, 0, -1, 0, 0, \
	0, -1, NULL, NULL, NULL, 0, 0, 0 }

/** The batch/v1 Job of the launcher. */
struct mpijob_launcher_facts {
	size_t size;           /**< `sizeof` this struct. */
	const char *name;      /**< metadata.name; not NULL. */
	const char *uid;       /**< metadata.uid; not NULL. */
	const char *owner_uid; /**< UID of its controller; NULL without one. */
	/** metadata.resourceVersion; NULL when absent: then the patch that suspends the Job has no
	 * resourceVersion. */
	const char *resource_version;
	int32_t deleting;           /**< 1 when it has a deletionTimestamp. */
	int32_t suspended;          /**< spec.suspend. */
	int32_t complete;           /**< 1 when its condition Complete is True. */
	int32_t has_failed;         /**< 1 when its condition Failed is True. */
	const char *failed_reason;  /**< Reason of the condition Failed; NULL when absent. */
	const char *failed_message; /**< Message of the condition Failed; NULL when absent. */
	int32_t active;             /**< status.active. */
	int32_t succeeded;          /**< status.succeeded. */
	int32_t failed;             /**< status.failed: failed attempts. */
	int64_t start_ms;           /**< status.startTime; 0 when absent. */
	int64_t completion_ms;      /**< status.completionTime; 0 when absent. */
	/** Digest of the template's labels, annotations, node selector, tolerations and scheduling
	 * gates, computed by mpijob_observe(). */
	uint64_t directives;
	const mpijob_node *node_selector; /**< The template's nodeSelector; NULL when absent. */
};
#define MPIJOB_LAUNCHER_FACTS_INIT { sizeof(struct mpijob_launcher_facts), NULL, NULL, NULL, \
	NULL, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL }

/** Another child: Service, ConfigMap, Secret, PodGroup or NetworkPolicy. */
struct mpijob_child_facts {
	size_t size; /**< `sizeof` this struct. */
	/** `MPIJOB_ROLE_SERVICE`, `_CONFIG_MAP`, `_SECRET`, `_POD_GROUP` or `_NETWORK_POLICY`. */
	int32_t role;
	const char *name;      /**< metadata.name; not NULL. */
	const char *uid;       /**< metadata.uid; not NULL. */
	const char *owner_uid; /**< UID of its controller; NULL without one. */
	int32_t deleting;      /**< 1 when it has a deletionTimestamp. */
	/** Digest of the fields that the operator sets, computed by mpijob_observe(): for a
	 * ConfigMap the hostfile, for a Secret whether both keys exist. */
	uint64_t digest;
	uint64_t listed;      /**< ConfigMap: digest of the set of hosts in discover_hosts.sh. */
	int32_t listed_count; /**< ConfigMap: number of these hosts. */
	/** ConfigMap: one byte for each worker, 1 if discover_hosts.sh lists it; NULL: unknown. */
	const uint8_t *listed_workers;
	/** Bytes in `listed_workers`; later workers are not listed. */
	size_t listed_workers_count;
	/** Service: spec.selector; PodGroup: spec.minResources; NetworkPolicy:
	 * spec.podSelector.matchLabels; NULL when absent. A patch removes its unexpected keys. */
	const mpijob_node *owned;
};
#define MPIJOB_CHILD_FACTS_INIT { sizeof(struct mpijob_child_facts), 0, NULL, NULL, NULL, 0, 0, \
	0, 0, NULL, 0, NULL }

#define MPIJOB_EVENT_NONE     0 /**< The text was an object, not a watch event. */
#define MPIJOB_EVENT_ADDED    1 /**< "ADDED" */
#define MPIJOB_EVENT_MODIFIED 2 /**< "MODIFIED" */
#define MPIJOB_EVENT_DELETED  3 /**< "DELETED" */
#define MPIJOB_EVENT_BOOKMARK 4 /**< "BOOKMARK": only `resource_version` is meaningful. */
/** "ERROR": `code`, `reason` and `message` are from the Status. */
#define MPIJOB_EVENT_ERROR 5

/** The fields of one object or watch event that a controller needs. */
typedef struct mpijob_observation mpijob_observation;

/** The contents of an observation. All pointers are borrowed from it until the next
 * mpijob_observe(). */
struct mpijob_observed {
	size_t size;                  /**< `sizeof` this struct of the library. */
	int32_t event;                /**< `MPIJOB_EVENT_*`. */
	const char *api_version;      /**< NULL when absent. */
	const char *kind;             /**< NULL when absent. */
	const char *namespace_;       /**< metadata.namespace; NULL when absent. */
	const char *name;             /**< metadata.name; NULL when absent. */
	const char *uid;              /**< metadata.uid; NULL when absent. */
	const char *resource_version; /**< metadata.resourceVersion; NULL when absent. */
	/** From the owner reference with `controller: true`; NULL without one. */
	const char *owner_api_version;
	const char *owner_kind; /**< Likewise. */
	const char *owner_name; /**< Likewise. */
	const char *owner_uid;  /**< Likewise. */
	/** Label training.kubeflow.org/job-name; NULL when absent. */
	const char *job_name;
	int32_t deleting;           /**< 1 when it has a deletionTimestamp. */
	int32_t code;               /**< Status: code; 0 when absent. */
	const char *reason;         /**< Status: reason; NULL when absent. */
	const char *message;        /**< Status: message; NULL when absent. */
	int32_t initial_events_end; /**< Bookmark with annotation k8s.io/initial-events-end. */
	/** A Pod with the role label of a job's pod, or without it but with the name of a worker
	 * ("...-worker-0"); else NULL. */
	const struct mpijob_pod_facts *pod;
	const struct mpijob_launcher_facts *launcher; /**< A batch/v1 Job; else NULL. */
	/** A Service, ConfigMap, Secret, PodGroup or NetworkPolicy; else NULL. */
	const struct mpijob_child_facts *child;
	int32_t priority_value; /**< PriorityClass: its value. */
	int32_t reserved;       /**< 0; fills the struct. */
};

/**
 * Make an empty observation. It can be reused for many objects.
 *
 * @return the observation, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_observation *mpijob_observation_new(void);

/** Free an observation; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_observation_free(mpijob_observation *observation);

/**
 * Read one object, or one watch event with its object, from its JSON text. No tree is built.
 *
 * The items of a list from an API server have no kind. Put such an item into an event that names
 * it: `{"type":"ADDED","apiVersion":"v1","kind":"Pod","object":ITEM}`.
 *
 * @param observation  not NULL; its previous contents are discarded, also on failure.
 * @param json         one JSON value; not NULL.
 * @param len          how many bytes.
 * @param out          not NULL; receives the contents, borrowed until the next mpijob_observe() on
 *                     `observation`; NULL on failure.
 * @param diag         findings, or NULL.
 * @return 0; `MPIJOB_ERR_SYNTAX`; `MPIJOB_ERR_SPEC` (a field has a wrong type); `MPIJOB_ERR_NOMEM`;
 *         `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_observe(mpijob_observation *observation, const char *json, size_t len,
    const struct mpijob_observed **out, mpijob_diag *diag);

/** The facts about the children of one job. */
typedef struct mpijob_facts mpijob_facts;

/** Make empty facts; yours; NULL when memory ran out. @since 0.1 */
MPIJOB_API mpijob_facts *mpijob_facts_new(void);

/** Free facts; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_facts_free(mpijob_facts *facts);

/**
 * Apply an observation: add or replace the facts about its object, or remove them if the object was
 * deleted.
 *
 * An object of another kind is ignored. The caller decides by the owner whether the object belongs
 * to this job. It must also apply foreign objects that have the name of a child: the plan reports
 * the name conflict.
 *
 * @param facts     not NULL; unchanged on failure.
 * @param observed  not NULL; copied. A caller may fill it itself: with `pod`, `launcher` or
 * `child`.
 * @return 1 if the facts changed, 0 if they did not; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (no
 *         name or uid, no such role, a time beyond 2^53 ms); `MPIJOB_ERR_UNSUPPORTED` (a struct's
 *         size).
 * @since 0.1
 */
MPIJOB_API int mpijob_facts_apply(mpijob_facts *facts, const struct mpijob_observed *observed);

/**
 * Remove the facts about an object. The result of a removed launcher Job is kept until another one
 * is applied.
 *
 * @param facts  not NULL.
 * @param uid    not NULL.
 * @return 1 if it was known, else 0; `MPIJOB_ERR_USAGE` (NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_facts_forget(mpijob_facts *facts, const char *uid);

/**
 * Find a pod by its name.
 *
 * @param facts  not NULL.
 * @param role   `MPIJOB_ROLE_WORKER` or `MPIJOB_ROLE_LAUNCHER`.
 * @param index  as in struct mpijob_pod_facts.
 * @param name   not NULL.
 * @param out    not NULL; its position for mpijob_facts_pod_at(), until the facts change.
 * @return 1 when the pod is known, else 0; `MPIJOB_ERR_USAGE` (NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_facts_pod_find(const mpijob_facts *facts, int32_t role, int32_t index,
    const char *name, size_t *out);
/** Get one pod, sorted by role, then index, then name. Borrowed until the facts change; NULL
 * after the last pod, or when memory ran out. @since 0.1 */
MPIJOB_API const struct mpijob_pod_facts *mpijob_facts_pod_at(mpijob_facts *facts, size_t index);
/** Get the launcher Job: borrowed until the facts change; NULL if it is not known. @since 0.1 */
MPIJOB_API const struct mpijob_launcher_facts *mpijob_facts_launcher(const mpijob_facts *facts);
/** Get another child by its `MPIJOB_ROLE_*`: borrowed until the facts change; NULL if it is not
 * known. @since 0.1 */
MPIJOB_API const struct mpijob_child_facts *mpijob_facts_child(const mpijob_facts *facts,
    int32_t role);

/** @} */
/** @name The plan
 * @{ */

/** Inputs of a plan besides the job and the facts. */
struct mpijob_plan_options {
	size_t size;    /**< `sizeof` this struct. */
	int64_t now_ms; /**< The current time; not before 1970 and not after the year 9999. */
	/** How children are rendered; NULL for the defaults. `entropy` and `running` are ignored:
	 * the key is made when the body of the Secret is written, the running workers are facts. */
	const struct mpijob_render_options *render;
	/** A job with more workers is rejected like an invalid one if it has not started. A job
	 * that has started keeps its workers but gets no more. 0: no limit. */
	int32_t max_workers;
	/** The findings of mpijob_validate() for this job, after mpijob_default(), both with the
	 * `reference` of `render`. The plan then does not validate the job again; an error among
	 * the findings rejects the job. Borrowed for the call. NULL: the plan validates the job. */
	const mpijob_diag *validated;
	/** Milliseconds that the launcher waits until the DNS names of all workers resolve, counted
	 * from the time when all workers are ready. If they are not ready, it starts ten seconds
	 * after the first worker was created. 0: it does not wait. At most one day. No effect with
	 * `reference`. */
	int64_t launcher_hold_ms;
	/** When `awaited_names` of a plan was first not 0, in milliseconds since 1970; 0: not yet.
	 */
	int64_t workers_ready_ms;
	int32_t names_known; /**< 1: the names of all workers resolve; 0: unknown. */
	int32_t reserved;    /**< 0; fills the struct. */
};
#define MPIJOB_PLAN_OPTIONS_INIT { sizeof(struct mpijob_plan_options), 0, NULL, 0, NULL, 0, 0, 0, \
	0 }

/** The actions for one job, and its new status. */
typedef struct mpijob_plan mpijob_plan;

/** Create the child; on AlreadyExists read it, then plan again. */
#define MPIJOB_ACTION_CREATE 1
/** Send a JSON merge patch to the child; on Conflict read it, then plan again. */
#define MPIJOB_ACTION_PATCH 2
/** Send a JSON merge patch to the status of the job or of the launcher Job. */
#define MPIJOB_ACTION_PATCH_STATUS 3
/** Delete the object, with its uid as precondition; NotFound is success. With the feature
 * `ttl_deletes_job` the object may be the MPIJob itself. */
#define MPIJOB_ACTION_DELETE 4
#define MPIJOB_ACTION_EVENT  5 /**< Report an Event about the job. */

/** An object to read from the API server before an action. Strings are borrowed from the plan. */
struct mpijob_fresh_read {
	size_t size;             /**< `sizeof` this struct of the library. */
	int32_t role;            /**< `MPIJOB_ROLE_*`; 0 for the job itself. */
	const char *api_version; /**< Of the object. */
	const char *kind;        /**< Likewise. */
	const char *name;        /**< Likewise. */
	const char *uid;         /**< UID that is expected; NULL: the object should not exist. */
};

/** One action. Strings are borrowed from the plan. */
struct mpijob_action {
	size_t size;   /**< `sizeof` this struct of the library. */
	int32_t verb;  /**< `MPIJOB_ACTION_*`. */
	int32_t stage; /**< From 0; actions of one stage are independent. */
	/** `MPIJOB_ROLE_*` of the child; 0 for the job itself. A Pod of `MPIJOB_ROLE_LAUNCHER` is a
	 * pod of the launcher Job. */
	int32_t role;
	int32_t index;           /**< Index of a worker; -1 for all else. */
	const char *api_version; /**< Of the object; of an Event: of the MPIJob. */
	const char *kind;        /**< Likewise. */
	const char *name;        /**< Likewise. */
	const char *uid;         /**< UID that the object must have; NULL for a create. */
	/** One sentence for users: the reason of the action. Never NULL. */
	const char *why;
	/** Of an Event, or of the one to report after this action: "Normal" or "Warning"; NULL:
	 * there is none. */
	const char *event_type;
	const char *event_reason;  /**< Likewise: its reason, or NULL. */
	const char *event_message; /**< Likewise: its message, or NULL. */
	/** Objects to read from the API server before the action: it cannot be undone, and the
	 * facts may be stale. Skip those that a response confirmed a moment ago. If one of them is
	 * not as expected, or the job has changed, apply that to the facts and plan again. */
	const struct mpijob_fresh_read *const *fresh_reads;
	size_t fresh_reads_count; /**< How many. */
	/** Identifier in docs/differences.md of the deliberate difference from mpi-operator v0.8.2
	 * that the action follows from; NULL when none is known. */
	const char *difference;
};

#define MPIJOB_TRANSITION_CREATED   1 /**< The job got the condition Created. */
#define MPIJOB_TRANSITION_SUCCEEDED 2 /**< The job became Succeeded. */
#define MPIJOB_TRANSITION_FAILED    4 /**< The job became Failed. */

/** What a plan contains besides its actions. Everything is borrowed from the plan. */
struct mpijob_plan_result {
	size_t size;          /**< `sizeof` this struct of the library. */
	size_t actions_count; /**< Number of actions. */
	/** The status that the job has after the plan was executed; not NULL. */
	const struct mpijob_status *status;
	/** The earliest time at which a new plan could differ although no fact changed, in
	 * milliseconds since 1970; 0: only changed facts lead to another plan. */
	int64_t next_ms;
	/** Number of workers whose DNS names the launcher waits for: all workers are ready, and no
	 * launcher runs. 0: it does not wait for names, or there is no `launcher_hold_ms`. */
	int32_t awaited_names;
	/** The transitions that the plan makes, for metrics: `MPIJOB_TRANSITION_*`, combined with
	 * bitwise or. */
	int32_t transitions;
};

/**
 * Make a plan.
 *
 * A copy of the job is defaulted and validated. The plan for an invalid job has one Event and no
 * other action, as in mpi-operator, unless the feature `fail_invalid` is on.
 *
 * @param job      not NULL; as stored in the cluster, with uid and namespace; copied as far as
 *                 needed.
 * @param facts    not NULL; copied as far as needed.
 * @param options  not NULL.
 * @param out      not NULL; receives the plan, yours.
 * @param diag     findings of the validation, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE` (no uid, no name, options); `MPIJOB_ERR_UNSUPPORTED` (options);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_plan_new(const mpijob *job, const mpijob_facts *facts,
    const struct mpijob_plan_options *options, mpijob_plan **out, mpijob_diag *diag);

/** Free a plan; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_plan_free(mpijob_plan *plan);

/**
 * Get one action.
 *
 * @param plan   not NULL.
 * @param index  from 0; sorted by stage.
 * @return borrowed until the plan is freed; NULL after the last action.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_action *mpijob_plan_at(const mpijob_plan *plan, size_t index);

/**
 * Write the body of a create or patch as compact JSON. It is rendered by this call, which caches
 * data in the plan: do not call it on several threads at the same time for one plan.
 *
 * @param plan         not NULL.
 * @param index        index of the action.
 * @param entropy      `MPIJOB_SSH_ENTROPY` random bytes if the action creates the Secret or repairs
 *                     its keys; else ignored and may be NULL.
 * @param entropy_len  number of bytes.
 * @param write        the sink; not NULL; it receives the private key if the body is that of the
 *                     Secret.
 * @param user         passed to the sink.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such action, or it has no body); `MPIJOB_ERR_USAGE` (no
 *         entropy); `MPIJOB_ERR_SPEC` (the ConfigMap would exceed 1 MiB); `MPIJOB_ERR_UNSUPPORTED`
 *         (libcrypto has no P-521); `MPIJOB_ERR_NOMEM`; what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_plan_write_body(const mpijob_plan *plan, size_t index, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user);

/**
 * Get what the plan contains besides its actions.
 *
 * @param plan  not NULL.
 * @return borrowed until the plan is freed; NULL only if `plan` is NULL.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_plan_result *mpijob_plan_get_result(const mpijob_plan *plan);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_PLAN_H */

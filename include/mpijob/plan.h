/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h
 * The controller as a function: a job and what is observed of its children go in; what to do, the
 * new status, and when to look again come out.
 *
 * Nothing here talks to a cluster. A controller of any kind feeds what its watches deliver
 * (mpijob_observe(), mpijob_facts_apply()), asks for a plan, carries the actions out, feeds what
 * comes of them, and asks again:
 *
 *     events --> mpijob_observe --> mpijob_facts --+
 *                                    job, now -----+--> mpijob_plan --> actions, status, next_ms
 *
 * What holds for every plan: when nothing changed there is nothing to do; a finished job stays
 * finished; the same inputs give the same plan; after any part of a plan was carried out, a new
 * plan leads to the same end. Actions of one stage are independent of each other; stages follow
 * in order, and a stage is begun when the one before it was carried out without a failure.
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

/** @name What is known of the children
 * @{ */

#define MPIJOB_POD_PENDING   1 /**< Accepted, not all containers run yet. */
#define MPIJOB_POD_RUNNING   2 /**< Bound to a node, at least one container runs. */
#define MPIJOB_POD_SUCCEEDED 3 /**< All containers ended with 0. */
/** All containers ended, one of them not with 0, or the pod was evicted. */
#define MPIJOB_POD_FAILED  4
#define MPIJOB_POD_UNKNOWN 5 /**< The node does not answer. */

/** A pod, of a worker or of the launcher. */
struct mpijob_pod_facts {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< metadata.name; not NULL. */
	const char *uid;  /**< metadata.uid; not NULL. */
	/** UID of its controller: the MPIJob (worker) or the launcher Job; NULL when none. */
	const char *owner_uid;
	int32_t role;     /**< `MPIJOB_ROLE_WORKER` or `MPIJOB_ROLE_LAUNCHER`. */
	int32_t index;    /**< Index in a worker's name; -1 for none. */
	int32_t phase;    /**< `MPIJOB_POD_*`; 0: not told. */
	int32_t ready;    /**< 1 when its condition Ready is True. */
	int32_t deleting; /**< 1 when it has a deletionTimestamp. */
	/** Of the first container that ended with another code than 0; 0 when all ended well; -1
	 * when none ended. Of one that failed, was started again and stopped from outside: how it
	 * failed. */
	int32_t exit_code;
	/** status.reason, else the reason of that container; NULL when absent. */
	const char *reason;
	/** status.message, else the message of that container; NULL when absent. */
	const char *message;
	const char *node;   /**< spec.nodeName; NULL when not bound. */
	int64_t created_ms; /**< metadata.creationTimestamp; 0 when absent. */
	/** Start of its first container that runs, or of the pod; 0 when absent. */
	int64_t running_since_ms;
	/** When the container ended that `exit_code` is of; 0 when absent. */
	int64_t ended_ms;
};
#define MPIJOB_POD_FACTS_INIT { sizeof(struct mpijob_pod_facts), NULL, NULL, NULL, 0, -1, 0, 0, \
	0, -1, NULL, NULL, NULL, 0, 0, 0 }

/** The batch/v1 Job of the launcher. */
struct mpijob_launcher_facts {
	size_t size;           /**< `sizeof` this struct. */
	const char *name;      /**< metadata.name; not NULL. */
	const char *uid;       /**< metadata.uid; not NULL. */
	const char *owner_uid; /**< UID of its controller; NULL when none. */
	/** metadata.resourceVersion; NULL when absent: then a patch that stops the Job does not
	 * depend on its version. */
	const char *resource_version;
	int32_t deleting;           /**< 1 when it has a deletionTimestamp. */
	int32_t suspended;          /**< spec.suspend. */
	int32_t complete;           /**< 1 when its condition Complete is True. */
	int32_t has_failed;         /**< 1 when its condition Failed is True. */
	const char *failed_reason;  /**< Reason of the condition Failed; NULL when absent. */
	const char *failed_message; /**< Message of the condition Failed; NULL when absent. */
	int32_t active;             /**< status.active. */
	int32_t succeeded;          /**< status.succeeded. */
	int32_t failed;             /**< status.failed: attempts that failed. */
	int64_t start_ms;           /**< status.startTime; 0 when absent. */
	int64_t completion_ms;      /**< status.completionTime; 0 when absent. */
	/** Digest over the template's labels, annotations, node selector, tolerations and
	 * scheduling gates, as mpijob_observe() makes it. */
	uint64_t directives;
	const mpijob_node *node_selector; /**< The template's nodeSelector; NULL when absent. */
};
#define MPIJOB_LAUNCHER_FACTS_INIT { sizeof(struct mpijob_launcher_facts), NULL, NULL, NULL, \
	NULL, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL }

/** One of the other children: Service, ConfigMap, Secret, PodGroup, NetworkPolicy. */
struct mpijob_child_facts {
	size_t size; /**< `sizeof` this struct. */
	/** `MPIJOB_ROLE_SERVICE`, `_CONFIG_MAP`, `_SECRET`, `_POD_GROUP` or `_NETWORK_POLICY`. */
	int32_t role;
	const char *name;      /**< metadata.name; not NULL. */
	const char *uid;       /**< metadata.uid; not NULL. */
	const char *owner_uid; /**< UID of its controller; NULL when none. */
	int32_t deleting;      /**< 1 when it has a deletionTimestamp. */
	/** Over the fields that we own, as mpijob_observe() makes it; for a ConfigMap the hostfile,
	 * for a Secret whether both keys exist. */
	uint64_t digest;
	uint64_t listed;      /**< ConfigMap: digest over the set of hosts in discover_hosts.sh. */
	int32_t listed_count; /**< ConfigMap: how many hosts those are. */
	/** ConfigMap: one byte a worker, 1 where discover_hosts.sh lists it; NULL: not known. */
	const uint8_t *listed_workers;
	/** Bytes in `listed_workers`; workers beyond are not listed. */
	size_t listed_workers_count;
	/** Service: spec.selector; PodGroup: spec.minResources; NetworkPolicy:
	 * spec.podSelector.matchLabels; NULL when absent. A patch removes the keys of it that do
	 * not belong there. */
	const mpijob_node *owned;
};
#define MPIJOB_CHILD_FACTS_INIT { sizeof(struct mpijob_child_facts), 0, NULL, NULL, NULL, 0, 0, \
	0, 0, NULL, 0, NULL }

#define MPIJOB_EVENT_NONE     0 /**< The text was an object, not a watch event. */
#define MPIJOB_EVENT_ADDED    1 /**< "ADDED" */
#define MPIJOB_EVENT_MODIFIED 2 /**< "MODIFIED" */
#define MPIJOB_EVENT_DELETED  3 /**< "DELETED" */
#define MPIJOB_EVENT_BOOKMARK 4 /**< "BOOKMARK": only `resource_version` counts. */
/** "ERROR": `code`, `reason` and `message` are those of the Status. */
#define MPIJOB_EVENT_ERROR 5

/** The projection of one object or watch event: the few fields that a controller needs. */
typedef struct mpijob_observation mpijob_observation;

/** What an observation holds. All pointers are borrowed from it until the next mpijob_observe() on
 * it. */
struct mpijob_observed {
	size_t size;                  /**< `sizeof` this struct of the library. */
	int32_t event;                /**< `MPIJOB_EVENT_*`. */
	const char *api_version;      /**< NULL when absent. */
	const char *kind;             /**< NULL when absent. */
	const char *namespace_;       /**< metadata.namespace; NULL when absent. */
	const char *name;             /**< metadata.name; NULL when absent. */
	const char *uid;              /**< metadata.uid; NULL when absent. */
	const char *resource_version; /**< metadata.resourceVersion; NULL when absent. */
	/** Of the owner reference with `controller: true`; NULL when none. */
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
	/** A Pod with the role label of a job's pod, or else with the name of a worker
	 * ("...-worker-0"); else NULL. */
	const struct mpijob_pod_facts *pod;
	const struct mpijob_launcher_facts *launcher; /**< A batch/v1 Job; else NULL. */
	/** A Service, ConfigMap, Secret, PodGroup or NetworkPolicy; else NULL. */
	const struct mpijob_child_facts *child;
	int32_t priority_value; /**< A PriorityClass: its value. */
};

/**
 * Make an empty observation, to be used again and again.
 *
 * @return the observation, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_observation *mpijob_observation_new(void);

/** Free an observation; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_observation_free(mpijob_observation *observation);

/**
 * Project one object, or one watch event around an object, from its JSON text. No tree is built.
 *
 * The items of a list that an API server sends do not name their kind. Put such an item into an
 * event that does: `{"type":"ADDED","apiVersion":"v1","kind":"Pod","object":ITEM}`.
 *
 * @param observation  not NULL; what it held before is gone, also on failure.
 * @param json         one JSON value; not NULL.
 * @param len          how many bytes.
 * @param diag         findings, or NULL.
 * @return 0; `MPIJOB_ERR_SYNTAX`; `MPIJOB_ERR_SPEC` (a field has a wrong type); `MPIJOB_ERR_NOMEM`;
 *         `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_observe(mpijob_observation *observation, const char *json, size_t len,
    mpijob_diag *diag);

/**
 * Look at what was observed.
 *
 * @param observation  not NULL.
 * @return borrowed until the next mpijob_observe() on it; NULL without an observation.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_observed *mpijob_observation_view(
    const mpijob_observation *observation);

/** All that is known of one job's children. */
typedef struct mpijob_facts mpijob_facts;

/** Make empty facts; yours; NULL when memory ran out. @since 0.1 */
MPIJOB_API mpijob_facts *mpijob_facts_new(void);

/** Free facts; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_facts_free(mpijob_facts *facts);

/**
 * Take in an observation: add or replace what it tells, or forget the object when it was deleted.
 *
 * An object of another kind is ignored. Whether the object belongs to this job is the caller's to
 * decide by owner; an object with a child's name but another owner belongs here too: the plan
 * reports it.
 *
 * @param facts     not NULL; unchanged on failure.
 * @param observed  not NULL; copied.
 * @return 1 when the facts changed, 0 when they already said so or do not care; `MPIJOB_ERR_NOMEM`;
 *         `MPIJOB_ERR_USAGE` (no name or uid, no such role, a time beyond 2^53 ms);
 *         `MPIJOB_ERR_UNSUPPORTED` (a struct's size).
 * @since 0.1
 */
MPIJOB_API int mpijob_facts_apply(mpijob_facts *facts, const struct mpijob_observed *observed);

/**
 * Forget an object. How the launcher Job ended stays known to the plan until there is another one.
 *
 * @param facts  not NULL.
 * @param uid    not NULL.
 * @return 1 when it was known, else 0; `MPIJOB_ERR_USAGE` (NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_facts_forget(mpijob_facts *facts, const char *uid);

/** Add or replace a pod by its uid; `pod` is copied. @return as mpijob_facts_apply(). @since 0.1 */
MPIJOB_API int mpijob_facts_put_pod(mpijob_facts *facts, const struct mpijob_pod_facts *pod);
/** Set the launcher Job; `launcher` is copied. @return as mpijob_facts_apply(). @since 0.1 */
MPIJOB_API int mpijob_facts_put_launcher(mpijob_facts *facts,
    const struct mpijob_launcher_facts *launcher);
/** Set one of the other children by its role; `child` is copied. @return as mpijob_facts_apply().
 * @since 0.1 */
MPIJOB_API int mpijob_facts_put_child(mpijob_facts *facts, const struct mpijob_child_facts *child);

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
/** Count the pods. `facts` not NULL. @since 0.1 */
MPIJOB_API size_t mpijob_facts_pod_count(const mpijob_facts *facts);
/** Look at one pod: borrowed until the facts change; NULL when there is none, or memory ran out.
 * The order is by role, then index, then name. @since 0.1 */
MPIJOB_API const struct mpijob_pod_facts *mpijob_facts_pod_at(mpijob_facts *facts, size_t index);
/** Look at the launcher Job: borrowed until the facts change; NULL when there is none. @since 0.1
 */
MPIJOB_API const struct mpijob_launcher_facts *mpijob_facts_launcher(const mpijob_facts *facts);
/** Look at a child by `MPIJOB_ROLE_*`: borrowed until the facts change; NULL when there is none.
 * @since 0.1 */
MPIJOB_API const struct mpijob_child_facts *mpijob_facts_child(const mpijob_facts *facts,
    int32_t role);

/** @} */
/** @name The plan
 * @{ */

/** What a plan depends on besides the job and the facts. */
struct mpijob_plan_options {
	size_t size;    /**< `sizeof` this struct. */
	int64_t now_ms; /**< The time now; not before 1970 and not after the year 9999. */
	/** How children are rendered; NULL for the defaults. Its `entropy` and `running` are
	 * ignored: the key is made when an action is carried out, the running hosts are facts. */
	const struct mpijob_render_options *render;
	/** A job that wants more workers is refused before it begins, as an invalid one; one that
	 * has begun gets no further ones, and keeps what it has; 0: no limit. */
	int32_t max_workers;
	/** What mpijob_validate() reported of this very job, after mpijob_default(), both with the
	 * `reference` of `render`: it is not validated again, and is refused where an error is
	 * among the findings. Borrowed for the call. NULL: validate. */
	const mpijob_diag *validated;
	/** The launcher starts when the DNS names of all workers resolve, at the latest so many
	 * milliseconds after all workers were ready, and ten seconds after the first worker was
	 * created if they are not; 0: it does not wait. At most a day. No effect with
	 * `reference`. */
	int64_t launcher_hold_ms;
	/** When the caller first saw mpijob_plan_awaits_names(), in milliseconds since 1970; 0: not
	 * yet. */
	int64_t workers_ready_ms;
	int32_t names_known; /**< 1: the names of all workers resolve; 0: this is not known. */
};
#define MPIJOB_PLAN_OPTIONS_INIT { sizeof(struct mpijob_plan_options), 0, NULL, 0, NULL, 0, 0, 0 }

/** What to do next about one job. */
typedef struct mpijob_plan mpijob_plan;

/** Create the child; AlreadyExists: look at it, then plan again. */
#define MPIJOB_ACTION_CREATE 1
/** Send a JSON merge patch to the child; Conflict: look at it, then plan again. */
#define MPIJOB_ACTION_PATCH 2
/** Send a JSON merge patch to the status of the job or of the launcher Job. */
#define MPIJOB_ACTION_PATCH_STATUS 3
/** Delete the object, with its uid as precondition; NotFound is fine. With the feature
 * `ttl_deletes_job` it may be the MPIJob itself. */
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
	/** `MPIJOB_ROLE_*` of the child; 0 for the job itself. A Pod of `MPIJOB_ROLE_LAUNCHER` is
	 * one of the launcher Job's. */
	int32_t role;
	int32_t index;             /**< Index of a worker; -1 for all else. */
	const char *api_version;   /**< Of the object; for an event of the MPIJob. */
	const char *kind;          /**< Likewise. */
	const char *name;          /**< Likewise. */
	const char *uid;           /**< UID that the object must have; NULL for a create. */
	const char *why;           /**< One sentence for people: why this is done. Never NULL. */
	const char *event_type;    /**< Event: "Normal" or "Warning"; else NULL. */
	const char *event_reason;  /**< Event: its reason; else NULL. */
	const char *event_message; /**< Event: its message; else NULL. */
	/** Objects to read from the API server before the action: it cannot be undone, and the
	 * facts may be stale. Skip those that a response confirmed a moment ago. If one of them is
	 * not as expected, or the job has changed, apply that to the facts and plan again. */
	const struct mpijob_fresh_read *const *fresh_reads;
	size_t fresh_reads_count; /**< How many. */
	/** Identifier in docs/differences.md of the deliberate difference from mpi-operator v0.8.2
	 * that the action follows from; NULL when none is known. */
	const char *difference;
};

#define MPIJOB_TRANSITION_CREATED   1 /**< The job was seen for the first time. */
#define MPIJOB_TRANSITION_SUCCEEDED 2 /**< It became Succeeded. */
#define MPIJOB_TRANSITION_FAILED    4 /**< It became Failed. */

/**
 * Plan what to do next.
 *
 * The job is defaulted and validated inside; one that is refused gives a plan with one Event and no
 * other action, as the reference does, unless the feature `fail_invalid` is on.
 *
 * @param job      not NULL; as stored in the cluster, with uid and namespace; copied as far as
 *                 needed.
 * @param facts    not NULL; copied as far as needed.
 * @param options  not NULL.
 * @param out      not NULL; the plan, yours.
 * @param diag     findings of the validation, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE` (no uid, no name, options); `MPIJOB_ERR_UNSUPPORTED` (options);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_plan_new(const mpijob *job, const mpijob_facts *facts,
    const struct mpijob_plan_options *options, mpijob_plan **out, mpijob_diag *diag);

/** Free a plan; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_plan_free(mpijob_plan *plan);

/** Count the actions. `plan` not NULL. @since 0.1 */
MPIJOB_API size_t mpijob_plan_count(const mpijob_plan *plan);

/**
 * Look at one action.
 *
 * @param plan   not NULL.
 * @param index  from 0; stages in order.
 * @return borrowed until the plan is freed; NULL when there is no such action.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_action *mpijob_plan_at(const mpijob_plan *plan, size_t index);

/**
 * Write the body of a create, patch or patch of a status, as compact JSON. It is rendered now, and
 * the plan keeps what the next bodies need: not on several threads at the same time for one plan.
 *
 * @param plan         not NULL.
 * @param index        of the action.
 * @param entropy      `MPIJOB_SSH_ENTROPY` random bytes when the Secret is created or its keys are
 *                     mended; else ignored and may be NULL.
 * @param entropy_len  how many bytes.
 * @param write        the sink; not NULL; it sees the private key when the Secret is written.
 * @param user         passed to the sink.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such action, or it has no body); `MPIJOB_ERR_USAGE` (no
 *         entropy); `MPIJOB_ERR_SPEC` (the ConfigMap would exceed 1 MiB); `MPIJOB_ERR_UNSUPPORTED`
 *         (libcrypto has no P-521); `MPIJOB_ERR_NOMEM`; what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_plan_write_body(const mpijob_plan *plan, size_t index, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user);

/**
 * Get the status that the job has once the plan was carried out.
 *
 * @param plan  not NULL.
 * @return borrowed until the plan is freed; never NULL.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_status *mpijob_plan_status(const mpijob_plan *plan);

/**
 * Get the earliest time at which the plan could differ though no fact changes.
 *
 * @param plan  not NULL.
 * @return milliseconds since 1970; 0 when only facts can change it.
 * @since 0.1
 */
MPIJOB_API int64_t mpijob_plan_next_ms(const mpijob_plan *plan);

/**
 * Tell whether the launcher starts as soon as the workers' names resolve: all workers are ready,
 * and no launcher runs.
 *
 * @param plan  not NULL.
 * @return the number of workers, whose names it waits for; 0 when it does not wait, or without
 *         `launcher_hold_ms`.
 * @since 0.1
 */
MPIJOB_API int mpijob_plan_awaits_names(const mpijob_plan *plan);

/**
 * Tell which transitions the plan makes, for counting.
 *
 * @param plan  not NULL.
 * @return `MPIJOB_TRANSITION_*` or-ed together.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_plan_transitions(const mpijob_plan *plan);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_PLAN_H */

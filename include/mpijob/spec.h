/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file spec.h
 * `spec` and `status` of an MPIJob of `kubeflow.org/v2beta1` as C structs.
 *
 * The same structs are used for reading and writing. A struct read from a job (mpijob_spec_get())
 * is a borrowed view: its pointers are valid until the job changes. A struct given to a job
 * (mpijob_spec_set()) is copied.
 *
 * - An optional number is a pointer: NULL is absent, and 0 is 0.
 * - An optional boolean is a pointer to 0 or 1.
 * - A string is NULL when absent.
 * - An enumeration is an `int32_t`: 0 is absent, `MPIJOB_OTHER` is a word that this library does
 *   not know (it is in the document), all other values are constants.
 * - Values of Kubernetes types are nodes of a document.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_SPEC_H
#define MPIJOB_SPEC_H

#include <mpijob/base.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reading: a word that this library does not know. Writing: leave the field unchanged. */
#define MPIJOB_OTHER (-1)

#define MPIJOB_CLEAN_POD_NONE    1 /**< "None": keep all pods (the default). */
#define MPIJOB_CLEAN_POD_RUNNING 2 /**< "Running": delete workers that are running or pending. */
#define MPIJOB_CLEAN_POD_ALL     3 /**< "All": delete all workers. */

#define MPIJOB_RESTART_NEVER      1 /**< "Never" (a worker's default). */
#define MPIJOB_RESTART_ON_FAILURE 2 /**< "OnFailure" (the launcher's default). */

/** "AtStartup" (the default): create the launcher together with the workers. */
#define MPIJOB_LAUNCHER_AT_STARTUP             1
#define MPIJOB_LAUNCHER_WAIT_FOR_WORKERS_READY 2 /**< "WaitForWorkersReady". */

#define MPIJOB_OPENMPI 1 /**< "OpenMPI" (the default). */
#define MPIJOB_INTEL   2 /**< "Intel". */
#define MPIJOB_MPICH   3 /**< "MPICH". */

/** `spec.runPolicy.schedulingPolicy`: fields of the gang scheduler's PodGroup. */
struct mpijob_scheduling_policy {
	size_t size; /**< `sizeof` this struct. */
	/** Pods that must be placed together; absent: workers + 1. */
	const int32_t *min_available;
	const char *queue; /**< Volcano's queue. */
	/** Map from resource to quantity; absent: computed from the templates. */
	const mpijob_node *min_resources;
	const char *priority_class; /**< Volcano's priority class. */
	/** Seconds that the gang may wait to be scheduled; scheduler-plugins. */
	const int32_t *schedule_timeout_seconds;
};
#define MPIJOB_SCHEDULING_POLICY_INIT { sizeof(struct mpijob_scheduling_policy), NULL, NULL, \
	NULL, NULL, NULL }

/** `spec.runPolicy`: policies for the whole job. */
struct mpijob_run_policy {
	size_t size;              /**< `sizeof` this struct. */
	int32_t clean_pod_policy; /**< `MPIJOB_CLEAN_POD_*`. */
	/** Seconds after which the finished launcher Job is deleted. */
	const int32_t *ttl_seconds_after_finished;
	/** Seconds that the launcher Job may run, including all attempts. */
	const int64_t *active_deadline_seconds;
	/** Failed attempts of the launcher before the job fails; absent: 6, as batch/v1. */
	const int32_t *backoff_limit;
	const struct mpijob_scheduling_policy *scheduling_policy; /**< NULL when absent. */
	const int32_t *suspend; /**< Boolean: 1: the job is suspended, without pods. */
	/** The controller that handles the job; absent: the MPI operator. */
	const char *managed_by;
};
#define MPIJOB_RUN_POLICY_INIT { sizeof(struct mpijob_run_policy), 0, NULL, NULL, NULL, NULL, \
	NULL, NULL }

/** One entry of `spec.mpiReplicaSpecs`. */
struct mpijob_replica_spec {
	size_t size;                     /**< `sizeof` this struct. */
	const int32_t *replicas;         /**< Number of pods; 1 for the launcher. */
	const mpijob_node *pod_template; /**< `template`: a PodTemplateSpec; NULL when absent. */
	int32_t restart_policy;          /**< `MPIJOB_RESTART_*`. */
	int32_t reserved;                /**< 0; fills the struct. */
};
#define MPIJOB_REPLICA_SPEC_INIT { sizeof(struct mpijob_replica_spec), NULL, NULL, 0, 0 }

/** `spec` of an MPIJob. */
struct mpijob_spec {
	size_t size;                     /**< `sizeof` this struct. */
	const int32_t *slots_per_worker; /**< Ranks on each host; default 1. */
	/** Boolean: 1: the launcher runs ranks too. */
	const int32_t *run_launcher_as_worker;
	const struct mpijob_run_policy *run_policy; /**< NULL when absent. */
	/** `mpiReplicaSpecs[Launcher]`; NULL when absent. */
	const struct mpijob_replica_spec *launcher;
	/** `mpiReplicaSpecs[Worker]`; NULL when absent. */
	const struct mpijob_replica_spec *worker;
	/** Directory of the SSH keys; default "/root/.ssh". */
	const char *ssh_auth_mount_path;
	int32_t launcher_creation_policy; /**< `MPIJOB_LAUNCHER_*`. */
	int32_t mpi_implementation;       /**< `MPIJOB_OPENMPI`, `_INTEL` or `_MPICH`. */
};
#define MPIJOB_SPEC_INIT { sizeof(struct mpijob_spec), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

#define MPIJOB_CONDITION_TRUE    1 /**< "True". */
#define MPIJOB_CONDITION_FALSE   2 /**< "False". */
#define MPIJOB_CONDITION_UNKNOWN 3 /**< "Unknown". */

/** One entry of `status.conditions`. */
struct mpijob_condition {
	size_t size; /**< `sizeof` this struct. */
	/** "Created", "Running", "Restarting", "Suspended", "Succeeded" or "Failed". */
	const char *type;
	int32_t status; /**< `MPIJOB_CONDITION_*`. */
	/** For programs, "MPIJobRunning"; NULL when absent. */
	const char *reason;
	const char *message;                 /**< For users; NULL when absent. */
	const int64_t *last_update_time;     /**< Seconds since 1970, UTC; NULL when absent. */
	const int64_t *last_transition_time; /**< Seconds since 1970, UTC; NULL when absent. */
};
#define MPIJOB_CONDITION_INIT { sizeof(struct mpijob_condition), NULL, 0, NULL, NULL, NULL, NULL }

/** One entry of `status.replicaStatuses`. */
struct mpijob_replica_status {
	size_t size;       /**< `sizeof` this struct. */
	int32_t active;    /**< Running pods. */
	int32_t succeeded; /**< Pods that succeeded. */
	int32_t failed;    /**< Pods that failed. */
	int32_t reserved;  /**< 0; fills the struct. */
};
#define MPIJOB_REPLICA_STATUS_INIT { sizeof(struct mpijob_replica_status), 0, 0, 0, 0 }

/** `status` of an MPIJob. */
struct mpijob_status {
	size_t size; /**< `sizeof` this struct. */
	/** Pointers to the conditions, in order. */
	const struct mpijob_condition *const *conditions;
	size_t conditions_count; /**< How many. */
	/** `replicaStatuses[Launcher]`; NULL when absent. */
	const struct mpijob_replica_status *launcher;
	/** `replicaStatuses[Worker]`; NULL when absent. */
	const struct mpijob_replica_status *worker;
	/** Seconds since 1970, UTC; NULL when absent. */
	const int64_t *start_time;
	/** Seconds since 1970, UTC; NULL when absent. */
	const int64_t *completion_time;
};
#define MPIJOB_STATUS_INIT { sizeof(struct mpijob_status), NULL, 0, NULL, NULL, NULL, NULL }

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_SPEC_H */

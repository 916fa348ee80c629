/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_SPEC_H
#define MPIJOB_SPEC_H
#include <mpijob/base.h>
#include <mpijob/doc.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_OTHER (-1)
#define MPIJOB_CLEAN_POD_NONE 1
#define MPIJOB_CLEAN_POD_RUNNING 2
#define MPIJOB_CLEAN_POD_ALL 3
#define MPIJOB_RESTART_NEVER 1
#define MPIJOB_RESTART_ON_FAILURE 2
#define MPIJOB_LAUNCHER_AT_STARTUP 1
#define MPIJOB_LAUNCHER_WAIT_FOR_WORKERS_READY 2
#define MPIJOB_OPENMPI 1
#define MPIJOB_INTEL 2
#define MPIJOB_MPICH 3
struct mpijob_scheduling_policy {
	size_t size;
	const int32_t *min_available;
	const char *queue;
	const mpijob_node *min_resources;
	const char *priority_class;
	const int32_t *schedule_timeout_seconds;
};
#define MPIJOB_SCHEDULING_POLICY_INIT { sizeof(struct mpijob_scheduling_policy), NULL, NULL, NULL, NULL, NULL }
struct mpijob_run_policy {
	size_t size;
	int32_t clean_pod_policy;
	const int32_t *ttl_seconds_after_finished;
	const int64_t *active_deadline_seconds;
	const int32_t *backoff_limit;
	const struct mpijob_scheduling_policy *scheduling_policy;
	const int32_t *suspend;
	const char *managed_by;
};
#define MPIJOB_RUN_POLICY_INIT { sizeof(struct mpijob_run_policy), 0, NULL, NULL, NULL, NULL, NULL, NULL }
struct mpijob_replica_spec {
	size_t size;
	const int32_t *replicas;
	const mpijob_node *pod_template;
	int32_t restart_policy;
	int32_t reserved;
};
#define MPIJOB_REPLICA_SPEC_INIT { sizeof(struct mpijob_replica_spec), NULL, NULL, 0, 0 }
struct mpijob_spec {
	size_t size;
	const int32_t *slots_per_worker;
	const int32_t *run_launcher_as_worker;
	const struct mpijob_run_policy *run_policy;
	const struct mpijob_replica_spec *launcher;
	const struct mpijob_replica_spec *worker;
	const char *ssh_auth_mount_path;
	int32_t launcher_creation_policy;
	int32_t mpi_implementation;
};
#define MPIJOB_SPEC_INIT { sizeof(struct mpijob_spec), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }
#define MPIJOB_CONDITION_TRUE 1
#define MPIJOB_CONDITION_FALSE 2
#define MPIJOB_CONDITION_UNKNOWN 3
struct mpijob_condition {
	size_t size;
	const char *type;
	int32_t status;
	const char *reason;
	const char *message;
	const int64_t *last_update_time;
	const int64_t *last_transition_time;
};
#define MPIJOB_CONDITION_INIT { sizeof(struct mpijob_condition), NULL, 0, NULL, NULL, NULL, NULL }
struct mpijob_replica_status {
	size_t size;
	int32_t active;
	int32_t succeeded;
	int32_t failed;
	int32_t reserved;
};
#define MPIJOB_REPLICA_STATUS_INIT { sizeof(struct mpijob_replica_status), 0, 0, 0, 0 }
struct mpijob_status {
	size_t size;
	const struct mpijob_condition *const *conditions;
	size_t conditions_count;
	const struct mpijob_replica_status *launcher;
	const struct mpijob_replica_status *worker;
	const int64_t *start_time;
	const int64_t *completion_time;
};
#define MPIJOB_STATUS_INIT { sizeof(struct mpijob_status), NULL, 0, NULL, NULL, NULL, NULL }
#ifdef __cplusplus
}
#endif
#endif

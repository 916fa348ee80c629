/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The field table: one row for every field of an MPIJob. Defaults, validation, typed structs, the
 * field reference and the bindings read it. CONTRIBUTING.md says what a new field needs. `since` is
 * the first release of mpi-operator whose v2beta1 has the field.
 */
#include "base/api.h"
#include "job/field.h"
#include "schema/schema.h"

#include <string.h>

#include <mpijob/spec.h>

#define SIZE          .size = sizeof(struct mpijob_field)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const int64_t zero = 0;
static const int64_t one = 1;

/* In the order of the constants in spec.h. */
static const char *const api_version[] = { MPIJOB__BASE_API_VERSION, NULL };
static const char *const kind[] = { MPIJOB__BASE_API_KIND, NULL };
static const char *const clean_pod_policies[] = { "None", "Running", "All", NULL };
static const char *const restart_policies[] = { "Never", "OnFailure", NULL };
static const char *const creation_policies[] = { "AtStartup", "WaitForWorkersReady", NULL };
static const char *const implementations[] = { "OpenMPI", "Intel", "MPICH", NULL };
static const char *const managers[] = { MPIJOB__BASE_API_MANAGER, "kueue.x-k8s.io/multikueue",
	NULL };
static const char *const condition_statuses[] = { "True", "False", "Unknown", NULL };

static const struct mpijob__job_row rows[] = {
	[FIELD_API_VERSION] = {
		.field = { SIZE, .path = "apiVersion", .kind = MPIJOB_KIND_STRING,
			.choices = api_version,
			.since = "0.3.0",
			.summary = "The version of the API for which the document is written." },
		.parent = FIELD_ROOT, .key = "apiVersion", .flags = FIELD_LENIENT,
	},
	[FIELD_KIND] = {
		.field = { SIZE, .path = "kind", .kind = MPIJOB_KIND_STRING, .choices = kind,
			.since = "0.3.0",
			.summary = "The kind of object." },
		.parent = FIELD_ROOT, .key = "kind", .flags = FIELD_LENIENT,
	},
	[FIELD_METADATA] = {
		.field = { SIZE, .path = "metadata", .kind = MPIJOB_KIND_OBJECT, .since = "0.3.0",
			.summary =
			    "The metadata of every Kubernetes object: names, labels, "
			    "annotations." },
		.parent = FIELD_ROOT, .key = "metadata", .flags = FIELD_META,
	},
	[FIELD_NAME] = {
		.field = { SIZE, .path = "metadata.name", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary =
			    "The name of the job, on which the names of pods, Service and DNS "
			    "are based." },
		.parent = FIELD_METADATA, .key = "name",
	},
	[FIELD_GENERATE_NAME] = {
		.field = { SIZE, .path = "metadata.generateName", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary =
			    "If there is no name: the prefix of the random name that the API "
			    "server generates." },
		.parent = FIELD_METADATA, .key = "generateName",
	},
	[FIELD_NAMESPACE] = {
		.field = { SIZE, .path = "metadata.namespace", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary = "The namespace of the job and its children." },
		.parent = FIELD_METADATA, .key = "namespace",
	},
	[FIELD_UID] = {
		.field = { SIZE, .path = "metadata.uid", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary =
			    "The unique identifier that the API server assigned; the children "
			    "refer to it." },
		.parent = FIELD_METADATA, .key = "uid",
	},
	[FIELD_LABELS] = {
		.field = { SIZE, .path = "metadata.labels", .kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.3.0",
			.summary = "Labels of the job itself, from name to text." },
		.parent = FIELD_METADATA, .key = "labels", .shape = SHAPE_STRINGS,
	},
	[FIELD_ANNOTATIONS] = {
		.field = { SIZE, .path = "metadata.annotations", .kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.3.0",
			.summary = "Annotations of the job itself, from name to text; Volcano's "
			  "queue may be one." },
		.parent = FIELD_METADATA, .key = "annotations", .shape = SHAPE_STRINGS,
	},
	[FIELD_SPEC] = {
		.field = { SIZE, .path = "spec", .kind = MPIJOB_KIND_OBJECT, .since = "0.3.0",
			.summary = "The desired state of the job." },
		.parent = FIELD_ROOT, .key = "spec", .of = STRUCT_SPEC, .flags = FIELD_ALWAYS,
	},
	[FIELD_REPLICA_SPECS] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs", .kind = MPIJOB_KIND_OBJECT,
			.since = "0.3.0",
			.summary = "The pods of the job by role." },
		.parent = FIELD_SPEC, .key = "mpiReplicaSpecs", .required = "must have replica "
		"specs",
		.flags = FIELD_BY_ROLE,
		.crd = CRD_REQUIRES,
	},
	[FIELD_LAUNCHER] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Launcher]",
			.kind = MPIJOB_KIND_OBJECT, .since = "0.3.0",
			.summary = "The one pod that runs mpirun." },
		.parent = FIELD_REPLICA_SPECS, .key = "Launcher", .required = "must have Launcher "
		"replica spec",
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, launcher),
		.of = STRUCT_REPLICA_SPEC,
	},
	[FIELD_LAUNCHER_REPLICAS] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Launcher].replicas",
			.kind = MPIJOB_KIND_INT32,
			.default_text = "1", .minimum = &one, .since = "0.3.0",
			.summary = "The number of launchers, which is 1." },
		.parent = FIELD_LAUNCHER, .key = "replicas", .required = "must define number of "
		"replicas",
		.maximum = &one,
		.in = STRUCT_REPLICA_SPEC, .offset = offsetof(struct mpijob_replica_spec, replicas),
	},
	[FIELD_LAUNCHER_RESTART_POLICY] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Launcher].restartPolicy",
			.kind = MPIJOB_KIND_CHOICE,
			.default_text = "OnFailure", .choices = restart_policies, .since = "0.3.0",
			.summary = "Whether a failed launcher restarts in its pod, or as a new pod "
			  "(Never)." },
		.parent = FIELD_LAUNCHER, .key = "restartPolicy", .flags = FIELD_EMPTY_IS_ABSENT,
		.in = STRUCT_REPLICA_SPEC, .offset = offsetof(struct mpijob_replica_spec,
		restart_policy),
	},
	[FIELD_LAUNCHER_TEMPLATE] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Launcher].template",
			.kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.3.0",
			.summary = "The launcher's pod, a PodTemplateSpec." },
		.parent = FIELD_LAUNCHER, .key = "template", .shape = SHAPE_MAP,
		.in = STRUCT_REPLICA_SPEC, .offset = offsetof(struct mpijob_replica_spec,
		pod_template),
		.schema = SCHEMA_PodTemplateSpec,
	},
	[FIELD_WORKER] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Worker]",
			.kind = MPIJOB_KIND_OBJECT, .since = "0.3.0",
			.summary = "The pods in which mpirun starts ranks." },
		.parent = FIELD_REPLICA_SPECS, .key = "Worker",
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, worker),
		.of = STRUCT_REPLICA_SPEC,
	},
	[FIELD_WORKER_REPLICAS] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Worker].replicas",
			.kind = MPIJOB_KIND_INT32,
			.default_text = "1", .minimum = &one, .since = "0.3.0",
			.summary = "The number of workers." },
		.parent = FIELD_WORKER, .key = "replicas", .required = "must define number of "
		"replicas",
		.reference_default = "0",
		.in = STRUCT_REPLICA_SPEC, .offset = offsetof(struct mpijob_replica_spec, replicas),
	},
	[FIELD_WORKER_RESTART_POLICY] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Worker].restartPolicy",
			.kind = MPIJOB_KIND_CHOICE,
			.default_text = "Never", .choices = restart_policies, .since = "0.3.0",
			.summary = "Whether a failed worker is restarted in its pod." },
		.parent = FIELD_WORKER, .key = "restartPolicy", .flags = FIELD_EMPTY_IS_ABSENT,
		.in = STRUCT_REPLICA_SPEC, .offset = offsetof(struct mpijob_replica_spec,
		restart_policy),
	},
	[FIELD_WORKER_TEMPLATE] = {
		.field = { SIZE, .path = "spec.mpiReplicaSpecs[Worker].template",
			.kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.3.0",
			.summary = "The workers' pod, a PodTemplateSpec." },
		.parent = FIELD_WORKER, .key = "template", .shape = SHAPE_MAP,
		.in = STRUCT_REPLICA_SPEC, .offset = offsetof(struct mpijob_replica_spec,
		pod_template),
		.schema = SCHEMA_PodTemplateSpec,
	},
	[FIELD_SLOTS_PER_WORKER] = {
		.field = { SIZE, .path = "spec.slotsPerWorker", .kind = MPIJOB_KIND_INT32,
			.default_text = "1",
			.minimum = &zero,
			.since = "0.3.0", .summary = "The number of ranks that each host of the "
			"hostfile offers." },
		.parent = FIELD_SPEC, .key = "slotsPerWorker", .required = "must have number of "
		"slots per worker",
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, slots_per_worker),
		.crd = CRD_DEFAULTS,
	},
	[FIELD_RUN_LAUNCHER_AS_WORKER] = {
		.field = { SIZE, .path = "spec.runLauncherAsWorker", .kind = MPIJOB_KIND_BOOL,
			.default_text = "false",
			.since = "0.5.0", .summary = "Whether ranks run on the launcher too." },
		.parent = FIELD_SPEC, .key = "runLauncherAsWorker", .flags = FIELD_NOT_WRITTEN,
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, run_launcher_as_worker),
		.crd = CRD_DEFAULTS,
	},
	[FIELD_RUN_POLICY] = {
		.field = { SIZE, .path = "spec.runPolicy", .kind = MPIJOB_KIND_OBJECT,
			.since = "0.3.0",
			.summary = "Settings for the whole job: retries, limits, cleanup." },
		.parent = FIELD_SPEC, .key = "runPolicy", .flags = FIELD_ALWAYS,
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, run_policy),
		.of = STRUCT_RUN_POLICY,
	},
	[FIELD_CLEAN_POD_POLICY] = {
		.field = { SIZE, .path = "spec.runPolicy.cleanPodPolicy",
			.kind = MPIJOB_KIND_CHOICE,
			.default_text = "None",
			.choices = clean_pod_policies, .since = "0.3.0",
			.summary = "Which workers are deleted when the job has finished." },
		.parent = FIELD_RUN_POLICY, .key = "cleanPodPolicy", .required = "must have clean "
		"Pod policy",
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy,
		clean_pod_policy),
	},
	[FIELD_TTL_SECONDS] = {
		.field = { SIZE, .path = "spec.runPolicy.ttlSecondsAfterFinished",
			.kind = MPIJOB_KIND_INT32,
			.minimum = &zero,
			.since = "0.3.0",
			.summary = "Seconds after which the finished launcher Job is deleted; "
			  "absent: it is kept." },
		.parent = FIELD_RUN_POLICY, .key = "ttlSecondsAfterFinished",
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy,
		ttl_seconds_after_finished),
	},
	[FIELD_ACTIVE_DEADLINE] = {
		.field = { SIZE, .path = "spec.runPolicy.activeDeadlineSeconds",
			.kind = MPIJOB_KIND_INT64,
			.minimum = &zero,
			.since = "0.3.0",
			.summary = "Seconds that all attempts of the launcher may take; absent: no "
			  "limit." },
		.parent = FIELD_RUN_POLICY, .key = "activeDeadlineSeconds",
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy,
		active_deadline_seconds),
	},
	[FIELD_BACKOFF_LIMIT] = {
		.field = { SIZE, .path = "spec.runPolicy.backoffLimit", .kind = MPIJOB_KIND_INT32,
			.minimum = &zero,
			.since = "0.3.0",
			.summary =
			    "Number of retries after failed attempts of the launcher; absent: "
			    "6." },
		.parent = FIELD_RUN_POLICY, .key = "backoffLimit",
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy,
		backoff_limit),
	},
	[FIELD_SUSPEND] = {
		.field = { SIZE, .path = "spec.runPolicy.suspend", .kind = MPIJOB_KIND_BOOL,
			.default_text = "false",
			.since = "0.4.0",
			.summary =
			    "Whether the job is suspended: its workers are deleted, the job is "
			    "kept." },
		.parent = FIELD_RUN_POLICY, .key = "suspend", .flags = FIELD_NOT_WRITTEN,
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy, suspend),
		.crd = CRD_DEFAULTS,
	},
	[FIELD_MANAGED_BY] = {
		.field = { SIZE, .path = "spec.runPolicy.managedBy", .kind = MPIJOB_KIND_STRING,
			.choices = managers,
			.since = "0.6.0",
			.summary = "The controller in charge of the job; absent: the MPI "
			  "operator." },
		.parent = FIELD_RUN_POLICY, .key = "managedBy",
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy, managed_by),
	},
	[FIELD_SCHEDULING_POLICY] = {
		.field = { SIZE, .path = "spec.runPolicy.schedulingPolicy",
			.kind = MPIJOB_KIND_OBJECT,
			.since = "0.3.0",
			.summary = "Settings for the PodGroup of a gang scheduler." },
		.parent = FIELD_RUN_POLICY, .key = "schedulingPolicy",
		.in = STRUCT_RUN_POLICY, .offset = offsetof(struct mpijob_run_policy,
		scheduling_policy),
		.of = STRUCT_SCHEDULING_POLICY,
	},
	[FIELD_MIN_AVAILABLE] = {
		.field = { SIZE, .path = "spec.runPolicy.schedulingPolicy.minAvailable",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary =
			    "The number of pods that must be scheduled together; absent: all "
			    "pods of the job." },
		.parent = FIELD_SCHEDULING_POLICY, .key = "minAvailable",
		.in = STRUCT_SCHEDULING_POLICY, .offset = offsetof(struct mpijob_scheduling_policy,
		min_available),
	},
	[FIELD_QUEUE] = {
		.field = { SIZE, .path = "spec.runPolicy.schedulingPolicy.queue",
			.kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary = "The queue of Volcano." },
		.parent = FIELD_SCHEDULING_POLICY, .key = "queue",
		.in = STRUCT_SCHEDULING_POLICY, .offset = offsetof(struct mpijob_scheduling_policy,
		queue),
	},
	[FIELD_MIN_RESOURCES] = {
		.field = { SIZE, .path = "spec.runPolicy.schedulingPolicy.minResources",
			.kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.3.0",
			.summary =
			    "Resources that must be free for the gang; absent: the sum of the "
			    "templates." },
		.parent = FIELD_SCHEDULING_POLICY, .key = "minResources", .shape = SHAPE_QUANTITIES,
		.in = STRUCT_SCHEDULING_POLICY, .offset = offsetof(struct mpijob_scheduling_policy,
		min_resources),
	},
	[FIELD_PRIORITY_CLASS] = {
		.field = { SIZE, .path = "spec.runPolicy.schedulingPolicy.priorityClass",
			.kind = MPIJOB_KIND_STRING,
			.since = "0.3.0", .summary = "The priority class of the PodGroup." },
		.parent = FIELD_SCHEDULING_POLICY, .key = "priorityClass",
		.in = STRUCT_SCHEDULING_POLICY, .offset = offsetof(struct mpijob_scheduling_policy,
		priority_class),
	},
	[FIELD_SCHEDULE_TIMEOUT] = {
		.field = { SIZE, .path = "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.4.0", .summary = "Seconds that scheduler-plugins waits for the "
			"whole gang." },
		.parent = FIELD_SCHEDULING_POLICY, .key = "scheduleTimeoutSeconds",
		.in = STRUCT_SCHEDULING_POLICY,
		.offset = offsetof(struct mpijob_scheduling_policy, schedule_timeout_seconds),
	},
	[FIELD_SSH_AUTH_MOUNT_PATH] = {
		.field = { SIZE, .path = "spec.sshAuthMountPath", .kind = MPIJOB_KIND_STRING,
			.default_text = "/root/.ssh",
			.since =
			    "0.3.0", .summary =
			    "The directory of the job's SSH keys in every pod." },
		.parent = FIELD_SPEC, .key = "sshAuthMountPath",
		.required = "must have a mount path for SSH credentials",
		.flags = FIELD_EMPTY_IS_ABSENT,
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, ssh_auth_mount_path),
		.crd = CRD_DEFAULTS,
	},
	[FIELD_LAUNCHER_CREATION_POLICY] = {
		.field = { SIZE, .path = "spec.launcherCreationPolicy", .kind = MPIJOB_KIND_CHOICE,
			.default_text = "AtStartup",
			.choices = creation_policies, .since = "0.5.0",
			.summary = "Whether the launcher is created at once or when all workers "
			  "are ready." },
		.parent = FIELD_SPEC, .key = "launcherCreationPolicy",
		.flags = FIELD_EMPTY_IS_ABSENT | FIELD_LENIENT,
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, launcher_creation_policy),
		.crd = CRD_DEFAULTS,
	},
	[FIELD_MPI_IMPLEMENTATION] = {
		.field = { SIZE, .path = "spec.mpiImplementation", .kind = MPIJOB_KIND_CHOICE,
			.default_text = "OpenMPI",
			.choices = implementations, .since = "0.3.0",
			.summary =
			    "The MPI for which hostfile and environment are written; MPICH "
			    "since 0.5.0." },
		.parent = FIELD_SPEC, .key = "mpiImplementation", .flags = FIELD_EMPTY_IS_ABSENT,
		.in = STRUCT_SPEC, .offset = offsetof(struct mpijob_spec, mpi_implementation),
		.crd = CRD_DEFAULTS | CRD_CHECKS,
	},
	[FIELD_STATUS] = {
		.field = { SIZE, .path = "status", .kind = MPIJOB_KIND_OBJECT, .since = "0.3.0",
			.summary = "The observed state of the job." },
		.parent = FIELD_ROOT, .key = "status", .of = STRUCT_STATUS,
	},
	[FIELD_CONDITIONS] = {
		.field = { SIZE, .path = "status.conditions", .kind = MPIJOB_KIND_LIST,
			.since = "0.3.0",
			.summary = "The conditions of the job, one entry for each type." },
		.parent = FIELD_STATUS, .key = "conditions", .list_key = FIELD_CONDITION_TYPE,
		.in = STRUCT_STATUS, .offset = offsetof(struct mpijob_status, conditions),
		.count_offset = offsetof(struct mpijob_status, conditions_count),
		.of = STRUCT_CONDITION,
	},
	[FIELD_CONDITION_TYPE] = {
		.field = { SIZE, .path = "status.conditions[].type", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary = "Created, Running, Suspended, Succeeded or Failed." },
		.parent = FIELD_CONDITIONS, .key = "type", .required = "must have a type",
		.flags = FIELD_LENIENT,
		.in = STRUCT_CONDITION, .offset = offsetof(struct mpijob_condition, type),
		.crd = CRD_REQUIRES,
	},
	[FIELD_CONDITION_STATUS] = {
		.field = { SIZE, .path = "status.conditions[].status", .kind = MPIJOB_KIND_CHOICE,
			.choices = condition_statuses,
			.since = "0.3.0", .summary = "Whether the condition is true." },
		.parent = FIELD_CONDITIONS, .key = "status", .required = "must have a status",
		.flags = FIELD_LENIENT,
		.in = STRUCT_CONDITION, .offset = offsetof(struct mpijob_condition, status),
		.crd = CRD_CHECKS | CRD_REQUIRES,
	},
	[FIELD_CONDITION_REASON] = {
		.field = { SIZE, .path = "status.conditions[].reason", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary = "The reason as one word, for programs." },
		.parent = FIELD_CONDITIONS, .key = "reason",
		.in = STRUCT_CONDITION, .offset = offsetof(struct mpijob_condition, reason),
	},
	[FIELD_CONDITION_MESSAGE] = {
		.field = { SIZE, .path = "status.conditions[].message", .kind = MPIJOB_KIND_STRING,
			.since = "0.3.0",
			.summary = "The reason as a sentence, for users." },
		.parent = FIELD_CONDITIONS, .key = "message",
		.in = STRUCT_CONDITION, .offset = offsetof(struct mpijob_condition, message),
	},
	[FIELD_CONDITION_UPDATED] = {
		.field = { SIZE, .path = "status.conditions[].lastUpdateTime",
			.kind = MPIJOB_KIND_TIME,
			.since = "0.3.0",
			.summary = "When the operator last wrote the condition." },
		.parent = FIELD_CONDITIONS, .key = "lastUpdateTime",
		.in = STRUCT_CONDITION, .offset = offsetof(struct mpijob_condition,
		last_update_time),
	},
	[FIELD_CONDITION_CHANGED] = {
		.field = { SIZE, .path = "status.conditions[].lastTransitionTime",
			.kind = MPIJOB_KIND_TIME,
			.since = "0.3.0",
			.summary = "When the condition last changed its status." },
		.parent = FIELD_CONDITIONS, .key = "lastTransitionTime",
		.in = STRUCT_CONDITION, .offset = offsetof(struct mpijob_condition,
		last_transition_time),
	},
	[FIELD_REPLICA_STATUSES] = {
		.field = { SIZE, .path = "status.replicaStatuses", .kind = MPIJOB_KIND_OBJECT,
			.since = "0.3.0",
			.summary =
			    "The numbers of running, succeeded and failed pods of each role." },
		.parent = FIELD_STATUS, .key = "replicaStatuses", .flags = FIELD_BY_ROLE,
	},
	[FIELD_LAUNCHER_STATUS] = {
		.field = { SIZE, .path = "status.replicaStatuses[Launcher]",
			.kind = MPIJOB_KIND_OBJECT,
			.since = "0.3.0",
			.summary = "The launcher's attempts." },
		.parent = FIELD_REPLICA_STATUSES, .key = "Launcher",
		.in = STRUCT_STATUS, .offset = offsetof(struct mpijob_status, launcher),
		.of = STRUCT_REPLICA_STATUS,
	},
	[FIELD_LAUNCHER_ACTIVE] = {
		.field = { SIZE, .path = "status.replicaStatuses[Launcher].active",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary = "Number of running launcher pods." },
		.parent = FIELD_LAUNCHER_STATUS, .key = "active", .flags = FIELD_BY_VALUE,
		.in = STRUCT_REPLICA_STATUS, .offset = offsetof(struct mpijob_replica_status,
		active),
	},
	[FIELD_LAUNCHER_SUCCEEDED] = {
		.field = { SIZE, .path = "status.replicaStatuses[Launcher].succeeded",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary = "Number of succeeded launcher pods." },
		.parent = FIELD_LAUNCHER_STATUS, .key = "succeeded", .flags = FIELD_BY_VALUE,
		.in = STRUCT_REPLICA_STATUS, .offset = offsetof(struct mpijob_replica_status,
		succeeded),
	},
	[FIELD_LAUNCHER_FAILED] = {
		.field = { SIZE, .path = "status.replicaStatuses[Launcher].failed",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary = "Number of failed launcher pods." },
		.parent = FIELD_LAUNCHER_STATUS, .key = "failed", .flags = FIELD_BY_VALUE,
		.in = STRUCT_REPLICA_STATUS, .offset = offsetof(struct mpijob_replica_status,
		failed),
	},
	[FIELD_LAUNCHER_LABEL_SELECTOR] = {
		.field = { SIZE, .path = "status.replicaStatuses[Launcher].labelSelector",
			.kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.4.0", .summary = "Deprecated; see selector." },
		.parent = FIELD_LAUNCHER_STATUS, .key = "labelSelector", .shape = SHAPE_MAP,
		.schema = SCHEMA_LabelSelector,
	},
	[FIELD_LAUNCHER_SELECTOR] = {
		.field = { SIZE, .path = "status.replicaStatuses[Launcher].selector",
			.kind = MPIJOB_KIND_STRING,
			.since = "0.4.0",
			.summary = "A label selector for the launcher's pods." },
		.parent = FIELD_LAUNCHER_STATUS, .key = "selector",
	},
	[FIELD_WORKER_STATUS] = {
		.field = { SIZE, .path = "status.replicaStatuses[Worker]",
			.kind = MPIJOB_KIND_OBJECT, .since = "0.3.0",
			.summary = "The workers' pods." },
		.parent = FIELD_REPLICA_STATUSES, .key = "Worker",
		.in = STRUCT_STATUS, .offset = offsetof(struct mpijob_status, worker),
		.of = STRUCT_REPLICA_STATUS,
	},
	[FIELD_WORKER_ACTIVE] = {
		.field = { SIZE, .path = "status.replicaStatuses[Worker].active",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary = "Number of running worker pods." },
		.parent = FIELD_WORKER_STATUS, .key = "active", .flags = FIELD_BY_VALUE,
		.in = STRUCT_REPLICA_STATUS, .offset = offsetof(struct mpijob_replica_status,
		active),
	},
	[FIELD_WORKER_SUCCEEDED] = {
		.field = { SIZE, .path = "status.replicaStatuses[Worker].succeeded",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary = "Number of succeeded worker pods." },
		.parent = FIELD_WORKER_STATUS, .key = "succeeded", .flags = FIELD_BY_VALUE,
		.in = STRUCT_REPLICA_STATUS, .offset = offsetof(struct mpijob_replica_status,
		succeeded),
	},
	[FIELD_WORKER_FAILED] = {
		.field = { SIZE, .path = "status.replicaStatuses[Worker].failed",
			.kind = MPIJOB_KIND_INT32,
			.since = "0.3.0",
			.summary = "Number of failed worker pods." },
		.parent = FIELD_WORKER_STATUS, .key = "failed", .flags = FIELD_BY_VALUE,
		.in = STRUCT_REPLICA_STATUS, .offset = offsetof(struct mpijob_replica_status,
		failed),
	},
	[FIELD_WORKER_LABEL_SELECTOR] = {
		.field = { SIZE, .path = "status.replicaStatuses[Worker].labelSelector",
			.kind = MPIJOB_KIND_DOCUMENT,
			.since = "0.4.0", .summary = "Deprecated; see selector." },
		.parent = FIELD_WORKER_STATUS, .key = "labelSelector", .shape = SHAPE_MAP,
		.schema = SCHEMA_LabelSelector,
	},
	[FIELD_WORKER_SELECTOR] = {
		.field = { SIZE, .path = "status.replicaStatuses[Worker].selector",
			.kind = MPIJOB_KIND_STRING,
			.since = "0.4.0",
			.summary = "A label selector for the workers' pods." },
		.parent = FIELD_WORKER_STATUS, .key = "selector",
	},
	[FIELD_START_TIME] = {
		.field = { SIZE, .path = "status.startTime", .kind = MPIJOB_KIND_TIME,
			.since = "0.3.0",
			.summary = "When the operator accepted or resumed the job." },
		.parent = FIELD_STATUS, .key = "startTime",
		.in = STRUCT_STATUS, .offset = offsetof(struct mpijob_status, start_time),
	},
	[FIELD_COMPLETION_TIME] = {
		.field = { SIZE, .path = "status.completionTime", .kind = MPIJOB_KIND_TIME,
			.since = "0.3.0",
			.summary = "When the job finished." },
		.parent = FIELD_STATUS, .key = "completionTime",
		.in = STRUCT_STATUS, .offset = offsetof(struct mpijob_status, completion_time),
	},
	[FIELD_LAST_RECONCILE_TIME] = {
		.field = { SIZE, .path = "status.lastReconcileTime", .kind = MPIJOB_KIND_TIME,
			.since = "0.3.0",
			.summary =
			    "When the operator last reconciled the job; v0.8.2 does not write "
			    "it." },
		.parent = FIELD_STATUS, .key = "lastReconcileTime",
	},
};

_Static_assert(LENGTH(rows) == FIELD_END, "one row for each id");
_Static_assert(FIELD_END <= 256, "ids fit the rows");

static const size_t struct_sizes[STRUCT_END] = {
	[STRUCT_SPEC] = sizeof(struct mpijob_spec),
	[STRUCT_RUN_POLICY] = sizeof(struct mpijob_run_policy),
	[STRUCT_SCHEDULING_POLICY] = sizeof(struct mpijob_scheduling_policy),
	[STRUCT_REPLICA_SPEC] = sizeof(struct mpijob_replica_spec),
	[STRUCT_STATUS] = sizeof(struct mpijob_status),
	[STRUCT_CONDITION] = sizeof(struct mpijob_condition),
	[STRUCT_REPLICA_STATUS] = sizeof(struct mpijob_replica_status),
};

const struct mpijob_field *mpijob_field_at(size_t index)
{
	return index < FIELD_END - 1 ? &rows[index + 1].field : NULL;
}

const struct mpijob_field *mpijob_field_find(const char *path)
{
	for (int id = 1; path && id < FIELD_END; id++) {
		if (strcmp(rows[id].field.path, path) == 0)
			return &rows[id].field;
	}
	return NULL;
}

const struct mpijob__job_row *mpijob__job_field_row(int id)
{
	return &rows[id];
}

size_t mpijob__job_field_struct_size(int id)
{
	return struct_sizes[id];
}

size_t mpijob__job_field_member_end(const struct mpijob__job_row *row)
{
	if (row->field.kind == MPIJOB_KIND_LIST)
		return row->count_offset + sizeof(size_t);
	if (row->field.kind == MPIJOB_KIND_CHOICE || (row->flags & FIELD_BY_VALUE))
		return row->offset + sizeof(int32_t);
	return row->offset + sizeof(void *);
}

const mpijob_node *mpijob__job_field_node(const mpijob_node *root, int id)
{
	const mpijob_node *node = id == FIELD_ROOT ? root : NULL;

	if (id != FIELD_ROOT)
		node = mpijob_node_get(mpijob__job_field_node(root, rows[id].parent), rows[id].key);
	return mpijob_node_kind(node) == MPIJOB_NODE_NULL ? NULL : node;
}

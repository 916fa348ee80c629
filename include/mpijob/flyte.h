/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file flyte.h
 * Flyte's backend for MPI tasks: makes an MPIJob from a task template, and a Flyte phase from the
 * status of the job.
 *
 * The reference is the plugin "mpi" of flyteplugins v1.16.8. For `kubeflow.org/v1` the job is equal
 * to the one that this plugin builds. For `kubeflow.org/v2beta1`, which mpi-operator and Kueue
 * support, that job is converted (mpijob_convert()) and repaired. mpijob_flyte_repair_at() lists
 * the repairs: defects of the plugin, and problems with SSH. Each repair that changes the job is a
 * finding "flyte-repair".
 *
 * A template is a `flyteidl.core.TaskTemplate` in protobuf's JSON format: keys in camelCase (or as
 * in the `.proto` file), enumerations as words or numbers, numbers also as strings. `custom` has
 * the form of `task_type_version` 0 or 1.
 *
 * struct mpijob_flyte_config contains the configuration of the Flyte administrator, struct
 * mpijob_flyte_execution the data of one execution. Values of Kubernetes types in them are nodes of
 * documents.
 *
 * @code
 * static int make(const mpijob_doc *task, mpijob_doc **job, mpijob_diag *diag)
 * {
 *	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
 *	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
 *
 *	execution.name = "f1a2b3-n0-0";
 *	execution.namespace_ = "team-development";
 *	options.execution = &execution;
 *	return mpijob_flyte_job(mpijob_doc_root(task), "v2beta1", &options, job, diag);
 * }
 * @endcode
 *
 * The CoPilot sidecar (`dataConfig`) and PodTemplates of the cluster are not supported: the call
 * fails. Labels that Flyte adds for the identity of an execution belong to `labels` of struct
 * mpijob_flyte_execution. Unknown fields of pods are kept; the plugin drops them.
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_FLYTE_H
#define MPIJOB_FLYTE_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Repairs
 * @{ */

#define MPIJOB_FLYTE_SLOTS 0x1u /**< `slots` of the task is used, also in version 1. */
/** The worker's own command is used; without one the worker runs sshd, not mpirun. */
#define MPIJOB_FLYTE_WORKER_COMMAND 0x2u
/** mpirun passes the launcher's environment variables to remote ranks. */
#define MPIJOB_FLYTE_ENVIRONMENT 0x4u
/** An explicit zero in the run policy is zero, not absent. */
#define MPIJOB_FLYTE_ZERO          0x8u
#define MPIJOB_FLYTE_SAFE_LAUNCHER 0x10u /**< The launcher is not interruptible. */
/** The launcher has no GPUs, unless the task requests them for it. */
#define MPIJOB_FLYTE_LAUNCHER_GPUS 0x20u
/** The primary container comes first, where the operator expects it. */
#define MPIJOB_FLYTE_PRIMARY_FIRST 0x40u
#define MPIJOB_FLYTE_ONE_LAUNCHER  0x80u /**< The job has one launcher, also in version 0. */
/** The first link is to the launcher's log, which has the output of all ranks. */
#define MPIJOB_FLYTE_LAUNCHER_LOGS 0x100u
/** A finished job stays finished; of two conditions of the same second the later in the list
 * counts. */
#define MPIJOB_FLYTE_END_COUNTS 0x200u

/** A repair: a behaviour of the plugin that this library changes. All strings are constants. */
struct mpijob_flyte_repair {
	size_t size;      /**< `sizeof` this struct of the library. */
	uint32_t flag;    /**< `MPIJOB_FLYTE_SLOTS` and so on. */
	const char *name; /**< "slots". */
	/** One or two sentences: what the repair does, and what the plugin does. */
	const char *what;
	const char *why; /**< What goes wrong without it. */
};

/**
 * Count the repairs.
 *
 * @return how many mpijob_flyte_repair_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_flyte_repair_count(void);

/**
 * Read one row of the list of repairs.
 *
 * @param index  from 0.
 * @return a constant; NULL when there is no such row.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_flyte_repair *mpijob_flyte_repair_at(size_t index);

/** @} */
/** @name Configuration and execution
 * @{ */

/** The section `plugins.k8s` of propeller's configuration. NULL and 0: not given. Everything is
 * borrowed. */
struct mpijob_flyte_config {
	size_t size; /**< `sizeof` this struct. */
	/** A map; NULL: the annotation that prevents eviction by the cluster autoscaler. */
	const mpijob_node *default_annotations;
	const mpijob_node *default_labels;                /**< A map. */
	const mpijob_node *default_env_vars;              /**< A map of names to values. */
	const mpijob_node *default_env_from_config_maps;  /**< A list of names. */
	const mpijob_node *default_env_from_secrets;      /**< A list of names. */
	const mpijob_node *default_tolerations;           /**< A list. */
	const mpijob_node *default_node_selector;         /**< A map. */
	const mpijob_node *default_affinity;              /**< An Affinity. */
	const mpijob_node *interruptible_tolerations;     /**< A list. */
	const mpijob_node *interruptible_node_selector;   /**< A map. */
	const mpijob_node *interruptible_requirement;     /**< A NodeSelectorRequirement. */
	const mpijob_node *non_interruptible_requirement; /**< A NodeSelectorRequirement. */
	/** A map of resources to lists of tolerations. */
	const mpijob_node *resource_tolerations;
	/** A list of resources whose taints are tolerated. */
	const mpijob_node *extended_resources;
	const mpijob_node *gpu_unpartitioned_requirement; /**< A NodeSelectorRequirement. */
	const mpijob_node *gpu_unpartitioned_toleration;  /**< A Toleration. */
	const mpijob_node *default_pod_security_context;  /**< A PodSecurityContext. */
	const mpijob_node *default_security_context;      /**< A SecurityContext. */
	const mpijob_node *default_pod_dns_config;        /**< A PodDNSConfig. */
	const char *default_cpu;                          /**< NULL: "1000m". */
	const char *default_memory;                       /**< NULL: "1024Mi". */
	const char *scheduler_name;                       /**< Or NULL. */
	const char *image_pull_policy;                    /**< Or NULL. */
	const char *gpu_device_label; /**< NULL: "k8s.amazonaws.com/accelerator". */
	/** NULL: "k8s.amazonaws.com/gpu-partition-size". */
	const char *gpu_partition_size_label;
	const char *gpu_resource_name; /**< NULL: "nvidia.com/gpu". */
	int32_t host_network;          /**< 1: on; -1: off; 0: as in the pod. */
	int32_t inject_finalizer;      /**< 1: the job gets Flyte's finalizer. */
};
#define MPIJOB_FLYTE_CONFIG_INIT { sizeof(struct mpijob_flyte_config), NULL, NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** One execution of a task. NULL and 0: not given. Everything is borrowed. */
struct mpijob_flyte_execution {
	size_t size; /**< `sizeof` this struct. */
	/** Generated name of the task's execution; becomes the name of the job. */
	const char *name;
	const char *namespace_; /**< Namespace of the job. */
	const char *workflow;   /**< Identifier of the workflow. */
	/** Name of the workflow's execution; NULL: the pods get no environment variables about the
	 * execution. */
	const char *execution_name;
	const char *project; /**< Project of the workflow's execution. */
	const char *domain;  /**< Domain of the workflow's execution. */
	const char *node_id; /**< Identifier of the node, unique in the execution. */
	/** URL of Flyte's console; passed to tasks that have a `link_type`. */
	const char *console_url;
	const char *task_name;    /**< NULL: taken from the template's `id`. */
	const char *task_project; /**< Used with `task_name`. */
	const char *task_domain;  /**< Used with `task_name`. */
	const char *task_version; /**< Used with `task_name`. */
	/** Replaces `{{.input}}`. A placeholder without a value is not replaced. */
	const char *input_path;
	const char *input_prefix;      /**< Replaces `{{.inputPrefix}}`. */
	const char *output_prefix;     /**< Replaces `{{.outputPrefix}}`. */
	const char *raw_output_prefix; /**< Replaces `{{.rawOutputDataPrefix}}`. */
	const char *checkpoint_prefix; /**< Replaces `{{.checkpointOutputPrefix}}`. */
	/** Replaces `{{.prevCheckpointPrefix}}`; an empty string becomes two quotes. */
	const char *previous_checkpoint_prefix;
	const char *task_template_path; /**< Replaces `{{.taskTemplatePath}}`. */
	const char *service_account;    /**< Service account of pods that have none. */
	const char *image;              /**< Replaces the image of the primary container. */
	const mpijob_node *labels;      /**< A map. */
	const mpijob_node *annotations; /**< A map. */
	const mpijob_node *environment; /**< A map of names to values. */
	const mpijob_node *inputs;      /**< A map of names to scalars, for `{{.inputs.NAME}}`. */
	/** Overrides: `{"requests": {...}, "limits": {...}}` as in a container. */
	const mpijob_node *resources;
	/** Defaults (requests) and upper bounds (limits), in the same form. */
	const mpijob_node *platform_resources;
	/** A `flyteidl.core.K8sPod` that replaces the pod of the task. */
	const mpijob_node *pod_template;
	/** A `flyteidl.core.ExtendedResources` that overrides that of the task. */
	const mpijob_node *extended_resources;
	const mpijob_node *owner; /**< An OwnerReference for the job. */
	int32_t attempt;          /**< From 0. */
	int32_t interruptible;    /**< 1: yes; -1: no; 0: as in the task's metadata. */
};
#define MPIJOB_FLYTE_EXECUTION_INIT { sizeof(struct mpijob_flyte_execution), NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/**
 * Read the section `plugins.k8s` of propeller's configuration.
 *
 * The keys are those of Flyte: `default-annotations`, `interruptible-tolerations` and so on. Keys
 * that do not concern MPIJobs are skipped. `default-env-vars-from-env` and
 * `default-pod-template-name` are skipped with a finding "flyte-ignored", because this library
 * reads neither the environment nor the cluster.
 *
 * @param section  a map; not NULL; must live as long as `out` is used.
 * @param out      not NULL; initialised; members within its `size` are set if the section has their
 *                 key.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (a value has the wrong kind); `MPIJOB_ERR_UNSUPPORTED` (see base.h
 *         on structs); `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_config_read(const mpijob_node *section, struct mpijob_flyte_config *out,
    mpijob_diag *diag);

/**
 * Read a struct mpijob_flyte_execution from a map. Its keys are the names of the members in
 * camelCase, and `namespace` for `namespace_`.
 *
 * @param map   a map; not NULL; must live as long as `out` is used.
 * @param out   not NULL; initialised; members whose key is in the map are set.
 * @param diag  findings, or NULL; an unknown key is an error.
 * @return as mpijob_flyte_config_read().
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_execution_read(const mpijob_node *map,
    struct mpijob_flyte_execution *out, mpijob_diag *diag);

/** @} */
/** @name The job
 * @{ */

/** Options of mpijob_flyte_job(). */
struct mpijob_flyte_options {
	size_t size; /**< `sizeof` this struct. */
	/** Name of the template for findings, or NULL. */
	const char *source;
	const struct mpijob_flyte_config *config;       /**< NULL: Flyte's defaults. */
	const struct mpijob_flyte_execution *execution; /**< NULL: nothing is given. */
	/** `MPIJOB_FLYTE_*` flags; NULL: none for v1, all for v2beta1. */
	const uint32_t *repairs;
};
#define MPIJOB_FLYTE_OPTIONS_INIT { sizeof(struct mpijob_flyte_options), NULL, NULL, NULL, NULL }

/**
 * Make the MPIJob of a task.
 *
 * The job is neither defaulted nor validated. For v2beta1, `diag` also receives the findings of the
 * conversion.
 *
 * @param task     a TaskTemplate as a map; not NULL; unchanged.
 * @param version  "v1" or "kubeflow.org/v1", "v2beta1" or "kubeflow.org/v2beta1"; not NULL.
 * @param options  NULL for the defaults.
 * @param out      not NULL; the job, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (the task cannot become a job; Flyte does not retry such a failure);
 *         `MPIJOB_ERR_UNSUPPORTED` (version, options, or a part of the template that is not
 *         supported); `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_job(const mpijob_node *task, const char *version,
    const struct mpijob_flyte_options *options, mpijob_doc **out, mpijob_diag *diag);

/** @} */
/** @name The phase
 * @{ */

#define MPIJOB_FLYTE_UNDEFINED 0 /**< The phase is unknown; `error` may say why. */
#define MPIJOB_FLYTE_QUEUED    3 /**< Created, or suspended. */
#define MPIJOB_FLYTE_RUNNING   5 /**< Running or restarting. */
#define MPIJOB_FLYTE_SUCCESS   6 /**< Succeeded; Flyte reads the outputs of the task. */
/** Failed, a user error; Flyte may retry. */
#define MPIJOB_FLYTE_RETRYABLE_FAILURE 7

/** The phase of a task. The strings are borrowed from the status, `name` is a constant. */
struct mpijob_flyte_phase {
	size_t size;        /**< `sizeof` this struct of the library. */
	int32_t phase;      /**< `MPIJOB_FLYTE_*`, Flyte's numbers. */
	int32_t timed_out;  /**< 1: no operator started to handle the job in time; see `error`. */
	const char *name;   /**< "Queued", "RetryableFailure". */
	const char *reason; /**< "JobCreated", "Suspended"; "" when absent. */
	/** Code of a failure, "DownstreamSystemError"; "" without a failure. */
	const char *code;
	const char *message; /**< Message of a failure; "" without a failure. */
	/** Why the phase is unknown; or NULL. Flyte treats this as an error of the plugin and
	 * retries. */
	const char *error;
};

/** A link to a log. The strings are borrowed from the status. */
struct mpijob_flyte_link {
	size_t size;      /**< `sizeof` this struct of the library. */
	const char *name; /**< "Kubernetes Logs". */
	const char *uri;  /**< The address. */
	const char *pod;  /**< The pod. */
};

/** Template of a link to a pod's logs; placeholders are replaced as in Flyte's log plugins. */
struct mpijob_flyte_log_template {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< Name for users; not NULL. */
	const char *uri;  /**< "https://logs.example/{{ .namespace }}/{{ .podName }}"; not NULL. */
};
#define MPIJOB_FLYTE_LOG_TEMPLATE_INIT { sizeof(struct mpijob_flyte_log_template), NULL, NULL }

/** Options of mpijob_flyte_status_read(). */
struct mpijob_flyte_status_options {
	size_t size; /**< `sizeof` this struct. */
	/** The current time in seconds since 1970; 0: unknown: no job times out. */
	int64_t now_s;
	const int32_t *timeout_s; /**< Seconds that a job may wait for an operator; NULL: 60. */
	/** NULL: the Kubernetes dashboard, Flyte's default. */
	const struct mpijob_flyte_log_template *const *templates;
	/** Number of templates; 0 with `templates` not NULL: no links. */
	size_t templates_count;
	/** Values of placeholders; NULL: they are not replaced. */
	const struct mpijob_flyte_execution *execution;
	/** Name of the launcher pod. NULL: in v1 `JOB-launcher`; in v2beta1 there is no link,
	 * because the name has a random suffix. */
	const char *launcher_pod;
	const uint32_t *repairs; /**< `MPIJOB_FLYTE_*` flags; NULL: all; 0: as the plugin. */
};
#define MPIJOB_FLYTE_STATUS_OPTIONS_INIT { sizeof(struct mpijob_flyte_status_options), 0, NULL, \
	NULL, 0, NULL, NULL, NULL }

/** Phase and log links of a job. */
typedef struct mpijob_flyte_status mpijob_flyte_status;

/**
 * Compute Flyte's phase of an MPIJob, and the links to its logs.
 *
 * @param job      an MPIJob of v1 or v2beta1, as returned by an API server; not NULL.
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the status, yours.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (not an MPIJob of these versions; options);
 *         `MPIJOB_ERR_USAGE` (a log template without name or URI); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_status_read(const mpijob_node *job,
    const struct mpijob_flyte_status_options *options, mpijob_flyte_status **out);

/**
 * Get the phase.
 *
 * @param status  not NULL.
 * @return borrowed from the status; never NULL.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_flyte_phase *mpijob_flyte_status_phase(
    const mpijob_flyte_status *status);

/**
 * Count the links to logs. There are no links while the phase is undefined, and none for workers
 * beyond the first 10,000.
 *
 * @param status  not NULL.
 * @return how many mpijob_flyte_status_link_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_flyte_status_link_count(const mpijob_flyte_status *status);

/**
 * Get one link: first those of the launcher, then those of the workers, by index.
 *
 * @param status  not NULL.
 * @param index   from 0.
 * @return borrowed from the status; NULL when there is no such link.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_flyte_link *
mpijob_flyte_status_link_at(const mpijob_flyte_status *status, size_t index);

/**
 * Free a status.
 *
 * @param status  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_flyte_status_free(mpijob_flyte_status *status);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_FLYTE_H */

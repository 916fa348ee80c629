/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file flyte.h
 * Flyte's backend for MPI tasks: the template of a task becomes an MPIJob, the state of the job a
 * phase of Flyte.
 *
 * The reference is the plugin "mpi" of flyteplugins v1.16.8. For `kubeflow.org/v1` the job is the
 * one that this plugin builds, field for field. For `kubeflow.org/v2beta1`, which mpi-operator and
 * Kueue take, it is that job converted (mpijob_convert()) and repaired: what the plugin does wrong,
 * or what would go wrong over SSH, is one row each of the list that mpijob_flyte_repair_at() reads,
 * and each repair that changed something is a finding "flyte-repair".
 *
 * Templates are read as protobuf writes messages of `flyteidl.core.TaskTemplate` in JSON: keys in
 * camelCase (or as in the `.proto` file), enumerations as words or numbers, numbers also as
 * strings. `custom` is that of `task_type_version` 0 or 1.
 *
 * What only the administrator of Flyte knows is in struct mpijob_flyte_config, what only one
 * execution knows in struct mpijob_flyte_execution. Kubernetes' own types in them are documents, as
 * everywhere in this library.
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
 * Not carried over, and refused: the CoPilot sidecar (`dataConfig`), and PodTemplates of the
 * cluster. What Flyte adds for the identity of an execution belongs to the labels in struct
 * mpijob_flyte_execution. Fields of pods that nobody knows are kept, where the plugin drops them.
 */
#ifndef MPIJOB_FLYTE_H
#define MPIJOB_FLYTE_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name What the plugin does, and what is done in its place
 * @{ */

#define MPIJOB_FLYTE_SLOTS 0x1u /**< `slots` of the task count, also in version 1. */
/** A worker's command is one; without one it serves SSH, not mpirun. */
#define MPIJOB_FLYTE_WORKER_COMMAND 0x2u
/** mpirun passes the launcher's variables to remote ranks. */
#define MPIJOB_FLYTE_ENVIRONMENT 0x4u
/** A zero of the run policy that is written down is zero. */
#define MPIJOB_FLYTE_ZERO          0x8u
#define MPIJOB_FLYTE_SAFE_LAUNCHER 0x10u /**< The launcher is not interruptible. */
/** The launcher has no GPUs but those that are asked for it. */
#define MPIJOB_FLYTE_LAUNCHER_GPUS 0x20u
/** The primary container comes first, where the operator expects it. */
#define MPIJOB_FLYTE_PRIMARY_FIRST 0x40u
#define MPIJOB_FLYTE_ONE_LAUNCHER  0x80u /**< There is one launcher, also in version 0. */
/** The launcher's log, with the output of all ranks, is linked first. */
#define MPIJOB_FLYTE_LAUNCHER_LOGS 0x100u
/** A job that ended has ended, and of two conditions of one second the later counts. */
#define MPIJOB_FLYTE_END_COUNTS 0x200u

/** One thing that the plugin does and this library, asked for the repair, does not. All strings are
 * constants. */
struct mpijob_flyte_repair {
	size_t size;      /**< `sizeof` this struct of the library. */
	uint32_t flag;    /**< `MPIJOB_FLYTE_SLOTS` and so on. */
	const char *name; /**< "slots". */
	const char *what; /**< One or two sentences: what is done, and what the plugin does. */
	const char *why;  /**< What goes wrong otherwise. */
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
/** @name What Flyte knows
 * @{ */

/** What propeller's configuration says of pods, `plugins.k8s` in its file. NULL and 0: not given.
 * All is borrowed. */
struct mpijob_flyte_config {
	size_t size; /**< `sizeof` this struct. */
	/** A map; NULL: that which keeps the autoscaler away. */
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
	int32_t host_network;          /**< 1: on; -1: off; 0: as the pod has it. */
	int32_t inject_finalizer;      /**< 1: the job gets Flyte's finalizer. */
};
#define MPIJOB_FLYTE_CONFIG_INIT { sizeof(struct mpijob_flyte_config), NULL, NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** What one execution of a task knows. NULL and 0: not given. All is borrowed. */
struct mpijob_flyte_execution {
	size_t size; /**< `sizeof` this struct. */
	/** Generated name of the task's execution: that of the job. */
	const char *name;
	const char *namespace_; /**< Namespace of the job. */
	const char *workflow;   /**< Identifier of the workflow. */
	/** Of the workflow's execution; without it no variables tell of the execution. */
	const char *execution_name;
	const char *project; /**< Of the workflow's execution. */
	const char *domain;  /**< Of the workflow's execution. */
	const char *node_id; /**< Of the node, unique in the execution. */
	/** Of Flyte's console; told to tasks that have a `link_type`. */
	const char *console_url;
	const char *task_name;    /**< NULL: what the template says in its `id`. */
	const char *task_project; /**< Counts with `task_name`. */
	const char *task_domain;  /**< Counts with `task_name`. */
	const char *task_version; /**< Counts with `task_name`. */
	/** Replaces `{{.input}}`; a placeholder without a value stays. */
	const char *input_path;
	const char *input_prefix;      /**< Replaces `{{.inputPrefix}}`. */
	const char *output_prefix;     /**< Replaces `{{.outputPrefix}}`. */
	const char *raw_output_prefix; /**< Replaces `{{.rawOutputDataPrefix}}`. */
	const char *checkpoint_prefix; /**< Replaces `{{.checkpointOutputPrefix}}`. */
	/** Replaces `{{.prevCheckpointPrefix}}`; "": by two quotes. */
	const char *previous_checkpoint_prefix;
	const char *task_template_path; /**< Replaces `{{.taskTemplatePath}}`. */
	const char *service_account;    /**< Of pods that name none. */
	const char *image;              /**< In place of the image of the primary container. */
	const mpijob_node *labels;      /**< A map. */
	const mpijob_node *annotations; /**< A map. */
	const mpijob_node *environment; /**< A map of names to values. */
	const mpijob_node *inputs;      /**< A map of names to scalars, for `{{.inputs.NAME}}`. */
	/** Overrides: `{"requests": {...}, "limits": {...}}` as in a container. */
	const mpijob_node *resources;
	/** Defaults (requests) and upper bounds (limits), in the same form. */
	const mpijob_node *platform_resources;
	/** A `flyteidl.core.K8sPod` that takes the place of the task's pod. */
	const mpijob_node *pod_template;
	/** A `flyteidl.core.ExtendedResources` over that of the task. */
	const mpijob_node *extended_resources;
	const mpijob_node *owner; /**< An OwnerReference for the job. */
	int32_t attempt;          /**< From 0. */
	int32_t interruptible;    /**< 1: yes; -1: no; 0: as the task's metadata say. */
};
#define MPIJOB_FLYTE_EXECUTION_INIT { sizeof(struct mpijob_flyte_execution), NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/**
 * Read the section `plugins.k8s` of propeller's configuration.
 *
 * Keys are those of Flyte: `default-annotations`, `interruptible-tolerations` and so on. What is of
 * no use for an MPIJob is passed over; `default-env-vars-from-env` and `default-pod-template-name`
 * give a finding "flyte-ignored", as this library reads neither the environment nor the cluster.
 *
 * @param section  a map; not NULL; must live as long as `out` is used.
 * @param out      not NULL; initialised; what is given is set, as far as its `size` goes.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (a value is of another kind); `MPIJOB_ERR_UNSUPPORTED` (see base.h
 *         on structs); `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_config_read(const mpijob_node *section, struct mpijob_flyte_config *out,
    mpijob_diag *diag);

/**
 * Read what an execution knows from a map, whose keys are the members' names in camelCase,
 * `namespace` for `namespace_`.
 *
 * @param map   a map; not NULL; must live as long as `out` is used.
 * @param out   not NULL; initialised; what is given is set.
 * @param diag  findings, or NULL; a key that is none is an error.
 * @return as mpijob_flyte_config_read().
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_execution_read(const mpijob_node *map,
    struct mpijob_flyte_execution *out, mpijob_diag *diag);

/** @} */
/** @name The job
 * @{ */

/** How to make a job. */
struct mpijob_flyte_options {
	size_t size; /**< `sizeof` this struct. */
	/** Name of the template for findings, or NULL. */
	const char *source;
	const struct mpijob_flyte_config *config;       /**< NULL: Flyte's defaults. */
	const struct mpijob_flyte_execution *execution; /**< NULL: nothing is known. */
	/** Flags; NULL: none for v1, all for v2beta1. */
	const uint32_t *repairs;
};
#define MPIJOB_FLYTE_OPTIONS_INIT { sizeof(struct mpijob_flyte_options), NULL, NULL, NULL, NULL }

/**
 * Make the MPIJob of a task.
 *
 * The job is neither defaulted nor validated. For v2beta1 the findings of the conversion come
 * along.
 *
 * @param task     a TaskTemplate as a map; not NULL; unchanged.
 * @param version  "v1" or "kubeflow.org/v1", "v2beta1" or "kubeflow.org/v2beta1"; not NULL.
 * @param options  NULL for the defaults.
 * @param out      not NULL; the job, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (the task cannot become a job; Flyte fails it for good);
 *         `MPIJOB_ERR_UNSUPPORTED` (version, options, or a part of the template that is not carried
 *         over); `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_flyte_job(const mpijob_node *task, const char *version,
    const struct mpijob_flyte_options *options, mpijob_doc **out, mpijob_diag *diag);

/** @} */
/** @name The phase
 * @{ */

#define MPIJOB_FLYTE_UNDEFINED 0 /**< Nothing can be told now; `error` may say why. */
#define MPIJOB_FLYTE_QUEUED    3 /**< Created, or suspended. */
#define MPIJOB_FLYTE_RUNNING   5 /**< Running, or starting again. */
#define MPIJOB_FLYTE_SUCCESS   6 /**< Succeeded; what the task wrote is to be read now. */
#define MPIJOB_FLYTE_RETRYABLE_FAILURE                            \
	7 /**< Failed, an error of the user; Flyte may try again. \
	   */

/** The phase of a task. The strings are borrowed from the status, the name is a constant. */
struct mpijob_flyte_phase {
	size_t size;         /**< `sizeof` this struct of the library. */
	int32_t phase;       /**< `MPIJOB_FLYTE_*`, the numbers of Flyte. */
	int32_t timed_out;   /**< 1: no operator took the job up in time; `error` says so. */
	const char *name;    /**< "Queued", "RetryableFailure". */
	const char *reason;  /**< "JobCreated", "Suspended"; "" when there is none. */
	const char *code;    /**< Of a failure, "DownstreamSystemError"; "" without one. */
	const char *message; /**< Of a failure; "" without one. */
	/** Why no phase can be told: Flyte takes it for an error of the plugin and asks again; or
	 * NULL. */
	const char *error;
};

/** Where a log can be read. The strings are borrowed from the status. */
struct mpijob_flyte_link {
	size_t size;      /**< `sizeof` this struct of the library. */
	const char *name; /**< "Kubernetes Logs". */
	const char *uri;  /**< The address. */
	const char *pod;  /**< Whose log it is. */
};

/** How to name and find the logs of a pod; placeholders in both are replaced as Flyte's log plugins
 * do. */
struct mpijob_flyte_log_template {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< Shown to people; not NULL. */
	const char *uri;  /**< "https://logs.example/{{ .namespace }}/{{ .podName }}"; not NULL. */
};
#define MPIJOB_FLYTE_LOG_TEMPLATE_INIT { sizeof(struct mpijob_flyte_log_template), NULL, NULL }

/** How to read a status. */
struct mpijob_flyte_status_options {
	size_t size; /**< `sizeof` this struct. */
	/** Seconds since 1970; 0: unknown, so that nothing is too late. */
	int64_t now_s;
	const int32_t *timeout_s; /**< How long a job may wait for an operator; NULL: 60. */
	/** NULL: Kubernetes' dashboard, as Flyte's default. */
	const struct mpijob_flyte_log_template *const *templates;
	/** How many; with `templates` not NULL and 0 no log is linked. */
	size_t template_count;
	const struct mpijob_flyte_execution *execution; /**< For placeholders; NULL: they stay. */
	/** NULL: in v1 `JOB-launcher`; in v2beta1 it has a random end, and is not linked. */
	const char *launcher_pod;
	const uint32_t *repairs; /**< Flags; NULL: all. 0 is what the plugin does. */
};
#define MPIJOB_FLYTE_STATUS_OPTIONS_INIT { sizeof(struct mpijob_flyte_status_options), 0, NULL, \
	NULL, 0, NULL, NULL, NULL }

/** What Flyte is told of a job. */
typedef struct mpijob_flyte_status mpijob_flyte_status;

/**
 * Tell Flyte's phase of an MPIJob, with the addresses of its logs.
 *
 * @param job      an MPIJob of v1 or v2beta1, as a server gives it; not NULL.
 * @param options  NULL for the defaults.
 * @param out      not NULL; the status, yours.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (not such a job; options); `MPIJOB_ERR_USAGE` (a log template
 *         without name or URI); `MPIJOB_ERR_NOMEM`.
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
 * Count the links to logs; there are none while the phase is undefined, and none of workers beyond
 * the first 10,000.
 *
 * @param status  not NULL.
 * @return how many mpijob_flyte_status_link_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_flyte_status_link_count(const mpijob_flyte_status *status);

/**
 * Get one link: the launcher's come first, then those of the workers in their order.
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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_FLYTE_H
#define MPIJOB_FLYTE_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_FLYTE_SLOTS 0x1u
#define MPIJOB_FLYTE_WORKER_COMMAND 0x2u
#define MPIJOB_FLYTE_ENVIRONMENT 0x4u
#define MPIJOB_FLYTE_ZERO 0x8u
#define MPIJOB_FLYTE_SAFE_LAUNCHER 0x10u
#define MPIJOB_FLYTE_LAUNCHER_GPUS 0x20u
#define MPIJOB_FLYTE_PRIMARY_FIRST 0x40u
#define MPIJOB_FLYTE_ONE_LAUNCHER 0x80u
#define MPIJOB_FLYTE_LAUNCHER_LOGS 0x100u
#define MPIJOB_FLYTE_END_COUNTS 0x200u
struct mpijob_flyte_repair {
	size_t size;
	uint32_t flag;
	const char *name;
	const char *what;
	const char *why;
};
MPIJOB_API size_t mpijob_flyte_repair_count(void);
MPIJOB_API const struct mpijob_flyte_repair *mpijob_flyte_repair_at(size_t index);
struct mpijob_flyte_config {
	size_t size;
	const mpijob_node *default_annotations;
	const mpijob_node *default_labels;
	const mpijob_node *default_env_vars;
	const mpijob_node *default_env_from_config_maps;
	const mpijob_node *default_env_from_secrets;
	const mpijob_node *default_tolerations;
	const mpijob_node *default_node_selector;
	const mpijob_node *default_affinity;
	const mpijob_node *interruptible_tolerations;
	const mpijob_node *interruptible_node_selector;
	const mpijob_node *interruptible_requirement;
	const mpijob_node *non_interruptible_requirement;
	const mpijob_node *resource_tolerations;
	const mpijob_node *extended_resources;
	const mpijob_node *gpu_unpartitioned_requirement;
	const mpijob_node *gpu_unpartitioned_toleration;
	const mpijob_node *default_pod_security_context;
	const mpijob_node *default_security_context;
	const mpijob_node *default_pod_dns_config;
	const char *default_cpu;
	const char *default_memory;
	const char *scheduler_name;
	const char *image_pull_policy;
	const char *gpu_device_label;
	const char *gpu_partition_size_label;
	const char *gpu_resource_name;
	int32_t host_network;
	int32_t inject_finalizer;
};
#define MPIJOB_FLYTE_CONFIG_INIT { sizeof(struct mpijob_flyte_config), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }
struct mpijob_flyte_execution {
	size_t size;
	const char *name;
	const char *namespace_;
	const char *workflow;
	const char *execution_name;
	const char *project;
	const char *domain;
	const char *node_id;
	const char *console_url;
	const char *task_name;
	const char *task_project;
	const char *task_domain;
	const char *task_version;
	const char *input_path;
	const char *input_prefix;
	const char *output_prefix;
	const char *raw_output_prefix;
	const char *checkpoint_prefix;
	const char *previous_checkpoint_prefix;
	const char *task_template_path;
	const char *service_account;
	const char *image;
	const mpijob_node *labels;
	const mpijob_node *annotations;
	const mpijob_node *environment;
	const mpijob_node *inputs;
	const mpijob_node *resources;
	const mpijob_node *platform_resources;
	const mpijob_node *pod_template;
	const mpijob_node *extended_resources;
	const mpijob_node *owner;
	int32_t attempt;
	int32_t interruptible;
};
#define MPIJOB_FLYTE_EXECUTION_INIT { sizeof(struct mpijob_flyte_execution), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }
MPIJOB_API int mpijob_flyte_config_read(const mpijob_node *section, struct mpijob_flyte_config *out, mpijob_diag *diag);
MPIJOB_API int mpijob_flyte_execution_read(const mpijob_node *map, struct mpijob_flyte_execution *out, mpijob_diag *diag);
struct mpijob_flyte_options {
	size_t size;
	const char *source;
	const struct mpijob_flyte_config *config;
	const struct mpijob_flyte_execution *execution;
	const uint32_t *repairs;
};
#define MPIJOB_FLYTE_OPTIONS_INIT { sizeof(struct mpijob_flyte_options), NULL, NULL, NULL, NULL }
MPIJOB_API int mpijob_flyte_job(const mpijob_node *task, const char *version, const struct mpijob_flyte_options *options, mpijob_doc **out, mpijob_diag *diag);
#define MPIJOB_FLYTE_UNDEFINED 0
#define MPIJOB_FLYTE_QUEUED 3
#define MPIJOB_FLYTE_RUNNING 5
#define MPIJOB_FLYTE_SUCCESS 6
#define MPIJOB_FLYTE_RETRYABLE_FAILURE 7
struct mpijob_flyte_phase {
	size_t size;
	int32_t phase;
	int32_t timed_out;
	const char *name;
	const char *reason;
	const char *code;
	const char *message;
	const char *error;
};
struct mpijob_flyte_link {
	size_t size;
	const char *name;
	const char *uri;
	const char *pod;
};
struct mpijob_flyte_log_template {
	size_t size;
	const char *name;
	const char *uri;
};
#define MPIJOB_FLYTE_LOG_TEMPLATE_INIT { sizeof(struct mpijob_flyte_log_template), NULL, NULL }
struct mpijob_flyte_status_options {
	size_t size;
	int64_t now_s;
	const int32_t *timeout_s;
	const struct mpijob_flyte_log_template *const *templates;
	size_t templates_count;
	const struct mpijob_flyte_execution *execution;
	const char *launcher_pod;
	const uint32_t *repairs;
};
#define MPIJOB_FLYTE_STATUS_OPTIONS_INIT { sizeof(struct mpijob_flyte_status_options), 0, NULL, NULL, 0, NULL, NULL, NULL }
typedef struct mpijob_flyte_status mpijob_flyte_status;
MPIJOB_API int mpijob_flyte_status_read(const mpijob_node *job, const struct mpijob_flyte_status_options *options, mpijob_flyte_status **out);
MPIJOB_API const struct mpijob_flyte_phase *mpijob_flyte_status_phase(const mpijob_flyte_status *status);
MPIJOB_API size_t mpijob_flyte_status_link_count(const mpijob_flyte_status *status);
MPIJOB_API const struct mpijob_flyte_link * mpijob_flyte_status_link_at(const mpijob_flyte_status *status, size_t index);
MPIJOB_API void mpijob_flyte_status_free(mpijob_flyte_status *status);
#ifdef __cplusplus
}
#endif
#endif

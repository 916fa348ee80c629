/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_PLAN_H
#define MPIJOB_PLAN_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/job.h>
#include <mpijob/render.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_POD_PENDING 1
#define MPIJOB_POD_RUNNING 2
#define MPIJOB_POD_SUCCEEDED 3
#define MPIJOB_POD_FAILED 4
#define MPIJOB_POD_UNKNOWN 5
struct mpijob_pod_facts {
	size_t size;
	const char *name;
	const char *uid;
	const char *owner_uid;
	int32_t role;
	int32_t index;
	int32_t phase;
	int32_t ready;
	int32_t deleting;
	int32_t exit_code;
	const char *reason;
	const char *message;
	const char *node;
	int64_t created_ms;
	int64_t running_since_ms;
	int64_t ended_ms;
};
#define MPIJOB_POD_FACTS_INIT { sizeof(struct mpijob_pod_facts), NULL, NULL, NULL, 0, -1, 0, 0, 0, -1, NULL, NULL, NULL, 0, 0, 0 }
struct mpijob_launcher_facts {
	size_t size;
	const char *name;
	const char *uid;
	const char *owner_uid;
	const char *resource_version;
	int32_t deleting;
	int32_t suspended;
	int32_t complete;
	int32_t has_failed;
	const char *failed_reason;
	const char *failed_message;
	int32_t active;
	int32_t succeeded;
	int32_t failed;
	int64_t start_ms;
	int64_t completion_ms;
	uint64_t directives;
	const mpijob_node *node_selector;
};
#define MPIJOB_LAUNCHER_FACTS_INIT { sizeof(struct mpijob_launcher_facts), NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL }
struct mpijob_child_facts {
	size_t size;
	int32_t role;
	const char *name;
	const char *uid;
	const char *owner_uid;
	int32_t deleting;
	uint64_t digest;
	uint64_t listed;
	int32_t listed_count;
	const uint8_t *listed_workers;
	size_t listed_workers_count;
	const mpijob_node *owned;
};
#define MPIJOB_CHILD_FACTS_INIT { sizeof(struct mpijob_child_facts), 0, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, NULL }
#define MPIJOB_EVENT_NONE 0
#define MPIJOB_EVENT_ADDED 1
#define MPIJOB_EVENT_MODIFIED 2
#define MPIJOB_EVENT_DELETED 3
#define MPIJOB_EVENT_BOOKMARK 4
#define MPIJOB_EVENT_ERROR 5
typedef struct mpijob_observation mpijob_observation;
struct mpijob_observed {
	size_t size;
	int32_t event;
	const char *api_version;
	const char *kind;
	const char *namespace_;
	const char *name;
	const char *uid;
	const char *resource_version;
	const char *owner_api_version;
	const char *owner_kind;
	const char *owner_name;
	const char *owner_uid;
	const char *job_name;
	int32_t deleting;
	int32_t code;
	const char *reason;
	const char *message;
	int32_t initial_events_end;
	const struct mpijob_pod_facts *pod;
	const struct mpijob_launcher_facts *launcher;
	const struct mpijob_child_facts *child;
	int32_t priority_value;
	int32_t reserved;
};
MPIJOB_API mpijob_observation *mpijob_observation_new(void);
MPIJOB_API void mpijob_observation_free(mpijob_observation *observation);
MPIJOB_API int mpijob_observe(mpijob_observation *observation, const char *json, size_t len, const struct mpijob_observed **out, mpijob_diag *diag);
typedef struct mpijob_facts mpijob_facts;
MPIJOB_API mpijob_facts *mpijob_facts_new(void);
MPIJOB_API void mpijob_facts_free(mpijob_facts *facts);
MPIJOB_API int mpijob_facts_apply(mpijob_facts *facts, const struct mpijob_observed *observed);
MPIJOB_API int mpijob_facts_forget(mpijob_facts *facts, const char *uid);
MPIJOB_API int mpijob_facts_pod_find(const mpijob_facts *facts, int32_t role, int32_t index, const char *name, size_t *out);
MPIJOB_API const struct mpijob_pod_facts *mpijob_facts_pod_at(mpijob_facts *facts, size_t index);
MPIJOB_API const struct mpijob_launcher_facts *mpijob_facts_launcher(const mpijob_facts *facts);
MPIJOB_API const struct mpijob_child_facts *mpijob_facts_child(const mpijob_facts *facts, int32_t role);
struct mpijob_plan_options {
	size_t size;
	int64_t now_ms;
	const struct mpijob_render_options *render;
	int32_t max_workers;
	const mpijob_diag *validated;
	int64_t launcher_hold_ms;
	int64_t workers_ready_ms;
	int32_t names_known;
	int32_t reserved;
};
#define MPIJOB_PLAN_OPTIONS_INIT { sizeof(struct mpijob_plan_options), 0, NULL, 0, NULL, 0, 0, 0, 0 }
typedef struct mpijob_plan mpijob_plan;
#define MPIJOB_ACTION_CREATE 1
#define MPIJOB_ACTION_PATCH 2
#define MPIJOB_ACTION_PATCH_STATUS 3
#define MPIJOB_ACTION_DELETE 4
#define MPIJOB_ACTION_EVENT 5
struct mpijob_fresh_read {
	size_t size;
	int32_t role;
	const char *api_version;
	const char *kind;
	const char *name;
	const char *uid;
};
struct mpijob_action {
	size_t size;
	int32_t verb;
	int32_t stage;
	int32_t role;
	int32_t index;
	const char *api_version;
	const char *kind;
	const char *name;
	const char *uid;
	const char *why;
	const char *event_type;
	const char *event_reason;
	const char *event_message;
	const struct mpijob_fresh_read *const *fresh_reads;
	size_t fresh_reads_count;
	const char *difference;
};
#define MPIJOB_TRANSITION_CREATED 1
#define MPIJOB_TRANSITION_SUCCEEDED 2
#define MPIJOB_TRANSITION_FAILED 4
struct mpijob_plan_result {
	size_t size;
	size_t actions_count;
	const struct mpijob_status *status;
	int64_t next_ms;
	int32_t awaited_names;
	int32_t transitions;
};
MPIJOB_API int mpijob_plan_new(const mpijob *job, const mpijob_facts *facts, const struct mpijob_plan_options *options, mpijob_plan **out, mpijob_diag *diag);
MPIJOB_API void mpijob_plan_free(mpijob_plan *plan);
MPIJOB_API const struct mpijob_action *mpijob_plan_at(const mpijob_plan *plan, size_t index);
MPIJOB_API int mpijob_plan_write_body(const mpijob_plan *plan, size_t index, const uint8_t *entropy, size_t entropy_len, mpijob_write_fn write, void *user);
MPIJOB_API const struct mpijob_plan_result *mpijob_plan_get_result(const mpijob_plan *plan);
#ifdef __cplusplus
}
#endif
#endif

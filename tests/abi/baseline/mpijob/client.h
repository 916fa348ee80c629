/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_CLIENT_H
#define MPIJOB_CLIENT_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/tasks.h>
#include <mpijob/transport.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_client mpijob_client;
MPIJOB_API int mpijob_client_new(const struct mpijob_transport *transport, void *self, mpijob_client **out);
struct mpijob_client_options {
	size_t size;
	int32_t qps;
	int32_t burst;
	int32_t retries;
	int64_t retry_after_most_ms;
	void (*warning)(void *user, const char *text);
	void *warning_user;
};
#define MPIJOB_CLIENT_OPTIONS_INIT { sizeof(struct mpijob_client_options), 0, 0, 0, 0, NULL, NULL }
MPIJOB_API int mpijob_client_set_options(mpijob_client *client, const struct mpijob_client_options *options);
MPIJOB_API void mpijob_client_free(mpijob_client *client);
MPIJOB_API int mpijob_client_poll(mpijob_client *client, int timeout_ms);
MPIJOB_API int mpijob_client_interest(mpijob_client *client, int *fd, int64_t *deadline_ms);
MPIJOB_API void mpijob_client_wake(mpijob_client *client);
MPIJOB_API void mpijob_client_cancel(mpijob_client *client);
MPIJOB_API int64_t mpijob_client_server_ms(const mpijob_client *client);
struct mpijob_request_stats {
	size_t size;
	const char *method;
	int32_t streaming;
	int32_t status;
	int32_t code;
	int64_t took_ms;
};
struct mpijob_client_observer {
	size_t size;
	void (*ended)(void *user, const struct mpijob_request_stats *stats);
	void (*received)(void *user, size_t len);
	void *user;
};
#define MPIJOB_CLIENT_OBSERVER_INIT { sizeof(struct mpijob_client_observer), NULL, NULL, NULL }
MPIJOB_API int mpijob_client_set_observer(mpijob_client *client, const struct mpijob_client_observer *observer);
typedef struct mpijob_timer mpijob_timer;
typedef void (*mpijob_timer_fn)(void *user);
MPIJOB_API int mpijob_timer_new(mpijob_client *client, mpijob_timer_fn fire, void *user, mpijob_timer **out);
MPIJOB_API void mpijob_timer_set(mpijob_timer *timer, int64_t due_ms);
MPIJOB_API void mpijob_timer_free(mpijob_timer *timer);
#define MPIJOB_SCOPE_AUTO 0
#define MPIJOB_SCOPE_NAMESPACED 1
#define MPIJOB_SCOPE_CLUSTER 2
struct mpijob_target {
	size_t size;
	const char *api_version;
	const char *kind;
	const char *namespace_;
	const char *name;
	const char *subresource;
	const char *const *query;
	size_t query_count;
	const char *plural;
	int32_t scope;
	int32_t reserved;
};
#define MPIJOB_TARGET_INIT { sizeof(struct mpijob_target), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0 }
MPIJOB_API int mpijob_target_write(const struct mpijob_target *target, mpijob_write_fn write, void *user);
typedef struct mpijob_call mpijob_call;
struct mpijob_answer {
	size_t size;
	int32_t code;
	int32_t status;
	const char *body;
	size_t body_len;
	const char *reason;
	const char *message;
	int64_t retry_after_ms;
};
struct mpijob_callbacks {
	size_t size;
	int (*data)(void *user, const char *data, size_t len);
	void (*done)(void *user, const struct mpijob_answer *answer);
	void *user;
};
#define MPIJOB_CALLBACKS_INIT { sizeof(struct mpijob_callbacks), NULL, NULL, NULL }
MPIJOB_API int mpijob_client_start(mpijob_client *client, const struct mpijob_request *request, const struct mpijob_callbacks *callbacks, mpijob_call **out);
MPIJOB_API void mpijob_call_cancel(mpijob_call *call);
MPIJOB_API void mpijob_call_pause(mpijob_call *call, int on);
MPIJOB_API int mpijob_call_queued(const mpijob_call *call);
MPIJOB_API int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_get(mpijob_client *client, const struct mpijob_target *target, mpijob_doc **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = out ? mpijob_client_get_start(client, target, NULL, &task, diag) : MPIJOB_ERR_USAGE;
	return rc ? rc : mpijob_task_wait(task, NULL, out);
}
MPIJOB_API int mpijob_client_list_start(mpijob_client *client, const struct mpijob_target *target, int32_t page, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_list(mpijob_client *client, const struct mpijob_target *target, int32_t page, mpijob_doc **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = out ? mpijob_client_list_start(client, target, page, NULL, &task, diag) : MPIJOB_ERR_USAGE;
	return rc ? rc : mpijob_task_wait(task, NULL, out);
}
#define MPIJOB_WRITE_CREATE 0
#define MPIJOB_WRITE_UPDATE 1
#define MPIJOB_WRITE_PATCH_MERGE 2
#define MPIJOB_WRITE_PATCH_JSON 3
#define MPIJOB_WRITE_PATCH_STRATEGIC 4
#define MPIJOB_WRITE_APPLY 5
struct mpijob_write_options {
	size_t size;
	int32_t verb;
	const char *field_manager;
	int32_t force;
	int32_t reserved;
};
#define MPIJOB_WRITE_OPTIONS_INIT { sizeof(struct mpijob_write_options), 0, NULL, 0, 0 }
MPIJOB_API int mpijob_client_write_start(mpijob_client *client, const struct mpijob_target *target, const mpijob_node *object, const struct mpijob_write_options *options, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_write(mpijob_client *client, const struct mpijob_target *target, const mpijob_node *object, const struct mpijob_write_options *options, mpijob_doc **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_write_start(client, target, object, options, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, out);
}
struct mpijob_delete_options {
	size_t size;
	const char *uid;
	const char *resource_version;
	const char *propagation;
	const int64_t *grace_seconds;
};
#define MPIJOB_DELETE_OPTIONS_INIT { sizeof(struct mpijob_delete_options), NULL, NULL, NULL, NULL }
MPIJOB_API int mpijob_client_delete_start(mpijob_client *client, const struct mpijob_target *target, const struct mpijob_delete_options *options, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_delete(mpijob_client *client, const struct mpijob_target *target, const struct mpijob_delete_options *options, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_delete_start(client, target, options, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}
MPIJOB_API int mpijob_delete_options_write(const struct mpijob_delete_options *options, mpijob_write_fn write, void *user);
struct mpijob_access {
	size_t size;
	const char *verb;
	const char *group;
	const char *resource;
	const char *subresource;
	const char *namespace_;
	const char *name;
};
#define MPIJOB_ACCESS_INIT { sizeof(struct mpijob_access), NULL, NULL, NULL, NULL, NULL, NULL }
MPIJOB_API int mpijob_client_can_start(mpijob_client *client, const struct mpijob_access *access, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_can(mpijob_client *client, const struct mpijob_access *access, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_can_start(client, access, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}
#ifdef __cplusplus
}
#endif
#endif

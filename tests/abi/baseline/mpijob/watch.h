/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_WATCH_H
#define MPIJOB_WATCH_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/tasks.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_watch mpijob_watch;
#define MPIJOB_WATCH_LISTED 0
#define MPIJOB_WATCH_ADDED 1
#define MPIJOB_WATCH_MODIFIED 2
#define MPIJOB_WATCH_DELETED 3
struct mpijob_watch_event {
	size_t size;
	int32_t event;
	const char *json;
	size_t json_len;
	size_t whole_len;
	const char *uid;
	const char *name;
	const char *namespace_;
	const char *resource_version;
};
struct mpijob_watch_options {
	size_t size;
	const char *api_version;
	const char *kind;
	const char *namespace_;
	const char *name;
	const char *label_selector;
	size_t object_limit;
	uint64_t seed;
	void (*begin)(void *user);
	int (*object)(void *user, const struct mpijob_watch_event *event);
	int (*listed)(void *user, const char *resource_version);
	void (*failed)(void *user, const struct mpijob_answer *answer, const char *what);
	void *user;
	const char *plural;
	int32_t scope;
	int32_t reserved;
};
#define MPIJOB_WATCH_OPTIONS_INIT { sizeof(struct mpijob_watch_options), NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }
MPIJOB_API int mpijob_watch_new(mpijob_client *client, const struct mpijob_watch_options *options, mpijob_watch **out);
MPIJOB_API void mpijob_watch_free(mpijob_watch *watch);
struct mpijob_watch_health {
	size_t size;
	int32_t code;
	int64_t silent_ms;
	int32_t synced;
	int32_t hopeless;
};
MPIJOB_API const struct mpijob_watch_health *mpijob_watch_health_get(mpijob_watch *watch);
typedef int (*mpijob_wait_fn)(void *user, const mpijob_node *object);
MPIJOB_API int mpijob_client_wait_start(mpijob_client *client, const struct mpijob_target *target, int64_t timeout_ms, mpijob_wait_fn ready, void *user, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_wait(mpijob_client *client, const struct mpijob_target *target, int64_t timeout_ms, mpijob_wait_fn ready, void *user, mpijob_doc **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_wait_start(client, target, timeout_ms, ready, user, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, out);
}
#ifdef __cplusplus
}
#endif
#endif

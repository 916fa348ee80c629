/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_TASKS_H
#define MPIJOB_TASKS_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#include <mpijob/jobs.h>
#include <mpijob/watch.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_task mpijob_task;
struct mpijob_task_callbacks {
	size_t size;
	void (*done)(void *user, int code, mpijob *job, mpijob_doc *doc);
	void *user;
};
#define MPIJOB_TASK_CALLBACKS_INIT { sizeof(struct mpijob_task_callbacks), NULL, NULL }
MPIJOB_API void mpijob_task_cancel(mpijob_task *task);
MPIJOB_API int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_list_start(mpijob_client *client, const struct mpijob_target *target, int32_t page, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_can_start(mpijob_client *client, const struct mpijob_access *access, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_wait_start(mpijob_client *client, const struct mpijob_target *target, int64_t timeout_ms, mpijob_wait_fn ready, void *user, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_submit_start(mpijob_client *client, const mpijob *job, const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_get_job_start(mpijob_client *client, const char *namespace_, const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_suspend_start(mpijob_client *client, const char *namespace_, const char *name, int on, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_scale_start(mpijob_client *client, const char *namespace_, const char *name, int32_t workers, int32_t expected, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_delete_job_start(mpijob_client *client, const char *namespace_, const char *name, const char *uid, const char *propagation, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_wait_job_start(mpijob_client *client, const char *namespace_, const char *name, const char *condition, int64_t timeout_ms, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
MPIJOB_API int mpijob_client_events_start(mpijob_client *client, const char *namespace_, const char *kind, const char *name, const char *uid, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif

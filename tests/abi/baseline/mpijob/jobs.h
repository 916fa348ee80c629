/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_JOBS_H
#define MPIJOB_JOBS_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#include <mpijob/tasks.h>
#ifdef __cplusplus
extern "C" {
#endif
struct mpijob_submit_options {
	size_t size;
	const char *namespace_;
	int32_t apply;
	int32_t force;
	int32_t dry_run;
	const char *field_manager;
	const char *field_validation;
};
#define MPIJOB_SUBMIT_OPTIONS_INIT { sizeof(struct mpijob_submit_options), NULL, 0, 0, 0, NULL, NULL }
MPIJOB_API int mpijob_client_submit_start(mpijob_client *client, const mpijob *job, const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_submit(mpijob_client *client, const mpijob *job, const struct mpijob_submit_options *options, mpijob **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_submit_start(client, job, options, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, out, NULL);
}
MPIJOB_API int mpijob_client_get_job_start(mpijob_client *client, const char *namespace_, const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_get_job(mpijob_client *client, const char *namespace_, const char *name, mpijob **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = out ? mpijob_client_get_job_start(client, namespace_, name, NULL, &task, diag) : MPIJOB_ERR_USAGE;
	return rc ? rc : mpijob_task_wait(task, out, NULL);
}
MPIJOB_API int mpijob_client_suspend_start(mpijob_client *client, const char *namespace_, const char *name, int on, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_suspend(mpijob_client *client, const char *namespace_, const char *name, int on, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_suspend_start(client, namespace_, name, on, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}
MPIJOB_API int mpijob_client_scale_start(mpijob_client *client, const char *namespace_, const char *name, int32_t workers, int32_t expected, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_scale(mpijob_client *client, const char *namespace_, const char *name, int32_t workers, int32_t expected, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_scale_start(client, namespace_, name, workers, expected, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}
MPIJOB_API int mpijob_client_delete_job_start(mpijob_client *client, const char *namespace_, const char *name, const char *uid, const char *propagation, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_delete_job(mpijob_client *client, const char *namespace_, const char *name, const char *uid, const char *propagation, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_delete_job_start(client, namespace_, name, uid, propagation, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}
MPIJOB_API int mpijob_client_wait_job_start(mpijob_client *client, const char *namespace_, const char *name, const char *condition, int64_t timeout_ms, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_wait_job(mpijob_client *client, const char *namespace_, const char *name, const char *condition, int64_t timeout_ms, mpijob **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_client_wait_job_start(client, namespace_, name, condition, timeout_ms, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, out, NULL);
}
MPIJOB_API int mpijob_client_events_start(mpijob_client *client, const char *namespace_, const char *kind, const char *name, const char *uid, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_client_events(mpijob_client *client, const char *namespace_, const char *kind, const char *name, const char *uid, mpijob_doc **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = out ? mpijob_client_events_start(client, namespace_, kind, name, uid, NULL, &task, diag) : MPIJOB_ERR_USAGE;
	return rc ? rc : mpijob_task_wait(task, NULL, out);
}
#ifdef __cplusplus
}
#endif
#endif

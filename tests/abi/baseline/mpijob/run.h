/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_RUN_H
#define MPIJOB_RUN_H
#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/diagnose.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#include <mpijob/jobs.h>
#include <mpijob/tasks.h>
#ifdef __cplusplus
extern "C" {
#endif
MPIJOB_API int mpijob_run_order(const mpijob_node *object);
MPIJOB_API int mpijob_run_create_start(mpijob_client *client, const mpijob_node *object, const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_run_create(mpijob_client *client, const mpijob_node *object, const struct mpijob_submit_options *options, mpijob_doc **out, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_run_create_start(client, object, options, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, NULL, out);
}
typedef struct mpijob_run mpijob_run;
#define MPIJOB_RUN_STATUS 1
#define MPIJOB_RUN_OUTPUT 2
#define MPIJOB_RUN_NOTICE 3
#define MPIJOB_RUN_CONNECTION 4
#define MPIJOB_RUN_ENDED 5
#define MPIJOB_RUN_FINDING 6
#define MPIJOB_RUN_OVER 7
struct mpijob_run_event {
	size_t size;
	int32_t kind;
	int32_t code;
	const char *phase;
	int32_t ready;
	int32_t workers;
	const char *pod;
	const char *container;
	const char *data;
	size_t len;
	int32_t whole;
	int32_t is_main;
	int32_t attempt;
	const char *message;
	const struct mpijob_finding *finding;
};
struct mpijob_run_options {
	size_t size;
	const char *namespace_;
	const char *name;
	const char *uid;
	int32_t local;
	void (*event)(void *user, const struct mpijob_run_event *event);
	void *user;
};
#define MPIJOB_RUN_OPTIONS_INIT { sizeof(struct mpijob_run_options), NULL, NULL, NULL, 0, NULL, NULL }
#define MPIJOB_RUN_UNFINISHED 0
#define MPIJOB_RUN_SUCCEEDED 1
#define MPIJOB_RUN_FAILED 2
#define MPIJOB_RUN_DELETED 3
struct mpijob_run_result {
	size_t size;
	int32_t outcome;
	const char *reason;
	const char *message;
	int32_t has_exit_code;
	int32_t exit_code;
	int32_t given_up;
	int32_t explained;
	const char *running_pod;
	int64_t ready_ms;
	int64_t launcher_started_ms;
	int64_t launcher_ended_ms;
	int64_t ended_ms;
};
MPIJOB_API int mpijob_run_new(mpijob_client *client, const struct mpijob_run_options *options, mpijob_run **out);
MPIJOB_API void mpijob_run_free(mpijob_run *run);
MPIJOB_API int mpijob_run_state(const mpijob_run *run);
MPIJOB_API const struct mpijob_run_result *mpijob_run_get_result(mpijob_run *run);
MPIJOB_API void mpijob_run_pause(mpijob_run *run, int on);
MPIJOB_API int mpijob_run_stop(mpijob_run *run, int64_t grace_ms);
struct mpijob_run_diagnose_options {
	size_t size;
	const struct mpijob_log_tail *log;
	const mpijob_node *pod;
};
#define MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT { sizeof(struct mpijob_run_diagnose_options), NULL, NULL }
MPIJOB_API int mpijob_run_diagnose_start(mpijob_client *client, const char *namespace_, const char *name, const struct mpijob_run_diagnose_options *options, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);
static inline int mpijob_run_diagnose(mpijob_client *client, const char *namespace_, const char *name, const struct mpijob_run_diagnose_options *options, mpijob **job, mpijob_doc **evidence, mpijob_diag *diag) {
	mpijob_task *task = NULL;
	int rc = mpijob_run_diagnose_start(client, namespace_, name, options, NULL, &task, diag);
	return rc ? rc : mpijob_task_wait(task, job, evidence);
}
#ifdef __cplusplus
}
#endif
#endif

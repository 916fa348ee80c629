/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_TASKS_H
#define MPIJOB_TASKS_H
#include <mpijob/base.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
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
MPIJOB_API int mpijob_task_wait(mpijob_task *task, mpijob **job, mpijob_doc **doc);
MPIJOB_API void mpijob_task_cancel(mpijob_task *task);
#ifdef __cplusplus
}
#endif
#endif

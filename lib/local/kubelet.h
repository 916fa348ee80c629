/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_KUBELET_H
#define MPIJOB_LOCAL_KUBELET_H

#include "local/local.h"
#include "local/logs.h"

/* The kubelet. It may be NULL (option no_node); then the functions do nothing. */
struct mpijob__local_kubelet;

int mpijob__local_kubelet_new(struct mpijob_local *local, const char *program,
    struct mpijob__local_kubelet **out, mpijob_diag *diag);
void mpijob__local_kubelet_free(struct mpijob__local_kubelet *kubelet);

/* An object changed. Mark the affected pods for the next run. */
void mpijob__local_kubelet_changed(struct mpijob__local_kubelet *kubelet,
    struct mpijob__local_object *object, int change);

/* Sync the pods that changed or are due. 0; MPIJOB_ERR_NOMEM; MPIJOB_ERR_IO: the node has ended.
 * *next_ms is the time of the next run, or -1. */
int mpijob__local_kubelet_run(struct mpijob__local_kubelet *kubelet, int64_t clock_ms,
    int64_t *next_ms);

/*
 * Run a program in a running container. Unless this fails, `done` is called once with the answer.
 * 0; MPIJOB_ERR_NOT_FOUND (the container does not run); MPIJOB_ERR_NOMEM, MPIJOB_ERR_USAGE,
 * MPIJOB_ERR_IO from the node client.
 */
struct node_event;
struct mpijob__local_kubelet_exec {
	const char *namespace_;
	const char *pod;
	const char *container; /* NULL: the first */
	const char *const *argv;
	int fds[3];
	void (*done)(void *user, const struct node_event *event);
	void *user;
};
int mpijob__local_kubelet_exec(struct mpijob__local_kubelet *kubelet,
    const struct mpijob__local_kubelet_exec *exec, uint64_t *request);
/* Kill the program; `done` is not called any more. */
void mpijob__local_kubelet_exec_cancel(struct mpijob__local_kubelet *kubelet, uint64_t request);

/* The log of a container, borrowed; NULL when it has not run. */
struct mpijob__local_log *mpijob__local_kubelet_log(struct mpijob__local_kubelet *kubelet,
    const char *uid, const char *container, int previous);

#endif

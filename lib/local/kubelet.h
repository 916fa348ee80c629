/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_KUBELET_H
#define MPIJOB_LOCAL_KUBELET_H

#include "local.h"
#include "logs.h"

/* What runs pods. All functions accept a NULL kubelet (no node) and do nothing. */
struct kubelet;

int mpijob__local_kubelet_new(struct mpijob_local *local, const char *program, struct kubelet **out,
    mpijob_diag *diag);
void mpijob__local_kubelet_free(struct kubelet *kubelet);

/* An object changed: remember to look at it. */
void mpijob__local_kubelet_changed(struct kubelet *kubelet, struct object *object, int change);

/* Do what there is to do. 0; MPIJOB_ERR_NOMEM; MPIJOB_ERR_IO when the node is gone. `next_ms` gets
 * the time to look again. */
int mpijob__local_kubelet_run(struct kubelet *kubelet, int64_t clock_ms, int64_t *next_ms);

/*
 * Run a program in a running container; `done` is called once with the answer, unless this fails.
 * 0; MPIJOB_ERR_NOT_FOUND (no such container runs); what the node said.
 */
struct node_event;
struct kubelet_exec {
	const char *namespace_;
	const char *pod;
	const char *container; /* NULL: the first */
	const char *const *argv;
	int fds[3];
	void (*done)(void *user, const struct node_event *event);
	void *user;
};
int mpijob__local_kubelet_exec(struct kubelet *kubelet, const struct kubelet_exec *exec,
    uint64_t *request);
/* Nobody waits any more: kill it, and forget `done`. */
void mpijob__local_kubelet_exec_drop(struct kubelet *kubelet, uint64_t request);

/* Borrowed; NULL when that container has not run. */
struct log *mpijob__local_kubelet_log(struct kubelet *kubelet, const char *uid,
    const char *container, int previous);

#endif

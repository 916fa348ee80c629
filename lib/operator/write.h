/* SPDX-License-Identifier: Apache-2.0 */
/* An action that is executed, and its requests. */
#ifndef MPIJOB__OPERATOR_WRITE_H
#define MPIJOB__OPERATOR_WRITE_H

#include "operator/operator.h"

/* A verb beside MPIJOB_ACTION_*, for fresh reads. No plan has it. */
#define MPIJOB__OPERATOR_ACTION_GET 0

/* See reconcile.c. */
enum mpijob__operator_action_state {
	MPIJOB__OPERATOR_ACTION_PENDING,
	MPIJOB__OPERATOR_ACTION_VERIFYING,         /* a fresh read; then the plan is stale */
	MPIJOB__OPERATOR_ACTION_VERIFYING_FAILURE, /* the same; then the plan has failed */
	MPIJOB__OPERATOR_ACTION_MERGING,           /* reads the object that an update replaces */
	MPIJOB__OPERATOR_ACTION_IN_FLIGHT,
	MPIJOB__OPERATOR_ACTION_UPDATE_IN_FLIGHT, /* an update in place of a patch */
};

struct mpijob__operator_write {
	struct mpijob__base_list link; /* of the job */
	mpijob_operator *operator_;
	struct mpijob__operator_job *job;
	mpijob_call *call;
	struct mpijob_action action; /* its strings belong to the plan, which exists longer */
	size_t index;                /* index of the action in the plan */
	enum mpijob__operator_action_state state;
	int is_list;         /* a read is a list of this one object */
	uint32_t generation; /* of its informer when the request was sent */
	char *forbidden;     /* why the first attempt was forbidden; NULL: it was not */
	char *rejection;     /* why the server refused a patch with status 422 */
};

/* 1 while the request of an action is a read. */
int mpijob__operator_write_is_read(const struct mpijob__operator_write *write);
/* Start the next action of the plan. 0, or why no request was sent. */
int mpijob__operator_write_start(mpijob_operator *operator_, struct mpijob__operator_job *job);
/* Read the object of an action; `state` is the one of a read. 0, or why no request was sent. */
int mpijob__operator_write_read(struct mpijob__operator_write *write,
    enum mpijob__operator_action_state state);
/* Replace the object that was read by the patched one. 0, or why no request was sent. */
int mpijob__operator_write_update(struct mpijob__operator_write *write,
    const struct mpijob_answer *answer);
/* The request of the action did not change the cluster. */
void mpijob__operator_write_not_executed(const struct mpijob__operator_write *write);
/* The action is done, has failed, or was cancelled: free it. */
void mpijob__operator_write_end(struct mpijob__operator_write *write);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A write under way, for the files act*.c. */
#ifndef MPIJOB__OPERATOR_WRITE_H
#define MPIJOB__OPERATOR_WRITE_H

#include "operator/operator.h"

struct mpijob__operator_write {
	struct mpijob__operator_write *prev, *next; /* of the record */
	mpijob_operator *operator_;
	struct mpijob__operator_job *record;
	mpijob_call *call;
	struct mpijob_action action; /* strings borrowed from the plan, which outlives this */
	size_t index;                /* of the action in the plan */
	int looking;                 /* this is the GET after an outcome that was not clear */
	int listing;                 /* that GET is a list of this one object */
	/* the object is read to be updated, where it must not be patched */
	int updating;
	int updated;         /* that update was sent */
	int failed;          /* and the write did fail, or may have */
	uint32_t generation; /* of the lists of its kind when the request left */
	/* why it was forbidden, before another way was tried; NULL: it was not */
	char *forbidden;
	/* why the server did not take it, unless it was meant for another object */
	char *rejection;
};

/* act.c: see how far the plan is: pass over Events, close stages, end it, or get in line for the
 * next action. */
void mpijob__operator_reconcile_advance(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
void mpijob__operator_write_end(struct mpijob__operator_write *write);

/* act_send.c */
/* Start the next action of the plan. 0, or what kept it from being sent. */
int mpijob__operator_write_start(mpijob_operator *operator_, struct mpijob__operator_job *record);
/* Ask for a write's object as it is; `failed`: that it was necessary is a failure. 0, or the write
 * is still its caller's. */
int mpijob__operator_write_verify(struct mpijob__operator_write *write, int failed);

/* act_rights.c: the reference's ClusterRole grants `update` but not `patch` for some kinds. */
/* Is the object updated instead of patched? */
int mpijob__operator_write_is_update(const struct mpijob__operator_write *write);
/* A request was forbidden, with this message: 1 when another one was sent in its place. */
int mpijob__operator_write_fall_back(struct mpijob__operator_write *write, const char *message);
/* Make the object as it is the one that a patch leads to, in `body`. 0, or what keeps that from
 * being done. */
int mpijob__operator_write_merge(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer, mpijob_text *patch);

/* act_send.c: update the object that was read. 0, or what kept it from being sent. */
int mpijob__operator_write_update(struct mpijob__operator_write *write,
    const struct mpijob_answer *answer);

/* act_answers.c: a request of a write has ended; `user` is the write. */
void mpijob__operator_answer_handle(void *user, const struct mpijob_answer *answer);

#endif

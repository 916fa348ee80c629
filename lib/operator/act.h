/* SPDX-License-Identifier: Apache-2.0 */
/* A write under way, for the files act*.c. */
#ifndef MPIJOB__OPERATOR_ACT_H
#define MPIJOB__OPERATOR_ACT_H

#include "operator/operator.h"

struct mpijob__write {
	struct mpijob__write *prev, *next; /* of the record */
	mpijob_operator *operator_;
	struct mpijob__record *record;
	mpijob_call *call;
	struct mpijob_action action;       /* strings borrowed from the plan, which outlives this */
	int looking;                       /* this is the GET after an outcome that was not clear */
	int failed;                        /* and the write did fail, or may have */
	uint32_t generation;               /* of the lists of its kind when the request left */
	char *rejection;                   /* why the server did not take it, unless it was meant for another object */
};

/* act.c: see how far the plan is: pass over Events, close stages, end it, or get in line for the next action. */
void mpijob__act_advance(mpijob_operator *operator_, struct mpijob__record *record);
void mpijob__act_forget(struct mpijob__write *write);

/* act_send.c */
/* Start the next action of the plan. 0, or what kept it from being sent. */
int mpijob__act_start(mpijob_operator *operator_, struct mpijob__record *record);
/* Ask for a write's object as it is; `failed`: that it was necessary is a failure. 0, or the write is still its caller's. */
int mpijob__act_look(struct mpijob__write *write, int failed);

/* act_answers.c: a request of a write has ended; `user` is the write. */
void mpijob__act_answered(void *user, const struct mpijob_answer *answer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One job that is looked into: what is known of it, and the causes that were found so far. */
#ifndef MPIJOB__DIAGNOSE_H
#define MPIJOB__DIAGNOSE_H

#include "base/text.h"

#include <mpijob/diagnose.h>

/* The order in which causes are told: what comes first explains what comes later. */
enum mpijob__diagnose_rank {
	RANK_NOT_ACTED_ON = 10, /* nobody makes anything of the job */
	RANK_NOT_MADE = 20,     /* its objects are refused */
	RANK_NOT_PLACED = 30,   /* its pods wait for a node */
	RANK_NOT_STARTED = 40,  /* its containers do not start */
	RANK_DIED = 50,         /* pods were killed or taken away */
	RANK_CONNECT = 60,      /* launcher and workers do not find each other */
	RANK_PROGRAM = 70,      /* what runs in the pods fails */
	RANK_SYMPTOM = 80,      /* said only when nothing above is known */
	RANK_END = 90,          /* what became of the job by that */
	RANK_HINT = 100,
};

struct mpijob__diagnose_found {
	const char *id;    /* a constant */
	const char *field; /* a constant, or NULL */
	int32_t severity;
	int rank;
	size_t order;  /* in which it was found */
	char *subject; /* pod or host; NULL when there is none */
	char *others;  /* further subjects, each behind a line end; NULL when there are none */
	size_t others_count;
	char *message;
};

#define MPIJOB__DIAGNOSE_LAUNCHER_POD 1
#define MPIJOB__DIAGNOSE_WORKER_POD   2

struct mpijob__diagnose_case {
	struct mpijob_evidence evidence;
	const mpijob_node *root;   /* of the MPIJob */
	const mpijob_node *pods;   /* a list, or NULL when they could not be had */
	const mpijob_node *events; /* a list, or NULL */
	const char *name;          /* of the job; "" when it has none */
	int succeeded, failed, suspended;
	const char *fail_reason, *fail_message; /* "" when unknown */
	int code;                               /* 0, or MPIJOB_ERR_NOMEM */
	struct mpijob__diagnose_found *found;
	size_t found_count, found_cap;
};

/* The string at a path; "" when there is none. */
const char *mpijob__diagnose_case_text(const mpijob_node *node, const char *path);
/* MPIJOB__DIAGNOSE_LAUNCHER_POD, MPIJOB__DIAGNOSE_WORKER_POD, or 0: by its name, as the MPI
 * operator makes names. */
int mpijob__diagnose_case_role(const struct mpijob__diagnose_case *this, const char *pod);
/* The pod of that name; NULL when it is not there. */
const mpijob_node *mpijob__diagnose_case_pod(const struct mpijob__diagnose_case *this,
    const char *name);
/* Seconds since the time at that path; -1 when it, or the present time, is unknown. */
int64_t mpijob__diagnose_case_age(const struct mpijob__diagnose_case *this, const mpijob_node *node,
    const char *path);
int mpijob__diagnose_case_has(const struct mpijob__diagnose_case *this, const char *id);
/* Whether a cause was found that ranks before `rank`. */
int mpijob__diagnose_case_before(const struct mpijob__diagnose_case *this, int rank);

/* Forget the causes whose ranks are in [from, to). */
void mpijob__diagnose_case_drop(struct mpijob__diagnose_case *this, int from, int to);

/*
 * A cause. The same one with the same subject is told once; other subjects of the same cause are
 * counted. The message may hold any bytes: what is no text is escaped, and what is too long is cut.
 */
void mpijob__diagnose_case_add(struct mpijob__diagnose_case *this, const char *id, int32_t severity,
    int rank, const char *subject, const char *field, const char *format, ...)
    MPIJOB__BASE_PRINTF(7, 8);

/* What says why a pod waits for a node: a condition's or an event's message. */
void mpijob__diagnose_case_unschedulable(struct mpijob__diagnose_case *this, const char *pod,
    const char *message);

/* Whether a runtime's message says that the command of a container is not in its image. */
int mpijob__diagnose_case_no_program(const char *message);
/* The rights of the operator do not suffice, if this message says so. Returns whether it does. */
int mpijob__diagnose_case_forbidden(struct mpijob__diagnose_case *this, const char *message);
/* The newest Event of type Normal about a pod: what its node is doing. NULL when there is none. */
const mpijob_node *mpijob__diagnose_events_doing(const struct mpijob__diagnose_case *this,
    const char *pod);
/* The path of the time at which an Event was last seen. */
const char *mpijob__diagnose_event_time(const mpijob_node *event);

void mpijob__diagnose_pods_look(struct mpijob__diagnose_case *this);
void mpijob__diagnose_events_look(struct mpijob__diagnose_case *this);
void mpijob__diagnose_logs_look(struct mpijob__diagnose_case *this);
/* logs of a job that has ended well */
void mpijob__diagnose_success_look(struct mpijob__diagnose_case *this);
/* what the MPIJob alone shows, before its pods */
void mpijob__diagnose_job_look(struct mpijob__diagnose_case *this);
/* how it ended, when all else is known */
void mpijob__diagnose_end_look(struct mpijob__diagnose_case *this);

#endif

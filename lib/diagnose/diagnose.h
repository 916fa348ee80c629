/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the analysis of one job: the evidence, and the causes found so far. */
#ifndef MPIJOB__DIAGNOSE_H
#define MPIJOB__DIAGNOSE_H

#include "base/text.h"

#include <mpijob/diagnose.h>

/* The order in which causes are reported: earlier ones explain later ones. */
enum mpijob__diagnose_rank {
	RANK_NOT_ACTED_ON = 10, /* no controller handles the job */
	RANK_NOT_CREATED = 20,  /* the API server rejects its objects */
	RANK_NOT_PLACED = 30,   /* its pods are not scheduled */
	RANK_NOT_STARTED = 40,  /* its containers do not start */
	RANK_DIED = 50,         /* pods were killed or evicted */
	RANK_CONNECT = 60,      /* launcher and workers cannot connect */
	RANK_PROGRAM = 70,      /* the program in the pods fails */
	RANK_SYMPTOM = 80,      /* reported only without a cause above */
	RANK_END = 90,          /* how the job ended */
	RANK_HINT = 100,
};

struct mpijob__diagnose_found {
	const char *id;    /* a constant */
	const char *field; /* a constant, or NULL */
	int32_t severity;
	int rank;
	size_t order;  /* the order of detection */
	char *subject; /* pod or host; NULL if unknown */
	char *others;  /* further subjects, each after a line end; NULL: none */
	size_t others_count;
	char *message;
};

#define MPIJOB__DIAGNOSE_LAUNCHER_POD 1
#define MPIJOB__DIAGNOSE_WORKER_POD   2

struct mpijob__diagnose_case {
	struct mpijob_evidence evidence;
	struct mpijob_log_tail *logs; /* those of the evidence, copied */
	const mpijob_node *root;      /* of the MPIJob */
	const mpijob_node *pods;      /* a list, or NULL when not available */
	const mpijob_node *events;    /* a list, or NULL */
	const char *name;             /* name of the job; "" when absent */
	int succeeded, failed, suspended;
	const char *fail_reason, *fail_message; /* "" when unknown */
	int code;                               /* 0, or MPIJOB_ERR_NOMEM */
	struct mpijob__diagnose_found *found;
	size_t found_count, found_cap;
};

/* The string at a path; "" if absent. */
const char *mpijob__diagnose_case_text(const mpijob_node *node, const char *path);
/* The role of a pod according to its name: MPIJOB__DIAGNOSE_LAUNCHER_POD,
 * MPIJOB__DIAGNOSE_WORKER_POD, or 0. */
int mpijob__diagnose_case_role(const struct mpijob__diagnose_case *this, const char *pod);
/* The pod with a name; NULL if not found. */
const mpijob_node *mpijob__diagnose_case_pod(const struct mpijob__diagnose_case *this,
    const char *name);
/* Seconds since the time at a path; -1 when that or the current time is unknown. */
int64_t mpijob__diagnose_case_age(const struct mpijob__diagnose_case *this, const mpijob_node *node,
    const char *path);
int mpijob__diagnose_case_has(const struct mpijob__diagnose_case *this, const char *id);
/* Whether a cause with a lower rank was found. */
int mpijob__diagnose_case_before(const struct mpijob__diagnose_case *this, int rank);

/* Remove the causes whose ranks are in [from, to). */
void mpijob__diagnose_case_drop(struct mpijob__diagnose_case *this, int from, int to);

/*
 * Add a cause. A cause is reported once; its further subjects are counted. The message may contain
 * any bytes: it is escaped and cut.
 */
void mpijob__diagnose_case_add(struct mpijob__diagnose_case *this, const char *id, int32_t severity,
    int rank, const char *subject, const char *field, const char *format, ...)
    MPIJOB__BASE_PRINTF(7, 8);

/* Add the cause why a pod is not scheduled, from the message of a condition or an Event. */
void mpijob__diagnose_case_unschedulable(struct mpijob__diagnose_case *this, const char *pod,
    const char *message);

/* Whether a message of the container runtime says that the command is not in the image. */
int mpijob__diagnose_case_no_program(const char *message);
/* If a message says that the operator lacks permissions, add this cause. Returns whether it does.
 */
int mpijob__diagnose_case_forbidden(struct mpijob__diagnose_case *this, const char *message);
/* The latest Event of type Normal about a pod: the current activity of its node. NULL when there is
 * none. */
const mpijob_node *mpijob__diagnose_events_activity(const struct mpijob__diagnose_case *this,
    const char *pod);
/* The path of the time of an Event's last occurrence. */
const char *mpijob__diagnose_event_time(const mpijob_node *event);

void mpijob__diagnose_check_pods(struct mpijob__diagnose_case *this);
void mpijob__diagnose_check_events(struct mpijob__diagnose_case *this);
void mpijob__diagnose_check_logs(struct mpijob__diagnose_case *this);
/* logs of a job that has ended well */
void mpijob__diagnose_check_success(struct mpijob__diagnose_case *this);
/* what the MPIJob alone shows, before its pods */
void mpijob__diagnose_check_job(struct mpijob__diagnose_case *this);
/* how the job ended; called last */
void mpijob__diagnose_check_end(struct mpijob__diagnose_case *this);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Job entries: what the cache holds of each MPIJob. */
#ifndef MPIJOB__OPERATOR_CACHE_JOBS_H
#define MPIJOB__OPERATOR_CACHE_JOBS_H

#include "operator/informer.h"
#include "operator/names.h"
#include "operator/queue.h"
#include "operator/reconcile.h"
#include "operator/shadow.h"
#include "base/table.h"

#include <mpijob/plan.h>

/* Phases of jobs, for the metrics. */
enum {
	MPIJOB__OPERATOR_PHASE_NEW, /* it has no conditions */
	MPIJOB__OPERATOR_PHASE_CREATED,
	MPIJOB__OPERATOR_PHASE_SUSPENDED,
	MPIJOB__OPERATOR_PHASE_RUNNING,
	MPIJOB__OPERATOR_PHASE_SUCCEEDED,
	MPIJOB__OPERATOR_PHASE_FAILED,
	MPIJOB__OPERATOR_PHASE_SKIPPED, /* it cannot be parsed, or its plan rejects it */
	MPIJOB__OPERATOR_PHASES
};

enum mpijob__operator_job_state {
	MPIJOB__OPERATOR_JOB_NEW,     /* no version of it was parsed */
	MPIJOB__OPERATOR_JOB_PARSED,  /* a version was parsed, or skipped */
	MPIJOB__OPERATOR_JOB_REFUSED, /* and the last plan rejected it */
};

/* What was observed of a job and its children. */
struct mpijob__operator_job_cache {
	mpijob *mpijob; /* NULL: not parsed yet, or it cannot be parsed and is skipped */
	char *raw;      /* the last version, until the job's turn comes; NULL: it is parsed */
	size_t raw_len;
	uint64_t version;    /* its resourceVersion */
	uint32_t generation; /* the last list that contained it */
	uint32_t children;   /* the first of its children in the index */
	mpijob_facts *facts;
	enum mpijob__operator_job_state state;
	int phase;                /* MPIJOB__OPERATOR_PHASE_*, from its status */
	int had_launcher;         /* for the metric job_info */
	mpijob_diag *findings;    /* of validation; NULL: this version was not validated */
	char *rejection;          /* why it is skipped, until an Event reports it */
	uint64_t reported_digest; /* of the last Events about limits and annotations */
	int64_t changed_ms;       /* when it or a child last changed */
};

#define MPIJOB__OPERATOR_ROLE_BIT(role) (1u << (role))
#define MPIJOB__OPERATOR_FRESH_MS       10000 /* a response this young counts as a fresh read */

/* Which facts the API server confirmed, and when. Times are monotonic; 0: never. */
struct mpijob__operator_freshness {
	int64_t job_ms;                                  /* the job itself */
	int64_t read_ms[MPIJOB_ROLE_NETWORK_POLICY + 1]; /* an object of each role */
	int64_t worker_created_ms;                       /* when a worker was last created */
	/* MPIJOB__OPERATOR_ROLE_BIT() of the fresh reads for the next plan; bit 0: the job */
	unsigned verified;
	int64_t verified_ms; /* of the latest of them */
};

/* What delays the next plan of a job. Times are monotonic. */
struct mpijob__operator_backoff {
	int64_t plan_after_ms;    /* planning used much time */
	int64_t hold_until_ms;    /* nothing is recreated before */
	int64_t lost_ms;          /* when a child was last deleted by another client */
	int losses;               /* how many, in quick succession */
	int64_t foreign_until_ms; /* when to forget foreign objects; 0: there are none */
	int leftovers;            /* foreign objects that were leftovers of a deleted job */
	int rounds;               /* plans since the last change that another client made */
};

/* A job entry: one MPIJob. */
struct mpijob__operator_job {
	struct mpijob__operator_queue_item item; /* first */
	mpijob_operator *operator_;
	struct mpijob__base_table_link by_uid, by_name;
	char *namespace_, *name, *uid;
	struct mpijob__operator_job_cache cache;
	struct mpijob__operator_reconcile reconcile;
	struct mpijob__operator_freshness fresh;
	struct mpijob__operator_backoff backoff;
	struct mpijob__operator_names names;
	struct mpijob__operator_shadow_job shadow;
};

/* The entry of a UID; NULL if not found. */
struct mpijob__operator_job *mpijob__operator_job_find(const mpijob_operator *operator_,
    const char *uid);
/* Store an MPIJob, unparsed. 1 when it changed the cache, 0 when not, MPIJOB_ERR_NOMEM. */
int mpijob__operator_job_update(mpijob_operator *operator_,
    const struct mpijob_watch_event *object);
/* Parse the version that was stored last, if it is not. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_job_parse(mpijob_operator *operator_, struct mpijob__operator_job *job);
void mpijob__operator_job_remove(mpijob_operator *operator_, struct mpijob__operator_job *job);
/* Another client changed the job or a child: put it into the queue. */
void mpijob__operator_job_enqueue(mpijob_operator *operator_, struct mpijob__operator_job *job);
/* Another client deleted a child that is needed: it is recreated at once, but not in a loop. */
void mpijob__operator_job_child_lost(mpijob_operator *operator_, struct mpijob__operator_job *job);
/* MPIJOB__OPERATOR_PHASE_* */
int mpijob__operator_job_phase(const struct mpijob__operator_job *job);
/* 1 when its status has a member. */
int mpijob__operator_job_has_status(const struct mpijob__operator_job *job);

/* Remove the jobs that the list of this generation did not hold. */
void mpijob__operator_jobs_sweep(mpijob_operator *operator_, uint32_t generation);
void mpijob__operator_jobs_enqueue(mpijob_operator *operator_);
/* Leading has begun, or ended: enqueue all jobs, or stop all plans. */
void mpijob__operator_jobs_leadership_changed(mpijob_operator *operator_);
/* Visit all jobs; `visit` may remove the one that it is given. */
void mpijob__operator_jobs_each(mpijob_operator *operator_,
    void (*visit)(mpijob_operator *operator_, struct mpijob__operator_job *job, void *user),
    void *user);
void mpijob__operator_jobs_visit(const mpijob_operator *operator_,
    void (*visit)(void *user, const struct mpijob__operator_job *job), void *user);
void mpijob__operator_jobs_release(mpijob_operator *operator_);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan while it is made, shared by the files of lib/plan.
 *
 * The functions do not return failures: `code` keeps the first one, and mpijob_plan_new() returns
 * it at the end. After a failure the functions may still be called; their results are discarded.
 */
#ifndef MPIJOB__PLAN_PLAN_H
#define MPIJOB__PLAN_PLAN_H

#include "base/arena.h"
#include "base/text.h"
#include "plan/facts.h"
#include "render/render.h"

/* Stages while planning. At the end the used ones are numbered without gaps. */
/* Service, ConfigMap, Secret, PodGroup; a status that must be written first */
#define MPIJOB__PLAN_STAGE_FIRST    0
#define MPIJOB__PLAN_STAGE_WORKERS  1 /* create and delete worker pods */
#define MPIJOB__PLAN_STAGE_LAUNCHER 2 /* create the launcher, or prepare its resume */
#define MPIJOB__PLAN_STAGE_RESUME   3 /* the status reports that the job is resumed */
#define MPIJOB__PLAN_STAGE_SUSPEND  4 /* suspend or resume the launcher */
/* delete workers and PodGroup after the launcher was suspended */
#define MPIJOB__PLAN_STAGE_CLEAN      5
#define MPIJOB__PLAN_STAGE_LAST       6 /* the status */
#define MPIJOB__PLAN_STAGE_DELETE_JOB 7 /* delete the job itself */

/* The body of an action. */
#define MPIJOB__PLAN_BODY_NONE       0
#define MPIJOB__PLAN_BODY_CREATE     1
#define MPIJOB__PLAN_BODY_SERVICE    2
#define MPIJOB__PLAN_BODY_CONFIG_MAP 3
#define MPIJOB__PLAN_BODY_SECRET     4
#define MPIJOB__PLAN_BODY_POD_GROUP  5
#define MPIJOB__PLAN_BODY_SUSPEND    6 /* launcher Job: suspend */
#define MPIJOB__PLAN_BODY_RESUME     7 /* launcher Job: resume */
/* launcher Job: resume, with changed scheduling directives */
#define MPIJOB__PLAN_BODY_RESUME_CHANGED 8
#define MPIJOB__PLAN_BODY_CLEAR_START    9 /* status of the launcher Job: remove startTime */
#define MPIJOB__PLAN_BODY_STATUS         10
#define MPIJOB__PLAN_BODY_NETWORK_POLICY 11

struct mpijob__plan_action {
	struct mpijob_action view;
	int32_t body; /* MPIJOB__PLAN_BODY_* */
};

/* A condition in a status that is being changed. */
struct mpijob__plan_condition {
	/* its times point to the members below after the last change */
	struct mpijob_condition view;
	int64_t update_time, transition_time;
	int has_update_time, has_transition_time;
	/* its index in the old status; SIZE_MAX when it is new or changed */
	size_t origin;
};

/* A status that is being changed. */
struct mpijob__plan_draft {
	struct mpijob__plan_condition *conditions;
	size_t count;
	struct mpijob_replica_status launcher, worker;
	int has_launcher, has_worker;
	int64_t start_time, completion_time;
	int has_start_time, has_completion_time;
};

/* The state of the workers. */
struct mpijob__plan_workers {
	int32_t wanted;
	/* by index below `wanted`; NULL when there is no such pod */
	const struct mpijob__plan_pod **pods;
	uint8_t *runs; /* by index: 1 when it runs and is not being deleted */
	int32_t present, active, ready, succeeded, failed, evicted;
	int32_t steady; /* they run and are not being deleted */
	/* start times of the first and the last of the steady workers; 0 when unknown */
	int64_t first_ms, last_ms;
	/* the first by time; with equal times, by index */
	const struct mpijob__plan_pod *first_failed, *first_evicted;
	/* a foreign pod with the name of a worker */
	const struct mpijob__plan_pod *foreign;
};

/* The reaction to failed workers, with replace_workers or restart_gang. */
/* maximum that is replaced at a time: the message contains a mark for each */
#define MPIJOB__PLAN_RESTART_MARKS 16
struct mpijob__plan_restart {
	/* replacements or restarts so far, including this one */
	int32_t count;
	int is_new;   /* it is counted by this plan */
	int stopping; /* launcher and workers are being stopped */
	int starting; /* everything is stopped: the job starts again */
	/* the failed pod; NULL when an earlier plan reported it */
	const struct mpijob__plan_pod *pod;
	/* the replaced pods: marks of their UIDs, and their indices */
	uint32_t marks[MPIJOB__PLAN_RESTART_MARKS];
	int32_t indices[MPIJOB__PLAN_RESTART_MARKS];
	size_t marks_count;
};

/* The objects that are read before actions. */
struct mpijob__plan_notes {
	struct mpijob_fresh_read job, launcher, mounts[2];
	const struct mpijob_fresh_read *before_launcher[3]; /* the job, and the mounts */
	const struct mpijob_fresh_read *before_status[1];   /* the launcher */
	size_t mounts_count;
};

struct mpijob__plan_bodies; /* rendered objects, created when they are first needed */

struct mpijob_plan {
	int code; /* the first failure */
	struct mpijob__base_arena arena;
	struct mpijob_text scratch; /* temporary buffer for texts that are copied into the arena */
	struct mpijob__plan_bodies *bodies;

	/* In. */
	mpijob *job;                     /* a copy, defaulted */
	struct mpijob_features features; /* `render` points to it */
	struct mpijob_render_options render;
	struct mpijob__render_subject subject; /* of `job`; set after the job was validated */
	int64_t now_ms;
	int32_t max_workers; /* 0: no limit */
	/* how long the launcher waits for DNS names; 0: it does not wait */
	int64_t hold_ms;
	/* when all workers were ready; 0: unknown */
	int64_t ready_ms;
	int names_known;           /* the DNS names of all workers resolve */
	const mpijob_facts *facts; /* while planning */
	/* findings of the caller's validation; NULL: the plan validates */
	const mpijob_diag *validated;
	const struct mpijob_launcher_facts *launcher; /* while planning: ours, or NULL */
	/* resourceVersion of the launcher Job that is suspended; NULL when unknown */
	const char *suspend_version;
	/* while planning; `runs` is used later too */
	struct mpijob__plan_workers workers;
	struct mpijob__plan_restart restart; /* while planning */
	int suspended;                       /* runPolicy.suspend */
	/* maps whose unexpected keys a patch removes; NULL: none */
	mpijob_doc *selector, *match_labels, *min_resources, *node_selector;

	/* Out. */
	struct mpijob__plan_action *actions;
	size_t count, cap;
	struct mpijob__plan_draft old, draft;
	struct mpijob_status status; /* view of `draft` */
	int creates_launcher;        /* the plan creates the launcher */
	int launcher_unobserved;     /* the launcher Job should exist, but was not observed yet */
	int unseen;                  /* the job ends because its launcher is missing */
	struct mpijob__plan_notes notes;
	int32_t status_stage; /* stage in which the status is written */
	struct mpijob_plan_result result;
};

/* plan.c: helpers of all files. */

/* Store a failure, unless there was an earlier one. */
void mpijob__plan_fail(struct mpijob_plan *plan, int code);
/* A formatted text in the plan's memory; "" after a failure. */
const char *mpijob__plan_text(struct mpijob_plan *plan, const char *format, ...)
    MPIJOB__BASE_PRINTF(2, 3);
/* The name of a child; "" after a failure. */
const char *mpijob__plan_name(struct mpijob_plan *plan, int32_t role, int32_t index);
/* The name of a pod; "" after a failure. */
const char *mpijob__plan_pod_name(struct mpijob_plan *plan, const struct mpijob__plan_pod *pod);
/* Add an action on a child; `uid` is NULL for a create. Strings are borrowed until the plan is
 * freed; `uid` is copied. NULL after a failure. */
struct mpijob__plan_action *mpijob__plan_add_action(struct mpijob_plan *plan, int32_t stage,
    int32_t verb, int32_t body, int32_t role, int32_t index, const char *uid, const char *why);
/* Allocate memory for `more` actions. */
void mpijob__plan_reserve(struct mpijob_plan *plan, size_t more);
/* Add a patch of the job's own status. */
void mpijob__plan_add_status_patch(struct mpijob_plan *plan, int32_t stage, int32_t body,
    const char *why);
/* Add the deletion of the job itself. */
void mpijob__plan_delete_job(struct mpijob_plan *plan, int32_t stage, const char *why);
/* Add the deletion of one of the launcher's pods. */
void mpijob__plan_delete_launcher_pod(struct mpijob_plan *plan, int32_t stage,
    const struct mpijob__plan_pod *pod, const char *why);
/* Add an event about the job; the message is cut at the length that the API server accepts. */
void mpijob__plan_event(struct mpijob_plan *plan, int32_t stage, const char *type,
    const char *reason, const char *message);
/* Plan again at this time or earlier. */
void mpijob__plan_again_at(struct mpijob_plan *plan, int64_t ms);
/* Return whether a controller's UID is that of the job. */
int mpijob__plan_owns(const struct mpijob_plan *plan, const char *owner_uid);
/* Report a name conflict: a foreign object has the name of a child. The caller then stops planning.
 */
void mpijob__plan_name_conflict(struct mpijob_plan *plan, const char *name, const char *kind);
/* Reject the job: the plan becomes one event with the errors in `findings`, and with fail_invalid
 * the condition Failed. */
void mpijob__plan_reject(struct mpijob_plan *plan, const mpijob_diag *findings);

/* message.c: a text of at most `limit` bytes; a longer one is cut after a character and gets "...".
 */
const char *mpijob__plan_message_cut(struct mpijob_plan *plan, const char *text, size_t limit);
/* "worker pod pi-worker-1 on node n failed: Error, exit code 137" */
const char *mpijob__plan_message_failure(struct mpijob_plan *plan, const char *what,
    const struct mpijob__plan_pod *pod);
/* The termination message of a pod, cut; "" when there is none. */
const char *mpijob__plan_message_termination(struct mpijob_plan *plan,
    const struct mpijob__plan_pod *pod);
/* Both: "worker pod pi-worker-1 on node n failed: Error, exit code 137: TEXT" */
const char *mpijob__plan_message_pod(struct mpijob_plan *plan, const char *what,
    const struct mpijob__plan_pod *pod);
/* The findings of severity error, in the form of Kubernetes' error lists. */
const char *mpijob__plan_message_findings(struct mpijob_plan *plan, const mpijob_diag *findings);
#define MPIJOB__PLAN_MESSAGE_LIMIT 1024

/* children.c: Service, ConfigMap, Secret, PodGroup. Returns 1, or 0 to stop planning. */
int mpijob__plan_children_plan(struct mpijob_plan *plan);
void mpijob__plan_children_delete_pod_group(struct mpijob_plan *plan, int32_t stage,
    const char *why);

/* workers.c */
void mpijob__plan_workers_count(struct mpijob_plan *plan);
int mpijob__plan_workers_plan(struct mpijob_plan *plan); /* 1, or 0 to stop planning */
/* `all`: also finished ones that cleanPodPolicy Running keeps. */
void mpijob__plan_workers_delete(struct mpijob_plan *plan, int32_t stage, int all, const char *why);
int mpijob__plan_workers_ready(const struct mpijob_plan *plan); /* as many as wanted */

/* launcher.c */
int mpijob__plan_launcher_find(struct mpijob_plan *plan); /* 1, or 0 to stop planning */
int mpijob__plan_launcher_done(const struct mpijob_plan *plan);
/* Whether the launcher Job ended and was deleted before it was observed: 1. 0 when not, or when
 * this is not certain yet (then the plan does nothing about the launcher). */
int mpijob__plan_launcher_vanished(struct mpijob_plan *plan);
void mpijob__plan_launcher_create(struct mpijob_plan *plan);
void mpijob__plan_launcher_switch(struct mpijob_plan *plan);
void mpijob__plan_launcher_stop(struct mpijob_plan *plan, const char *why);
void mpijob__plan_launcher_delete_pods(struct mpijob_plan *plan, int32_t stage, const char *why);
int32_t mpijob__plan_launcher_running_pods(const struct mpijob_plan *plan);
/* The last launcher pod in a phase; NULL if not found. */
const struct mpijob__plan_pod *mpijob__plan_launcher_last_pod(const struct mpijob_plan *plan,
    int32_t phase);

/* restart.c: failed worker pods. */
void mpijob__plan_restart_decide(struct mpijob_plan *plan); /* decide what to do */
/* Whether the old status says that a restart is in progress: everything is being stopped, or is
 * starting. */
int mpijob__plan_restart_in_progress(const struct mpijob_plan *plan);
void mpijob__plan_restart_replace(struct mpijob_plan *plan); /* delete the pods that are replaced */
/* suspend the launcher and delete all workers */
void mpijob__plan_restart_stop(struct mpijob_plan *plan);
void mpijob__plan_restart_report(struct mpijob_plan *plan); /* report it in the status */
/* the restart is over: the job runs again, is suspended, or ends */
void mpijob__plan_restart_end(struct mpijob_plan *plan);

/* cleanup.c: actions for a finished job. */
void mpijob__plan_cleanup_plan(struct mpijob_plan *plan);

/* limit.c: apply the limit on workers. 0; MPIJOB_ERR_SPEC when the job is rejected;
 * MPIJOB_ERR_NOMEM. */
int mpijob__plan_limit_workers(struct mpijob_plan *plan, mpijob_diag *findings);

/* conditions.c */
const struct mpijob__plan_condition *
mpijob__plan_conditions_get(const struct mpijob__plan_draft *draft, const char *type);
/* the condition is True */
int mpijob__plan_conditions_has(const struct mpijob__plan_draft *draft, const char *type);
int mpijob__plan_conditions_finished(const struct mpijob__plan_draft *draft);
/* Returns 1 when the status or reason changed. Texts are borrowed until the plan is freed. */
int mpijob__plan_conditions_set(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message);
/* The same, but a changed message counts too. */
int mpijob__plan_conditions_set_message(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message);
/* Remove a condition. */
void mpijob__plan_conditions_remove(struct mpijob__plan_draft *draft, const char *type);
/* Append a new condition with the given time. */
void mpijob__plan_conditions_append(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message, int64_t seconds);

/* status.c */
/* read the status of the job into `old` and `draft` */
void mpijob__plan_status_load(struct mpijob_plan *plan);
void mpijob__plan_status_update(struct mpijob_plan *plan); /* update `draft` from the facts */
/* see mpijob__plan_launcher_vanished() */
void mpijob__plan_status_end_unobserved(struct mpijob_plan *plan);
/* Discard the changes of `draft`, because the job is rejected. */
void mpijob__plan_status_reset(struct mpijob_plan *plan);
/* With fail_invalid, a rejected job that has not started is Failed until it is corrected. */
void mpijob__plan_status_reject(struct mpijob_plan *plan, const char *message);
int mpijob__plan_status_is_rejected(const struct mpijob__plan_draft *draft);
/* Remove the condition Failed of a job that is not rejected any more. Returns 1 if there was one.
 */
int mpijob__plan_status_accept(struct mpijob_plan *plan);
/* add the status patch if the status changed, and make the public view */
void mpijob__plan_status_finish(struct mpijob_plan *plan);

/* notes.c: what is said about the actions when all are known. */
void mpijob__plan_notes_add(struct mpijob_plan *plan);

/* bodies.c */
int mpijob__plan_bodies_new(struct mpijob_plan *plan);
void mpijob__plan_bodies_free(struct mpijob__plan_bodies *bodies);
/* Check that all children can be rendered, and the ConfigMap also with all workers. Returns 1, or 0
 * when the job was rejected. */
int mpijob__plan_bodies_check(struct mpijob_plan *plan);

#endif

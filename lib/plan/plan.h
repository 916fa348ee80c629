/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan while it is made, shared by the files of lib/plan.
 *
 * Every step may fail and none has to be checked: `code` keeps the first failure, after which the
 * steps do nothing that matters. mpijob_plan_new() asks for it at the end.
 */
#ifndef MPIJOB__PLAN_PLAN_H
#define MPIJOB__PLAN_PLAN_H

#include "base/arena.h"
#include "base/text.h"
#include "plan/facts.h"
#include "render/render.h"

/* Stages while planning: gaps in the order are closed at the end. */
/* Service, ConfigMap, Secret, PodGroup; a status that has to come before the rest */
#define MPIJOB__PLAN_STAGE_FIRST    0
#define MPIJOB__PLAN_STAGE_WORKERS  1 /* worker pods come and go */
#define MPIJOB__PLAN_STAGE_LAUNCHER 2 /* the launcher is made, or prepared for going on */
#define MPIJOB__PLAN_STAGE_RESUME   3 /* the status says that the job goes on */
#define MPIJOB__PLAN_STAGE_SWITCH   4 /* the launcher stops or goes on */
#define MPIJOB__PLAN_STAGE_CLEAN    5 /* workers and PodGroup go once the launcher was stopped */
#define MPIJOB__PLAN_STAGE_LAST     6 /* the status */
#define MPIJOB__PLAN_STAGE_GONE     7 /* the job itself goes */

/* What stands in the body of an action. */
#define MPIJOB__PLAN_BODY_NONE       0
#define MPIJOB__PLAN_BODY_CREATE     1
#define MPIJOB__PLAN_BODY_SERVICE    2
#define MPIJOB__PLAN_BODY_CONFIG_MAP 3
#define MPIJOB__PLAN_BODY_SECRET     4
#define MPIJOB__PLAN_BODY_POD_GROUP  5
#define MPIJOB__PLAN_BODY_STOP       6 /* the launcher Job: suspend */
#define MPIJOB__PLAN_BODY_GO_ON      7 /* the launcher Job: no longer suspend */
/* the same, with the scheduling directives of the job as it is now */
#define MPIJOB__PLAN_BODY_GO_ON_ANEW     8
#define MPIJOB__PLAN_BODY_FORGET_START   9 /* the status of the launcher Job: no startTime */
#define MPIJOB__PLAN_BODY_STATUS         10
#define MPIJOB__PLAN_BODY_NETWORK_POLICY 11

struct mpijob__plan_action {
	struct mpijob_action view;
	int32_t body; /* MPIJOB__BODY_* */
};

/* A condition in a status that is being changed. */
struct mpijob__plan_condition {
	/* its times point to those below once all conditions have found their place */
	struct mpijob_condition view;
	int64_t update_time, transition_time;
	int has_update_time, has_transition_time;
	/* its position in the status as it was; SIZE_MAX when it is new or another */
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

/* How the workers stand. */
struct mpijob__plan_workers {
	int32_t wanted;
	/* by index below `wanted`; NULL where there is none */
	const struct mpijob__plan_pod **pods;
	uint8_t *runs; /* by index: 1 when it runs and stays */
	int32_t present, active, ready, succeeded, failed, evicted;
	int32_t steady; /* run and stay */
	/* when the first and the last of the steady ones began to run; 0 when not known */
	int64_t first_ms, last_ms;
	/* in time; among equals, by index */
	const struct mpijob__plan_pod *first_failed, *first_evicted;
	/* has the name of a worker, belongs to somebody else */
	const struct mpijob__plan_pod *foreign;
};

/* What is done about workers that failed, with replace_workers or restart_gang. */
/* most that are replaced at a time: the message has to hold their marks */
#define MPIJOB__PLAN_RESTART_MARKS 16
struct mpijob__plan_restart {
	int32_t count;                      /* how often it was done, this time included */
	int news;                           /* it was not counted before */
	int stops;                          /* all is being stopped */
	int begins;                         /* all was stopped, and begins again */
	const struct mpijob__plan_pod *pod; /* why all is stopped; NULL when that was said before */
	/* of uids: those that are replaced, of them that the index is: */
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

struct mpijob__plan_bodies; /* rendered objects, made when they are first needed */

struct mpijob_plan {
	int code; /* first failure */
	struct mpijob__base_arena arena;
	struct mpijob_text scratch; /* for texts on their way into the arena */
	struct mpijob__plan_bodies *bodies;

	/* In. */
	mpijob *job;                     /* a copy, defaulted */
	struct mpijob_features features; /* behind `render` */
	struct mpijob_render_options render;
	struct mpijob__render_subject subject; /* of `job`; set once the job is known to be valid */
	int64_t now_ms;
	int32_t max_workers; /* 0: no limit */
	/* the launcher waits so long for names; 0: it does not */
	int64_t hold_ms;
	/* when all workers were ready; 0: not known */
	int64_t ready_ms;
	int names_known;              /* all workers' names resolve */
	const mpijob_facts *facts;    /* while planning */
	const mpijob_diag *validated; /* findings of the caller's validation; NULL: none */
	const struct mpijob_launcher_facts *launcher; /* while planning: ours, or NULL */
	/* of the launcher that is stopped; NULL when not known */
	const char *stops_version;
	/* while planning, but for `runs` */
	struct mpijob__plan_workers workers;
	struct mpijob__plan_restart restart; /* while planning */
	int suspended;                       /* runPolicy.suspend */
	/* what a patch may have to remove; NULL when nothing */
	mpijob_doc *selector, *match_labels, *min_resources, *node_selector;

	/* Out. */
	struct mpijob__plan_action *actions;
	size_t count, cap;
	struct mpijob__plan_draft old, draft;
	struct mpijob_status status; /* view of `draft` */
	int launcher_made;           /* the plan makes the launcher */
	/* all workers are ready, and the launcher starts when their names resolve */
	int awaits_names;
	int launcher_missed; /* there should be a launcher; wait for news of it */
	int unseen;          /* the job ends because its launcher is missing */
	struct mpijob__plan_notes notes;
	int32_t tells; /* stage in which the status is written */
	int32_t transitions;
	int64_t next_ms;
};

/* plan.c: the tools of all. */

/* Note a failure, unless there was one. */
void mpijob__plan_fail(struct mpijob_plan *plan, int code);
/* Text that lives as long as the plan; "" after a failure. */
const char *mpijob__plan_text(struct mpijob_plan *plan, const char *format, ...)
    MPIJOB__BASE_PRINTF(2, 3);
/* The name of a child; "" after a failure. */
const char *mpijob__plan_name(struct mpijob_plan *plan, int32_t role, int32_t index);
/* The name that a pod has; "" after a failure. */
const char *mpijob__plan_pod_name(struct mpijob_plan *plan, const struct mpijob__plan_pod *pod);
/* Add an action about a child. `uid` NULL: a create. Its strings must live as long as the plan;
 * `uid` is copied. */
void mpijob__plan_act(struct mpijob_plan *plan, int32_t stage, int32_t verb, int32_t body,
    int32_t role, int32_t index, const char *uid, const char *why);
/* Make room for so many actions, and some that are not known yet. */
void mpijob__plan_expect(struct mpijob_plan *plan, size_t more);
/* Add a patch of the job's own status. */
void mpijob__plan_act_status(struct mpijob_plan *plan, int32_t stage, int32_t body,
    const char *why);
/* Add the deletion of the job itself. */
void mpijob__plan_delete_job(struct mpijob_plan *plan, int32_t stage, const char *why);
/* Add the deletion of one of the launcher's pods. */
void mpijob__plan_delete_launcher_pod(struct mpijob_plan *plan, int32_t stage,
    const struct mpijob__plan_pod *pod, const char *why);
/* Add an event about the job; the message is cut at the length that the API server accepts. */
void mpijob__plan_event(struct mpijob_plan *plan, int32_t stage, const char *type,
    const char *reason, const char *message);
/* Look again at this time, or earlier. */
void mpijob__plan_look_again(struct mpijob_plan *plan, int64_t ms);
/* Tell whether a controller's uid is the job's. */
int mpijob__plan_owns(const struct mpijob_plan *plan, const char *owner_uid);
/* Report a child's name that is taken; the rest of the plan has to wait. */
void mpijob__plan_taken(struct mpijob_plan *plan, const char *name, const char *kind);
/* Give up on a job that is refused: one event with the errors in `findings`, and what fail_invalid
 * adds to it. */
void mpijob__plan_refuse(struct mpijob_plan *plan, const mpijob_diag *findings);

/* message.c: a text of at most `limit` bytes, cut at a character with "..." behind. */
const char *mpijob__plan_message_cut(struct mpijob_plan *plan, const char *text, size_t limit);
/* "worker pod pi-worker-1 on node n failed: Error, exit code 137" */
const char *mpijob__plan_message_end(struct mpijob_plan *plan, const char *what,
    const struct mpijob__plan_pod *pod);
/* What a pod said at its end, cut; "" when nothing. */
const char *mpijob__plan_message_words(struct mpijob_plan *plan,
    const struct mpijob__plan_pod *pod);
/* Both: "worker pod pi-worker-1 on node n failed: Error, exit code 137: TEXT" */
const char *mpijob__plan_message_pod(struct mpijob_plan *plan, const char *what,
    const struct mpijob__plan_pod *pod);
/* What the findings of severity error say, as Kubernetes lists errors. */
const char *mpijob__plan_message_findings(struct mpijob_plan *plan, const mpijob_diag *findings);
#define MPIJOB__PLAN_MESSAGE_LIMIT 1024

/* children.c: Service, ConfigMap, Secret, PodGroup. 1, or 0 when the plan has to stop. */
int mpijob__plan_children_plan(struct mpijob_plan *plan);
void mpijob__plan_children_delete_pod_group(struct mpijob_plan *plan, int32_t stage,
    const char *why);

/* workers.c */
void mpijob__plan_workers_count(struct mpijob_plan *plan);
int mpijob__plan_workers_plan(struct mpijob_plan *plan); /* 1, or 0 when the plan has to stop */
/* `all`: those too that came to an end and that cleanPodPolicy Running keeps. */
void mpijob__plan_workers_delete(struct mpijob_plan *plan, int32_t stage, int all, const char *why);
int mpijob__plan_workers_ready(const struct mpijob_plan *plan); /* all that are wanted */

/* launcher.c */
int mpijob__plan_launcher_find(struct mpijob_plan *plan); /* 1, or 0 when the plan has to stop */
int mpijob__plan_launcher_done(const struct mpijob_plan *plan);
/* It ended and was deleted, unseen: 1; 0 when not, or when that may only seem so (then nothing is
 * to be done). */
int mpijob__plan_launcher_vanished(struct mpijob_plan *plan);
void mpijob__plan_launcher_create(struct mpijob_plan *plan);
void mpijob__plan_launcher_switch(struct mpijob_plan *plan);
void mpijob__plan_launcher_stop(struct mpijob_plan *plan, const char *why);
void mpijob__plan_launcher_delete_pods(struct mpijob_plan *plan, int32_t stage, const char *why);
int32_t mpijob__plan_launcher_running_pods(const struct mpijob_plan *plan);
/* The last launcher pod in a phase; NULL when there is none. */
const struct mpijob__plan_pod *mpijob__plan_launcher_last_pod(const struct mpijob_plan *plan,
    int32_t phase);

/* restart.c: worker pods that failed. */
void mpijob__plan_restart_look(struct mpijob_plan *plan); /* what is to be done about them */
/* All is being stopped, or begins again and does not run yet; asked of the job as it is. */
int mpijob__plan_restart_goes_on(const struct mpijob_plan *plan);
void mpijob__plan_restart_replace(struct mpijob_plan *plan); /* those that are replaced go */
/* the launcher stops, and all workers go */
void mpijob__plan_restart_stop(struct mpijob_plan *plan);
void mpijob__plan_restart_tell(struct mpijob_plan *plan); /* say so in the status */
/* the job runs again, is stopped for another reason, or ends */
void mpijob__plan_restart_over(struct mpijob_plan *plan);

/* cleanup.c: what is left to do about a job that is finished. */
void mpijob__plan_cleanup_plan(struct mpijob_plan *plan);

/* limit.c: hold the job to the limit on its workers. 0; MPIJOB_ERR_SPEC when it is refused;
 * MPIJOB_ERR_NOMEM. */
int mpijob__plan_limit_workers(struct mpijob_plan *plan, mpijob_diag *findings);

/* conditions.c */
const struct mpijob__plan_condition *
mpijob__plan_conditions_get(const struct mpijob__plan_draft *draft, const char *type);
/* it is True */
int mpijob__plan_conditions_has(const struct mpijob__plan_draft *draft, const char *type);
int mpijob__plan_conditions_finished(const struct mpijob__plan_draft *draft);
/* 1 when the condition changed: another status or reason. Texts must live as long as the plan. */
int mpijob__plan_conditions_set(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message);
/* The same, where another message is a change, too. */
int mpijob__plan_conditions_say(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message);
/* Take a condition out. */
void mpijob__plan_conditions_remove(struct mpijob__plan_draft *draft, const char *type);
/* Append a condition that was not there, with a time of its own. */
void mpijob__plan_conditions_append(struct mpijob_plan *plan, const char *type, int32_t status,
    const char *reason, const char *message, int64_t seconds);

/* status.c */
/* the status as it is, into old and draft */
void mpijob__plan_status_load(struct mpijob_plan *plan);
void mpijob__plan_status_update(struct mpijob_plan *plan);     /* what the facts say */
void mpijob__plan_status_end_unseen(struct mpijob_plan *plan); /* the launcher vanished */
/* Forget what was planned of the status, as of a job that is refused. */
void mpijob__plan_status_reset(struct mpijob_plan *plan);
/* fail_invalid: the job is Failed as long as it is refused, and has not started. */
void mpijob__plan_status_refuse(struct mpijob_plan *plan, const char *message);
int mpijob__plan_status_is_refused(const struct mpijob__plan_draft *draft);
/* One that is refused no more is no longer Failed for it: 1 when that is news. */
int mpijob__plan_status_accept(struct mpijob_plan *plan);
/* write it if it changed, and show it */
void mpijob__plan_status_close(struct mpijob_plan *plan);

/* notes.c: what is said about the actions when all are known. */
void mpijob__plan_notes_add(struct mpijob_plan *plan);

/* bodies.c */
int mpijob__plan_bodies_new(struct mpijob_plan *plan);
void mpijob__plan_bodies_free(struct mpijob__plan_bodies *bodies);
/* Check that all children can be made, and the ConfigMap with all workers, too. 1, or 0 when the
 * job was refused. */
int mpijob__plan_bodies_check(struct mpijob_plan *plan);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an operator, shared by the files of this room. */
#ifndef MPIJOB__OPERATOR_OPERATOR_H
#define MPIJOB__OPERATOR_OPERATOR_H

#include "base/text.h"
#include "operator/metrics.h"
#include "operator/cache_index.h"
#include "operator/queue.h"
#include "operator/table.h"

#include <mpijob/operator.h>
#include <mpijob/operator_config.h>
#include <mpijob/plan.h>
#include <mpijob/watch.h>

/* What is watched, in the order in which it is listed: who may own something comes before what it
 * owns. */
enum {
	MPIJOB__OPERATOR_INFORMER_JOBS,
	MPIJOB__OPERATOR_INFORMER_LAUNCHERS,
	MPIJOB__OPERATOR_INFORMER_PODS,
	MPIJOB__OPERATOR_INFORMER_SERVICES,
	MPIJOB__OPERATOR_INFORMER_CONFIG_MAPS,
	MPIJOB__OPERATOR_INFORMER_NETWORK_POLICIES,
	MPIJOB__OPERATOR_INFORMER_POD_GROUPS,
	MPIJOB__OPERATOR_INFORMER_PRIORITY_CLASSES,
	MPIJOB__OPERATOR_INFORMER_COUNT,
	/* of an object that is not watched */
	MPIJOB__OPERATOR_INFORMER_NONE = MPIJOB__OPERATOR_INFORMER_COUNT
};

struct mpijob__operator_informer {
	mpijob_operator *operator_;
	mpijob_watch *watch; /* NULL: not yet, or not with these options */
	const char *api_version;
	const char *kind; /* NULL: not watched with these options */
	const char *namespace_, *label_selector;
	int number;          /* MPIJOB__OPERATOR_INFORMER_* */
	uint32_t generation; /* counts lists, below MPIJOB__OPERATOR_GENERATIONS */
	int troubled;        /* a failure was told; its end is still to be */
	int refused;         /* it cannot be had, and is done without; see may_be_missing() */
	uint64_t seed;
};

struct mpijob__operator_job;

/* How far a job is, for who counts them. */
enum {
	MPIJOB__OPERATOR_PHASE_NEW,
	MPIJOB__OPERATOR_PHASE_CREATED,
	MPIJOB__OPERATOR_PHASE_SUSPENDED,
	MPIJOB__OPERATOR_PHASE_RUNNING,
	MPIJOB__OPERATOR_PHASE_SUCCEEDED,
	MPIJOB__OPERATOR_PHASE_FAILED,
	MPIJOB__OPERATOR_PHASE_SKIPPED,
	MPIJOB__OPERATOR_PHASES
};

struct mpijob__operator_write;
struct mpijob__operator_shadow_want;
struct mpijob__operator_shadow_entry;
struct mpijob__operator_right;

/* A plan that is being carried out. */
struct mpijob__operator_reconcile {
	mpijob_plan *plan;  /* NULL: none */
	int64_t planned_ms; /* the wall clock when it was made */
	size_t next;        /* action to start next */
	int32_t stage;
	size_t window; /* creates that may be under way: slow start */
	size_t in_flight;
	struct mpijob__operator_write *writes;
	int wrote;        /* something was sent that may have changed the cluster */
	int status_told;  /* the job's status was written in this stage */
	int64_t begun_ms; /* the monotonic clock when it was made */
	unsigned sure;    /* MPIJOB__OPERATOR_ROLE_BIT() of what was looked at for it */
	int replan;       /* what was learned makes the rest of the plan stale */
	int failed;
	int refused; /* the server does not let us do something of it */
	int64_t retry_after_ms;
};

#define MPIJOB__OPERATOR_ROLE_BIT(role) (1u << (role))

/* The names of a job's workers, while its launcher waits for them; zeroed when it does not. */
struct mpijob__operator_names {
	int64_t ready_ms; /* when all workers were ready first, the server's time */
	/* until the answers are read next; 0: names cannot be asked, or all resolve */
	int64_t wait_ms;
	int32_t workers, known; /* how many there are, and how many resolve, by index */
};

/* One MPIJob. */
struct mpijob__operator_job {
	struct mpijob__operator_queue_item item; /* first */
	mpijob_operator *operator_;
	struct mpijob__operator_table_link by_uid, by_name;
	char *namespace_, *name, *uid;
	mpijob *job;  /* NULL: not parsed yet, or it cannot be parsed and is skipped */
	char *unread; /* the job as it came last, until its turn; NULL: it is read */
	size_t unread_len;
	mpijob_facts *facts;
	uint32_t objects; /* the first of its own, see objects.h */
	struct mpijob__operator_reconcile act;
	uint64_t version;
	uint32_t generation;
	/* when the server last answered about something of a role; 0: never */
	int64_t known_ms[MPIJOB_ROLE_NETWORK_POLICY + 1];
	/* MPIJOB__OPERATOR_ROLE_BIT() of what was looked at for the next plan; 0 is the job itself
	 */
	unsigned sure;
	int64_t fresh_ms;         /* when the server last answered with the job itself */
	int64_t made_ms;          /* when a worker was made last */
	int64_t rest_until_ms;    /* the next plan is not made before */
	int losses;               /* children that somebody took away, one soon after the other */
	int64_t lost_ms, hold_ms; /* the last of them; nothing is put back before */
	/* when to forget what others have in our children's place; 0: nothing such is known */
	int64_t strangers_ms;
	int leftovers;   /* times that it was what a job that is gone has left */
	int rounds;      /* plans carried out since the last news from outside */
	int64_t news_ms; /* when there were any */
	struct mpijob__operator_names names;
	unsigned char phase;       /* MPIJOB__PHASE_*, as its status says */
	unsigned char was_read;    /* some version of it */
	unsigned char was_created; /* it has conditions */
	unsigned char had_launcher;
	unsigned char invalid; /* its last plan refused it */
	mpijob_diag *findings; /* of validating the job as it is now; NULL: not validated yet */
	uint64_t told;         /* digest of what was said of limits and annotations */
	unsigned char secret_hidden; /* a shadow may not look at it */
	/* why it is set aside: an Event that is still to be told; NULL: none */
	char *aside;
	mpijob_call *secret_look; /* of a shadow */
	struct mpijob__operator_shadow_want *wants;
};

/* What a shadow would have done. */
struct mpijob__operator_shadow {
	int on;
	int64_t grace_ms;
	struct mpijob__operator_table wants;
	struct mpijob__operator_shadow_entry *first, *last;
	size_t count;
};

/* An object whose owner is not known yet. */
struct mpijob__operator_orphan {
	struct mpijob__operator_orphan *next;
	int64_t since_ms; /* when it was seen */
	unsigned char source;
	/* of fetching it, as far as they count for the next one's delay */
	int attempts;
	int listing; /* it is fetched by a list of this one object */
	int64_t due_ms;
	uint32_t generation; /* of the lists of its kind when it was asked for */
	mpijob_operator *operator_;
	mpijob_call *call;
	const char *owner_uid, *uid, *namespace_, *name; /* in `strings` */
	char strings[];
};

/* What one namespace has in the table of orphans. */
struct mpijob__operator_orphan_group {
	struct mpijob__operator_orphan_group *next;
	size_t count;
	int64_t warned_ms; /* when too many of it were reported last; 0: never */
	char name[];
};

struct mpijob__operator_priority_class {
	struct mpijob_priority_class view;
	char *name;
	uint32_t generation;
};

struct mpijob__operator_events;

#define MPIJOB__OPERATOR_REMOVED_UIDS 256
#define MPIJOB__OPERATOR_DELETED_UIDS 2048 /* more than go while one answer is under way */

struct mpijob_operator {
	mpijob_client *client;
	char *namespace_;
	char *cluster_domain, *gang_scheduler;
	struct mpijob_features features; /* behind `render` */
	struct mpijob_render_options render;
	mpijob_operator_config *config; /* NULL: none */
	size_t max_writes;
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *log_user;
	int64_t launcher_hold_ms;
	int (*resolve)(void *user, const char *name); /* NULL: names cannot be asked */
	void *resolve_user;

	struct mpijob__operator_informer sources[MPIJOB__OPERATOR_INFORMER_COUNT];
	struct mpijob__operator_table jobs_by_uid, jobs_by_name;
	struct mpijob__operator_index objects;
	struct mpijob__operator_queue queue;
	struct mpijob__operator_events *events;
	mpijob_observation *observation;
	struct mpijob__operator_metrics metrics;
	struct mpijob__operator_shadow shadow;

	struct mpijob__operator_orphan *orphans; /* wait for an owner; the newest first */
	struct mpijob__operator_orphan_group *orphan_groups;
	size_t orphan_count;
	struct mpijob__operator_orphan *fetches; /* their owner is known: to be fetched */
	size_t fetching;
	uint64_t dead[MPIJOB__OPERATOR_REMOVED_UIDS]; /* hashes of uids of jobs that are gone */
	size_t dead_at;
	struct mpijob__operator_deleted_child {
		uint64_t hash, version;
	} gone[MPIJOB__OPERATOR_DELETED_UIDS]; /* likewise, of objects whose end was told */
	size_t gone_at;

	struct mpijob__operator_priority_class *classes;
	const struct mpijob_priority_class **class_views;
	size_t class_count;

	/* MPIJOB__OPERATOR_KIND_BIT() of what is listed instead of got: reads.c */
	unsigned lists;
	unsigned updates; /* and of what is updated instead of patched: act_rights.c */
	struct mpijob__operator_right *rights; /* that are missing */
	size_t rights_count;

	int acting;            /* it is the one that acts; a shadow never is */
	int telling;           /* it may send Events */
	int listening;         /* all watches have begun */
	size_t writes;         /* under way, those of events too */
	size_t validations;    /* of jobs, since the operator was made */
	int64_t now_ms;        /* monotonic, of this step */
	int64_t hold_until_ms; /* the server asked everybody to wait */
	int nomem;             /* memory ran out in a callback; step() tells */
};

/* operator.c */
/* Tell the log. `id` is constant. */
void mpijob__operator_log(mpijob_operator *operator_, int32_t severity, const char *id,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);
/* May another write leave, as far as their number goes and what the server asked for? */
int mpijob__operator_may_write(const mpijob_operator *operator_);
/* How long an answer asks to wait, within bounds; when it asks everybody to, nothing is written
 * until then. */
int64_t mpijob__operator_retry_after(mpijob_operator *operator_,
    const struct mpijob_answer *answer);

/* entropy.c: fill with random bytes. 0 or MPIJOB_ERR_IO. */
int mpijob__operator_entropy_fill(void *data, size_t len);

/* jobs.c */
struct mpijob__operator_job *mpijob__operator_job_find(const mpijob_operator *operator_,
    const char *uid);
/* Keep an MPIJob as it is now, to be read. 1 when it is news, 0 when not, MPIJOB_ERR_NOMEM. */
int mpijob__operator_job_update(mpijob_operator *operator_,
    const struct mpijob_watch_event *object);
/* Read a job that came since. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_job_parse(mpijob_operator *operator_, struct mpijob__operator_job *record);
void mpijob__operator_job_remove(mpijob_operator *operator_, struct mpijob__operator_job *record);
/* Remove those that a list did not hold. */
void mpijob__operator_jobs_sweep(mpijob_operator *operator_, uint32_t generation);
void mpijob__operator_jobs_release(mpijob_operator *operator_);
/* News from outside: work on it. */
void mpijob__operator_job_enqueue(mpijob_operator *operator_, struct mpijob__operator_job *record);
/* Visit all; `visit` may remove the one that it is given. */
void mpijob__operator_jobs_each(mpijob_operator *operator_,
    void (*visit)(mpijob_operator *operator_, struct mpijob__operator_job *record, void *user),
    void *user);
void mpijob__operator_jobs_visit(const mpijob_operator *operator_,
    void (*visit)(void *user, const struct mpijob__operator_job *record), void *user);
/* MPIJOB__PHASE_* */
int mpijob__operator_job_phase(const struct mpijob__operator_job *record);
void mpijob__operator_jobs_enqueue(mpijob_operator *operator_);
/* To act has begun, or ended: look at all again, or end all plans that are under way. */
void mpijob__operator_jobs_leadership_changed(mpijob_operator *operator_);
/* Somebody took a child away that is needed: it is put back at once, but not over and over. */
void mpijob__operator_job_child_lost(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
/* 1 when its status says anything. */
int mpijob__operator_job_has_status(const struct mpijob__operator_job *record);

/* route.c */
/* A resourceVersion as a number; 0 when it is none. */
uint64_t mpijob__operator_version_parse(const char *text);
/* A child from a list or watch: find its job, or drop it. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_children_event(struct mpijob__operator_informer *source,
    const struct mpijob_watch_event *object);
/* An object as the server answered it to one of this job's own requests. 0, MPIJOB_ERR_NOMEM,
 * MPIJOB_ERR_SYNTAX. */
int mpijob__operator_children_answer(mpijob_operator *operator_,
    struct mpijob__operator_job *record, const char *json, size_t len);
/*
 * Changes when a kind is listed anew; 0: it is not watched. What an answer tells that was under way
 * meanwhile may be gone, and neither the list nor the watch behind it says so.
 */
uint32_t mpijob__operator_informer_generation(const mpijob_operator *operator_, const char *kind);
/* 1 when the last event of an object was told, and this version of it is an older one. */
int mpijob__operator_children_is_deleted(const mpijob_operator *operator_, const char *uid,
    uint64_t version);
/* We delete it: when it goes, nobody took it away. */
void mpijob__operator_children_deleting(mpijob_operator *operator_, const char *uid);
/* The server says that we deleted it, or that it is not there. */
void mpijob__operator_children_deleted(mpijob_operator *operator_,
    struct mpijob__operator_job *record, const char *uid);
/* Is a child of this role known by name alone? */
int mpijob__operator_children_is_unwatched(const mpijob_operator *operator_, int32_t role);
/* Nothing tells when somebody else's object goes that is not watched: forget it, so that the next
 * plan finds out. */
void mpijob__operator_children_forget_foreign(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
/* Forget what a list did not hold. */
void mpijob__operator_children_sweep(struct mpijob__operator_informer *source,
    const char *list_version);
void mpijob__operator_children_release(struct mpijob__operator_job *record,
    mpijob_operator *operator_);

/* orphans.c: objects seen before their owner. */
/* Keep in mind; when memory is short it is not kept. */
void mpijob__operator_orphans_add(struct mpijob__operator_informer *source,
    const struct mpijob_observed *observed);
void mpijob__operator_orphans_drop(mpijob_operator *operator_, const char *uid);
/* An owner has come: fetch what is his. */
void mpijob__operator_orphans_adopt(mpijob_operator *operator_, const char *owner_uid);
void mpijob__operator_orphans_step(mpijob_operator *operator_);
int64_t mpijob__operator_orphans_due_ms(const mpijob_operator *operator_);
void mpijob__operator_orphans_release(mpijob_operator *operator_);

/* classes.c: PriorityClasses. */
int mpijob__operator_classes_event(struct mpijob__operator_informer *source,
    const struct mpijob_watch_event *object);
void mpijob__operator_classes_sweep(struct mpijob__operator_informer *source);
void mpijob__operator_classes_release(mpijob_operator *operator_);

/* configure.c */
/* Validate a job as the configuration has it, unless that is done: 0, or MPIJOB_ERR_NOMEM. */
int mpijob__operator_configure_validate(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
/* Forget what validation found. */
void mpijob__operator_configure_forget_findings(struct mpijob__operator_job *record);
/* Plan as the configuration wants it; validates first where that is not done. `options` without
 * `render`. 0 or what mpijob_plan_new() returned. */
int mpijob__operator_configure_plan(mpijob_operator *operator_, struct mpijob__operator_job *record,
    struct mpijob_plan_options *options, mpijob_plan **out);

/* names.c */
/* What is known of the names of the workers, for a plan. */
void mpijob__operator_names_fill_options(mpijob_operator *operator_,
    struct mpijob__operator_job *record, struct mpijob_plan_options *options);
/* Note whether a plan awaits names, and ask for them. */
void mpijob__operator_names_planned(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const mpijob_plan *plan, const struct mpijob_plan_options *options);
/* A plan that awaits names is done: plan again soon. */
void mpijob__operator_names_schedule(mpijob_operator *operator_,
    struct mpijob__operator_job *record);

/* act.c */
/* It is this job's turn: plan if there is no plan, and start one action. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_reconcile_run(mpijob_operator *operator_, struct mpijob__operator_job *record);
/* Give up what is under way. */
void mpijob__operator_reconcile_cancel(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
/* Send nothing more of its plan, not even what waits for a token; it ends when what is under way
 * has. */
void mpijob__operator_reconcile_stop(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
/* The job is another one than its plan was made for: no more of it, unless that may be news of its
 * own status. */
void mpijob__operator_reconcile_job_changed(struct mpijob__operator_job *record);

/* reads.c */
#define MPIJOB__OPERATOR_KIND_BIT(kind) (1u << mpijob__operator_metrics_kind(kind))
/* Read the object that `target` names; `*listing`: by a list. Returns as
 * mpijob__client_request_start(). */
int mpijob__operator_read_start(mpijob_operator *operator_, struct mpijob_target target,
    const struct mpijob_callbacks *callbacks, int *listing, mpijob_call **call);
/* A read was forbidden: 1 when the same read is worth another try, now by a list. */
int mpijob__operator_read_refused(mpijob_operator *operator_, const char *kind, int listing);
/* Make the answer of a list that of its only object, or MPIJOB_ERR_NOT_FOUND; `text` holds the
 * body. */
void mpijob__operator_read_object(const char *api_version, const char *kind,
    struct mpijob_answer *answer, mpijob_text *text);
/* Release what may hold a key. */
void mpijob__operator_read_release(mpijob_text *text);

/* rights.c */
/* A write was refused for now. 1 when that was told, now or before; 0 when it is the caller's to
 * tell. */
int mpijob__operator_rights_missing(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind, const char *message);
/* A write went through. */
void mpijob__operator_rights_granted(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind);
/*
 * Note whether a job waits for a right. When no other one of its namespace does, nobody will ever
 * learn that the right is back, and it is forgotten.
 */
void mpijob__operator_rights_set_waiting(mpijob_operator *operator_,
    struct mpijob__operator_job *record, int waits);
/* In how many namespaces. */
size_t mpijob__operator_rights_count(const mpijob_operator *operator_, int32_t verb,
    const char *kind);
void mpijob__operator_rights_release(mpijob_operator *operator_);

/* explain.c: the row of docs/differences.md that an action goes back to, a constant; NULL when none
 * is known. */
const char *mpijob__operator_explain_action(const struct mpijob__operator_job *record,
    const mpijob_plan *plan, const struct mpijob_action *action);

/* shadow.c */
/* Take note of what a plan wants. 0, and when to look again, INT64_MAX for never; or
 * MPIJOB_ERR_NOMEM. */
int mpijob__operator_shadow_record(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const mpijob_plan *plan, int64_t *due_ms);
void mpijob__operator_shadow_forget(mpijob_operator *operator_,
    struct mpijob__operator_job *record);
void mpijob__operator_shadow_release(mpijob_operator *operator_);

/* events.c */
int mpijob__operator_events_new(mpijob_operator *operator_);
void mpijob__operator_events_free(mpijob_operator *operator_);
/* Report an Event about a job, some time. Never fails: what cannot be kept is dropped. */
void mpijob__operator_events_emit(mpijob_operator *operator_,
    const struct mpijob__operator_job *record, const char *type, const char *reason,
    const char *message);
void mpijob__operator_events_step(mpijob_operator *operator_);
/* Send none from now on, not even what waits for a token. */
void mpijob__operator_events_stop(mpijob_operator *operator_);
int64_t mpijob__operator_events_due_ms(const mpijob_operator *operator_);
/* How many wait to be sent, when they may be; those under way are counted as writes. */
size_t mpijob__operator_events_waiting(const mpijob_operator *operator_);

#endif

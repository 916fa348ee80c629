/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Randomized lifecycle tests of MPIJobs. A world is an embedded cluster without a node, one or two
 * operators, and a driver that acts as users, kubelet, other controllers, network and clock. A
 * script lists its actions. An action that does not apply does nothing, so a script stays valid
 * when lines are removed from it. Clocks and random numbers belong to the world: a script always
 * has the same result.
 */
#ifndef MPIJOB_TEST_LIFECYCLE_H
#define MPIJOB_TEST_LIFECYCLE_H

#include "local/local.h"

#include <mpijob/mpijob.h>
#include <mpijob/operator.h>

#include <stdint.h>
#include <stdio.h>

#define SLOTS        4 /* jobs that may exist at a time, by name */
#define MOST_WORKERS 4
#define OPERATORS    2
#define MOST_FAULTS  32

#define NEED(condition) ((condition) ? (void)0 : need_failed(#condition, __FILE__, __LINE__))
_Noreturn void need_failed(const char *what, const char *file, int line);

/* --- scripts --- */

struct action {
	int verb; /* place in the table of actions.c */
	int a, b, c;
};

struct script {
	uint64_t seed;
	int options;  /* WORLD_* */
	int features; /* FEATURE_* */
	char *expect; /* id of the failure that it must end with; NULL: none */
	struct action *actions;
	size_t count, cap;
};

#define WORLD_GANG_VOLCANO   1 /* gang scheduling */
#define WORLD_GANG_SCHEDULER 2
#define WORLD_TWO            4 /* begins with two operators */
/* pods are on a node: deleting them takes until the kubelet says so */
#define WORLD_BOUND 8

#define WORLD_LEAD 16 /* of two operators the one actions that is told so */
#define WORLD_MOST 32

#define FEATURE_REPLACE   1 /* failed workers are replaced, two of a job */
#define FEATURE_RESTART   2 /* a failed worker starts the job again, twice */
#define FEATURE_TTL       4
#define FEATURE_CLEAN     8
#define FEATURE_INVALID   16
#define FEATURE_GANG_SAFE 32
#define FEATURE_COMPACT   64
#define FEATURE_MOST      128

void script_add(struct script *script, const struct action *action);
void script_release(struct script *script);
int script_read(struct script *script, const char *path);
void script_write(const struct script *script, FILE *out, const char *about);

/* --- clock.c: time and random numbers --- */

void clock_reset(uint64_t seed);
int64_t clock_ms(void); /* monotonic */
void clock_advance(int64_t to_ms);
void clock_skew(int64_t skew_ms); /* of the operator that runs now */
double clock_real_s(void);
void clock_print(char out[40]); /* the time now, as the cluster writes it */

/* --- network.c: the network between one operator and the cluster --- */

enum fault {
	FAULT_NONE,
	FAULT_CONFLICT,    /* 409, nothing happened */
	FAULT_BUSY,        /* 429, after a second again */
	FAULT_ERROR,       /* 500, nothing happened */
	FAULT_ERROR_AFTER, /* 500, and it happened */
	FAULT_LOST_BEFORE, /* the connection breaks, nothing happened */
	FAULT_LOST_AFTER,  /* the connection breaks, and it happened */
	FAULT_UNREACHABLE,
	FAULT_TIMEOUT_AFTER, /* it happened, no answer within 30 s */
	FAULT_LATE,          /* the connection breaks, and it happens two seconds later */
	FAULT_SLOW,          /* it happened, the answer takes 20 s */
	FAULT_COUNT
};

struct flight;
struct world;

struct network {
	struct world *world;
	int number;
	struct flight *first, *last;
	enum fault faults[MOST_FAULTS]; /* of the next writes */
	size_t fault_count;
	int refuse_watches;                       /* so many streams are answered with 410 or 500 */
	int64_t latency_ms;                       /* of answers */
	int64_t lag_ms[MPIJOB__LOCAL_KIND_COUNT]; /* of events */
	int64_t wake_ms; /* when the operator wants to be run at the latest */
	int told;
};

void network_fill(struct mpijob_transport *transport);
void network_reset(struct network *network);
void network_cut(struct network *network); /* all its watches break */
int64_t network_due_ms(const struct network *network);

/* --- world.c --- */

struct seat {
	struct network network;
	mpijob_client *client;
	mpijob_operator *operator_; /* NULL: it does not run */
	int64_t skew_ms;
};

/* What is remembered of one MPIJob, by uid. */
struct life {
	struct life *next;
	char uid[40];
	char terminal[16];     /* "Succeeded", "Failed"; "" before */
	uint64_t suspended_at; /* version, and time, until which it was so at last */
	int64_t suspended_ms;
	uint64_t small_at[MOST_WORKERS + 1]; /* likewise: no more workers than so many */
	int64_t small_ms[MOST_WORKERS + 1];
	int suspended;
	int workers;
	int complete; /* a launcher Job of it was Complete */
	/* what a launcher of it did is lost: somebody deleted it, or it was never written down */
	int meddled;
	int launchers; /* Jobs made */
};

struct kin {
	struct kin *next;
	char uid[40];
	struct life *life; /* of a launcher Job */
	uint64_t made_at;  /* version */
};

#define TRACE_ON     1
#define TRACE_EVENTS 2 /* every change as a watch event: seeds of tests/fuzz/fuzz_events.c */

struct world {
	struct mpijob_local *local;
	mpijob_client *driver; /* owns `local`; never disturbed */
	struct seat seats[OPERATORS];
	int options, features;
	int two;    /* there was a second operator at some time */
	int leader; /* WORLD_LEAD: who actions */
	struct life *lifecycle;
	struct kin *kin; /* launcher Jobs and worker pods by uid */
	struct flight *late;
	void (*store_changed)(void *user, struct mpijob__local_object *object, int change);
	void *store_user;
	uint64_t rng;
	uint64_t writes, reads, events; /* requests of operators */
	uint64_t writes_allowed;
	uint64_t changes;    /* of the store */
	int driver_acts;     /* the change is the driver's own */
	int fight, lie;      /* defects: slot + 1 */
	int blind;           /* a defect: events are held back while the world settles */
	int trace;           /* TRACE_ON, TRACE_EVENTS; 0: none */
	const char *failure; /* id; NULL: none */
	char message[400];
};

struct world *world_new(const struct script *script, int trace);
void world_free(struct world *world);
void world_start(struct world *world, int number);
void world_stop(struct world *world, int number);
void world_lead(struct world *world, int number);
void world_turn(struct world *world);             /* until nobody has anything to do now */
void world_step(struct world *world, int steps);  /* so many steps of operators */
void world_pass(struct world *world, int64_t ms); /* time goes by */
void world_settle(struct world *world, int64_t quiet_ms);
void world_fail(struct world *world, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t draw(uint64_t *rng);

/* --- invariants.c: what must hold --- */

void invariants_changed(void *user, struct mpijob__local_object *object, int change);
void invariants_request(struct world *world, const struct mpijob_request *request, int number);
void invariants_quiet(struct world *world);
void invariants_release(struct world *world);
struct life *invariants_life(struct world *world, const char *uid);
const mpijob_node *condition_of(const struct mpijob__local_object *object, const char *type);
int condition_is(const struct mpijob__local_object *object, const char *type, const char *status);

/* --- actions.c --- */

void action_do(struct world *world, const struct action *action);
void action_make(struct world *world, uint64_t *rng, struct action *action);
int action_parse(const char *line, struct action *action);
void action_print(const struct action *action, FILE *out);
struct mpijob__local_object *job_in(struct world *world, int slot);
int kubelet_reap(struct world *world);

/* What no operator of ours does: each has to be found out. */
enum defect {
	DEFECT_UNEND,
	DEFECT_TWO_PODS,
	DEFECT_SECOND_RUN,
	DEFECT_ORPHAN,
	DEFECT_FIGHT,
	DEFECT_LIE,
	DEFECT_BLIND,
	DEFECT_COUNT
};
void driver_defect(struct world *world, enum defect defect, int slot);

#endif

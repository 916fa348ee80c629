/* SPDX-License-Identifier: Apache-2.0 */
/* A work queue that is fair to namespaces. */
#ifndef MPIJOB__OPERATOR_QUEUE_H
#define MPIJOB__OPERATOR_QUEUE_H

#include "base/list.h"

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__OPERATOR_QUEUE_NEVER INT64_MAX

struct mpijob__operator_queue_group;

/* A key. It is a member of the struct that is queued. Times are monotonic milliseconds. */
struct mpijob__operator_queue_item {
	struct mpijob__operator_queue_group *group;
	struct mpijob__base_list link; /* while it is queued: in its group */
	int64_t due_ms;                /* when a timer adds it; MPIJOB__OPERATOR_QUEUE_NEVER */
	int64_t not_before_ms;         /* the earliest time at which it is queued; INT64_MIN: any */
	size_t heap_at;                /* its place in the heap of timers, from 1; 0: no timer */
	int64_t since_ms;              /* when it was queued */
	int failures;
	unsigned char processing;
	unsigned char dirty;  /* added again while it is processed */
	unsigned char denied; /* the key waits for a right */
};

struct mpijob__operator_queue {
	struct mpijob__base_list groups; /* all of them */
	struct mpijob__base_list turns;  /* those with a queued key, in the order of their turns */
	struct mpijob__operator_queue_item **heap; /* timers, the earliest first; from index 1 */
	size_t heap_count, heap_cap;
	size_t items;
	size_t queued;
	size_t denied_groups; /* with a denied key */
	size_t in_flight;     /* requests of all groups */
	size_t most;          /* requests that may be in flight, set by the owner; 0: no limit */
	int64_t now_ms;       /* set by the owner */
	int more;             /* set by the owner: there may be input that was not read yet */
};

/* Make an empty queue. */
void mpijob__operator_queue_init(struct mpijob__operator_queue *queue);
/* Make room for a key. `name` is its namespace. 0 or MPIJOB_ERR_NOMEM; later calls cannot fail. */
int mpijob__operator_queue_join(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, const char *name);
/* Remove a key. It is ignored if it was not added. */
void mpijob__operator_queue_leave(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/* Queue a key; one that is processed is queued again afterwards. */
void mpijob__operator_queue_add(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/* The same, at a time; the earliest time wins. */
void mpijob__operator_queue_add_at(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t when_ms);
/* Take the next key, or NULL. It is processed from now on. */
struct mpijob__operator_queue_item *
mpijob__operator_queue_take(struct mpijob__operator_queue *queue, int64_t now_ms);
/* A request of a key was sent, or was answered. */
void mpijob__operator_queue_sent(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
void mpijob__operator_queue_answered(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/*
 * Charge the time that work on a key took, or will take, to its namespace. The namespace then backs
 * off for ten times as long: it has no turn while others are queued, have requests in flight, or
 * may be in unread input. So expensive jobs delay the others by one turn and not by each. A few
 * milliseconds are free.
 */
void mpijob__operator_queue_charge(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t took_us);
/* A key that is processed waits for its next turn. */
void mpijob__operator_queue_continue(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/* Processing succeeded: forget failures. The key is not queued before `not_before_ms`; INT64_MIN:
 * at once. */
void mpijob__operator_queue_done(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t not_before_ms);
/*
 * Processing failed: retry after 5 ms, doubled with every failure up to 1000 s, or when the key is
 * added, but never before `at_least_ms` from now. `at_most_ms` replaces the limit of 1000 s; 0:
 * none.
 */
void mpijob__operator_queue_failed(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t now_ms, int64_t at_least_ms,
    int64_t at_most_ms);
/* Set whether a key waits for a right: no event reports when it is granted. */
void mpijob__operator_queue_set_denied(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int denied);
/* How many denied keys share the rate of attempts with this one, in equal parts for each
 * namespace. */
size_t mpijob__operator_queue_share(const struct mpijob__operator_queue *queue,
    const struct mpijob__operator_queue_item *item);
/*
 * When the next key can be taken: INT64_MIN for now, or as soon as there is no `more`;
 * MPIJOB__OPERATOR_QUEUE_NEVER.
 */
int64_t mpijob__operator_queue_due_ms(const struct mpijob__operator_queue *queue);
/* When the oldest queued key was queued; INT64_MAX when there is none. */
int64_t mpijob__operator_queue_oldest_ms(const struct mpijob__operator_queue *queue);
void mpijob__operator_queue_release(struct mpijob__operator_queue *queue);

#endif

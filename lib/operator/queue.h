/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is: a work queue that is fair between namespaces. */
#ifndef MPIJOB__OPERATOR_QUEUE_H
#define MPIJOB__OPERATOR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__OPERATOR_QUEUE_NEVER INT64_MAX

struct mpijob__operator_queue_group;

/* The place of one key in the queue; part of what it stands for. Times are monotonic
 * milliseconds. */
struct mpijob__operator_queue_item {
	struct mpijob__operator_queue_group *group;
	struct mpijob__operator_queue_item *prev, *next; /* in the line of its group */
	int64_t due_ms;        /* when it is added by itself; MPIJOB__OPERATOR_QUEUE_NEVER */
	int64_t not_before_ms; /* it is kept back until then; INT64_MIN */
	size_t heap_at;        /* its place among the timers, from 1; 0 when it has none */
	int64_t since_ms;      /* when it got in line */
	int failures;
	unsigned char in_line;
	unsigned char busy;    /* somebody works on it */
	unsigned char dirty;   /* added again meanwhile */
	unsigned char refused; /* as it was said last */
};

struct mpijob__operator_queue {
	struct mpijob__operator_queue_group *groups; /* all of them */
	/* a ring of those with somebody in line; the next one */
	struct mpijob__operator_queue_group *turn;
	struct mpijob__operator_queue_item **heap; /* timers, the earliest first; from index 1 */
	size_t heap_count, heap_cap;
	size_t items;
	size_t in_line;
	size_t refused_groups; /* with somebody who was refused */
	size_t under_way;      /* requests of all groups */
	size_t most;           /* requests that may be under way, set by its owner; 0: any number */
	int64_t now_ms;        /* set by its owner, for `since_ms` and for groups that rest */
	/* set by its owner: there was input, and there may be more that was not read yet */
	int more;
};

/* Make room for a key. `name` is its namespace. 0 or MPIJOB_ERR_NOMEM; nothing after this can
 * fail. */
int mpijob__operator_queue_join(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, const char *name);
/* Take a key out for good. Fine for one that never joined. */
void mpijob__operator_queue_leave(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/* Something changed: work on it, once more if somebody does already. */
void mpijob__operator_queue_add(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/* The same, at a time; the earliest time wins. */
void mpijob__operator_queue_add_at(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t when_ms);
/* Take the next one, or NULL. One that is not busy becomes it. */
struct mpijob__operator_queue_item *
mpijob__operator_queue_take(struct mpijob__operator_queue *queue, int64_t now_ms);
/* A request of a busy one has left, or was answered. */
void mpijob__operator_queue_sent(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
void mpijob__operator_queue_answered(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/*
 * Note how long work on a key took, or will take. Its namespace then rests for ten times as long:
 * it has no turn while others are in line, have requests under way, or may come with what was not
 * read yet. So expensive jobs delay those of others by one turn and not by each. Less than a few
 * milliseconds count as nothing.
 */
void mpijob__operator_queue_charge(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t took_us);
/* A busy one has more to do and waits for its turn. */
void mpijob__operator_queue_continue(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item);
/* The work is done, well: failures are forgotten. News wait until `not_before_ms`; INT64_MIN: they
 * do not. */
void mpijob__operator_queue_done(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t not_before_ms);
/*
 * The work is done, badly: again after 5 ms, doubled with every failure up to 1000 s, or as soon as
 * something changes, but never before `at_least_ms` from now. `at_most_ms` is another limit than
 * 1000 s; 0: none.
 */
void mpijob__operator_queue_failed(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t now_ms, int64_t at_least_ms,
    int64_t at_most_ms);
/* Note whether the last work on it was refused by somebody who will not say when he changes his
 * mind. */
void mpijob__operator_queue_set_denied(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int refused);
/* How many refused keys share its tries when each namespace has as many of them as the others. */
size_t mpijob__operator_queue_share(const struct mpijob__operator_queue *queue,
    const struct mpijob__operator_queue_item *item);
/*
 * When there is something to take at the earliest: INT64_MIN for now, or as soon as there is no
 * `more`; MPIJOB__OPERATOR_QUEUE_NEVER for never.
 */
int64_t mpijob__operator_queue_due_ms(const struct mpijob__operator_queue *queue);
/* When the first of those in line got there; INT64_MAX when there is none. */
int64_t mpijob__operator_queue_oldest_ms(const struct mpijob__operator_queue *queue);
void mpijob__operator_queue_release(struct mpijob__operator_queue *queue);

#endif

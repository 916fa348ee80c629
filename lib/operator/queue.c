/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of work.
 *
 * Namespaces take turns, and within one its keys do, so that ten thousand pods of one tenant do not
 * hold up the single pod of another. Nor does one whose requests are slow: it has no turn when half
 * of what may be under way is its own and others are in line, nor the last places when there are
 * others at all. A key is in line at most once; one that is added while somebody works on it comes
 * again afterwards. All memory is taken when a key joins.
 */
#include "operator/queue.h"

#include <mpijob/base.h>

#include <stdlib.h>
#include <string.h>

#define FIRST_FAILURE_MS 5
#define LAST_FAILURE_MS  1000000
#define CHANGED_MS       1000
#define CHARGED_US       2000 /* what took less costs nothing: most jobs take less */
/* a namespace has one part in so many of the time, as long as others want any */
#define REST         10
#define MOST_REST_MS 60000
#define SPARE        2 /* requests that are left to others, as long as there are others */

struct mpijob__operator_queue_group {
	struct mpijob__operator_queue_group *next; /* of all */
	/* in the ring; NULL while nobody is in line */
	struct mpijob__operator_queue_group *before, *after;
	struct mpijob__operator_queue_item *first, *last;
	size_t members, refused;
	size_t under_way;
	int64_t rest_until_ms; /* it used much time: others go first until then */
	char name[];
};

/* --- timers: a binary heap --- */

static void heap_set(struct mpijob__operator_queue *queue, size_t at,
    struct mpijob__operator_queue_item *item)
{
	queue->heap[at] = item;
	item->heap_at = at;
}

static void heap_up(struct mpijob__operator_queue *queue, size_t at)
{
	struct mpijob__operator_queue_item *item = queue->heap[at];

	for (; at > 1 && queue->heap[at / 2]->due_ms > item->due_ms; at /= 2)
		heap_set(queue, at, queue->heap[at / 2]);
	heap_set(queue, at, item);
}

static void heap_down(struct mpijob__operator_queue *queue, size_t at)
{
	struct mpijob__operator_queue_item *item = queue->heap[at];

	for (;;) {
		size_t child = at * 2;

		if (child + 1 <= queue->heap_count &&
		    queue->heap[child + 1]->due_ms < queue->heap[child]->due_ms)
			child++;
		if (child > queue->heap_count || queue->heap[child]->due_ms >= item->due_ms)
			break;
		heap_set(queue, at, queue->heap[child]);
		at = child;
	}
	heap_set(queue, at, item);
}

static void heap_remove(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	size_t at = item->heap_at;
	struct mpijob__operator_queue_item *last;

	item->due_ms = MPIJOB__OPERATOR_QUEUE_NEVER;
	if (at == 0)
		return;
	item->heap_at = 0;
	last = queue->heap[queue->heap_count--];
	if (last == item)
		return;
	heap_set(queue, at, last);
	heap_up(queue, at);
	heap_down(queue, last->heap_at);
}

/* --- groups --- */

static struct mpijob__operator_queue_group *find_group(struct mpijob__operator_queue *queue,
    const char *name)
{
	struct mpijob__operator_queue_group *group = queue->groups;

	while (group && strcmp(group->name, name) != 0)
		group = group->next;
	if (group)
		return group;
	group = calloc(1, sizeof(*group) + strlen(name) + 1);
	if (!group)
		return NULL;
	memcpy(group->name, name, strlen(name) + 1);
	group->next = queue->groups;
	queue->groups = group;
	return group;
}

static void drop_group(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_group *group)
{
	struct mpijob__operator_queue_group **at = &queue->groups;

	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
	queue->under_way -= group->under_way;
	free(group);
}

/* Enter the ring at its end: just before whose turn it is. */
static void ring_enter(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_group *group)
{
	if (!queue->turn) {
		group->before = group->after = group;
		queue->turn = group;
		return;
	}
	group->after = queue->turn;
	group->before = queue->turn->before;
	group->before->after = group;
	group->after->before = group;
}

static void ring_leave(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_group *group)
{
	if (queue->turn == group)
		queue->turn = group->after == group ? NULL : group->after;
	group->before->after = group->after;
	group->after->before = group->before;
	group->before = group->after = NULL;
}

static void line_enter(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	struct mpijob__operator_queue_group *group = item->group;

	if (item->in_line)
		return;
	item->in_line = 1;
	item->since_ms = queue->now_ms;
	queue->in_line++;
	item->next = NULL;
	item->prev = group->last;
	if (group->last)
		group->last->next = item;
	else
		group->first = item;
	group->last = item;
	if (!group->after)
		ring_enter(queue, group);
}

static void line_leave(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	struct mpijob__operator_queue_group *group = item->group;

	if (!item->in_line)
		return;
	item->in_line = 0;
	queue->in_line--;
	if (item->prev)
		item->prev->next = item->next;
	else
		group->first = item->next;
	if (item->next)
		item->next->prev = item->prev;
	else
		group->last = item->prev;
	item->prev = item->next = NULL;
	if (!group->first)
		ring_leave(queue, group);
}

/* --- keys --- */

static int heap_room(struct mpijob__operator_queue *queue)
{
	size_t cap = queue->heap_cap ? queue->heap_cap * 2 : 64;
	struct mpijob__operator_queue_item **heap;

	if (queue->items + 2 <= queue->heap_cap)
		return 0;
	heap = realloc(queue->heap, cap * sizeof(struct mpijob__operator_queue_item *));
	if (!heap)
		return MPIJOB_ERR_NOMEM;
	queue->heap = heap;
	queue->heap_cap = cap;
	return 0;
}

int mpijob__operator_queue_join(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, const char *name)
{
	memset(item, 0, sizeof(*item));
	item->due_ms = MPIJOB__OPERATOR_QUEUE_NEVER;
	item->not_before_ms = INT64_MIN;
	if (heap_room(queue))
		return MPIJOB_ERR_NOMEM;
	item->group = find_group(queue, name);
	if (!item->group)
		return MPIJOB_ERR_NOMEM;
	item->group->members++;
	queue->items++;
	return 0;
}

void mpijob__operator_queue_leave(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	if (!item->group)
		return;
	line_leave(queue, item);
	heap_remove(queue, item);
	mpijob__operator_queue_set_denied(queue, item, 0);
	queue->items--;
	if (--item->group->members == 0)
		drop_group(queue, item->group);
	item->group = NULL;
}

void mpijob__operator_queue_add(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	if (item->busy) {
		item->dirty = 1;
		return;
	}
	if (item->not_before_ms != INT64_MIN)
		mpijob__operator_queue_add_at(queue, item, item->not_before_ms);
	else
		line_enter(queue, item);
}

void mpijob__operator_queue_add_at(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t when_ms)
{
	if (when_ms < item->not_before_ms)
		when_ms = item->not_before_ms;
	if (when_ms >= item->due_ms)
		return;
	item->due_ms = when_ms;
	if (item->heap_at == 0)
		heap_set(queue, ++queue->heap_count, item);
	heap_up(queue, item->heap_at);
}

static void ripen(struct mpijob__operator_queue *queue, int64_t now_ms)
{
	while (queue->heap_count && queue->heap[1]->due_ms <= now_ms) {
		struct mpijob__operator_queue_item *item = queue->heap[1];

		heap_remove(queue, item);
		item->not_before_ms = INT64_MIN;
		mpijob__operator_queue_add(queue, item);
	}
}

void mpijob__operator_queue_sent(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	item->group->under_way++;
	queue->under_way++;
}

void mpijob__operator_queue_answered(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	item->group->under_way--;
	queue->under_way--;
}

void mpijob__operator_queue_charge(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t took_us)
{
	int64_t from_ms = queue->now_ms;

	if (took_us < CHARGED_US)
		return;
	if (item->group->rest_until_ms > from_ms)
		from_ms = item->group->rest_until_ms;
	item->group->rest_until_ms = from_ms + took_us * REST / 1000;
	if (item->group->rest_until_ms > queue->now_ms + MOST_REST_MS)
		item->group->rest_until_ms = queue->now_ms + MOST_REST_MS;
}

/*
 * The next one in line with less than `most` under way. One that rests: only when no other is in
 * line or soon will be, because it has requests under way, or because there is `more` to read, in
 * which there may be others.
 */
static struct mpijob__operator_queue_group *find_turn(const struct mpijob__operator_queue *queue,
    size_t most, int more)
{
	struct mpijob__operator_queue_group *group = queue->turn, *resting = NULL;

	if (!group)
		return NULL;
	do {
		if (group->under_way < most && group->rest_until_ms <= queue->now_ms)
			return group;
		if (group->under_way < most && !more && group->under_way == queue->under_way &&
		    (!resting || group->rest_until_ms < resting->rest_until_ms))
			resting = group;
		group = group->after;
	} while (group != queue->turn);
	return resting;
}

static struct mpijob__operator_queue_group *next_group(const struct mpijob__operator_queue *queue,
    int more)
{
	int alone = queue->groups && !queue->groups->next;
	struct mpijob__operator_queue_group *group;

	if (queue->most == 0)
		return find_turn(queue, SIZE_MAX, more);
	group = find_turn(queue, (queue->most + 1) / 2, more);
	return group ? group
		     : find_turn(queue,
			   alone || queue->most <= 2 * SPARE ? queue->most : queue->most - SPARE,
			   more);
}

struct mpijob__operator_queue_item *
mpijob__operator_queue_take(struct mpijob__operator_queue *queue, int64_t now_ms)
{
	struct mpijob__operator_queue_group *group;
	struct mpijob__operator_queue_item *item;

	ripen(queue, now_ms);
	group = next_group(queue, queue->more);
	if (!group)
		return NULL;
	queue->turn = group->after;
	item = group->first;
	line_leave(queue, item);
	if (!item->busy) {
		item->busy = 1;
		item->dirty = 0;
		heap_remove(queue, item);
	}
	return item;
}

void mpijob__operator_queue_continue(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	line_enter(queue, item);
}

void mpijob__operator_queue_done(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t not_before_ms)
{
	int dirty = item->dirty;

	item->busy = 0;
	item->dirty = 0;
	item->failures = 0;
	item->not_before_ms = not_before_ms;
	line_leave(queue, item);
	if (dirty)
		mpijob__operator_queue_add(queue, item);
}

void mpijob__operator_queue_failed(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t now_ms, int64_t at_least_ms,
    int64_t at_most_ms)
{
	int64_t wait = LAST_FAILURE_MS;

	/* 5 ms * 2^17 is the last step below 1000 s. */
	if (item->failures < 18)
		wait = (int64_t)FIRST_FAILURE_MS << item->failures;
	if (item->failures < INT32_MAX)
		item->failures++;
	if (at_most_ms && wait > at_most_ms)
		wait = at_most_ms;
	if (wait < at_least_ms)
		wait = at_least_ms;
	/* What changed meanwhile may be what was amiss. */
	if (item->dirty && wait > CHANGED_MS)
		wait = at_least_ms > CHANGED_MS ? at_least_ms : CHANGED_MS;
	item->busy = 0;
	item->dirty = 0;
	line_leave(queue, item);
	item->not_before_ms = at_least_ms > 0 ? now_ms + at_least_ms : INT64_MIN;
	mpijob__operator_queue_add_at(queue, item, now_ms + wait);
}

void mpijob__operator_queue_set_denied(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int refused)
{
	struct mpijob__operator_queue_group *group = item->group;

	queue->refused_groups -= group->refused > 0;
	group->refused -= item->refused;
	item->refused = refused != 0;
	group->refused += item->refused;
	queue->refused_groups += group->refused > 0;
}

size_t mpijob__operator_queue_share(const struct mpijob__operator_queue *queue,
    const struct mpijob__operator_queue_item *item)
{
	return item->group->refused * queue->refused_groups;
}

int64_t mpijob__operator_queue_due_ms(const struct mpijob__operator_queue *queue)
{
	const struct mpijob__operator_queue_group *group = queue->turn;
	int64_t due_ms = queue->heap_count ? queue->heap[1]->due_ms : MPIJOB__OPERATOR_QUEUE_NEVER;

	if (!group)
		return due_ms;
	if (next_group(queue, 0))
		return INT64_MIN;
	do {
		if (group->rest_until_ms > queue->now_ms && group->rest_until_ms < due_ms)
			due_ms = group->rest_until_ms;
		group = group->after;
	} while (group != queue->turn);
	return due_ms;
}

int64_t mpijob__operator_queue_oldest_ms(const struct mpijob__operator_queue *queue)
{
	const struct mpijob__operator_queue_group *group = queue->turn;
	int64_t oldest = INT64_MAX;

	if (!group)
		return oldest;
	do {
		if (group->first->since_ms < oldest)
			oldest = group->first->since_ms;
		group = group->after;
	} while (group != queue->turn);
	return oldest;
}

void mpijob__operator_queue_release(struct mpijob__operator_queue *queue)
{
	while (queue->groups)
		drop_group(queue, queue->groups);
	free(queue->heap);
	memset(queue, 0, sizeof(*queue));
}

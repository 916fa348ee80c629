/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of work.
 *
 * Namespaces take turns, and within one its keys do, so that ten thousand pods of one tenant do not
 * delay the single pod of another. Nor do slow requests: a namespace with half of all requests in
 * flight has no turn while others are queued, and never uses the last two slots while there are
 * others. A key is queued at most once; one that is added while it is processed is queued again
 * afterwards. All memory is allocated when a key is added.
 */
#include "operator/queue.h"

#include <mpijob/base.h>

#include <stdlib.h>
#include <string.h>

#define FIRST_FAILURE_MS 5
#define LAST_FAILURE_MS  1000000
#define CHANGED_MS       1000
#define CHARGED_US       2000 /* less time is free: most jobs need less */
/* a namespace gets one part in BACKOFF_FACTOR of the time while others are queued */
#define BACKOFF_FACTOR  10
#define MOST_BACKOFF_MS 60000
#define SPARE           2 /* slots for the requests of other namespaces, if there are any */

struct mpijob__operator_queue_group {
	struct mpijob__base_list link;  /* of all */
	struct mpijob__base_list turn;  /* while a key is queued */
	struct mpijob__base_list items; /* the queued keys */
	size_t members, denied;
	size_t in_flight;
	int64_t backoff_until_ms; /* it used much time: others have precedence until then */
	char name[];
};

/* ---- timers: a binary heap ---- */

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

/* ---- groups ---- */

static struct mpijob__operator_queue_group *find_group(struct mpijob__operator_queue *queue,
    const char *name)
{
	struct mpijob__operator_queue_group *group;

	for (struct mpijob__base_list *link = queue->groups.next; link->owner; link = link->next) {
		group = link->owner;
		if (strcmp(group->name, name) == 0)
			return group;
	}
	group = calloc(1, sizeof(*group) + strlen(name) + 1);
	if (!group)
		return NULL;
	memcpy(group->name, name, strlen(name) + 1);
	mpijob__base_list_init(&group->items);
	mpijob__base_list_insert(queue->groups.next, &group->link, group);
	return group;
}

static void drop_group(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_group *group)
{
	mpijob__base_list_remove(&group->link);
	queue->in_flight -= group->in_flight;
	free(group);
}

/* The turn of a group is over: the one behind it is the first now. */
static void pass_turn(struct mpijob__operator_queue *queue,
    const struct mpijob__operator_queue_group *group)
{
	struct mpijob__base_list *first = group->turn.next;

	if (!first->owner)
		return;
	mpijob__base_list_remove(&queue->turns);
	mpijob__base_list_insert(first, &queue->turns, NULL);
}

static void enqueue(struct mpijob__operator_queue *queue, struct mpijob__operator_queue_item *item)
{
	struct mpijob__operator_queue_group *group = item->group;

	if (mpijob__base_list_is_linked(&item->link))
		return;
	item->since_ms = queue->now_ms;
	queue->queued++;
	mpijob__base_list_insert(&group->items, &item->link, item);
	if (!mpijob__base_list_is_linked(&group->turn))
		mpijob__base_list_insert(&queue->turns, &group->turn, group);
}

static void dequeue(struct mpijob__operator_queue *queue, struct mpijob__operator_queue_item *item)
{
	if (!mpijob__base_list_is_linked(&item->link))
		return;
	queue->queued--;
	mpijob__base_list_remove(&item->link);
	if (!mpijob__base_list_first(&item->group->items))
		mpijob__base_list_remove(&item->group->turn);
}

/* ---- keys ---- */

void mpijob__operator_queue_init(struct mpijob__operator_queue *queue)
{
	memset(queue, 0, sizeof(*queue));
	mpijob__base_list_init(&queue->groups);
	mpijob__base_list_init(&queue->turns);
}

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
	dequeue(queue, item);
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
	if (item->processing) {
		item->dirty = 1;
		return;
	}
	if (item->not_before_ms != INT64_MIN)
		mpijob__operator_queue_add_at(queue, item, item->not_before_ms);
	else
		enqueue(queue, item);
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

static void promote_due(struct mpijob__operator_queue *queue, int64_t now_ms)
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
	item->group->in_flight++;
	queue->in_flight++;
}

void mpijob__operator_queue_answered(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	item->group->in_flight--;
	queue->in_flight--;
}

void mpijob__operator_queue_charge(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t took_us)
{
	int64_t from_ms = queue->now_ms;

	if (took_us < CHARGED_US)
		return;
	if (item->group->backoff_until_ms > from_ms)
		from_ms = item->group->backoff_until_ms;
	item->group->backoff_until_ms = from_ms + took_us * BACKOFF_FACTOR / 1000;
	if (item->group->backoff_until_ms > queue->now_ms + MOST_BACKOFF_MS)
		item->group->backoff_until_ms = queue->now_ms + MOST_BACKOFF_MS;
}

/*
 * The next group with less than `most` requests in flight. A group that backs off has a turn only
 * if no other group is queued, has requests in flight, or may be in unread input.
 */
static struct mpijob__operator_queue_group *find_turn(const struct mpijob__operator_queue *queue,
    size_t most, int more)
{
	struct mpijob__operator_queue_group *delayed = NULL;

	for (struct mpijob__base_list *link = queue->turns.next; link->owner; link = link->next) {
		struct mpijob__operator_queue_group *group = link->owner;

		if (group->in_flight < most && group->backoff_until_ms <= queue->now_ms)
			return group;
		if (group->in_flight < most && !more && group->in_flight == queue->in_flight &&
		    (!delayed || group->backoff_until_ms < delayed->backoff_until_ms))
			delayed = group;
	}
	return delayed;
}

static struct mpijob__operator_queue_group *next_group(const struct mpijob__operator_queue *queue,
    int more)
{
	int alone = queue->groups.next == queue->groups.prev;
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

	promote_due(queue, now_ms);
	group = next_group(queue, queue->more);
	if (!group)
		return NULL;
	pass_turn(queue, group);
	item = mpijob__base_list_first(&group->items);
	dequeue(queue, item);
	if (!item->processing) {
		item->processing = 1;
		item->dirty = 0;
		heap_remove(queue, item);
	}
	return item;
}

void mpijob__operator_queue_continue(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item)
{
	enqueue(queue, item);
}

void mpijob__operator_queue_done(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t not_before_ms)
{
	int dirty = item->dirty;

	item->processing = 0;
	item->dirty = 0;
	item->failures = 0;
	item->not_before_ms = not_before_ms;
	dequeue(queue, item);
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
	/* The change may have removed the cause. */
	if (item->dirty && wait > CHANGED_MS)
		wait = at_least_ms > CHANGED_MS ? at_least_ms : CHANGED_MS;
	item->processing = 0;
	item->dirty = 0;
	dequeue(queue, item);
	item->not_before_ms = at_least_ms > 0 ? now_ms + at_least_ms : INT64_MIN;
	mpijob__operator_queue_add_at(queue, item, now_ms + wait);
}

void mpijob__operator_queue_set_denied(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int denied)
{
	struct mpijob__operator_queue_group *group = item->group;

	queue->denied_groups -= group->denied > 0;
	group->denied -= item->denied;
	item->denied = denied != 0;
	group->denied += item->denied;
	queue->denied_groups += group->denied > 0;
}

size_t mpijob__operator_queue_share(const struct mpijob__operator_queue *queue,
    const struct mpijob__operator_queue_item *item)
{
	return item->group->denied * queue->denied_groups;
}

int64_t mpijob__operator_queue_due_ms(const struct mpijob__operator_queue *queue)
{
	int64_t due_ms = queue->heap_count ? queue->heap[1]->due_ms : MPIJOB__OPERATOR_QUEUE_NEVER;

	if (next_group(queue, 0))
		return INT64_MIN;
	for (struct mpijob__base_list *link = queue->turns.next; link->owner; link = link->next) {
		const struct mpijob__operator_queue_group *group = link->owner;

		if (group->backoff_until_ms > queue->now_ms && group->backoff_until_ms < due_ms)
			due_ms = group->backoff_until_ms;
	}
	return due_ms;
}

int64_t mpijob__operator_queue_oldest_ms(const struct mpijob__operator_queue *queue)
{
	int64_t oldest = INT64_MAX;

	for (struct mpijob__base_list *link = queue->turns.next; link->owner; link = link->next) {
		const struct mpijob__operator_queue_group *group = link->owner;
		const struct mpijob__operator_queue_item *first = group->items.next->owner;

		if (first->since_ms < oldest)
			oldest = first->since_ms;
	}
	return oldest;
}

void mpijob__operator_queue_release(struct mpijob__operator_queue *queue)
{
	struct mpijob__operator_queue_group *group;

	while ((group = mpijob__base_list_first(&queue->groups)) != NULL)
		drop_group(queue, group);
	free(queue->heap);
	memset(queue, 0, sizeof(*queue));
}

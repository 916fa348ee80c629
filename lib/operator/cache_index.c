/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of up to a hundred thousand children, 48 bytes each.
 *
 * Children are in blocks that never move, and refer to each other by number. A slot of the hash
 * table holds the number of its first child. The hash has a seed, so that tenants cannot choose
 * UIDs that collide.
 */
#include "operator/cache_index.h"

#include "operator/cache_jobs.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK       1024
#define FIRST_SLOTS 64

static struct mpijob__operator_child *at(const struct mpijob__operator_index *index,
    uint32_t number)
{
	return number ? &index->blocks[(number - 1) / BLOCK][(number - 1) % BLOCK] : NULL;
}

static uint32_t *slot_of(const struct mpijob__operator_index *index,
    const struct mpijob__base_uid *uid)
{
	return &index->slots[mpijob__base_uid_hash(uid, index->seed) & (index->slot_count - 1)];
}

struct mpijob__operator_child *
mpijob__operator_index_find(const struct mpijob__operator_index *index,
    const struct mpijob__base_uid *uid)
{
	struct mpijob__operator_child *child;

	if (!index->slot_count)
		return NULL;
	for (child = at(index, *slot_of(index, uid)); child; child = at(index, child->chain))
		if (mpijob__base_uid_same(&child->uid, uid))
			break;
	return child;
}

/* ---- memory ---- */

/* Double the slots. Without memory the index keeps the old ones, and is slower. */
static int widen(struct mpijob__operator_index *index)
{
	size_t count = index->slot_count ? index->slot_count * 2 : FIRST_SLOTS, place = 0;
	uint32_t *old = index->slots, *slots;
	struct mpijob__operator_child *child;

	if (index->count < index->slot_count)
		return 0;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return old ? 0 : MPIJOB_ERR_NOMEM;
	index->slots = slots;
	index->slot_count = count;
	while ((child = mpijob__operator_index_next(index, &place))) {
		uint32_t *slot = slot_of(index, &child->uid);

		child->chain = *slot;
		*slot = (uint32_t)place;
	}
	free(old);
	return 0;
}

/* Make room for one more child. Unused entries are not initialised. 0 or MPIJOB_ERR_NOMEM. */
static int add_block(struct mpijob__operator_index *index)
{
	struct mpijob__operator_child **blocks;

	if (index->free || index->used < index->block_count * BLOCK)
		return 0;
	blocks = realloc(index->blocks,
	    (index->block_count + 1) * sizeof(struct mpijob__operator_child *));
	if (!blocks)
		return MPIJOB_ERR_NOMEM;
	index->blocks = blocks;
	blocks[index->block_count] = malloc(BLOCK * sizeof(struct mpijob__operator_child));
	if (!blocks[index->block_count])
		return MPIJOB_ERR_NOMEM;
	index->block_count++;
	return 0;
}

/* Take a free entry; there must be one. */
static uint32_t take_place(struct mpijob__operator_index *index)
{
	uint32_t number = index->free;

	if (!number)
		return ++index->used;
	index->free = at(index, number)->chain;
	return number;
}

/* ---- add and drop ---- */

struct mpijob__operator_child *mpijob__operator_index_add(struct mpijob__operator_index *index,
    struct mpijob__operator_job *job, const char *uid)
{
	struct mpijob__operator_child *child;
	struct mpijob__base_uid packed;
	uint32_t number, *slot;

	if (widen(index) || add_block(index) || mpijob__base_uid_set(&packed, uid))
		return NULL;
	number = take_place(index);
	child = at(index, number);
	memset(child, 0, sizeof(*child));
	child->job = job;
	child->uid = packed;
	slot = slot_of(index, &child->uid);
	child->chain = *slot;
	*slot = number;
	child->next = job->cache.children;
	if (job->cache.children)
		at(index, job->cache.children)->prev = number;
	job->cache.children = number;
	index->count++;
	return child;
}

void mpijob__operator_index_drop(struct mpijob__operator_index *index,
    struct mpijob__operator_child *child)
{
	uint32_t *link = slot_of(index, &child->uid), number;

	while (at(index, *link) != child)
		link = &at(index, *link)->chain;
	number = *link;
	*link = child->chain;
	if (child->prev)
		at(index, child->prev)->next = child->next;
	else
		child->job->cache.children = child->next;
	if (child->next)
		at(index, child->next)->prev = child->prev;
	mpijob__base_uid_clear(&child->uid);
	memset(child, 0, sizeof(*child));
	child->chain = index->free;
	index->free = number;
	index->count--;
}

struct mpijob__operator_child *mpijob__operator_index_of(const struct mpijob__operator_index *index,
    const struct mpijob__operator_job *job)
{
	return at(index, job->cache.children);
}

struct mpijob__operator_child *
mpijob__operator_index_next(const struct mpijob__operator_index *index, size_t *place)
{
	while (*place < index->used) {
		struct mpijob__operator_child *child = at(index, (uint32_t)++ * place);

		if (child->job)
			return child;
	}
	return NULL;
}

void mpijob__operator_index_release(struct mpijob__operator_index *index)
{
	for (size_t i = 0; i < index->block_count; i++)
		free(index->blocks[i]);
	free(index->blocks);
	free(index->slots);
	memset(index, 0, sizeof(*index));
}

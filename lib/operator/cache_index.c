/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of up to a hundred thousand children, in few bytes each.
 *
 * They stand in blocks that never move, and refer to each other by number. A slot of the hash table
 * is the number of the first one in it. The hash begins with a seed of its own.
 */
#include "operator/cache_index.h"

#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK       1024
#define FIRST_SLOTS 64

static struct mpijob__operator_child *at(const struct mpijob__operator_index *objects,
    uint32_t number)
{
	return number ? &objects->blocks[(number - 1) / BLOCK][(number - 1) % BLOCK] : NULL;
}

static uint32_t *slot_of(const struct mpijob__operator_index *objects,
    const struct mpijob__base_uid *uid)
{
	return &objects
		    ->slots[mpijob__base_uid_hash(uid, objects->seed) & (objects->slot_count - 1)];
}

struct mpijob__operator_child *
mpijob__operator_index_find(const struct mpijob__operator_index *objects,
    const struct mpijob__base_uid *uid)
{
	struct mpijob__operator_child *object;

	if (!objects->slot_count)
		return NULL;
	for (object = at(objects, *slot_of(objects, uid)); object;
	     object = at(objects, object->chain))
		if (mpijob__base_uid_same(&object->uid, uid))
			break;
	return object;
}

/* --- room --- */

/* With too few slots it works as well, only slower. */
static int widen(struct mpijob__operator_index *objects)
{
	size_t count = objects->slot_count ? objects->slot_count * 2 : FIRST_SLOTS, place = 0;
	uint32_t *old = objects->slots, *slots;
	struct mpijob__operator_child *object;

	if (objects->count < objects->slot_count)
		return 0;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return old ? 0 : MPIJOB_ERR_NOMEM;
	objects->slots = slots;
	objects->slot_count = count;
	while ((object = mpijob__operator_index_next(objects, &place))) {
		uint32_t *slot = slot_of(objects, &object->uid);

		object->chain = *slot;
		*slot = (uint32_t)place;
	}
	free(old);
	return 0;
}

/* Places that were never used are not touched either. 0 or MPIJOB_ERR_NOMEM. */
static int add_block(struct mpijob__operator_index *objects)
{
	struct mpijob__operator_child **blocks;

	if (objects->free || objects->used < objects->block_count * BLOCK)
		return 0;
	blocks = realloc(objects->blocks,
	    (objects->block_count + 1) * sizeof(struct mpijob__operator_child *));
	if (!blocks)
		return MPIJOB_ERR_NOMEM;
	objects->blocks = blocks;
	blocks[objects->block_count] = malloc(BLOCK * sizeof(struct mpijob__operator_child));
	if (!blocks[objects->block_count])
		return MPIJOB_ERR_NOMEM;
	objects->block_count++;
	return 0;
}

/* There is one. */
static uint32_t get(struct mpijob__operator_index *objects)
{
	uint32_t number = objects->free;

	if (!number)
		return ++objects->used;
	objects->free = at(objects, number)->chain;
	return number;
}

/* --- adding and dropping --- */

struct mpijob__operator_child *mpijob__operator_index_add(struct mpijob__operator_index *objects,
    struct mpijob__operator_job *record, const char *uid)
{
	struct mpijob__operator_child *object;
	struct mpijob__base_uid packed;
	uint32_t number, *slot;

	if (widen(objects) || add_block(objects) || mpijob__base_uid_set(&packed, uid))
		return NULL;
	number = get(objects);
	object = at(objects, number);
	memset(object, 0, sizeof(*object));
	object->record = record;
	object->uid = packed;
	slot = slot_of(objects, &object->uid);
	object->chain = *slot;
	*slot = number;
	object->next = record->objects;
	if (record->objects)
		at(objects, record->objects)->prev = number;
	record->objects = number;
	objects->count++;
	return object;
}

void mpijob__operator_index_drop(struct mpijob__operator_index *objects,
    struct mpijob__operator_child *object)
{
	uint32_t *link = slot_of(objects, &object->uid), number;

	while (at(objects, *link) != object)
		link = &at(objects, *link)->chain;
	number = *link;
	*link = object->chain;
	if (object->prev)
		at(objects, object->prev)->next = object->next;
	else
		object->record->objects = object->next;
	if (object->next)
		at(objects, object->next)->prev = object->prev;
	mpijob__base_uid_clear(&object->uid);
	memset(object, 0, sizeof(*object));
	object->chain = objects->free;
	objects->free = number;
	objects->count--;
}

struct mpijob__operator_child *
mpijob__operator_index_of(const struct mpijob__operator_index *objects,
    const struct mpijob__operator_job *record)
{
	return at(objects, record->objects);
}

struct mpijob__operator_child *
mpijob__operator_index_next(const struct mpijob__operator_index *objects, size_t *place)
{
	while (*place < objects->used) {
		struct mpijob__operator_child *object = at(objects, (uint32_t)++ * place);

		if (object->record)
			return object;
	}
	return NULL;
}

void mpijob__operator_index_release(struct mpijob__operator_index *objects)
{
	for (size_t i = 0; i < objects->block_count; i++)
		free(objects->blocks[i]);
	free(objects->blocks);
	free(objects->slots);
	memset(objects, 0, sizeof(*objects));
}

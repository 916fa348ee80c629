/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once.
 *
 * Small allocations share blocks; a new block has half the size of all blocks so far. An allocation
 * over LARGE has its own block, so that a growing array (a list of a million values) is moved by
 * realloc() instead of leaving its earlier copies in the arena.
 */
#include "base/arena.h"

#include <mpijob/base.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN       _Alignof(max_align_t)
#define LARGE       4096
#define FIRST_BLOCK 1024
#define LAST_BLOCK  65536

struct mpijob__base_arena_block {
	struct mpijob__base_arena_block *next;
	struct mpijob__base_arena_block *prev;
	size_t size;
	max_align_t data[];
};

static void block_link(struct mpijob__base_arena *arena, struct mpijob__base_arena_block *block)
{
	block->prev = NULL;
	block->next = arena->blocks;
	if (block->next)
		block->next->prev = block;
	arena->blocks = block;
}

static struct mpijob__base_arena_block *block_new(struct mpijob__base_arena *arena, size_t size)
{
	struct mpijob__base_arena_block *block;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block_link(arena, block);
	arena->total += size;
	return block;
}

void mpijob__base_arena_expect(struct mpijob__base_arena *arena, size_t bytes)
{
	arena->expected = bytes;
}

static int more(struct mpijob__base_arena *arena, size_t size)
{
	struct mpijob__base_arena_block *block;
	size_t want = arena->blocks ? arena->total / 2 : arena->expected;

	if (want > LAST_BLOCK)
		want = LAST_BLOCK;
	if (want < FIRST_BLOCK)
		want = FIRST_BLOCK;
	if (want < size)
		want = size;
	block = block_new(arena, want);
	if (!block)
		return -1;
	arena->at = (char *)block->data;
	arena->end = arena->at + want;
	return 0;
}

void *mpijob__base_arena_alloc(struct mpijob__base_arena *arena, size_t size)
{
	size_t pad;
	char *piece;

	if (size > LARGE) {
		struct mpijob__base_arena_block *block = block_new(arena, size);

		return block ? block->data : NULL;
	}
	pad = arena->at ? (size_t)(-(uintptr_t)arena->at & (sizeof(void *) - 1)) : 0;
	if (!arena->at || size + pad > (size_t)(arena->end - arena->at)) {
		if (more(arena, size + ALIGN))
			return NULL;
		pad = 0;
	}
	piece = arena->at + pad;
	arena->at = piece + size;
	return piece;
}

void *mpijob__base_arena_array(struct mpijob__base_arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	return mpijob__base_arena_alloc(arena, count * size);
}

char *mpijob__base_arena_bytes(struct mpijob__base_arena *arena, size_t size)
{
	char *piece;

	if (size > LARGE || !arena->at || size > (size_t)(arena->end - arena->at))
		return mpijob__base_arena_alloc(arena, size);
	piece = arena->at;
	arena->at += size;
	return piece;
}

char *mpijob__base_arena_copy(struct mpijob__base_arena *arena, const char *text, size_t len)
{
	char *copy = len < SIZE_MAX ? mpijob__base_arena_bytes(arena, len + 1) : NULL;

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	return copy;
}

int mpijob__base_arena_own(struct mpijob__base_arena *arena, const char **string)
{
	if (!*string)
		return 0;
	*string = mpijob__base_arena_copy(arena, *string, strlen(*string));
	return *string ? 0 : MPIJOB_ERR_NOMEM;
}

static void *grow_large(struct mpijob__base_arena *arena, void *old, size_t size)
{
	struct mpijob__base_arena_block *block =
	    (void *)((char *)old - offsetof(struct mpijob__base_arena_block, data));
	size_t old_size = block->size;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = realloc(block, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	arena->total += size - old_size;
	if (block->next)
		block->next->prev = block;
	if (block->prev)
		block->prev->next = block;
	else
		arena->blocks = block;
	return block->data;
}

void *mpijob__base_arena_grow(struct mpijob__base_arena *arena, void *old, size_t old_size,
    size_t size)
{
	void *grown;

	if (old_size > LARGE)
		return grow_large(arena, old, size);
	if (old && (char *)old + old_size == arena->at && size <= LARGE &&
	    size - old_size <= (size_t)(arena->end - arena->at)) {
		arena->at += size - old_size;
		return old;
	}
	grown = mpijob__base_arena_alloc(arena, size);
	if (grown && old_size)
		memcpy(grown, old, old_size);
	return grown;
}

void mpijob__base_arena_free(struct mpijob__base_arena *arena)
{
	struct mpijob__base_arena_block *block = arena->blocks;

	while (block) {
		struct mpijob__base_arena_block *next = block->next;

		free(block);
		block = next;
	}
	memset(arena, 0, sizeof(*arena));
}

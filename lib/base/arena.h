/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once. */
#ifndef MPIJOB__BASE_ARENA_H
#define MPIJOB__BASE_ARENA_H

#include <stddef.h>

struct mpijob__base_arena_block;

/* All zeros is an empty arena. */
struct mpijob__base_arena {
	char *at; /* next free byte of the newest small block */
	char *end;
	struct mpijob__base_arena_block *blocks;
	size_t expected; /* hint for the first block */
	size_t total;    /* bytes of all blocks */
};

/* Set the expected number of bytes, before the first allocation; a hint only. */
void mpijob__base_arena_expect(struct mpijob__base_arena *arena, size_t bytes);
/* Get `size` bytes, aligned for pointers and 64-bit numbers, not cleared; NULL when out of memory.
 * `size` 0 gives a valid pointer. */
void *mpijob__base_arena_alloc(struct mpijob__base_arena *arena, size_t size);
/* The same for `count` objects; NULL also when the product overflows. */
void *mpijob__base_arena_array(struct mpijob__base_arena *arena, size_t count, size_t size);
/* Get memory for text, not aligned; NULL when out of memory. */
char *mpijob__base_arena_bytes(struct mpijob__base_arena *arena, size_t size);
/* Copy `len` bytes and append a NUL; NULL when out of memory. */
char *mpijob__base_arena_copy(struct mpijob__base_arena *arena, const char *text, size_t len);
/* Replace a string, which may be NULL, by a copy. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_arena_own(struct mpijob__base_arena *arena, const char **string);
/*
 * Make an allocation larger. The old memory of allocations over a page is freed. `old` may be NULL
 * with `old_size` 0. Returns NULL when out of memory; `old` is then unchanged.
 */
void *mpijob__base_arena_grow(struct mpijob__base_arena *arena, void *old, size_t old_size,
    size_t size);
/* Free everything; the arena is empty and can be used again. */
void mpijob__base_arena_free(struct mpijob__base_arena *arena);

#endif

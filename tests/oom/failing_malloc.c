/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to stand between a whole process and glibc's allocator: the program's own malloc,
 * calloc, realloc, free and their aligned kin win over the C library's in every shared library, and
 * hand on to the names under which glibc keeps the originals. Blocks handed out while counting are
 * remembered in a table that never allocates.
 */
#include "failing_malloc.h"

#include <errno.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOTS (1u << 18)
#define SHOWN __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

SHOWN void *malloc(size_t size);
SHOWN void *calloc(size_t count, size_t size);
SHOWN void *realloc(void *block, size_t size);
SHOWN void *memalign(size_t alignment, size_t size);
SHOWN void *aligned_alloc(size_t alignment, size_t size);
SHOWN int posix_memalign(void **out, size_t alignment, size_t size);
SHOWN void free(void *block);

static struct {
	uintptr_t block;
	size_t number;
} slots[SLOTS];

static int counting, lasting;
static size_t asked, failed, fails, traced;
static long live;

void oom_start(size_t fail_at, int persistent)
{
	asked = failed = 0;
	fails = fail_at;
	lasting = persistent;
	counting = 1;
}

size_t oom_stop(void)
{
	counting = 0;
	return asked;
}

size_t oom_count(void)
{
	return asked;
}

size_t oom_failed(void)
{
	return failed;
}

long oom_live(void)
{
	return live;
}

void oom_forget(void)
{
	for (size_t at = 0; live && at < SLOTS; at++)
		slots[at].block = 0;
	live = 0;
}

size_t oom_oldest(void)
{
	size_t oldest = 0;

	for (size_t at = 0; live && at < SLOTS; at++) {
		if (slots[at].block && (!oldest || slots[at].number < oldest))
			oldest = slots[at].number;
	}
	return oldest;
}

static void print_stack(void)
{
	void *frames[40];
	int was = counting;

	counting = 0;
	backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
	counting = was;
}

void oom_trace(size_t number)
{
	void *frame[1];

	/* The first call of backtrace() loads a library. */
	(void)backtrace(frame, 1);
	traced = number;
}

static size_t slot_of(uintptr_t block)
{
	return (size_t)((block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
}

static void *remember(void *block)
{
	size_t at = slot_of((uintptr_t)block);

	if (!block || !counting)
		return block;
	if (live > (long)SLOTS / 2)
		_exit(99); /* the table is too small for this test */
	while (slots[at].block)
		at = (at + 1) % SLOTS;
	slots[at].block = (uintptr_t)block;
	slots[at].number = asked;
	live++;
	return block;
}

static void forget(const void *block)
{
	size_t at = slot_of((uintptr_t)block), hole;

	if (!live || !block)
		return;
	while (slots[at].block && slots[at].block != (uintptr_t)block)
		at = (at + 1) % SLOTS;
	if (!slots[at].block)
		return;
	live--;
	/* Linear probing without gaps: move later ones of the same run into the hole. */
	for (hole = at, at = (at + 1) % SLOTS; slots[at].block; at = (at + 1) % SLOTS) {
		size_t home = slot_of(slots[at].block);

		if ((at - home) % SLOTS >= (at - hole) % SLOTS) {
			slots[hole] = slots[at];
			hole = at;
		}
	}
	slots[hole].block = 0;
}

/* Count one allocation; 1 when it must fail. */
static int refuse(void)
{
	if (!counting)
		return 0;
	asked++;
	if (traced && asked == traced)
		print_stack();
	if (!fails || asked < fails || (asked > fails && !lasting))
		return 0;
	failed++;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return refuse() ? NULL : remember(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return refuse() ? NULL : remember(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
	uintptr_t old = (uintptr_t)block;
	void *grown;

	if (refuse())
		return NULL;
	grown = __libc_realloc(block, size);
	if (grown || (block && !size))
		forget((void *)old);
	return remember(grown);
}

void *memalign(size_t alignment, size_t size)
{
	return refuse() ? NULL : remember(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *block = memalign(alignment, size);

	if (!block)
		return ENOMEM;
	*out = block;
	return 0;
}

void free(void *block)
{
	forget(block);
	__libc_free(block);
}

static int is_bad(const char *what, const char *problem)
{
	if (!problem && !oom_live())
		return 0;
	printf("%s: %s, %ld blocks left, the oldest %zu\n", what, problem ? problem : "ok",
	    oom_live(), oom_oldest());
	return 1;
}

int oom_each(int argc, char **argv, size_t step, size_t (*scenario)(size_t fail_at, int persistent),
    const char *const *problem)
{
	char what[96];
	size_t count, tried = 0;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	if (argc > 1) {
		oom_trace(strtoul(argv[1], NULL, 10));
		scenario(strtoul(argv[1], NULL, 10), argc > 2);
		return is_bad(argv[1], *problem);
	}
	count = scenario(0, 0);
	if (is_bad("without a failure", *problem))
		return 1;
	for (size_t number = 1; number <= count; number += step)
		for (int persistent = 0; persistent < 2; persistent++, tried++) {
			scenario(number, persistent);
			snprintf(what, sizeof(what), "allocation %zu of %zu%s", number, count,
			    persistent ? " and all after it" : "");
			if (is_bad(what, *problem))
				return 1;
		}
	printf("%zu allocations, %zu runs in which one failed, or one and all after it\n", count,
	    tried);
	return 0;
}

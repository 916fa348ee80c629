/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator of a test program, which can be told to fail:
 *
 *	oom_start(0, 0);                // count only
 *	scenario();
 *	count = oom_stop();
 *	for (size_t i = 1; i <= count; i++) {
 *		oom_start(i, 0);        // the i-th fails
 *		code = scenario();
 *		oom_stop();
 *		... code is MPIJOB_ERR_NOMEM, or all is well; and oom_live() is 0
 *	}
 *
 * Add failing_malloc.c to the program's sources: it defines malloc and its family for the whole
 * process, so that the libraries that we use get the same treatment as ours. One thread only; glibc
 * only; not together with AddressSanitizer, which brings an allocator of its own.
 */
#ifndef TESTS_OOM_FAILING_MALLOC_H
#define TESTS_OOM_FAILING_MALLOC_H

#include <stddef.h>

/* Count from 0. Allocation number `fail_at` (from 1; 0: none) fails, with `persistent` also every
 * later one. */
void oom_start(size_t fail_at, int persistent);

/* Nothing fails and nothing is counted any more, but what is freed still is. Tells how many
 * allocations there were. */
size_t oom_stop(void);

/* How many allocations were asked for since oom_start(), failed ones included. */
size_t oom_count(void);

/* How many of them failed. */
size_t oom_failed(void);

/* How many blocks were allocated between oom_start() and oom_stop() and are not freed yet. */
long oom_live(void);

/* What is left stays, as part of a cache of somebody's, and counts no more. */
void oom_forget(void);

/* The number of the oldest such block; 0 when there is none. */
size_t oom_oldest(void);

/* Print the stack to stderr when this allocation is asked for. Call it before oom_start(). */
void oom_trace(size_t number);

/*
 * What a program of one scenario does: fail each of its allocations (or one in `step`), alone and
 * with all after it, until `*problem` is set or a block is left. `scenario` returns what oom_stop()
 * did. With a number on the command line: print where that allocation happens, and fail only it;
 * with one more argument also all after it. Returns the program's exit code.
 */
int oom_each(int argc, char **argv, size_t step, size_t (*scenario)(size_t fail_at, int persistent),
    const char *const *problem);

#endif /* TESTS_OOM_FAILING_MALLOC_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: each reading of a clock is up to five seconds later than the one before;
 * $JUMP_SEED says which way. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MOST_MS 5000

static _Atomic int64_t ahead_ms;
static _Atomic uint32_t dice;

static int64_t jump(void)
{
	const char *seed = getenv("JUMP_SEED");
	uint32_t next = atomic_load(&dice);

	if (!next)
		next = seed ? (uint32_t)strtoul(seed, NULL, 10) * 2654435761u + 1 : 1;
	next = next * 1103515245u + 12345u;
	atomic_store(&dice, next);
	return atomic_fetch_add(&ahead_ms, (next >> 8) % MOST_MS);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);
	int64_t ms;

	if (rc || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
		return rc;
	ms = jump() + now->tv_nsec / 1000000;
	now->tv_sec += (time_t)(ms / 1000);
	now->tv_nsec = (long)(ms % 1000) * 1000000 + now->tv_nsec % 1000000;
	return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec exact;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec exact;

	clock_gettime(CLOCK_REALTIME, &exact);
	if (out)
		*out = exact.tv_sec;
	return exact.tv_sec;
}

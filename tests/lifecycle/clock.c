/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks and the random source of a world. The linker puts these functions in the place of the
 * system's, for the operators and the embedded cluster. Time passes only when the world advances
 * it. Only the wall clock of an operator may be wrong.
 */
#include "base/clock.h"
#include "base/time.h"
#include "lifecycle.h"

#include <sys/types.h>
#include <time.h>

#define WALL_BASE_MS INT64_C(1795262400000) /* 2026-11-21T12:00:00Z */
#define MONO_BASE_MS INT64_C(1000000)

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
ssize_t __wrap_getrandom(void *data, size_t len, unsigned flags);
int64_t __wrap_mpijob__base_clock_wall_ms(void);

static int64_t now_ms = MONO_BASE_MS;
static int64_t wall_skew_ms;
static uint64_t system_rng; /* behind getrandom() */

uint64_t draw(uint64_t *rng)
{
	uint64_t z = (*rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void clock_reset(uint64_t seed)
{
	now_ms = MONO_BASE_MS;
	wall_skew_ms = 0;
	system_rng = seed;
}

int64_t clock_ms(void)
{
	return now_ms;
}

void clock_advance(int64_t to_ms)
{
	if (to_ms > now_ms)
		now_ms = to_ms;
}

void clock_skew(int64_t skew_ms)
{
	wall_skew_ms = skew_ms;
}

double clock_real_s(void)
{
	struct timespec time = { 0, 0 };

	(void)__real_clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void clock_print(char out[40])
{
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, out);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
	int64_t ms = id == CLOCK_REALTIME ? now_ms - MONO_BASE_MS + WALL_BASE_MS : now_ms;

	time->tv_sec = (time_t)(ms / 1000);
	time->tv_nsec = (long)(ms % 1000) * 1000000;
	return 0;
}

int64_t __wrap_mpijob__base_clock_wall_ms(void)
{
	return now_ms - MONO_BASE_MS + WALL_BASE_MS + wall_skew_ms;
}

ssize_t __wrap_getrandom(void *data, size_t len, unsigned flags)
{
	unsigned char *at = data;

	(void)flags;
	for (size_t i = 0; i < len; i++)
		at[i] = (unsigned char)(draw(&system_rng) >> 24);
	return (ssize_t)len;
}

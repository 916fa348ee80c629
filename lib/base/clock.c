/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only file that reads a clock. Delays use the monotonic clock, so that a jump of the wall
 * clock neither fires a timer nor loses one.
 */
#include "base/clock.h"

#include <time.h>

static int64_t read_us(clockid_t id)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t mpijob__base_clock_monotonic_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t mpijob__base_clock_monotonic_ms(void)
{
	return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t mpijob__base_clock_suspended_ms(void)
{
#ifdef CLOCK_BOOTTIME
	return (read_us(CLOCK_BOOTTIME) - read_us(CLOCK_MONOTONIC)) / 1000;
#else
	return 0;
#endif
}

int64_t mpijob__base_clock_cpu_us(void)
{
	return read_us(CLOCK_THREAD_CPUTIME_ID);
}

int64_t mpijob__base_clock_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

int64_t mpijob__base_clock_earlier(int64_t a, int64_t b)
{
	if (a < 0)
		return b;
	return b < 0 || a < b ? a : b;
}

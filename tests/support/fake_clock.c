/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"

_Atomic int64_t fake_clock_us_;
int64_t fake_clock_cpu_step_us;

void fake_clock_advance_us(int64_t us)
{
	atomic_fetch_add(&fake_clock_us_, us);
}

int64_t fake_clock_ms(void)
{
	return FAKE_CLOCK_UP_S * INT64_C(1000) + atomic_load(&fake_clock_us_) / 1000;
}

time_t fake_clock_wall_s(void)
{
	return (time_t)(FAKE_CLOCK_WALL_S + atomic_load(&fake_clock_us_) / 1000000);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
	int64_t us;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		atomic_fetch_add(&fake_clock_us_, fake_clock_cpu_step_us);
	us = atomic_load(&fake_clock_us_);
	now->tv_sec = (clock == CLOCK_REALTIME ? FAKE_CLOCK_WALL_S : FAKE_CLOCK_UP_S) +
		      (time_t)(us / 1000000);
	now->tv_nsec = (long)(us % 1000000) * 1000;
	return 0;
}

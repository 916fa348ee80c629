/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of a unit test. It advances only when the test, or a poll of the fake cluster, advances
 * it. fake_clock.c replaces the C library's clock_gettime() for the whole program: the library
 * under test, and libcurl. So it is not in the static library: CMake links it into the unit tests
 * that include this header, or a header that includes it.
 */
#ifndef MPIJOB_TEST_FAKE_CLOCK_H
#define MPIJOB_TEST_FAKE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define FAKE_CLOCK_WALL_S 1795286240 /* 2026-11-21T18:37:20Z */
#define FAKE_CLOCK_UP_S   1000

extern _Atomic int64_t fake_clock_us_; /* microseconds since the start of the program */
extern int64_t fake_clock_cpu_step_us; /* CPU time that passes at each reading of it */

void fake_clock_advance_us(int64_t us);
int64_t fake_clock_ms(void);
time_t fake_clock_wall_s(void);
#endif

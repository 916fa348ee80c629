/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks. The pure directories may not include this header: time is an argument there. */
#ifndef MPIJOB__BASE_CLOCK_H
#define MPIJOB__BASE_CLOCK_H

#include <stdint.h>

/* The monotonic clock; only differences are meaningful. It stops while the machine is suspended. */
int64_t mpijob__base_clock_monotonic_ms(void);
int64_t mpijob__base_clock_monotonic_us(void);
/* Milliseconds for which the machine was suspended since it started. */
int64_t mpijob__base_clock_suspended_ms(void);
/* CPU time of this thread in microseconds. */
int64_t mpijob__base_clock_cpu_us(void);
/* Milliseconds since 1970-01-01T00:00:00Z by the wall clock. */
int64_t mpijob__base_clock_wall_ms(void);
/* The earlier of two times; a negative one means never. */
int64_t mpijob__base_clock_earlier(int64_t a, int64_t b);

#endif

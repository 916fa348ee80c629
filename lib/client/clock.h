/* SPDX-License-Identifier: Apache-2.0 */
/* The two clocks of the rooms cluster and operator. */
#ifndef MPIJOB__CLIENT_CLOCK_H
#define MPIJOB__CLIENT_CLOCK_H

#include <stdint.h>

/* Milliseconds of a clock that never jumps; only differences mean something. */
int64_t mpijob__client_clock_monotonic_ms(void);
/* Microseconds of the same clock, for how long something took. */
int64_t mpijob__client_clock_monotonic_us(void);
/* Microseconds of processor time that this thread has used. */
int64_t mpijob__client_clock_cpu_us(void);
/* Milliseconds that the machine has slept, which the clock that never jumps does not count. */
int64_t mpijob__client_clock_asleep_ms(void);
/* Milliseconds since 1970-01-01T00:00:00Z, as this machine believes. */
int64_t mpijob__client_clock_wall_ms(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks. */
#ifndef MPIJOB__CLIENT_CLOCK_H
#define MPIJOB__CLIENT_CLOCK_H

#include <stdint.h>

/* Milliseconds of a clock that never jumps; only differences have a meaning. */
int64_t mpijob__client_clock_monotonic_ms(void);
/* Microseconds of the same clock, for how long something took. */
int64_t mpijob__client_clock_monotonic_us(void);
/* Microseconds of processor time that this thread has used. */
int64_t mpijob__client_clock_cpu_us(void);
/* Milliseconds for which the machine was suspended; the monotonic clock does not count these. */
int64_t mpijob__client_clock_asleep_ms(void);
/* Milliseconds since 1970-01-01T00:00:00Z, by the clock of this machine. */
int64_t mpijob__client_clock_wall_ms(void);

#endif

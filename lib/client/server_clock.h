/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the server, as its answers tell it. */
#ifndef MPIJOB__CLIENT_SERVER_CLOCK_H
#define MPIJOB__CLIENT_SERVER_CLOCK_H

#include <stdint.h>

/* All zeros: nothing is known. */
struct mpijob__client_server_clock {
	int known;
	int64_t ahead_ms; /* of the client's monotonic clock */
};

/* An answer's header Date; when its request was sent and when the header came, by the client's
 * clock. */
void mpijob__client_server_clock_take(struct mpijob__client_server_clock *clock, const char *date,
    int64_t sent_ms, int64_t came_ms);
/* Milliseconds since 1970 for the server; `now_ms` is of the client's clock. */
int64_t mpijob__client_server_clock_ms(const struct mpijob__client_server_clock *clock,
    int64_t now_ms);

#endif

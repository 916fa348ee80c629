/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the server, learned from its answers. */
#ifndef MPIJOB__CLIENT_SERVER_CLOCK_H
#define MPIJOB__CLIENT_SERVER_CLOCK_H

#include <stdint.h>

/* All zeros: unknown. */
struct mpijob__client_server_clock {
	int known;
	int64_t ahead_ms; /* offset to the client's monotonic clock */
};

/* Take a Date header; `sent_ms` and `came_ms` are when the request was sent and when the header
 * arrived, by the client's clock. */
void mpijob__client_server_clock_take(struct mpijob__client_server_clock *clock, const char *date,
    int64_t sent_ms, int64_t came_ms);
/* Milliseconds since 1970 by the server's clock; `now_ms` is of the client's clock. */
int64_t mpijob__client_server_clock_ms(const struct mpijob__client_server_clock *clock,
    int64_t now_ms);

#endif

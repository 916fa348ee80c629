/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets.
 */
#ifndef MPIJOB_OPERATOR_ADDRESS_H
#define MPIJOB_OPERATOR_ADDRESS_H

#include <stdint.h>

/*
 * Listen on "HOST:PORT", ":PORT" (all addresses of this machine), "[IPV6]:PORT", or "HOST" with the
 * separate `port`. `what` is the purpose, for the log. Returns a non-blocking descriptor, or -1
 * after logging the reason.
 */
int address_listen(const char *address, int64_t port, const char *what);

/* 1 when the text names a port. */
int address_has_port(const char *address);

#endif

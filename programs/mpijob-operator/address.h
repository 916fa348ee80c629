/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to listen on.
 */
#ifndef MPIJOB_OPERATOR_ADDRESS_H
#define MPIJOB_OPERATOR_ADDRESS_H

#include <stdint.h>

/*
 * Listen on "HOST:PORT", ":PORT" (all addresses of this machine), "[IPV6]:PORT", or "HOST" with a
 * separate port. Returns a non-blocking descriptor, or -1 after logging the reason. `what` names
 * the purpose in the log.
 */
int address_listen(const char *address, int64_t port, const char *what);

/* 1 if the text contains a port. */
int address_has_port(const char *address);

#endif

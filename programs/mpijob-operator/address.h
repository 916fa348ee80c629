/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to listen on.
 */
#ifndef MPIJOB_OPERATOR_ADDRESS_H
#define MPIJOB_OPERATOR_ADDRESS_H

#include <stdint.h>

/*
 * Listen on "HOST:PORT", ":PORT" (all addresses of this machine), "[IPV6]:PORT", or "HOST" with the
 * port given beside it. Returns a non-blocking descriptor, or -1 after having logged the reason;
 * `what` is the purpose.
 */
int address_listen(const char *address, int64_t port, const char *what);

/* 1 when the text names a port. */
int address_has_port(const char *address);

#endif

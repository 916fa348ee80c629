/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit digest to detect changes. It is not cryptographic. */
#ifndef MPIJOB__BASE_DIGEST_H
#define MPIJOB__BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__BASE_DIGEST_START UINT64_C(0xcbf29ce484222325)

/* Add bytes to a digest (the first value is MPIJOB__BASE_DIGEST_START). The same bytes give the
 * same digest on every machine. */
uint64_t mpijob__base_digest_add(uint64_t digest, const void *data, size_t len);

#endif

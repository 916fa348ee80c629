/* SPDX-License-Identifier: Apache-2.0 */
/* What the public headers need of the real one; the generator knows these types by their names. */
#ifndef MPIJOB_ABI_STDINT_H
#define MPIJOB_ABI_STDINT_H
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
#endif

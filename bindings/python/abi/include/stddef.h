/* SPDX-License-Identifier: Apache-2.0 */
/* What the public headers need of the real one; the generator knows size_t by its name. */
#ifndef MPIJOB_ABI_STDDEF_H
#define MPIJOB_ABI_STDDEF_H
typedef unsigned long size_t;
#define NULL 0
#endif

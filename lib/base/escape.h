/* SPDX-License-Identifier: Apache-2.0 */
/* The characters that must be escaped in output. */
#ifndef MPIJOB__BASE_ESCAPE_H
#define MPIJOB__BASE_ESCAPE_H

#include <mpijob/base.h>

/* 1 for C0, DEL and C1 controls, the line and paragraph separators, and the controls of the
 * bidirectional algorithm. */
int mpijob__base_escape_needed(uint32_t code);

#endif

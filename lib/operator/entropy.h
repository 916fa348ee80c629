/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes. */
#ifndef MPIJOB__OPERATOR_ENTROPY_H
#define MPIJOB__OPERATOR_ENTROPY_H

#include <stddef.h>

/* 0 or MPIJOB_ERR_IO. */
int mpijob__operator_entropy_fill(void *data, size_t len);

#endif

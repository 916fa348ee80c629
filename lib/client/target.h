/* SPDX-License-Identifier: Apache-2.0 */
/* From targets to paths. */
#ifndef MPIJOB__CLIENT_TARGET_H
#define MPIJOB__CLIENT_TARGET_H

#include <mpijob/client.h>

/* 0 when mpijob_target_write() can name the target, else what it would return. */
int mpijob__client_target_check(const struct mpijob_target *target);

#endif

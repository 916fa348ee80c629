/* SPDX-License-Identifier: Apache-2.0 */
/* Updates in place of patches, for roles that grant only `update`. */
#ifndef MPIJOB__OPERATOR_WRITE_UPDATE_H
#define MPIJOB__OPERATOR_WRITE_UPDATE_H

#include "operator/write.h"

/* 1 when the object of this patch is updated instead. */
int mpijob__operator_write_is_update(const struct mpijob__operator_write *write);
/* A request was forbidden, with this message: 1 when another one was sent in its place. */
int mpijob__operator_write_fall_back(struct mpijob__operator_write *write, const char *message);
/* Merge a patch into the object of a response, in `patch`. 0, or why that is not possible. */
int mpijob__operator_write_merge(const struct mpijob__operator_write *write,
    const struct mpijob_answer *answer, mpijob_text *patch);

#endif

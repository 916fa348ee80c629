/* SPDX-License-Identifier: Apache-2.0 */
/* Responses to the requests of an action. */
#ifndef MPIJOB__OPERATOR_ANSWER_H
#define MPIJOB__OPERATOR_ANSWER_H

#include <mpijob/client.h>

/* A request has ended; `user` is the struct mpijob__operator_write. */
void mpijob__operator_answer_handle(void *user, const struct mpijob_answer *answer);

#endif

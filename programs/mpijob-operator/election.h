/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several daemons leads.
 */
#ifndef MPIJOB_OPERATOR_ELECTION_H
#define MPIJOB_OPERATOR_ELECTION_H

#include "state.h"

/* Become a candidate for the Lease, if the settings say so. 0 or a MPIJOB_ERR_*. */
int election_begin(struct state *state);

void election_end(struct state *state);

/* What the operator may do now: MPIJOB_OPERATOR_*. */
int election_part(const struct state *state);

#endif

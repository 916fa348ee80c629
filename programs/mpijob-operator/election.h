/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election.
 */
#ifndef MPIJOB_OPERATOR_ELECTION_H
#define MPIJOB_OPERATOR_ELECTION_H

#include "state.h"

/* Become a candidate for the Lease, unless the settings disable it. 0 or an MPIJOB_ERR_*. */
int election_begin(struct state *state);

void election_end(struct state *state);

/* The current role of the operator: MPIJOB_OPERATOR_*. */
int election_part(const struct state *state);

#endif

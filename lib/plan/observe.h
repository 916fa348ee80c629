/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about observations that planning needs. */
#ifndef MPIJOB__PLAN_OBSERVE_H
#define MPIJOB__PLAN_OBSERVE_H

#include <stdint.h>

/* The digest of a Secret with both keys; any other digest means that a key is missing. */
#define MPIJOB__PLAN_SECRET_COMPLETE UINT64_C(4)

/* The index in a worker's name ("JOB-worker-3" gives 3); -1 when it is not one. `job` NULL: of any
 * job. */
int32_t mpijob__plan_observe_index(const char *name, const char *job);

#endif

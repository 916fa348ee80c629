/* SPDX-License-Identifier: Apache-2.0 */
/* What planning knows of how observations are made. */
#ifndef MPIJOB__PLAN_OBSERVE_H
#define MPIJOB__PLAN_OBSERVE_H

#include <stdint.h>

/* The digest of a Secret that holds both keys; anything else lacks one. */
#define MPIJOB__PLAN_SECRET_COMPLETE UINT64_C(4)

/* The index in a worker's name ("JOB-worker-3" is 3); -1 when it is none. `job` NULL: of any
 * job. */
int32_t mpijob__plan_observe_index(const char *name, const char *job);

#endif

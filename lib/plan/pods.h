/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one job: sorted, and found by uid. */
#ifndef MPIJOB__PLAN_PODS_H
#define MPIJOB__PLAN_PODS_H

#include "plan/intern.h"

#include <mpijob/plan.h>

/* All zeros holds no pods. */
struct mpijob__pods {
	struct mpijob_pod_facts **sorted; /* by role, index, name */
	size_t count;
	size_t cap;
	struct mpijob_pod_facts **by_uid; /* open addressing; NULL is a free slot */
	size_t slots;                     /* a power of two, or 0 */
	struct mpijob__intern strings;
};

/* As mpijob_facts_put_pod(); `pod` was checked. */
int mpijob__pods_put(struct mpijob__pods *pods, const struct mpijob_pod_facts *pod);
/* 1 when there was a pod of this uid, which is gone now; else 0. */
int mpijob__pods_forget(struct mpijob__pods *pods, const char *uid);
/* Where the pods of a role begin in `sorted`. */
size_t mpijob__pods_first(const struct mpijob__pods *pods, int32_t role);
/* Free all. */
void mpijob__pods_free(struct mpijob__pods *pods);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one job: sorted, and found by uid. */
#ifndef MPIJOB__PLAN_PODS_H
#define MPIJOB__PLAN_PODS_H

#include "base/text.h"
#include "base/uid.h"
#include "plan/intern.h"

#include <mpijob/plan.h>

/* struct mpijob_pod_facts in fewer bytes; there are tens of thousands. */
struct mpijob__pod {
	const char *stem;         /* shared; the name, but for the index when `split` */
	const char *owner_uid;    /* shared; NULL when none */
	const char *reason;       /* shared; NULL when absent */
	const char *node;         /* shared; NULL when not bound */
	char *message;            /* NULL when absent */
	int64_t created_ms;
	int64_t running_since_ms;
	struct mpijob__uid uid;
	int32_t index;
	int32_t exit_code;
	uint8_t role, phase, ready, deleting;
	uint8_t split;
};

struct mpijob__view;
struct mpijob__pod_block;

/* All zeros holds no pods. */
struct mpijob__pods {
	struct mpijob__pod **sorted; /* by role, index, name */
	size_t count;
	size_t cap;
	struct mpijob__pod **by_uid; /* open addressing; NULL is a free slot */
	size_t slots;                /* a power of two, or 0 */
	struct mpijob__pod_block *blocks; /* the newest first */
	struct mpijob__pod *free;    /* a list by `stem` of those that were used before */
	struct mpijob__intern strings;
	struct mpijob__view **views; /* what was shown since the last change, by place; NULL: nothing */
};

/* As mpijob_facts_put_pod(); `pod` was checked. */
int mpijob__pods_put(struct mpijob__pods *pods, const struct mpijob_pod_facts *pod);
/* 1 when there was a pod of this uid, which is gone now; else 0. */
int mpijob__pods_forget(struct mpijob__pods *pods, const char *uid);
/* The one with this role, index and name; NULL when there is none. */
const struct mpijob__pod *mpijob__pods_find(const struct mpijob__pods *pods, const struct mpijob_pod_facts *like);
/* Where the pods of a role begin in `sorted`. */
size_t mpijob__pods_first(const struct mpijob__pods *pods, int32_t role);
/* Show one as callers know it, until the next change; NULL when there is none, or memory ran out. */
const struct mpijob_pod_facts *mpijob__pods_show(struct mpijob__pods *pods, size_t index);
/* Free all. */
void mpijob__pods_free(struct mpijob__pods *pods);

/* Append a pod's name. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__pod_name(const struct mpijob__pod *pod, mpijob_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one job: sorted, and found by uid. */
#ifndef MPIJOB__PLAN_PODS_H
#define MPIJOB__PLAN_PODS_H

#include "base/text.h"
#include "base/uid.h"
#include "plan/intern.h"

#include <mpijob/plan.h>

/* How a pod, or something in it, ended. */
struct mpijob__plan_pod_end {
	const char *reason; /* shared; NULL when absent */
	char *message;      /* NULL when absent */
	int64_t ended_ms;   /* 0 when not known */
	int32_t exit_code;  /* -1 when none */
};

/* struct mpijob_pod_facts in fewer bytes; there are tens of thousands. */
struct mpijob__plan_pod {
	const char *stem;                 /* shared; the name, but for the index when `split` */
	const char *owner_uid;            /* shared; NULL when none */
	const char *node;                 /* shared; NULL when not bound */
	struct mpijob__plan_pod_end *end; /* NULL: nothing did; see mpijob__plan_pod_end() */
	int64_t created_ms;
	int64_t running_since_ms;
	struct mpijob__base_uid uid;
	int32_t index;
	uint8_t role, phase;
	uint8_t ready : 1, deleting : 1, split : 1;
};

struct mpijob__plan_view;

/* All zeros holds no pods. A pod has a place, for as long as it is there; it may move with all
 * others when one is put. */
struct mpijob__plan_pods {
	struct mpijob__plan_pod *places;
	uint32_t used, room; /* places that ever were, and that there is memory for */
	/* the number behind the place of one that was used before, a list by `index`; 0: none */
	uint32_t free;
	uint32_t *sorted; /* places by role, index, name */
	size_t count;
	size_t cap;
	uint32_t *by_uid; /* open addressing: the number behind a place; 0 is a free slot */
	size_t slots;     /* a power of two, or 0 */
	struct mpijob__plan_intern strings;
	/* what was shown since the last change, by place in `sorted`; NULL: nothing */
	struct mpijob__plan_view **views;
};

static inline const struct mpijob__plan_pod *
mpijob__plan_pods_at(const struct mpijob__plan_pods *pods, size_t index)
{
	return &pods->places[pods->sorted[index]];
}

/* As mpijob_facts_put_pod(); `pod` was checked. */
int mpijob__plan_pods_put(struct mpijob__plan_pods *pods, const struct mpijob_pod_facts *pod);
/* 1 when there was a pod of this uid, which is gone now; else 0. */
int mpijob__plan_pods_forget(struct mpijob__plan_pods *pods, const char *uid);
/* Find the pod with the role, index and name of `like`: 1; or 0 and its place in the order. */
int mpijob__plan_pods_find(const struct mpijob__plan_pods *pods,
    const struct mpijob_pod_facts *like, size_t *at);
/* Which is the first of a role, in the order of mpijob__plan_pods_at(). */
size_t mpijob__plan_pods_first(const struct mpijob__plan_pods *pods, int32_t role);
/* Show one as callers know it, until the next change; NULL when there is none, or memory ran
 * out. */
const struct mpijob_pod_facts *mpijob__plan_pods_show(struct mpijob__plan_pods *pods, size_t index);
/* Free all. */
void mpijob__plan_pods_free(struct mpijob__plan_pods *pods);

/* How it ended, of nothing that did: neither reason nor message nor time, exit code -1. */
const struct mpijob__plan_pod_end *mpijob__plan_pod_end(const struct mpijob__plan_pod *pod);
/* 1 when a pod ended before another, as far as that is known; each did before NULL. */
int mpijob__plan_pod_ended_before(const struct mpijob__plan_pod *pod,
    const struct mpijob__plan_pod *other);
/* Append a pod's name. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__plan_pod_write_name(const struct mpijob__plan_pod *pod, mpijob_text *out);

#endif

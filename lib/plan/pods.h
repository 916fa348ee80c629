/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one job: sorted, and indexed by UID. */
#ifndef MPIJOB__PLAN_PODS_H
#define MPIJOB__PLAN_PODS_H

#include "base/text.h"
#include "base/uid.h"
#include "plan/intern.h"

#include <mpijob/plan.h>

/* How a pod, or a container of it, ended. */
struct mpijob__plan_pod_end {
	const char *reason; /* shared; NULL when absent */
	char *message;      /* NULL when absent */
	int64_t ended_ms;   /* 0 when unknown */
	int32_t exit_code;  /* -1: none */
};

/* A compact struct mpijob_pod_facts, because there are tens of thousands of them. */
struct mpijob__plan_pod {
	const char *stem;                 /* shared; the name, without the index if `split` */
	const char *owner_uid;            /* shared; NULL without a controller */
	const char *node;                 /* shared; NULL when not scheduled */
	struct mpijob__plan_pod_end *end; /* NULL: nothing ended; see mpijob__plan_pod_end() */
	int64_t created_ms;
	int64_t running_since_ms;
	struct mpijob__base_uid uid;
	int32_t index;
	uint8_t role, phase;
	uint8_t ready : 1, deleting : 1, split : 1;
};

struct mpijob__plan_view;

/* All zeros is an empty set. Each pod has a place in the array `places` for its lifetime; putting a
 * pod may reallocate the array. */
struct mpijob__plan_pods {
	struct mpijob__plan_pod *places;
	uint32_t used, room; /* places that were used so far; allocated places */
	/* 1 + the first free place, which has the next one in `index`; 0: none */
	uint32_t free;
	uint32_t *sorted; /* places by role, index, name */
	size_t count;
	size_t cap;
	uint32_t *by_uid; /* hash table with open addressing: 1 + place; 0 is a free slot */
	size_t slots;     /* a power of two, or 0 */
	struct mpijob__plan_intern strings;
	/* public views made since the last change, by index in `sorted`; NULL: none */
	struct mpijob__plan_view **views;
};

static inline const struct mpijob__plan_pod *
mpijob__plan_pods_at(const struct mpijob__plan_pods *pods, size_t index)
{
	return &pods->places[pods->sorted[index]];
}

/* As mpijob_facts_apply(); the caller has checked `pod`. */
int mpijob__plan_pods_put(struct mpijob__plan_pods *pods, const struct mpijob_pod_facts *pod);
/* Remove the pod with a UID. Returns 1 if there was one, else 0. */
int mpijob__plan_pods_remove(struct mpijob__plan_pods *pods, const char *uid);
/* Find the pod with the role, index and name of `like`: 1; or 0 and the position to insert it. */
int mpijob__plan_pods_find(const struct mpijob__plan_pods *pods,
    const struct mpijob_pod_facts *like, size_t *at);
/* The position of the first pod of a role. */
size_t mpijob__plan_pods_first(const struct mpijob__plan_pods *pods, int32_t role);
/* The public view of a pod, valid until the next change; NULL when there is none, or memory ran
 * out. */
const struct mpijob_pod_facts *mpijob__plan_pods_view(struct mpijob__plan_pods *pods, size_t index);
/* Free all. */
void mpijob__plan_pods_free(struct mpijob__plan_pods *pods);

/* How a pod ended. If it did not: no reason, message and time, and exit code -1. */
const struct mpijob__plan_pod_end *mpijob__plan_pod_end(const struct mpijob__plan_pod *pod);
/* Returns 1 if a pod is known to have ended before `other`, or `other` is NULL. */
int mpijob__plan_pod_ended_before(const struct mpijob__plan_pod *pod,
    const struct mpijob__plan_pod *other);
/* Append a pod's name. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__plan_pod_write_name(const struct mpijob__plan_pod *pod, mpijob_text *out);

#endif

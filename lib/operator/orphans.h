/* SPDX-License-Identifier: Apache-2.0 */
/* Orphans: children whose owner is not in the cache yet. */
#ifndef MPIJOB__OPERATOR_ORPHANS_H
#define MPIJOB__OPERATOR_ORPHANS_H

#include "operator/informer.h"

#include <mpijob/plan.h>

struct mpijob__operator_orphan {
	struct mpijob__operator_orphan *next;
	int64_t since_ms; /* when it was observed */
	unsigned char informer;
	int attempts;        /* to fetch it; they determine the next delay */
	int is_list;         /* the fetch is a list of this one object */
	int64_t due_ms;      /* of the next fetch */
	uint32_t generation; /* of its informer when the fetch was sent */
	mpijob_operator *operator_;
	mpijob_call *call;
	const char *owner_uid, *uid, *namespace_, *name; /* in `strings` */
	char strings[];
};

/* The orphans of one namespace. */
struct mpijob__operator_orphan_group {
	struct mpijob__operator_orphan_group *next;
	size_t count;
	int64_t warned_ms; /* when too many were last logged; 0: never */
	char name[];
};

struct mpijob__operator_orphans {
	struct mpijob__operator_orphan *waiting; /* for an owner; the newest first */
	size_t count;
	struct mpijob__operator_orphan_group *groups;
	struct mpijob__operator_orphan *fetches; /* their owner was observed: they are fetched */
	size_t fetching;
};

/* Add an object; if memory runs out, it is dropped. */
void mpijob__operator_orphans_add(struct mpijob__operator_informer *informer,
    const struct mpijob_observed *observed);
void mpijob__operator_orphans_drop(mpijob_operator *operator_, const char *uid);
/* An owner was observed: fetch its children. */
void mpijob__operator_orphans_adopt(mpijob_operator *operator_, const char *owner_uid);
void mpijob__operator_orphans_step(mpijob_operator *operator_);
int64_t mpijob__operator_orphans_due_ms(const mpijob_operator *operator_);
void mpijob__operator_orphans_release(mpijob_operator *operator_);

#endif

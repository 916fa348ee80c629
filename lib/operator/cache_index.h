/* SPDX-License-Identifier: Apache-2.0 */
/* The index of children: whose each is, and how new our knowledge of it. */
#ifndef MPIJOB__OPERATOR_CACHE_INDEX_H
#define MPIJOB__OPERATOR_CACHE_INDEX_H

#include "base/uid.h"

#include <stddef.h>
#include <stdint.h>

struct mpijob__operator_job;

#define MPIJOB__OPERATOR_GENERATIONS (UINT32_C(1) << 26)

/* A child that was observed. Places in the index are numbers from 1; 0 is none. */
struct mpijob__operator_child {
	struct mpijob__operator_job *record; /* NULL: the place is free */
	struct mpijob__base_uid uid;
	uint64_t version;    /* resourceVersion; 0 when that is no number */
	uint32_t chain;      /* others in its slot, or the next free place */
	uint32_t prev, next; /* of the record */
	/* the list that it was seen in last; below MPIJOB__OPERATOR_GENERATIONS */
	uint32_t generation : 26;
	uint32_t source : 4;
	uint32_t gone : 1; /* we deleted it; its last event is still to come */
	uint32_t ours : 1; /* that it goes is our doing */
};

/* Zeroed, with a seed, it is empty. */
struct mpijob__operator_index {
	struct mpijob__operator_child **blocks;
	size_t block_count;
	uint32_t used; /* places that ever were */
	uint32_t free; /* a list by `chain` of those among them */
	uint32_t *slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

struct mpijob__operator_child *
mpijob__operator_index_find(const struct mpijob__operator_index *objects,
    const struct mpijob__base_uid *uid);
/* One that is not there yet; NULL when memory ran out. */
struct mpijob__operator_child *mpijob__operator_index_add(struct mpijob__operator_index *objects,
    struct mpijob__operator_job *record, const char *uid);
void mpijob__operator_index_drop(struct mpijob__operator_index *objects,
    struct mpijob__operator_child *object);
/* The one of a record's that was added last; NULL when it has none. */
struct mpijob__operator_child *
mpijob__operator_index_of(const struct mpijob__operator_index *objects,
    const struct mpijob__operator_job *record);
/* Go through all: first with `at` 0; NULL at the end. What is returned may be dropped. */
struct mpijob__operator_child *
mpijob__operator_index_next(const struct mpijob__operator_index *objects, size_t *at);
void mpijob__operator_index_release(struct mpijob__operator_index *objects);

#endif
